//! What a run finds.

mod text;

use crate::program::{Place, PlaceId};
use ptx_model::{
    access::{self, Access, Severity},
    mbarrier::{Mbarrier, MbarrierError},
};

use super::compute::ComputeError;

/// A thread, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its role, if it runs one.
    pub role: Option<String>,
    /// Its warp in the CTA.
    pub warp: u32,
    /// Its lane in the warp.
    pub lane: u32,
}

/// A barrier and its state at the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierFacts {
    /// Name of the array.
    pub name: String,
    /// Which of its barriers.
    pub stage: u64,
    /// Its state.
    pub state: Mbarrier,
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAt {
    /// Name of the buffer or argument.
    pub name: String,
    /// The slot, if it is in a buffer.
    pub slot: Option<u64>,
    /// Byte from the start of the slot or argument.
    pub byte: u64,
}

/// What a blocked thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A phase of a barrier.
    Barrier {
        /// The barrier.
        barrier: BarrierFacts,
        /// The parity it asks for, unless it asks by state.
        parity: Option<u32>,
        /// The phase it means; `None` is the one before phase 0.
        phase: Option<u64>,
    },
    /// Its own copies.
    Groups,
    /// Every thread of the CTA.
    Cta {
        /// Threads that have come.
        arrived: u32,
        /// Threads of the CTA.
        of: u32,
    },
    /// A named barrier.
    Named {
        /// Its number.
        id: u32,
        /// Threads that have come.
        arrived: u32,
        /// Threads that it waits for.
        of: u32,
    },
    /// The lanes of its warp.
    Warp {
        /// Lanes that have come.
        arrived: u32,
    },
}

/// Threads of one role that wait for the same thing at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The first of them.
    pub party: Party,
    /// How many there are.
    pub threads: u32,
    /// What they wait for.
    pub what: WaitsFor,
    /// Where.
    pub place: Place,
}

/// One kind of fault with its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing can go on.
    Deadlock {
        /// Who waits for what.
        waiting: Vec<Waiting>,
    },
    /// A use of a barrier that its definition forbids.
    Misuse {
        /// The barrier.
        barrier: BarrierFacts,
        /// Why.
        error: MbarrierError,
    },
    /// A wait that passes on a phase older than the one this thread is due to see.
    StaleWait {
        /// The barrier.
        barrier: BarrierFacts,
        /// The parity asked for.
        parity: u32,
        /// The phase just finished; `None` is the one before phase 0.
        finished: Option<u64>,
        /// The phase the thread is due to see.
        wants: u64,
    },
    /// A waiter that is asked for again after the barrier has moved on by two phases.
    LateWait {
        /// The barrier.
        barrier: BarrierFacts,
        /// The parity asked for.
        parity: u32,
        /// The phase the thread is due to see; `None` is the one before phase 0.
        wants: Option<u64>,
    },
    /// A phase that can finish before every thread has seen the one before it.
    Skew {
        /// The barrier.
        barrier: BarrierFacts,
        /// The phase that a thread may miss; `None` is the one before phase 0.
        unseen: Option<u64>,
    },
    /// A barrier used by a thread that need not have seen its initialisation.
    UnorderedInit {
        /// The barrier.
        barrier: BarrierFacts,
    },
    /// A barrier used by the copy engine without `fence.mbarrier_init`.
    MissingInitFence {
        /// The barrier.
        barrier: BarrierFacts,
    },
    /// A barrier invalidated while others may still use it.
    InvalInUse {
        /// The barrier.
        barrier: BarrierFacts,
    },
    /// Memory used before a copy into it is known to have landed.
    BeforeCopyDone {
        /// Where.
        memory: MemoryAt,
        /// The copy.
        copy: Access,
        /// The use.
        access: Access,
    },
    /// Two accesses that nothing orders.
    Race {
        /// Where.
        memory: MemoryAt,
        /// The one that came first in this run.
        first: Access,
        /// The other.
        second: Access,
    },
    /// Two accesses in different proxies without a proxy fence between them.
    MissingProxyFence {
        /// Where.
        memory: MemoryAt,
        /// The earlier, in the generic proxy.
        first: Access,
        /// The later, in the async proxy.
        second: Access,
    },
    /// A read of shared memory that nobody has written.
    Uninitialised {
        /// Where.
        memory: MemoryAt,
    },
    /// A slot that was not filled again in the phase its reader has waited for.
    StaleContents {
        /// Where.
        memory: MemoryAt,
        /// The barrier that the slot's copies complete on.
        barrier: BarrierFacts,
        /// The phase whose filling is still there.
        holds: u64,
        /// The phase that the reader has seen complete.
        waited: u64,
    },
    /// Bytes announced that never came, or the reverse, when the barrier's life ends.
    BytesLeft {
        /// The barrier.
        barrier: BarrierFacts,
    },
    /// A phase with some of its arrivals, when the barrier's life ends.
    UnfinishedPhase {
        /// The barrier.
        barrier: BarrierFacts,
    },
    /// A copy whose end nobody waited for, when the kernel ends.
    CopyInFlight {
        /// What the copy does to shared memory.
        copy: Access,
    },
    /// A named barrier with some of its arrivals, when the kernel ends.
    NamedBarrierLeft {
        /// Its number.
        id: u32,
        /// Threads that have come.
        arrived: u32,
        /// Threads that it waits for.
        of: u32,
    },
    /// Threads that meet at a barrier with different thread counts, or at different places.
    MeetingMismatch {
        /// Number of the barrier; 0 is the barrier of the CTA.
        id: u32,
        /// Threads that the first stated.
        first: u32,
        /// Threads that the other states.
        second: u32,
    },
    /// An index outside its memref.
    OutOfBounds {
        /// Which dimension.
        dimension: usize,
        /// The index; of a vector, the last one.
        index: i64,
        /// The extent of the dimension.
        extent: i64,
    },
    /// Bytes outside the memory behind a memref.
    OutsideMemory {
        /// The memory.
        memory: MemoryAt,
        /// Bytes of the access.
        bytes: u64,
        /// Bytes of the memory.
        size: u64,
    },
    /// An address that is not a multiple of what its instruction needs.
    Misaligned {
        /// Where.
        memory: MemoryAt,
        /// What it has to be a multiple of.
        alignment: u64,
    },
    /// A stage of a barrier array or buffer that does not exist.
    NoSuchStage {
        /// The array.
        name: String,
        /// The stage.
        stage: i64,
        /// How many there are.
        stages: u64,
    },
    /// A byte count that its instruction does not take.
    BadByteCount {
        /// The count.
        bytes: i64,
        /// What it has to be.
        expected: &'static str,
    },
    /// A tensor store at a row that ends within 16 bytes, of which it writes all.
    PartialRow {
        /// Bytes of the row.
        row: i64,
    },
    /// A computation without a value.
    Computation(ComputeError),
    /// A loop step that is not positive.
    BadStep {
        /// The step.
        step: i64,
    },
    /// A wait for a state that no arrive on this barrier returned.
    ForeignState,
    /// More thread-private memory than is modelled.
    LocalMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The run was given up.
    StepBound {
        /// Steps taken.
        steps: u64,
    },
}

/// The other side of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where it is.
    pub place: Place,
    /// The same as an index into the program's places.
    pub place_id: PlaceId,
    /// What is there.
    pub text: &'static str,
}

/// One fault where it was seen. Its `Display` is the message without the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub place: Place,
    /// The same as an index into the program's places.
    pub place_id: PlaceId,
    /// Who did it, if it was a thread.
    pub party: Option<Party>,
    /// The other side.
    pub note: Option<Note>,
    /// The CTA (x, y, z).
    pub block: [u32; 3],
    /// How often it was seen at this place.
    pub count: u64,
}

impl Fault {
    /// [`Severity::Pedantic`] for what the memory model asks for and much working code
    /// leaves out: the proxy fence between an ordinary read and the next bulk load.
    pub fn severity(&self) -> Severity {
        let Fault::MissingProxyFence { first, second, .. } = self else {
            return Severity::Error;
        };
        let pedantic = access::between(*first, *second).is_some_and(|rule| {
            rule.paths
                .iter()
                .any(|path| path.iter().any(|(_, s)| *s == Severity::Pedantic))
        });
        if pedantic {
            Severity::Pedantic
        } else {
            Severity::Error
        }
    }

    /// The barrier that the fault is about.
    pub fn barrier(&self) -> Option<&BarrierFacts> {
        match self {
            Fault::Misuse { barrier, .. }
            | Fault::StaleWait { barrier, .. }
            | Fault::LateWait { barrier, .. }
            | Fault::Skew { barrier, .. }
            | Fault::UnorderedInit { barrier }
            | Fault::MissingInitFence { barrier }
            | Fault::InvalInUse { barrier }
            | Fault::StaleContents { barrier, .. }
            | Fault::BytesLeft { barrier }
            | Fault::UnfinishedPhase { barrier } => Some(barrier),
            _ => None,
        }
    }

    /// The memory that the fault is about.
    pub fn memory(&self) -> Option<&MemoryAt> {
        match self {
            Fault::BeforeCopyDone { memory, .. }
            | Fault::Race { memory, .. }
            | Fault::MissingProxyFence { memory, .. }
            | Fault::Uninitialised { memory }
            | Fault::StaleContents { memory, .. }
            | Fault::OutsideMemory { memory, .. }
            | Fault::Misaligned { memory, .. } => Some(memory),
            _ => None,
        }
    }
}
