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
    /// Ordinary loads and stores by every thread of the role.
    Threads,
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
}

impl ChannelPlan {
    /// Arrivals that complete a phase of `full`.
    pub(crate) fn full_count(&self) -> i64 {
        match self.producer.access {
            // The issuing thread's arrive.expect_tx.
            Access::Tma => 1,
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
                if party.access == Access::Tma {
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
        self.consumers
            .iter()
            .any(|party| party.access == Access::Tma)
    }

    /// The completion kind for the manifest.
    pub(crate) fn completion(&self) -> Completion {
        match self.producer.access {
            Access::Tma => Completion::Tma,
            Access::CpAsync => Completion::CpAsync,
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
    }

    #[test]
    fn fences_stand_where_the_proxies_meet() {
        assert!(channel(Access::Tma, Access::Threads).reads_need_fence());
        assert!(!channel(Access::CpAsync, Access::Threads).reads_need_fence());
        assert!(channel(Access::Threads, Access::Tma).writes_need_fence());
        assert!(!channel(Access::Tma, Access::Threads).writes_need_fence());
    }
}
