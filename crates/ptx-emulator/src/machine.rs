//! The machine: clusters, memory, asynchronous work and what was found, in one place.

pub mod barriers;
pub mod cta;
pub mod events;
mod execute;
mod fragments;
pub mod ids;
mod locate;
mod schedule;
pub mod step;
mod stuck;
pub mod trace;
pub mod wait;
pub mod warp;

use std::{collections::HashMap, sync::Arc};

use cta::{Cluster, Cta};
use events::{Event, Events, Order, Unit, Work};
use ids::{CtaRef, ThreadRef};
use schedule::Scheduler;
use trace::Trace;

use crate::{
    detect::{Access, Conflict, Detector, Epoch, Mode, Place, Proxy},
    launch::{Launch, Monitor, Options},
    memory::GlobalMemory,
    program::Program,
    report::{Fault, Kind, Report, Severity, Site},
};

/// Everything that runs one launch.
pub struct Machine {
    /// The kernel.
    pub program: Arc<Program>,
    /// Its launch.
    pub launch: Launch,
    /// The options of the run.
    pub options: Options,
    /// Device memory.
    pub memory: GlobalMemory,
    /// Who knows of what.
    pub detector: Detector,
    /// Clusters that have started and not ended.
    pub clusters: Vec<Cluster>,
    /// The next cluster to start.
    pub(crate) next_cluster: u32,
    /// Clusters of the grid.
    pub(crate) cluster_count: u32,
    /// Clusters that cluster launch control has taken out of the grid.
    pub(crate) cancelled: std::collections::HashSet<u32>,
    /// Warp-instructions executed: the machine's time.
    pub now: u64,
    /// Thread-instructions executed.
    pub thread_instructions: u64,
    /// Extra time that has passed because nobody could do anything, in steps.
    pub(crate) skipped: u64,
    /// Counts changes that somebody may be waiting for.
    pub version: u64,
    /// Counts changes of any kind that another thread could see.
    pub progress: u64,
    pub(crate) events: Events,
    scheduler: Scheduler,
    reports: Vec<Report>,
    report_index: HashMap<(Kind, u32, u32), usize>,
    /// The trace, if one is wanted.
    pub trace: Option<Trace>,
    /// Who looks on from other threads.
    pub(crate) monitor: Option<Arc<Monitor>>,
    /// Unordered bulk stores to one place, which are harmless if they write the same.
    pub(crate) twin_stores: crate::isa::bulk::TwinStores,
    /// [`Self::progress`] when nothing could run the last time, and how often that was so.
    stuck: (u64, u64),
    /// Who waited for what before waits were made to expire.
    last_waits: Vec<String>,
}

/// How many different reports are kept.
const MOST_REPORTS: usize = 200;

impl Machine {
    pub(crate) fn new(
        program: Arc<Program>,
        memory: GlobalMemory,
        launch: Launch,
        options: Options,
    ) -> Self {
        let mut detector = Detector::new(options.detect);
        for allocation in memory.allocations() {
            detector.add_global(allocation.bytes.len() as u64);
        }
        let cluster_size: u32 = launch.cluster.iter().product();
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let cluster_count = blocks / u64::from(cluster_size.max(1));
        let trace = options.trace.then(Trace::default);
        let scheduler = Scheduler::new(options.schedule);
        Self {
            program,
            launch,
            options,
            memory,
            detector,
            clusters: Vec::new(),
            next_cluster: 0,
            cluster_count: u32::try_from(cluster_count).unwrap_or(u32::MAX),
            cancelled: Default::default(),
            now: 0,
            thread_instructions: 0,
            skipped: 0,
            version: 1,
            progress: 0,
            events: Events::default(),
            scheduler,
            reports: Vec::new(),
            report_index: HashMap::new(),
            trace,
            monitor: None,
            twin_stores: Default::default(),
            stuck: (0, 0),
            last_waits: Vec::new(),
        }
    }

    /// The machine's time in nanoseconds, as `%globaltimer` shows it: one step is one.
    pub fn time(&self) -> u64 {
        self.now + self.skipped
    }

    /// Something has changed that somebody may be waiting for.
    pub fn changed(&mut self) {
        self.version += 1;
        self.progress += 1;
    }

    /// A CTA that has started and not ended.
    pub fn cta(&self, cta: CtaRef) -> Option<&Cta> {
        let cluster = self.clusters.iter().find(|c| c.id == cta.cluster)?;
        cluster.ctas.get(cta.rank as usize)
    }

    /// The same, to change.
    pub fn cta_mut(&mut self, cta: CtaRef) -> Option<&mut Cta> {
        let cluster = self.clusters.iter_mut().find(|c| c.id == cta.cluster)?;
        cluster.ctas.get_mut(cta.rank as usize)
    }

    /// A cluster that has started and not ended.
    pub fn cluster_mut(&mut self, id: u32) -> Option<&mut Cluster> {
        self.clusters.iter_mut().find(|c| c.id == id)
    }

    /// Queues asynchronous work; it finishes when the schedule says so.
    pub fn post(
        &mut self,
        unit: Unit,
        order: Order,
        site: Site,
        cluster: u32,
        work: Box<dyn Work>,
    ) {
        let issued = self.now;
        self.events.push(Event {
            issued,
            order,
            unit,
            site,
            cluster,
            work,
        });
    }

    /// The instruction `pc` as `thread` executed it.
    pub fn site(&self, pc: u32, thread: ThreadRef) -> Site {
        let block = self.cta(thread.cta).map_or([0; 3], |cta| cta.block_id);
        match self.program.instructions.get(pc as usize) {
            Some(decoded) => Site {
                span: decoded.span,
                source: decoded.source.clone(),
                instruction: decoded.mnemonic.clone(),
                block,
                thread: thread.thread,
            },
            None => Site {
                span: Default::default(),
                source: None,
                instruction: "the end of the kernel".into(),
                block,
                thread: thread.thread,
            },
        }
    }

    /// What was found so far.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    pub(crate) fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// Whether a class is an error in this run.
    pub fn severity(&self, kind: Kind) -> Severity {
        match kind {
            Kind::MissingTensorFence | Kind::MissingInitFence if !self.options.strict => {
                Severity::Warning
            }
            _ => Severity::Error,
        }
    }

    /// Whether any error was reported.
    pub fn has_errors(&self) -> bool {
        self.reports.iter().any(|r| r.severity == Severity::Error)
    }

    /// Reports a defect at instruction `pc` of `thread`. The same class at the same pair of
    /// instructions is counted, not repeated; `other_pc` is `u32::MAX` if there is no other side.
    #[allow(clippy::too_many_arguments)]
    pub fn report(
        &mut self,
        kind: Kind,
        severity: Severity,
        message: String,
        pc: u32,
        thread: ThreadRef,
        other_pc: u32,
        notes: Vec<String>,
    ) {
        let key = (kind, pc, other_pc);
        if let Some(&index) = self.report_index.get(&key) {
            self.reports[index].count += 1;
            return;
        }
        if self.reports.len() >= MOST_REPORTS {
            return;
        }
        let site = Some(self.site(pc, thread));
        self.report_index.insert(key, self.reports.len());
        self.reports.push(Report {
            kind,
            severity,
            message,
            site,
            notes,
            count: 1,
        });
    }

    fn push_report(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// A report that belongs to no instruction.
    pub(crate) fn report_plain(&mut self, kind: Kind, message: String, notes: Vec<String>) {
        self.reports.push(Report {
            kind,
            severity: Severity::Error,
            message,
            site: None,
            notes,
            count: 1,
        });
    }

    /// A position of a place in words.
    pub fn describe(&self, place: Place, position: u64) -> String {
        match place {
            Place::Shared(cta) => {
                let of = self.cta(cta).map_or([0; 3], |cta| cta.block_id);
                format!(
                    "shared memory of block ({},{},{}) at {position:#x}",
                    of[0], of[1], of[2]
                )
            }
            Place::Tensor(_) => format!(
                "tensor memory, column {}, lanes {} to {}",
                position / 8,
                position % 8 * 16,
                position % 8 * 16 + 15
            ),
            Place::Global(index) => match self.memory.allocations().get(index as usize) {
                Some(allocation) => format!("{} at byte {position}", allocation.name),
                None => format!("global memory at byte {position}"),
            },
        }
    }

    /// Tells the detector of an access and reports what it finds. `len` is in the place's
    /// positions: bytes, or cells of tensor memory.
    pub fn watch(&mut self, place: Place, position: u64, len: u64, access: &Access) {
        if !self.detector.enabled() {
            return;
        }
        for conflict in self.detector.access(place, position, len, access) {
            self.report_conflict(&conflict, access);
        }
    }

    /// Reports what the detector has found about an access.
    pub(crate) fn report_conflict(&mut self, conflict: &Conflict, access: &Access) {
        let place = conflict.place;
        let mut severity = self.severity(conflict.kind);
        if conflict.kind == Kind::MissingProxyFence
            && conflict.other_mode == Mode::Read
            && !self.options.strict
        {
            // A generic read before the next asynchronous write: the ISA asks for the fence,
            // and CUTLASS and Triton leave it out.
            severity = Severity::Warning;
        }
        let where_ = self.describe(place, conflict.position);
        let did = |mode| match mode {
            Mode::Read => "read",
            Mode::Write | Mode::Rewrite => "written",
            Mode::Atomic => "changed",
        };
        let mine = did(access.mode);
        let theirs = did(conflict.other_mode);
        let message = match conflict.kind {
            Kind::Race => {
                format!("{where_} is {mine} and was {theirs} without an order between the two")
            }
            Kind::ReadBeforeComplete => format!(
                "{where_} is {mine} before the asynchronous write to it is known to be complete"
            ),
            Kind::OverwriteWhileRead => {
                format!("{where_} is {mine} while an asynchronous operation may still read it")
            }
            Kind::MissingProxyFence => format!(
                "{where_} is {mine} through the async proxy and was {theirs} by ordinary instructions without a fence.proxy.async between them"
            ),
            Kind::MissingTensorFence => format!(
                "{where_} is {mine} and was {theirs} by another thread without tcgen05.fence::before_thread_sync and ::after_thread_sync between them"
            ),
            _ => format!("{where_} is {mine} and was {theirs}"),
        };
        let note = format!(
            "{theirs} by {}{}",
            self.program.describe(conflict.other_pc),
            self.describe_agent(conflict.other)
        );
        self.report(
            conflict.kind,
            severity,
            message,
            access.pc,
            access.thread,
            conflict.other_pc,
            vec![note],
        );
    }

    fn describe_agent(&self, epoch: Epoch) -> String {
        let threads = self.launch.threads_per_cta();
        let cluster_size: u32 = self.launch.cluster.iter().product();
        if epoch.agent >= threads * cluster_size {
            return String::new();
        }
        let rank = epoch.agent / threads;
        let thread = epoch.agent % threads;
        let block = match self.cta(CtaRef {
            cluster: epoch.cluster,
            rank,
        }) {
            Some(cta) => cta.block_id,
            None => self.launch.block_id(epoch.cluster, rank),
        };
        format!(
            " (block ({},{},{}), warp {}, thread {thread})",
            block[0],
            block[1],
            block[2],
            thread / 32
        )
    }

    /// An access by a thread itself, through the generic proxy.
    pub(crate) fn watch_generic(
        &mut self,
        thread: ThreadRef,
        pc: u32,
        mode: Mode,
        place: Place,
        position: u64,
        len: u64,
    ) {
        if !self.detector.enabled() {
            return;
        }
        let epoch = self.detector.now(thread);
        let access = Access {
            thread,
            epoch,
            mode,
            proxy: Proxy::Generic,
            pc,
        };
        self.watch(place, position, len, &access);
    }

    /// Records a fault as a report at the instruction that raised it.
    pub(crate) fn fault(&mut self, fault: Fault, pc: u32, thread: ThreadRef) {
        self.report(
            fault.kind,
            Severity::Error,
            fault.message,
            pc,
            thread,
            u32::MAX,
            Vec::new(),
        );
    }
}
