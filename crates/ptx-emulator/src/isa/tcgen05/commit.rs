//! `tcgen05.commit` (PTX ISA 9.7.16.11): an arrival once the thread's earlier `mma` and `cp` are
//! complete. It goes through the same queue as they do, so it cannot overtake them.

use super::{cta_group, keep_to_group, order, state, stream, working_ctas};
use crate::{
    detect::{Epoch, Knowledge},
    isa::{
        Execute,
        decode::{Address, DecodeError, Decoder, Src},
        mbarrier::barrier_at,
        memory,
    },
    machine::{
        Machine,
        events::{Unit, Work},
        ids::CtaRef,
        step::{Flow, Step, Window},
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_memory::shapes::CtaGroup,
};

#[derive(Debug)]
struct Commit {
    group: CtaGroup,
    window: Window,
    barrier: Address,
    /// CTAs of the cluster, a bit each.
    mask: Option<Src>,
}

impl Commit {
    /// The barriers that get an arrival.
    fn targets(&self, step: &Step<'_>, lane: usize) -> Result<(Vec<CtaRef>, u32), Fault> {
        let address = step.address(self.barrier, lane);
        let (cta, offset) = barrier_at(step, self.window, lane, address)?;
        let Some(mask) = self.mask else {
            return Ok((vec![cta], offset));
        };
        let mask = step.get(mask, lane) & 0xffff;
        let targets: Vec<_> = (0..16)
            .filter(|rank| mask >> rank & 1 == 1)
            .map(|rank| CtaRef { rank, ..cta })
            .collect();
        for target in &targets {
            match step.machine.cta(*target) {
                Some(cta) if !cta.ended() => {}
                Some(_) => {
                    return Err(Fault::new(
                        Kind::ExitWithWork,
                        format!("the commit signals CTA {}, which has ended", target.rank),
                    ));
                }
                None => {
                    return Err(Fault::new(
                        Kind::InvalidOperand,
                        format!(
                            "the mask {mask:#x} names CTA {}, which the cluster does not have",
                            target.rank
                        ),
                    ));
                }
            }
        }
        Ok((targets, offset))
    }
}

impl Execute for Commit {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        keep_to_group(step, self.group)?;
        working_ctas(step, self.group)?;
        for lane in step.lanes() {
            let thread = step.thread(lane);
            let pc = step.pc;
            let (targets, offset) = self.targets(step, lane)?;
            for &target in &targets {
                // The arrival is an ordinary access to the barrier, not one of the async proxy.
                step.machine
                    .check_barrier_init(thread, pc, target, offset, false);
            }
            let done = stream(step.machine, thread)?;
            *state(step.machine, thread.cta)?
                .commits
                .entry(thread.thread)
                .or_default() += 1;
            // It contains a fence::before_thread_sync. What the work was issued after is in order
            // before its completion too.
            step.machine.detector.tensor_fence_before(thread);
            let known = step.machine.detector.release(thread);
            let work = Arrival {
                targets,
                offset,
                done,
                known,
                what: format!("tcgen05.commit of thread {}", thread.thread),
            };
            let site = step.site(lane);
            let cluster = thread.cta.cluster;
            step.machine
                .post(Unit::Tensor, order(thread), site, cluster, Box::new(work));
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Arrival {
    targets: Vec<CtaRef>,
    offset: u32,
    done: Epoch,
    known: Knowledge,
    what: String,
}

impl Work for Arrival {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        for &target in &self.targets {
            machine
                .mbarrier(target, self.offset)?
                .gathering
                .join(&self.known);
            machine.system_arrive(target, self.offset, &[self.done], &self.what, |barrier| {
                barrier.commit_arrive()
            })?;
        }
        Ok(())
    }
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("commit")?;
    let group = cta_group(d)?;
    d.need("mbarrier::arrive::one")?;
    let window = memory::window(d);
    if !matches!(window, Window::Generic | Window::SharedCluster) {
        return Err(d.error("the barrier has to be in .shared::cluster"));
    }
    let multicast = d.flag("multicast::cluster");
    d.need("b64")?;
    let operands = if multicast { 2 } else { 1 };
    d.expect_operands(operands..=operands)?;
    Ok(Box::new(Commit {
        group,
        window,
        barrier: d.address(0)?,
        mask: multicast.then(|| d.src(1, ScalarType::B16)).transpose()?,
    }))
}
