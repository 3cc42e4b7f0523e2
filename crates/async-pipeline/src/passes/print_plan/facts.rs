//! What there is to say of a kernel, read from its barrier level.

use async_pipeline_sys::ir::{Op, Type};
use ptx_model::target::Target;

/// Lanes of a warp.
const WARP: i64 = 32;

/// Which role hands what to which.
pub(super) type HandOvers = Vec<HandOver>;

pub(super) struct HandOver {
    pub(super) channel: String,
    pub(super) from: Vec<String>,
    pub(super) to: Vec<String>,
}

/// A kernel's plan.
pub(super) struct Plan {
    pub(super) kernel: String,
    pub(super) target: Target,
    pub(super) roles: Vec<Role>,
    pub(super) channels: Vec<Channel>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) shared: Vec<Storage>,
    pub(super) shared_bytes: i64,
    /// Columns of tensor memory.
    pub(super) columns: i64,
}

pub(super) struct Role {
    pub(super) name: String,
    pub(super) first: i64,
    pub(super) warps: i64,
    pub(super) elected: bool,
    /// Values of accumulators that each thread holds.
    pub(super) sums: i64,
}

pub(super) struct Channel {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) stages: i64,
    pub(super) fields: Vec<String>,
    pub(super) completion: String,
}

pub(super) struct Barrier {
    pub(super) name: String,
    pub(super) stages: i64,
    pub(super) arrivals: Option<i64>,
    pub(super) bytes: Option<i64>,
}

pub(super) struct Storage {
    pub(super) name: String,
    pub(super) offset: i64,
    pub(super) bytes: i64,
    pub(super) what: String,
}

fn text(op: Op, name: &str) -> String {
    let attr = op.attr(name);
    attr.and_then(|attr| attr.string()).unwrap_or_default()
}

fn number(op: Op, name: &str) -> Option<i64> {
    op.attr(name)?.int()
}

/// Read at the channel level.
pub(super) fn hand_overs(kernel: Op) -> HandOvers {
    let creates = kernel.find("async_pipeline.channel.create");
    creates
        .into_iter()
        .map(|create| {
            let roles = |name: &str| -> Vec<String> {
                let mut roles: Vec<String> = Vec::new();
                for (user, _) in create.result(0).uses().into_iter().rev() {
                    let role = user
                        .is(name)
                        .then(|| user.ancestor("async_pipeline.role"))
                        .flatten()
                        .map(|role| text(role, "sym_name"));
                    if let Some(role) = role
                        && !roles.contains(&role)
                    {
                        roles.push(role);
                    }
                }
                roles
            };
            HandOver {
                channel: text(create, "name"),
                from: roles("async_pipeline.channel.acquire"),
                to: roles("async_pipeline.channel.wait"),
            }
        })
        .collect()
}

impl Plan {
    /// Reads a kernel whose storage has its place.
    pub(super) fn of(kernel: Op, target: Target, hand_overs: HandOvers) -> Self {
        let mut first = 0;
        let roles = kernel
            .find("async_pipeline.role")
            .into_iter()
            .map(|role| {
                let warps = number(role, "warps").unwrap_or(1);
                first += warps;
                Role {
                    name: text(role, "sym_name"),
                    first: first - warps,
                    warps,
                    elected: role.attr("elected").is_some(),
                    sums: sums(role) / (warps * WARP),
                }
            })
            .collect();
        let buffers = kernel.find("async_pipeline.buffer.alloc");
        let arrays = kernel.find("async_pipeline.mbarrier.alloc");
        let mut shared: Vec<Storage> = buffers
            .iter()
            .chain(&arrays)
            .map(|alloc| storage(*alloc))
            .collect();
        shared.sort_by_key(|storage| storage.offset);
        let allocs = kernel.find("async_pipeline.tcgen05.alloc");
        Self {
            kernel: text(kernel, "sym_name"),
            target,
            roles,
            channels: channels(kernel, hand_overs),
            barriers: arrays.into_iter().map(barrier).collect(),
            shared,
            shared_bytes: number(kernel, "async_pipeline.shared_bytes").unwrap_or(0),
            columns: allocs
                .iter()
                .filter_map(|alloc| number(*alloc, "columns"))
                .sum(),
        }
    }
}

/// Values of the accumulators that a role makes.
fn sums(role: Op) -> i64 {
    let made = role.find("async_pipeline.tile.accumulator").into_iter();
    made.map(|made| {
        let tile = made.result(0).ty().fields()[0];
        tile.static_shape().iter().product::<i64>()
    })
    .sum()
}

fn tile(tile: Type) -> String {
    let shape = tile.static_shape();
    let extents: String = shape.iter().map(|extent| format!("{extent}x")).collect();
    format!("{extents}{}", tile.element())
}

fn channels(kernel: Op, hand_overs: HandOvers) -> Vec<Channel> {
    let plan = kernel.attr("async_pipeline.plan");
    let entries = plan.and_then(|plan| plan.array()).unwrap_or_default();
    let entry = |name: &str| {
        entries.iter().copied().find(|entry| {
            entry
                .entry("name")
                .and_then(|name| name.string())
                .as_deref()
                == Some(name)
        })
    };
    hand_overs
        .into_iter()
        .filter_map(|hand_over| {
            let entry = entry(&hand_over.channel)?;
            let fields = entry.entry("fields")?.array()?;
            Some(Channel {
                stages: entry.entry("stages")?.int()?,
                fields: fields
                    .into_iter()
                    .filter_map(|field| field.ty())
                    .map(tile)
                    .collect(),
                completion: entry.entry("completion")?.string()?,
                name: hand_over.channel,
                from: hand_over.from.join(", "),
                to: hand_over.to.join(", "),
            })
        })
        .collect()
}

fn storage(alloc: Op) -> Storage {
    let ty = alloc.result(0).ty();
    let (bytes, what) = match ty.fields().first() {
        Some(field) => {
            let swizzle = match ty.swizzle() {
                0 => String::new(),
                span => format!(", swizzle {span}"),
            };
            let stride = crate::passes::allocate::buffer_stride(ty);
            (
                ty.stages() * stride,
                format!("{} x {stride}: {}{swizzle}", ty.stages(), tile(*field)),
            )
        }
        None => {
            let each = crate::passes::allocate::MBARRIER_BYTES;
            (
                ty.stages() * each,
                format!("{} x {each}: mbarrier", ty.stages()),
            )
        }
    };
    Storage {
        name: text(alloc, "name"),
        offset: number(alloc, "offset").unwrap_or(0),
        bytes,
        what,
    }
}

fn barrier(alloc: Op) -> Barrier {
    let users: Vec<Op> = alloc
        .result(0)
        .uses()
        .into_iter()
        .map(|(user, _)| user)
        .collect();
    let init = users
        .iter()
        .find(|op| op.is("async_pipeline.mbarrier.init"));
    let bytes = users
        .iter()
        .find(|op| op.is("async_pipeline.mbarrier.arrive.expect_tx"))
        .and_then(|op| op.operand(2).constant_int());
    Barrier {
        name: text(alloc, "name"),
        stages: alloc.result(0).ty().stages(),
        arrivals: init.and_then(|init| number(*init, "count")),
        bytes,
    }
}
