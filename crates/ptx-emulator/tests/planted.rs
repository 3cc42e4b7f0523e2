//! Faults planted in right rings: each is reported at its line under every schedule, and the ring
//! without it is clean under the same.
//!
//! The ring is what the compiler emits in small: a producer fills two slots of 128 bytes in turn,
//! a consumer adds 1 to each word and stores the tile. The faults of tensor memory stand beside its
//! instructions, those of a barrier's contract in `mbarriers.rs`.

mod support;

use ptx_emulator::{Kind, Schedule};
use support::{Run, clean, has, kernel, numbered, show};

const TILES: u32 = 7;

const SHARED: &str = ".shared .align 128 .b8 ring[256]; .shared .align 128 .b8 out_tile[128];
    .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];";

/// `%r10` is the tile's number, `%r11` its slot, `%r12` its parity, `%r13` the slot's address,
/// `%r14` and `%r15` its barriers.
const SLOT: &str = "and.b32 %r11, %r10, 1;
    shr.u32 %r12, %r10, 1; and.b32 %r12, %r12, 1;
    mov.u32 %r13, ring; mad.lo.u32 %r13, %r11, 128, %r13;
    mov.u32 %r14, full; mad.lo.u32 %r14, %r11, 8, %r14;
    mov.u32 %r15, empty; mad.lo.u32 %r15, %r11, 8, %r15;";

/// Bulk copies in and out, `expect_tx`, one warp on each side.
fn bulk_ring() -> String {
    let body = format!(
        "mov.u32 %r1, %tid.x;
         shr.u32 %r2, %r1, 5;
         and.b32 %r3, %r1, 31;
         setp.eq.u32 %p1, %r1, 0;
         @!%p1 bra READY;
         mbarrier.init.shared::cta.b64 [full], 1;
         mbarrier.init.shared::cta.b64 [full+8], 1;
         mbarrier.init.shared::cta.b64 [empty], 32;
         mbarrier.init.shared::cta.b64 [empty+8], 32;
         fence.mbarrier_init.release.cluster;
         READY:
         bar.sync 0;
         mov.u32 %r10, 0;
         setp.ne.u32 %p2, %r2, 0;
         @%p2 bra CONSUME;
         elect.sync _|%p3, -1;
         @!%p3 bra END;
         PRODUCE:
         {SLOT}
         xor.b32 %r16, %r12, 1;
         P: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r15], %r16; // producer waits
         @!%p4 bra P;
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 128; // expects
         mul.wide.u32 %rd1, %r10, 128;
         add.u64 %rd1, %rd1, %out;
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 128, [%r14]; // loads
         add.u32 %r10, %r10, 1;
         setp.lt.u32 %p5, %r10, {TILES};
         @%p5 bra PRODUCE;
         bra.uni END;
         CONSUME:
         {SLOT}
         C: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r14], %r12; // consumer waits
         @!%p4 bra C;
         mad.lo.u32 %r17, %r3, 4, %r13;
         ld.shared.b32 %r18, [%r17]; // reads slot
         fence.proxy.async.shared::cta; // before the next copy
         mbarrier.arrive.shared::cta.b64 _, [%r15]; // releases
         add.u32 %r18, %r18, 1;
         mov.u32 %r19, out_tile;
         mad.lo.u32 %r20, %r3, 4, %r19;
         setp.eq.u32 %p6, %r3, 0;
         @%p6 cp.async.bulk.wait_group.read 0; // drained
         bar.warp.sync -1; // before reuse
         st.shared.b32 [%r20], %r18; // fills tile
         fence.proxy.async.shared::cta; // proxy fence
         bar.warp.sync -1; // before store
         mul.wide.u32 %rd1, %r10, 128;
         add.u64 %rd1, %rd1, %out;
         add.u64 %rd1, %rd1, 4096;
         @%p6 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r19], 128; // stores
         @%p6 cp.async.bulk.commit_group;
         add.u32 %r10, %r10, 1;
         setp.lt.u32 %p5, %r10, {TILES};
         @%p5 bra CONSUME;
         @%p6 cp.async.bulk.wait_group 0;
         END:"
    );
    kernel("sm_90a", SHARED, &body)
}

/// `cp.async` with arrives of the copies themselves, and polling waits.
fn cp_async_ring() -> String {
    let body = format!(
        "mov.u32 %r1, %tid.x;
         shr.u32 %r2, %r1, 5;
         and.b32 %r3, %r1, 31;
         setp.eq.u32 %p1, %r1, 0;
         @!%p1 bra READY;
         mbarrier.init.shared.b64 [full], 32;
         mbarrier.init.shared.b64 [full+8], 32;
         mbarrier.init.shared.b64 [empty], 32;
         mbarrier.init.shared.b64 [empty+8], 32;
         READY:
         bar.sync 0;
         mov.u32 %r10, 0;
         setp.ne.u32 %p2, %r2, 0;
         @%p2 bra CONSUME;
         PRODUCE:
         {SLOT}
         xor.b32 %r16, %r12, 1;
         P: mbarrier.test_wait.parity.shared.b64 %p4, [%r15], %r16; // producer waits
         @!%p4 bra P;
         mad.lo.u32 %r17, %r3, 4, %r13;
         mad.lo.u32 %r18, %r10, 32, %r3;
         mul.wide.u32 %rd1, %r18, 4;
         add.u64 %rd1, %rd1, %out;
         cp.async.ca.shared.global [%r17], [%rd1], 4; // loads
         cp.async.mbarrier.arrive.noinc.shared.b64 [%r14]; // announces
         add.u32 %r10, %r10, 1;
         setp.lt.u32 %p5, %r10, {TILES};
         @%p5 bra PRODUCE;
         cp.async.wait_all;
         bra.uni END;
         CONSUME:
         {SLOT}
         C: mbarrier.test_wait.parity.shared.b64 %p4, [%r14], %r12; // consumer waits
         @!%p4 bra C;
         xor.b32 %r19, %r3, 1;
         mad.lo.u32 %r17, %r19, 4, %r13;
         ld.shared.b32 %r18, [%r17]; // reads slot
         mbarrier.arrive.shared.b64 %rd2, [%r15]; // releases
         add.u32 %r18, %r18, 1;
         mad.lo.u32 %r20, %r10, 32, %r19;
         mul.wide.u32 %rd1, %r20, 4;
         add.u64 %rd1, %rd1, %out;
         st.global.b32 [%rd1+4096], %r18;
         add.u32 %r10, %r10, 1;
         setp.lt.u32 %p5, %r10, {TILES};
         @%p5 bra CONSUME;
         END:"
    );
    kernel("sm_80", SHARED, &body)
}

/// Thirty schedules of every sort.
fn schedules() -> impl Iterator<Item = Schedule> {
    (0..30).map(|n| Schedule::nth(n, 3))
}

/// Replaces `what` by `by` at the line that ends with the comment `at`.
fn plant(ptx: &str, at: &str, what: &str, by: &str) -> String {
    let mark = format!("// {at}");
    let lines: Vec<String> = ptx
        .lines()
        .map(|line| {
            if line.trim_end().ends_with(&mark) {
                line.replacen(what, by, 1)
            } else {
                line.to_owned()
            }
        })
        .collect();
    let planted = lines.join("\n") + "\n";
    assert_ne!(planted, ptx, "nothing planted at {at}");
    planted
}

/// Under every schedule one of these is reported, a class and the line's comment.
fn found(ptx: &str, expected: &[(Kind, &str)]) {
    for schedule in schedules() {
        let (outcome, _) = Run::block(64).with(schedule).run(ptx);
        let any = expected.iter().any(|(kind, at)| {
            if matches!(kind, Kind::Deadlock) {
                // Those who wait are named with their lines.
                let line = ptx
                    .lines()
                    .position(|line| line.ends_with(&format!("// {at}")));
                let named = format!("line {}:", line.expect("a line") + 1);
                return outcome.reports.iter().any(|report| {
                    report.kind == *kind && report.notes.iter().any(|note| note.contains(&named))
                });
            }
            has(&outcome.reports, ptx, *kind, at)
        });
        assert!(
            any,
            "{schedule:?}: none of {expected:?} in {}\n{}",
            show(&outcome.reports),
            numbered(ptx)
        );
    }
}

#[test]
fn the_rings_are_right() {
    for ptx in [bulk_ring(), cp_async_ring()] {
        clean(&Run::block(64), &ptx);
        for schedule in schedules() {
            let (outcome, words) = Run::block(64).with(schedule).run(&ptx);
            assert!(outcome.reports.is_empty(), "{}", show(&outcome.reports));
            assert!(
                words[1024..1024 + 32 * TILES as usize]
                    .iter()
                    .all(|&word| word == 1)
            );
            assert_eq!(words[1024 + 32 * TILES as usize], 0);
        }
    }
}

#[test]
fn a_dropped_arrive() {
    let no_release = plant(
        &bulk_ring(),
        "releases",
        "mbarrier.arrive.shared::cta.b64 _, [%r15];",
        "",
    );
    found(&no_release, &[(Kind::Deadlock, "producer waits")]);
    let no_release = plant(
        &cp_async_ring(),
        "releases",
        "mbarrier.arrive.shared.b64 %rd2, [%r15];",
        "",
    );
    found(&no_release, &[(Kind::Deadlock, "producer waits")]);
    let arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r14];";
    found(
        &plant(&cp_async_ring(), "announces", arrive, ""),
        &[(Kind::Deadlock, "consumer waits")],
    );
}

#[test]
fn wrong_bytes() {
    let too_many = plant(&bulk_ring(), "expects", "128", "256");
    found(&too_many, &[(Kind::Deadlock, "consumer waits")]);
    // The copy's other half counts below zero, so that the phase never ends.
    let too_few = plant(&bulk_ring(), "expects", "128", "64");
    found(
        &too_few,
        &[
            (Kind::Deadlock, "consumer waits"),
            (Kind::MbarrierContract, ""),
        ],
    );
}

#[test]
fn a_wrong_parity_on_either_side() {
    for ring in [bulk_ring(), cp_async_ring()] {
        let consumer = plant(&ring, "consumer waits", "[%r14], %r12", "[%r14], %r16");
        let consumer = consumer.replacen(
            "CONSUME:",
            "CONSUME: xor.b32 %r16, %r10, 2; shr.u32 %r16, %r16, 1; and.b32 %r16, %r16, 1;",
            1,
        );
        found(
            &consumer,
            &[
                (Kind::ReadBeforeComplete, "reads slot"),
                (Kind::UninitialisedRead, "reads slot"),
                (Kind::Deadlock, "consumer waits"),
            ],
        );
        // Everybody waits for everybody.
        let producer = plant(&ring, "producer waits", "[%r15], %r16", "[%r15], %r12");
        found(&producer, &[(Kind::Deadlock, "producer waits")]);
    }
}

#[test]
fn an_early_release() {
    for (ring, arrive) in [
        (bulk_ring(), "mbarrier.arrive.shared::cta.b64 _, [%r15]; "),
        (cp_async_ring(), "mbarrier.arrive.shared.b64 %rd2, [%r15]; "),
    ] {
        let moved = plant(&ring, "releases", arrive.trim_end(), "");
        let moved = plant(
            &moved,
            "reads slot",
            "ld.shared",
            &format!("{arrive}ld.shared"),
        );
        found(
            &moved,
            &[
                (Kind::Race, "loads"),
                (Kind::ReadBeforeComplete, "reads slot"),
            ],
        );
    }
}

#[test]
fn a_missing_proxy_fence() {
    let ptx = plant(
        &bulk_ring(),
        "proxy fence",
        "fence.proxy.async.shared::cta;",
        "",
    );
    found(&ptx, &[(Kind::MissingProxyFence, "stores")]);
}

#[test]
fn a_missing_order_among_the_lanes_before_a_store() {
    let ptx = plant(&bulk_ring(), "before store", "bar.warp.sync -1;", "");
    found(&ptx, &[(Kind::Race, "stores")]);
}

#[test]
fn a_weak_wait_group() {
    let ptx = plant(
        &bulk_ring(),
        "drained",
        "wait_group.read 0",
        "wait_group.read 1",
    );
    found(&ptx, &[(Kind::OverwriteWhileRead, "fills tile")]);
    let ptx = plant(&bulk_ring(), "before reuse", "bar.warp.sync -1;", "");
    found(
        &ptx,
        &[
            (Kind::OverwriteWhileRead, "fills tile"),
            (Kind::Race, "fills tile"),
        ],
    );
}

#[test]
fn a_slot_off_by_one() {
    for ring in [bulk_ring(), cp_async_ring()] {
        let address = if ring.contains("sm_90a") {
            "%r3, 4, %r13"
        } else {
            "%r19, 4, %r13"
        };
        let consumer = ring.replacen("CONSUME:", "CONSUME: mov.u32 %r21, ring;", 1);
        let target = "ld.shared.b32 %r18, [%r17];";
        let other = format!(
            "xor.b32 %r22, %r11, 1; mad.lo.u32 %r21, %r22, 128, %r21; sub.u32 %r17, %r17, %r13; add.u32 %r17, %r17, %r21; {target}"
        );
        assert!(consumer.contains(address));
        let ptx = plant(&consumer, "reads slot", target, &other);
        found(
            &ptx,
            &[
                (Kind::ReadBeforeComplete, "reads slot"),
                (Kind::UninitialisedRead, "reads slot"),
                (Kind::Race, "loads"),
            ],
        );
    }
}

#[test]
fn an_arrive_on_the_wrong_barrier() {
    let ptx = plant(&bulk_ring(), "releases", "[%r15]", "[%r14]");
    found(
        &ptx,
        &[
            (Kind::MbarrierContract, ""),
            (Kind::Deadlock, "producer waits"),
        ],
    );
    let ptx = plant(
        &bulk_ring(),
        "loads",
        "[%r14]; // loads",
        "[%r15]; // loads",
    );
    found(
        &ptx,
        &[
            (Kind::MbarrierContract, ""),
            (Kind::Deadlock, "consumer waits"),
        ],
    );
}
