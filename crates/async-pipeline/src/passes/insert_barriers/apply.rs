//! Carries the plan out.

use super::{
    Request,
    analyse::{Channel, Kernel, Role},
    counters::{self, Key, Positions, Threading},
    groups,
    plan::Access,
    slots::{role_code, wait_group},
    tensor,
};
use crate::{
    build::{Build, Compare},
    passes::{Failed, lower_kernel_abi::completion_name, thread_id},
};
use async_pipeline_sys::ir::{Attr, Builder, Op, Value};

/// The storage of a channel.
pub(super) struct Ring {
    /// One buffer per field; none in tensor memory.
    pub(super) buffers: Vec<Value>,
    /// In tensor memory.
    pub(super) columns: Option<tensor::Columns>,
    /// None where groups keep the order.
    pub(super) barriers: Option<Barriers>,
}

/// The mbarriers of a channel, one of each for every slot.
#[derive(Clone, Copy)]
pub(super) struct Barriers {
    pub(super) full: Value,
    pub(super) empty: Value,
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
    let mut rings: Vec<Ring> = kernel.channels.iter().map(allocate).collect();
    let tensor_memory = tensor::allocate(roles, kernel, &mut rings, request)?;
    set_up(roles, kernel, &rings, request, tensor_memory.as_ref());
    if let Some(memory) = &tensor_memory {
        memory.take(roles, &mut rings);
    }
    tear_down(roles, &rings, tensor_memory.as_ref());
    // Asked while the hand-overs still stand.
    let open: Vec<bool> = (0..rings.len())
        .map(|channel| tensor::ends_open(kernel, channel))
        .collect();
    for (index, role) in kernel.roles.iter().enumerate() {
        rewrite_role(kernel, request, &rings, &open, index, role)?;
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
    let in_shared = channel.plan.columns().is_none();
    let fields = channel.op.result(0).ty().fields();
    let buffers = fields
        .into_iter()
        .filter(|_| in_shared)
        .enumerate()
        .map(|(index, field)| {
            builder
                .op("async_pipeline.buffer.alloc")
                .attr("name", context.string_attr(&format!("{name}.{index}")))
                .results(&[context.buffer(stages, field, channel.plan.swizzle(index))])
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
        columns: None,
        barriers: (!channel.plan.groups).then(|| Barriers {
            full: barrier("full"),
            empty: barrier("empty"),
        }),
    }
}

fn first_thread(build: Build) -> Value {
    build.compare(Compare::Eq, thread_id(build), build.index(0))
}

/// One thread initialises every barrier; nobody passes before that.
fn set_up(
    roles: Op,
    kernel: &Kernel,
    rings: &[Ring],
    request: &Request,
    tensor_memory: Option<&tensor::Allocation>,
) {
    let build = Build(Builder::before(roles));
    let first = first_thread(build);
    build.when(first, |build| {
        for (channel, ring) in kernel.channels.iter().zip(rings) {
            let counted = ring.barriers.map(|barriers| {
                [
                    (barriers.full, channel.plan.full_count()),
                    (barriers.empty, channel.plan.empty_count()),
                ]
            });
            for (barrier, count) in counted.into_iter().flatten() {
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
    if let Some(memory) = tensor_memory {
        memory.allocate(build);
    }
    build.0.op("async_pipeline.cta.barrier").build();
}

/// Barriers end when every role has stopped using them.
fn tear_down(roles: Op, rings: &[Ring], tensor_memory: Option<&tensor::Allocation>) {
    let Some(next) = roles
        .block()
        .and_then(|block| block.ops().into_iter().skip_while(|op| *op != roles).nth(1))
    else {
        return;
    };
    let build = Build(Builder::before(next).with_location(roles.location()));
    if tensor_memory.is_some() {
        build.0.op("async_pipeline.tcgen05.fence_before").build();
    }
    build.0.op("async_pipeline.cta.barrier").build();
    if let Some(memory) = tensor_memory {
        memory.free(build, rings);
    }
    let first = first_thread(build);
    build.when(first, |build| {
        for barriers in rings.iter().filter_map(|ring| ring.barriers) {
            for barrier in [barriers.full, barriers.empty] {
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
    open: &[bool],
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
        restarts: &|looped, key| {
            let channel = &kernel.channels[key.channel];
            channel.plan.groups && groups::restarts(looped, channel.op, key.produces)
        },
        taken: Vec::new(),
    };
    let last = threading.block(body, positions)?;
    let taken = std::mem::take(&mut threading.taken);
    let places = taken
        .iter()
        .filter_map(|(taker, position)| Some((taker.result(0), (key_of(*taker)?, *position))))
        .collect();
    code.rewrite_work(role.op, &places)?;
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
    for (key, position) in last {
        if key.produces && open[key.channel] {
            let stages = kernel.channels[key.channel].plan.stages;
            let exit = Build(Builder::at_end(body, role.op.location(), role.op.context()));
            code.await_release(exit, &rings[key.channel], stages, position);
        }
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
