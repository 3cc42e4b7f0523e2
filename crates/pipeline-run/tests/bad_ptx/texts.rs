//! Files that are no PTX, or are cut off or damaged.

use crate::{Case, PTX, case};

/// A change of one piece of the good text.
fn edit(name: &'static str, from: &str, to: &str, message: &'static str) -> Case {
    let good = case(name, 2, message);
    assert!(good.ptx.contains(from), "{name}: {from}");
    let ptx = good.ptx.replacen(from, to, 1);
    Case { ptx, ..good }
}

fn whole(name: &'static str, ptx: String, message: &'static str) -> Case {
    Case {
        ptx,
        ..case(name, 2, message)
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let until = |mark: &str| {
        let end = PTX.find(mark).expect("is there");
        PTX[..end].to_owned()
    };
    let nested = |open: &str, times: usize| PTX.replace("BODY", &open.repeat(times));
    vec![
        whole("empty file", String::new(), "k.ptx:1:1: error: "),
        whole("blank lines", "\n\n\n".into(), "k.ptx:"),
        whole("prose", "this is no PTX\n".into(), "k.ptx:1:1: error: "),
        whole(
            "ELF",
            "\u{7f}ELF\u{2}\u{1}\u{1}\0\0".into(),
            "k.ptx:1:1: error: ",
        ),
        whole(
            "header alone",
            until(".extern"),
            "the PTX has no kernel `k`, it has none",
        ),
        whole("cut in the header", until("sm_90a"), "k.ptx:"),
        whole("cut in the parameters", until(".param .u32 n"), "k.ptx:5:"),
        whole("cut before the body", until("{"), "k.ptx:"),
        whole("cut in a declaration", until("<8>"), "k.ptx:"),
        whole("cut in an instruction", until("[a]"), "k.ptx:"),
        whole(
            "cut before the brace",
            until("\tret;") + "\tret;\n",
            "k.ptx:",
        ),
        whole(
            "comment not closed",
            until("\tmov.u32") + "/* ...",
            "k.ptx:",
        ),
        whole(
            "string not closed",
            PTX.replace("BODY", "\t.file 1 \"x"),
            "k.ptx:",
        ),
        whole("a brace too many", PTX.replace("BODY", "}"), "k.ptx:"),
        whole("10000 open braces", nested("{", 10_000), "k.ptx:"),
        whole(
            "10000 open brackets",
            nested("ld.u32 %r1, [", 10_000),
            "k.ptx:",
        ),
        whole(
            "a minus 100000 times",
            PTX.replace("BODY", &format!("mov.u32 %r1, {}1;", "-".repeat(100_000))),
            "k.ptx:",
        ),
        edit("no version", ".version 8.6\n", "", "k.ptx:1:1: error: "),
        edit("version in words", "8.6", "eight", "k.ptx:1:"),
        edit("no target", ".target sm_90a\n", "", "k.ptx:"),
        edit(
            "32-bit addresses",
            ".address_size 64",
            ".address_size 32",
            "k.ptx:3:",
        ),
        edit(
            "unknown directive",
            "\tmov.u32",
            "\t.nonsense 3;\n\tmov.u32",
            "k.ptx:17:",
        ),
        edit(
            "unknown opcode",
            "mov.u32 %r2, %tid.x",
            "frobnicate.u32 %r2, %r1",
            "k.ptx:17:2: error: ",
        ),
        edit("no semicolon", "[n];", "[n]", "k.ptx:"),
        edit(
            "register that is not declared",
            "mov.u32 %r2",
            "mov.u32 %r99",
            "k.ptx:17:10: error: ",
        ),
        edit(
            "label that is not there",
            "\tret;",
            "\tbra nowhere;\n\tret;",
            "k.ptx:",
        ),
        edit("label twice", "\tret;", "x:\nx:\n\tret;", "k.ptx:"),
        edit(
            "register twice",
            "\t.reg .b16 %h<8>;",
            "\t.reg .b16 %h<8>;\n\t.reg .b16 %h<8>;",
            "k.ptx:9:",
        ),
        edit(
            "parameter twice",
            ".param .u32 n",
            ".param .u32 a",
            "k.ptx:5:",
        ),
        edit("parameter that is not there", "[n]", "[m]", "k.ptx:16:"),
        edit("variable twice", "stack[16]", "tile[16]", "k.ptx:14:"),
        edit(
            "register of unknown type",
            ".reg .b16",
            ".reg .b17",
            "k.ptx:8:",
        ),
        edit(
            "100000000000 registers",
            "%r<32>",
            "%r<100000000000>",
            "k.ptx:9:",
        ),
        edit(
            "2000000000 registers",
            "%r<32>",
            "%r<2000000000>",
            "k.ptx:9:",
        ),
        edit(
            "array of 10 TB",
            "tile[1024]",
            "tile[10000000000000]",
            "k.ptx:12:",
        ),
        edit(
            "array beyond 64 bits",
            "tile[1024]",
            "tile[99999999999999999999]",
            "k.ptx:12:",
        ),
        edit(
            "array of negative size",
            "tile[1024]",
            "tile[-1]",
            "k.ptx:12:",
        ),
        edit(
            "array of arrays of 16 EB",
            "tile[1024]",
            "tile[65536][65536][65536][65536]",
            "k.ptx:12:",
        ),
        edit(
            "1 GB on the stack of each thread",
            "stack[16]",
            "stack[1000000000]",
            "k.ptx:14:",
        ),
        edit(
            "1 GB of shared memory",
            "tile[1024]",
            "tile[1000000000]",
            "shared memory",
        ),
        edit("alignment of 3", ".align 128", ".align 3", "k.ptx:12:"),
        edit("alignment of 0", ".align 128", ".align 0", "k.ptx:12:"),
        edit(
            "alignment of 4 GB",
            ".align 128",
            ".align 4294967296",
            "k.ptx:12:",
        ),
        edit(
            "more values than elements",
            ".visible",
            ".const .u32 c[2] = {1, 2, 3};\n.visible",
            "k.ptx:5:",
        ),
        edit(
            "parameters of 64 KB",
            ".param .u32 n",
            ".param .b8 big[65536], .param .u32 n",
            "k.ptx:5:",
        ),
        edit(
            "parameter of 16 EB",
            ".param .u32 n",
            ".param .b8 big[18446744073709551615], .param .u32 n",
            "k.ptx:5:",
        ),
        edit(
            "device function",
            ".visible .entry",
            ".func f() { ret; }\n.visible .entry",
            "k.ptx:5:",
        ),
        edit("recursion", "\tret;", "\tcall k, ();\n\tret;", "k.ptx:"),
        edit(
            "block size of 0",
            "{\n\t.reg .pred",
            ".reqntid 0\n{\n\t.reg .pred",
            "k.ptx:",
        ),
        edit(
            "block size beyond 32 bits",
            "{\n\t.reg .pred",
            ".reqntid 4294967296\n{\n\t.reg .pred",
            "k.ptx:",
        ),
    ]
}
