//! One fault each, and forms that look odd and are right.

use super::{
    faults_of,
    texts::{SLOT, arrive, at, bulk_load, expect, kernel, read, slot, tile, wait},
};
use async_pipeline::{
    Target,
    interpreter::{ComputeError, Fault},
};
use ptx_model::{access::Access, mbarrier::MbarrierError};

/// Faults of a kernel with one elected role and a barrier `full` of one stage.
fn of_one_thread(body: &str) -> Vec<Fault> {
    let role = format!("async_pipeline.role @all warps(1) elected {{ {body} }}");
    faults_of(&kernel(&tile(2), &[("full", 1, 1)], &role), Target::Sm90a)
}

/// Asserts that every fault is the expected one, and that there is one.
#[track_caller]
fn only(faults: &[Fault], expected: impl Fn(&Fault) -> bool) {
    assert!(!faults.is_empty(), "nothing was found");
    assert!(faults.iter().all(expected), "{faults:#?}");
}

#[test]
fn accesses_outside_their_memory() {
    let load = of_one_thread(&format!(
        "{} %x = memref.load %s[%c16] : {SLOT}",
        slot("s", 0, 2)
    ));
    only(&load, |f| {
        matches!(
            f,
            Fault::OutOfBounds {
                dimension: 0,
                index: 16,
                extent: 16
            }
        )
    });
    let store = of_one_thread(
        "%v = arith.constant dense<0.0> : vector<4xf32>
         %far = arith.constant 1021 : index
         vector.store %v, %A[%far] : memref<1024xf32>, vector<4xf32>",
    );
    only(&store, |f| {
        matches!(
            f,
            Fault::OutOfBounds {
                index: 1024,
                extent: 1024,
                ..
            }
        )
    });
    let part = of_one_thread(
        "%n = arith.constant 2000 : index
         %r = memref.reinterpret_cast %A to offset: [0], sizes: [%n], strides: [1]
           : memref<1024xf32> to memref<?xf32, strided<[1]>>
         %last = arith.constant 1999 : index
         %x = memref.load %r[%last] : memref<?xf32, strided<[1]>>",
    );
    only(&part, |f| {
        matches!(
            f,
            Fault::OutsideMemory {
                bytes: 4,
                size: 4096,
                ..
            }
        )
    });
    // Computed, since a constant stage is checked when the text is read.
    let no_stage = of_one_thread(&format!(
        "%two = arith.addi %i1, %i1 : i32
         %s = async_pipeline.buffer.slot %tile[%two] : !async_pipeline.buffer<2, 16xf32> to {SLOT}"
    ));
    only(&no_stage, |f| {
        matches!(
            f,
            Fault::NoSuchStage {
                stage: 2,
                stages: 2,
                ..
            }
        )
    });
}

#[test]
fn copies_that_their_instructions_do_not_take() {
    let misaligned = of_one_thread(&format!(
        "{} async_pipeline.cp_async.copy %A[%c1] to %s[%c0] bytes(16) : memref<1024xf32> to {SLOT}
         async_pipeline.cp_async.commit_group
         async_pipeline.cp_async.wait_group pending(0)",
        slot("s", 0, 2)
    ));
    only(&misaligned, |f| {
        matches!(f, Fault::Misaligned { alignment: 16, .. })
    });
    let odd = of_one_thread(&format!(
        "{} %five = arith.constant 5 : i32
         %odd = arith.muli %five, %i4 : i32
         async_pipeline.bulk.store %s[%c0] to %A[%c0], %odd : {SLOT} to memref<1024xf32>",
        slot("s", 0, 2)
    ));
    only(&odd, |f| matches!(f, Fault::BadByteCount { bytes: 20, .. }));
}

#[test]
fn shared_memory_that_nobody_has_written() {
    let faults = of_one_thread(&read("r", 1, 2));
    only(
        &faults,
        |f| matches!(f, Fault::Uninitialised { memory } if memory.slot == Some(1)),
    );
}

#[test]
fn copies_that_nobody_waits_for() {
    let load = of_one_thread(&format!(
        "{}{}",
        expect(0, 1),
        bulk_load("l", 0, 2).replace("mbarrier<2>", "mbarrier<1>")
    ));
    only(&load, |f| {
        matches!(
            f,
            Fault::CopyInFlight {
                copy: Access::BulkWrite
            }
        )
    });
    let ordinary = of_one_thread(&format!(
        "{} async_pipeline.cp_async.copy %A[%c0] to %s[%c0] bytes(16) : memref<1024xf32> to {SLOT}
         async_pipeline.cp_async.commit_group",
        slot("s", 0, 2)
    ));
    only(&ordinary, |f| {
        matches!(
            f,
            Fault::CopyInFlight {
                copy: Access::CpAsyncWrite
            }
        )
    });
    let store = of_one_thread(&format!(
        "{} %v = arith.constant dense<1.0> : vector<16xf32>
         vector.store %v, %s[%c0] : {SLOT}, vector<16xf32>
         async_pipeline.fence.proxy_async
         async_pipeline.bulk.store %s[%c0] to %A[%c0], %bytes : {SLOT} to memref<1024xf32>
         async_pipeline.bulk.commit_group",
        slot("s", 0, 2)
    ));
    only(&store, |f| {
        matches!(
            f,
            Fault::CopyInFlight {
                copy: Access::BulkRead
            }
        )
    });
}

#[test]
fn more_arrivals_than_a_phase_wants() {
    let faults = of_one_thread(
        "async_pipeline.mbarrier.arrive %full[%i0] count(3) : !async_pipeline.mbarrier<1>",
    );
    only(&faults, |f| {
        matches!(
            f,
            Fault::Misuse {
                error: MbarrierError::OverArrival {
                    count: 3,
                    pending: 1,
                    ..
                },
                ..
            }
        )
    });
}

#[test]
fn threads_of_one_role_that_share_a_slot() {
    let race = |between: &str| {
        let body = format!(
            "%t = async_pipeline.role.thread_id : index
             %one = arith.constant 1.0 : f32
             %leads = arith.cmpi eq, %t, %c0 : index
             {}
             scf.if %leads {{ memref.store %one, %s[%c0] : {SLOT} }}
             {between}
             %x = memref.load %s[%c0] : {SLOT}",
            slot("s", 0, 1)
        );
        let role = format!("async_pipeline.role @all warps(1) {{ {body} }}");
        faults_of(&kernel(&tile(1), &[], &role), Target::Sm80)
    };
    assert!(race("async_pipeline.warp.sync").is_empty());
    only(&race(""), |f| {
        matches!(f, Fault::Race { .. } | Fault::Uninitialised { .. })
    });
}

#[test]
fn a_slot_that_is_handed_over_without_being_filled_again() {
    let (mut producer, mut consumer) = (String::new(), String::new());
    for k in 0..4 {
        producer += &wait("empty", 0, k & 1 ^ 1, 1);
        if k == 2 {
            producer += &arrive("full", 0, 1);
        } else {
            producer += &(expect(0, 1) + &bulk_load(&format!("l{k}"), 0, 1));
        }
        consumer +=
            &(wait("full", 0, k & 1, 1) + &read(&format!("r{k}"), 0, 1) + &arrive("empty", 0, 1));
    }
    let roles = format!(
        "async_pipeline.role @produce warps(1) elected {{ {producer} }}
         async_pipeline.role @consume warps(1) elected {{ {consumer} }}"
    );
    let faults = faults_of(
        &kernel(&tile(1), &[("full", 1, 1), ("empty", 1, 1)], &roles),
        Target::Sm90a,
    );
    only(&faults, |f| {
        matches!(
            f,
            Fault::StaleContents {
                holds: 1,
                waited: 2,
                ..
            }
        )
    });
}

#[test]
fn a_named_barrier_that_too_few_reach() {
    let faults = of_one_thread("async_pipeline.named_barrier.sync id(3) threads(64)");
    only(
        &faults,
        |f| matches!(f, Fault::Deadlock { waiting } if waiting[0].threads == 1),
    );
}

#[test]
fn computations_without_a_value() {
    let division = of_one_thread("%x = arith.divui %c1, %c0 : index");
    only(&division, |f| {
        *f == Fault::Computation(ComputeError::Division)
    });
    let step = of_one_thread("scf.for %i = %c0 to %c4 step %c0 { }");
    only(&step, |f| matches!(f, Fault::BadStep { step: 0 }));
    let position = of_one_thread(
        "%v = arith.constant dense<0.0> : vector<4xf32>
         %x = vector.extract %v[%c5] : f32 from vector<4xf32>",
    );
    only(&position, |f| {
        *f == Fault::Computation(ComputeError::Position(5))
    });
}

#[test]
fn a_barrier_used_before_its_initialisation_is_known() {
    let text = kernel("", &[("full", 1, 2)], &{
        let each = arrive("full", 0, 1);
        format!(
            "async_pipeline.role @a warps(1) elected {{ {each} }}
             async_pipeline.role @b warps(1) elected {{ {each} }}"
        )
    })
    .replacen("async_pipeline.cta.barrier", "", 1);
    only(&faults_of(&text, Target::Sm80), |f| {
        matches!(
            f,
            Fault::UnorderedInit { .. }
                | Fault::Misuse {
                    error: MbarrierError::Uninitialised,
                    ..
                }
                | Fault::UnfinishedPhase { .. }
        )
    });
}

#[test]
fn polls_do_not_hang_and_do_not_spin_for_ever() {
    let poll = |op: &str, operand: &str| {
        format!(
            "scf.while : () -> () {{
               %done = async_pipeline.mbarrier.{op} {}, {operand} : !async_pipeline.mbarrier<1>
               %true = arith.constant true
               %again = arith.xori %done, %true : i1
               scf.condition(%again)
             }} do {{ scf.yield }}",
            at("full", 0)
        )
    };
    let arrives = format!(
        "%state = async_pipeline.mbarrier.arrive {} : !async_pipeline.mbarrier<1> -> i64",
        at("full", 0)
    );
    for op in ["test_wait.parity", "try_wait.parity"] {
        assert!(of_one_thread(&(arrives.clone() + "\n" + &poll(op, "%i0"))).is_empty());
        only(&of_one_thread(&poll(op, "%i0")), |f| {
            matches!(f, Fault::Deadlock { .. })
        });
    }
    for op in ["test_wait", "try_wait"] {
        assert!(of_one_thread(&(arrives.clone() + "\n" + &poll(op, "%state"))).is_empty());
    }
    let foreign = poll("test_wait", "%seven");
    let foreign = of_one_thread(&format!("%seven = arith.constant 7 : i64\n{foreign}"));
    only(&foreign, |f| *f == Fault::ForeignState);
}

#[test]
fn the_asynchronous_arrive_that_raises_the_count_first() {
    let text = |arrive: &str, count: u32| {
        let body = format!(
            "%t = async_pipeline.role.thread_id : index
             %e = arith.muli %t, %c4 : index
             %leads = arith.cmpi eq, %t, %c0 : index
             %s = async_pipeline.buffer.slot %wide[%i0] : !async_pipeline.buffer<1, 128xf32>
               to memref<128xf32, #gpu.address_space<workgroup>>
             async_pipeline.cp_async.copy %A[%e] to %s[%e] bytes(16)
               : memref<1024xf32> to memref<128xf32, #gpu.address_space<workgroup>>
             async_pipeline.cp_async.mbarrier.arrive %full[%i0] {arrive} : !async_pipeline.mbarrier<1>"
        );
        let own = if arrive.is_empty() {
            "async_pipeline.warp.sync
             scf.if %leads { async_pipeline.mbarrier.arrive %full[%i0] : !async_pipeline.mbarrier<1> }"
        } else {
            ""
        };
        let reads = format!(
            "{}
             %s = async_pipeline.buffer.slot %wide[%i0] : !async_pipeline.buffer<1, 128xf32>
               to memref<128xf32, #gpu.address_space<workgroup>>
             %x = memref.load %s[%c0] : memref<128xf32, #gpu.address_space<workgroup>>",
            wait("full", 0, 0, 1)
        );
        let wide =
            "%wide = async_pipeline.buffer.alloc \"wide\" : !async_pipeline.buffer<1, 128xf32>";
        kernel(
            wide,
            &[("full", 1, count)],
            &format!(
                "async_pipeline.role @load warps(1) {{ {body} {own} }}
                 async_pipeline.role @use warps(1) elected {{ {reads} }}"
            ),
        )
    };
    assert!(faults_of(&text("", 1), Target::Sm80).is_empty());
    assert!(faults_of(&text("noinc", 32), Target::Sm80).is_empty());
    // Mixed up: the phase ends early, or never.
    assert!(!faults_of(&text("", 32), Target::Sm80).is_empty());
    assert!(!faults_of(&text("noinc", 1), Target::Sm80).is_empty());
}

#[test]
fn a_thread_that_leaves_a_barrier() {
    let roles = format!(
        "async_pipeline.role @leaves warps(1) elected {{
           async_pipeline.mbarrier.arrive_drop {} : !async_pipeline.mbarrier<1>
         }}
         async_pipeline.role @stays warps(1) elected {{ {} {} {} {} }}",
        at("full", 0),
        arrive("full", 0, 1),
        wait("full", 0, 0, 1),
        arrive("full", 0, 1),
        wait("full", 0, 1, 1)
    );
    assert!(faults_of(&kernel("", &[("full", 1, 2)], &roles), Target::Sm90a).is_empty());
}
