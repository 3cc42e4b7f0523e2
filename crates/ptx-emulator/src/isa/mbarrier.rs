//! The mbarrier family over [`ptx_model::mbarrier`].

use ptx_model::mbarrier::{Mbarrier, State};

use super::{Execute, decode::{Address, DecodeError, Decoder, Dst, PredDst, Src}, memory};
use crate::{
    detect::Mode,
    machine::{Machine, ids::{CtaRef, ThreadRef}, step::{Flow, Location, Step, Window}, wait::Why},
    report::{Fault, Kind, Severity},
    syntax::ast::{Operand, ScalarType},
};

type Result<T> = std::result::Result<T, DecodeError>;

/// Where a barrier is: its CTA and offset.
///
/// # Errors
/// The address is not in shared memory, or not a multiple of 8.
pub(super) fn barrier_at(
    step: &Step<'_>,
    window: Window,
    lane: usize,
    address: u64,
) -> std::result::Result<(CtaRef, u32), Fault> {
    match step.locate(window, lane, address, 8, 8)? {
        Location::Shared(cta, offset) => Ok((cta, offset)),
        _ => Err(Fault::new(
            Kind::InvalidOperand,
            format!("the mbarrier address {address:#x} of lane {lane} is not in shared memory"),
        )),
    }
}

/// Marks the barriers that a thread has initialised as fenced for copies and other CTAs.
pub(super) fn fence_inits(machine: &mut Machine, thread: ThreadRef) {
    let epoch = machine.detector.now(thread);
    if let Some(cta) = machine.cta_mut(thread.cta) {
        for cell in cta.mbarriers.values_mut() {
            if cell.init_thread == thread && cell.init_fence.is_none() {
                cell.init_fence = Some(epoch);
            }
        }
    }
}

#[derive(Debug)]
struct Init {
    window: Window,
    address: Address,
    count: Src,
}

impl Execute for Init {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let (cta, offset) = barrier_at(step, self.window, lane, address)?;
            own(step, cta, lane)?;
            let thread = step.thread(lane);
            let pc = step.pc;
            let place = crate::detect::Place::Shared(cta);
            step.machine.watch_generic(thread, pc, Mode::Write, place, u64::from(offset), 8);
            let count = step.get(self.count, lane) as u32;
            step.machine.init_mbarrier(thread, pc, offset, count)?;
        }
        Ok(Flow::Next)
    }
}

fn own(step: &Step<'_>, cta: CtaRef, lane: usize) -> std::result::Result<(), Fault> {
    if cta == step.cta() {
        return Ok(());
    }
    Err(Fault::new(
        Kind::MbarrierContract,
        format!("lane {lane} names a barrier of another CTA, which this instruction cannot reach"),
    ))
}

#[derive(Debug)]
struct Inval {
    window: Window,
    address: Address,
}

impl Execute for Inval {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let (cta, offset) = barrier_at(step, self.window, lane, address)?;
            own(step, cta, lane)?;
            let thread = step.thread(lane);
            let pc = step.pc;
            step.machine.check_barrier_init(thread, pc, cta, offset, false);
            step.machine.change_mbarrier(cta, offset, Mbarrier::inval)?;
            let place = crate::detect::Place::Shared(cta);
            step.machine.watch_generic(thread, pc, Mode::Write, place, u64::from(offset), 8);
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Arrive { no_complete: bool },
    Drop { no_complete: bool },
    ArriveExpect,
    DropExpect,
    Expect,
    Complete,
}

/// Arrives, and changes of the tx-count.
#[derive(Debug)]
struct Update {
    change: Change,
    window: Window,
    address: Address,
    /// Arrivals or bytes.
    amount: Option<Src>,
    state: Dst,
    release: bool,
    cluster_scope: bool,
}

impl Execute for Update {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let (cta, offset) = barrier_at(step, self.window, lane, address)?;
            let thread = step.thread(lane);
            let pc = step.pc;
            let amount = self.amount.map_or(1, |amount| step.get(amount, lane) as u32);
            step.machine.check_barrier_init(thread, pc, cta, offset, false);
            let arrives = !matches!(self.change, Change::Expect | Change::Complete);
            // A release at CTA scope orders nothing for another CTA.
            if arrives && self.release && (self.cluster_scope || cta == step.cta()) {
                let cell = step.machine.mbarrier(cta, offset)?;
                let mut knowledge = std::mem::take(&mut cell.gathering);
                step.machine.detector.release_into(thread, &mut knowledge);
                step.machine.mbarrier(cta, offset)?.gathering = knowledge;
            }
            let what = format!(
                "{} by thread {}{}",
                match self.change {
                    Change::Arrive { .. } => format!("{amount} arrived"),
                    Change::Drop { .. } => format!("{amount} arrived and dropped out"),
                    Change::ArriveExpect => format!("arrive.expect_tx of {amount} bytes"),
                    Change::DropExpect => format!("arrive_drop.expect_tx of {amount} bytes"),
                    Change::Expect => format!("expect_tx of {amount} bytes"),
                    Change::Complete => format!("complete_tx of {amount} bytes"),
                },
                thread.thread,
                if cta == thread.cta { String::new() } else { format!(" of CTA {}", thread.cta.rank) },
            );
            step.machine.mbarrier(cta, offset)?.remember(what);
            let change = self.change;
            let state = step.machine.change_mbarrier(cta, offset, |barrier| {
                Ok(match change {
                    Change::Arrive { no_complete: false } => Some(barrier.arrive(amount)?.state),
                    Change::Arrive { no_complete: true } => {
                        Some(barrier.arrive_no_complete(amount)?.state)
                    }
                    Change::Drop { no_complete: false } => Some(barrier.arrive_drop(amount)?.state),
                    Change::Drop { no_complete: true } => {
                        Some(barrier.arrive_drop_no_complete(amount)?.state)
                    }
                    Change::ArriveExpect => Some(barrier.arrive_expect_tx(amount)?.state),
                    Change::DropExpect => Some(barrier.arrive_drop_expect_tx(amount)?.state),
                    Change::Expect => {
                        barrier.expect_tx(amount)?;
                        None
                    }
                    Change::Complete => {
                        barrier.complete_tx(amount)?;
                        None
                    }
                })
            })?;
            if let Some(state) = state {
                step.set(self.state, lane, state.to_bits());
            }
        }
        Ok(Flow::Next)
    }
}

/// Only the lowest bit counts: Triton passes a sign-extended bit, -1 for an odd phase, and an
/// H200 waits as for 1.
fn parity_of(operand: u64) -> u32 {
    (operand & 1) as u32
}

#[derive(Debug)]
struct Wait {
    dst: PredDst,
    window: Window,
    address: Address,
    /// Parity or state.
    value: Src,
    parity: bool,
    acquire: bool,
    /// `try_wait`: may sleep.
    suspends: bool,
}

impl Wait {
    fn look(
        &self,
        step: &mut Step<'_>,
        lane: usize,
    ) -> std::result::Result<(bool, CtaRef, u32, u64), Fault> {
        let address = step.address(self.address, lane);
        let (cta, offset) = barrier_at(step, self.window, lane, address)?;
        own(step, cta, lane)?;
        let thread = step.thread(lane);
        let pc = step.pc;
        step.machine.check_barrier_init(thread, pc, cta, offset, false);
        let value = step.get(self.value, lane);
        let cell = step.machine.mbarrier(cta, offset)?;
        let phase = cell.barrier.phase().unwrap_or(0);
        let answer = if self.parity {
            cell.barrier.test_wait_parity(parity_of(value))
        } else {
            match State::from_bits(value) {
                Some(state) => cell.barrier.test_wait(&state),
                None => {
                    return Err(Fault::new(
                        Kind::MbarrierContract,
                        format!("lane {lane} waits with {value:#x}, which no arrive has returned"),
                    ));
                }
            }
        };
        match answer {
            Ok(done) => Ok((done, cta, offset, phase)),
            Err(error) => Err(step.machine.at_barrier(cta, offset, &error)),
        }
    }
}

impl Execute for Wait {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let mut done = 0u32;
        let mut first_open = None;
        for lane in step.lanes() {
            let (complete, cta, offset, phase) = self.look(step, lane)?;
            if complete {
                done |= 1 << lane;
                if self.acquire {
                    let thread = step.thread(lane);
                    let completed = step.machine.mbarrier(cta, offset)?.completed.clone();
                    step.machine.detector.acquire(thread, &completed);
                }
            } else if first_open.is_none() {
                first_open = Some((lane, cta, offset, phase));
            }
        }
        if let Some((lane, cta, offset, phase)) = first_open {
            // The ticket is the phase at the first look: two completions later parity says "not
            // yet" about a phase long over.
            if let Some(then) = step.ticket
                && phase >= then + 2
            {
                let thread = step.thread(lane);
                let pc = step.pc;
                let message = format!(
                    "the wait at the mbarrier at shared memory {offset:#x} began in phase {then}, which has completed, and so has the next; in phase {phase} parity no longer tells"
                );
                step.machine.report(
                    Kind::MbarrierContract,
                    Severity::Error,
                    message,
                    pc,
                    thread,
                    u32::MAX,
                    Vec::new(),
                );
            }
            if self.suspends && done == 0 && !step.expired {
                if step.ticket.is_none() {
                    step.ticket = Some(phase);
                }
                let parity = self.parity.then(|| parity_of(step.get(self.value, lane)));
                return Ok(Flow::Wait {
                    why: Why::Mbarrier { cta, offset, parity },
                    may_expire: true,
                });
            }
        }
        step.set_pred(self.dst, done);
        if let Some((lane, cta, offset, _)) = first_open
            && !self.suspends
        {
            let parity = self
                .parity
                .then(|| parity_of(step.get(self.value, lane)));
            return Ok(Flow::Yield(Some(Why::Mbarrier {
                cta,
                offset,
                parity,
            })));
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct PendingCount {
    dst: Dst,
    state: Src,
}

impl Execute for PendingCount {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let bits = step.get(self.state, lane);
            let Some(state) = State::from_bits(bits) else {
                return Err(Fault::new(
                    Kind::MbarrierContract,
                    format!("lane {lane} asks about {bits:#x}, which no arrive has returned"),
                ));
            };
            let count = Mbarrier::pending_count(&state)?;
            step.set(self.dst, lane, u64::from(count));
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode_mbarrier(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let name = d.need_one_of(&[
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ])?;
    if name == "pending_count" {
        d.need("b64")?;
        d.expect_operands(2..=2)?;
        let dst = d.dst(0, ScalarType::U32)?;
        let state = d.src(1, ScalarType::B64)?;
        return Ok(Box::new(PendingCount { dst, state }));
    }
    let relaxed = d.one_of(&["relaxed", "release", "acquire"]) == Some("relaxed");
    let cluster_scope = d.one_of(&["cta", "cluster"]) == Some("cluster");
    let expect = name.starts_with("arrive") && d.flag("expect_tx");
    let no_complete = name.starts_with("arrive") && d.flag("noComplete");
    let parity = name.ends_with("_wait") && d.flag("parity");
    let window = memory::window(d);
    if !matches!(window, Window::Generic | Window::SharedCta | Window::SharedCluster) {
        return Err(d.error("barriers lie in shared memory"));
    }
    d.need("b64")?;
    Ok(match name {
        "init" => {
            d.expect_operands(2..=2)?;
            Box::new(Init {
                window,
                address: d.address(0)?,
                count: d.src(1, ScalarType::U32)?,
            })
        }
        "inval" => {
            d.expect_operands(1..=1)?;
            Box::new(Inval {
                window,
                address: d.address(0)?,
            })
        }
        "test_wait" | "try_wait" => {
            let suspends = name == "try_wait";
            d.expect_operands(3..=if suspends { 4 } else { 3 })?;
            if d.operand_count() == 4 {
                d.src(3, ScalarType::U32)?;
            }
            let ty = if parity { ScalarType::U32 } else { ScalarType::B64 };
            Box::new(Wait {
                dst: d.pred_dst(0)?,
                window,
                address: d.address(1)?,
                value: d.src(2, ty)?,
                parity,
                acquire: !relaxed,
                suspends,
            })
        }
        "expect_tx" | "complete_tx" => {
            d.expect_operands(2..=2)?;
            Box::new(Update {
                change: if name == "expect_tx" { Change::Expect } else { Change::Complete },
                window,
                address: d.address(0)?,
                amount: Some(d.src(1, ScalarType::U32)?),
                state: Dst::SINK,
                release: false,
                cluster_scope,
            })
        }
        _ => {
            // The state may be left out for barriers of other CTAs.
            let has_state = !matches!(d.operand(0)?, Operand::Memory { .. });
            let first = usize::from(has_state);
            d.expect_operands(first + 1..=first + 2)?;
            let state = if has_state { d.dst(0, ScalarType::B64)? } else { Dst::SINK };
            let address = d.address(first)?;
            let amount = if d.operand_count() == first + 2 {
                Some(d.src(first + 1, ScalarType::U32)?)
            } else {
                None
            };
            if expect && amount.is_none() {
                return Err(d.error("needs a number of bytes"));
            }
            if expect && no_complete {
                return Err(d.error(".expect_tx and .noComplete exclude each other"));
            }
            let change = match (name, expect) {
                ("arrive", false) => Change::Arrive { no_complete },
                ("arrive", true) => Change::ArriveExpect,
                (_, false) => Change::Drop { no_complete },
                (_, true) => Change::DropExpect,
            };
            Box::new(Update {
                change,
                window,
                address,
                amount,
                state,
                release: !relaxed,
                cluster_scope,
            })
        }
    })
}
