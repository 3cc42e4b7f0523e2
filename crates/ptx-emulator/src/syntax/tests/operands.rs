//! Operands and constant expressions.

use super::{kernel, register};
use crate::syntax::ast::*;

/// The first operand of an instruction.
fn operand(text: &str) -> Operand {
    kernel(&format!("mov.b32 {text};"))
        .instructions
        .remove(0)
        .operands
        .remove(0)
}

fn memory(base: Operand, offset: i64, more: Vec<Operand>) -> Operand {
    Operand::Memory {
        base: Box::new(base),
        offset,
        more,
    }
}

#[test]
fn memory_operands() {
    let smem = VariableId::Module(0);
    for (text, expected) in [
        ("[%r1]", memory(register(0), 0, vec![])),
        ("[ %r1 + 4 ]", memory(register(0), 4, vec![])),
        ("[%r1+-4]", memory(register(0), -4, vec![])),
        ("[%r1-0x10]", memory(register(0), -16, vec![])),
        ("[%r1+4*2-1]", memory(register(0), 7, vec![])),
        ("[smem]", memory(Operand::Variable(smem, 0), 0, vec![])),
        ("[smem+8]", memory(Operand::Variable(smem, 8), 0, vec![])),
        ("[out]", memory(Operand::Parameter(0, 0), 0, vec![])),
        ("[map+64]", memory(Operand::Parameter(1, 64), 0, vec![])),
        ("[16+16]", memory(Operand::Integer(32), 0, vec![])),
        (
            "[%rd1, {%r1, 3}]",
            memory(
                register(0),
                0,
                vec![Operand::Vector(vec![register(1), Operand::Integer(3)])],
            ),
        ),
        (
            "[%rd1+8, %r1, {_}]",
            memory(
                register(0),
                8,
                vec![register(1), Operand::Vector(vec![Operand::Sink])],
            ),
        ),
    ] {
        assert_eq!(operand(text), expected, "{text}");
    }
}

#[test]
fn other_operands() {
    let pair = |a, b| Operand::Pair(Box::new(a), Box::new(b));
    for (text, expected) in [
        ("_", Operand::Sink),
        ("!%p1", Operand::Not(RegisterId(0))),
        ("%p1|%p2", pair(register(0), register(1))),
        ("_|%p1", pair(Operand::Sink, register(0))),
        ("%r1 | _", pair(register(0), Operand::Sink)),
        (
            "{%r1, %r1, _}",
            Operand::Vector(vec![register(0), register(0), Operand::Sink]),
        ),
        ("smem", Operand::Variable(VariableId::Module(0), 0)),
        ("map-4", Operand::Parameter(1, -4)),
        ("0f3F800000", Operand::Float32(0x3f80_0000)),
        ("0F3f800000", Operand::Float32(0x3f80_0000)),
        ("-0f3F800000", Operand::Float32(0xbf80_0000)),
        ("0d3FF0000000000000", Operand::Float64(1f64.to_bits())),
        ("0D3FF0000000000000", Operand::Float64(1f64.to_bits())),
        ("1.5", Operand::Float64(1.5f64.to_bits())),
        ("1e-3", Operand::Float64(1e-3f64.to_bits())),
        ("-2.", Operand::Float64((-2f64).to_bits())),
    ] {
        assert_eq!(operand(text), expected, "{text}");
    }
}

#[test]
fn special_registers() {
    for name in [
        "%tid.x",
        "%ntid.y",
        "%ctaid.z",
        "%nctaid.w",
        "%laneid",
        "%clock64",
        "%cluster_ctarank",
        "%cluster_ctaid.x",
        "%lanemask_lt",
        "%envreg3",
        "%pm0",
        "%pm7_64",
        "%dynamic_smem_size",
        "%globaltimer",
        "%is_explicit_cluster",
    ] {
        assert_eq!(operand(name), Operand::Special(name.into()));
    }
}

#[test]
fn a_declared_register_hides_a_special_one() {
    let entry = kernel(".reg .b32 %laneid; mov.b32 %laneid, 0;");
    assert_eq!(entry.instructions[0].operands[0], register(0));
}

#[test]
fn constant_expressions() {
    for (text, expected) in [
        ("42", 42),
        ("-1", -1),
        ("0x1F", 31),
        ("0X7210U", 0x7210),
        ("017", 15),
        ("0", 0),
        ("0b101", 5),
        ("0xffffffffffffffff", -1),
        ("18446744073709551615", -1),
        ("-9223372036854775808", i64::MIN),
        ("WARP_SZ", 32),
        ("WARP_SZ - 1", 31),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2 + 7 % 4", 6),
        ("-7 / 2", -3),
        ("-7 >> 1", -4),
        ("1 << 4 | 3", 19),
        ("1 << 64", 0),
        ("6 & 3 ^ 1", 3),
        ("~0", -1),
        ("!0", 1),
        ("!WARP_SZ", 0),
        ("!!5 + 1", 2),
        ("(.u64) -1 / 2", i64::MAX),
        ("(.s64) 0xffffffffffffffff >> 1", -1),
        ("0xffffffffffffffff >> 63", 1),
        ("1 < 2 && 2 <= 2", 1),
        ("3 > 4 || 4 >= 5", 0),
        ("1 == 1 ? 5 : 6", 5),
        ("1 != 1 ? 5 : 6", 6),
        ("-1 < 0U", 0),
    ] {
        assert_eq!(operand(text), Operand::Integer(expected), "{text}");
    }
}
