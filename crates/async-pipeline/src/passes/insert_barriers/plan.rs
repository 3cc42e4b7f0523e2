//! What will be inserted, as plain values.

use crate::passes::options::CpAsyncArrive;
use ptx_model::{manifest::Completion, target::Target};

/// Lanes of a warp.
pub(crate) const WARP: i64 = 32;

/// How a party touches a channel's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The tensor-copy engine, asked by one thread.
    Tma,
    /// `cp.async` by every thread of the role.
    CpAsync,
    /// The tensor core by `tcgen05.mma`, asked by one thread.
    Tcgen05,
    /// Ordinary loads and stores by every thread of the role.
    Threads,
}

impl Access {
    /// Whether one thread asks and somebody else does it.
    pub(crate) fn is_asked(self) -> bool {
        matches!(self, Self::Tma | Self::Tcgen05)
    }
}

/// Where a channel's slots are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In shared memory: the bytes of each field's swizzle, 0 for none.
    Shared { swizzles: Vec<i64> },
    /// In tensor memory: the columns of a slot.
    Tensor { columns: i64 },
}

/// One role's part in a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Index of the role in the kernel's `roles`.
    pub(crate) role: usize,
    /// Warps of the role.
    pub(crate) warps: i64,
    /// How it touches the slots.
    pub(crate) access: Access,
}

/// One channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChannelPlan {
    /// Its name.
    pub(crate) name: String,
    /// Slots.
    pub(crate) stages: i64,
    /// Who fills them.
    pub(crate) producer: Party,
    /// Who reads them; every consumer sees every slot.
    pub(crate) consumers: Vec<Party>,
    /// Where they are.
    pub(crate) storage: Storage,
    /// Groups of `cp.async` and a barrier of the one role, instead of mbarriers.
    pub(crate) groups: bool,
}

impl ChannelPlan {
    /// Arrivals that complete a phase of `full`.
    pub(crate) fn full_count(&self) -> i64 {
        match self.producer.access {
            // The issuing thread's arrive.expect_tx, or its commit.
            Access::Tma | Access::Tcgen05 => 1,
            // One asynchronous or plain arrive per thread, in both forms of the arrive.
            Access::CpAsync => self.producer.warps * WARP,
            // One lane per warp, behind a warp sync.
            Access::Threads => self.producer.warps,
        }
    }

    /// Arrivals that complete a phase of `empty`.
    pub(crate) fn empty_count(&self) -> i64 {
        self.consumers
            .iter()
            .map(|party| {
                if party.access.is_asked() {
                    1
                } else {
                    party.warps
                }
            })
            .sum()
    }

    /// Whether threads must fence their reads before a slot is filled again by the
    /// async proxy.
    pub(crate) fn reads_need_fence(&self) -> bool {
        self.producer.access == Access::Tma
    }

    /// Whether threads must fence their writes before the async proxy reads them.
    pub(crate) fn writes_need_fence(&self) -> bool {
        self.consumers.iter().any(|party| party.access.is_asked())
    }

    /// Bytes of the swizzle of a field in shared memory.
    pub(crate) fn swizzle(&self, field: usize) -> i64 {
        match &self.storage {
            Storage::Shared { swizzles } => swizzles.get(field).copied().unwrap_or(0),
            Storage::Tensor { .. } => 0,
        }
    }

    /// Columns of a slot in tensor memory.
    pub(crate) fn columns(&self) -> Option<i64> {
        match self.storage {
            Storage::Tensor { columns } => Some(columns),
            Storage::Shared { .. } => None,
        }
    }

    /// The completion kind for the manifest.
    pub(crate) fn completion(&self) -> Completion {
        match self.producer.access {
            Access::Tma => Completion::Tma,
            Access::CpAsync => Completion::CpAsync,
            Access::Tcgen05 => Completion::Tcgen05,
            Access::Threads => Completion::Threads,
        }
    }
}

/// How a copy into a slot is carried out.
pub(crate) fn load_access(target: Target, forced_cp_async: bool) -> Access {
    if target.has_tensor_copies() && !forced_cp_async {
        Access::Tma
    } else {
        Access::CpAsync
    }
}

/// How a copy out of a slot is carried out.
pub(crate) fn store_access(target: Target, forced_cp_async: bool) -> Access {
    if target.has_tensor_copies() && !forced_cp_async {
        Access::Tma
    } else {
        Access::Threads
    }
}

/// The arrive or arrives of one thread behind its cp.async copies.
pub(crate) fn plain_arrive_follows(arrive: CpAsyncArrive) -> bool {
    // The inc form is net zero, so the thread itself must arrive, and behind it: the
    // phase cannot end while that arrival is outstanding.
    arrive == CpAsyncArrive::Inc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(producer: Access, consumer: Access) -> ChannelPlan {
        let party = |role, warps, access| Party {
            role,
            warps,
            access,
        };
        ChannelPlan {
            name: "c".into(),
            stages: 3,
            producer: party(0, 2, producer),
            consumers: vec![party(1, 4, consumer), party(2, 1, consumer)],
            storage: Storage::Shared { swizzles: vec![0] },
            groups: false,
        }
    }

    #[test]
    fn counts_follow_who_arrives() {
        let tma = channel(Access::Tma, Access::Threads);
        assert_eq!((tma.full_count(), tma.empty_count()), (1, 5));
        let cp_async = channel(Access::CpAsync, Access::Threads);
        assert_eq!((cp_async.full_count(), cp_async.empty_count()), (64, 5));
        let store = channel(Access::Threads, Access::Tma);
        assert_eq!((store.full_count(), store.empty_count()), (2, 2));
        // One commit says that the tensor core has read, another that its sums are there.
        let operands = channel(Access::Tma, Access::Tcgen05);
        assert_eq!((operands.full_count(), operands.empty_count()), (1, 2));
        let sums = channel(Access::Tcgen05, Access::Threads);
        assert_eq!((sums.full_count(), sums.empty_count()), (1, 5));
    }

    #[test]
    fn fences_stand_where_the_proxies_meet() {
        assert!(channel(Access::Tma, Access::Threads).reads_need_fence());
        assert!(!channel(Access::CpAsync, Access::Threads).reads_need_fence());
        assert!(channel(Access::Threads, Access::Tma).writes_need_fence());
        assert!(!channel(Access::Tma, Access::Threads).writes_need_fence());
    }
}
