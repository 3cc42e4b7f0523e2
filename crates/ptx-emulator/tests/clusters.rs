//! Work that crosses the CTAs of a cluster: multicast, copies and stores to other CTAs, and
//! clusters that are taken out of the grid.

mod support;

use ptx_emulator::Kind;
use support::{Run, clean, kernel, numbered, reported, schedules, show};

/// One thread per CTA. `%r1` is the rank, `%p1` whether it is 0, `%rd1` an output of 16 bytes for
/// each CTA of the grid.
const DECLARATIONS: &str = ".shared .align 128 .b8 buf[256]; .shared .align 8 .b64 bar;\n\
     .reg .b128 %q; .reg .b16 %h;";

const BEGIN: &str = "mov.u32 %r1, %cluster_ctarank;
     setp.eq.u32 %p1, %r1, 0;
     mov.u32 %r7, %ctaid.x;
     mul.wide.u32 %rd1, %r7, 16;
     add.u64 %rd1, %rd1, %out;
     mbarrier.init.shared::cta.b64 [bar], 1;
     fence.mbarrier_init.release.cluster;
     barrier.cluster.arrive.release.aligned;
     barrier.cluster.wait.acquire.aligned;";

/// Adds to [`BEGIN`], in a pair of CTAs: `%r3` is the other CTA's `bar`, `%r5` the own `buf` and
/// `%r6` the other's.
const PEER: &str = "xor.b32 %r4, %r1, 1;
     mov.u32 %r3, bar;
     mapa.shared::cluster.u32 %r3, %r3, %r4;
     mov.u32 %r5, buf;
     mapa.shared::cluster.u32 %r6, %r5, %r4;";

/// Waits for phase 0 of `bar`, for which `bytes` are expected.
fn wait(bytes: u32) -> String {
    format!(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {bytes};
         L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
         @!%p2 bra L;"
    )
}

const END: &str = "barrier.cluster.arrive.release.aligned;
     barrier.cluster.wait.acquire.aligned;";

fn pair() -> Run {
    Run {
        grid: 2,
        cluster: 2,
        ..Run::block(1)
    }
}

fn results(run: &Run, ptx: &str, expected: &[u32]) {
    for schedule in schedules() {
        let (outcome, words) = run.clone().with(schedule).run(ptx);
        let text = show(&outcome.reports);
        assert!(
            outcome.is_clean(),
            "{schedule:?}: {text}\n{}",
            numbered(ptx)
        );
        assert_eq!(words[..expected.len()], *expected, "{schedule:?}");
    }
}

/// CTA 0 sends 64 bytes that each CTA expects; `mask` and `bytes` are what is varied.
fn multicast(mask: u32, bytes: u32) -> String {
    let body = format!(
        "{BEGIN}
         @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
              [buf], [%out], 64, [bar], {mask}; // multicast
         {}
         ld.shared.b32 %r8, [buf+4];
         add.u32 %r8, %r8, 5;
         st.global.b32 [%rd1+1024], %r8;
         {END}",
        wait(bytes)
    );
    kernel("sm_90a", DECLARATIONS, &body)
}

#[test]
fn a_multicast_reaches_every_cta_of_the_mask() {
    let (outcome, words) = pair().run(&multicast(3, 64));
    assert!(outcome.is_clean(), "{}", show(&outcome.reports));
    assert_eq!((words[256], words[260]), (5, 5));
    clean(&pair(), &multicast(3, 64));
    // CTA 1 waits for what nobody sends it.
    reported(&pair(), &multicast(1, 64), Kind::Deadlock, "");
    reported(
        &pair(),
        &multicast(7, 64),
        Kind::InvalidOperand,
        "multicast",
    );
    reported(
        &pair(),
        &multicast(0, 64),
        Kind::InvalidOperand,
        "multicast",
    );
}

#[test]
fn values_are_stored_into_the_other_cta() {
    let body = |store: &str, bytes: u32| {
        let body = format!(
            "{BEGIN}
             {PEER}
             add.u32 %r8, %r1, 10;
             {store}
             {}
             ld.shared.b32 %r9, [buf];
             st.global.b32 [%rd1], %r9;
             {END}",
            wait(bytes)
        );
        kernel("sm_90a", DECLARATIONS, &body)
    };
    let store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r8, [%r3];";
    results(&pair(), &body(store, 4), &[11, 0, 0, 0, 10]);
    let vector =
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r6], {%r8, 7}, [%r3];";
    results(&pair(), &body(vector, 8), &[11, 0, 0, 0, 10]);
    // The barrier has to be where the data go.
    let elsewhere =
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r8, [bar]; // here";
    reported(&pair(), &body(elsewhere, 4), Kind::InvalidOperand, "here");
}

#[test]
fn values_are_added_in_the_other_cta() {
    let body = format!(
        "st.shared.b32 [buf], 100;
         {BEGIN}
         {PEER}
         add.u32 %r8, %r1, 10;
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], %r8, [%r3];
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], 1, [%r3];
         {}
         ld.shared.b32 %r9, [buf];
         st.global.b32 [%rd1], %r9;
         {END}",
        wait(8)
    );
    results(
        &pair(),
        &kernel("sm_90a", DECLARATIONS, &body),
        &[112, 0, 0, 0, 111],
    );
}

#[test]
fn shared_memory_is_copied_to_the_other_cta() {
    let body = |copy: &str, second: &str| {
        let body = format!(
            "{BEGIN}
             {PEER}
             add.u32 %r8, %r1, 10;
             st.shared.v4.b32 [buf+128], {{%r8, %r8, %r8, %r8}};
             fence.proxy.async.shared::cta;
             {copy}
             {second}
             {}
             ld.shared.b32 %r9, [buf];
             st.global.b32 [%rd1], %r9;
             {END}",
            wait(16)
        );
        kernel("sm_90a", DECLARATIONS, &body)
    };
    let copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes \
                [%r6], [buf+128], 16, [%r3]; // copy";
    results(&pair(), &body(copy, ""), &[11, 0, 0, 0, 10]);
    let overwrite = "st.shared.b32 [buf+128], 1; // again";
    reported(
        &pair(),
        &body(copy, overwrite),
        Kind::OverwriteWhileRead,
        "again",
    );
    let own = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes \
               [%r5], [buf+128], 16, [bar]; // copy";
    reported(&pair(), &body(own, ""), Kind::InvalidOperand, "copy");
}

/// Every cluster asks for more work until there is none, and counts at each grid position.
fn persistent(multicast: &str) -> String {
    let body = format!(
        "{BEGIN}
         mov.u32 %r10, 0;
         NEXT:
         mul.wide.u32 %rd2, %r7, 16;
         add.u64 %rd2, %rd2, %out;
         atom.global.add.u32 %r11, [%rd2], 1;
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
         {multicast}
         WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r10;
         @!%p2 bra WAIT;
         xor.b32 %r10, %r10, 1;
         ld.shared.b128 %q, [buf];
         clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
         @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q;
         add.u32 %r7, %r7, %r1;
         fence.proxy.async.shared::cta;
         {END}
         @%p3 bra NEXT;"
    );
    kernel("sm_100a", DECLARATIONS, &body)
}

#[test]
fn launch_control_gives_each_block_away_once() {
    let single = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [buf], [bar];";
    let run = Run {
        grid: 13,
        ..Run::block(1)
    };
    let ones: Vec<u32> = (0..13 * 4).map(|n| u32::from(n % 4 == 0)).collect();
    results(&run, &persistent(single), &ones);
    let all = "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes\
               .multicast::cluster::all.b128 [buf], [bar];";
    let run = Run {
        grid: 14,
        cluster: 2,
        ..Run::block(1)
    };
    let ones: Vec<u32> = (0..14 * 4).map(|n| u32::from(n % 4 == 0)).collect();
    results(&run, &persistent(all), &ones);
}

#[test]
fn other_bytes_are_no_response() {
    let body = format!(
        "{BEGIN}
         st.shared.v4.b32 [buf], {{1, 2, 3, 4}};
         ld.shared.b128 %q, [buf];
         clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q; // query"
    );
    let ptx = kernel("sm_100a", DECLARATIONS, &body);
    reported(&Run::block(1), &ptx, Kind::InvalidOperand, "query");
}

#[test]
fn grids_without_others_depend_on_none() {
    let ptx = kernel(
        "sm_90a",
        "",
        "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\nst.global.b32 [%out], 1;",
    );
    results(&Run::block(1), &ptx, &[1]);
}
