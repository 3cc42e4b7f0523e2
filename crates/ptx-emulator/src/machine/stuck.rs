//! What to do when nothing can run: let waits expire, and if that changes nothing, say who waits
//! for what.

use super::{Machine, barriers::recent, events::Unit, ids::CtaRef, wait::Why, warp::State};
use crate::report::{Fault, Kind, Report, Severity, Site};

/// How often everybody may look again before a deadlock is declared. More than one: a loop may
/// test two barriers in turn.
const ROUNDS: u64 = 8;

/// How far time jumps when nobody can do anything, in steps; doubled each round, so that loops
/// that sleep until some time get there.
const JUMP: u64 = 1 << 12;

impl Machine {
    /// Wakes what may give up or has only paused. False if that has been of no use: a deadlock,
    /// which is reported.
    pub(super) fn unstick(&mut self) -> bool {
        let (progress, rounds) = self.stuck;
        let rounds = if progress == self.progress {
            rounds + 1
        } else {
            1
        };
        self.stuck = (self.progress, rounds);
        if rounds == 1 {
            self.last_waits = self.who_waits();
        }
        let mut woken = false;
        for cluster in &mut self.clusters {
            for cta in &mut cluster.ctas {
                for warp in &mut cta.warps {
                    for fragment in &mut warp.fragments {
                        match fragment.state {
                            State::Waiting {
                                may_expire: true, ..
                            } => {
                                fragment.state = State::Expired;
                                woken = true;
                            }
                            State::Yielded { .. } => {
                                fragment.state = State::Ready;
                                woken = true;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        if woken && rounds <= ROUNDS {
            self.skipped += JUMP << rounds;
            return true;
        }
        self.report_divergence();
        let notes = std::mem::take(&mut self.last_waits);
        self.report_deadlock(notes);
        false
    }

    /// Lanes that wait for others of their warp at an `.aligned` instruction, or at one with a
    /// member mask, and will wait for ever.
    fn report_divergence(&mut self) {
        let mut found = Vec::new();
        for cta in self.clusters.iter().flat_map(|cluster| &cluster.ctas) {
            for warp in &cta.warps {
                for fragment in &warp.fragments {
                    if fragment.state == State::Converging {
                        let elsewhere: Vec<String> = warp
                            .fragments
                            .iter()
                            .filter(|other| other.pc != fragment.pc)
                            .map(|other| {
                                let at = self.program.describe(other.pc);
                                format!("lanes {:#010x} are at {at}", other.mask)
                            })
                            .collect();
                        let thread = warp.thread(fragment.mask.trailing_zeros() % 32);
                        found.push((fragment.pc, fragment.mask, thread, elsewhere));
                    }
                }
            }
        }
        for (pc, mask, thread, notes) in found {
            let message = format!(
                "lanes {mask:#010x} have come to an instruction that the whole warp, or all of its member mask, has to execute together; the others never come"
            );
            let severity = Severity::Error;
            self.report(
                Kind::Divergence,
                severity,
                message,
                pc,
                thread,
                u32::MAX,
                notes,
            );
        }
    }

    fn report_deadlock(&mut self, notes: Vec<String>) {
        let site = self.first_waiter();
        let live: u32 = self
            .clusters
            .iter()
            .flat_map(|cluster| &cluster.ctas)
            .map(|cta| cta.live)
            .sum();
        self.push_report(Report {
            kind: Kind::Deadlock,
            severity: Severity::Error,
            message: format!("{live} threads wait, and nothing can happen any more"),
            site,
            notes,
            count: 1,
        });
    }

    pub(super) fn report_livelock(&mut self) {
        let site = self.first_runner();
        let mut notes = self.who_waits();
        notes.insert(
            0,
            format!(
                "{} warp-instructions passed without a store, an arrival or any other change",
                self.options.livelock_steps
            ),
        );
        self.push_report(Report {
            kind: Kind::Livelock,
            severity: Severity::Error,
            message: "threads run in circles, and nothing changes any more".to_owned(),
            site,
            notes,
            count: 1,
        });
    }

    fn first_waiter(&self) -> Option<Site> {
        self.first_fragment(|state| matches!(state, State::Waiting { .. } | State::Expired))
            .or_else(|| self.first_fragment(|_| true))
    }

    fn first_runner(&self) -> Option<Site> {
        self.first_fragment(|state| !matches!(state, State::Waiting { .. }))
    }

    fn first_fragment(&self, wanted: impl Fn(&State) -> bool) -> Option<Site> {
        for cluster in &self.clusters {
            for cta in &cluster.ctas {
                for warp in &cta.warps {
                    for fragment in &warp.fragments {
                        if wanted(&fragment.state) {
                            let thread = warp.thread(fragment.mask.trailing_zeros() % 32);
                            return Some(self.site(fragment.pc, thread));
                        }
                    }
                }
            }
        }
        None
    }

    /// Copies into shared memory that nobody has waited for when their cluster has ended: the
    /// memory may belong to another CTA when they land.
    pub(super) fn report_abandoned(&mut self, cluster: u32) {
        let sites: Vec<Site> = self
            .events
            .ready()
            .filter(|event| event.cluster == cluster && event.unit == Unit::Copy)
            .filter(|event| !event.work.may_outlive_its_cta())
            .map(|event| event.site.clone())
            .collect();
        let mut seen = std::collections::HashSet::new();
        for site in sites {
            if seen.insert(site.span) {
                let message = "all threads have ended while this copy is in flight";
                self.report_at(Fault::new(Kind::ExitWithWork, message), site);
            }
        }
    }

    pub(super) fn report_at(&mut self, fault: Fault, site: Site) {
        self.push_report(Report {
            kind: fault.kind,
            severity: Severity::Error,
            message: fault.message,
            site: Some(site),
            notes: Vec::new(),
            count: 1,
        });
    }

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

    fn describe_wait(&self, cta: CtaRef, pc: u32, why: &Why, threads: &[u32]) -> String {
        let [x, y, z] = self.cta(cta).map_or([0; 3], |cta| cta.block_id);
        let what = match why {
            Why::Mbarrier {
                cta: at,
                offset,
                parity,
            } => {
                let cell = self.cta(*at).and_then(|cta| cta.mbarriers.get(offset));
                let state = cell.map_or("gone".to_owned(), |cell| {
                    format!("{}; {}", cell.barrier, recent(&cell.history))
                });
                let phase = match parity {
                    Some(parity) => format!("the phase of parity {parity}"),
                    None => "the phase of its state".to_owned(),
                };
                format!("{phase} of the mbarrier at shared memory {offset:#x} ({state})")
            }
            Why::Named(id) => {
                let barrier = self.cta(cta).and_then(|cta| cta.named.get(*id as usize));
                let (arrived, expected) = barrier.map_or((0, None), |b| (b.arrived, b.expected));
                let expected = match expected {
                    Some(expected) => expected.to_string(),
                    None => "all".to_owned(),
                };
                format!("named barrier {id} ({arrived} threads of {expected} have arrived)")
            }
            Why::Cluster => "the other CTAs of the cluster at barrier.cluster".to_owned(),
            Why::Async(what) => (*what).to_owned(),
            Why::TensorMemory => "tensor memory that others have allocated".to_owned(),
            Why::Registers => "registers that other warpgroups own (setmaxnreg)".to_owned(),
            Why::Lanes => "other lanes of the warp to come to the same instruction".to_owned(),
        };
        format!(
            "block ({x},{y},{z}), {} at {}: wait for {what}",
            ranges(threads),
            self.program.describe(pc)
        )
    }
}

/// Thread numbers in words.
fn ranges(threads: &[u32]) -> String {
    let (Some(first), Some(last)) = (threads.first(), threads.last()) else {
        return "no threads".to_owned();
    };
    match threads.len() {
        1 => format!("thread {first}"),
        n if (last - first) as usize + 1 == n => format!("threads {first} to {last}"),
        n => format!("{n} threads from {first} to {last}"),
    }
}
