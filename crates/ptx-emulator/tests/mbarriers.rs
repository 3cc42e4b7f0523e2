//! mbarriers among threads, and `cp.async`.

mod support;

use ptx_emulator::{Kind, Schedule, Severity};
use support::{Run, clean, has, kernel, reported, schedules, show};

const BAR: &str = ".shared .align 8 .b64 bar; .shared .align 16 .b32 buf[64];";

/// Initialises the barrier for `count` arrivals by thread 0.
fn init(count: u32) -> String {
    format!(
        "mov.u32 %r1, %tid.x;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 mbarrier.init.shared.b64 [bar], {count};
         bar.sync 0;"
    )
}

/// Waits for a phase by parity.
const WAIT: &str = "W: mbarrier.try_wait.parity.shared.b64 %p9, [bar], 0; // waits
    @!%p9 bra W;";

/// Thread 0 writes and arrives; the second warp waits and reads.
fn hand_over(count: u32, arrive: &str) -> String {
    let init = init(count);
    kernel(
        "sm_90a",
        BAR,
        &format!(
            "{init}
             setp.ge.u32 %p2, %r1, 32;
             @%p2 bra READ;
             @!%p1 bra END;
             st.shared.b32 [buf], 5;
             {arrive}
             bra.uni END;
             READ:
             {WAIT}
             ld.shared.b32 %r2, [buf]; // slot
             END:"
        ),
    )
}

const ARRIVE: &str = "mbarrier.arrive.shared.b64 %rd1, [bar];";

#[test]
fn an_arrive_and_a_wait_hand_over() {
    let run = Run::block(64);
    clean(&run, &hand_over(1, ARRIVE));
    reported(
        &run,
        &hand_over(
            1,
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd1, [bar];",
        ),
        Kind::Race,
        "slot",
    );
    reported(&run, &hand_over(2, ARRIVE), Kind::Deadlock, "waits");
    let (outcome, _) = run.run(&hand_over(2, ARRIVE));
    let text = show(&outcome.reports);
    assert!(text.contains("pending 1 of 2"), "{text}");
    assert!(text.contains("threads 32 to 63"), "{text}");
}

#[test]
fn the_state_form_waits_too() {
    let ptx = kernel(
        "sm_80",
        BAR,
        &format!(
            "{}
             shl.b32 %r4, %r1, 2;
             mov.u32 %r5, buf;
             add.u32 %r6, %r5, %r4;
             st.shared.b32 [%r6], %r1;
             mbarrier.arrive.shared.b64 %rd1, [bar];
             W: mbarrier.test_wait.shared.b64 %p9, [bar], %rd1;
             @!%p9 bra W;
             xor.b32 %r4, %r4, 128;
             add.u32 %r6, %r5, %r4;
             ld.shared.b32 %r7, [%r6];",
            init(64)
        ),
    );
    clean(&Run::block(64), &ptx);
    let pending = kernel(
        "sm_80",
        BAR,
        &format!(
            "{}
             @!%p1 bra END;
             mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;
             mbarrier.pending_count.b64 %r2, %rd1;
             st.global.b32 [%out], %r2;
             END:",
            init(5)
        ),
    );
    clean(&Run::block(64), &pending);
    assert_eq!(Run::block(64).run(&pending).1[0], 5);
}

#[test]
fn what_the_contract_forbids() {
    let run = Run::block(64);
    let over = kernel(
        "sm_90a",
        BAR,
        &format!(
            "{}mbarrier.arrive.shared.b64 %rd1, [bar]; // each\n mbarrier.arrive.shared.b64 %rd1, [bar], 63; // more",
            init(64)
        ),
    );
    reported(&run, &over, Kind::MbarrierContract, "");
    let twice = kernel(
        "sm_90a",
        BAR,
        &format!(
            "{}@%p1 mbarrier.init.shared.b64 [bar], 1; // again",
            init(1)
        ),
    );
    reported(&run, &twice, Kind::MbarrierContract, "again");
    let never = kernel(
        "sm_90a",
        BAR,
        "mbarrier.arrive.shared.b64 %rd1, [bar]; // unborn",
    );
    reported(&run, &never, Kind::MbarrierContract, "unborn");
    let dead = kernel(
        "sm_90a",
        BAR,
        &format!(
            "{}@%p1 mbarrier.inval.shared.b64 [bar];\n bar.sync 0;\n mbarrier.arrive.shared.b64 %rd1, [bar]; // dead",
            init(64)
        ),
    );
    reported(&run, &dead, Kind::MbarrierContract, "dead");
    let touched = kernel(
        "sm_90a",
        BAR,
        &format!("{}@%p1 st.shared.b32 [bar+4], 0; // pokes", init(1)),
    );
    reported(&run, &touched, Kind::MbarrierContract, "pokes");
    let zero = kernel(
        "sm_90a",
        BAR,
        "mov.u32 %r1, 0; mbarrier.init.shared.b64 [bar], %r1; // none",
    );
    reported(&Run::default(), &zero, Kind::MbarrierContract, "none");
    // Only the low bit of a parity counts: Triton waits with -1 for 1.
    let minus = kernel(
        "sm_90a",
        BAR,
        &format!(
            "{}mov.u32 %r3, -1; W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], %r3; @!%p3 bra W;",
            init(1)
        ),
    );
    clean(&run, &minus);
}

#[test]
fn a_barrier_is_used_after_its_initialisation_in_order() {
    let ptx = |sync: &str| {
        kernel(
            "sm_90a",
            BAR,
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared.b64 [bar], 64;
                 {sync}
                 mbarrier.arrive.shared.b64 %rd1, [bar]; // use"
            ),
        )
    };
    clean(&Run::block(64), &ptx("bar.sync 0;"));
    for schedule in schedules() {
        let text = ptx("");
        let (outcome, _) = Run::block(64).with(schedule).run(&text);
        let found = has(&outcome.reports, &text, Kind::Race, "use")
            || has(&outcome.reports, &text, Kind::MbarrierContract, "use");
        assert!(found, "{}", show(&outcome.reports));
    }
}

#[test]
fn a_tx_count_may_go_below_zero_for_a_while() {
    let ptx = kernel(
        "sm_90a",
        BAR,
        &format!(
            "{}
             @!%p1 bra END;
             mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;
             mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;
             mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 32;
             END:
             {WAIT}",
            init(1)
        ),
    );
    clean(&Run::block(64), &ptx);
    let short = ptx.replace(
        "[bar], 32;\n             END",
        "[bar], 48;\n             END",
    );
    assert_ne!(short, ptx);
    reported(&Run::block(64), &short, Kind::Deadlock, "waits");
}

#[test]
fn a_waiter_two_phases_behind_is_noticed() {
    // Thread 32 waits for phase 0; thread 0 completes two phases meanwhile.
    let ptx = hand_over(1, &format!("{ARRIVE} {ARRIVE}"));
    let mut seen = 0;
    for schedule in schedules() {
        let (outcome, _) = Run::block(64).with(schedule).run(&ptx);
        seen += usize::from(has(&outcome.reports, &ptx, Kind::MbarrierContract, "waits"));
        // Whoever comes late hangs instead.
        assert!(!outcome.is_clean() || outcome.reports.is_empty());
    }
    assert!(seen > 0);
}

/// Each thread copies four bytes and arrives by `arrive`; after `wait` it reads its neighbour's.
fn copy(count: u32, after: &str) -> String {
    kernel(
        "sm_80",
        BAR,
        &format!(
            "{}
             shl.b32 %r4, %r1, 2;
             mov.u32 %r5, buf;
             add.u32 %r6, %r5, %r4;
             cvt.u64.u32 %rd1, %r4;
             add.u64 %rd2, %out, %rd1;
             cp.async.ca.shared.global [%r6], [%rd2], 4;
             {after}
             xor.b32 %r4, %r4, 128;
             add.u32 %r7, %r5, %r4;
             ld.shared.b32 %r8, [%r7]; // slot",
            init(count)
        ),
    )
}

#[test]
fn cp_async_with_groups() {
    let run = Run::block(64);
    clean(
        &run,
        &copy(
            1,
            "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;",
        ),
    );
    clean(&run, &copy(1, "cp.async.wait_all; bar.sync 0;"));
    let weak = copy(
        1,
        "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;",
    );
    reported(&run, &weak, Kind::ReadBeforeComplete, "slot");
    let no_barrier = copy(1, "cp.async.commit_group; cp.async.wait_group 0;");
    for schedule in schedules() {
        let (outcome, _) = run.clone().with(schedule).run(&no_barrier);
        assert!(!outcome.is_clean(), "{schedule:?}");
    }
    let left = kernel(
        "sm_80",
        BAR,
        "cp.async.ca.shared.global [buf], [%out], 4; // left",
    );
    let (outcome, _) = Run::block(1).run(&left);
    assert!(
        outcome.reports.iter().any(|r| r.kind == Kind::ExitWithWork),
        "{}",
        show(&outcome.reports)
    );
}

#[test]
fn cp_async_with_both_arrives() {
    let run = Run::block(64);
    let wait = WAIT.replace("try_wait", "test_wait");
    clean(
        &run,
        &copy(
            64,
            &format!("cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; {wait}"),
        ),
    );
    let incremented = format!(
        "cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 %rd5, [bar]; {wait}"
    );
    clean(&run, &copy(64, &incremented));
    // Without the plain arrives nobody ever completes the phase …
    let hangs = copy(
        64,
        &format!("cp.async.mbarrier.arrive.shared.b64 [bar]; {wait}"),
    );
    reported(&run, &hangs, Kind::Deadlock, "");
    // … and without the copies' arrives the phase says nothing about them.
    let early = copy(
        64,
        &format!("mbarrier.arrive.shared.b64 %rd5, [bar]; {wait}"),
    );
    reported(&run, &early, Kind::ReadBeforeComplete, "slot");
}

#[test]
fn zeros_fill_what_is_not_read() {
    let ptx = kernel(
        "sm_80",
        BAR,
        "st.global.b32 [%out], -1;
         mov.u32 %r9, 2;
         cp.async.ca.shared.global [buf], [%out], 4, %r9;
         cp.async.wait_all;
         ld.shared.b32 %r2, [buf];
         st.global.b32 [%out+4], %r2;",
    );
    assert_eq!(Run::block(1).run(&ptx).1[1], 0xffff);
}

#[test]
fn clusters_share_memory() {
    let mut run = Run::block(32);
    run.grid = 2;
    run.cluster = 2;
    let exchange = |end: &str| {
        kernel(
            "sm_90a",
            "",
            &format!(
                ".shared .align 4 .b32 box[1];
                 mov.u32 %r1, %cluster_ctarank;
                 xor.b32 %r2, %r1, 1;
                 mov.u32 %r3, box;
                 mapa.shared::cluster.u32 %r4, %r3, %r2;
                 elect.sync _|%p1, -1;
                 barrier.cluster.arrive.aligned;
                 barrier.cluster.wait.aligned;
                 @%p1 st.shared::cluster.b32 [%r4], %r1; // theirs
                 {end}
                 ld.shared.b32 %r5, [box]; // mine
                 mul.wide.u32 %rd1, %r1, 4;
                 add.u64 %rd2, %out, %rd1;
                 @%p1 st.global.b32 [%rd2], %r5;"
            ),
        )
    };
    let sync = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";
    clean(&run, &exchange(sync));
    assert_eq!(run.run(&exchange(sync)).1[..2], [1, 0]);
    let relaxed = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;";
    reported(&run, &exchange(relaxed), Kind::Race, "mine");
    let gone = kernel(
        "sm_90a",
        "",
        ".shared .align 4 .b32 box[1];
         mov.u32 %r1, %cluster_ctarank;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra END;
         mov.u32 %r3, box;
         mapa.shared::cluster.u32 %r4, %r3, 0;
         mov.u32 %r6, 0;
         L: add.u32 %r6, %r6, 1;
         setp.lt.u32 %p2, %r6, 3000;
         @%p2 bra L;
         st.shared::cluster.b32 [%r4], %r1; // late
         END:",
    );
    let (outcome, _) = run.run(&gone);
    assert!(
        has(&outcome.reports, &gone, Kind::ExitWithWork, "late"),
        "{}",
        show(&outcome.reports)
    );
}

#[test]
fn a_remote_arrive_needs_the_init_fence() {
    let mut run = Run::block(32);
    run.grid = 2;
    run.cluster = 2;
    let ptx = |fence: &str| {
        kernel(
            "sm_90a",
            BAR,
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared.b64 [bar], 1;
                 {fence}
                 barrier.cluster.arrive.aligned;
                 barrier.cluster.wait.aligned;
                 mov.u32 %r2, %cluster_ctarank;
                 xor.b32 %r3, %r2, 1;
                 mov.u32 %r4, bar;
                 mapa.shared::cluster.u32 %r5, %r4, %r3;
                 @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5]; // remote
                 {WAIT}
                 barrier.cluster.arrive.aligned;
                 barrier.cluster.wait.aligned;"
            ),
        )
    };
    let fenced = ptx("fence.mbarrier_init.release.cluster;");
    clean(&run, &fenced);
    let (outcome, _) = run.run(&fenced);
    assert!(outcome.reports.is_empty(), "{}", show(&outcome.reports));
    let (outcome, _) = run.run(&ptx(""));
    assert!(outcome.is_clean());
    let found: Vec<_> = outcome
        .reports
        .iter()
        .map(|r| (r.kind, r.severity))
        .collect();
    assert_eq!(found, [(Kind::MissingInitFence, Severity::Warning)]);
    run.options.strict = true;
    let (outcome, _) = run.run(&ptx(""));
    assert!(!outcome.is_clean());
}

#[test]
fn a_copy_that_nobody_waits_for_outlives_its_cta() {
    let ptx = |wait: &str| {
        kernel(
            "sm_90a",
            BAR,
            &format!(
                "{}
                 @!%p1 bra END;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
                 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%out], 128, [bar]; // copies
                 {wait}
                 END:",
                init(1)
            ),
        )
    };
    clean(&Run::block(32), &ptx(WAIT));
    let late = Run::block(32).with(Schedule::Late(1));
    let (outcome, _) = late.run(&ptx(""));
    let found = has(&outcome.reports, &ptx(""), Kind::ExitWithWork, "copies");
    assert!(found, "{}", show(&outcome.reports));
}

#[test]
fn a_float_is_no_address() {
    let text = kernel("sm_80", BAR, "ld.global.b32 %r1, [%f1];");
    let module = ptx_emulator::syntax::parse(&text).expect("parses");
    let error = ptx_emulator::Program::new(&module, &module.entries[0]).expect_err("refused");
    assert!(error.message.contains("no address"), "{error}");
}
