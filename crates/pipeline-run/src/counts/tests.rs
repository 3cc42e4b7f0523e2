use super::*;

fn ptx_report(text: &str) -> String {
    report(&ptx::parse(text), "loop")
}

fn sass_report(text: &str) -> String {
    report(&sass::parse(text), "sass loop")
}

/// The counts that are not 0, by loop.
fn brief(report: &str) -> Vec<String> {
    let line = |line: &str| {
        let Some((head, counts)) = line.split_once(": try_wait") else {
            return line.to_owned();
        };
        let counts = format!("try_wait{counts}");
        let kept: Vec<&str> = counts
            .split(", ")
            .filter(|count| !count.ends_with(" 0"))
            .collect();
        format!("{head}: {}", kept.join(", "))
    };
    report.lines().map(line).collect()
}

#[test]
fn one_line_has_all_counts() {
    let text = ".visible .entry k(.param .u64 p) .reqntid 96 {\n$L1:\n cp.async.ca.shared.global [%r1], [%rd1], 16;\n @%p1 bra $L1;\n ret;\n}\n";
    assert_eq!(
        ptx_report(text),
        "k: loop $L1 line 2: try_wait 0, test_wait 0, arrive 0, expect_tx 0, commit 0, cp.async 1, \
         bulk 0, bar.sync 0, bar.warp.sync 0, elect.sync 0, fence.proxy.async 0, nanosleep 0\n"
    );
}

/// Two roles as NVPTX prints them: a load loop whose wait repeats in a block of its own, and a
/// compute loop with named labels inside inline assembly.
#[test]
fn roles_of_a_pipelined_kernel() {
    let report = ptx_report(include_str!("../../tests/data/roles.ptx"));
    assert_eq!(
        brief(&report),
        [
            "stream: loop $L__BB0_2 line 17: try_wait 1, expect_tx 1, bulk 2",
            "stream: loop $L__BB0_6 line 32: try_wait 1, arrive 1, bar.sync 1, fence.proxy.async 1",
            "plain: no main loop",
        ]
    );
}

#[test]
fn a_first_try_before_the_spin_is_the_same_wait() {
    let body = |spin: &str| {
        format!(
            ".entry k() {{\nL0:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2;\n @p bra L2;\n\
             L1:\n mbarrier.try_wait.parity.shared::cta.b64 p, {spin};\n @!p bra L1;\n\
             L2:\n mbarrier.arrive.shared::cta.b64 _, [%r3];\n @q bra L0;\n ret;\n}}"
        )
    };
    let same = ptx_report(&body("[%r1],  %r2"));
    assert_eq!(brief(&same), ["k: loop L0 line 2: try_wait 1, arrive 1"]);
    let other = ptx_report(&body("[%r4], %r2"));
    assert_eq!(brief(&other), ["k: loop L0 line 2: try_wait 2, arrive 1"]);
}

/// The header of the spin is also the header of the main loop.
#[test]
fn two_back_edges_to_one_label() {
    let text = ".entry k() {\nL0: mbarrier.test_wait.parity.shared.b64 p, [a], 0;\n @!p bra L0;\n\
                mbarrier.arrive.expect_tx.shared.b64 _, [b], 64;\n elect.sync _|p, -1;\n\
                @q bra L0;\n ret;\n}";
    assert_eq!(
        brief(&ptx_report(text)),
        ["k: loop L0 line 2: test_wait 1, expect_tx 1, elect.sync 1"]
    );
}

/// A wait that sleeps between tries has several back edges and is still one wait.
#[test]
fn a_wait_with_a_back_off() {
    let text = ".entry k() {\nA:\n mov.u32 %r1, 0;\n bra.uni W;\nC:\n add.s32 %r1, %r1, 1;\n\
                W:\n mbarrier.test_wait.parity.shared.b64 p, [b], 0;\n @p bra D;\n @q bra C;\n\
                @r bra W;\n nanosleep.u32 20;\n bra.uni W;\n\
                D:\n mbarrier.arrive.shared.b64 _, [c];\n @s bra A;\n ret;\n}";
    assert_eq!(
        brief(&ptx_report(text)),
        ["k: loop A line 2: test_wait 1, arrive 1, nanosleep 1"]
    );
}

#[test]
fn inner_main_loops_are_counted_by_themselves() {
    let text = ".entry k() {\nA:\n bar.sync 0;\n mbarrier.arrive.shared.b64 _, [x];\nB:\n\
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], 16, [c];\n\
                @p bra B;\n cp.async.bulk.commit_group;\n @q bra A;\n ret;\n}";
    assert_eq!(
        brief(&ptx_report(text)),
        [
            "k: loop A line 2: arrive 1, bar.sync 1",
            "k: loop B line 5: bulk 1"
        ]
    );
}

#[test]
fn opcodes() {
    let count = |opcode: &str| {
        let text = format!(".entry k() {{ L: {opcode}; mbarrier.arrive.b64 _, [a]; @p bra L; }}");
        brief(&ptx_report(&text))
            .concat()
            .replace("k: loop L line 1: ", "")
    };
    let cases = [
        (
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [a]",
            "arrive 1, commit 1",
        ),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [a]", "arrive 2"),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [a], [b], 16",
            "arrive 1, bulk 1",
        ),
        (
            "cp.async.bulk.prefetch.tensor.2d.L2.global [a, {b, c}]",
            "arrive 1",
        ),
        ("cp.async.wait_group 1", "arrive 1"),
        ("barrier.cluster.wait.aligned", "arrive 1"),
        ("barrier .sync.aligned 1, 128", "arrive 1, bar.sync 1"),
        ("bar.warp.sync -1", "arrive 1, bar.warp.sync 1"),
        (
            "fence.proxy.async.shared::cta",
            "arrive 1, fence.proxy.async 1",
        ),
        (
            "fence.proxy.tensormap::generic.acquire.gpu [a], 128",
            "arrive 1",
        ),
        (
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [a], 16",
            "arrive 1, expect_tx 1",
        ),
        ("nanosleep.u32 20", "arrive 1, nanosleep 1"),
    ];
    for (opcode, counts) in cases {
        assert_eq!(count(opcode), counts, "{opcode}");
    }
}

#[test]
fn branch_tables_and_odd_text() {
    let text = "// brace { in a comment\n.global .align 4 .b8 x[4] = {1, 2, 3, 4};\n\
                .file 1 \"a{b;\"\n.func (.param .b32 r) f(.param .b32 a) { ret; }\n\
                .entry k()\n{\n.reg .b32 %r<4>;\nL0:\n.loc 1 2 3\n mbarrier.arrive.b64 _, [a];\n\
                T: .branchtargets L0, L1;\n brx.idx %r1, T;\nL1:\n mov.b64 {%r1, %r2}, %rd1;\n ret;\n}\n\
                .section .debug_info\n{\n.b32 1\n}\n";
    assert_eq!(
        brief(&ptx_report(text)),
        ["f: no main loop", "k: loop L0 line 8: arrive 1"]
    );
}

#[test]
fn sass_of_two_roles() {
    let report = sass_report(include_str!("../../tests/data/roles.sass"));
    assert_eq!(
        brief(&report),
        [
            "stream: sass loop .L_x_1 line 5: try_wait 1, arrive 1, bar.sync 1",
            "stream: sass loop .L_x_4 line 19: try_wait 1, expect_tx 1, bulk 1, elect.sync 1",
        ]
    );
}

#[test]
fn no_input_makes_it_panic() {
    let texts = [
        "",
        "}",
        "{",
        ".entry",
        ".entry k() { @",
        "a:",
        "é",
        ".entry k() { bra",
        ".text.k:\n BRA `(",
        "/*",
        "\"",
        ".entry k() { L: bra L; }",
    ];
    for text in texts {
        ptx_report(text);
        sass_report(text);
    }
}

proptest::proptest! {
    #[test]
    fn random_text_does_not_panic(text in "(\\.entry k\\(\\)|[{};:@L.\"/*\n ]|bra L|é|mbarrier\\.arrive){0,40}") {
        ptx_report(&text);
        sass_report(&text);
    }
}
