//! Products and tensor memory: what `work.mma` and `work.load` on slots become, and the life
//! of the columns that accumulators take.
//!
//! One warp allocates what all channels in tensor memory need, and gives up the right to
//! allocate more; everybody reads the address behind the CTA barrier. It frees the columns when
//! all have met again.

use super::{
    Request,
    analyse::Kernel,
    apply::Ring,
    counters::{Key, Position, next},
    plan::{Access, WARP},
    slots::RoleCode,
};
use crate::{
    build::{Build, Compare},
    diagnostics::{error, error_with_note},
    passes::{
        Failed,
        carry::{append_to_terminator, rebuild},
        thread_id,
    },
};
use async_pipeline_sys::ir::{Block, Builder, Op, TypeKind, Value};
use std::collections::HashMap;

/// Fewest columns that can be allocated (PTX ISA 9.1, 9.7.16.7.1).
const FEWEST_COLUMNS: i64 = 32;

/// The slots of a channel in tensor memory.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// All allocated columns, once their address is known.
    range: Option<Value>,
    /// Where the first slot begins.
    first: i64,
    /// Columns of a slot.
    each: i64,
}

/// What is allocated for all channels.
pub(super) struct Allocation {
    columns: i64,
    /// The word in shared memory that the address is written to.
    address: Value,
}

/// Packs the channels in tensor memory; `None` if there is none.
pub(super) fn allocate(
    roles: Op,
    kernel: &Kernel,
    rings: &mut [Ring],
    request: &Request,
) -> Result<Option<Allocation>, Failed> {
    let mut next = 0;
    for (channel, ring) in kernel.channels.iter().zip(rings) {
        if let Some(each) = channel.plan.columns() {
            ring.columns = Some(Columns {
                range: None,
                first: next,
                each,
            });
            next += each * channel.plan.stages;
        }
    }
    if next == 0 {
        return Ok(None);
    }
    let all = i64::from(request.target.limits().tmem_columns);
    if next > all {
        return Err(error(
            kernel.function,
            format!(
                "accumulators of {next} columns exceed the {all} columns of tensor memory on {}; use smaller tiles",
                request.target
            ),
        ));
    }
    let builder = Builder::before(roles);
    let context = builder.context();
    let word = context.buffer(1, context.tile(&[1], context.i32()), 0);
    let address = builder
        .op("async_pipeline.buffer.alloc")
        .attr("name", context.string_attr("tensor_memory"))
        .results(&[word])
        .value();
    Ok(Some(Allocation {
        columns: next.max(FEWEST_COLUMNS).cast_unsigned().next_power_of_two() as i64,
        address,
    }))
}

impl Allocation {
    /// In front of the CTA barrier.
    pub(super) fn allocate(&self, build: Build) {
        build.when(first_warp(build), |build| {
            let context = build.0.context();
            // Its first thread comes from initialising barriers.
            build.0.op("async_pipeline.warp.sync").build();
            build
                .0
                .op("async_pipeline.tcgen05.alloc")
                .operands(&[self.address, build.i32(0)])
                .attr("columns", context.i32_attr(self.columns))
                .build();
            build.0.op("async_pipeline.tcgen05.relinquish").build();
        });
        build.0.op("async_pipeline.tcgen05.fence_before").build();
    }

    /// Behind the CTA barrier.
    pub(super) fn take(&self, roles: Op, rings: &mut [Ring]) {
        let build = Build(Builder::before(roles));
        build.0.op("async_pipeline.tcgen05.fence_after").build();
        let range = build
            .0
            .op("async_pipeline.tcgen05.address")
            .operands(&[self.address, build.i32(0)])
            .results(&[build.0.context().tmem(self.columns)])
            .value();
        for columns in rings.iter_mut().filter_map(|ring| ring.columns.as_mut()) {
            columns.range = Some(range);
        }
    }

    /// Behind the CTA barrier at which everybody is done.
    pub(super) fn free(&self, build: Build, rings: &[Ring]) {
        let range = rings.iter().find_map(|ring| ring.columns?.range);
        let Some(range) = range else { return };
        build.0.op("async_pipeline.tcgen05.fence_after").build();
        build.when(first_warp(build), |build| {
            build
                .0
                .op("async_pipeline.tcgen05.dealloc")
                .operands(&[range])
                .build();
        });
    }
}

fn first_warp(build: Build) -> Value {
    build.compare(Compare::UnsignedLess, thread_id(build), build.index(WARP))
}

impl Columns {
    /// The first column of a slot.
    fn column(&self, build: Build, stage: Value) -> Value {
        match stage.constant_int() {
            Some(stage) => build.i32(self.first + stage * self.each),
            None => build.add(
                build.mul(stage, build.i32(self.each)),
                build.i32(self.first),
            ),
        }
    }
}

/// Whether releases of a ring by the tensor core may be under way when all roles have ended: unless
/// behind the last of them stands the commit of a sum, for which somebody waits.
pub(super) fn ends_open(kernel: &Kernel, channel: usize) -> bool {
    let consumers = &kernel.channels[channel].plan.consumers;
    let asked = consumers
        .iter()
        .filter(|party| party.access == Access::Tcgen05);
    asked.into_iter().any(|party| {
        let channel_of = |op: Op| {
            let taken = op.operand(0).defining_op()?.operand(0);
            let mut channels = kernel.channels.iter();
            channels.position(|channel| channel.op.result(0) == taken)
        };
        let ends = kernel.roles[party.role]
            .op
            .walk()
            .into_iter()
            .filter_map(|op| {
                let of = channel_of_end(op).then(|| channel_of(op)).flatten()?;
                let sum = kernel.channels[of].plan.columns().is_some();
                match op.is("async_pipeline.channel.release") {
                    true => (of == channel).then_some(true),
                    false => sum.then_some(false),
                }
            });
        ends.last().unwrap_or(false)
    })
}

fn channel_of_end(op: Op) -> bool {
    op.is("async_pipeline.channel.release") || op.is("async_pipeline.channel.commit")
}

/// Ring and position of every slot that a role takes.
pub(super) type Places = HashMap<Value, (Key, Position)>;

impl RoleCode<'_> {
    /// Rewrites the products and loads of a role that use slots.
    pub(super) fn rewrite_work(&self, role: Op, places: &Places) -> Result<(), Failed> {
        let mut adds = HashMap::new();
        let sums = |op: Op| places.contains_key(&op.operand(0));
        let products: Vec<Op> = role.find("async_pipeline.work.mma");
        for product in products.iter().filter(|product| sums(**product)) {
            let slot = product.operand(0);
            let Some(taker) = slot.defining_op() else {
                continue;
            };
            if !adds.contains_key(product) {
                // The accumulator is zero where it is acquired: the first product replaces it.
                let none = Build(Builder::before(taker)).flag(false);
                let behind = taker.block().map(Block::ops).unwrap_or_default();
                let behind = behind.into_iter().skip_while(|op| *op != taker);
                started(behind, slot, none, &mut adds)?;
            }
        }
        for product in products {
            self.product(product, places, adds.get(&product).copied())?;
        }
        for load in role.find("async_pipeline.work.load") {
            if load.operand(0).ty().kind() == TypeKind::Slot {
                self.load(load, places)?;
            }
        }
        Ok(())
    }

    /// Buffer and stage of an operand in shared memory.
    fn operand(
        &self,
        op: Op,
        slot: Value,
        field: &str,
        places: &Places,
    ) -> Result<[Value; 2], Failed> {
        let field = op.attr(field).and_then(|field| field.int()).unwrap_or(0) as usize;
        let place = places.get(&slot).and_then(|(key, position)| {
            let buffer = self.rings[key.channel].buffers.get(field)?;
            Some([*buffer, position.stage])
        });
        place.ok_or_else(|| {
            error(
                op,
                format!(
                    "expected an operand in a slot of this role, got a value of type {}",
                    slot.ty()
                ),
            )
        })
    }

    fn product(&self, op: Op, places: &Places, adds: Option<Value>) -> Result<(), Failed> {
        let [a, a_stage] = self.operand(op, op.operand(1), "field_a", places)?;
        let [b, b_stage] = self.operand(op, op.operand(2), "field_b", places)?;
        let build = Build(Builder::before(op));
        let unit = build.0.context().unit_attr();
        let flag = |name: &str| op.attr(name).is_some();
        let (transpose_a, transpose_b) = (flag("transpose_a"), flag("transpose_b"));
        self.supported(op, a, [transpose_a, !transpose_b])?;
        if let Some((key, position)) = places.get(&op.operand(0)) {
            let Some((columns, range, adds)) = self.rings[key.channel]
                .columns
                .and_then(|columns| Some((columns, columns.range?, adds?)))
            else {
                return Err(error(op, "expected an accumulator in tensor memory"));
            };
            self.issue(build, |build| {
                let column = columns.column(build, position.stage);
                let mut product = build
                    .0
                    .op("async_pipeline.tcgen05.mma")
                    .operands(&[range, column, a, a_stage, b, b_stage, adds]);
                // Rows of B are columns of the product: stored as N×K it is no transpose here.
                if transpose_a {
                    product = product.attr("transpose_a", unit);
                }
                if !transpose_b {
                    product = product.attr("transpose_b", unit);
                }
                product.build();
            });
        } else {
            if self.request.target.has_tcgen05() {
                return Err(error(
                    op,
                    format!(
                        "a product on {} needs its accumulator in a slot of a channel with tensor_memory",
                        self.request.target
                    ),
                ));
            }
            let mut product = build.0.op("async_pipeline.mma.sync").operands(&[
                op.operand(0),
                a,
                a_stage,
                b,
                b_stage,
            ]);
            if transpose_a {
                product = product.attr("transpose_a", unit);
            }
            if transpose_b {
                product = product.attr("transpose_b", unit);
            }
            product.build();
        }
        op.erase();
        Ok(())
    }

    /// Whether the target has a product of such operands; `across` says which are stored across K.
    fn supported(&self, op: Op, a: Value, across: [bool; 2]) -> Result<(), Failed> {
        let target = self.request.target;
        let element = a.ty().fields()[0].element();
        let bytes = element.byte_width();
        if bytes == Some(1) && !target.has_tcgen05() {
            return Err(error(
                op,
                format!("a product of {element} is not supported on {target}"),
            ));
        }
        if bytes == Some(4) && across.contains(&true) {
            return Err(error(
                op,
                format!(
                    "a product of {element} with an operand stored across K is not supported on {target}; store it along K"
                ),
            ));
        }
        Ok(())
    }

    /// A slot in tensor memory becomes its columns.
    fn load(&self, op: Op, places: &Places) -> Result<(), Failed> {
        let place = places.get(&op.operand(0)).and_then(|(key, position)| {
            let columns = self.rings[key.channel].columns?;
            Some((columns, columns.range?, position.stage))
        });
        let Some((columns, range, stage)) = place else {
            return Err(error(
                op,
                "'async_pipeline.work.load' op of a slot in shared memory is not supported; read it through channel.view",
            ));
        };
        // Where the slot is taken: loads may be put off to places behind a branch around this one.
        let taker = op.operand(0).defining_op().unwrap_or(op);
        let build = Build(Builder::before(taker));
        let column = columns.column(build, stage);
        let slice = build
            .0
            .op("async_pipeline.tcgen05.slice")
            .operands(&[range, column])
            .results(&[build.0.context().tmem(columns.each)])
            .value();
        op.set_operand(0, slice);
        Ok(())
    }

    /// Waits until every slot of a ring is released: commits are under way when the role that
    /// asked for them has ended, and barriers must not end before.
    pub(super) fn await_release(&self, build: Build, ring: &Ring, stages: i64, from: Position) {
        let Some(barriers) = ring.barriers else {
            return;
        };
        self.issue(build, |build| {
            let mut position = from;
            for _ in 0..stages {
                build
                    .0
                    .op("async_pipeline.mbarrier.wait")
                    .operands(&[barriers.empty, position.stage, position.parity])
                    .build();
                position = next(build, stages, position);
            }
        });
    }

    /// Fences between a wait or arrive and the accesses to tensor memory behind or before it.
    pub(super) fn tensor_fence(&self, build: Build, key: Key, access: Access, before: bool) {
        let in_tensor = self.rings[key.channel].columns.is_some();
        // A commit needs none in front of it.
        let needed = match before {
            true => in_tensor && access == Access::Threads,
            false => in_tensor || access == Access::Tcgen05,
        };
        if needed {
            let name = if before {
                "async_pipeline.tcgen05.fence_before"
            } else {
                "async_pipeline.tcgen05.fence_after"
            };
            build.0.op(name).build();
        }
    }
}

/// Whether something has been added to the accumulator in `slot`, in front of each product;
/// returns what holds behind the last op.
fn started(
    ops: impl Iterator<Item = Op>,
    slot: Value,
    mut flag: Value,
    adds: &mut HashMap<Op, Value>,
) -> Result<Value, Failed> {
    let adds_to = |op: Op| op.is("async_pipeline.work.mma") && op.operand(0) == slot;
    for op in ops {
        if adds_to(op) {
            adds.insert(op, flag);
            flag = Build(Builder::before(op)).flag(true);
            continue;
        }
        let Some(inside) = op.walk().into_iter().find(|op| adds_to(*op)) else {
            continue;
        };
        let carried = match op.name() {
            "scf.for" => {
                let new = rebuild(op, &[flag], &[]);
                if let Some(block) = new.body(0) {
                    let inner = block.add_argument(flag.ty(), new.location());
                    let inner = started(block.ops().into_iter(), slot, inner, adds)?;
                    append_to_terminator(block, &[inner]);
                }
                (op, new)
            }
            "scf.if" => {
                let new = rebuild(op, &[], &[flag]);
                for region in 0..2 {
                    let block = match new.body(region) {
                        Some(block) => block,
                        None => {
                            let (block, builder) =
                                new.regions()[region].new_block(&[], new.location(), new.context());
                            builder.op("scf.yield").build();
                            block
                        }
                    };
                    let inner = started(block.ops().into_iter(), slot, flag, adds)?;
                    append_to_terminator(block, &[inner]);
                }
                (op, new)
            }
            name => {
                return Err(error_with_note(
                    inside,
                    format!("a product inside {name} is not supported; expected scf.for or scf.if"),
                    op,
                    "it is here",
                ));
            }
        };
        let (old, new) = carried;
        let results = new.results();
        let count = old.result_count();
        old.replace(&results[..count]);
        flag = results[count];
    }
    Ok(flag)
}
