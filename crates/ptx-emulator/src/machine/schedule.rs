//! Who runs next.

use std::mem;

use super::{
    Machine,
    barriers::{ClusterBarrier, NamedBarrier},
    cta::{Cluster, Cta},
    ids::CtaRef,
    step::{Flow, Step},
    trace::Entry,
    wait::Why,
    warp::{Fragment, State, Surroundings, Warp},
};
use crate::{
    isa::Convergence,
    launch::Schedule,
    program::Program,
    report::{Fault, Kind},
};

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

/// After how many warp-instructions lanes that were passed over go first, for a turn.
const PATIENCE: u64 = 512;

/// Warp-instructions of a turn.
const TURN: u32 = 32;

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

/// Why a run ended early.
struct Stopped;

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
            if early && !self.events.is_empty() {
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

    /// Executes one instruction of a warp. Whether there was one to execute.
    fn execute_one(&mut self, program: &Program, warp: &mut Warp) -> Result<bool, Stopped> {
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
                    split(warp, index, guarded, pc);
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

    fn end_cluster_if_done(&mut self, cta: CtaRef) -> Result<(), Stopped> {
        let Some(cluster) = self.clusters.iter().find(|c| c.id == cta.cluster) else {
            return Ok(());
        };
        if !cluster.ctas.iter().all(Cta::ended) {
            return Ok(());
        }
        // What it left behind still runs to its end.
        while self.events.iter().any(|event| event.cluster == cta.cluster) {
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

fn can_run(state: &State, version: u64) -> bool {
    match state {
        State::Ready | State::Expired => true,
        State::Waiting { version: then, .. } | State::Yielded { version: then, .. } => {
            *then != version
        }
        State::Converging => false,
    }
}

/// The fragment to run: of those that can, the one that is furthest behind in the text, so that
/// lanes meet again after a branch; it takes in all others that stand at the same instruction.
///
/// One that has not run for [`PATIENCE`] goes first: lanes that spin must not keep those from
/// running that they wait for (threads of a warp make progress independently since sm_70).
fn choose_fragment(warp: &mut Warp, version: u64, now: u64) -> Option<usize> {
    if warp.fragments.len() == 1 {
        return can_run(&warp.fragments[0].state, version).then_some(0);
    }
    let best = warp
        .fragments
        .iter()
        .enumerate()
        .filter(|(_, f)| can_run(&f.state, version))
        .min_by_key(|(_, f)| {
            let favoured = f.favoured > now;
            let neglected = f.ran + PATIENCE < now;
            let rank = if neglected { f.ran } else { u64::from(f.pc) };
            (!favoured, !neglected, rank, f.ticket.is_some())
        })
        .map(|(index, _)| index)?;
    if warp.fragments[best].ran + PATIENCE < now {
        warp.fragments[best].favoured = now + u64::from(TURN);
    }
    let pc = warp.fragments[best].pc;
    if warp.fragments[best].ticket.is_some() {
        return Some(best);
    }
    let mut merged = 0;
    let mut index = 0;
    let mut target = best;
    while index < warp.fragments.len() {
        let other = &warp.fragments[index];
        let joins = index != target
            && other.pc == pc
            && other.ticket.is_none()
            && (can_run(&other.state, version) || other.state == State::Converging);
        if joins {
            merged |= other.mask;
            warp.fragments.swap_remove(index);
            if target == warp.fragments.len() {
                target = index;
            }
        } else {
            index += 1;
        }
    }
    warp.fragments[target].mask |= merged;
    Some(target)
}

/// Leaves `mask` in the fragment and sends the rest to the next instruction.
fn split(warp: &mut Warp, index: usize, mask: u32, pc: u32) {
    split_off_others(warp, index, mask, pc + 1);
}

fn split_off_others(warp: &mut Warp, index: usize, mask: u32, pc: u32) {
    let others = warp.fragments[index].mask & !mask;
    if others != 0 {
        warp.fragments[index].mask &= mask;
        warp.fragments.push(Fragment {
            pc,
            mask: others,
            ticket: None,
            state: State::Ready,
            since: 0,
            ran: warp.fragments[index].ran,
            favoured: 0,
        });
    }
}

impl Machine {
    /// Who waits for what, a line for each group of threads.
    pub(super) fn who_waits(&self) -> Vec<String> {
        let mut groups: std::collections::BTreeMap<(CtaRef, u32, Why), Vec<u32>> =
            Default::default();
        for cluster in &self.clusters {
            for cta in &cluster.ctas {
                for warp in &cta.warps {
                    for fragment in &warp.fragments {
                        let mut at = fragment.pc;
                        let why = match &fragment.state {
                            State::Waiting { why, .. } => why.clone(),
                            State::Converging => Why::Lanes,
                            State::Yielded {
                                polled: Some((pc, why)),
                                ..
                            } => {
                                at = *pc;
                                why.clone()
                            }
                            _ => continue,
                        };
                        let list = groups.entry((cta.me, at, why)).or_default();
                        list.extend(
                            (0..32)
                                .filter(|lane| fragment.mask >> lane & 1 == 1)
                                .map(|lane| warp.index * 32 + lane),
                        );
                    }
                }
            }
        }
        let mut lines = Vec::new();
        for ((cta, pc, why), threads) in groups {
            lines.push(self.describe_wait(cta, pc, &why, &threads));
        }
        lines
    }
}
