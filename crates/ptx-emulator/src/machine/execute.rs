//! One instruction of one warp, and where its lanes go then.

use super::{
    Machine,
    fragments::{choose_fragment, split_off_others},
    schedule::Stopped,
    step::{Flow, Step},
    trace::Entry,
    warp::{Fragment, State, Warp},
};
use crate::{
    isa::Convergence,
    program::Program,
    report::{Fault, Kind},
};

impl Machine {
    /// Executes one instruction of a warp. Whether there was one to execute.
    pub(super) fn execute_one(
        &mut self,
        program: &Program,
        warp: &mut Warp,
    ) -> Result<bool, Stopped> {
        let Some(index) = choose_fragment(warp, self.version, self.now) else {
            return Ok(false);
        };
        warp.fragments[index].ran = self.now;
        let fragment = warp.fragments[index].clone();
        let pc = fragment.pc;
        let Some(decoded) = program.instructions.get(pc as usize) else {
            // Running off the end is what `ret` does.
            self.end_threads(warp, fragment.mask, pc)?;
            return Ok(true);
        };
        let guarded = fragment.mask & warp.predicate(decoded.guard);
        if guarded == 0 {
            self.now += 1;
            self.advance(warp, index, pc + 1);
            return Ok(true);
        }
        let mut mask = guarded;
        match decoded.execute.convergence() {
            Convergence::None => {}
            Convergence::Warp => {
                if guarded != fragment.mask && fragment.mask == warp.live {
                    let fault = Fault::new(
                        Kind::Divergence,
                        format!(
                            "an .aligned instruction is executed by lanes {guarded:#010x} of {:#010x} only",
                            warp.live
                        ),
                    );
                    return self.stop(fault, pc, warp, guarded);
                }
                if fragment.mask != warp.live {
                    warp.fragments[index].state = State::Converging;
                    return Ok(true);
                }
            }
            Convergence::Members(src) => {
                let first = guarded.trailing_zeros() as usize;
                let members = warp.rows[src.0 as usize][first] as u32;
                if members >> first & 1 == 0 {
                    let fault = Fault::new(
                        Kind::InvalidOperand,
                        format!("lane {first} is not in its own member mask {members:#010x}"),
                    );
                    return self.stop(fault, pc, warp, guarded);
                }
                let missing = members & warp.live & !guarded;
                if missing != 0 {
                    // Lanes that skip the instruction go on by themselves.
                    split_off_others(warp, index, guarded, pc + 1);
                    warp.fragments[index].state = State::Converging;
                    return Ok(true);
                }
                mask = guarded & members;
            }
        }
        self.now += 1;
        self.thread_instructions += u64::from(mask.count_ones());
        if warp.wgmma.is_busy() && !decoded.mnemonic.starts_with("wgmma") {
            crate::isa::wgmma::check_registers(self, warp, mask, pc, &decoded.touches);
        }
        let expired = fragment.state == State::Expired;
        let began = self.now;
        let mut step = Step {
            warp,
            mask,
            pc,
            ticket: fragment.ticket,
            expired,
            machine: self,
        };
        let flow = decoded.execute.execute(&mut step);
        let ticket = step.ticket;
        let flow = match flow {
            Ok(flow) => flow,
            Err(fault) => return self.stop(fault, pc, warp, mask),
        };
        // Lanes of the fragment that another member mask covers execute by themselves.
        let left = guarded & !mask;
        if left != 0 {
            let mut rest = warp.fragments[index].clone();
            rest.mask = left;
            warp.fragments[index].mask &= !left;
            warp.fragments.push(rest);
        }
        self.follow(warp, index, mask, flow, ticket, began)
    }

    /// Moves lanes to where they go next.
    fn follow(
        &mut self,
        warp: &mut Warp,
        index: usize,
        mask: u32,
        flow: Flow,
        ticket: Option<u64>,
        began: u64,
    ) -> Result<bool, Stopped> {
        let pc = warp.fragments[index].pc;
        match flow {
            Flow::Next => self.advance(warp, index, pc + 1),
            Flow::Yield(why) => {
                split_off_others(warp, index, mask, pc + 1);
                warp.fragments[index].pc = pc + 1;
                warp.fragments[index].ticket = None;
                warp.fragments[index].state = State::Yielded {
                    version: self.version,
                    polled: why.map(|why| (pc, why)),
                };
            }
            Flow::Branch {
                mask: taken,
                target,
            } => {
                let whole = warp.fragments[index].mask;
                let taken = taken & whole;
                if taken == whole {
                    self.advance(warp, index, target);
                } else if taken == 0 {
                    self.advance(warp, index, pc + 1);
                } else {
                    let mut jumping = warp.fragments[index].clone();
                    jumping.mask = taken;
                    jumping.pc = target;
                    jumping.ticket = None;
                    jumping.state = State::Ready;
                    warp.fragments[index].mask = whole & !taken;
                    self.advance(warp, index, pc + 1);
                    warp.fragments.push(jumping);
                }
            }
            Flow::Scatter(targets) => {
                let mut rest = warp.fragments[index].mask;
                for (lanes, target) in targets {
                    let lanes = lanes & rest;
                    if lanes != 0 {
                        rest &= !lanes;
                        warp.fragments.push(Fragment {
                            pc: target,
                            mask: lanes,
                            ticket: None,
                            state: State::Ready,
                            since: 0,
                            ran: self.now,
                            favoured: 0,
                        });
                    }
                }
                warp.fragments[index].mask = rest;
                warp.fragments[index].pc = pc + 1;
                warp.fragments[index].state = State::Ready;
                warp.fragments.retain(|fragment| fragment.mask != 0);
            }
            Flow::Exit => self.end_threads(warp, mask, pc)?,
            Flow::Wait { why, may_expire } => {
                split_off_others(warp, index, mask, pc + 1);
                let version = self.version;
                let fragment = &mut warp.fragments[index];
                if !matches!(fragment.state, State::Waiting { .. } | State::Expired) {
                    fragment.since = began;
                }
                fragment.ticket = ticket;
                fragment.state = State::Waiting {
                    why,
                    version,
                    may_expire,
                };
            }
        }
        Ok(true)
    }

    /// The whole fragment goes to `pc`.
    fn advance(&mut self, warp: &mut Warp, index: usize, pc: u32) {
        let time = self.now;
        let fragment = &mut warp.fragments[index];
        if self.trace.is_some() && matches!(fragment.state, State::Waiting { .. } | State::Expired)
        {
            let at = fragment.pc;
            let entry = Entry::Warp {
                cta: warp.cta,
                warp: warp.index,
                begin: fragment.since,
                end: time,
                what: format!(
                    "wait: {}",
                    self.program
                        .instructions
                        .get(at as usize)
                        .map_or("", |decoded| &decoded.mnemonic)
                ),
                line: self
                    .program
                    .instructions
                    .get(at as usize)
                    .map_or(0, |decoded| decoded.span.line),
            };
            if let Some(trace) = &mut self.trace {
                trace.push(entry);
            }
        }
        fragment.pc = pc;
        fragment.ticket = None;
        fragment.state = State::Ready;
    }

    fn stop(&mut self, fault: Fault, pc: u32, warp: &Warp, mask: u32) -> Result<bool, Stopped> {
        let thread = warp.thread(mask.trailing_zeros() % 32);
        self.fault(fault, pc, thread);
        Err(Stopped)
    }

    fn end_threads(&mut self, warp: &mut Warp, mask: u32, pc: u32) -> Result<(), Stopped> {
        if let Err(fault) = crate::isa::control::check_exit(self, warp, mask, pc) {
            self.stop(fault, pc, warp, mask)?;
        }
        warp.end_lanes(mask);
        let now = self.now;
        if warp.live == 0
            && let Some(trace) = &mut self.trace
        {
            trace.push(Entry::End {
                at: now,
                cta: warp.cta,
                warp: warp.index,
            });
        }
        if let Some(cta) = self.cta_mut(warp.cta) {
            cta.live -= mask.count_ones();
        }
        self.changed();
        crate::isa::barrier::threads_ended(self, warp.cta);
        Ok(())
    }
}
