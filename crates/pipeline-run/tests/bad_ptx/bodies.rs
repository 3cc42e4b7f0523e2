//! Instructions that are wrong, and right ones that go wrong when they run.

use crate::{Case, PTX, case};

fn body(name: &'static str, code: i32, body: &str, message: &'static str) -> Case {
    let lines: Vec<String> = body
        .lines()
        .map(|line| format!("\t{}", line.trim()))
        .collect();
    let ptx = PTX.replace("BODY", &lines.join("\n"));
    Case {
        ptx,
        ..case(name, code, message)
    }
}

/// Wrong before anything runs: the first line of the body is line 18 of the file.
pub(crate) fn refused() -> Vec<Case> {
    let refused = |name, text| body(name, 2, text, "k.ptx:18:");
    vec![
        refused("too few operands", "add.s32 %r1, %r2;"),
        refused("too many operands", "add.s32 %r1, %r2, %r3, %r4;"),
        refused("no operands", "add.s32;"),
        refused("no type", "add %r1, %r2, %r3;"),
        refused("two types", "add.s32.f32 %r1, %r2, %r3;"),
        refused("unknown modifier", "add.sideways.s32 %r1, %r2, %r3;"),
        refused("modifier twice", "add.rn.rn.f32 %f1, %f2, %f3;"),
        refused("unknown type", "add.s33 %r1, %r2, %r3;"),
        refused("register too narrow", "add.s64 %rd1, %r2, %rd3;"),
        refused("predicate as a number", "add.s32 %r1, %p1, %r3;"),
        refused("number as a guard", "@%r1 mov.u32 %r3, 1;"),
        refused("immediate as a destination", "mov.u32 5, %r1;"),
        refused("special register as a destination", "mov.u32 %tid.x, %r1;"),
        refused("unknown special register", "mov.u32 %r1, %tid.w;"),
        refused(
            "immediate beyond 64 bits",
            "mov.u64 %rd1, 99999999999999999999;",
        ),
        refused("float with few digits", "mov.f32 %f1, 0f3F80;"),
        refused("load without an address", "ld.global.u32 %r1, %rd1;"),
        refused(
            "vector of five",
            "ld.global.v5.u32 {%r1, %r2, %r3, %r4, %r5}, [%rd1];",
        ),
        refused(
            "vector of the wrong length",
            "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
        ),
        refused("state space that is none", "ld.cloud.u32 %r1, [%rd1];"),
        refused(
            "cache operator that is none",
            "ld.global.cx.u32 %r1, [%rd1];",
        ),
        refused("comparison that is none", "setp.like.s32 %p1, %r1, %r2;"),
        refused("rounding that is none", "cvt.rq.f32.s32 %f1, %r1;"),
        refused("conversion without rounding", "cvt.f32.s32 %f1, %r1;"),
        refused(
            "mbarrier without an object",
            "mbarrier.init.shared::cta.b64 1;",
        ),
        refused(
            "wait that is none",
            "mbarrier.hope.shared::cta.b64 %p1, [bar], 0;",
        ),
        refused(
            "cp.async of 5 bytes",
            "cp.async.ca.shared.global [tile], [%rd1], 5;",
        ),
        refused(
            "tensor copy of six dimensions",
            "cp.async.bulk.tensor.6d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r1, %r1, %r1, %r1, %r1}], [bar];",
        ),
        refused(
            "tensor copy with few coordinates",
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1}], [bar];",
        ),
        refused(
            "mma of an unknown shape",
            "mma.sync.aligned.m9n9k9.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
        ),
        refused(
            "mma with few registers",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2};",
        ),
        refused(
            "wgmma of 7 columns",
            "wgmma.mma_async.sync.aligned.m64n7k16.f32.f16.f16 {%f1}, %rd1, %rd1, 1, 1, 1, 0, 0;",
        ),
        refused("shift by a predicate", "shl.b32 %r1, %r2, %p1;"),
        refused(
            "lookup table beyond a byte",
            "lop3.b32 %r1, %r2, %r3, %r4, 0x100;",
        ),
        refused(
            "shuffle that is none",
            "shfl.sync.around.b32 %r1, %r2, 1, 31, -1;",
        ),
        refused("branch to a variable", "bra tile;"),
        refused("branch table that is not there", "brx.idx %r1, table;"),
        refused(
            "atomic that is none",
            "atom.global.concat.u32 %r1, [%rd1], %r2;",
        ),
        refused("fence that is none", "fence.proxy.telepathy;"),
        refused("indirect call", "call (%r1), %rd1, (%r2);"),
    ]
}

/// Wrong when it runs.
pub(crate) fn failing() -> Vec<Case> {
    let fails = |name, kind, text| body(name, 1, text, kind);
    // Without the race of all threads doing it.
    let one_thread = |name, kind, text: &str| {
        let text = format!("setp.ne.u32 %p1, %r2, 0;\n@%p1 bra end;\n{text}\nend:");
        body(name, 1, &text, kind)
    };
    let mut limited = body(
        "loop that changes something for ever",
        1,
        "again:\nadd.u32 %r3, %r3, 1;\nst.shared.u32 [tile], %r3;\nbra again;",
        "stopped after 10",
    );
    limited
        .arguments
        .extend(["--max-steps", "100000", "--no-detect"]);
    let mut timed = limited.clone();
    timed.name = "loop with a time limit";
    timed.message = "its time is up [limit]";
    timed.arguments = vec!["--size", "64", "--arg", "n=64", "--timeout", "1"];
    let mut strict = fails(
        "generic writes before a copy out",
        "[missing-proxy-fence]",
        "\
        st.shared.v4.u32 [tile], {%r2, %r2, %r2, %r2};
        cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;",
    );
    strict.arguments.push("--strict");
    vec![
        limited,
        timed,
        strict,
        fails("named barrier 16", "[invalid-operand]", "bar.sync 16;"),
        fails(
            "barrier of 33 threads",
            "[invalid-operand]",
            "barrier.sync 1, 33;",
        ),
        fails(
            "null pointer",
            "[out-of-bounds]",
            "mov.u64 %rd2, 0;\nld.global.u32 %r3, [%rd2];",
        ),
        fails(
            "pointer of all ones",
            "[out-of-bounds]",
            "mov.u64 %rd2, -4;\nld.global.u32 %r3, [%rd2];",
        ),
        fails(
            "read past the end",
            "[out-of-bounds]",
            "ld.global.u32 %r3, [%rd1+256];",
        ),
        fails(
            "read before the start",
            "[out-of-bounds]",
            "ld.global.u32 %r3, [%rd1-4];",
        ),
        fails(
            "vector past the end",
            "[out-of-bounds]",
            "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1+256];",
        ),
        fails(
            "write past the end",
            "[out-of-bounds]",
            "st.global.u32 [%rd1+1024], %r3;",
        ),
        fails(
            "atomic past the end",
            "[out-of-bounds]",
            "red.global.add.u32 [%rd1+4096], %r3;",
        ),
        fails(
            "shared memory past the end",
            "[out-of-bounds]",
            "mov.u32 %r3, 0x7fffff00;\nst.shared.u32 [%r3], %r3;",
        ),
        fails(
            "stack past the end",
            "[out-of-bounds]",
            "st.local.u32 [stack+64], %r2;",
        ),
        fails(
            "parameter past the end",
            "[out-of-bounds]",
            "ld.param.u64 %rd3, [a+64];",
        ),
        fails(
            "address between the windows",
            "[out-of-bounds]",
            "mov.u64 %rd2, 0x7bffffff0000;\nld.u32 %r3, [%rd2];",
        ),
        fails(
            "shared memory of a CTA that is not there",
            "[out-of-bounds]",
            "mov.u32 %r3, 0x5000400;\nld.shared::cluster.u32 %r4, [%r3];",
        ),
        fails(
            "load that is not aligned",
            "[misaligned]",
            "ld.global.u32 %r3, [%rd1+2];",
        ),
        fails(
            "vector that is not aligned",
            "[misaligned]",
            "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1+4];",
        ),
        fails(
            "atomic that is not aligned",
            "[misaligned]",
            "atom.shared.add.u64 %rd3, [tile+4], %rd1;",
        ),
        fails(
            "mbarrier that is not aligned",
            "[misaligned]",
            "mbarrier.init.shared::cta.b64 [bar+4], 1;",
        ),
        one_thread(
            "bulk copy that is not aligned",
            "[misaligned]",
            "mbarrier.init.shared::cta.b64 [bar], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+8], [%rd1], 16, [bar];",
        ),
        one_thread(
            "bulk copy of 10 bytes",
            "k.ptx:21:",
            "mbarrier.init.shared::cta.b64 [bar], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 10, [bar];",
        ),
        one_thread(
            "bulk copy of 4 GB",
            "[out-of-bounds]",
            "mov.u32 %r3, 0xfffffff0;\nmbarrier.init.shared::cta.b64 [bar], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], %r3, [bar];",
        ),
        one_thread(
            "tensor map that is none",
            "no tensor map",
            "mbarrier.init.shared::cta.b64 [bar], 1;\ncp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1}], [bar];",
        ),
        fails(
            "mbarrier with a count of 0",
            "[mbarrier-contract]",
            "mov.u32 %r3, 0;\nmbarrier.init.shared::cta.b64 [bar], %r3;",
        ),
        fails(
            "mbarrier with a count of 2^20",
            "[mbarrier-contract]",
            "mov.u32 %r3, 0x100000;\nmbarrier.init.shared::cta.b64 [bar], %r3;",
        ),
        fails(
            "mbarrier that was never initialised",
            "[mbarrier-contract]",
            "mbarrier.arrive.shared::cta.b64 %rd3, [bar];",
        ),
        fails(
            "more arrivals than the count",
            "[mbarrier-contract]",
            "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra end;\nmbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.arrive.shared::cta.b64 _, [bar], 3;\nend:",
        ),
        fails(
            "wait for what nobody does",
            "[deadlock]",
            "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra ready;\nmbarrier.init.shared::cta.b64 [bar], 1;\nready:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra wait;",
        ),
        fails(
            "bytes that never come",
            "[deadlock]",
            "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra ready;\nmbarrier.init.shared::cta.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\nready:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra wait;",
        ),
        fails(
            "barrier for more threads than there are",
            "[deadlock]",
            "barrier.sync 1, 128;",
        ),
        fails(
            "barrier for 0 threads",
            "error: ",
            "mov.u32 %r3, 0;\nbarrier.sync 1, %r3;",
        ),
        fails(
            "barrier number from a register",
            "error: ",
            "mov.u32 %r3, 77;\nbarrier.sync %r3, 32;",
        ),
        fails("loop without an end", "[livelock]", "again:\nbra again;"),
        fails(
            "spin on memory",
            "[livelock]",
            "again:\nld.volatile.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, -77;\n@%p1 bra again;",
        ),
        fails(
            "sleep without an end",
            "error: ",
            "again:\nnanosleep.u32 1000000;\nbra again;",
        ),
        fails("trap", "[trap]", "trap;"),
        fails(
            "branch table beyond its end",
            "error: ",
            "table: .branchtargets here, there;\nmov.u32 %r3, 9;\nbrx.idx %r3, table;\nhere:\nthere:",
        ),
        fails(
            "race in shared memory",
            "[race]",
            "st.shared.u32 [tile], %r2;",
        ),
        fails(
            "shared memory that nobody wrote",
            "[uninitialised-read]",
            "ld.shared.u32 %r3, [tile];",
        ),
        fails(
            "aligned barrier at two places",
            "[divergence]",
            "setp.gt.u32 %p1, %r2, 15;\n@%p1 bra other;\nbar.sync 0;\nbra end;\nother:\nbar.sync 0;\nend:",
        ),
        fails(
            "lane outside its own mask",
            "error: ",
            "mov.u32 %r3, 0;\nshfl.sync.idx.b32 %r4, %r2, 0, 31, %r3;",
        ),
        fails(
            "mask with lanes that are elsewhere",
            "[divergence]",
            "setp.gt.u32 %p1, %r2, 15;\n@%p1 bra other;\nbar.warp.sync -1;\nbra end;\nother:\nbarrier.sync 3, 128;\nend:",
        ),
        one_thread(
            "end with a copy in flight",
            "[exit-with-work]",
            "cp.async.ca.shared.global [tile], [%rd1], 16;",
        ),
    ]
}
