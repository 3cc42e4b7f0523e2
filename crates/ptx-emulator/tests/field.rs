//! Faults that were reported in public, retold as small kernels: what the emulator says of each.
//! The sources stand beside them.

mod support;

use ptx_emulator::Kind;
use support::{Run, clean, has, kernel, schedules, show};

/// Under each schedule one of these classes is reported.
fn says(run: &Run, ptx: &str, kinds: &[Kind]) {
    for schedule in schedules() {
        let (outcome, _) = run.clone().with(schedule).run(ptx);
        let any = kinds
            .iter()
            .any(|kind| has(&outcome.reports, ptx, *kind, ""));
        assert!(any, "{schedule:?}: {}", show(&outcome.reports));
    }
}

/// Under at least one schedule this class is reported.
fn may_say(run: &Run, ptx: &str, kind: Kind) {
    let any = schedules().any(|schedule| {
        let (outcome, _) = run.clone().with(schedule).run(ptx);
        has(&outcome.reports, ptx, kind, "")
    });
    assert!(any);
}

/// A ring of `stages` slots without data, and `trips` rounds: thread 0 produces, threads of the
/// other warps consume. Each list is what a side does in a round; `%r10` is the round, `%r11` the
/// slot's offset, `%r12` the ring's parity, `%r13` the opposite.
fn ring(stages: u32, counts: (u32, u32), trips: u32, produce: &str, consume: &str) -> String {
    let (full, empty) = counts;
    let mut inits = String::new();
    for slot in 0..stages {
        inits += &format!(
            "mbarrier.init.shared::cta.b64 [full+{o}], {full};
             mbarrier.init.shared::cta.b64 [empty+{o}], {empty};\n",
            o = slot * 8
        );
    }
    let position = format!(
        "rem.u32 %r11, %r10, {stages}; shl.b32 %r11, %r11, 3;
         div.u32 %r12, %r10, {stages}; and.b32 %r12, %r12, 1; xor.b32 %r13, %r12, 1;
         mov.u32 %r14, full; add.u32 %r14, %r14, %r11;
         mov.u32 %r15, empty; add.u32 %r15, %r15, %r11;"
    );
    kernel(
        "sm_90a",
        ".shared .align 8 .b64 full[8]; .shared .align 8 .b64 empty[8];
         .shared .align 128 .b8 buf[1024];",
        &format!(
            "mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @!%p1 bra READY;
             {inits}
             fence.mbarrier_init.release.cluster;
             READY:
             bar.sync 0;
             mov.u32 %r10, 0;
             setp.ge.u32 %p2, %r1, 32;
             @%p2 bra CONSUMER;
             @!%p1 bra END;
             setp.ge.u32 %p5, %r10, {trips};
             @%p5 bra END;
             PRODUCER:
             {position}
             {produce}
             add.u32 %r10, %r10, 1;
             setp.lt.u32 %p5, %r10, {trips};
             @%p5 bra PRODUCER;
             bra.uni END;
             CONSUMER:
             {position}
             {consume}
             add.u32 %r10, %r10, 1;
             setp.lt.u32 %p5, %r10, {trips};
             @%p5 bra CONSUMER;
             END:"
        ),
    )
}

fn wait(barrier: &str, parity: &str, label: &str) -> String {
    format!(
        "{label}: mbarrier.try_wait.parity.shared::cta.b64 %p6, [{barrier}], {parity}; @!%p6 bra {label};"
    )
}

const ARRIVE_FULL: &str = "mbarrier.arrive.shared::cta.b64 _, [%r14];";
const ARRIVE_EMPTY: &str = "mbarrier.arrive.shared::cta.b64 _, [%r15];";

#[test]
fn a_leader_frees_the_slot_before_its_siblings_have_looked() {
    // triton#10035: two warps wait, only the first one's leader arrives.
    let produce = wait("%r15", "%r13", "P") + ARRIVE_FULL;
    let leader = "setp.eq.u32 %p7, %r1, 32; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r15];";
    let consume = wait("%r14", "%r12", "C") + leader;
    may_say(
        &Run::block(96),
        &ring(2, (1, 1), 6, &produce, &consume),
        Kind::Deadlock,
    );
    let together = wait("%r14", "%r12", "C") + "bar.sync 1, 64;" + leader;
    clean(&Run::block(96), &ring(2, (1, 1), 6, &produce, &together));
}

#[test]
fn more_arrivals_are_expected_than_come() {
    // cutlass#2404: `empty` counts two, one arrives.
    let produce = wait("%r15", "%r13", "P") + ARRIVE_FULL;
    let one = "setp.eq.u32 %p7, %r1, 32; bar.warp.sync -1; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r15];";
    let consume = wait("%r14", "%r12", "C") + one;
    let run = Run::block(64);
    says(
        &run,
        &ring(3, (1, 2), 4, &produce, &consume),
        &[Kind::Deadlock],
    );
    clean(&run, &ring(3, (1, 2), 3, &produce, &consume));
    clean(&run, &ring(3, (1, 1), 4, &produce, &consume));
}

#[test]
fn a_named_barrier_with_too_few_threads() {
    // quack#146: four warps arrive, one waits; 5 * 32 threads take part, not 64.
    let ptx = |count: u32| {
        kernel(
            "sm_90a",
            "",
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.ge.u32 %p1, %r1, 128;
                 @%p1 bra WAIT;
                 barrier.cta.arrive 3, {count};
                 bra.uni END;
                 WAIT: barrier.cta.sync 3, {count};
                 END:"
            ),
        )
    };
    clean(&Run::block(160), &ptx(160));
    // In some orders pairs of arrivals complete it by themselves, and the waiter is left alone.
    may_say(&Run::block(160), &ptx(64), Kind::Deadlock);
}

/// Thread 0 copies 64 bytes and announces them by `announce`; the second warp waits and reads.
fn one_copy(announce: &str) -> String {
    let produce = format!(
        "{announce}
         mov.u32 %r20, buf;
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%out], 64, [%r14];"
    );
    let consume = wait("%r14", "%r12", "C") + "ld.shared.b32 %r21, [buf];";
    ring(1, (1, 1), 1, &produce, &consume)
}

#[test]
fn bytes_are_expected_and_nobody_arrives() {
    // tilelang#2566.
    let run = Run::block(64);
    let expected = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r14], 64;";
    let (outcome, _) = run.run(&one_copy(expected));
    assert!(
        show(&outcome.reports).contains("pending 1 of 1, tx 0"),
        "{}",
        show(&outcome.reports)
    );
    says(&run, &one_copy(expected), &[Kind::Deadlock]);
    clean(
        &run,
        &one_copy("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 64;"),
    );
    // Nothing expected at all (nvfp4-megamoe-kernel, commit notes).
    says(&run, &one_copy(""), &[Kind::Deadlock]);
}

#[test]
fn one_cta_expects_the_bytes_of_a_multicast() {
    // facebookexperimental/triton#908.
    let ptx = |condition: &str| {
        kernel(
            "sm_90a",
            ".shared .align 8 .b64 bar; .shared .align 128 .b8 buf[128];",
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.eq.u32 %p3, %r2, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
                 and.pred %p4, %p1, {condition};
                 @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
                 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
                 and.pred %p5, %p1, %p3;
                 mov.b16 %h, 3;
                 @%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buf], [%out], 64, [bar], %h;
                 W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar], 0; @!%p6 bra W;
                 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
            ),
        )
        .replace(".reg .b64 %out;", ".reg .b64 %out; .reg .b16 %h;")
    };
    let mut run = Run::block(32);
    (run.grid, run.cluster) = (2, 2);
    clean(&run, &ptx("%p1"));
    says(&run, &ptx("%p3"), &[Kind::Deadlock]);
}

#[test]
fn a_live_barrier_is_initialised_again() {
    // nvfp4-megamoe-kernel, commit notes.
    let again = "setp.eq.u32 %p8, %r10, 1; @%p8 mbarrier.init.shared::cta.b64 [%r14], 1;";
    let produce = wait("%r15", "%r13", "P") + again + ARRIVE_FULL;
    let consume = wait("%r14", "%r12", "C") + ARRIVE_EMPTY;
    let run = Run::block(64);
    says(
        &run,
        &ring(1, (1, 32), 3, &produce, &consume),
        &[Kind::MbarrierContract],
    );
}

#[test]
fn parities_start_again_with_every_tile() {
    // tilelang#2674: right only if the tile's steps are a multiple of twice the stages.
    let run = Run::block(64);
    // With 3 steps every access is in order, and old data is read: only results tell.
    for steps in [2, 4, 5, 6, 8] {
        let restart = format!(
            "rem.u32 %r16, %r10, {steps};
             rem.u32 %r11, %r16, 2; shl.b32 %r11, %r11, 3;
             div.u32 %r12, %r16, 2; and.b32 %r12, %r12, 1; xor.b32 %r13, %r12, 1;
             mov.u32 %r14, full; add.u32 %r14, %r14, %r11;
             mov.u32 %r15, empty; add.u32 %r15, %r15, %r11;
             mov.u32 %r20, buf; mad.lo.u32 %r20, %r11, 16, %r20;"
        );
        let produce = restart.clone()
            + &wait("%r15", "%r13", "P")
            + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 128;
               cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%out], 128, [%r14];";
        let consume = restart
            + &wait("%r14", "%r12", "C")
            + "and.b32 %r17, %r1, 31; mad.lo.u32 %r20, %r17, 4, %r20; ld.shared.b32 %r21, [%r20];
               fence.proxy.async.shared::cta;"
            + ARRIVE_EMPTY;
        let ptx = ring(2, (1, 32), 2 * steps, &produce, &consume);
        if steps % 4 == 0 {
            clean(&run, &ptx);
        } else {
            // Not under every schedule: where copies are quick enough, old data is read in order.
            let reports = schedules().map(|schedule| run.clone().with(schedule).run(&ptx).0);
            assert!(
                reports.into_iter().any(|outcome| !outcome.is_clean()),
                "{steps} steps"
            );
        }
    }
}

#[test]
fn a_load_under_a_condition_and_a_wait_without() {
    // tilelang#374: tiles 0 and 2 of three are loaded.
    let produce = "and.b32 %r16, %r10, 1; setp.ne.u32 %p7, %r16, 0; @%p7 bra SKIP;".to_owned()
        + &wait("%r15", "%r13", "P")
        + ARRIVE_FULL
        + "SKIP:";
    let consume = wait("%r14", "%r12", "C") + ARRIVE_EMPTY;
    says(
        &Run::block(64),
        &ring(1, (1, 32), 3, &produce, &consume),
        &[Kind::Deadlock],
    );
}

#[test]
fn a_commit_after_the_wait() {
    // csarofeen/pytorch#2457: `wait_group` counts one group too few.
    let ptx = |first: &str, second: &str| {
        kernel(
            "sm_80",
            ".shared .align 16 .b8 slots[384];",
            &format!(
                "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, slots; add.u32 %r3, %r3, %r2;
                 cvt.u64.u32 %rd1, %r2; add.u64 %rd1, %rd1, %out;
                 cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.commit_group;
                 cp.async.ca.shared.global [%r3+128], [%rd1+128], 4; cp.async.commit_group;
                 cp.async.wait_group 1;
                 mov.u32 %r10, 0;
                 L: add.u32 %r11, %r10, 2; rem.u32 %r12, %r11, 3; mad.lo.u32 %r13, %r12, 128, %r3;
                 mul.wide.u32 %rd2, %r11, 128; add.u64 %rd2, %rd2, %rd1;
                 rem.u32 %r14, %r10, 3; mad.lo.u32 %r15, %r14, 128, %r3;
                 cp.async.ca.shared.global [%r13], [%rd2], 4;
                 ld.shared.b32 %r16, [%r15]; // computes
                 {first} {second}
                 add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 4; @%p1 bra L;
                 cp.async.wait_all;"
            ),
        )
    };
    let (wait, commit) = ("cp.async.wait_group 1;", "cp.async.commit_group;");
    clean(&Run::default(), &ptx(commit, wait));
    says(
        &Run::default(),
        &ptx(wait, commit),
        &[Kind::ReadBeforeComplete],
    );
}

#[test]
fn multicast_peers_with_different_trip_counts() {
    // DeepGEMM#429: each CTA sends half of every tile to both; one of them stops earlier.
    let ptx = |second: u32| {
        kernel(
            "sm_90a",
            ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 128 .b8 buf[64];",
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 mov.u32 %r2, %cluster_ctarank;
                 @!%p1 bra READY;
                 mbarrier.init.shared::cta.b64 [full], 1;
                 mbarrier.init.shared::cta.b64 [empty], 2;
                 fence.mbarrier_init.release.cluster;
                 READY:
                 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
                 setp.eq.u32 %p2, %r2, 0;
                 selp.b32 %r3, 2, {second}, %p2;
                 mov.u32 %r10, 0;
                 mov.b16 %h, 3;
                 @!%p1 bra END;
                 L: and.b32 %r12, %r10, 1; xor.b32 %r13, %r12, 1;
                 P: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [empty], %r13; @!%p6 bra P;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 64;
                 mov.u32 %r4, buf; and.b32 %r4, %r4, 16777215; mad.lo.u32 %r4, %r2, 32, %r4;
                 mapa.shared::cluster.u32 %r4, %r4, %r2;
                 mov.u32 %r5, full;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%out], 32, [%r5], %h;
                 C: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [full], %r12; @!%p6 bra C;
                 mov.u32 %r6, empty;
                 mapa.shared::cluster.u32 %r7, %r6, 0;
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
                 mapa.shared::cluster.u32 %r7, %r6, 1;
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
                 add.u32 %r10, %r10, 1;
                 setp.lt.u32 %p5, %r10, %r3;
                 @%p5 bra L;
                 END:
                 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
            ),
        )
        .replace(".reg .b64 %out;", ".reg .b64 %out; .reg .b16 %h;")
    };
    let mut run = Run::block(32);
    (run.grid, run.cluster) = (2, 2);
    clean(&run, &ptx(2));
    let (outcome, _) = run.run(&ptx(1));
    assert!(
        show(&outcome.reports).contains("tx 32"),
        "{}",
        show(&outcome.reports)
    );
    says(&run, &ptx(1), &[Kind::Deadlock]);
}
