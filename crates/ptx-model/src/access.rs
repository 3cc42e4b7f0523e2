//! What must stand between two accesses to one location, where the second depends on the first.
//!
//! A location is shared memory, and in two rules an mbarrier or the response of a cluster launch
//! request, which are shared memory too. Sources: PTX ISA 9.1, 8.5 to 8.11 (memory model and
//! proxies), 9.7.9.25 (asynchronous copies), 9.7.13.15 (mbarrier), 9.7.15 (wgmma), 9.7.16 (tcgen05).

/// One kind of access. "Generic" means ordinary loads and stores; the others name who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// An ordinary load.
    GenericRead,
    /// An ordinary store.
    GenericWrite,
    /// `cp.async`: asynchronous, but in the generic proxy.
    CpAsyncWrite,
    /// A bulk or tensor load into shared memory.
    BulkWrite,
    /// The source of a bulk or tensor store.
    BulkRead,
    /// An operand of `wgmma` in shared memory.
    WgmmaRead,
    /// An operand of `tcgen05.mma` or `tcgen05.cp` in shared memory.
    Tcgen05Read,
    /// `mbarrier.init`.
    MbarrierInit,
    /// A use of an mbarrier by threads of its own CTA.
    MbarrierLocalUse,
    /// A use of an mbarrier from another CTA, or by a multicast copy.
    MbarrierRemoteUse,
    /// The store of the address that `tcgen05.alloc` makes.
    TmemAddressWrite,
    /// The write of a `clusterlaunchcontrol.try_cancel` response.
    ClcResponseWrite,
    /// A read of such a response.
    ClcResponseRead,
}

/// One thing that has to lie on the path from the first access to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A release that the second thread acquires: a barrier, or arrive and wait. Nothing to do where
    /// one thread makes both accesses.
    ReleaseAcquire,
    /// `fence.proxy.async` by each thread that made the first access, before its release.
    ProxyFence,
    /// A successful wait on the mbarrier that the first access completes on.
    MbarrierWait,
    /// A release by every reader of the place, acquired by the issuer of the second access.
    ReadersReleased,
    /// `cp.async.wait_group` or `wait_all` by the thread that issued the copy.
    CpAsyncWaitGroup,
    /// `cp.async.mbarrier.arrive`, with or without `.noinc`, after the copy.
    CpAsyncMbarrierArrive,
    /// `cp.async.bulk.wait_group.read` by the thread that issued the store.
    BulkWaitGroupRead,
    /// `wgmma.wait_group` in the warpgroup that reads.
    WgmmaWaitGroup,
    /// `tcgen05.commit` by the thread that issued the operation.
    Tcgen05Commit,
    /// A barrier of the whole CTA.
    CtaBarrier,
    /// A barrier of the whole cluster.
    ClusterBarrier,
    /// `fence.mbarrier_init` by the initialising thread.
    MbarrierInitFence,
}

/// How sure it is that leaving a step out goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Without it the result is wrong or undefined.
    Error,
    /// The memory model asks for it; much working code leaves it out, and some of that code failed.
    Pedantic,
}

/// One way to order a pair of accesses: all of its steps, in this order.
pub type Path = &'static [(Step, Severity)];

/// A pair of accesses and every way to order them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairRule {
    /// The earlier access.
    pub first: Access,
    /// The later access.
    pub second: Access,
    /// Alternatives; any one of them is enough.
    pub paths: &'static [Path],
}

/// The rules of the pairs in which the second access may not overtake the first. Reads do not
/// conflict with reads and have no rules.
pub static RULES: &[PairRule] = {
    use Access::*;
    use Severity::{Error, Pedantic};
    use Step::*;

    const ORDERED: &[Path] = &[&[(ReleaseAcquire, Error)]];
    const FENCED: &[Path] = &[&[(ProxyFence, Error), (ReleaseAcquire, Error)]];
    const LANDED: &[Path] = &[&[(MbarrierWait, Error)]];
    const CP_ASYNC_DONE: &[Path] = &[
        &[(CpAsyncWaitGroup, Error), (ReleaseAcquire, Error)],
        &[(CpAsyncMbarrierArrive, Error), (MbarrierWait, Error)],
    ];
    // The fence counts only once the copy is known to be done, so a wait comes before it.
    const CP_ASYNC_FENCED: &[Path] = &[
        &[
            (CpAsyncWaitGroup, Error),
            (ProxyFence, Error),
            (ReleaseAcquire, Error),
        ],
        &[
            (CpAsyncMbarrierArrive, Error),
            (MbarrierWait, Error),
            (ProxyFence, Error),
            (ReleaseAcquire, Error),
        ],
    ];
    const STORE_READ: &[Path] = &[&[(BulkWaitGroupRead, Error), (ReleaseAcquire, Error)]];
    const WGMMA_READ: &[Path] = &[&[(WgmmaWaitGroup, Error), (ReleaseAcquire, Error)]];
    const TCGEN05_READ: &[Path] = &[&[(Tcgen05Commit, Error), (MbarrierWait, Error)]];

    const fn rule(first: Access, second: Access, paths: &'static [Path]) -> PairRule {
        PairRule {
            first,
            second,
            paths,
        }
    }

    &[
        rule(GenericWrite, GenericRead, ORDERED),
        rule(GenericWrite, GenericWrite, ORDERED),
        rule(GenericRead, GenericWrite, ORDERED),
        rule(GenericRead, CpAsyncWrite, ORDERED),
        rule(GenericWrite, CpAsyncWrite, ORDERED),
        rule(GenericWrite, BulkRead, FENCED),
        rule(GenericWrite, WgmmaRead, FENCED),
        rule(GenericWrite, Tcgen05Read, FENCED),
        rule(GenericWrite, BulkWrite, FENCED),
        rule(
            GenericRead,
            BulkWrite,
            &[&[(ProxyFence, Pedantic), (ReleaseAcquire, Error)]],
        ),
        rule(BulkWrite, GenericRead, LANDED),
        rule(BulkWrite, GenericWrite, LANDED),
        rule(BulkWrite, CpAsyncWrite, LANDED),
        rule(BulkWrite, BulkRead, LANDED),
        rule(BulkWrite, WgmmaRead, LANDED),
        rule(BulkWrite, Tcgen05Read, LANDED),
        rule(
            BulkWrite,
            BulkWrite,
            &[&[(MbarrierWait, Error), (ReadersReleased, Error)]],
        ),
        rule(CpAsyncWrite, GenericRead, CP_ASYNC_DONE),
        rule(CpAsyncWrite, GenericWrite, CP_ASYNC_DONE),
        rule(CpAsyncWrite, CpAsyncWrite, CP_ASYNC_DONE),
        rule(CpAsyncWrite, BulkRead, CP_ASYNC_FENCED),
        rule(CpAsyncWrite, WgmmaRead, CP_ASYNC_FENCED),
        rule(CpAsyncWrite, Tcgen05Read, CP_ASYNC_FENCED),
        rule(CpAsyncWrite, BulkWrite, CP_ASYNC_FENCED),
        rule(BulkRead, GenericWrite, STORE_READ),
        rule(BulkRead, CpAsyncWrite, STORE_READ),
        rule(BulkRead, BulkWrite, STORE_READ),
        rule(WgmmaRead, GenericWrite, WGMMA_READ),
        rule(WgmmaRead, CpAsyncWrite, WGMMA_READ),
        rule(WgmmaRead, BulkWrite, WGMMA_READ),
        rule(Tcgen05Read, GenericWrite, TCGEN05_READ),
        rule(Tcgen05Read, CpAsyncWrite, TCGEN05_READ),
        rule(Tcgen05Read, BulkWrite, TCGEN05_READ),
        rule(MbarrierInit, MbarrierLocalUse, &[&[(CtaBarrier, Error)]]),
        rule(
            MbarrierInit,
            MbarrierRemoteUse,
            &[&[(MbarrierInitFence, Error), (ClusterBarrier, Error)]],
        ),
        rule(TmemAddressWrite, GenericRead, ORDERED),
        rule(ClcResponseWrite, ClcResponseRead, LANDED),
        rule(
            ClcResponseRead,
            ClcResponseWrite,
            &[&[(ProxyFence, Error), (ReadersReleased, Error)]],
        ),
    ]
};

/// The rule for a pair of accesses; `None` if the order of the two does not matter.
pub fn between(first: Access, second: Access) -> Option<&'static PairRule> {
    RULES
        .iter()
        .find(|rule| rule.first == first && rule.second == second)
}

#[cfg(test)]
mod tests {
    use super::Access::*;
    use super::*;

    const DATA: [Access; 7] = [
        GenericRead,
        GenericWrite,
        CpAsyncWrite,
        BulkWrite,
        BulkRead,
        WgmmaRead,
        Tcgen05Read,
    ];

    fn writes(access: Access) -> bool {
        matches!(access, GenericWrite | CpAsyncWrite | BulkWrite)
    }

    fn in_async_proxy(access: Access) -> bool {
        matches!(access, BulkWrite | BulkRead | WgmmaRead | Tcgen05Read)
    }

    #[test]
    fn each_conflicting_pair_has_one_rule_and_no_other_pair_has_any() {
        for first in DATA {
            for second in DATA {
                let of_pair = |rule: &&PairRule| rule.first == first && rule.second == second;
                let conflict = writes(first) || writes(second);
                let count = RULES.iter().filter(of_pair).count();
                assert_eq!(count, usize::from(conflict), "{first:?} then {second:?}");
            }
        }
    }

    #[test]
    fn every_path_from_the_generic_to_the_async_proxy_has_a_fence() {
        for rule in RULES
            .iter()
            .filter(|r| DATA.contains(&r.first) && DATA.contains(&r.second))
        {
            let crosses = !in_async_proxy(rule.first) && in_async_proxy(rule.second);
            for path in rule.paths {
                let fenced = path.iter().any(|(step, _)| *step == Step::ProxyFence);
                assert_eq!(fenced, crosses, "{rule:?}");
            }
        }
    }

    #[test]
    fn only_the_fence_between_a_read_and_the_next_load_is_pedantic() {
        let pedantic = |rule: &&PairRule| {
            rule.paths
                .iter()
                .any(|path| path.iter().any(|(_, s)| *s == Severity::Pedantic))
        };
        let found: Vec<_> = RULES.iter().filter(pedantic).collect();
        assert_eq!(found, [between(GenericRead, BulkWrite).unwrap()]);
        assert!(between(WgmmaRead, GenericRead).is_none());
    }
}
