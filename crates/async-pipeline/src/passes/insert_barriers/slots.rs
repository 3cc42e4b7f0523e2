//! The code of one role: what each taken slot becomes.

use super::{
    Request,
    analyse::{Kernel, Role},
    apply::{Barriers, Ring},
    copies::{self, Copy},
    counters::{Key, Position},
    groups,
    plan::{Access, WARP, plain_arrive_follows},
};
use crate::{
    build::{Build, Compare},
    diagnostics::{error, error_with_note},
    passes::Failed,
};
use async_pipeline_sys::ir::{Builder, Op, Value};

/// What the code of one role needs.
pub(super) struct RoleCode<'a> {
    kernel: &'a Kernel,
    pub(super) request: &'a Request,
    pub(super) rings: &'a [Ring],
    role: &'a Role,
    /// This thread's number in the role, index; none in elected roles.
    thread: Option<Value>,
    /// True in the first lane of each warp.
    first_lane: Option<Value>,
    /// True in the one thread that asks the copy engine; none in elected roles, where
    /// it is the only one.
    issuer: Option<Value>,
}

pub(super) fn wait_group(build: Build, read: bool) {
    let context = build.0.context();
    let mut op = build
        .0
        .op("async_pipeline.bulk.wait_group")
        .attr("pending", context.i32_attr(0));
    if read {
        op = op.attr("read", context.unit_attr());
    }
    op.build();
}

pub(super) fn role_code<'a>(
    kernel: &'a Kernel,
    request: &'a Request,
    rings: &'a [Ring],
    role: &'a Role,
    start: Builder,
) -> RoleCode<'a> {
    let mut code = RoleCode {
        kernel,
        request,
        rings,
        role,
        thread: None,
        first_lane: None,
        issuer: None,
    };
    if role.elected {
        return code;
    }
    let build = Build(start);
    let context = start.context();
    let thread = start
        .op("async_pipeline.role.thread_id")
        .results(&[context.index()])
        .value();
    let lane = build.rem(thread, build.index(WARP));
    code.thread = Some(thread);
    code.first_lane = Some(build.compare(Compare::Eq, lane, build.index(0)));
    let index = kernel.roles.iter().position(|other| other.op == role.op);
    let asks_engine = kernel.channels.iter().any(|channel| {
        channel
            .plan
            .consumers
            .iter()
            .chain([&channel.plan.producer])
            .any(|party| Some(party.role) == index && party.access.is_asked())
    });
    if asks_engine {
        let elected = start
            .op("async_pipeline.elect")
            .results(&[context.i1()])
            .value();
        let first_warp = build.compare(Compare::UnsignedLess, thread, build.index(WARP));
        code.issuer = Some(build.and(elected, first_warp));
    }
    code
}

impl RoleCode<'_> {
    /// Code for the thread that asks the copy engine.
    pub(super) fn issue(&self, build: Build, body: impl FnOnce(Build)) {
        match self.issuer {
            Some(issuer) => build.when(issuer, body),
            None => body(build),
        }
    }

    pub(super) fn rewrite_slot(
        &self,
        taker: Op,
        key: Key,
        position: Position,
        access: Access,
    ) -> Result<(), Failed> {
        let slot = taker.result(0);
        let users: Vec<Op> = slot.uses().into_iter().map(|(user, _)| user).collect();
        let Some(end) = users.iter().copied().find(|op| {
            op.is("async_pipeline.channel.commit") || op.is("async_pipeline.channel.release")
        }) else {
            return Err(error(taker, "the slot is never used up"));
        };
        let mut copies: Vec<Copy> = users
            .iter()
            .filter(|op| op.is("async_pipeline.work.copy"))
            .map(|op| Copy::new(*op))
            .collect();
        copies.sort_by(|left, right| {
            if left.op.is_before(right.op) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        let (ring, plan) = (
            &self.rings[key.channel],
            &self.kernel.channels[key.channel].plan,
        );
        let Some(Barriers { full, empty }) = ring.barriers else {
            return self.rewrite_in_groups(taker, end, &copies, key, position);
        };
        let awaited = if key.produces { empty } else { full };
        let wait = |build: Build| {
            build
                .0
                .op("async_pipeline.mbarrier.wait")
                .operands(&[awaited, position.stage, position.parity])
                .build();
        };
        let arrive = |build: Build, barrier: Value| {
            build
                .0
                .op("async_pipeline.mbarrier.arrive")
                .operands(&[barrier, position.stage])
                .build();
        };
        let at_end = Build(Builder::before(end));
        match (key.produces, access) {
            (true, Access::Tma) => self.tensor_loads(end, &copies, ring, full, position, wait)?,
            (false, Access::Tma) => {
                let maps = self.maps(&copies, ring)?;
                self.issue(at_end, |build| {
                    wait(build);
                    for (copy, (map, boxes)) in copies.iter().zip(&maps) {
                        let by_engine = |build: Build| {
                            for (at, offsets) in &boxes.starts {
                                tensor_copy(build, copy, *map, ring, position, *at, offsets, None);
                            }
                        };
                        let Some(exact) = copies::stores_exactly(build, copy) else {
                            by_engine(build);
                            continue;
                        };
                        // This thread alone: rare, at the end of rows of odd length.
                        let by_hand = |build: Build| {
                            let view = slot_view(build, ring.buffers[copy.field], position.stage);
                            copies::store_elements(build, copy, view, build.index(0), 1);
                        };
                        build.if_else(exact, by_engine, Some(by_hand));
                    }
                    build.0.op("async_pipeline.bulk.commit_group").build();
                    // The slot is free once it has been read; the write may still be under way.
                    wait_group(build, true);
                    arrive(build, empty);
                });
            }
            (_, Access::Tcgen05) => {
                let at_start = Build(Builder::before(taker));
                wait(at_start);
                self.tensor_fence(at_start, key, access, false);
                let barrier = if key.produces { full } else { empty };
                self.issue(at_end, |build| {
                    build
                        .0
                        .op("async_pipeline.tcgen05.commit")
                        .operands(&[barrier, position.stage])
                        .build();
                });
            }
            (_, Access::CpAsync | Access::Threads) => {
                let at_start = Build(Builder::before(taker));
                wait(at_start);
                self.tensor_fence(at_start, key, access, false);
                for copy in &copies {
                    self.thread_copy(copy, ring, position, key.produces)?;
                }
                self.rewrite_views(taker, ring, position);
                let barrier = if key.produces { full } else { empty };
                if access == Access::CpAsync && key.produces {
                    self.cp_async_arrive(at_end, full, position.stage);
                } else {
                    let fenced = if key.produces {
                        plan.writes_need_fence()
                    } else {
                        plan.reads_need_fence()
                    };
                    if fenced && self.request.target.has_async_proxy() {
                        at_end.0.op("async_pipeline.fence.proxy_async").build();
                    }
                    self.tensor_fence(at_end, key, access, true);
                    // Every lane is done, and has seen its own wait pass, before one arrives for all.
                    at_end.0.op("async_pipeline.warp.sync").build();
                    match self.first_lane {
                        Some(first) => at_end.when(first, |build| arrive(build, barrier)),
                        None => arrive(at_end, barrier),
                    }
                }
            }
        }
        for user in users {
            user.erase();
        }
        taker.erase();
        Ok(())
    }

    /// A slot of a ring that groups of `cp.async` keep.
    fn rewrite_in_groups(
        &self,
        taker: Op,
        end: Op,
        copies: &[Copy],
        key: Key,
        position: Position,
    ) -> Result<(), Failed> {
        let (ring, plan) = (
            &self.rings[key.channel],
            &self.kernel.channels[key.channel].plan,
        );
        if key.produces {
            for copy in copies {
                self.thread_copy(copy, ring, position, true)?;
            }
            groups::commit(Build(Builder::before(end)));
        } else {
            groups::wait(Build(Builder::before(taker)), plan, self.role);
            self.rewrite_views(taker, ring, position);
            if let Some(looped) = taker.parent() {
                groups::finish(looped, self.role);
            }
        }
        for (user, _) in taker.result(0).uses() {
            user.erase();
        }
        taker.erase();
        Ok(())
    }

    fn rewrite_views(&self, taker: Op, ring: &Ring, position: Position) {
        for (view, _) in taker.result(0).uses() {
            if !view.is("async_pipeline.channel.view") {
                continue;
            }
            let field = view
                .attr("field")
                .and_then(|field| field.int())
                .unwrap_or(0);
            let memref = slot_view(
                Build(Builder::before(view)),
                ring.buffers[field as usize],
                position.stage,
            );
            view.result(0).replace_all_uses(memref);
        }
    }

    fn cp_async_arrive(&self, build: Build, barrier: Value, stage: Value) {
        let context = build.0.context();
        let plain = plain_arrive_follows(self.request.arrive);
        let mut op = build
            .0
            .op("async_pipeline.cp_async.mbarrier.arrive")
            .operands(&[barrier, stage]);
        if !plain {
            op = op.attr("noinc", context.unit_attr());
        }
        op.build();
        if plain {
            build
                .0
                .op("async_pipeline.mbarrier.arrive")
                .operands(&[barrier, stage])
                .build();
        }
    }

    fn thread_copy(
        &self,
        copy: &Copy,
        ring: &Ring,
        position: Position,
        loads: bool,
    ) -> Result<(), Failed> {
        let Some(thread) = self.thread else {
            return Err(error(copy.op, "expected a role whose every thread copies"));
        };
        let threads = self.role.warps * WARP;
        let build = Build(Builder::before(copy.op));
        let view = slot_view(build, ring.buffers[copy.field], position.stage);
        if loads {
            let span = ring.buffers[copy.field].ty().swizzle();
            return copies::cp_async(build, copy, view, span, thread, threads);
        }
        copies::store_by_threads(build, copy, view, thread, threads);
        Ok(())
    }

    fn tensor_loads(
        &self,
        commit: Op,
        copies: &[Copy],
        ring: &Ring,
        full: Value,
        position: Position,
        wait: impl Fn(Build),
    ) -> Result<(), Failed> {
        let maps = self.maps(copies, ring)?;
        let bytes: i64 = copies.iter().map(|copy| copy.tile().tile_bytes()).sum();
        self.issue(Build(Builder::before(commit)), |build| {
            wait(build);
            // The whole box counts, elements outside the tensor included.
            let bytes = build.i32(bytes);
            build
                .0
                .op("async_pipeline.mbarrier.arrive.expect_tx")
                .operands(&[full, position.stage, bytes])
                .build();
            for (copy, (map, boxes)) in copies.iter().zip(&maps) {
                for (at, offsets) in &boxes.starts {
                    tensor_copy(build, copy, *map, ring, position, *at, offsets, Some(full));
                }
            }
        });
        Ok(())
    }

    /// A tensor map for each copy, made at the kernel's entry.
    fn maps(&self, copies: &[Copy], ring: &Ring) -> Result<Vec<(Value, copies::Boxes)>, Failed> {
        copies
            .iter()
            .map(|copy| {
                let argument = copy.memref.as_block_argument().map(|(block, _)| block);
                let entry = self.kernel.function.body(0);
                let (Some(entry), true) = (entry, argument.is_some() && argument == entry) else {
                    return Err(match copy.memref.defining_op() {
                        Some(made) => error_with_note(
                            copy.op,
                            "expected the memref of a tensor copy to be a kernel argument",
                            made,
                            "it is made here",
                        ),
                        None => error(
                            copy.op,
                            "expected the memref of a tensor copy to be a kernel argument",
                        ),
                    });
                };
                let align = copies::alignment(copy.memref);
                if align < 16 {
                    return Err(error(
                        copy.op,
                        format!(
                            "the argument promises an alignment of {align} bytes, and tensor copies on {} need 16; write cp_async on the channel to copy by threads",
                            self.request.target
                        ),
                    ));
                }
                let tile = copy.tile();
                let swizzle = ring.buffers[copy.field].ty().swizzle();
                let boxes = copies::boxes_of(tile, swizzle)
                    .map_err(|message| error(copy.op, message))?;
                let context = copy.op.context();
                let map = context.tensor_map(context.tile(&boxes.shape, tile.element()), swizzle);
                let builder = Builder::at_start(entry, copy.op.location(), context);
                let map = builder
                    .op("async_pipeline.tma.descriptor")
                    .operands(&[copy.memref])
                    .results(&[map])
                    .value();
                Ok((map, boxes))
            })
            .collect()
    }
}

/// A slot as a memref; under a swizzle all elements in the order in which they lie.
fn slot_view(build: Build, buffer: Value, stage: Value) -> Value {
    let tile = buffer.ty().fields()[0];
    let context = build.0.context();
    let view = if buffer.ty().swizzle() == 0 {
        context.workgroup_memref(tile)
    } else {
        let all = tile.static_shape().iter().product();
        context.workgroup_memref_of(&[all], tile.element())
    };
    build
        .0
        .op("async_pipeline.buffer.slot")
        .operands(&[buffer, stage])
        .results(&[view])
        .value()
}

#[allow(clippy::too_many_arguments, reason = "one op with many operands")]
fn tensor_copy(
    build: Build,
    copy: &Copy,
    map: Value,
    ring: &Ring,
    position: Position,
    at: i64,
    offsets: &[i64],
    // Where a load is announced; none for a store.
    full: Option<Value>,
) {
    let context = build.0.context();
    let buffer = ring.buffers[copy.field];
    let coordinates: Vec<Value> = copy
        .indices
        .iter()
        .zip(offsets)
        .map(|(index, offset)| {
            let index = build.index_cast(*index, context.i32());
            if *offset == 0 {
                index
            } else {
                build.add(index, build.i32(*offset))
            }
        })
        .collect();
    let builder = build.0;
    let op = match full {
        None => builder
            .op("async_pipeline.tma.store")
            .operands(&[buffer, position.stage, map])
            .operands(&coordinates),
        Some(full) => builder
            .op("async_pipeline.tma.load")
            .operands(&[map])
            .operands(&coordinates)
            .operands(&[buffer, position.stage, full, position.stage]),
    };
    op.attr("at", context.i64_attr(at)).build();
}
