//! What the measurements leave out of the instructions of a warp.

use super::harness::{refused, run};

fn lanes() -> Vec<[u64; 3]> {
    (0..32).map(|lane| [lane, 31 - lane, lane / 4]).collect()
}

#[test]
fn votes_count_the_members_only() {
    let vote = |rest: &str| {
        let body = format!(
            "setp.lt.u32 %p1, %lane, 16; setp.lt.u32 %p2, %lane, 8; mov.pred %p0, 0; @%p1 {rest}"
        );
        run(&format!("{body} selp.b32 %r0, 1, 0, %p0;"), "%r0", &lanes())
    };
    assert_eq!(vote("vote.sync.all.pred %p0, %p2, 0xffff;")[3], 0);
    assert_eq!(vote("vote.sync.any.pred %p0, %p2, 0xffff;")[15], 1);
    assert_eq!(vote("vote.sync.any.pred %p0, %p2, 0xffff;")[16], 0);
    assert_eq!(vote("vote.sync.all.pred %p0, %p1, 0xffff;")[3], 1);
    assert_eq!(vote("vote.sync.uni.pred %p0, !%p1, 0xffff;")[3], 1);
    assert_eq!(vote("vote.sync.uni.pred %p0, %p2, 0xffff;")[3], 0);
    let ballot = "setp.lt.u32 %p1, %lane, 5; vote.sync.ballot.b32 %r0, %p1, -1;";
    assert_eq!(run(ballot, "%r0", &lanes()), [31; 32]);
}

#[test]
fn halves_of_a_warp_with_masks_of_their_own_do_not_mix() {
    let body = "setp.lt.u32 %p1, %lane, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1;\n\
                redux.sync.add.u32 %r0, %a, %r1;";
    let got = run(body, "%r0", &lanes());
    assert_eq!(got[..16], [120; 16]);
    assert_eq!(got[16..], [376; 16]);
    let elected = "setp.lt.u32 %p1, %lane, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1;\n\
                   elect.sync _|%p0, %r1;";
    let leaders: Vec<u64> = (0..32).map(|lane| u64::from(lane % 16 == 0)).collect();
    assert_eq!(run(elected, "%p0", &lanes()), leaders);
}

#[test]
fn reductions() {
    let all = |instruction: &str| {
        let got = run(&format!("{instruction} %r0, %a, -1;"), "%r0", &lanes());
        assert!(got.iter().all(|x| *x == got[0]));
        got[0]
    };
    assert_eq!(all("redux.sync.add.u32"), 496);
    assert_eq!(all("redux.sync.max.u32"), 31);
    assert_eq!(all("redux.sync.min.s32"), 0);
    assert_eq!(all("redux.sync.or.b32"), 31);
    assert_eq!(all("redux.sync.and.b32"), 0);
    assert_eq!(all("redux.sync.xor.b32"), 0);
    let float = |rest: &str, special: &str| {
        let body = format!(
            "cvt.rn.f32.u32 %r1, %a; neg.f32 %r1, %r1; setp.eq.u32 %p1, %lane, 7;\n\
             @%p1 mov.b32 %r1, {special}; redux.sync.{rest}.f32 %r0, %r1, -1;"
        );
        f32::from_bits(run(&body, "%r0", &lanes())[0] as u32)
    };
    assert_eq!(float("min", "0f7FC00000").to_bits(), (-31f32).to_bits());
    assert_eq!(float("max", "0f7FC00000").to_bits(), (-0f32).to_bits());
    assert_eq!(float("max.abs", "0f00000000"), 31.0);
    assert_eq!(float("min.NaN", "0f7FC00000").to_bits(), 0x7fff_ffff);
    let signed = "sub.s32 %r1, %a, 16; redux.sync.min.s32 %r0, %r1, -1;";
    assert_eq!(run(signed, "%r0", &lanes())[9], 0xffff_fff0);
}

#[test]
fn lanes_with_equal_values_find_each_other() {
    let wide = run("match.any.sync.b64 %r0, %cd, -1;", "%r0", &lanes());
    for (lane, mask) in wide.iter().enumerate() {
        assert_eq!(*mask, 0xf << (lane / 4 * 4), "lane {lane}");
    }
    let body = "mov.b32 %r0, 0; setp.lt.u32 %p1, %lane, 4; @%p1 match.all.sync.b32 %r0, %c, 0xf;";
    assert_eq!(run(body, "%r0", &lanes())[3..5], [0xf, 0]);
}

#[test]
fn shuffles_take_distances_from_the_lane() {
    let body = "shfl.sync.idx.b32 %r0, %a, %b, 31, -1;";
    let reversed: Vec<u64> = (0..32).rev().collect();
    assert_eq!(run(body, "%r0", &lanes()), reversed);
}

#[test]
fn forms_without_sync_are_refused() {
    assert_eq!(
        refused("shfl.up.b32 %r0, %a, 1, 0;"),
        "shfl.up.b32: needs .sync"
    );
    assert_eq!(
        refused("vote.all.pred %p0, %p1;"),
        "vote.all.pred: needs .sync"
    );
}
