//! The effect table: what each operation does to barriers, memory and proxies.
//!
//! Sources: PTX ISA 9.1, 9.7.9.25 (asynchronous copies), 9.7.13 (barriers, fences).

use super::{At, BarrierId, Operation};

/// Who moves the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `cp.async`: asynchronous, in the generic proxy.
    CpAsync,
    /// A bulk or tensor copy: in the async proxy.
    Bulk,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From global to shared memory.
    Load,
    /// From shared to global memory.
    Store,
}

/// How the end of a copy becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Its bytes are taken off this barrier's tx-count.
    Bytes(At),
    /// With its thread's groups, or the next asynchronous arrive of the thread.
    Group,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Earlier `mbarrier.init` of this thread, for the copy engine.
    MbarrierInit,
    /// Between the generic and the async proxy, for shared memory.
    ProxyAsync,
}

/// Whose groups are closed or waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Of `cp.async`.
    CpAsync,
    /// Of bulk stores.
    Bulk,
}

/// Who meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// Every thread of the CTA.
    Cta,
    /// As many threads as stated.
    Named {
        /// Number of the barrier.
        id: u32,
        /// Threads that make it complete.
        threads: u32,
        /// Whether this thread waits.
        waits: bool,
    },
    /// Every lane of the warp.
    Warp,
}

/// What an operation does that others can notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Begins the life of an array.
    BarrierInit(BarrierId),
    /// Ends it.
    BarrierInval(BarrierId),
    /// Takes arrivals off a phase; releases what the thread did before.
    Arrive {
        /// The barrier.
        at: At,
        /// Number of arrivals.
        count: u32,
        /// Whether bytes are announced in the same step.
        expects_bytes: bool,
    },
    /// Announces bytes; orders nothing.
    ExpectTx(At),
    /// Takes bytes off a phase; orders nothing.
    CompleteTx(At),
    /// Sees a phase complete; acquires what was released into it.
    Wait {
        /// The barrier.
        at: At,
        /// Whether it waits, or asks and may be told no.
        blocks: bool,
    },
    /// Starts a copy.
    Copy {
        /// Who moves the data.
        engine: Engine,
        /// Which way.
        direction: Direction,
        /// How its end becomes known.
        completion: Completion,
    },
    /// An arrival once the thread's copies so far have landed; it publishes them and
    /// nothing else.
    AsyncArrive {
        /// The barrier.
        at: At,
        /// Whether the barrier's count includes the arrival.
        counted: bool,
    },
    /// Closes a group of copies.
    CloseGroup(Groups),
    /// Waits for groups of the same thread.
    WaitGroup {
        /// Whose groups.
        groups: Groups,
        /// How many of the youngest may stay open.
        pending: u32,
        /// Whether it only waits until sources have been read.
        sources_only: bool,
    },
    /// Orders this thread's accesses.
    Fence(Fence),
    /// Meets other threads; each releases and acquires (who only arrives only releases).
    Meet(Party),
    /// An ordinary read.
    Read,
    /// An ordinary write.
    Write,
    /// Runs blocks.
    Control,
}

impl Operation {
    /// What the operation does to barriers, memory and proxies.
    pub fn effect(&self) -> Effect {
        let copy = |engine, direction, completion| Effect::Copy {
            engine,
            direction,
            completion,
        };
        match self {
            Operation::Compute { .. }
            | Operation::Ask { .. }
            | Operation::Dim { .. }
            | Operation::Metadata { .. }
            | Operation::SubView { .. }
            | Operation::Reinterpret { .. }
            | Operation::Local { .. }
            | Operation::BufferSlot { .. }
            | Operation::PendingCount { .. }
            | Operation::Elect { .. } => Effect::None,
            Operation::Load { .. } => Effect::Read,
            Operation::Store { .. } => Effect::Write,
            Operation::Init { barrier, .. } => Effect::BarrierInit(*barrier),
            Operation::Inval { barrier } => Effect::BarrierInval(*barrier),
            Operation::Arrive { at, count, .. } => Effect::Arrive {
                at: *at,
                count: *count,
                expects_bytes: false,
            },
            Operation::ArriveExpectTx { at, .. } => Effect::Arrive {
                at: *at,
                count: 1,
                expects_bytes: true,
            },
            Operation::ExpectTx { at, .. } => Effect::ExpectTx(*at),
            Operation::CompleteTx { at, .. } => Effect::CompleteTx(*at),
            Operation::Wait { at, .. } => Effect::Wait {
                at: *at,
                blocks: true,
            },
            Operation::PollParity { at, .. } | Operation::PollState { at, .. } => Effect::Wait {
                at: *at,
                blocks: false,
            },
            Operation::CpAsync { .. } => copy(Engine::CpAsync, Direction::Load, Completion::Group),
            Operation::BulkLoad { at, .. } | Operation::TmaLoad { at, .. } => {
                copy(Engine::Bulk, Direction::Load, Completion::Bytes(*at))
            }
            Operation::BulkStore { .. } | Operation::TmaStore { .. } => {
                copy(Engine::Bulk, Direction::Store, Completion::Group)
            }
            Operation::CpAsyncArrive { at, noinc } => Effect::AsyncArrive {
                at: *at,
                counted: *noinc,
            },
            Operation::CpAsyncCommit => Effect::CloseGroup(Groups::CpAsync),
            Operation::BulkCommit => Effect::CloseGroup(Groups::Bulk),
            Operation::CpAsyncWait { pending } => Effect::WaitGroup {
                groups: Groups::CpAsync,
                pending: *pending,
                sources_only: false,
            },
            Operation::BulkWait { pending, read } => Effect::WaitGroup {
                groups: Groups::Bulk,
                pending: *pending,
                sources_only: *read,
            },
            Operation::FenceMbarrierInit => Effect::Fence(Fence::MbarrierInit),
            Operation::FenceProxyAsync => Effect::Fence(Fence::ProxyAsync),
            Operation::CtaBarrier => Effect::Meet(Party::Cta),
            Operation::NamedBarrier { id, threads, waits } => Effect::Meet(Party::Named {
                id: *id,
                threads: *threads,
                waits: *waits,
            }),
            Operation::WarpSync => Effect::Meet(Party::Warp),
            Operation::If { .. }
            | Operation::For { .. }
            | Operation::While { .. }
            | Operation::Yield { .. }
            | Operation::Condition { .. }
            | Operation::Roles
            | Operation::Return => Effect::Control,
        }
    }
}
