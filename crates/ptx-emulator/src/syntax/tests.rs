//! What is accepted, and the tree that comes of it.

mod errors;
mod hostile;
mod operands;

use std::{fs, path::PathBuf};

use super::{ast::*, parse};

const HEADER: &str = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n";

fn module(text: &str) -> Module {
    let text = format!("{HEADER}{text}");
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A kernel with one register of each kind, two parameters and this body.
fn kernel(body: &str) -> Entry {
    let text = format!(
        ".extern .shared .align 16 .b8 smem[];\n\
         .visible .entry k(.param .u64 .ptr .global .align 1 out, .param .align 64 .b8 map[128])\n\
         {{\n.reg .pred %p<4>;\n.reg .b32 %r<100>;\n.reg .b64 %rd<9>;\n{body}\n}}\n"
    );
    module(&text).entries.remove(0)
}

fn register(index: u32) -> Operand {
    Operand::Register(RegisterId(index))
}

#[test]
fn header() {
    let module = module("");
    assert_eq!(module.version, (9, 0));
    assert_eq!(module.target, "sm_90a");
    assert!(module.entries.is_empty());
}

#[test]
fn a_minor_version_of_two_digits_is_not_a_fraction() {
    let module = parse(".version 8.10 .target sm_80").unwrap();
    assert_eq!(module.version, (8, 10));
}

#[test]
fn kernels_with_performance_directives_in_any_order() {
    let mut entries = module(
        ".weak .entry a .maxnreg 64 .explicitcluster .reqnctapercluster 2, 1\n\
         .reqntid 128 .minnctapersm 1 .pragma \"x\"; .maxclusterrank 8 .noreturn { ret; }\n\
         .entry b() .blocksareclusters .maxntid 1, 2, 3 {}",
    )
    .entries;
    let b = entries.pop().unwrap();
    let a = entries.pop().unwrap();
    assert_eq!(a.name, "a");
    assert_eq!(
        a.span,
        Span {
            line: 4,
            column: 14
        }
    );
    assert_eq!(a.max_registers, Some(64));
    assert!(a.explicit_cluster);
    assert_eq!(a.cluster, Some([2, 1, 1]));
    assert_eq!(a.required_block, Some([128, 1, 1]));
    assert_eq!(a.max_block, None);
    assert_eq!(b.max_block, Some([1, 2, 3]));
    assert!(!b.explicit_cluster);
}

#[test]
fn parameters() {
    let entry = module(
        ".entry k(.param .align 64 .b8 a[128], .param .u64 .ptr .global .align 1 b,\n\
         .param .u64 .ptr .align 16 c, .param .b32 d, .param .v4 .f32 e) {}",
    )
    .entries
    .remove(0);
    let parameters: Vec<_> = entry
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.align, p.bytes))
        .collect();
    assert_eq!(
        parameters,
        [
            ("a", 64, 128),
            ("b", 8, 8),
            ("c", 8, 8),
            ("d", 4, 4),
            ("e", 16, 16)
        ]
    );
}

#[test]
fn module_variables() {
    let variables = module(
        ".extern .shared .align 1024 .b8 smem[];\n\
         .visible .global .align 4 .b8 text[4] = {72, 0x69, -1}, tail;\n\
         .const .b16 table[2][3] = {{1, 2}, {3}};\n\
         .const .b16 flat[2][2] = {1, 2, 3, 4};\n\
         .global .v2 .f32 pairs[] = {{1.5, 0f40000000}, {3}};\n\
         .global .f64 number = 0d3FF0000000000000;\n\
         .weak .shared .b64 bars[2 * 4];\n\
         .global .b128 wide = -2;",
    )
    .variables;
    let shapes: Vec<_> = variables
        .iter()
        .map(|v| (v.name.as_str(), v.space, v.align, v.bytes, v.is_extern))
        .collect();
    use Space::{Const, Global, Shared};
    assert_eq!(
        shapes,
        [
            ("smem", Shared, 1024, 0, true),
            ("text", Global, 4, 4, false),
            ("tail", Global, 4, 1, false),
            ("table", Const, 2, 12, false),
            ("flat", Const, 2, 8, false),
            ("pairs", Global, 8, 16, false),
            ("number", Global, 8, 8, false),
            ("bars", Shared, 8, 64, false),
            ("wide", Global, 16, 16, false),
        ]
    );
    assert_eq!(variables[1].init, [72, 0x69, 255]);
    assert_eq!(
        variables[1].span,
        Span {
            line: 5,
            column: 31
        }
    );
    assert_eq!(variables[3].init, [1, 0, 2, 0, 0, 0, 3, 0]);
    assert_eq!(variables[4].init, [1, 0, 2, 0, 3, 0, 4, 0]);
    let pairs: Vec<u8> = [1.5f32, 2.0, 3.0]
        .iter()
        .flat_map(|f| f.to_le_bytes())
        .collect();
    assert_eq!(variables[5].init, pairs);
    assert_eq!(variables[6].init, 1f64.to_le_bytes());
    assert_eq!(variables[8].init, (-2i128).to_le_bytes());
}

#[test]
fn an_extern_variable_and_its_definition_are_one() {
    let variables =
        module(".extern .global .b32 x; .global .b32 x = 7; .extern .global .b32 x;").variables;
    assert_eq!(variables.len(), 1);
    assert!(!variables[0].is_extern);
    assert_eq!(variables[0].init, [7, 0, 0, 0]);
}

#[test]
fn declarations_of_functions_and_debug_sections_are_skipped() {
    module(
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n\
         .func helper() .noreturn;\n\
         .section .debug_str { info: .b8 1, 2 { .b8 97 } .b64 info+4 }\n\
         .pragma \"nounroll\", \"x\"; ;",
    );
}

#[test]
fn instructions_keep_their_order_and_place() {
    let entry = kernel("@!%p1 bra.uni end;\n  ;mov . u32 %r1 ,%tid.x ; end:");
    let [bra, mov] = &entry.instructions[..] else {
        panic!("{:?}", entry.instructions)
    };
    assert_eq!(
        bra.span,
        Span {
            line: 10,
            column: 1
        }
    );
    assert_eq!(
        bra.guard,
        Some(Guard {
            register: RegisterId(0),
            negated: true
        })
    );
    assert_eq!(bra.operands, [Operand::Label(2)]);
    assert_eq!(
        mov.span,
        Span {
            line: 11,
            column: 4
        }
    );
    assert_eq!(mov.mnemonic(), "mov.u32");
    assert_eq!(mov.guard, None);
    assert_eq!(
        mov.operands,
        [register(1), Operand::Special("%tid.x".into())]
    );
}

#[test]
fn modifiers_with_digits_colons_and_blanks() {
    let entry = kernel(
        "tcgen05 .ld.sync.aligned. 16x32bx2 .x4.b32 %r1;\n\
         mbarrier.arrive.expect_tx.shared :: cta.b64 _;\n\
         tensormap.replace.tile.rank.b1024.b32 %r1;\n\
         cp.async.bulk.tensor.2d.mbarrier::complete_tx::bytes.L2::cache_hint %r1;",
    );
    let names: Vec<_> = entry
        .instructions
        .iter()
        .map(Instruction::mnemonic)
        .collect();
    assert_eq!(
        names,
        [
            "tcgen05.ld.sync.aligned.16x32bx2.x4.b32",
            "mbarrier.arrive.expect_tx.shared::cta.b64",
            "tensormap.replace.tile.rank.b1024.b32",
            "cp.async.bulk.tensor.2d.mbarrier::complete_tx::bytes.L2::cache_hint",
        ]
    );
    assert_eq!(entry.instructions[1].modifiers[2], "shared::cta");
}

#[test]
fn only_used_registers_get_a_slot() {
    let entry = kernel("mov.b32 %r17, %r3; mov.b32 %r3, %r17; mov.b64 %rd2, 0;");
    let registers: Vec<_> = entry
        .registers
        .iter()
        .map(|r| (r.name.as_str(), r.ty))
        .collect();
    use ScalarType::{B32, B64};
    assert_eq!(registers, [("%r17", B32), ("%r3", B32), ("%rd2", B64)]);
    assert_eq!(entry.instructions[1].operands, [register(1), register(0)]);
}

#[test]
fn inner_scopes_shadow_and_end() {
    let entry = kernel(
        "mov.b32 %r1, 0; { .reg .b64 %r<2>, p; mov.b64 %r1, 0; mov.b32 %r5, 0; mov.b64 p, 0; }\n\
         mov.b32 %r1, 0; { .reg .pred p; mov.pred p, 0; }",
    );
    let first: Vec<_> = entry
        .instructions
        .iter()
        .map(|i| i.operands[0].clone())
        .collect();
    assert_eq!(first, [0, 1, 2, 3, 0, 4].map(register));
    assert_eq!(entry.registers[1].ty, ScalarType::B64);
    assert_eq!(entry.registers[4].ty, ScalarType::Pred);
}

#[test]
fn ranges_whose_prefix_ends_in_a_digit() {
    let entry = kernel("{ .reg .b16 %h<10>, %h1<5>; mov.b16 %h9, %h14; }");
    let names: Vec<_> = entry.registers.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["%h9", "%h14"]);
}

#[test]
fn labels_resolve_from_the_innermost_scope_outwards() {
    let entry = kernel(
        "wait: { wait: bra wait; bra out; }\n\
         { bra wait; wait: ret; }\n\
         out: bra wait;",
    );
    let targets: Vec<_> = entry
        .instructions
        .iter()
        .filter_map(|i| i.operands.first().cloned())
        .collect();
    assert_eq!(targets, [0, 4, 3, 0].map(Operand::Label));
}

#[test]
fn branch_targets_before_and_after_their_use() {
    let entry = kernel(
        "brx.idx %r1, late; early: .branchtargets a, b; a: brx.idx.uni %r1, early;\n\
         late: .branchtargets\n b; b:",
    );
    assert_eq!(entry.tables, [vec![1, 2], vec![2]]);
    assert_eq!(entry.instructions[0].operands[1], Operand::Table(1));
    assert_eq!(entry.instructions[1].operands[1], Operand::Table(0));
}

#[test]
fn variables_of_a_body() {
    let entry = kernel(
        ".shared .align 8 .b8 bar[24]; .local .b32 stack; { .param .b32 bar; mov.b64 %rd1, bar; }\n\
         mov.b64 %rd1, bar + 8; .pragma \"nounroll\";",
    );
    let spaces: Vec<_> = entry.variables.iter().map(|v| (v.space, v.bytes)).collect();
    assert_eq!(
        spaces,
        [(Space::Shared, 24), (Space::Local, 4), (Space::Param, 4)]
    );
    let address = |i: usize| entry.instructions[i].operands[1].clone();
    assert_eq!(address(0), Operand::Variable(VariableId::Local(2), 0));
    assert_eq!(address(1), Operand::Variable(VariableId::Local(0), 8));
}

#[test]
fn source_lines_come_from_files_declared_later() {
    let text = ".entry k { ret; .loc 1 20 5 ret; ret;\n\
                .loc 2 7 0, function_name $L__info+4, inlined_at 1 30 10\n ret; }\n\
                .entry j { ret; }\n\
                .file 1 \"dir/a.py\" .file 2 \"b.cu\", 1700000000, 42";
    let module = module(text);
    let lines: Vec<_> = module.entries[0]
        .instructions
        .iter()
        .map(|i| i.source.as_ref().map(SourceLine::to_string))
        .collect();
    let a = Some("dir/a.py:20:5".to_string());
    assert_eq!(lines, [None, a.clone(), a, Some("b.cu:7:0".into())]);
    assert_eq!(module.entries[1].instructions[0].source, None);
}

#[test]
fn comments_and_line_ends_anywhere() {
    let entry = kernel("mov.b32 /* a\r\n b */ %r1, // c\r\n 4 /**/ ; // é\r\n/***/\r\nret;// end");
    assert_eq!(entry.instructions.len(), 2);
    assert_eq!(
        entry.instructions[1].span,
        Span {
            line: 14,
            column: 1
        }
    );
}

#[test]
fn every_corpus_file_parses() {
    let folder = match std::env::var_os("PTX_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    };
    let mut folders = vec![folder.clone()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ptx") {
                files += 1;
                let module = parse(&fs::read_to_string(&path).unwrap())
                    .unwrap_or_else(|error| panic!("{}:{error}", path.display()));
                assert!(!module.entries.is_empty(), "{}", path.display());
            }
        }
    }
    match files {
        0 => eprintln!("skipped: no PTX in {}", folder.display()),
        _ => eprintln!("parsed {files} files"),
    }
}
