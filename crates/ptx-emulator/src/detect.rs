//! Who knows of what: happens-before by vector clocks, kept apart for the generic proxy, the async
//! proxy and tensor memory.
//!
//! *Agents* make accesses: every thread, and every stream of asynchronous work (a thread's
//! `cp.async`, its bulk stores, a warp's `wgmma`, …). An access carries an [`Epoch`], its agent and
//! the agent's time. A thread's knowledge is three [`Clock`]s: what happened before in the generic
//! proxy, which of that its async-proxy work may rely on (after `fence.proxy.async`), and which its
//! tensor-memory work may rely on (after `tcgen05.fence::after_thread_sync`). Barriers of every
//! kind carry knowledge from those who arrive to those who wait. The [`shadow`] of memory remembers
//! the last write and the reads since; a new access that does not know of them is a race.

pub mod clock;
mod judge;
pub mod shadow;

use std::collections::HashMap;

use clock::Clock;
use judge::{Judge, knows};
use shadow::Shadow;

use crate::{
    machine::ids::{CtaRef, ThreadRef},
    report::Kind,
};

/// An agent of one cluster: threads come first, in the order of CTA rank and thread number.
pub type Agent = u32;

/// A point in an agent's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch {
    /// The cluster's linear number in the grid.
    pub cluster: u32,
    /// The agent.
    pub agent: Agent,
    /// Its time, from 1; 0 is before everything.
    pub time: u32,
}

impl Epoch {
    /// Before everything: what the launch itself wrote.
    pub const NONE: Self = Self {
        cluster: 0,
        agent: 0,
        time: 0,
    };

    /// Agent of an asynchronous operation whose completion is not known at issue: the time is
    /// an index into [`Detector::operations`].
    pub(crate) const OPERATION: Agent = u32::MAX;
}

/// Through which door an access comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// Ordinary loads and stores, atomics, `cp.async`.
    Generic,
    /// Bulk and tensor copies, operands of `wgmma` and `tcgen05`.
    Async,
    /// Tensor memory.
    Tensor,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Writes what is there already. Several threads that store the same value to one place are
    /// harmless, and compilers rely on it.
    Rewrite,
    /// Reads and writes in one step that others of this mode may interleave with.
    Atomic,
}

/// Whose memory is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Shared memory of a CTA; positions are bytes.
    Shared(CtaRef),
    /// Tensor memory of a CTA; positions are cells, `column * 8 + lane / 16`.
    Tensor(CtaRef),
    /// A global allocation by index; positions are bytes.
    Global(u32),
}

/// One access to tell the detector of.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// The thread that makes it or has issued the asynchronous work.
    pub thread: ThreadRef,
    /// The epoch under which it goes down in memory.
    pub epoch: Epoch,
    /// What it does.
    pub mode: Mode,
    /// Through which door.
    pub proxy: Proxy,
    /// The instruction's index in the program.
    pub pc: u32,
}

/// Knowledge on its way: what those who arrived knew.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// Generic proxy.
    pub generic: Clock,
    /// Async proxy.
    pub proxied: Clock,
    /// Tensor memory.
    pub tensor: Clock,
}

impl Knowledge {
    /// The same knowledge, which somebody of cluster `from` held, as one of `to` holds it.
    fn translated(&self, from: u32, to: u32) -> Self {
        Self {
            generic: self.generic.translated(from, to),
            proxied: self.proxied.translated(from, to),
            tensor: self.tensor.translated(from, to),
        }
    }

    /// Adds another's knowledge.
    pub fn join(&mut self, other: &Self) {
        self.generic.join(&other.generic);
        self.proxied.join(&other.proxied);
        self.tensor.join(&other.tensor);
    }
}

/// What a thread knows.
#[derive(Debug, Clone, Default)]
struct Mind {
    known: Knowledge,
    /// Knowledge of tensor memory that arrived and waits for `fence::after_thread_sync`.
    unfenced_tensor: Clock,
    /// What `fence::before_thread_sync` has cleared for publication.
    tensor_out: Clock,
    /// The thread's own time; what it does now carries it.
    now: u32,
    /// Its own times up to this are behind a `fence.proxy.async`.
    proxied_own: u32,
    /// Its own times up to this are behind a `tcgen05.fence::before_thread_sync`.
    tensor_own: u32,
    /// Releases of relaxed stores after a fence publish this.
    fenced: Option<Knowledge>,
    /// Read by relaxed loads, known once a fence is made.
    unfenced: Option<Knowledge>,
}

/// A conflict that was found.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The class.
    pub kind: Kind,
    /// The other access: its agent, its program index and what it did.
    pub other: Epoch,
    /// The other access's instruction.
    pub other_pc: u32,
    /// What the other access did.
    pub other_mode: Mode,
    /// The place and the position in it.
    pub place: Place,
    /// The first byte or cell concerned.
    pub position: u64,
}

struct ClusterMinds {
    id: u32,
    /// Shared and tensor memory of each CTA.
    shared: Vec<Shadow>,
    tensor: Vec<Shadow>,
    minds: Vec<Mind>,
    threads_per_cta: u32,
    next_agent: Agent,
    named: HashMap<Stream, Agent>,
}

/// A stream of asynchronous work with an agent of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// A thread's `cp.async`.
    CpAsync(ThreadRef),
    /// The reads of a thread's bulk stores.
    BulkRead(ThreadRef),
    /// The writes of a thread's bulk stores.
    BulkWrite(ThreadRef),
    /// A warp's `wgmma`, by its first thread.
    Wgmma(ThreadRef),
    /// A thread's tcgen05 operations that a commit waits for.
    Tensor(ThreadRef),
    /// A thread's `tcgen05.ld`.
    TensorLoad(ThreadRef),
    /// A thread's `tcgen05.st`.
    TensorStore(ThreadRef),
    /// The phases of an mbarrier at an address of a CTA, by its how-manieth initialisation.
    Mbarrier(CtaRef, u32, u32),
}

/// Granules of a CTA's tensor memory: 512 columns of 8 groups of 16 lanes.
const TENSOR_CELLS: u64 = 512 * 8;

/// The detector. With detection off every call returns at once.
pub struct Detector {
    enabled: bool,
    clusters: Vec<ClusterMinds>,
    global: Vec<Shadow>,
    /// Asynchronous operations whose epoch is only known when they complete; `None` in flight.
    operations: Vec<Option<Epoch>>,
    /// Locations that release and acquire: atomics and the like, by place and position.
    /// The knowledge is told as the cluster that stands beside it holds it.
    locations: HashMap<(Place, u64), (u32, Knowledge)>,
}

impl Detector {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            clusters: Vec::new(),
            global: Vec::new(),
            // An epoch's time 0 means "never", so numbers begin with 1.
            operations: vec![None],
            locations: HashMap::new(),
        }
    }

    /// Whether accesses are watched.
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// A cluster begins; its CTAs have `shared` bytes of shared memory each.
    pub(crate) fn start_cluster(&mut self, id: u32, ctas: u32, threads_per_cta: u32, shared: u64) {
        if !self.enabled {
            return;
        }
        let threads = ctas * threads_per_cta;
        let mind = Mind {
            now: 1,
            ..Mind::default()
        };
        self.clusters.push(ClusterMinds {
            id,
            shared: vec![Shadow::bytes(shared); ctas as usize],
            tensor: vec![Shadow::cells(TENSOR_CELLS); ctas as usize],
            minds: vec![mind; threads as usize],
            threads_per_cta,
            next_agent: threads,
            named: HashMap::new(),
        });
    }

    pub(crate) fn end_cluster(&mut self, id: u32) {
        self.clusters.retain(|cluster| cluster.id != id);
        self.locations.retain(|(place, _), _| match place {
            Place::Shared(cta) | Place::Tensor(cta) => cta.cluster != id,
            Place::Global(_) => true,
        });
    }

    /// The next global allocation, in the order of their indices.
    pub(crate) fn add_global(&mut self, len: u64) {
        if self.enabled {
            self.global.push(Shadow::bytes(len));
        }
    }

    fn shadow(&mut self, place: Place) -> Option<&mut Shadow> {
        match place {
            Place::Global(index) => self.global.get_mut(index as usize),
            Place::Shared(cta) => {
                let cluster = self.clusters.iter_mut().find(|c| c.id == cta.cluster)?;
                cluster.shared.get_mut(cta.rank as usize)
            }
            Place::Tensor(cta) => {
                let cluster = self.clusters.iter_mut().find(|c| c.id == cta.cluster)?;
                cluster.tensor.get_mut(cta.rank as usize)
            }
        }
    }

    fn minds(&mut self, thread: ThreadRef) -> Option<(&mut ClusterMinds, usize)> {
        let minds = self
            .clusters
            .iter_mut()
            .find(|c| c.id == thread.cta.cluster)?;
        let agent = thread.cta.rank * minds.threads_per_cta + thread.thread;
        Some((minds, agent as usize))
    }

    fn mind(&mut self, thread: ThreadRef) -> Option<(&mut Mind, Agent)> {
        let (minds, agent) = self.minds(thread)?;
        Some((minds.minds.get_mut(agent)?, agent as u32))
    }

    /// The epoch of what a thread does now.
    pub fn now(&mut self, thread: ThreadRef) -> Epoch {
        match self.mind(thread) {
            Some((mind, agent)) => Epoch {
                cluster: thread.cta.cluster,
                agent,
                time: mind.now,
            },
            None => Epoch::NONE,
        }
    }

    /// The agent of a stream, made on first use.
    pub fn agent(&mut self, cluster: u32, stream: Stream) -> Agent {
        let Some(minds) = self.clusters.iter_mut().find(|c| c.id == cluster) else {
            return 0;
        };
        let next = minds.next_agent;
        let agent = *minds.named.entry(stream).or_insert(next);
        if agent == next {
            minds.next_agent += 1;
        }
        agent
    }

    /// The epoch of step `time` (from 1) of a stream of this thread's cluster.
    pub fn stream_epoch(&mut self, thread: ThreadRef, stream: Stream, time: u32) -> Epoch {
        Epoch {
            cluster: thread.cta.cluster,
            agent: self.agent(thread.cta.cluster, stream),
            time,
        }
    }

    /// A new operation whose completion will be known by another epoch later. Use the result as
    /// the epoch of its accesses, and call [`resolve`](Self::resolve) when it completes.
    pub fn begin_operation(&mut self, thread: ThreadRef) -> Epoch {
        let time = self.operations.len() as u32;
        if self.enabled {
            self.operations.push(None);
        }
        Epoch {
            cluster: thread.cta.cluster,
            agent: Epoch::OPERATION,
            time,
        }
    }

    /// The operation is complete for everybody who knows of `completion`.
    pub fn resolve(&mut self, operation: Epoch, completion: Epoch) {
        if let Some(slot) = self.operations.get_mut(operation.time as usize)
            && operation.agent == Epoch::OPERATION
        {
            *slot = Some(completion);
        }
    }

    /// A thread learns that a stream has come to `epoch`: `wait_group` and the like.
    pub fn learn(&mut self, thread: ThreadRef, epoch: Epoch) {
        if let Some((mind, _)) = self.mind(thread) {
            mind.known.generic.advance(epoch.agent, epoch.time);
            mind.known.proxied.advance(epoch.agent, epoch.time);
            mind.known.tensor.advance(epoch.agent, epoch.time);
        }
    }

    /// What a thread publishes by a release now; what it does later is not part of it.
    pub fn release(&mut self, thread: ThreadRef) -> Knowledge {
        let Some((mind, agent)) = self.mind(thread) else {
            return Knowledge::default();
        };
        let mut known = Knowledge {
            generic: mind.known.generic.clone(),
            proxied: mind.known.proxied.clone(),
            tensor: mind.tensor_out.clone(),
        };
        known.tensor.join(&mind.unfenced_tensor);
        known.generic.advance(agent, mind.now);
        known.proxied.advance(agent, mind.proxied_own);
        known.tensor.advance(agent, mind.tensor_own);
        mind.now += 1;
        known
    }

    /// The same, added to what others have published at the same barrier.
    pub fn release_into(&mut self, thread: ThreadRef, into: &mut Knowledge) {
        let Some((mind, agent)) = self.mind(thread) else {
            return;
        };
        into.generic.join(&mind.known.generic);
        into.proxied.join(&mind.known.proxied);
        into.tensor.join(&mind.tensor_out);
        into.tensor.join(&mind.unfenced_tensor);
        into.generic.advance(agent, mind.now);
        into.proxied.advance(agent, mind.proxied_own);
        into.tensor.advance(agent, mind.tensor_own);
        mind.now += 1;
    }

    /// A thread acquires what was published.
    pub fn acquire(&mut self, thread: ThreadRef, knowledge: &Knowledge) {
        if let Some((mind, _)) = self.mind(thread) {
            mind.known.generic.join(&knowledge.generic);
            mind.known.proxied.join(&knowledge.proxied);
            mind.unfenced_tensor.join(&knowledge.tensor);
        }
    }

    /// `fence.proxy.async`: what the thread knows now is in order before its later async work.
    pub fn proxy_fence(&mut self, thread: ThreadRef) {
        if let Some((mind, _)) = self.mind(thread) {
            let Knowledge {
                generic, proxied, ..
            } = &mut mind.known;
            proxied.join(generic);
            mind.proxied_own = mind.now;
            mind.now += 1;
        }
    }

    /// `tcgen05.fence::before_thread_sync`.
    pub fn tensor_fence_before(&mut self, thread: ThreadRef) {
        if let Some((mind, _)) = self.mind(thread) {
            mind.tensor_own = mind.now;
            mind.tensor_out.join(&mind.known.tensor);
            mind.now += 1;
        }
    }

    /// `tcgen05.fence::after_thread_sync`.
    pub fn tensor_fence_after(&mut self, thread: ThreadRef) {
        if let Some((mind, _)) = self.mind(thread) {
            let arrived = std::mem::take(&mut mind.unfenced_tensor);
            mind.known.tensor.join(&arrived);
        }
    }

    /// A thread makes a `fence` of the generic proxy: later relaxed stores release, earlier
    /// relaxed loads acquire.
    pub fn fence(&mut self, thread: ThreadRef) {
        let Some((mind, _)) = self.mind(thread) else {
            return;
        };
        let unfenced = mind.unfenced.take();
        if let Some(unfenced) = unfenced {
            self.acquire(thread, &unfenced);
        }
        let published = self.release(thread);
        if let Some((mind, _)) = self.mind(thread) {
            mind.fenced = Some(published);
        }
    }

    /// A strong load or the read of an atomic at a place that may carry knowledge.
    pub fn location_load(&mut self, thread: ThreadRef, place: Place, position: u64, acquire: bool) {
        if !self.enabled {
            return;
        }
        let Some((cluster, knowledge)) = self.locations.get(&(place, position)) else {
            return;
        };
        let knowledge = knowledge.translated(*cluster, thread.cta.cluster);
        if acquire {
            self.acquire(thread, &knowledge);
        } else if let Some((mind, _)) = self.mind(thread) {
            mind.unfenced
                .get_or_insert_with(Knowledge::default)
                .join(&knowledge);
        }
    }

    /// A strong store, or the write of an atomic (`update`: adds to what is there, as a release
    /// sequence does).
    pub fn location_store(
        &mut self,
        thread: ThreadRef,
        place: Place,
        position: u64,
        release: bool,
        update: bool,
    ) {
        if !self.enabled {
            return;
        }
        let published = if release {
            Some(self.release(thread))
        } else {
            self.mind(thread).and_then(|(mind, _)| mind.fenced.clone())
        };
        let cluster = thread.cta.cluster;
        let entry = self.locations.entry((place, position)).or_default();
        let mut knowledge = published.unwrap_or_default();
        if update {
            knowledge.join(&entry.1.translated(entry.0, cluster));
        }
        *entry = (cluster, knowledge);
    }

    /// What a thread knew at its last fence, which a relaxed arrival hands on.
    pub fn fenced_into(&mut self, thread: ThreadRef, into: &mut Knowledge) {
        if let Some((mind, _)) = self.mind(thread)
            && let Some(fenced) = &mind.fenced
        {
            into.join(fenced);
        }
    }

    /// Whether a thread knows of an epoch in the generic proxy.
    pub fn knows(&mut self, thread: ThreadRef, epoch: Epoch) -> bool {
        let epoch = match self.resolved(epoch) {
            Some(epoch) => epoch,
            None => return false,
        };
        match self.mind(thread) {
            Some((mind, agent)) => knows(mind, agent, thread.cta.cluster, epoch, Proxy::Generic),
            None => true,
        }
    }

    fn resolved(&self, epoch: Epoch) -> Option<Epoch> {
        if epoch.agent != Epoch::OPERATION {
            return Some(epoch);
        }
        self.operations.get(epoch.time as usize).copied().flatten()
    }

    /// Whether position `range` of a place has been written (shared and tensor memory).
    pub fn is_written(&mut self, place: Place, position: u64, len: u64) -> bool {
        match self.shadow(place) {
            Some(shadow) => shadow.is_written(position, len),
            None => true,
        }
    }

    /// Forgets what happened at a range, as if it had just been written by nobody: freed tensor
    /// memory, invalidated barriers.
    pub fn forget(&mut self, place: Place, position: u64, len: u64) {
        if let Some(shadow) = self.shadow(place) {
            shadow.forget(position, len);
        }
    }

    /// Looks at an access, and writes it down. The conflicts found, most serious first; at most
    /// one of each class.
    pub fn access(
        &mut self,
        place: Place,
        position: u64,
        len: u64,
        access: &Access,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        if !self.enabled {
            return conflicts;
        }
        let cluster = access.thread.cta.cluster;
        let Some(minds) = self.clusters.iter_mut().find(|c| c.id == cluster) else {
            return conflicts;
        };
        let agent = access.thread.cta.rank * minds.threads_per_cta + access.thread.thread;
        let Some(mind) = minds.minds.get(agent as usize) else {
            return conflicts;
        };
        let shadow = match place {
            Place::Global(index) => self.global.get_mut(index as usize),
            Place::Shared(cta) => minds.shared.get_mut(cta.rank as usize),
            Place::Tensor(cta) => minds.tensor.get_mut(cta.rank as usize),
        };
        let Some(shadow) = shadow else {
            return conflicts;
        };
        let operations = &self.operations;
        let judge = Judge {
            mind,
            agent,
            threads: minds.minds.len() as u32,
            access,
            operations,
        };
        shadow.for_each(position, len, &mut |at, cell| {
            judge.look(place, at, cell, &mut conflicts);
            judge.note(cell);
        });
        conflicts
    }
}
