//! The rows. Each line pair reads
//!
//! ```text
//! Form: "name", oldest architecture, lowest PTX on sm_80 sm_90a sm_100a, "section of PTX ISA 9.1",
//!     "probe";
//! ```
//!
//! `-` stands for "never". A version equal to the target's own first one means no more than that.
//! What the probes may name is declared in [`super::probe`].

use super::{Row, version};

macro_rules! forms {
    ($($form:ident: $name:literal, $since:ident, $a:tt $b:tt $c:tt, $section:literal,
        $snippet:literal;)+) => {
        /// An instruction form: a mnemonic with the modifiers that decide where it exists.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Form {
            $(#[doc = concat!("`", $name, "`, PTX ISA 9.1, ", $section, ".")] $form,)+
        }

        /// The row of each form, in the order of [`Form`].
        pub static TABLE: &[Row] = &[$(Row {
            form: Form::$form,
            name: $name,
            snippet: $snippet,
            since: stringify!($since),
            lowest: [version!($a), version!($b), version!($c)],
            source: concat!("PTX ISA 9.1, ", $section),
        },)+];
    };
}

forms! {
    // mbarrier: life cycle
    MbarrierInit: "mbarrier.init", sm_80, 7.0 8.0 8.6, "9.7.13.15.9",
        "mbarrier.init.shared.b64 [mbar], 32;";
    MbarrierInitSharedCta: "mbarrier.init.shared::cta", sm_80, 7.8 8.0 8.6, "9.7.13.15.9",
        "mbarrier.init.shared::cta.b64 [mbar], 32;";
    MbarrierInval: "mbarrier.inval", sm_80, 7.0 8.0 8.6, "9.7.13.15.10",
        "mbarrier.inval.shared.b64 [mbar];";

    // mbarrier: arrive
    MbarrierArrive: "mbarrier.arrive", sm_80, 7.0 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.shared.b64 state, [mbar];";
    MbarrierArriveSink: "mbarrier.arrive with _", sm_80, 7.1 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.shared.b64 _, [mbar];";
    MbarrierArriveCount: "mbarrier.arrive with a count", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.shared.b64 state, [mbar], 2;";
    MbarrierArriveNoComplete: "mbarrier.arrive.noComplete", sm_80, 7.0 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.noComplete.shared.b64 state, [mbar], 2;";
    MbarrierArriveReleaseCta: "mbarrier.arrive.release.cta", sm_80, 8.0 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.release.cta.shared.b64 state, [mbar];";
    MbarrierArriveReleaseCluster: "mbarrier.arrive.release.cluster", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.release.cluster.shared::cta.b64 state, [mbar];";
    MbarrierArriveRelaxed: "mbarrier.arrive.relaxed", sm_90, - 8.6 8.6, "9.7.13.15.13",
        "mbarrier.arrive.relaxed.cluster.shared::cta.b64 state, [mbar];";
    MbarrierArriveRemote: "mbarrier.arrive.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [rmbar];";
    MbarrierArriveRemoteCount: "mbarrier.arrive.shared::cluster with a count", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [rmbar], 2;";
    MbarrierArriveExpectTx: "mbarrier.arrive.expect_tx", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.expect_tx.shared.b64 state, [mbar], 4096;";
    MbarrierArriveExpectTxRelaxed: "mbarrier.arrive.expect_tx.relaxed", sm_90, - 8.6 8.6, "9.7.13.15.13",
        "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 state, [mbar], 4096;";
    MbarrierArriveExpectTxRemote: "mbarrier.arrive.expect_tx.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.15.13",
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [rmbar], 4096;";
    MbarrierExpectTx: "mbarrier.expect_tx", sm_90, - 8.0 8.6, "9.7.13.15.11",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [mbar], 4096;";
    MbarrierExpectTxRemote: "mbarrier.expect_tx.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.15.11",
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [rmbar], 4096;";
    MbarrierCompleteTx: "mbarrier.complete_tx", sm_90, - 8.0 8.6, "9.7.13.15.12",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [mbar], 4096;";
    MbarrierCompleteTxRemote: "mbarrier.complete_tx.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.15.12",
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [rmbar], 4096;";
    MbarrierArriveDrop: "mbarrier.arrive_drop", sm_80, 7.0 8.0 8.6, "9.7.13.15.14",
        "mbarrier.arrive_drop.shared.b64 state, [mbar];";
    MbarrierArriveDropNoComplete: "mbarrier.arrive_drop.noComplete", sm_80, 7.0 8.0 8.6, "9.7.13.15.14",
        "mbarrier.arrive_drop.noComplete.shared.b64 state, [mbar], 2;";
    MbarrierArriveDropCount: "mbarrier.arrive_drop with a count", sm_90, - 8.0 8.6, "9.7.13.15.14",
        "mbarrier.arrive_drop.shared.b64 state, [mbar], 2;";
    MbarrierArriveDropExpectTx: "mbarrier.arrive_drop.expect_tx", sm_90, - 8.0 8.6, "9.7.13.15.14",
        "mbarrier.arrive_drop.expect_tx.shared.b64 state, [mbar], 4096;";
    MbarrierArriveDropRemote: "mbarrier.arrive_drop.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.15.14",
        "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [rmbar];";
    CpAsyncMbarrierArrive: "cp.async.mbarrier.arrive", sm_80, 7.0 8.0 8.6, "9.7.13.15.15",
        "cp.async.mbarrier.arrive.shared.b64 [mbar];";
    CpAsyncMbarrierArriveNoinc: "cp.async.mbarrier.arrive.noinc", sm_80, 7.0 8.0 8.6, "9.7.13.15.15",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [mbar];";

    // mbarrier: wait and query
    MbarrierTestWait: "mbarrier.test_wait", sm_80, 7.0 8.0 8.6, "9.7.13.15.16",
        "mbarrier.test_wait.shared.b64 p, [mbar], state;";
    MbarrierTestWaitParity: "mbarrier.test_wait.parity", sm_80, 7.1 8.0 8.6, "9.7.13.15.16",
        "mbarrier.test_wait.parity.shared.b64 p, [mbar], 1;";
    MbarrierTestWaitParityAcquireCta: "mbarrier.test_wait.parity.acquire.cta", sm_80, 8.0 8.0 8.6, "9.7.13.15.16",
        "mbarrier.test_wait.parity.acquire.cta.shared.b64 p, [mbar], 1;";
    MbarrierTestWaitParityAcquireCluster: "mbarrier.test_wait.parity.acquire.cluster", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.test_wait.parity.acquire.cluster.shared.b64 p, [mbar], 1;";
    MbarrierTestWaitRelaxed: "mbarrier.test_wait.relaxed", sm_90, - 8.6 8.6, "9.7.13.15.16",
        "mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 p, [mbar], 1;";
    MbarrierTryWait: "mbarrier.try_wait", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.shared.b64 p, [mbar], state;";
    MbarrierTryWaitParity: "mbarrier.try_wait.parity", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.parity.shared.b64 p, [mbar], 1;";
    MbarrierTryWaitHint: "mbarrier.try_wait with a time hint", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.shared.b64 p, [mbar], state, 1000;";
    MbarrierTryWaitParityHint: "mbarrier.try_wait.parity with a time hint", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.parity.shared.b64 p, [mbar], 1, 1000;";
    MbarrierTryWaitParityAcquireCta: "mbarrier.try_wait.parity.acquire.cta", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [mbar], 1;";
    MbarrierTryWaitParityAcquireCluster: "mbarrier.try_wait.parity.acquire.cluster", sm_90, - 8.0 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [mbar], 1;";
    MbarrierTryWaitRelaxed: "mbarrier.try_wait.relaxed", sm_90, - 8.6 8.6, "9.7.13.15.16",
        "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [mbar], 1;";
    MbarrierPendingCount: "mbarrier.pending_count", sm_80, 7.0 8.0 8.6, "9.7.13.15.17",
        "mbarrier.arrive.noComplete.shared.b64 state, [mbar], 1; mbarrier.pending_count.b64 n, state;";

    // CTA, warp and cluster barriers
    BarSync: "bar.sync", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "bar.sync 0;";
    BarSyncNamed: "bar.sync with a count", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "bar.sync 15, 128;";
    BarArrive: "bar.arrive", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "bar.arrive 1, 128;";
    BarrierSync: "barrier.sync", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "barrier.sync 1, 128;";
    BarrierSyncAligned: "barrier.sync.aligned", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "barrier.sync.aligned 1, 128;";
    BarrierArrive: "barrier.arrive", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "barrier.arrive 1, 128;";
    BarrierCtaSync: "barrier.cta.sync", sm_80, 7.8 8.0 8.6, "9.7.13.1",
        "barrier.cta.sync 1, 128;";
    BarrierRedPopc: "barrier.red.popc", sm_80, 7.0 8.0 8.6, "9.7.13.1",
        "barrier.red.popc.u32 n, 1, 128, p;";
    BarWarpSync: "bar.warp.sync", sm_80, 7.0 8.0 8.6, "9.7.13.2",
        "bar.warp.sync 0xffffffff;";
    BarrierClusterArrive: "barrier.cluster.arrive", sm_90, - 8.0 8.6, "9.7.13.3",
        "barrier.cluster.arrive;";
    BarrierClusterArriveRelaxed: "barrier.cluster.arrive.relaxed", sm_90, - 8.0 8.6, "9.7.13.3",
        "barrier.cluster.arrive.relaxed;";
    BarrierClusterArriveRelease: "barrier.cluster.arrive.release", sm_90, - 8.0 8.6, "9.7.13.3",
        "barrier.cluster.arrive.release.aligned;";
    BarrierClusterWait: "barrier.cluster.wait", sm_90, - 8.0 8.6, "9.7.13.3",
        "barrier.cluster.wait;";
    BarrierClusterWaitAcquire: "barrier.cluster.wait.acquire", sm_90, - 8.0 8.6, "9.7.13.3",
        "barrier.cluster.wait.acquire.aligned;";
    ElectSync: "elect.sync", sm_90, - 8.0 8.6, "9.7.13.14",
        "elect.sync n|p, 0xffffffff;";
    Nanosleep: "nanosleep", sm_80, 7.0 8.0 8.6, "9.7.19.2",
        "nanosleep.u32 20;";
    Mapa: "mapa", sm_90, - 8.0 8.6, "9.7.9.23",
        "mapa.shared::cluster.u32 rmbar, mbar, 0;";
    Getctarank: "getctarank", sm_90, - 8.0 8.6, "9.7.9.24",
        "getctarank.shared::cluster.u32 n, rmbar;";

    // fences
    FenceAcqRelCta: "fence.acq_rel.cta", sm_80, 7.0 8.0 8.6, "9.7.13.4",
        "fence.acq_rel.cta;";
    FenceAcqRelCluster: "fence.acq_rel.cluster", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.acq_rel.cluster;";
    FenceAcqRelGpu: "fence.acq_rel.gpu", sm_80, 7.0 8.0 8.6, "9.7.13.4",
        "fence.acq_rel.gpu;";
    FenceProxyAsync: "fence.proxy.async", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.proxy.async;";
    FenceProxyAsyncGlobal: "fence.proxy.async.global", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.proxy.async.global;";
    FenceProxyAsyncSharedCta: "fence.proxy.async.shared::cta", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.proxy.async.shared::cta;";
    FenceProxyAsyncSharedCluster: "fence.proxy.async.shared::cluster", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.proxy.async.shared::cluster;";
    FenceMbarrierInit: "fence.mbarrier_init", sm_90, - 8.0 8.6, "9.7.13.4",
        "fence.mbarrier_init.release.cluster;";
    FenceProxyAsyncAcquireRestrict: "fence.proxy.async::generic.acquire.sync_restrict", sm_90, - 8.6 8.6, "9.7.13.4",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;";
    FenceProxyAsyncReleaseRestrict: "fence.proxy.async::generic.release.sync_restrict", sm_90, - 8.6 8.6, "9.7.13.4",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;";
    FenceAcquireRestrict: "fence.acquire.sync_restrict", sm_90, - 8.6 8.6, "9.7.13.4",
        "fence.acquire.sync_restrict::shared::cluster.cluster;";
    FenceReleaseRestrict: "fence.release.sync_restrict", sm_90, - 8.6 8.6, "9.7.13.4",
        "fence.release.sync_restrict::shared::cta.cluster;";
    FenceProxyTensormapAcquire: "fence.proxy.tensormap::generic.acquire", sm_90, - 8.3 8.6, "9.7.13.4",
        "fence.proxy.tensormap::generic.acquire.gpu [tmap], 128;";
    FenceProxyTensormapRelease: "fence.proxy.tensormap::generic.release", sm_90, - 8.3 8.6, "9.7.13.4",
        "fence.proxy.tensormap::generic.release.gpu;";

    // cp.async
    CpAsyncCa: "cp.async.ca", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.1",
        "cp.async.ca.shared.global [smem], [gptr], 4;";
    CpAsyncCg: "cp.async.cg", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.1",
        "cp.async.cg.shared.global [smem], [gptr], 16;";
    CpAsyncSrcSize: "cp.async with a source size", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.1",
        "cp.async.cg.shared.global [smem], [gptr], 16, n;";
    CpAsyncIgnoreSrc: "cp.async with an ignore-src predicate", sm_80, 7.5 8.0 8.6, "9.7.9.25.3.1",
        "cp.async.cg.shared.global [smem], [gptr], 16, p;";
    CpAsyncCacheHint: "cp.async with .L2::cache_hint", sm_80, 7.4 8.0 8.6, "9.7.9.25.3.1",
        "cp.async.cg.shared.global.L2::cache_hint [smem], [gptr], 16, state;";
    CpAsyncCommitGroup: "cp.async.commit_group", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.2",
        "cp.async.commit_group;";
    CpAsyncWaitGroup: "cp.async.wait_group", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.3",
        "cp.async.wait_group 2;";
    CpAsyncWaitAll: "cp.async.wait_all", sm_80, 7.0 8.0 8.6, "9.7.9.25.3.3",
        "cp.async.wait_all;";

    // cp.async.bulk
    CpAsyncBulkLoad: "cp.async.bulk.shared::cluster.global", sm_90, - 8.0 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [gptr], 128, [mbar];";
    CpAsyncBulkLoadCta: "cp.async.bulk.shared::cta.global", sm_90, - 8.6 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [gptr], 128, [mbar];";
    CpAsyncBulkLoadMulticast: "cp.async.bulk.shared::cluster.global with .multicast::cluster", sm_90, - 8.0 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [gptr], 128, [mbar], mask;";
    CpAsyncBulkSharedToCluster: "cp.async.bulk.shared::cluster.shared::cta", sm_90, - 8.0 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [rsmem], [smem], 128, [rmbar];";
    CpAsyncBulkStore: "cp.async.bulk.global.shared::cta", sm_90, - 8.0 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.global.shared::cta.bulk_group [gptr], [smem], 128;";
    CpAsyncBulkStoreByteMask: "cp.async.bulk.global.shared::cta with .cp_mask", sm_100, - - 8.6, "9.7.9.25.4.1",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [gptr], [smem], 128, mask;";
    CpAsyncBulkPrefetch: "cp.async.bulk.prefetch.L2", sm_90, - 8.0 8.6, "9.7.9.25.4.3",
        "cp.async.bulk.prefetch.L2.global [gptr], 128;";
    CpReduceAsyncBulkToCluster: "cp.reduce.async.bulk.shared::cluster.shared::cta", sm_90, - 8.0 8.6, "9.7.9.25.4.2",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [rsmem], [smem], 128, [rmbar];";
    CpReduceAsyncBulkToGlobal: "cp.reduce.async.bulk.global.shared::cta", sm_90, - 8.0 8.6, "9.7.9.25.4.2",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [gptr], [smem], 128;";
    CpReduceAsyncBulkNoftz: "cp.reduce.async.bulk.global.shared::cta.add.noftz", sm_90, - 8.0 8.6, "9.7.9.25.4.2",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [gptr], [smem], 128;";
    CpAsyncBulkCommitGroup: "cp.async.bulk.commit_group", sm_90, - 8.0 8.6, "9.7.9.25.6.1",
        "cp.async.bulk.commit_group;";
    CpAsyncBulkWaitGroup: "cp.async.bulk.wait_group", sm_90, - 8.0 8.6, "9.7.9.25.6.2",
        "cp.async.bulk.wait_group 0;";
    CpAsyncBulkWaitGroupRead: "cp.async.bulk.wait_group.read", sm_90, - 8.0 8.6, "9.7.9.25.6.2",
        "cp.async.bulk.wait_group.read 1;";

    // cp.async.bulk.tensor
    CpAsyncBulkTensorLoad: "cp.async.bulk.tensor.shared::cluster.global", sm_90, - 8.0 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1}], [mbar];";
    CpAsyncBulkTensorLoadCta: "cp.async.bulk.tensor.shared::cta.global", sm_90, - 8.6 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1}], [mbar];";
    CpAsyncBulkTensorLoadMulticast: "cp.async.bulk.tensor.shared::cluster.global with .multicast::cluster", sm_90, - 8.0 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [tmap, {c0, c1}], [mbar], mask;";
    CpAsyncBulkTensorLoadIm2col: "cp.async.bulk.tensor.shared::cluster.global.im2col", sm_90, - 8.0 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1, c2}], [mbar], {mask};";
    CpAsyncBulkTensorLoadIm2colW: "cp.async.bulk.tensor.shared::cluster.global.im2col::w", sm_100a, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1, c2}], [mbar], {mask, mask};";
    CpAsyncBulkTensorLoadGather4: "cp.async.bulk.tensor.shared::cluster.global.tile::gather4", sm_100a, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1, c1, c1, c1}], [mbar];";
    CpAsyncBulkTensorLoadIm2colW128: "cp.async.bulk.tensor.shared::cluster.global.im2col::w::128", sm_100a, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1, c2}], [mbar], {mask, mask};";
    CpAsyncBulkTensorLoadGather4Cta: "cp.async.bulk.tensor.shared::cta.global.tile::gather4", sm_100, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [smem], [tmap, {c0, c1, c1, c1, c1}], [mbar];";
    CpAsyncBulkTensorLoadCacheHint: "cp.async.bulk.tensor.shared::cluster.global with .L2::cache_hint", sm_90, - 8.0 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem], [tmap, {c0, c1}], [mbar], state;";
    CpAsyncBulkTensorLoadCtaGroup2: "cp.async.bulk.tensor.shared::cluster.global.cta_group::2", sm_100a, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [smem], [tmap, {c0, c1}], [mbar];";
    CpAsyncBulkTensorStore: "cp.async.bulk.tensor.global.shared::cta", sm_90, - 8.0 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [tmap, {c0, c1}], [smem];";
    CpAsyncBulkTensorStoreScatter4: "cp.async.bulk.tensor.global.shared::cta.tile::scatter4", sm_100a, - - 8.6, "9.7.9.25.5.2",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [tmap, {c0, c1, c1, c1, c1}], [smem];";
    CpReduceAsyncBulkTensor: "cp.reduce.async.bulk.tensor", sm_90, - 8.0 8.6, "9.7.9.25.5.3",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [tmap, {c0, c1}], [smem];";
    CpAsyncBulkPrefetchTensor: "cp.async.bulk.prefetch.tensor", sm_90, - 8.0 8.6, "9.7.9.25.5.4",
        "cp.async.bulk.prefetch.tensor.2d.L2.global [tmap, {c0, c1}];";
    PrefetchTensormap: "prefetch.tensormap", sm_90, - 8.0 8.6, "9.7.9.15",
        "prefetch.tensormap [tmap];";
    TensormapReplace: "tensormap.replace", sm_90a, - 8.3 8.6, "9.7.9.28",
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [smem], gptr;";
    TensormapReplaceSwizzleAtomicity: "tensormap.replace.tile.swizzle_atomicity", sm_100a, - - 8.6, "9.7.9.28",
        "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [smem], 1;";
    TensormapCpFenceproxy: "tensormap.cp_fenceproxy", sm_90, - 8.3 8.6, "9.7.13.16",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [gptr], [smem], 128;";

    // asynchronous stores and reductions of registers
    StAsync: "st.async", sm_90, - 8.1 8.6, "9.7.9.12",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [rsmem], n, [rmbar];";
    RedAsync: "red.async", sm_90, - 8.1 8.6, "9.7.13.7",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [rsmem], n, [rmbar];";

    // synchronous matrix instructions, what sm_80 has instead of wgmma and tcgen05
    Ldmatrix: "ldmatrix", sm_80, 7.0 8.0 8.6, "9.7.14.5.15",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {v0, v1, v2, v3}, [smem];";
    LdmatrixTrans: "ldmatrix.trans", sm_80, 7.0 8.0 8.6, "9.7.14.5.15",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {v0, v1, v2, v3}, [smem];";
    Stmatrix: "stmatrix", sm_90, - 8.0 8.6, "9.7.14.5.16",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [smem], {v0, v1, v2, v3};";
    MmaSyncF16: "mma.sync.m16n8k16 f16", sm_80, 7.0 8.0 8.6, "9.7.14.5.14",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {v0, v1, v2, v3}, {v4, v5}, {f0, f1, f2, f3};";
    MmaSyncBf16: "mma.sync.m16n8k16 bf16", sm_80, 7.0 8.0 8.6, "9.7.14.5.14",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {v0, v1, v2, v3}, {v4, v5}, {f0, f1, f2, f3};";
    MmaSyncTf32: "mma.sync.m16n8k8 tf32", sm_80, 7.0 8.0 8.6, "9.7.14.5.14",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {f0, f1, f2, f3}, {v0, v1, v2, v3}, {v4, v5}, {f0, f1, f2, f3};";

    // wgmma
    WgmmaFence: "wgmma.fence", sm_90a, - 8.0 -, "9.7.15.7.1",
        "wgmma.fence.sync.aligned;";
    WgmmaMmaAsync: "wgmma.mma_async", sm_90a, - 8.0 -, "9.7.15.5.2",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, adesc, bdesc, p, 1, 1, 0, 0;";
    WgmmaCommitGroup: "wgmma.commit_group", sm_90a, - 8.0 -, "9.7.15.7.2",
        "wgmma.commit_group.sync.aligned;";
    WgmmaWaitGroup: "wgmma.wait_group", sm_90a, - 8.0 -, "9.7.15.7.3",
        "wgmma.wait_group.sync.aligned 0;";

    // registers, dependent launch, cluster launch control
    Setmaxnreg: "setmaxnreg", sm_90a, - 8.0 8.6, "9.7.19.5",
        "setmaxnreg.inc.sync.aligned.u32 128;";
    GriddepcontrolLaunchDependents: "griddepcontrol.launch_dependents", sm_90, - 8.0 8.6, "9.7.13.13",
        "griddepcontrol.launch_dependents;";
    GriddepcontrolWait: "griddepcontrol.wait", sm_90, - 8.0 8.6, "9.7.13.13",
        "griddepcontrol.wait;";
    ClusterlaunchcontrolTryCancel: "clusterlaunchcontrol.try_cancel", sm_100, - - 8.6, "9.7.13.17",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [smem], [mbar];";
    ClusterlaunchcontrolTryCancelMulticast: "clusterlaunchcontrol.try_cancel.multicast", sm_100a, - - 8.6, "9.7.13.17",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [smem], [mbar];";
    ClusterlaunchcontrolQueryIsCanceled: "clusterlaunchcontrol.query_cancel.is_canceled", sm_100, - - 8.6, "9.7.13.18",
        "{ .reg .b128 r; ld.shared.b128 r, [smem]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; }";
    ClusterlaunchcontrolQueryFirstCtaid: "clusterlaunchcontrol.query_cancel.get_first_ctaid", sm_100, - - 8.6, "9.7.13.18",
        "{ .reg .b128 r; ld.shared.b128 r, [smem]; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {v0, v1, v2, _}, r; }";

    // tcgen05
    Tcgen05Alloc: "tcgen05.alloc", sm_100a, - - 8.6, "9.7.16.7.1",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 32;";
    Tcgen05Dealloc: "tcgen05.dealloc", sm_100a, - - 8.6, "9.7.16.7.1",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, 32;";
    Tcgen05Relinquish: "tcgen05.relinquish_alloc_permit", sm_100a, - - 8.6, "9.7.16.7.1",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    Tcgen05Ld: "tcgen05.ld", sm_100a, - - 8.6, "9.7.16.8.3",
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {v0, v1, v2, v3}, [taddr];";
    Tcgen05LdRed: "tcgen05.ld.red", sm_103a, - - -, "9.7.16.8.3",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.f32.min {f0, f1}, f2, [taddr];";
    Tcgen05St: "tcgen05.st", sm_100a, - - 8.6, "9.7.16.8.4",
        "tcgen05.st.sync.aligned.32x32b.x4.b32 [taddr], {v0, v1, v2, v3};";
    Tcgen05WaitLd: "tcgen05.wait::ld", sm_100a, - - 8.6, "9.7.16.8.5",
        "tcgen05.wait::ld.sync.aligned;";
    Tcgen05WaitSt: "tcgen05.wait::st", sm_100a, - - 8.6, "9.7.16.8.5",
        "tcgen05.wait::st.sync.aligned;";
    Tcgen05Cp: "tcgen05.cp", sm_100a, - - 8.6, "9.7.16.9.2",
        "tcgen05.cp.cta_group::1.128x256b [taddr], adesc;";
    Tcgen05Shift: "tcgen05.shift", sm_100a, - - 8.6, "9.7.16.9.3",
        "tcgen05.shift.cta_group::1.down [taddr];";
    Tcgen05MmaF16: "tcgen05.mma.kind::f16", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::f16 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaF16CtaGroup2: "tcgen05.mma.cta_group::2.kind::f16", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::2.kind::f16 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaF16TmemA: "tcgen05.mma.kind::f16 with A in tensor memory", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::f16 [taddr], [taddr], bdesc, idesc, p;";
    Tcgen05MmaScaleInput: "tcgen05.mma with scale-input-d", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::f16 [taddr], adesc, bdesc, idesc, p, 3;";
    Tcgen05MmaTf32: "tcgen05.mma.kind::tf32", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::tf32 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaF8f6f4: "tcgen05.mma.kind::f8f6f4", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::f8f6f4 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaI8: "tcgen05.mma.kind::i8", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::i8 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaMxf8f6f4: "tcgen05.mma.kind::mxf8f6f4.block_scale", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaMxf4: "tcgen05.mma.kind::mxf4.block_scale", sm_100a, - - 8.6, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaMxf4nvf4Scale2x: "tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::2X", sm_100a, - - 8.7, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaMxf4nvf4Scale4x: "tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X", sm_100a, - - 8.7, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaBlock16: "tcgen05.mma.kind::mxf4nvf4.block_scale.block16", sm_100a, - - 8.8, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaBlock32: "tcgen05.mma.kind::mxf8f6f4.block_scale.block32", sm_100a, - - 8.8, "9.7.16.10.9.1",
        "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [taddr], adesc, bdesc, idesc, [taddr], [taddr], p;";
    Tcgen05MmaSp: "tcgen05.mma.sp", sm_100a, - - 8.6, "9.7.16.10.9.2",
        "tcgen05.mma.sp.cta_group::1.kind::f16 [taddr], adesc, bdesc, [taddr], idesc, p;";
    Tcgen05MmaWs: "tcgen05.mma.ws", sm_100a, - - 8.6, "9.7.16.10.9.3",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [taddr], adesc, bdesc, idesc, p;";
    Tcgen05MmaWsSp: "tcgen05.mma.ws.sp", sm_100a, - - 8.6, "9.7.16.10.9.4",
        "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [taddr], adesc, bdesc, [taddr], idesc, p;";
    Tcgen05FenceBefore: "tcgen05.fence::before_thread_sync", sm_100a, - - 8.6, "9.7.16.11.1",
        "tcgen05.fence::before_thread_sync;";
    Tcgen05FenceAfter: "tcgen05.fence::after_thread_sync", sm_100a, - - 8.6, "9.7.16.11.1",
        "tcgen05.fence::after_thread_sync;";
    Tcgen05Commit: "tcgen05.commit", sm_100a, - - 8.6, "9.7.16.12.1",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mbar];";
    Tcgen05CommitMulticast: "tcgen05.commit with .multicast::cluster", sm_100a, - - 8.6, "9.7.16.12.1",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [mbar], mask;";
}
