//! Faults that were met in the field, by the facts that have to be reported, and the right
//! form of each, which has to be clean.

use super::{
    faults_of, numbers, program, run,
    texts::{arrive, bulk_load, expect, kernel, read, tile, wait},
};
use async_pipeline::{
    Target,
    interpreter::{
        ArgumentValue, BarrierFacts, Completion, Fault, Order, Schedule, Waiting, WaitsFor,
    },
};
use ptx_model::{access::Access, mbarrier::MbarrierError};

pub(crate) fn is_clean(text: &str, target: Target) {
    let faults = faults_of(text, target);
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Everybody who waits in any deadlock.
fn blocked(faults: &[Fault]) -> Vec<&Waiting> {
    let all = faults.iter().map(|fault| match fault {
        Fault::Deadlock { waiting } => waiting.as_slice(),
        _ => &[],
    });
    all.flatten().collect()
}

/// Name, stage, phase, pending and bytes of the barriers that are waited for in deadlocks.
fn waited_for(faults: &[Fault]) -> Vec<(String, u64, u64, u32, i64)> {
    let facts = |waiting: &&Waiting| match &waiting.what {
        WaitsFor::Barrier { barrier, .. } => Some(state(barrier)),
        _ => None,
    };
    blocked(faults).iter().filter_map(facts).collect()
}

fn state(barrier: &BarrierFacts) -> (String, u64, u64, u32, i64) {
    let of = &barrier.state;
    (
        barrier.name.clone(),
        barrier.stage,
        of.phase().unwrap(),
        of.pending().unwrap(),
        of.tx().unwrap(),
    )
}

fn has_deadlock(faults: &[Fault]) -> bool {
    faults
        .iter()
        .any(|fault| matches!(fault, Fault::Deadlock { .. }))
}

/// PH-1: one thread loads ahead and hands each filled slot to the multiplier, whose
/// completions it awaits on the one barrier `m`, by `parity(k)`.
fn completion_barrier(parity: impl Fn(usize) -> usize) -> String {
    let (stages, trips) = (3, 6);
    let load =
        |k: usize| expect(k % stages, stages) + &bulk_load(&format!("l{k}"), k % stages, stages);
    let mut driver: String = (0..stages - 1).map(load).collect();
    let mut multiplier = String::new();
    for k in 0..trips {
        driver += &wait("full", k % stages, (k / stages) & 1, stages);
        driver += &arrive("go", k, trips);
        driver += &wait("m", 0, parity(k), 1);
        if k + stages - 1 < trips {
            driver += &load(k + stages - 1);
        }
        multiplier += &wait("go", k, 0, trips);
        multiplier += &wait("full", k % stages, (k / stages) & 1, stages);
        multiplier += &read(&format!("r{k}"), k % stages, stages);
        multiplier += &arrive("m", 0, 1);
    }
    kernel(
        &tile(stages),
        &[("full", 3, 1), ("go", 6, 1), ("m", 1, 1)],
        &format!(
            "async_pipeline.role @driver warps(1) elected {{ {driver} }}
             async_pipeline.role @multiply warps(1) elected {{ {multiplier} }}"
        ),
    )
}

#[test]
fn ph1_a_completion_barrier_waited_for_with_the_rings_parity() {
    is_clean(&completion_barrier(|k| k & 1), Target::Sm100a);
    let faults = faults_of(&completion_barrier(|k| (k / 3) & 1), Target::Sm100a);
    // Copy 4, into slot 1, is the first that nothing keeps from overtaking its reader. In which
    // order the two come up depends on the schedule.
    let overtaken = |fault: &Fault| {
        let (memory, read, copy) = match fault {
            Fault::Race {
                memory,
                first,
                second,
            } => (memory, first, second),
            Fault::BeforeCopyDone {
                memory,
                copy,
                access,
            } => (memory, access, copy),
            _ => return None,
        };
        assert_eq!(
            (read, copy),
            (&Access::GenericRead, &Access::BulkWrite),
            "{fault:?}"
        );
        Some((memory.name.clone(), memory.slot))
    };
    let first = faults.iter().find_map(overtaken);
    assert_eq!(first, Some(("tile".to_owned(), Some(1))), "{faults:#?}");
    let stale = faults.iter().any(|fault| {
        matches!(fault, Fault::StaleWait { barrier, parity: 0, finished: Some(0), .. } if barrier.name == "m")
    });
    assert!(stale, "{faults:#?}");
    assert!(
        waited_for(&faults).iter().any(|(name, ..)| name == "m"),
        "{faults:#?}"
    );
}

/// PH-3: two warps see a slot filled; `release` frees it.
fn two_warps(stages: usize, empty_count: u32, release: impl Fn(usize) -> String) -> String {
    let (mut producer, mut consumer) = (String::new(), String::new());
    for k in 0..3 {
        let (stage, parity) = (k % stages, (k / stages) & 1);
        producer += &wait("empty", stage, parity ^ 1, stages);
        producer += &arrive("full", stage, stages);
        consumer += &wait("full", stage, parity, stages);
        consumer += &release(stage);
    }
    kernel(
        "%t = gpu.thread_id x
         %c32 = arith.constant 32 : index
         %leader = arith.cmpi eq, %t, %c32 : index
         %lane = arith.remui %t, %c32 : index
         %lane0 = arith.cmpi eq, %lane, %c0 : index",
        &[
            ("full", stages as u32, 1),
            ("empty", stages as u32, empty_count),
        ],
        &format!(
            "async_pipeline.role @produce warps(1) elected {{ {producer} }}
             async_pipeline.role @consume warps(2) {{ {consumer} }}"
        ),
    )
}

#[test]
fn ph3_a_leader_frees_the_slot_before_its_sibling_has_seen_the_phase() {
    let by_leader =
        |stages| move |stage| format!("scf.if %leader {{ {} }}", arrive("empty", stage, stages));
    let partition = |stage| {
        "async_pipeline.named_barrier.sync id(1) threads(64)\n".to_owned() + &by_leader(2)(stage)
    };
    is_clean(&two_warps(2, 1, partition), Target::Sm80);
    let per_warp = |stage| {
        format!(
            "async_pipeline.warp.sync\nscf.if %lane0 {{ {} }}",
            arrive("empty", stage, 2)
        )
    };
    is_clean(&two_warps(2, 2, per_warp), Target::Sm80);

    for stages in [1, 2] {
        let text = two_warps(stages, 1, by_leader(stages));
        let faults = faults_of(&text, Target::Sm80);
        let stuck = blocked(&faults).into_iter().any(|waiting| {
            let WaitsFor::Barrier {
                barrier,
                parity,
                phase,
            } = &waiting.what
            else {
                return false;
            };
            waiting.party.warp == 2
                && (barrier.name.as_str(), barrier.stage, *parity) == ("full", 0, Some(0))
                && phase.is_some_and(|phase| barrier.state.phase().unwrap() == phase + 2)
        });
        assert!(stuck || stages == 1, "{faults:#?}");
        let late = |fault: &Fault| match fault {
            Fault::LateWait { barrier, .. } | Fault::Skew { barrier, .. } => barrier.name == "full",
            _ => false,
        };
        assert!(faults.iter().any(late), "{faults:#?}");
        // No schedule is needed to see it: the order of the operations says so.
        let schedule = Schedule {
            order: Order::RoundRobin,
            completion: Completion::Early,
        };
        let argument = ArgumentValue::f32(&[1024], &numbers(1024, 1));
        let outcome = run(&program(&text), Target::Sm80, vec![argument], schedule);
        assert!(
            outcome.reports.iter().any(|report| late(&report.fault)),
            "{:#?}",
            outcome.reports
        );
    }
}

/// A ring whose fills and uses are `g` = 0, 1, …, by the trips of each tile.
pub(crate) fn ring(
    stages: usize,
    empty_count: u32,
    produced: &[(usize, usize)],
    consumed: &[(usize, usize)],
) -> String {
    let (mut producer, mut consumer) = (String::new(), String::new());
    for (index, (stage, parity)) in produced.iter().enumerate() {
        producer += &wait("empty", *stage, parity ^ 1, stages);
        producer += &expect(*stage, stages);
        producer += &bulk_load(&format!("l{index}"), *stage, stages);
    }
    for (index, (stage, parity)) in consumed.iter().enumerate() {
        consumer += &wait("full", *stage, *parity, stages);
        consumer += &read(&format!("r{index}"), *stage, stages);
        consumer += &arrive("empty", *stage, stages);
    }
    kernel(
        &tile(stages),
        &[
            ("full", stages as u32, 1),
            ("empty", stages as u32, empty_count),
        ],
        &format!(
            "async_pipeline.role @produce warps(1) elected {{ {producer} }}
             async_pipeline.role @consume warps(1) elected {{ {consumer} }}"
        ),
    )
}

/// Stage and parity of use `g`.
pub(crate) fn of(stages: usize) -> impl Fn(usize) -> (usize, usize) {
    move |g| (g % stages, (g / stages) & 1)
}

#[test]
fn ac1_more_arrivals_expected_than_come() {
    let uses: Vec<_> = (0..4).map(of(3)).collect();
    is_clean(&ring(3, 1, &uses, &uses), Target::Sm90a);
    let faults = faults_of(&ring(3, 2, &uses, &uses), Target::Sm90a);
    assert!(
        waited_for(&faults).contains(&("empty".to_owned(), 0, 0, 1, 0)),
        "{faults:#?}"
    );
    // With three uses nobody hangs, but the counts do not fit all the same.
    let faults = faults_of(&ring(3, 2, &uses[..3], &uses[..3]), Target::Sm90a);
    assert!(!has_deadlock(&faults), "{faults:#?}");
    let unfinished = faults.iter().any(|fault| {
        matches!(fault, Fault::UnfinishedPhase { barrier } if state(barrier) == ("empty".to_owned(), 0, 0, 1, 0))
    });
    assert!(unfinished, "{faults:#?}");
}

#[test]
fn tx1_bytes_expected_and_nobody_arrives() {
    let text = |announce: &str| {
        kernel(
            &tile(1),
            &[("full", 1, 1)],
            &format!(
                "async_pipeline.role @produce warps(1) elected {{
                   {announce}
                   {}
                 }}
                 async_pipeline.role @consume warps(1) elected {{ {} {} }}",
                bulk_load("l", 0, 1),
                wait("full", 0, 0, 1),
                read("r", 0, 1)
            ),
        )
    };
    is_clean(&text(&expect(0, 1)), Target::Sm90a);
    let faults = faults_of(
        &text("async_pipeline.mbarrier.expect_tx %full[%i0], %bytes : !async_pipeline.mbarrier<1>"),
        Target::Sm90a,
    );
    assert_eq!(
        waited_for(&faults)[0],
        ("full".to_owned(), 0, 0, 1, 0),
        "{faults:#?}"
    );
}

#[test]
fn tx5_a_copy_that_nobody_announced_and_a_barrier_initialised_again() {
    let both = format!("{}{}", bulk_load("l", 0, 1), wait("full", 0, 0, 1));
    let text = |roles: &str| {
        let role = format!("async_pipeline.role @all warps(1) elected {{ {roles} }}");
        kernel(&tile(1), &[("full", 1, 1)], &role)
    };
    let faults = faults_of(&text(&both), Target::Sm90a);
    assert_eq!(
        waited_for(&faults)[0],
        ("full".to_owned(), 0, 0, 1, -64),
        "{faults:#?}"
    );
    assert!(
        faults
            .iter()
            .any(|fault| matches!(fault, Fault::BytesLeft { .. })),
        "{faults:#?}"
    );

    let again = format!(
        "{}{both}async_pipeline.mbarrier.init %full count(1) : !async_pipeline.mbarrier<1>",
        expect(0, 1)
    );
    let faults = faults_of(&text(&again), Target::Sm90a);
    let live = |fault: &Fault| {
        matches!(
            fault,
            Fault::Misuse {
                error: MbarrierError::InitWhileLive,
                ..
            }
        )
    };
    assert!(faults.iter().any(live), "{faults:#?}");
}

#[test]
fn dl1_a_peeled_wait_for_a_tile_without_work() {
    let uses: Vec<_> = (0..3).map(of(2)).collect();
    let faults = faults_of(&ring(2, 1, &uses[..2], &uses), Target::Sm90a);
    let stuck = blocked(&faults).into_iter().any(|waiting| {
        waiting.party.role.as_deref() == Some("consume")
            && matches!(&waiting.what, WaitsFor::Barrier { barrier, parity: Some(1), phase: Some(1) }
                if state(barrier) == ("full".to_owned(), 0, 1, 1, 0))
    });
    assert!(stuck, "{faults:#?}");
    // Tiles of 3, 3, 0 and 2 uses, counters left alone where there is no work.
    let uses: Vec<_> = (0..8).map(of(2)).collect();
    is_clean(&ring(2, 1, &uses, &uses), Target::Sm90a);
}

#[test]
fn ps1_a_phase_that_starts_again_with_every_tile() {
    for trips in [2, 3, 4, 5, 6, 8] {
        let restarted: Vec<_> = (0..2).flat_map(|_| (0..trips).map(of(2))).collect();
        let text = ring(2, 1, &restarted, &restarted);
        if trips % 4 == 0 {
            is_clean(&text, Target::Sm90a);
            continue;
        }
        let faults = faults_of(&text, Target::Sm90a);
        assert!(!faults.is_empty(), "{trips} trips");
        if trips == 3 {
            // Nothing hangs, but slot 1 is used again before it is filled again.
            assert!(!has_deadlock(&faults), "{faults:#?}");
            let stale = |fault: &Fault| matches!(fault, Fault::StaleWait { barrier, .. } if barrier.name == "full" && barrier.stage == 1);
            assert!(faults.iter().any(stale), "{faults:#?}");
        }
    }
    let running: Vec<_> = (0..6).map(of(2)).collect();
    is_clean(&ring(2, 1, &running, &running), Target::Sm90a);
}

#[test]
fn cf1_a_load_under_a_condition_that_its_wait_does_not_have() {
    let uses: Vec<_> = (0..3).map(of(1)).collect();
    let skipped = [uses[0], uses[1]];
    let text = ring(1, 1, &skipped, &uses);
    let faults = faults_of(&text, Target::Sm90a);
    let awaited = |waiting: &&Waiting| {
        matches!(&waiting.what, WaitsFor::Barrier { barrier, phase: Some(2), .. }
            if barrier.name == "full" && barrier.state.phase() == Ok(2))
    };
    assert!(blocked(&faults).iter().any(awaited), "{faults:#?}");
    is_clean(&ring(1, 1, &skipped, &skipped), Target::Sm90a);
    is_clean(&ring(1, 1, &uses, &uses), Target::Sm90a);
}
