//! What NVIDIA's, Triton's and Gluon's compilers rely on: the right kernels that made the emulator
//! learn it are not part of this repository, their patterns are.

mod support;

use ptx_emulator::Kind;
use support::{Run, clean, kernel, reported};

const BUFFERS: &str = ".shared .align 16 .b8 buf[512]; .shared .align 8 .b64 bar;";

#[test]
fn threads_that_hold_the_same_value_may_all_store_it() {
    let run = Run::block(64);
    let store = |value: &str| {
        kernel(
            "sm_80",
            BUFFERS,
            &format!(
                "mov.u32 %r1, %tid.x;
                 {value}
                 st.shared.b32 [buf], %r2; // all
                 bar.sync 0;
                 ld.shared.b32 %r3, [buf];"
            ),
        )
    };
    clean(&run, &store("mov.u32 %r2, 7;"));
    // Of different values nobody knows which stays.
    reported(&run, &store("mov.u32 %r2, %r1;"), Kind::Race, "all");
    // And a read in between races even so.
    let read = kernel(
        "sm_80",
        BUFFERS,
        "st.shared.b32 [buf], 7;
         ld.shared.b32 %r3, [buf]; // too early",
    );
    reported(&run, &read, Kind::Race, "too early");
}

/// Each CTA of a pair initialises a barrier, and arrives at the other's.
fn pair_of_barriers(after_init: &str, arrive: &str) -> String {
    kernel(
        "sm_90a",
        BUFFERS,
        &format!(
            "mbarrier.init.shared::cta.b64 [bar], 1;
             {after_init}
             {arrive}
             barrier.cluster.wait.acquire.aligned;
             mov.u32 %r1, %cluster_ctarank;
             xor.b32 %r1, %r1, 1;
             mov.u32 %r2, bar;
             mapa.shared::cluster.u32 %r2, %r2, %r1;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2]; // theirs
             L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra L;
             barrier.cluster.arrive.release.aligned;
             barrier.cluster.wait.acquire.aligned;"
        ),
    )
}

#[test]
fn a_fenced_initialisation_needs_no_more_than_a_relaxed_arrival() {
    let run = Run {
        grid: 2,
        cluster: 2,
        ..Run::block(1)
    };
    let fence = "fence.mbarrier_init.release.cluster;";
    let relaxed = "barrier.cluster.arrive.relaxed.aligned;";
    clean(&run, &pair_of_barriers(fence, relaxed));
    clean(
        &run,
        &pair_of_barriers(fence, "barrier.cluster.arrive.release.aligned;"),
    );
    reported(&run, &pair_of_barriers("", relaxed), Kind::Race, "theirs");
    let late = "barrier.cluster.arrive.relaxed.aligned; fence.mbarrier_init.release.cluster;";
    reported(&run, &pair_of_barriers("", late), Kind::Race, "theirs");
}

#[test]
fn a_fence_before_a_relaxed_arrival_orders_data_too() {
    let run = Run {
        grid: 2,
        cluster: 2,
        ..Run::block(1)
    };
    let exchange = |fence: &str| {
        kernel(
            "sm_90a",
            BUFFERS,
            &format!(
                "st.shared.b32 [buf], 7;
                 {fence}
                 barrier.cluster.arrive.relaxed.aligned;
                 barrier.cluster.wait.acquire.aligned;
                 mov.u32 %r1, %cluster_ctarank;
                 xor.b32 %r1, %r1, 1;
                 mov.u32 %r2, buf;
                 mapa.shared::cluster.u32 %r2, %r2, %r1;
                 ld.shared::cluster.b32 %r3, [%r2]; // theirs
                 barrier.cluster.arrive.release.aligned;
                 barrier.cluster.wait.acquire.aligned;"
            ),
        )
    };
    clean(&run, &exchange("fence.acq_rel.cluster;"));
    reported(&run, &exchange(""), Kind::Race, "theirs");
    // This one is for barriers only.
    let narrow = exchange("fence.mbarrier_init.release.cluster;");
    reported(&run, &narrow, Kind::Race, "theirs");
}

#[test]
fn a_producer_may_end_while_an_mbarrier_waits_for_its_copies() {
    let hand_over = |tell: &str| {
        kernel(
            "sm_80",
            BUFFERS,
            &format!(
                "mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared.b64 [bar], 32;
                 bar.sync 0;
                 shl.b32 %r2, %r1, 2;
                 mov.u32 %r3, buf;
                 add.u32 %r3, %r3, %r2;
                 setp.ge.u32 %p2, %r1, 32;
                 @%p2 bra CONSUMER;
                 cp.async.ca.shared.global [%r3], [%out], 4;
                 {tell}
                 ret; // left
                 CONSUMER:
                 L: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;
                 @!%p3 bra L;
                 ld.shared.b32 %r4, [%r3+-128];"
            ),
        )
    };
    let run = Run::block(64);
    clean(
        &run,
        &hand_over("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"),
    );
    // An arrival of the thread itself does not wait for the copy.
    let plain = hand_over("mbarrier.arrive.shared.b64 %rd1, [bar];");
    reported(&run, &plain, Kind::ReadBeforeComplete, "ld.shared");
}

#[test]
fn two_stores_of_the_same_bytes_are_harmless_and_of_others_are_not() {
    // Two warps store a tile each to one place, without an order between them.
    let stores = |second: &str| {
        kernel(
            "sm_90a",
            ".shared .align 128 .b8 tiles[512];",
            &format!(
                "mov.u32 %r1, %tid.x;
                 shl.b32 %r2, %r1, 2;
                 mov.u32 %r3, tiles;
                 add.u32 %r4, %r3, %r2;
                 and.b32 %r5, %r1, 31;
                 {second}
                 st.shared.b32 [%r4], %r5;
                 fence.proxy.async.shared::cta;
                 bar.sync 0;
                 and.b32 %r7, %r1, 31;
                 setp.eq.u32 %p2, %r7, 0;
                 @!%p2 bra END;
                 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r4], 128; // stores
                 cp.async.bulk.commit_group;
                 cp.async.bulk.wait_group 0;
                 END:"
            ),
        )
    };
    let run = Run::block(64);
    clean(&run, &stores(""));
    let different = stores("mov.u32 %r5, %r1;");
    reported(&run, &different, Kind::ReadBeforeComplete, "stores");
}
