//! Threads of a CTA: barriers, races through the generic proxy, memory errors, endless loops.

mod support;

use ptx_emulator::{Kind, Schedule};
use support::{Run, clean, has, kernel, reported, show};

const TWO: &str = ".shared .align 16 .b32 buf[64];";

/// Thread 0 of each half writes, the other half reads. `sync` stands between.
fn hand_over(sync: &str) -> String {
    kernel(
        "sm_80",
        TWO,
        &format!(
            "mov.u32 %r1, %tid.x;
             shl.b32 %r2, %r1, 2;
             mov.u32 %r3, buf;
             add.u32 %r4, %r3, %r2;
             st.shared.b32 [%r4], %r1;
             {sync}
             xor.b32 %r5, %r2, 128;
             add.u32 %r6, %r3, %r5;
             ld.shared.b32 %r7, [%r6]; // other half
             cvt.u64.u32 %rd1, %r2;
             add.u64 %rd2, %out, %rd1;
             st.global.b32 [%rd2], %r7;"
        ),
    )
}

#[test]
fn a_barrier_orders_and_without_it_there_is_a_race() {
    let run = Run::block(64);
    clean(&run, &hand_over("bar.sync 0;"));
    clean(&run, &hand_over("barrier.sync 3, 64;"));
    clean(&run, &hand_over("barrier.cta.sync.aligned 15;"));
    for schedule in support::schedules() {
        let (outcome, _) = run.clone().with(schedule).run(&hand_over(""));
        let found = has(&outcome.reports, &hand_over(""), Kind::Race, "")
            || has(
                &outcome.reports,
                &hand_over(""),
                Kind::UninitialisedRead,
                "other half",
            );
        assert!(found, "{}", show(&outcome.reports));
    }
    let (outcome, words) = run.run(&hand_over("bar.sync 0;"));
    assert!(outcome.completed);
    assert_eq!(words[..2], [32, 33]);
    assert_eq!(words[63], 31);
}

#[test]
fn lanes_of_a_warp_need_an_order_too() {
    let body = |sync: &str| {
        kernel(
            "sm_80",
            TWO,
            &format!(
                "mov.u32 %r1, %laneid;
                 shl.b32 %r2, %r1, 2;
                 mov.u32 %r3, buf;
                 add.u32 %r4, %r3, %r2;
                 st.shared.b32 [%r4], %r1;
                 {sync}
                 xor.b32 %r5, %r2, 4;
                 add.u32 %r6, %r3, %r5;
                 ld.shared.b32 %r7, [%r6]; // neighbour"
            ),
        )
    };
    clean(&Run::default(), &body("bar.warp.sync -1;"));
    reported(&Run::default(), &body(""), Kind::Race, "neighbour");
}

#[test]
fn reading_while_others_overwrite_is_a_race() {
    let body = |second: &str| {
        kernel(
            "sm_80",
            TWO,
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 st.shared.b32 [buf], 1;
                 bar.sync 0;
                 ld.shared.b32 %r2, [buf];
                 {second}
                 @%p1 st.shared.b32 [buf], 2; // again"
            ),
        )
    };
    clean(&Run::block(64), &body("bar.sync 0;"));
    for schedule in support::schedules() {
        let ptx = body("");
        let (outcome, _) = Run::block(64).with(schedule).run(&ptx);
        assert!(
            has(&outcome.reports, &ptx, Kind::Race, "buf"),
            "{}",
            show(&outcome.reports)
        );
    }
}

#[test]
fn bytes_of_one_word_may_belong_to_different_threads() {
    let ptx = kernel(
        "sm_80",
        TWO,
        "mov.u32 %r1, %tid.x;
         mov.u32 %r3, buf;
         add.u32 %r4, %r3, %r1;
         st.shared.b8 [%r4], %r1;
         bar.sync 0;
         ld.shared.b32 %r5, [buf+4];
         setp.eq.u32 %p1, %r1, 0;
         @%p1 st.global.b32 [%out], %r5;",
    );
    clean(&Run::block(64), &ptx);
    assert_eq!(Run::block(64).run(&ptx).1[0], 0x0706_0504);
}

#[test]
fn threads_that_do_not_come_to_a_barrier() {
    let ptx = kernel(
        "sm_80",
        "",
        "mov.u32 %r1, %tid.x;
         setp.lt.u32 %p1, %r1, 16;
         @%p1 bra HERE;
         bra.uni END;
         HERE: bar.sync 0; // half
         END:",
    );
    // The other half has ended, so all that live are there.
    clean(&Run::default(), &ptx);
    let stays = kernel(
        "sm_80",
        "",
        "mov.u32 %r1, %tid.x;
         setp.lt.u32 %p1, %r1, 16;
         @%p1 bra HERE;
         bar.sync 1; // one half
         bra.uni END;
         HERE: bar.sync 0; // other half
         END:",
    );
    reported(&Run::default(), &stays, Kind::Divergence, "one half");
    reported(&Run::default(), &stays, Kind::Divergence, "other half");
    let partly = kernel(
        "sm_80",
        "",
        "mov.u32 %r1, %tid.x;
         setp.lt.u32 %p1, %r1, 16;
         @%p1 bar.sync 0; // guard",
    );
    reported(&Run::default(), &partly, Kind::Divergence, "guard");
    let missing = kernel(
        "sm_80",
        "",
        "mov.u32 %r1, %tid.x;
         setp.lt.u32 %p1, %r1, 32;
         @%p1 bra END;
         barrier.sync 2, 96; // too many
         END: ",
    );
    reported(&Run::block(96), &missing, Kind::Deadlock, "too many");
}

#[test]
fn memory_errors_are_located() {
    let run = Run::default();
    let out = kernel("sm_80", "", "st.global.b32 [%out+16384], 1; // past");
    reported(&run, &out, Kind::OutOfBounds, "past");
    let null = kernel(
        "sm_80",
        "",
        "mov.b64 %rd1, 0; ld.global.b32 %r1, [%rd1]; // null",
    );
    reported(&run, &null, Kind::OutOfBounds, "null");
    let odd = kernel("sm_80", "", "ld.global.b32 %r1, [%out+2]; // odd");
    reported(&run, &odd, Kind::Misaligned, "odd");
    let shared = kernel("sm_80", TWO, "st.shared.b32 [buf+262144], 1; // far");
    reported(&run, &shared, Kind::OutOfBounds, "far");
    let unwritten = kernel("sm_80", TWO, "ld.shared.b32 %r1, [buf]; // fresh");
    reported(&run, &unwritten, Kind::UninitialisedRead, "fresh");
    let trap = kernel("sm_80", "", "trap; // here");
    reported(&run, &trap, Kind::Trap, "here");
}

#[test]
fn endless_loops_end() {
    let run = Run::default();
    let idle = kernel("sm_80", "", "L: bra.uni L; // round");
    reported(&run, &idle, Kind::Livelock, "round");
    let busy = kernel("sm_80", "", "L: st.global.b32 [%out], 1; bra.uni L;");
    let (outcome, _) = run.run(&busy);
    assert!(
        has(&outcome.reports, &busy, Kind::Limit, ""),
        "{}",
        show(&outcome.reports)
    );
    let sleeping = kernel(
        "sm_80",
        "",
        "L: ld.relaxed.gpu.global.b32 %r1, [%out];
         nanosleep.u32 100; // sleeps
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra L;",
    );
    reported(&run, &sleeping, Kind::Deadlock, "");
    let (outcome, _) = run.run(&sleeping);
    assert!(
        outcome.reports[0].site.is_some(),
        "{}",
        show(&outcome.reports)
    );
}

#[test]
fn lanes_that_spin_let_others_run() {
    // A lock among the lanes of one warp.
    let ptx = kernel(
        "sm_80",
        "",
        "L: atom.acquire.gpu.global.cas.b32 %r1, [%out], 0, 1;
         setp.ne.u32 %p1, %r1, 0;
         @%p1 bra L;
         ld.global.b32 %r2, [%out+4];
         add.u32 %r2, %r2, 1;
         st.global.b32 [%out+4], %r2;
         fence.acq_rel.gpu;
         atom.release.gpu.global.exch.b32 %r3, [%out], 0;",
    );
    let mut run = Run::block(32);
    run.grid = 2;
    run.options.max_steps = 5_000_000;
    clean(&run, &ptx);
    assert_eq!(run.run(&ptx).1[1], 64);
}

#[test]
fn blocks_race_in_global_memory_unless_atomics_order_them() {
    let mut run = Run::block(32);
    run.grid = 2;
    let plain = kernel(
        "sm_80",
        "",
        "mov.u32 %r1, %tid.x;
         setp.eq.u32 %p1, %r1, 0;
         mov.u32 %r2, %ctaid.x;
         @%p1 st.global.b32 [%out], %r2; // both",
    );
    reported(&run, &plain, Kind::Race, "both");
    let message = |release: &str, acquire: &str| {
        kernel(
            "sm_80",
            "",
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra END;
                 mov.u32 %r2, %ctaid.x;
                 setp.eq.u32 %p2, %r2, 1;
                 @%p2 bra READ;
                 st.global.b32 [%out], 7;
                 {release}
                 bra.uni END;
                 READ:
                 {acquire}
                 setp.eq.u32 %p3, %r3, 0;
                 @%p3 bra READ;
                 ld.global.b32 %r4, [%out]; // message
                 st.global.b32 [%out+8], %r4;
                 END:"
            ),
        )
    };
    let ordered = message(
        "st.release.gpu.global.b32 [%out+4], 1;",
        "ld.acquire.gpu.global.b32 %r3, [%out+4];",
    );
    clean(&run, &ordered);
    assert_eq!(run.run(&ordered).1[2], 7);
    let fences = message(
        "fence.acq_rel.gpu; st.relaxed.gpu.global.b32 [%out+4], 1;",
        "ld.relaxed.gpu.global.b32 %r3, [%out+4]; fence.acq_rel.gpu;",
    );
    clean(&run, &fences);
    let relaxed = message(
        "st.relaxed.gpu.global.b32 [%out+4], 1;",
        "ld.relaxed.gpu.global.b32 %r3, [%out+4];",
    );
    reported(&run, &relaxed, Kind::Race, "message");
}

#[test]
fn the_same_schedule_makes_the_same_run() {
    let ptx = hand_over("");
    for seed in 0..4 {
        let run = Run::block(64).with(Schedule::Random(seed));
        let (first, words) = run.run(&ptx);
        let (second, same) = run.run(&ptx);
        assert_eq!(first.reports, second.reports);
        assert_eq!((first.steps, words), (second.steps, same));
    }
}

#[test]
fn the_clock_advances() {
    let ptx = kernel(
        "sm_80",
        "",
        "mov.u64 %rd1, %globaltimer;
         L: mov.u64 %rd2, %globaltimer;
         sub.u64 %rd3, %rd2, %rd1;
         nanosleep.u32 50;
         setp.lt.u64 %p1, %rd3, 1000000;
         @%p1 bra L;",
    );
    clean(&Run::default(), &ptx);
}
