//! Barriers among threads: `bar`, `barrier` (CTA, warp, cluster).

use super::{Convergence, Execute, decode::{DecodeError, Decoder, Dst, Pred, PredDst, Src}};
use crate::{
    detect::Knowledge,
    machine::{Machine, ids::{CtaRef, ThreadRef}, step::{Flow, Step}, wait::Why},
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Popc(Dst),
    And(PredDst),
    Or(PredDst),
}

/// `bar.sync`, `bar.arrive`, `bar.red` and the same of `barrier`.
#[derive(Debug)]
struct Named {
    id: Src,
    count: Option<Src>,
    waits: bool,
    aligned: bool,
    reduction: Option<(Reduction, Pred)>,
}

/// Completes a barrier's turn.
fn complete(machine: &mut Machine, cta: CtaRef, id: usize) {
    if let Some(cta) = machine.cta_mut(cta) {
        let barrier = &mut cta.named[id];
        barrier.arrived = 0;
        barrier.expected = None;
        barrier.generation += 1;
        barrier.completed = std::mem::take(&mut barrier.knowledge);
        barrier.reduced = std::mem::replace(&mut barrier.reduction, (0, true, false));
    }
    machine.changed();
}

/// Threads of a CTA have ended: barriers that wait for all threads no longer wait for them.
pub(crate) fn threads_ended(machine: &mut Machine, cta: CtaRef) {
    let Some(state) = machine.cta(cta) else {
        return;
    };
    let live = state.live;
    let done: Vec<usize> = state
        .named
        .iter()
        .enumerate()
        .filter(|(_, b)| b.arrived > 0 && b.expected.is_none() && b.arrived >= live)
        .map(|(id, _)| id)
        .collect();
    for id in done {
        complete(machine, cta, id);
    }
    complete_cluster(machine, cta.cluster);
}

impl Named {
    fn arrive(&self, step: &mut Step<'_>, id: usize) -> std::result::Result<u64, Fault> {
        let cta = step.cta();
        let count = match self.count {
            Some(count) => Some(step.uniform(count, "a barrier's thread count")? as u32),
            None => None,
        };
        if let Some(count) = count
            && (count == 0 || !count.is_multiple_of(32))
        {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!("a barrier's thread count is a multiple of 32, got {count}"),
            ));
        }
        let whole = step.mask == step.warp.live;
        let lanes = step.mask.count_ones();
        let mut knowledge = match step.machine.cta_mut(cta) {
            Some(cta) => std::mem::take(&mut cta.named[id].knowledge),
            None => Knowledge::default(),
        };
        for lane in step.lanes() {
            let thread = step.thread(lane);
            step.machine.detector.release_into(thread, &mut knowledge);
        }
        let predicate = self.reduction.map(|(_, pred)| step.pred(pred));
        let mask = step.mask;
        let Some(state) = step.machine.cta_mut(cta) else {
            return Ok(0);
        };
        let live = state.live;
        let barrier = &mut state.named[id];
        barrier.knowledge = knowledge;
        if barrier.arrived > 0 && barrier.expected != count {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!(
                    "barrier {id} is used with {count:?} threads while others wait at it with {:?}",
                    barrier.expected
                ),
            ));
        }
        if barrier.arrived == 0 {
            barrier.reduction = (0, true, false);
        }
        barrier.expected = count;
        // With a count, a whole warp counts as 32 even if it has fewer threads (PTX ISA 9.1,
        // 9.7.13.1).
        barrier.arrived += if count.is_some() && whole { 32 } else { lanes };
        if let Some(predicate) = predicate {
            let set = predicate & mask;
            barrier.reduction.0 += set.count_ones();
            barrier.reduction.1 &= set == mask;
            barrier.reduction.2 |= set != 0;
        }
        let wanted = count.unwrap_or(live);
        let generation = barrier.generation;
        if barrier.arrived > wanted {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!("{} threads arrive at barrier {id}, which waits for {wanted}", barrier.arrived),
            ));
        }
        if barrier.arrived == wanted {
            complete(step.machine, cta, id);
        } else {
            step.machine.progress += 1;
        }
        Ok(generation)
    }
}

impl Execute for Named {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let id = step.uniform(self.id, "a barrier's number")?;
        let Some(id) = usize::try_from(id).ok().filter(|&id| id < 16) else {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!("there are barriers 0 to 15, not {id}"),
            ));
        };
        let generation = match step.ticket {
            Some(generation) => generation,
            None => self.arrive(step, id)?,
        };
        if !self.waits {
            return Ok(Flow::Next);
        }
        let cta = step.cta();
        let Some(barrier) = step.machine.cta(cta).map(|cta| &cta.named[id]) else {
            return Ok(Flow::Next);
        };
        if barrier.generation <= generation {
            step.ticket = Some(generation);
            return Ok(Flow::wait(Why::Named(id as u32)));
        }
        let completed = barrier.completed.clone();
        let reduced = barrier.reduced;
        for lane in step.lanes() {
            let thread = step.thread(lane);
            step.machine.detector.acquire(thread, &completed);
        }
        match self.reduction {
            Some((Reduction::Popc(dst), _)) => step.write_with(dst, |_| u64::from(reduced.0)),
            Some((Reduction::And(dst), _)) => step.set_pred(dst, if reduced.1 { u32::MAX } else { 0 }),
            Some((Reduction::Or(dst), _)) => step.set_pred(dst, if reduced.2 { u32::MAX } else { 0 }),
            None => {}
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        if self.aligned { Convergence::Warp } else { Convergence::None }
    }
}

/// `bar.warp.sync`: order among the lanes of a warp.
#[derive(Debug)]
struct WarpSync {
    members: Src,
}

impl Execute for WarpSync {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        if step.machine.detector.enabled() {
            let mut knowledge = Knowledge::default();
            for lane in step.lanes() {
                let thread = step.thread(lane);
                step.machine.detector.release_into(thread, &mut knowledge);
            }
            for lane in step.lanes() {
                let thread = step.thread(lane);
                step.machine.detector.acquire(thread, &knowledge);
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

fn decode_named(d: &mut Decoder<'_>, aligned: bool) -> Result<Box<dyn Execute>> {
    let action = d.need_one_of(&["sync", "arrive", "red"])?;
    let aligned = d.flag("aligned") || aligned;
    let mut first = 0;
    let mut reduction = None;
    if action == "red" {
        let operation = d.need_one_of(&["popc", "and", "or"])?;
        let last = d.operand_count().saturating_sub(1);
        let predicate = d.pred(last)?;
        reduction = Some((
            match operation {
                "popc" => {
                    d.need("u32")?;
                    Reduction::Popc(d.dst(0, ScalarType::U32)?)
                }
                other => {
                    d.need("pred")?;
                    let dst = d.pred_dst(0)?;
                    if other == "and" { Reduction::And(dst) } else { Reduction::Or(dst) }
                }
            },
            predicate,
        ));
        first = 1;
    }
    let extra = first + usize::from(reduction.is_some());
    d.expect_operands(extra + 1..=extra + 2)?;
    let id = d.src(first, ScalarType::U32)?;
    let count = if d.operand_count() == extra + 2 {
        Some(d.src(first + 1, ScalarType::U32)?)
    } else {
        None
    };
    if action == "arrive" && count.is_none() {
        return Err(d.error("needs a thread count"));
    }
    Ok(Box::new(Named {
        id,
        count,
        waits: action != "arrive",
        aligned,
        reduction,
    }))
}

pub(super) fn decode_bar(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("warp") {
        d.need("sync")?;
        d.expect_operands(1..=1)?;
        let members = d.src(0, ScalarType::B32)?;
        return Ok(Box::new(WarpSync { members }));
    }
    d.flag("cta");
    // `bar` is `barrier … .aligned`.
    decode_named(d, true)
}

pub(super) fn decode_barrier(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("cluster") {
        return decode_cluster(d);
    }
    d.flag("cta");
    decode_named(d, false)
}

/// `barrier.cluster.arrive` and `.wait`.
#[derive(Debug)]
struct ClusterArrive {
    release: bool,
    aligned: bool,
}

#[derive(Debug)]
struct ClusterWait {
    acquire: bool,
    aligned: bool,
}

fn decode_cluster(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let arrive = d.need_one_of(&["arrive", "wait"])? == "arrive";
    let aligned = d.flag("aligned");
    d.expect_operands(0..=0)?;
    if arrive {
        let release = d.one_of(&["relaxed", "release"]) != Some("relaxed");
        Ok(Box::new(ClusterArrive { release, aligned }))
    } else {
        let acquire = d.one_of(&["relaxed", "acquire"]) != Some("relaxed");
        Ok(Box::new(ClusterWait { acquire, aligned }))
    }
}

fn complete_cluster(machine: &mut Machine, id: u32) {
    let Some(cluster) = machine.cluster_mut(id) else {
        return;
    };
    let live: u32 = cluster.ctas.iter().map(|cta| cta.live).sum();
    let barrier = &mut cluster.barrier;
    if barrier.arrived == 0 || barrier.arrived < live {
        return;
    }
    barrier.arrived = 0;
    barrier.generation += 1;
    barrier.completed = std::mem::take(&mut barrier.knowledge);
    for (rank, offset) in std::mem::take(&mut barrier.inits) {
        let cta = cluster.ctas.get_mut(rank as usize);
        if let Some(cell) = cta.and_then(|cta| cta.mbarriers.get_mut(&offset)) {
            cell.init_known = true;
        }
    }
    machine.changed();
}

/// The mbarriers that these threads have initialised and fenced, and that not everybody knows of.
fn fenced_inits(machine: &Machine, threads: &[ThreadRef]) -> Vec<(u32, u32)> {
    let Some(cta) = threads.first().and_then(|thread| machine.cta(thread.cta)) else {
        return Vec::new();
    };
    cta.mbarriers
        .iter()
        .filter(|(_, cell)| {
            !cell.init_known && cell.init_fence.is_some() && threads.contains(&cell.init_thread)
        })
        .map(|(offset, _)| (threads[0].cta.rank, *offset))
        .collect()
}

impl Execute for ClusterArrive {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let me = step.cta();
        let Some(cluster) = step.machine.cluster_mut(me.cluster) else {
            return Ok(Flow::Next);
        };
        let mut knowledge = std::mem::take(&mut cluster.barrier.knowledge);
        for lane in step.lanes() {
            let thread = step.thread(lane);
            if self.release {
                step.machine.detector.release_into(thread, &mut knowledge);
            } else {
                step.machine.detector.fenced_into(thread, &mut knowledge);
            }
        }
        let threads: Vec<ThreadRef> = step.lanes().map(|lane| step.thread(lane)).collect();
        let inits = fenced_inits(step.machine, &threads);
        let threads: Vec<u32> = threads.iter().map(|thread| thread.thread).collect();
        let Some(cluster) = step.machine.cluster_mut(me.cluster) else {
            return Ok(Flow::Next);
        };
        let barrier = &mut cluster.barrier;
        barrier.knowledge = knowledge;
        barrier.inits.extend(inits);
        barrier.arrived += threads.len() as u32;
        for thread in threads {
            let key = (me.rank, thread);
            if barrier.pending.insert(key, barrier.generation).is_some() {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!("thread {thread} arrives at the cluster's barrier twice without a wait between"),
                ));
            }
        }
        step.machine.progress += 1;
        complete_cluster(step.machine, me.cluster);
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        if self.aligned { Convergence::Warp } else { Convergence::None }
    }
}

impl Execute for ClusterWait {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let me = step.cta();
        let threads: Vec<_> = step.lanes().map(|lane| step.thread(lane)).collect();
        let Some(cluster) = step.machine.cluster_mut(me.cluster) else {
            return Ok(Flow::Next);
        };
        let barrier = &mut cluster.barrier;
        for thread in &threads {
            match barrier.pending.get(&(me.rank, thread.thread)) {
                None => {
                    return Err(Fault::new(
                        Kind::InvalidOperand,
                        format!(
                            "thread {} waits at the cluster's barrier without having arrived",
                            thread.thread
                        ),
                    ));
                }
                Some(&generation) if generation >= barrier.generation => {
                    return Ok(Flow::wait(Why::Cluster));
                }
                Some(_) => {}
            }
        }
        for thread in &threads {
            barrier.pending.remove(&(me.rank, thread.thread));
        }
        let completed = barrier.completed.clone();
        if self.acquire {
            for thread in threads {
                step.machine.detector.acquire(thread, &completed);
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        if self.aligned { Convergence::Warp } else { Convergence::None }
    }
}
