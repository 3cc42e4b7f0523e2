//! Field cases about fences, groups of copies and named barriers.

use super::{
    cases::{is_clean, of, ring},
    faults_of,
    texts::{kernel, read, slot, tile},
};
use async_pipeline::{Target, interpreter::Fault};
use ptx_model::access::{Access, Severity};

/// FN-1: four warps write a slot, one thread stores it with a bulk copy.
fn written_then_stored(fence: &str) -> String {
    kernel(
        "%tile = async_pipeline.buffer.alloc \"tile\" : !async_pipeline.buffer<1, 128xf32>
         %bytes = arith.constant 512 : i32
         %one = arith.constant 1.0 : f32",
        &[],
        &format!(
            "async_pipeline.role @all warps(4) {{
               %t = async_pipeline.role.thread_id : index
               %leads = arith.cmpi eq, %t, %c0 : index
               %s = async_pipeline.buffer.slot %tile[%i0] : !async_pipeline.buffer<1, 128xf32>
                 to memref<128xf32, #gpu.address_space<workgroup>>
               memref.store %one, %s[%t] : memref<128xf32, #gpu.address_space<workgroup>>
               {fence}
               async_pipeline.named_barrier.sync id(1) threads(128)
               scf.if %leads {{
                 async_pipeline.bulk.store %s[%c0] to %A[%c0], %bytes
                   : memref<128xf32, #gpu.address_space<workgroup>> to memref<1024xf32>
                 async_pipeline.bulk.commit_group
                 async_pipeline.bulk.wait_group pending(0) read
               }}
             }}"
        ),
    )
}

#[test]
fn fn1_shared_memory_written_by_threads_and_read_by_a_bulk_store() {
    is_clean(
        &written_then_stored("async_pipeline.fence.proxy_async"),
        Target::Sm90a,
    );
    let faults = faults_of(&written_then_stored(""), Target::Sm90a);
    for fault in &faults {
        let Fault::MissingProxyFence {
            memory,
            first,
            second,
        } = fault
        else {
            panic!("{fault:?}")
        };
        assert_eq!((first, second), (&Access::GenericWrite, &Access::BulkRead));
        assert_eq!(memory.name, "tile");
        assert_eq!(fault.severity(), Severity::Error);
    }
    assert!(!faults.is_empty());
}

#[test]
fn fn3_a_slot_read_by_threads_and_overwritten_by_a_bulk_load() {
    let uses: Vec<_> = (0..3).map(of(1)).collect();
    let text = ring(1, 1, &uses, &uses).replace("async_pipeline.fence.proxy_async\n", "");
    let faults = faults_of(&text, Target::Sm90a);
    for fault in &faults {
        let Fault::MissingProxyFence { first, second, .. } = fault else {
            panic!("{fault:?}")
        };
        assert_eq!((first, second), (&Access::GenericRead, &Access::BulkWrite));
        assert_eq!(fault.severity(), Severity::Pedantic);
    }
    assert!(!faults.is_empty());
}

#[test]
fn ac3_a_named_barrier_with_a_thread_count_that_does_not_fit() {
    let text = |threads: u32| {
        kernel(
            "",
            &[],
            &format!(
                "async_pipeline.role @load warps(4) {{
                   async_pipeline.named_barrier.arrive id(1) threads({threads})
                 }}
                 async_pipeline.role @store warps(1) {{
                   async_pipeline.named_barrier.sync id(1) threads({threads})
                 }}"
            ),
        )
    };
    is_clean(&text(160), Target::Sm80);
    let left = |fault: &Fault| {
        matches!(
            fault,
            Fault::NamedBarrierLeft {
                id: 1,
                arrived: 32,
                of: 64
            } | Fault::Deadlock { .. }
        )
    };
    assert!(faults_of(&text(64), Target::Sm80).iter().any(left));
}

#[test]
fn cp1_a_group_closed_behind_the_wait_for_it() {
    let stages = 3;
    let copy = |k: usize| {
        let name = format!("w{k}");
        slot(&name, k % stages, stages)
            + &format!(
                "async_pipeline.cp_async.copy %A[%c0] to %{name}[%c0] bytes(16)
                   : memref<1024xf32> to memref<16xf32, #gpu.address_space<workgroup>>\n"
            )
    };
    let (commit, awaits) = (
        "async_pipeline.cp_async.commit_group\n",
        "async_pipeline.cp_async.wait_group pending(1)\n",
    );
    let text = |tail: &str| {
        let mut body = copy(0) + commit + &copy(1) + commit + awaits;
        for k in 0..4 {
            body += &copy(k + 2);
            if tail.starts_with(commit) {
                body += &(read(&format!("r{k}"), k % stages, stages) + tail);
            } else {
                body += &(read(&format!("r{k}"), k % stages, stages) + awaits + commit);
            }
        }
        body += "async_pipeline.cp_async.wait_group pending(0)\n";
        kernel(
            &tile(stages),
            &[],
            &format!("async_pipeline.role @all warps(1) elected {{ {body} }}"),
        )
    };
    is_clean(&text(&format!("{commit}{awaits}")), Target::Sm80);
    let faults = faults_of(&text("late"), Target::Sm80);
    let early = |fault: &Fault| {
        matches!(fault, Fault::BeforeCopyDone { memory, copy: Access::CpAsyncWrite, access: Access::GenericRead }
            if memory.slot == Some(1))
    };
    assert!(faults.iter().any(early), "{faults:#?}");
}
