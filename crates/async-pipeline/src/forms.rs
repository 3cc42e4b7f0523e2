//! Which PTX instruction forms an op of the barrier level ends as.

use crate::verify::tensor::operand;
use async_pipeline_sys::ir::Op;
use ptx_model::{legality::Form, target::Target};

/// The forms of an op on a target; empty for ops that end as address arithmetic.
pub(crate) fn forms(op: Op, target: Target) -> Vec<Form> {
    let Some(name) = op.name().strip_prefix("async_pipeline.") else {
        return Vec::new();
    };
    let flag = |name: &str| op.attr(name).is_some();
    let count = op.attr("count").and_then(|count| count.int()).unwrap_or(1);
    match name {
        "role" if flag("elected") => vec![Form::ElectSync, Form::BarWarpSync],
        "mbarrier.init" => vec![Form::MbarrierInitSharedCta],
        "mbarrier.inval" => vec![Form::MbarrierInval],
        "mbarrier.arrive" => vec![match (flag("no_complete"), count) {
            (true, _) => Form::MbarrierArriveNoComplete,
            (false, 1) => Form::MbarrierArrive,
            (false, _) => Form::MbarrierArriveCount,
        }],
        "mbarrier.arrive_drop" => vec![match (flag("no_complete"), count) {
            (true, _) => Form::MbarrierArriveDropNoComplete,
            (false, 1) => Form::MbarrierArriveDrop,
            (false, _) => Form::MbarrierArriveDropCount,
        }],
        "mbarrier.arrive.expect_tx" => vec![Form::MbarrierArriveExpectTx],
        "mbarrier.expect_tx" => vec![Form::MbarrierExpectTx],
        "mbarrier.complete_tx" => vec![Form::MbarrierCompleteTx],
        "mbarrier.wait" if target.has_try_wait() => vec![Form::MbarrierTryWaitParity],
        "mbarrier.wait" => vec![Form::MbarrierTestWaitParity, Form::Nanosleep],
        "mbarrier.test_wait.parity" => vec![Form::MbarrierTestWaitParity],
        "mbarrier.try_wait.parity" => vec![Form::MbarrierTryWaitParity],
        "mbarrier.test_wait" => vec![Form::MbarrierTestWait],
        "mbarrier.try_wait" => vec![Form::MbarrierTryWait],
        "mbarrier.pending_count" => vec![Form::MbarrierPendingCount],
        "cp_async.copy" if op.attr("bytes").and_then(|bytes| bytes.int()) == Some(16) => {
            vec![Form::CpAsyncCg, Form::CpAsyncSrcSize]
        }
        "cp_async.copy" => vec![Form::CpAsyncCa, Form::CpAsyncSrcSize],
        "cp_async.mbarrier.arrive" if flag("noinc") => vec![Form::CpAsyncMbarrierArriveNoinc],
        "cp_async.mbarrier.arrive" => vec![Form::CpAsyncMbarrierArrive],
        "cp_async.commit_group" => vec![Form::CpAsyncCommitGroup],
        "cp_async.wait_group" => vec![Form::CpAsyncWaitGroup],
        "bulk.load" => vec![Form::CpAsyncBulkLoad],
        "bulk.store" => vec![Form::CpAsyncBulkStore],
        "bulk.commit_group" => vec![Form::CpAsyncBulkCommitGroup],
        "bulk.wait_group" if flag("read") => vec![Form::CpAsyncBulkWaitGroupRead],
        "bulk.wait_group" => vec![Form::CpAsyncBulkWaitGroup],
        "tma.load" | "tma.descriptor" => vec![Form::CpAsyncBulkTensorLoad],
        "tma.store" => vec![Form::CpAsyncBulkTensorStore],
        "fence.mbarrier_init" => vec![Form::FenceMbarrierInit],
        "fence.proxy_async" => vec![Form::FenceProxyAsyncSharedCta],
        "cta.barrier" => vec![Form::BarSync],
        "named_barrier.sync" => vec![Form::BarrierSync],
        "named_barrier.arrive" => vec![Form::BarrierArrive],
        "warp.sync" => vec![Form::BarWarpSync],
        "elect" if target.has_elect() => vec![Form::ElectSync],
        "ldmatrix" if flag("transpose") => vec![Form::LdmatrixTrans],
        "ldmatrix" => vec![Form::Ldmatrix],
        "mma.sync" => {
            let element = op.operand(1).ty().fields()[0].element();
            match element.to_string().as_str() {
                "bf16" => vec![Form::MmaSyncBf16],
                "f32" => vec![Form::MmaSyncTf32],
                _ => vec![Form::MmaSyncF16],
            }
        }
        // An address says nothing without the allocation it comes from.
        "tcgen05.alloc" | "tcgen05.address" => vec![Form::Tcgen05Alloc],
        "tcgen05.relinquish" => vec![Form::Tcgen05Relinquish],
        "tcgen05.dealloc" => vec![Form::Tcgen05Dealloc],
        "tcgen05.mma" => {
            let element = op.operand(2).ty().fields()[0].element();
            match operand(element).map(|operand| operand.kind) {
                Some("tf32") => vec![Form::Tcgen05MmaTf32],
                Some("f8f6f4") => vec![Form::Tcgen05MmaF8f6f4],
                _ => vec![Form::Tcgen05MmaF16],
            }
        }
        "tcgen05.commit" => vec![Form::Tcgen05Commit],
        "tcgen05.ld" => vec![Form::Tcgen05Ld],
        "tcgen05.st" => vec![Form::Tcgen05St],
        "tcgen05.wait_ld" => vec![Form::Tcgen05WaitLd],
        "tcgen05.wait_st" => vec![Form::Tcgen05WaitSt],
        "tcgen05.fence_before" => vec![Form::Tcgen05FenceBefore],
        "tcgen05.fence_after" => vec![Form::Tcgen05FenceAfter],
        _ => Vec::new(),
    }
}
