//! `cp.async`, its groups and its arrives on mbarriers; and the way to the bulk copies.

use std::collections::{BTreeSet, VecDeque};

use super::{Convergence, Execute, decode::{Address, DecodeError, Decoder, Pred, Src}, mbarrier::barrier_at, memory};
use crate::{
    detect::{Access, Mode, Proxy, Stream},
    machine::{
        Machine,
        events::{Unit, Work},
        ids::{CtaRef, ThreadRef},
        step::{Flow, Location, Step, Window},
        wait::Why,
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// `cp.async` of a warp's lanes.
#[derive(Debug, Default)]
pub struct CpAsyncState {
    lanes: Vec<Lane>,
}

#[derive(Debug, Default, Clone)]
struct Lane {
    /// Copies issued so far; a copy's number is what this was after it.
    issued: u32,
    /// Numbers of copies that are not finished.
    open: BTreeSet<u32>,
    /// The number of the last copy of each committed group that nobody has waited for.
    groups: VecDeque<u32>,
    /// Arrives that come when all copies up to a number are finished.
    arrives: Vec<Arrive>,
}

#[derive(Debug, Clone, Copy)]
struct Arrive {
    up_to: u32,
    cta: CtaRef,
    offset: u32,
    no_increment: bool,
}

impl CpAsyncState {
    fn lane(&mut self, lane: usize) -> &mut Lane {
        if self.lanes.is_empty() {
            self.lanes = vec![Lane::default(); 32];
        }
        &mut self.lanes[lane]
    }

    /// Whether any of these lanes has copies in flight that no mbarrier will tell of.
    pub(crate) fn in_flight(&self, mask: u32) -> bool {
        let untold = |lane: &Lane| {
            let told = lane.arrives.iter().map(|arrive| arrive.up_to).max().unwrap_or(0);
            lane.open.last().is_some_and(|&latest| latest > told)
        };
        self.lanes
            .iter()
            .enumerate()
            .any(|(index, lane)| mask >> index & 1 == 1 && untold(lane))
    }
}

/// One `cp.async` instruction.
#[derive(Debug)]
struct Copy {
    dst: Address,
    src: Address,
    size: u32,
    /// Bytes to read, the rest is zeros.
    src_size: Option<Src>,
    /// Where true nothing is read, and zeros are written.
    ignore: Option<Pred>,
}

/// One lane's part of it, on its way.
#[derive(Debug)]
struct Part {
    thread: ThreadRef,
    number: u32,
    dst: u32,
    /// Allocation, offset and bytes to read.
    src: Option<(u32, u64, u32)>,
}

#[derive(Debug)]
struct InFlight {
    size: u32,
    parts: Vec<Part>,
}

impl Execute for Copy {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let ignored = self.ignore.map_or(0, |pred| step.pred(pred));
        let size = u64::from(self.size);
        let mut parts = Vec::new();
        for lane in step.lanes() {
            let dst = step.address(self.dst, lane);
            let location = step.locate(Window::SharedCta, lane, dst, size, size)?;
            let Location::Shared(cta, dst) = location else {
                return Err(Fault::new(Kind::InvalidOperand, "cp.async writes shared memory"));
            };
            let wanted = match self.src_size {
                Some(src) => step.get(src, lane).min(u64::from(u32::MAX)),
                None => size,
            };
            if wanted > size {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!("lane {lane} wants to read {wanted} bytes for a copy of {size}"),
                ));
            }
            let wanted = if ignored >> lane & 1 == 1 { 0 } else { wanted };
            let thread = step.thread(lane);
            let state = step.warp.cp_async.lane(lane);
            state.issued += 1;
            let number = state.issued;
            state.open.insert(number);
            let epoch =
                step.machine.detector.stream_epoch(thread, Stream::CpAsync(thread), number);
            let mut access = Access {
                thread,
                epoch,
                mode: Mode::Write,
                proxy: Proxy::Generic,
                pc: step.pc,
            };
            let place = crate::detect::Place::Shared(cta);
            step.machine.watch(place, u64::from(dst), size, &access);
            let mut src = None;
            if wanted > 0 {
                let address = step.address(self.src, lane);
                let location = step.locate(Window::Global, lane, address, wanted, size)?;
                if let Location::Global(index, offset) = location {
                    access.mode = Mode::Read;
                    let place = crate::detect::Place::Global(index);
                    step.machine.watch(place, offset, wanted, &access);
                    src = Some((index, offset, wanted as u32));
                }
            }
            parts.push(Part {
                thread,
                number,
                dst,
                src,
            });
        }
        let site = step.site(step.first_lane());
        let cluster = step.cta().cluster;
        let work = Box::new(InFlight {
            size: self.size,
            parts,
        });
        step.machine.post(Unit::CpAsync, 0, site, cluster, work);
        Ok(Flow::Next)
    }
}

impl Work for InFlight {
    fn finish(self: Box<Self>, machine: &mut Machine) -> std::result::Result<(), Fault> {
        for part in &self.parts {
            let mut bytes = [0u8; 16];
            let bytes = &mut bytes[..self.size as usize];
            if let Some((index, offset, len)) = part.src {
                let from = &machine.memory.allocations()[index as usize].bytes;
                let offset = offset as usize;
                bytes[..len as usize].copy_from_slice(&from[offset..offset + len as usize]);
            }
            if let Some(cta) = machine.cta_mut(part.thread.cta) {
                let dst = part.dst as usize;
                cta.shared[dst..dst + bytes.len()].copy_from_slice(bytes);
            }
            let lane = part.thread.thread as usize % 32;
            if let Some(state) = lane_of(machine, part.thread) {
                state.lane(lane).open.remove(&part.number);
            }
            arrive_if_due(machine, part.thread)?;
        }
        Ok(())
    }
}

fn lane_of(machine: &mut Machine, thread: ThreadRef) -> Option<&mut CpAsyncState> {
    let cta = machine.cta_mut(thread.cta)?;
    let warp = cta.warps.get_mut(thread.thread as usize / 32)?;
    Some(&mut warp.cp_async)
}

/// Makes the arrives whose copies are finished.
fn arrive_if_due(machine: &mut Machine, thread: ThreadRef) -> std::result::Result<(), Fault> {
    let lane = thread.thread as usize % 32;
    let Some(state) = lane_of(machine, thread) else {
        return Ok(());
    };
    let state = state.lane(lane);
    if state.arrives.is_empty() {
        return Ok(());
    }
    let oldest = state.open.first().copied().unwrap_or(u32::MAX);
    let (due, later) = state.arrives.iter().partition(|arrive| arrive.up_to < oldest);
    state.arrives = later;
    let due: Vec<Arrive> = due;
    for arrive in due {
        arrive_now(machine, thread, arrive)?;
    }
    Ok(())
}

fn arrive_now(
    machine: &mut Machine,
    thread: ThreadRef,
    arrive: Arrive,
) -> std::result::Result<(), Fault> {
    let epoch = machine
        .detector
        .stream_epoch(thread, Stream::CpAsync(thread), arrive.up_to);
    let what = format!("cp.async of thread {} arrived", thread.thread);
    machine.system_arrive(arrive.cta, arrive.offset, &[epoch], &what, |barrier| {
        if arrive.no_increment {
            barrier.cp_async_arrive_noinc_complete()
        } else {
            barrier.cp_async_arrive_complete()
        }
    })
}

#[derive(Debug)]
struct Commit;

impl Execute for Commit {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let state = step.warp.cp_async.lane(lane);
            let last = state.issued;
            state.groups.push_back(last);
        }
        Ok(Flow::Next)
    }
}

/// `cp.async.wait_group N` and, without a number, `wait_all`.
#[derive(Debug)]
struct WaitGroup {
    allowed: Option<usize>,
}

impl Execute for WaitGroup {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let mut waiting = false;
        for lane in step.lanes() {
            let state = step.warp.cp_async.lane(lane);
            let up_to = match self.allowed {
                None => state.issued,
                Some(allowed) => match state.groups.len().checked_sub(allowed + 1) {
                    Some(index) => state.groups[index],
                    None => continue,
                },
            };
            waiting |= state.open.first().is_some_and(|&oldest| oldest <= up_to);
        }
        if waiting {
            return Ok(Flow::wait(Why::Async("its cp.async groups")));
        }
        for lane in step.lanes() {
            let thread = step.thread(lane);
            let state = step.warp.cp_async.lane(lane);
            let keep = self.allowed.unwrap_or(0);
            let mut up_to = if self.allowed.is_none() { state.issued } else { 0 };
            while state.groups.len() > keep {
                up_to = up_to.max(state.groups.pop_front().unwrap_or(0));
            }
            if up_to > 0 {
                let detector = &mut step.machine.detector;
                let epoch = detector.stream_epoch(thread, Stream::CpAsync(thread), up_to);
                detector.learn(thread, epoch);
            }
        }
        Ok(Flow::Next)
    }
}

/// `cp.async.mbarrier.arrive`.
#[derive(Debug)]
struct ArriveOn {
    window: Window,
    address: Address,
    no_increment: bool,
}

impl Execute for ArriveOn {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let (cta, offset) = barrier_at(step, self.window, lane, address)?;
            let thread = step.thread(lane);
            let pc = step.pc;
            step.machine.check_barrier_init(thread, pc, cta, offset, false);
            if !self.no_increment {
                step.machine
                    .change_mbarrier(cta, offset, |barrier| barrier.cp_async_arrive_begin())?;
            }
            let state = step.warp.cp_async.lane(lane);
            let arrive = Arrive {
                up_to: state.issued,
                cta,
                offset,
                no_increment: self.no_increment,
            };
            if state.open.is_empty() {
                arrive_now(step.machine, thread, arrive)?;
            } else {
                state.arrives.push(arrive);
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::None
    }
}

/// `cp`: `cp.async` here, bulk copies elsewhere.
pub(super) fn decode_cp(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let has = |name: &str| d.modifiers().iter().any(|m| m == name);
    if has("bulk") {
        return if has("tensor") {
            super::bulk_tensor::decode(d)
        } else {
            super::bulk::decode(d)
        };
    }
    d.need("async")?;
    if d.flag("mbarrier") {
        d.need("arrive")?;
        let no_increment = d.flag("noinc");
        let window = memory::window(d);
        d.need("b64")?;
        d.expect_operands(1..=1)?;
        let address = d.address(0)?;
        return Ok(Box::new(ArriveOn {
            window,
            address,
            no_increment,
        }));
    }
    if d.flag("commit_group") {
        d.expect_operands(0..=0)?;
        return Ok(Box::new(Commit));
    }
    if d.flag("wait_all") {
        d.expect_operands(0..=0)?;
        return Ok(Box::new(WaitGroup { allowed: None }));
    }
    if d.flag("wait_group") {
        d.expect_operands(1..=1)?;
        let allowed = usize::try_from(d.immediate(0)?)
            .map_err(|_| d.error("the number of groups cannot be negative"))?;
        return Ok(Box::new(WaitGroup {
            allowed: Some(allowed.min(u32::MAX as usize)),
        }));
    }
    let cache = d.need_one_of(&["ca", "cg"])?;
    d.need_one_of(&["shared", "shared::cta"])?;
    d.need("global")?;
    let policy = memory::cache_hints(d);
    let last = usize::from(policy);
    d.expect_operands(3 + last..=4 + last)?;
    let dst = d.address(0)?;
    let src = d.address(1)?;
    let size = d.immediate(2)?;
    let allowed: &[i64] = if cache == "cg" { &[16] } else { &[4, 8, 16] };
    if !allowed.contains(&size) {
        return Err(d.error(format!("{size} bytes cannot be copied at once")));
    }
    let (mut src_size, mut ignore) = (None, None);
    if d.operand_count() == 4 + last {
        if d.is_pred(3) {
            ignore = Some(d.pred(3)?);
        } else {
            src_size = Some(d.src(3, ScalarType::U32)?);
        }
    }
    if policy {
        d.src(3 + usize::from(d.operand_count() == 5), ScalarType::B64)?;
    }
    Ok(Box::new(Copy {
        dst,
        src,
        size: size as u32,
        src_size,
        ignore,
    }))
}
