//! `wmma.load`, `wmma.mma` and `wmma.store` of 16×16×16 with f16 operands and f32 accumulators
//! (PTX ISA 9.1, "Warp level matrix multiply-accumulate using wmma").
//!
//! PTX leaves open which lane holds what. Here the fragments are those of two `mma.sync.m16n8k16`,
//! one for each half of the columns: operands take four registers, and the other four that the
//! instructions name hold copies.

use super::{
    Convergence, Execute,
    decode::{Address, DecodeError, Decoder, Dst, Src},
    matrix::{need_whole_warp, sync_aligned},
    memory::window,
    mma::{reader, write_fragment},
};
use crate::{
    formats::{
        dot::{Rule, accumulate_tile},
        fragment::{self, Place},
        tile::Element,
        warp_tile::{Accumulator, operand_a, operand_b, read_floats, write_floats},
    },
    machine::step::{Flow, Location, Step, Window},
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// Rows and columns of every matrix.
const SIZE: usize = 16;
/// Registers of every fragment.
const REGISTERS: usize = 8;
/// Registers of an operand's fragment that differ.
const DISTINCT: usize = 4;

/// Which matrix of D = A·B + C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matrix {
    A,
    B,
    C,
}

impl Matrix {
    fn element_bytes(self) -> usize {
        if self == Self::C { 4 } else { 2 }
    }

    /// Where element `index` of register `register` of a lane lies in the matrix.
    fn place(self, lane: usize, register: usize, index: usize) -> Place {
        match self {
            Self::A => fragment::operand_a(lane, register % DISTINCT, index, 2),
            Self::B => {
                let half = register % DISTINCT / 2;
                let at = fragment::operand_b(lane, register % 2, index, 2);
                Place {
                    column: at.column + 8 * half,
                    ..at
                }
            }
            Self::C => fragment::accumulator(lane, register),
        }
    }

    fn per_register(self) -> usize {
        if self == Self::C { 1 } else { 2 }
    }
}

/// A matrix in memory.
#[derive(Debug)]
struct InMemory {
    window: Window,
    address: Address,
    /// Elements from one row (or column, if `by_columns`) to the next; 16 if not given.
    stride: Option<Src>,
    by_columns: bool,
    matrix: Matrix,
}

impl InMemory {
    fn location(
        &self,
        step: &Step<'_>,
        lane: usize,
        at: Place,
    ) -> std::result::Result<Location, Fault> {
        let size = self.matrix.element_bytes() as u64;
        let stride = self.stride.map_or(SIZE as u64, |src| step.get(src, lane));
        let (outer, inner) = if self.by_columns {
            (at.column, at.row)
        } else {
            (at.row, at.column)
        };
        let offset = (outer as u64)
            .wrapping_mul(stride)
            .wrapping_add(inner as u64);
        let address = step.address(self.address, lane);
        let address = address.wrapping_add(offset.wrapping_mul(size));
        step.locate(self.window, lane, address, size, size)
    }

    /// The base has to be the same everywhere and a multiple of 32 bytes, the stride one of 16
    /// (CUDA C++ programming guide, "Warp matrix functions").
    fn check(&self, step: &Step<'_>) -> std::result::Result<(), Fault> {
        step.uniform(self.address.base, "the address")?;
        let base = step.address(self.address, step.first_lane());
        if !base.is_multiple_of(32) {
            return Err(Fault::new(
                Kind::Misaligned,
                format!("the address {base:#x} of the matrix is no multiple of 32"),
            ));
        }
        if let Some(stride) = self.stride {
            let elements = step.uniform(stride, "the stride")?;
            let bytes = elements.wrapping_mul(self.matrix.element_bytes() as u64);
            if !bytes.is_multiple_of(16) {
                return Err(Fault::new(
                    Kind::Misaligned,
                    format!("the stride of {elements} elements is no multiple of 16 bytes"),
                ));
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Load {
    from: InMemory,
    dsts: Vec<Dst>,
}

impl Execute for Load {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        self.from.check(step)?;
        let matrix = self.from.matrix;
        let distinct = if matrix == Matrix::C {
            REGISTERS
        } else {
            DISTINCT
        };
        let bits = 8 * matrix.element_bytes();
        for register in 0..distinct {
            let mut row = [0; 32];
            for (lane, value) in row.iter_mut().enumerate() {
                for index in 0..matrix.per_register() {
                    let at = matrix.place(lane, register, index);
                    let location = self.from.location(step, lane, at)?;
                    let mut bytes = [0; 4];
                    step.read(location, lane, &mut bytes[..matrix.element_bytes()])?;
                    *value |= u64::from(u32::from_le_bytes(bytes)) << (bits * index);
                }
            }
            for copy in (register..REGISTERS).step_by(distinct) {
                step.write(self.dsts[copy], &row);
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

#[derive(Debug)]
struct Store {
    to: InMemory,
    srcs: Vec<Src>,
}

impl Execute for Store {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        self.to.check(step)?;
        for (register, src) in self.srcs.iter().enumerate() {
            for lane in 0..32 {
                let at = self.to.matrix.place(lane, register, 0);
                let location = self.to.location(step, lane, at)?;
                let value = step.get(*src, lane) as u32;
                step.store(location, lane, &value.to_le_bytes())?;
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

#[derive(Debug)]
struct Multiply {
    d: Vec<Dst>,
    a: Vec<Src>,
    b: Vec<Src>,
    c: Vec<Src>,
}

impl Execute for Multiply {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        let a = operand_a(Element::F16, DISTINCT, reader(step, &self.a));
        let mut c = read_floats(Accumulator::F32, SIZE, reader(step, &self.c));
        let mut b = operand_b(Element::F16, 2, reader(step, &self.b[..2])).values;
        b.extend(operand_b(Element::F16, 2, reader(step, &self.b[2..4])).values);
        accumulate_tile(Rule::F16, &a.values, &b, &mut c, SIZE, SIZE, SIZE);
        write_fragment(step, &self.d, |write| {
            write_floats(Accumulator::F32, SIZE, &c, write);
        });
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

fn by_columns(d: &mut Decoder<'_>) -> Result<bool> {
    let layout = d.parse_modifier(|name| match name {
        "row" => Some(false),
        "col" => Some(true),
        _ => None,
    });
    layout.ok_or_else(|| d.error("needs one of .row, .col"))
}

/// What `wmma.load` and `wmma.store` have in common. The address is operand `address`, the stride
/// the third if there is one.
fn in_memory(d: &mut Decoder<'_>, matrix: Matrix, address: usize) -> Result<InMemory> {
    sync_aligned(d)?;
    let by_columns = by_columns(d)?;
    d.need("m16n16k16")?;
    d.need(if matrix == Matrix::C { "f32" } else { "f16" })?;
    let window = match window(d) {
        window @ (Window::Generic | Window::Global | Window::SharedCta) => window,
        _ => return Err(d.error("this state space is not supported")),
    };
    d.expect_operands(2..=3)?;
    let stride = match d.operand_count() {
        3 => Some(d.src(2, ScalarType::U32)?),
        _ => None,
    };
    Ok(InMemory {
        window,
        address: d.address(address)?,
        stride,
        by_columns,
        matrix,
    })
}

pub(super) fn decode_wmma(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    match d.need_one_of(&["load", "mma", "store"])? {
        "load" => {
            let (matrix, ty) = match d.need_one_of(&["a", "b", "c"])? {
                "a" => (Matrix::A, ScalarType::B32),
                "b" => (Matrix::B, ScalarType::B32),
                _ => (Matrix::C, ScalarType::F32),
            };
            Ok(Box::new(Load {
                from: in_memory(d, matrix, 1)?,
                dsts: d.dsts(0, ty, Some(REGISTERS))?,
            }))
        }
        "store" => {
            d.need("d")?;
            Ok(Box::new(Store {
                to: in_memory(d, Matrix::C, 0)?,
                srcs: d.srcs(1, ScalarType::F32, Some(REGISTERS))?,
            }))
        }
        _ => {
            sync_aligned(d)?;
            // Fragments do not depend on how the matrix lay in memory.
            by_columns(d)?;
            by_columns(d)?;
            d.need("m16n16k16")?;
            for _ in ["d", "c"] {
                d.need("f32")?;
            }
            d.expect_operands(4..=4)?;
            Ok(Box::new(Multiply {
                d: d.dsts(0, ScalarType::F32, Some(REGISTERS))?,
                a: d.srcs(1, ScalarType::B32, Some(REGISTERS))?,
                b: d.srcs(2, ScalarType::B32, Some(REGISTERS))?,
                c: d.srcs(3, ScalarType::F32, Some(REGISTERS))?,
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        matrix::tests::{SCHEDULES, kernel, list, refusal, run_clean},
        mma::tests::{encode, small},
    };
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fragments_hold_every_element() {
        for matrix in [Matrix::A, Matrix::B, Matrix::C] {
            let distinct = if matrix == Matrix::C {
                REGISTERS
            } else {
                DISTINCT
            };
            let mut places = BTreeSet::new();
            for lane in 0..32 {
                for register in 0..distinct {
                    for index in 0..matrix.per_register() {
                        places.insert(matrix.place(lane, register, index));
                    }
                }
            }
            assert_eq!(places.len(), SIZE * SIZE, "{matrix:?}");
            assert!(places.iter().all(|at| at.row < SIZE && at.column < SIZE));
        }
    }

    /// A·B + C with every layout of the operands, C from memory and D back to it.
    #[test]
    fn products_go_from_memory_to_memory() {
        let value = |seed: usize, row: usize, column: usize| small(Element::F16, seed, row, column);
        let half = |seed, row, column| encode(Element::F16, value(seed, row, column));
        for (a_layout, b_layout, c_layout) in [("row", "col", "row"), ("col", "row", "col")] {
            // 32 bytes a row: A at 0, B at 512, then C with a pitch of 24 elements at 1024.
            let place = |layout, row, column| {
                if layout == "row" {
                    (row, column)
                } else {
                    (column, row)
                }
            };
            let mut words = vec![0u32; 4 * 32 * 22];
            for row in 0..SIZE {
                for column in 0..SIZE {
                    let (outer, inner) = place(a_layout, row, column);
                    words[outer * 8 + inner / 2] |= half(1, row, column) << (16 * (inner % 2));
                    let (outer, inner) = place(b_layout, row, column);
                    words[128 + outer * 8 + inner / 2] |=
                        half(2, row, column) << (16 * (inner % 2));
                    let (outer, inner) = place(c_layout, row, column);
                    words[256 + outer * 24 + inner] = (value(3, row, column) as f32).to_bits();
                }
            }
            let input = &words[..32 * 20];
            let mut body = String::from("mul.lo.u32 %x0, %t, 80;\nadd.u32 %x0, %s, %x0;\n");
            for word in 0..20 {
                body += &format!("st.shared.b32 [%x0+{}], %i{word};\n", 4 * word);
            }
            let (a, b, c) = (list("a", 0..8), list("b", 0..8), list("c", 0..8));
            body += &format!(
                "bar.sync 0;\nmov.u32 %x1, 16;\nmov.u32 %x2, 24;\n\
                 .reg .b32 %a<8>, %b<8>;\n.reg .f32 %c<8>;\n\
                 wmma.load.a.sync.aligned.{a_layout}.m16n16k16.shared.f16 {a}, [%s], %x1;\n\
                 wmma.load.b.sync.aligned.{b_layout}.m16n16k16.shared.f16 {b}, [%s+512];\n\
                 wmma.load.c.sync.aligned.{c_layout}.m16n16k16.shared.f32 {c}, [%s+1024], %x2;\n\
                 wmma.mma.sync.aligned.{a_layout}.{b_layout}.m16n16k16.f32.f32 {c}, {a}, {b}, {c};\n\
                 wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%s+4096], {c}, %x1;\n\
                 bar.sync 0;\nshl.b32 %x0, %t, 5;\nadd.u32 %x0, %s, %x0;\n",
            );
            for word in 0..8 {
                body += &format!("ld.shared.b32 %o{word}, [%x0+{}];\n", 4096 + 4 * word);
            }
            let text = kernel(&body, 20, 8);
            for schedule in SCHEDULES {
                let output = run_clean(&text, input, 8, 32, schedule);
                for (index, word) in output.iter().enumerate() {
                    let (row, column) = (index / SIZE, index % SIZE);
                    let dot: i32 = (0..SIZE)
                        .map(|k| value(1, row, k) * value(2, k, column))
                        .sum();
                    let expected = dot + value(3, row, column);
                    assert_eq!(f32::from_bits(*word), expected as f32, "({row}, {column})");
                }
            }
        }
    }

    #[test]
    fn other_forms_are_refused_by_name() {
        let eight = list("o", 0..8);
        let message = refusal(&format!(
            "wmma.load.a.sync.aligned.row.m8n32k16.shared.f16 {eight}, [%s];"
        ));
        assert!(message.contains("needs .m16n16k16"), "{message}");
        let message = refusal(&format!(
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {eight}, {eight}, {eight}, {eight};"
        ));
        assert!(message.contains("needs .f32"), "{message}");
    }
}
