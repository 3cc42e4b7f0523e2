//! `tcgen05`: tensor memory and the tensor cores of sm_100a (PTX ISA 9.1, 9.7.16).
//!
//! What the race detector is told, and when:
//!
//! * `mma` and `cp` are queued when they are issued, in the order of the issuing thread, and move
//!   data when the queue finishes them. Their accesses go down at issue under the epoch of the
//!   thread's stream, so that all of one thread are in order among themselves; a `commit` publishes
//!   the stream's progress on its barrier and begins the next epoch.
//! * `ld` and `st` move data at once. Their accesses belong to streams of the warp (named by its
//!   first thread, which also stands for the warp's knowledge); `wait::ld` and `wait::st` make
//!   them known to the warp, and so end them.
//! * `dealloc` counts as a write to all columns, so whatever may still use them is found.

mod access;
mod alloc;
mod commit;
mod copy;
mod fence;
mod mma;
mod multiply;
mod operand;

use std::collections::BTreeMap;

use super::{
    Execute,
    decode::{DecodeError, Decoder},
};
use crate::{
    detect::{Access, Epoch, Mode, Place, Proxy, Stream},
    machine::{
        Machine,
        events::Order,
        ids::{CtaRef, ThreadRef},
        step::Step,
    },
    report::{Fault, Kind, Severity},
    tensor_memory::{AccessError, Region, TensorMemory, shapes::CtaGroup},
};

/// Tensor memory of a CTA, and how far its threads' streams have come.
#[derive(Debug, Default)]
pub struct TensorState {
    memory: TensorMemory,
    /// `.cta_group` of the first instruction that had one.
    group: Option<CtaGroup>,
    /// Commits of each thread.
    commits: BTreeMap<u32, u32>,
    /// `ld` and `st` of each warp.
    warps: BTreeMap<u32, WarpStreams>,
    /// What a warp of this CTA waits to do together with the other CTA of the pair.
    pair: Option<alloc::PairRequest>,
    /// Which instruction and thread made the allocation that begins at a column.
    owners: BTreeMap<u32, (u32, ThreadRef)>,
}

/// How often a warp has waited for its `ld` and `st`, and whether it has to again.
#[derive(Debug, Default, Clone, Copy)]
struct WarpStreams {
    loads: Pending,
    stores: Pending,
}

#[derive(Debug, Default, Clone, Copy)]
struct Pending {
    waits: u32,
    open: bool,
}

impl Pending {
    /// The stream's time now.
    fn time(self) -> u32 {
        self.waits + 1
    }
}

impl From<AccessError> for Fault {
    fn from(error: AccessError) -> Self {
        let kind = match error {
            AccessError::UseAfterDealloc { .. } => Kind::TensorMemory,
            AccessError::OutOfRange { .. } | AccessError::NotAllocated { .. } => Kind::OutOfBounds,
        };
        Self::new(kind, error.to_string())
    }
}

/// The state of a CTA that executes or is named by an instruction.
fn state(machine: &mut Machine, cta: CtaRef) -> Result<&mut TensorState, Fault> {
    match machine.cta_mut(cta) {
        Some(cta) => Ok(&mut cta.tensor),
        None => Err(Fault::new(
            Kind::InvalidOperand,
            format!("there is no CTA {} in the cluster", cta.rank),
        )),
    }
}

/// Notes the `.cta_group` of an instruction: a kernel has to keep to one (PTX ISA 9.7.16.5).
fn keep_to_group(step: &mut Step<'_>, group: CtaGroup) -> Result<(), Fault> {
    let cta = step.cta();
    let first = *state(step.machine, cta)?.group.get_or_insert(group);
    if first == group {
        return Ok(());
    }
    Err(Fault::new(
        Kind::InvalidOperand,
        format!(
            "cta_group::{} after cta_group::{}: a kernel has to keep to one",
            group.count(),
            first.count()
        ),
    ))
}

/// The other CTA of a pair: ranks 2i and 2i+1.
fn peer(machine: &Machine, cta: CtaRef) -> Result<CtaRef, Fault> {
    let peer = CtaRef {
        rank: cta.rank ^ 1,
        ..cta
    };
    match machine.cta(peer) {
        None => Err(Fault::new(
            Kind::InvalidOperand,
            format!(
                "cta_group::2 needs a pair of CTAs, and the cluster has no CTA {}",
                peer.rank
            ),
        )),
        Some(other) if other.ended() => Err(Fault::new(
            Kind::ExitWithWork,
            format!("CTA {} of the pair has ended already", peer.rank),
        )),
        Some(_) => Ok(peer),
    }
}

/// The CTAs that an instruction of this group works on, the even one first. Of a pair only the
/// even CTA issues.
fn working_ctas(step: &Step<'_>, group: CtaGroup) -> Result<Vec<CtaRef>, Fault> {
    let me = step.cta();
    if group == CtaGroup::One {
        return Ok(vec![me]);
    }
    if me.rank % 2 == 1 {
        return Err(Fault::new(
            Kind::InvalidOperand,
            "the odd CTA of a pair issues an instruction of cta_group::2, which the even one has to issue",
        ));
    }
    Ok(vec![me, peer(step.machine, me)?])
}

/// The stream of a thread's `mma`, `cp` and `commit`, and its time.
fn stream(machine: &mut Machine, thread: ThreadRef) -> Result<Epoch, Fault> {
    let commits = state(machine, thread.cta)?
        .commits
        .get(&thread.thread)
        .copied();
    let time = commits.unwrap_or(0) + 1;
    Ok(machine
        .detector
        .stream_epoch(thread, Stream::Tensor(thread), time))
}

/// The queue's name for that stream: its work finishes in order.
fn order(thread: ThreadRef) -> Order {
    const TENSOR: Order = 2 << 62;
    let rank = Order::from(thread.cta.rank & 0xff);
    TENSOR
        | Order::from(thread.cta.cluster) << 24
        | rank << 16
        | Order::from(thread.thread & 0xffff)
}

/// One use of tensor memory, as the race detector is told.
#[derive(Clone, Copy)]
struct Use {
    thread: ThreadRef,
    epoch: Epoch,
    mode: Mode,
    proxy: Proxy,
    pc: u32,
}

/// Checks that a use of tensor memory is inside allocations, written if it is read, and in order.
fn touch(
    machine: &mut Machine,
    cta: CtaRef,
    regions: &[Region],
    reads: bool,
    what: Use,
) -> Result<(), Fault> {
    for region in regions {
        state(machine, cta)?.memory.check(region)?;
    }
    if !machine.detector.enabled() {
        return Ok(());
    }
    let place = Place::Tensor(cta);
    let access = Access {
        thread: what.thread,
        epoch: what.epoch,
        mode: what.mode,
        proxy: what.proxy,
        pc: what.pc,
    };
    let mut unwritten = None;
    for (position, len) in regions.iter().flat_map(Region::cells) {
        if reads && unwritten.is_none() && !machine.detector.is_written(place, position, len) {
            unwritten = Some(position);
        }
        machine.watch(place, position, len, &access);
    }
    if let Some(position) = unwritten {
        let message = format!(
            "{} is read before anybody has written it",
            machine.describe(place, position)
        );
        let kind = Kind::UninitialisedRead;
        machine.report(
            kind,
            Severity::Error,
            message,
            what.pc,
            what.thread,
            u32::MAX,
            Vec::new(),
        );
    }
    Ok(())
}

/// Reports tensor memory that a CTA has not given back.
pub(crate) fn check_end(machine: &mut Machine, cta: CtaRef) {
    let Some(ended) = machine.cta(cta) else {
        return;
    };
    let left: Vec<_> = ended.tensor.memory.allocations().live().collect();
    for (column, columns) in left {
        let owner = machine
            .cta(cta)
            .and_then(|cta| cta.tensor.owners.get(&column).copied());
        let Some((pc, thread)) = owner else {
            continue;
        };
        let message = format!(
            "{columns} columns of tensor memory from column {column} are still allocated when the CTA ends"
        );
        let kind = Kind::TensorMemory;
        machine.report(
            kind,
            Severity::Error,
            message,
            pc,
            thread,
            u32::MAX,
            Vec::new(),
        );
    }
}

/// Takes `.cta_group::1` or `::2`.
fn cta_group(d: &mut Decoder<'_>) -> Result<CtaGroup, DecodeError> {
    Ok(match d.need_one_of(&["cta_group::1", "cta_group::2"])? {
        "cta_group::1" => CtaGroup::One,
        _ => CtaGroup::Two,
    })
}

pub(super) fn decode_tcgen05(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    let name = d
        .modifiers()
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    match name {
        "alloc" => alloc::decode_alloc(d),
        "dealloc" => alloc::decode_dealloc(d),
        "relinquish_alloc_permit" => alloc::decode_relinquish(d),
        "ld" => access::decode_ld(d),
        "st" => access::decode_st(d),
        "wait::ld" | "wait::st" => access::decode_wait(d),
        "mma" => mma::decode(d),
        "cp" => copy::decode(d),
        "commit" => commit::decode(d),
        "fence::before_thread_sync" | "fence::after_thread_sync" => fence::decode(d),
        _ => Err(d.error("is not supported")),
    }
}

#[cfg(test)]
mod tests;
