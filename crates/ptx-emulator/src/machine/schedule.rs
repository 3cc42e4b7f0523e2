//! Who runs next.

use std::mem;

use super::{
    Machine,
    barriers::{ClusterBarrier, NamedBarrier},
    cta::{Cluster, Cta},
    fragments::can_run,
    ids::CtaRef,
    trace::Entry,
    warp::{Surroundings, Warp},
};
use crate::{launch::Schedule, report::Kind};

/// A small generator of our own (splitmix64): the same numbers on every machine and in every
/// version, which a library does not promise.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

#[derive(Debug)]
pub(super) struct Scheduler {
    schedule: Schedule,
    random: Random,
    /// Whose turn was last.
    last: usize,
}

/// How many warp-instructions asynchronous work takes under round robin. Any number is right;
/// this one is about the ratio of a copy's latency to an instruction's.
const LATENCY: u64 = 300;

/// Pieces of asynchronous work in flight, after which some have to finish before more is issued:
/// 16 for each thread of four CTAs.
const MOST_IN_FLIGHT: usize = 1 << 16;

/// Warp-instructions of a turn.
pub(super) const TURN: u32 = 32;

impl Scheduler {
    pub(super) fn new(schedule: Schedule) -> Self {
        let seed = match schedule {
            Schedule::RoundRobin => 0,
            Schedule::Random(seed) | Schedule::Late(seed) | Schedule::Early(seed) => seed,
        };
        Self {
            schedule,
            random: Random(seed),
            last: 0,
        }
    }
}

/// A warp by the position of its cluster, its rank and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Who {
    cluster: usize,
    rank: usize,
    warp: usize,
}

/// A run has ended early.
pub(super) struct Stopped;

impl Machine {
    /// Runs to the end. Whether every thread came to its own.
    pub(crate) fn run(&mut self) -> bool {
        self.start_clusters(self.options.resident);
        let mut last_progress = (self.progress, self.now);
        loop {
            if self.now >= self.options.max_steps {
                let message = format!("the run was stopped after {} warp-instructions", self.now);
                let notes = self.who_waits();
                self.report_plain(Kind::Limit, message, notes);
                return false;
            }
            if let Some(monitor) = &self.monitor {
                monitor.update(self.now, u64::from(self.next_cluster));
                if monitor.is_stopped() {
                    let message = format!(
                        "the run was stopped after {} warp-instructions: its time is up",
                        self.now
                    );
                    let notes = self.who_waits();
                    self.report_plain(Kind::Limit, message, notes);
                    return false;
                }
            }
            if self.progress != last_progress.0 {
                last_progress = (self.progress, self.now);
            } else if self.now - last_progress.1 > self.options.livelock_steps {
                if self.start_clusters(1) {
                    last_progress.1 = self.now;
                    continue;
                }
                self.report_livelock();
                return false;
            }
            let turn = self.finish_due().and_then(|()| match self.pick() {
                Some((who, turn)) => {
                    self.take_turn(who, turn)?;
                    Ok(true)
                }
                None => Ok(false),
            });
            match turn {
                Err(Stopped) => return false,
                Ok(true) => {}
                Ok(false) => {
                    if self.clusters.is_empty() && self.next_cluster >= self.cluster_count {
                        return true;
                    }
                    if !self.events.is_empty() {
                        if self.finish_one().is_err() {
                            return false;
                        }
                    } else if !self.start_clusters(1) && !self.unstick() {
                        return false;
                    }
                }
            }
        }
    }

    /// Starts up to `most` CTAs' worth of clusters more, at least one cluster if there is room.
    /// Whether any was started.
    fn start_clusters(&mut self, most: u32) -> bool {
        let size: u32 = self.launch.cluster.iter().product();
        let mut started = 0;
        while self.next_cluster < self.cluster_count {
            let resident = self.clusters.len() as u64 * u64::from(size);
            if started >= most || resident >= u64::from(self.options.sm_count) {
                break;
            }
            let id = self.next_cluster;
            self.next_cluster += 1;
            if self.cancelled.remove(&id) {
                continue;
            }
            self.start_cluster(id, size);
            started += size;
        }
        started > 0
    }

    fn start_cluster(&mut self, id: u32, size: u32) {
        let shared = self.program.dynamic_shared + u64::from(self.launch.dynamic_shared_bytes);
        let threads = self.launch.threads_per_cta();
        self.detector.start_cluster(id, size, threads, shared);
        let warps = threads.div_ceil(32);
        let mut ctas = Vec::new();
        for rank in 0..size {
            let me = CtaRef { cluster: id, rank };
            let block_id = self.launch.block_id(id, rank);
            let around = Surroundings {
                block: self.launch.block,
                block_id,
                grid: self.launch.grid,
                cluster: self.launch.cluster,
                explicit_cluster: size > 1 || self.program.explicit_cluster,
                sm: (id * size + rank) % self.options.sm_count.max(1),
                sm_count: self.options.sm_count,
                dynamic_shared: self.launch.dynamic_shared_bytes,
                total_shared: shared as u32 - crate::memory::RESERVED_SHARED as u32,
            };
            let warps: Vec<Warp> = (0..warps)
                .map(|index| Warp::new(me, index, &self.program, &around))
                .collect();
            ctas.push(Cta {
                me,
                block_id,
                shared: vec![0; shared as usize],
                mbarriers: Default::default(),
                named: std::array::from_fn(|_| NamedBarrier::default()),
                live: threads,
                warps,
                free_registers: 0,
                bulk: Default::default(),
                tensor: Default::default(),
            });
        }
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            for cta in &ctas {
                trace.push(Entry::Start {
                    at: now,
                    cta: cta.me,
                    block: cta.block_id,
                    warps: cta.warps.len() as u32,
                });
            }
        }
        self.clusters.push(Cluster {
            id,
            ctas,
            barrier: ClusterBarrier::default(),
        });
    }

    /// The next warp and how many instructions it gets.
    fn pick(&mut self) -> Option<(Who, u32)> {
        let version = self.version;
        let mut runnable = Vec::new();
        for (cluster, state) in self.clusters.iter().enumerate() {
            for (rank, cta) in state.ctas.iter().enumerate() {
                for (warp, state) in cta.warps.iter().enumerate() {
                    if state.fragments.iter().any(|f| can_run(&f.state, version)) {
                        runnable.push(Who {
                            cluster,
                            rank,
                            warp,
                        });
                    }
                }
            }
        }
        if runnable.is_empty() {
            return None;
        }
        let scheduler = &mut self.scheduler;
        let key = |who: &Who| (who.cluster * 64 + who.rank) * 64 + who.warp;
        let (choice, turn) = match scheduler.schedule {
            Schedule::RoundRobin => {
                let next = runnable.iter().position(|who| key(who) > scheduler.last);
                (next.unwrap_or(0), TURN)
            }
            Schedule::Random(_) => {
                let turn = 1 + scheduler.random.below(2 * TURN as usize) as u32;
                (scheduler.random.below(runnable.len()), turn)
            }
            Schedule::Late(_) | Schedule::Early(_) => {
                // As far as it can: the next choice comes when it waits.
                (scheduler.random.below(runnable.len()), 4096)
            }
        };
        let who = runnable[choice];
        scheduler.last = key(&who);
        Some((who, turn))
    }

    /// Finishes the asynchronous work that is due before the next turn.
    fn finish_due(&mut self) -> Result<(), Stopped> {
        // Nothing is finished because it is late; this much is in no queue of any hardware.
        while self.events.len() >= MOST_IN_FLIGHT {
            self.finish_one()?;
        }
        match self.scheduler.schedule {
            Schedule::Late(_) => Ok(()),
            Schedule::Early(_) => {
                while !self.events.is_empty() {
                    self.finish_one()?;
                }
                Ok(())
            }
            Schedule::RoundRobin => {
                while self
                    .events
                    .oldest()
                    .is_some_and(|issued| issued + LATENCY <= self.now)
                {
                    self.finish_one()?;
                }
                Ok(())
            }
            Schedule::Random(_) => {
                if !self.events.is_empty() && self.scheduler.random.below(4) == 0 {
                    self.finish_one()?;
                }
                Ok(())
            }
        }
    }

    /// Finishes one piece of asynchronous work.
    fn finish_one(&mut self) -> Result<(), Stopped> {
        let event = match self.scheduler.schedule {
            Schedule::RoundRobin | Schedule::Early(_) => self.events.take_oldest(),
            Schedule::Random(_) => {
                let n = self.scheduler.random.below(self.events.len());
                self.events.take_nth(n, false)
            }
            Schedule::Late(_) => {
                // Out of order more often than not.
                let n = self.scheduler.random.below(3) / 2;
                self.events.take_nth(n, true)
            }
        };
        let Some(event) = event else {
            return Ok(());
        };
        let end = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(Entry::Work {
                cluster: event.cluster,
                block: event.site.block,
                unit: event.unit,
                begin: event.issued,
                end,
                what: event.site.instruction.to_string(),
                line: event.site.span.line,
            });
        }
        self.changed();
        let site = event.site;
        if let Err(fault) = event.work.finish(self) {
            self.report_at(fault, site);
            return Err(Stopped);
        }
        Ok(())
    }

    fn take_turn(&mut self, who: Who, turn: u32) -> Result<(), Stopped> {
        let Some(slot) = self
            .clusters
            .get_mut(who.cluster)
            .and_then(|c| c.ctas.get_mut(who.rank))
            .and_then(|c| c.warps.get_mut(who.warp))
        else {
            return Ok(());
        };
        let mut warp = mem::take(slot);
        let program = self.program.clone();
        let cta = warp.cta;
        let mut outcome = Ok(());
        let early = matches!(self.scheduler.schedule, Schedule::Early(_));
        for _ in 0..turn {
            match self.execute_one(&program, &mut warp) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Stopped) => {
                    outcome = Err(Stopped);
                    break;
                }
            }
            if (early && !self.events.is_empty()) || self.events.len() >= MOST_IN_FLIGHT {
                break;
            }
        }
        let ended = warp.live == 0;
        if let Some(slot) = self.cta_mut(cta).and_then(|c| c.warps.get_mut(who.warp)) {
            *slot = warp;
        }
        outcome?;
        if ended {
            self.end_cluster_if_done(cta)?;
        }
        Ok(())
    }

    fn end_cluster_if_done(&mut self, cta: CtaRef) -> Result<(), Stopped> {
        let Some(cluster) = self.clusters.iter().find(|c| c.id == cta.cluster) else {
            return Ok(());
        };
        if !cluster.ctas.iter().all(Cta::ended) {
            return Ok(());
        }
        self.report_abandoned(cta.cluster);
        // What it left behind still runs to its end.
        while self.events.has_any_of(cta.cluster) {
            self.finish_one()?;
        }
        crate::isa::control::check_cluster_end(self, cta.cluster);
        self.clusters.retain(|c| c.id != cta.cluster);
        self.detector.end_cluster(cta.cluster);
        let size: u32 = self.launch.cluster.iter().product();
        let resident = self.clusters.len() as u32 * size;
        if resident < self.options.resident {
            self.start_clusters(self.options.resident - resident);
        }
        Ok(())
    }
}
