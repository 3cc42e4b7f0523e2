//! `cp.async.bulk`, `cp.reduce.async.bulk` and the bulk groups of threads.
//!
//! Copies to shared memory complete on an mbarrier of their destination, copies to global memory
//! in a bulk group of the thread that issued them.

mod check;
mod groups;
pub(super) mod transfer;
mod twin;

pub(super) use check::global_ranges;
pub use groups::BulkState;
pub(crate) use groups::check_exit;
pub use twin::TwinStores;

use transfer::{Delivery, Reduction};

use super::{
    Execute,
    decode::{Address, DecodeError, Decoder, Src},
    mbarrier::barrier_at,
};
use crate::{
    machine::{
        ids::CtaRef,
        step::{Flow, Location, Step, Window},
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_map::{Plan, ReduceOp, ReduceType},
};

type Result<T> = std::result::Result<T, DecodeError>;

/// What addresses and sizes of bulk copies are multiples of (PTX ISA, cp.async.bulk).
const UNIT: u64 = 16;

/// The modifier of copies that complete on a barrier.
const COMPLETE_TX: &str = "mbarrier::complete_tx::bytes";

/// From where to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// To shared memory; the window says of which CTAs.
    Load(Window),
    /// From the own CTA's shared memory to another's.
    Pass,
    /// From shared to global memory.
    Store,
}

/// One instruction that moves data.
#[derive(Debug)]
struct Bulk {
    route: Route,
    dst: Address,
    src: Address,
    size: Src,
    barrier: Option<Address>,
    mask: Option<Src>,
    reduction: Option<Reduction>,
}

impl Execute for Bulk {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let size = step.get(self.size, lane) & 0xffff_ffff;
            if !size.is_multiple_of(UNIT) {
                return Err(Fault::new(
                    Kind::Misaligned,
                    format!("lane {lane} copies {size} bytes, which is no multiple of 16"),
                ));
            }
            let dst = step.address(self.dst, lane);
            let src = step.address(self.src, lane);
            match self.route {
                Route::Load(window) => self.load(step, lane, window, dst, src, size)?,
                Route::Pass => self.pass(step, lane, dst, src, size)?,
                Route::Store => {
                    let offset = shared(step, Window::SharedCta, lane, src, size)?.1;
                    step.locate(Window::Global, lane, dst, size, UNIT)?;
                    let plan = Plan::linear(offset, dst, size as u32);
                    transfer::store(step, lane, plan, self.reduction)?;
                }
            }
        }
        Ok(Flow::Next)
    }
}

impl Bulk {
    fn load(
        &self,
        step: &mut Step<'_>,
        lane: usize,
        window: Window,
        dst: u64,
        src: u64,
        size: u64,
    ) -> std::result::Result<(), Fault> {
        let (cta, offset) = shared(step, window, lane, dst, size)?;
        step.locate(Window::Global, lane, src, size, UNIT)?;
        let barrier = self.barrier(step, lane, window, cta)?;
        let deliveries = match self.mask {
            None => vec![Delivery { cta, barrier }],
            Some(mask) => multicast(step, lane, mask, |rank| CtaRef { rank, ..cta }, barrier.1)?,
        };
        let plan = Plan::linear(offset, src, size as u32);
        transfer::load(step, lane, plan, &deliveries)
    }

    fn pass(
        &self,
        step: &mut Step<'_>,
        lane: usize,
        dst: u64,
        src: u64,
        size: u64,
    ) -> std::result::Result<(), Fault> {
        let (cta, offset) = shared(step, Window::SharedCluster, lane, dst, size)?;
        let from = shared(step, Window::SharedCta, lane, src, size)?.1;
        if cta == step.cta() {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!("lane {lane} copies within its own CTA; the destination is another's"),
            ));
        }
        let barrier = self.barrier(step, lane, Window::SharedCluster, cta)?;
        let delivery = Delivery { cta, barrier };
        transfer::pass(
            step,
            lane,
            (from, offset, size as u32),
            delivery,
            self.reduction,
        )
    }

    /// The barrier, which lies in the CTA of the destination.
    fn barrier(
        &self,
        step: &Step<'_>,
        lane: usize,
        window: Window,
        cta: CtaRef,
    ) -> std::result::Result<(CtaRef, u32), Fault> {
        let Some(address) = self.barrier else {
            return Err(Fault::new(
                Kind::InvalidOperand,
                "the copy names no mbarrier",
            ));
        };
        let barrier = barrier_at(step, window, lane, step.address(address, lane))?;
        same_cta(lane, barrier.0, cta)?;
        Ok(barrier)
    }
}

/// Finds shared memory of a bulk copy.
fn shared(
    step: &Step<'_>,
    window: Window,
    lane: usize,
    address: u64,
    size: u64,
) -> std::result::Result<(CtaRef, u32), Fault> {
    match step.locate(window, lane, address, size, UNIT)? {
        Location::Shared(cta, offset) => Ok((cta, offset)),
        _ => Err(Fault::new(
            Kind::InvalidOperand,
            format!("the address {address:#x} of lane {lane} is not in shared memory"),
        )),
    }
}

/// Refuses a barrier that lies elsewhere than the data.
pub(super) fn same_cta(
    lane: usize,
    barrier: CtaRef,
    data: CtaRef,
) -> std::result::Result<(), Fault> {
    if barrier == data {
        return Ok(());
    }
    Err(Fault::new(
        Kind::InvalidOperand,
        format!(
            "lane {lane} copies to CTA {} of the cluster and names an mbarrier of CTA {}",
            data.rank, barrier.rank
        ),
    ))
}

/// The destinations of a multicast: one for each bit of the mask, all at the same offsets.
/// `barrier_cta` says whose barrier hears of the delivery to a rank.
pub(super) fn multicast(
    step: &Step<'_>,
    lane: usize,
    mask: Src,
    barrier_cta: impl Fn(u32) -> CtaRef,
    barrier: u32,
) -> std::result::Result<Vec<Delivery>, Fault> {
    let mask = step.get(mask, lane) & 0xffff;
    let size: u32 = step.machine.launch.cluster.iter().product();
    if mask == 0 || mask >> size.min(16) != 0 {
        return Err(Fault::new(
            Kind::InvalidOperand,
            format!("lane {lane} sends to the CTAs {mask:#06x} of a cluster of {size}"),
        ));
    }
    let cluster = step.cta().cluster;
    let ranks = (0..16).filter(|rank| mask >> rank & 1 == 1);
    Ok(ranks
        .map(|rank| Delivery {
            cta: CtaRef { cluster, rank },
            barrier: (barrier_cta(rank), barrier),
        })
        .collect())
}

/// A prefetch moves nothing that a program could see, but its addresses have to be right.
#[derive(Debug)]
struct Prefetch {
    src: Address,
    size: Src,
}

impl Execute for Prefetch {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let size = step.get(self.size, lane) & 0xffff_ffff;
            if !size.is_multiple_of(UNIT) {
                return Err(Fault::new(
                    Kind::Misaligned,
                    format!("lane {lane} prefetches {size} bytes, which is no multiple of 16"),
                ));
            }
            step.locate(
                Window::Global,
                lane,
                step.address(self.src, lane),
                size,
                UNIT,
            )?;
        }
        Ok(Flow::Next)
    }
}

/// `cp.async.bulk` and `cp.reduce.async.bulk` that are no tensor copies.
pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let reduces = d.flag("reduce");
    d.need("async")?;
    d.need("bulk")?;
    if d.flag("commit_group") {
        d.expect_operands(0..=0)?;
        return Ok(Box::new(groups::Commit));
    }
    if d.flag("wait_group") {
        d.expect_operands(1..=1)?;
        let read = d.flag("read");
        let allowed = u32::try_from(d.immediate(0)?)
            .map_err(|_| d.error("the number of groups does not fit 32 bits"))?;
        return Ok(Box::new(groups::Wait { read, allowed }));
    }
    if d.flag("prefetch") {
        d.need("L2")?;
        d.need("global")?;
        let policy = usize::from(d.flag("L2::cache_hint"));
        d.expect_operands(2 + policy..=2 + policy)?;
        let src = d.address(0)?;
        let size = d.src(1, ScalarType::U32)?;
        cache_policy(d, 2, policy)?;
        return Ok(Box::new(Prefetch { src, size }));
    }
    let route = route(d)?;
    let reduction = match reduces {
        true => Some(reduction(d, route)?),
        false => None,
    };
    let multicast = usize::from(d.flag("multicast::cluster"));
    if multicast == 1 && route != Route::Load(Window::SharedCluster) {
        return Err(d.error("only copies from global to shared::cluster memory can be multicast"));
    }
    let policy = usize::from(d.flag("L2::cache_hint"));
    let barriers = usize::from(route != Route::Store);
    let count = 3 + barriers + multicast + policy;
    d.expect_operands(count..=count)?;
    let barrier = match route {
        Route::Store => None,
        _ => Some(d.address(3)?),
    };
    let mask = match multicast {
        0 => None,
        _ => Some(d.src(3 + barriers, ScalarType::U16)?),
    };
    cache_policy(d, count - 1, policy)?;
    Ok(Box::new(Bulk {
        route,
        dst: d.address(0)?,
        src: d.address(1)?,
        size: d.src(2, ScalarType::U32)?,
        barrier,
        mask,
        reduction,
    }))
}

/// Takes the cache policy, which has no effect on values, if there is one.
pub(super) fn cache_policy(d: &mut Decoder<'_>, index: usize, count: usize) -> Result<()> {
    if count == 1 {
        d.src(index, ScalarType::B64)?;
    }
    Ok(())
}

/// The state spaces, destination first, and the completion that belongs to them.
fn route(d: &mut Decoder<'_>) -> Result<Route> {
    let spaces = ["shared::cluster", "shared::cta", "global"];
    let mut named = d
        .modifiers()
        .iter()
        .map(String::as_str)
        .filter(|name| spaces.contains(name));
    let pair = (named.next(), named.next());
    let route = match pair {
        (Some("shared::cluster"), Some("global")) => Route::Load(Window::SharedCluster),
        (Some("shared::cta"), Some("global")) => Route::Load(Window::SharedCta),
        (Some("shared::cluster"), Some("shared::cta")) => Route::Pass,
        (Some("global"), Some("shared::cta")) => Route::Store,
        _ => return Err(d.error("there are no bulk copies between these state spaces")),
    };
    for space in spaces {
        d.flag(space);
    }
    match route {
        Route::Store => d.need("bulk_group")?,
        _ => d.need(COMPLETE_TX)?,
    }
    Ok(route)
}

/// Operation and type of a reduction (PTX ISA, cp.reduce.async.bulk).
fn reduction(d: &mut Decoder<'_>, route: Route) -> Result<Reduction> {
    let op = d
        .parse_modifier(ReduceOp::from_name)
        .ok_or_else(|| d.error("needs an operation"))?;
    let keeps_subnormals = d.flag("noftz");
    let ty = d.scalar_type()?;
    let kind = reduce_type(ty)
        .filter(|kind| kind.has(op) && kind.is_spelled_for(op))
        .ok_or_else(|| d.error("there is no such operation on this type"))?;
    let short = matches!(kind, ReduceType::F16 | ReduceType::Bf16);
    if keeps_subnormals != (short && op == ReduceOp::Add) {
        return Err(d.error(".noftz belongs to additions of .f16 and .bf16, which need it"));
    }
    match route {
        Route::Store => {}
        Route::Pass if !kind.exists_between_ctas(op) => {
            return Err(d.error("this type can only be reduced to global memory"));
        }
        Route::Pass => {}
        Route::Load(_) => return Err(d.error("reductions read shared memory")),
    }
    Ok(Reduction { op, kind })
}

/// The type of a reduction by its name in PTX.
pub(super) fn reduce_type(ty: ScalarType) -> Option<ReduceType> {
    Some(match ty {
        ScalarType::B32 => ReduceType::B32,
        ScalarType::B64 => ReduceType::B64,
        ScalarType::U32 => ReduceType::U32,
        ScalarType::S32 => ReduceType::S32,
        ScalarType::U64 => ReduceType::U64,
        ScalarType::S64 => ReduceType::S64,
        ScalarType::F16 => ReduceType::F16,
        ScalarType::Bf16 => ReduceType::Bf16,
        ScalarType::F32 => ReduceType::F32,
        ScalarType::F64 => ReduceType::F64,
        _ => return None,
    })
}
