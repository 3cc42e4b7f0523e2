//! Carries the plan out.

use super::{
    Request,
    analyse::{Channel, Kernel, Role},
    copies::{self, Copy},
    counters::{self, Key, Position, Positions, Threading},
    plan::{Access, WARP, plain_arrive_follows},
};
use crate::{
    build::{Build, Compare},
    diagnostics::{error, error_with_note},
    passes::{Failed, lower_kernel_abi::completion_name},
};
use async_pipeline_sys::ir::{Attr, Builder, Op, Value};

/// The storage of a channel.
struct Ring {
    /// One buffer per field.
    buffers: Vec<Value>,
    full: Value,
    empty: Value,
}

/// What the code of one role needs.
struct RoleCode<'a> {
    kernel: &'a Kernel,
    request: &'a Request,
    rings: &'a [Ring],
    role: &'a Role,
    /// This thread's number in the role, index; none in elected roles.
    thread: Option<Value>,
    /// True in the first lane of each warp.
    first_lane: Option<Value>,
    /// True in the one thread that asks the copy engine; none in elected roles, where
    /// it is the only one.
    issuer: Option<Value>,
}

pub(super) fn kernel(kernel: &Kernel, request: &Request) -> Result<(), Failed> {
    for role in &kernel.roles {
        let context = role.op.context();
        role.op.set_attr("warps", context.i32_attr(role.warps));
        if role.elected {
            role.op.set_attr("elected", context.unit_attr());
        }
    }
    let Some(roles) = kernel
        .function
        .find("async_pipeline.roles")
        .first()
        .copied()
    else {
        return Ok(());
    };
    if kernel.channels.is_empty() {
        return Ok(());
    }
    let rings: Vec<Ring> = kernel.channels.iter().map(allocate).collect();
    set_up(roles, kernel, &rings, request);
    tear_down(roles, &rings);
    for (index, role) in kernel.roles.iter().enumerate() {
        rewrite_role(kernel, request, &rings, index, role)?;
    }
    let plan: Vec<Attr> = kernel.channels.iter().map(channel_attr).collect();
    let context = kernel.function.context();
    kernel
        .function
        .set_attr("async_pipeline.plan", context.array_attr(&plan));
    for channel in &kernel.channels {
        channel.op.erase();
    }
    Ok(())
}

/// What the manifest says of a channel.
fn channel_attr(channel: &Channel) -> Attr {
    let context = channel.op.context();
    let fields: Vec<Attr> = channel
        .op
        .result(0)
        .ty()
        .fields()
        .into_iter()
        .map(|field| context.type_attr(field))
        .collect();
    context.dict_attr(&[
        (
            "completion",
            context.string_attr(completion_name(channel.plan.completion())),
        ),
        ("fields", context.array_attr(&fields)),
        ("name", context.string_attr(&channel.plan.name)),
        ("stages", context.i64_attr(channel.plan.stages)),
    ])
}

fn allocate(channel: &Channel) -> Ring {
    let builder = Builder::before(channel.op);
    let context = builder.context();
    let (name, stages) = (&channel.plan.name, channel.plan.stages);
    let buffers = channel
        .op
        .result(0)
        .ty()
        .fields()
        .into_iter()
        .enumerate()
        .map(|(index, field)| {
            builder
                .op("async_pipeline.buffer.alloc")
                .attr("name", context.string_attr(&format!("{name}.{index}")))
                .results(&[context.buffer(stages, field)])
                .value()
        })
        .collect();
    let barrier = |side: &str| {
        builder
            .op("async_pipeline.mbarrier.alloc")
            .attr("name", context.string_attr(&format!("{name}.{side}")))
            .results(&[context.mbarrier(stages)])
            .value()
    };
    Ring {
        buffers,
        full: barrier("full"),
        empty: barrier("empty"),
    }
}

fn first_thread(build: Build) -> Value {
    let context = build.0.context();
    let dimension = context
        .parse_attr("#gpu<dim x>")
        .expect("the gpu dialect is loaded");
    let thread = build
        .0
        .op("gpu.thread_id")
        .attr("dimension", dimension)
        .results(&[context.index()])
        .value();
    build.compare(Compare::Eq, thread, build.index(0))
}

/// One thread initialises every barrier; nobody passes before that.
fn set_up(roles: Op, kernel: &Kernel, rings: &[Ring], request: &Request) {
    let build = Build(Builder::before(roles));
    let first = first_thread(build);
    build.when(first, |build| {
        for (channel, ring) in kernel.channels.iter().zip(rings) {
            for (barrier, count) in [
                (ring.full, channel.plan.full_count()),
                (ring.empty, channel.plan.empty_count()),
            ] {
                build
                    .0
                    .op("async_pipeline.mbarrier.init")
                    .operands(&[barrier])
                    .attr("count", build.0.context().i32_attr(count))
                    .build();
            }
        }
        // The copy engine is no thread of the CTA: the CTA barrier alone does not reach it.
        if request.target.has_async_proxy() {
            build.0.op("async_pipeline.fence.mbarrier_init").build();
        }
    });
    build.0.op("async_pipeline.cta.barrier").build();
}

/// Barriers end when every role has stopped using them.
fn tear_down(roles: Op, rings: &[Ring]) {
    let Some(next) = roles
        .block()
        .and_then(|block| block.ops().into_iter().skip_while(|op| *op != roles).nth(1))
    else {
        return;
    };
    let build = Build(Builder::before(next).with_location(roles.location()));
    build.0.op("async_pipeline.cta.barrier").build();
    let first = first_thread(build);
    build.when(first, |build| {
        for ring in rings {
            for barrier in [ring.full, ring.empty] {
                build
                    .0
                    .op("async_pipeline.mbarrier.inval")
                    .operands(&[barrier])
                    .build();
            }
        }
    });
}

fn rewrite_role(
    kernel: &Kernel,
    request: &Request,
    rings: &[Ring],
    index: usize,
    role: &Role,
) -> Result<(), Failed> {
    let Some(body) = role.op.body(0) else {
        return Ok(());
    };
    let key_of = |op: Op| {
        let produces = op.is("async_pipeline.channel.acquire");
        if !produces && !op.is("async_pipeline.channel.wait") {
            return None;
        }
        let channel = kernel
            .channels
            .iter()
            .position(|channel| channel.op.result(0) == op.operand(0))?;
        Some(Key { channel, produces })
    };
    let mut keys: Vec<Key> = role.op.walk().into_iter().filter_map(key_of).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return Ok(());
    }
    let start = Builder::at_start(body, role.op.location(), role.op.context());
    let positions: Positions = keys
        .iter()
        .map(|key| (*key, counters::start(start, key.produces)))
        .collect();
    let code = role_code(kernel, request, rings, role, start);
    let mut threading = Threading {
        key: &key_of,
        stages: &|key| kernel.channels[key.channel].plan.stages,
        taken: Vec::new(),
    };
    threading.block(body, positions)?;
    let taken = std::mem::take(&mut threading.taken);
    let mut stores = false;
    for (taker, position) in taken {
        let Some(key) = key_of(taker) else { continue };
        let party = if key.produces {
            &kernel.channels[key.channel].plan.producer
        } else {
            kernel.channels[key.channel]
                .plan
                .consumers
                .iter()
                .find(|party| party.role == index)
                .unwrap_or(&kernel.channels[key.channel].plan.producer)
        };
        stores |= !key.produces && party.access == Access::Tma;
        code.rewrite_slot(taker, key, position, party.access)?;
    }
    if stores {
        // Sources and results of the last stores: the kernel must not end before them.
        let exit = Build(Builder::at_end(body, role.op.location(), role.op.context()));
        code.issue(exit, |build| {
            wait_group(build, false);
        });
    }
    Ok(())
}

fn wait_group(build: Build, read: bool) {
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

fn role_code<'a>(
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
            .any(|party| Some(party.role) == index && party.access == Access::Tma)
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
    fn issue(&self, build: Build, body: impl FnOnce(Build)) {
        match self.issuer {
            Some(issuer) => build.when(issuer, body),
            None => body(build),
        }
    }

    fn rewrite_slot(
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
        let awaited = if key.produces { ring.empty } else { ring.full };
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
            (true, Access::Tma) => self.tensor_loads(end, &copies, ring, position, wait)?,
            (false, Access::Tma) => {
                let maps = self.maps(&copies)?;
                self.issue(at_end, |build| {
                    wait(build);
                    for (copy, (map, boxes)) in copies.iter().zip(&maps) {
                        for (at, offsets) in &boxes.starts {
                            tensor_copy(build, copy, *map, ring, position, *at, offsets, true);
                        }
                    }
                    build.0.op("async_pipeline.bulk.commit_group").build();
                    // The slot is free once it has been read; the write may still be under way.
                    wait_group(build, true);
                    arrive(build, ring.empty);
                });
            }
            (_, Access::CpAsync | Access::Threads) => {
                wait(Build(Builder::before(taker)));
                for copy in &copies {
                    self.thread_copy(copy, ring, position, key.produces)?;
                }
                for view in users
                    .iter()
                    .filter(|op| op.is("async_pipeline.channel.view"))
                {
                    let field = view
                        .attr("field")
                        .and_then(|field| field.int())
                        .unwrap_or_default();
                    let memref = slot_view(
                        Build(Builder::before(*view)),
                        ring.buffers[field as usize],
                        position.stage,
                    );
                    view.result(0).replace_all_uses(memref);
                }
                let barrier = if key.produces { ring.full } else { ring.empty };
                if access == Access::CpAsync && key.produces {
                    self.cp_async_arrive(at_end, ring.full, position.stage);
                } else {
                    let fenced = if key.produces {
                        plan.writes_need_fence()
                    } else {
                        plan.reads_need_fence()
                    };
                    if fenced && self.request.target.has_async_proxy() {
                        at_end.0.op("async_pipeline.fence.proxy_async").build();
                    }
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
            return copies::cp_async(build, copy, view, thread, threads);
        }
        copies::store_by_threads(build, copy, view, thread, threads);
        Ok(())
    }

    fn tensor_loads(
        &self,
        commit: Op,
        copies: &[Copy],
        ring: &Ring,
        position: Position,
        wait: impl Fn(Build),
    ) -> Result<(), Failed> {
        let maps = self.maps(copies)?;
        let bytes: i64 = copies.iter().map(|copy| copy.tile().tile_bytes()).sum();
        self.issue(Build(Builder::before(commit)), |build| {
            wait(build);
            // The whole box counts, elements outside the tensor included.
            let bytes = build.i32(bytes);
            build
                .0
                .op("async_pipeline.mbarrier.arrive.expect_tx")
                .operands(&[ring.full, position.stage, bytes])
                .build();
            for (copy, (map, boxes)) in copies.iter().zip(&maps) {
                for (at, offsets) in &boxes.starts {
                    tensor_copy(build, copy, *map, ring, position, *at, offsets, false);
                }
            }
        });
        Ok(())
    }

    /// A tensor map for each copy, made at the kernel's entry.
    fn maps(&self, copies: &[Copy]) -> Result<Vec<(Value, copies::Boxes)>, Failed> {
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
                let boxes = copies::boxes(
                    &tile.static_shape(),
                    tile.element().byte_width().unwrap_or(1),
                )
                .map_err(|message| error(copy.op, message))?;
                let context = copy.op.context();
                let map = context.tensor_map(context.tile(&boxes.shape, tile.element()));
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

fn slot_view(build: Build, buffer: Value, stage: Value) -> Value {
    let tile = buffer.ty().fields()[0];
    let view = build.0.context().workgroup_memref(tile);
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
    stores: bool,
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
    let op = if stores {
        builder
            .op("async_pipeline.tma.store")
            .operands(&[buffer, position.stage, map])
            .operands(&coordinates)
    } else {
        builder
            .op("async_pipeline.tma.load")
            .operands(&[map])
            .operands(&coordinates)
            .operands(&[buffer, position.stage, ring.full, position.stage])
    };
    op.attr("at", context.i64_attr(at)).build();
}
