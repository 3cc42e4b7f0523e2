//! The tensor core and tensor memory: `tcgen05`.
//!
//! Descriptors: PTX ISA 9.1, 9.7.16.4.1 (matrices in shared memory) and 9.7.16.4.2
//! (instructions).

use super::{Lowering, ids::register, inline, ptx, ptx_value};
use crate::{
    build::Build,
    diagnostics::error,
    passes::Failed,
    verify::tensor::{K_BYTES, Operand, operand, rows_and_depth},
};
use async_pipeline_sys::ir::{Builder, Op, Type, Value};

/// The number of f32 as type of D.
const D_F32: i64 = 1;
/// Rows of a pattern of the swizzle.
const PATTERN_ROWS: i64 = 8;

/// An operand in shared memory: how its descriptor and its steps along K follow from the way
/// it is stored.
struct Matrix {
    /// Bytes of the swizzle, which are those of a row of a box.
    span: i64,
    /// Rows and columns as stored.
    shape: [i64; 2],
    element_bytes: i64,
    /// Whether K runs along the columns as stored.
    transposed: bool,
}

impl Matrix {
    fn new(op: Op, buffer: Value, transpose: &str) -> Self {
        let tile = buffer.ty().fields()[0];
        let shape = tile.static_shape();
        Self {
            span: buffer.ty().swizzle(),
            shape: [shape[0], shape[1]],
            element_bytes: tile.element().byte_width().unwrap_or(1),
            transposed: op.attr(transpose).is_some(),
        }
    }

    fn box_bytes(&self) -> i64 {
        self.shape[0] * self.span
    }

    /// The descriptor without its address: version 1; from one pattern of 8 rows to the next;
    /// from one box to the next where rows or columns of the product go on there. Otherwise
    /// that distance is not used, and is 1 by convention.
    fn descriptor(&self) -> i64 {
        let code = match self.span {
            32 => 6_i64,
            64 => 4,
            _ => 2,
        };
        let boxes = if self.transposed {
            self.box_bytes() >> 4
        } else {
            1
        };
        code << 61 | 1 << 46 | ((PATTERN_ROWS * self.span) >> 4) << 32 | boxes << 16
    }

    /// How far the part of K that one instruction takes is from the start, bytes.
    fn step(&self, step: i64) -> i64 {
        if self.transposed {
            return step * K_BYTES / self.element_bytes * self.span;
        }
        let along = step * K_BYTES;
        along / self.span * self.box_bytes() + along % self.span
    }

    fn steps(&self) -> i64 {
        let depth = self.shape[usize::from(!self.transposed)];
        depth * self.element_bytes / K_BYTES
    }
}

/// Type and shape of a product as the instruction is told them.
fn instruction(a: Operand, b: Operand, m: i64, n: i64, transposed: [bool; 2]) -> i64 {
    let [of_a, of_b] = transposed.map(i64::from);
    D_F32 << 4
        | a.code << 7
        | b.code << 10
        | of_a << 15
        | of_b << 16
        | (n >> 3) << 17
        | (m >> 4) << 24
}

impl Lowering {
    pub(super) fn tensor(&mut self, op: Op, name: &str) -> Result<(), Failed> {
        let builder = Builder::before(op);
        match name {
            "tcgen05.alloc" => {
                let to = self.word(builder, op)?;
                let columns = op.attr("columns").and_then(|columns| columns.int());
                let text = format!(
                    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], {};",
                    columns.unwrap_or_default()
                );
                ptx(builder, &text, "r", &[to]);
            }
            "tcgen05.address" => {
                let from = self.word(builder, op)?;
                let i32 = builder.context().i32();
                let address = ptx_value(
                    builder,
                    "ld.shared::cta.b32 $0, [$1];",
                    "=r,r",
                    &[from],
                    i32,
                );
                // Whoever uses the range finds the address behind the cast.
                let cast = builder
                    .op("builtin.unrealized_conversion_cast")
                    .operands(&[address])
                    .results(&[op.result(0).ty()])
                    .value();
                op.replace(&[cast]);
                return Ok(());
            }
            "tcgen05.slice" => {
                let build = Build(builder);
                let at = build.add(address(op, op.operand(0))?, op.operand(1));
                let cast = builder
                    .op("builtin.unrealized_conversion_cast")
                    .operands(&[at])
                    .results(&[op.result(0).ty()])
                    .value();
                op.replace(&[cast]);
                return Ok(());
            }
            "tcgen05.relinquish" => ptx(
                builder,
                "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
                "",
                &[],
            ),
            "tcgen05.dealloc" => {
                let text = format!(
                    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, {};",
                    op.operand(0).ty().columns()
                );
                ptx(builder, &text, "r", &[address(op, op.operand(0))?]);
            }
            "tcgen05.mma" => self.mma(op, builder)?,
            "tcgen05.commit" => {
                let barrier = self
                    .memory
                    .barrier(builder, op, op.operand(0), op.operand(1))?;
                ptx(
                    builder,
                    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];",
                    "r",
                    &[barrier],
                );
            }
            "tcgen05.ld" => {
                return load(op, builder);
            }
            "tcgen05.st" => store(op, builder)?,
            "tcgen05.wait_ld" => ptx(builder, "tcgen05.wait::ld.sync.aligned;", "", &[]),
            "tcgen05.wait_st" => ptx(builder, "tcgen05.wait::st.sync.aligned;", "", &[]),
            "tcgen05.fence_before" => {
                ptx(builder, "tcgen05.fence::before_thread_sync;", "", &[]);
            }
            "tcgen05.fence_after" => ptx(builder, "tcgen05.fence::after_thread_sync;", "", &[]),
            _ => {
                return Err(error(
                    op,
                    format!("'{}' op cannot be lowered to NVVM", op.name()),
                ));
            }
        }
        op.erase();
        Ok(())
    }

    /// Shared address of the word that holds an address of tensor memory.
    fn word(&self, builder: Builder, op: Op) -> Result<Value, Failed> {
        self.memory
            .slot_element(builder, op, op.operand(0), op.operand(1), 0)
    }

    fn mma(&self, op: Op, builder: Builder) -> Result<(), Failed> {
        let build = Build(builder);
        let (a, b) = (op.operand(2), op.operand(4));
        let (tile_a, tile_b) = (a.ty().fields()[0], b.ty().fields()[0]);
        let kinds = (operand(tile_a.element()), operand(tile_b.element()));
        let (Some(kind_a), Some(kind_b)) = kinds else {
            return Err(error(op, "expected element types that tcgen05.mma knows"));
        };
        let at_a = self.memory.slot_element(builder, op, a, op.operand(3), 0)?;
        let at_b = self.memory.slot_element(builder, op, b, op.operand(5), 0)?;
        let of_a = Matrix::new(op, a, "transpose_a");
        let of_b = Matrix::new(op, b, "transpose_b");
        let matrix_a = matrix(builder, at_a, of_a.descriptor());
        let matrix_b = matrix(builder, at_b, of_b.descriptor());
        let (m, _) = rows_and_depth(op, a, "transpose_a");
        let (n, _) = rows_and_depth(op, b, "transpose_b");
        let transposed = [of_a.transposed, of_b.transposed];
        let instruction = build.i32(instruction(kind_a, kind_b, m, n, transposed));
        let d = build.add(address(op, op.operand(0))?, op.operand(1));
        let kind = kind_a.kind;
        for step in 0..of_a.steps() {
            let along = |matrix: &Matrix, at| build.add(at, build.i64(matrix.step(step) >> 4));
            let (a, b) = (along(&of_a, matrix_a), along(&of_b, matrix_b));
            // From the second step on it is the sum of the first that is added to.
            let adds = if step == 0 {
                build.extend(op.operand(6))
            } else {
                build.i32(1)
            };
            let text = format!(
                "{{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, $4, 0;\n\ttcgen05.mma.cta_group::1.kind::{kind} [$0], $1, $2, $3, adds;\n\t}}"
            );
            ptx(builder, &text, "r,l,l,r,r", &[d, a, b, instruction, adds]);
        }
        Ok(())
    }
}

/// The address of a range of tensor memory.
fn address(op: Op, range: Value) -> Result<Value, Failed> {
    range
        .defining_op()
        .filter(|cast| cast.is("builtin.unrealized_conversion_cast"))
        .map(|cast| cast.operand(0))
        .ok_or_else(|| error(op, "expected a range made by tcgen05.address"))
}

/// The descriptor of a tile that starts at a 32-bit shared address.
fn matrix(builder: Builder, address: Value, descriptor: i64) -> Value {
    let build = Build(builder);
    let i32 = builder.context().i32();
    let units = builder
        .op("arith.shrui")
        .operands(&[address, build.i32(4)])
        .results(&[i32])
        .value();
    // Of the address, 18 bits count.
    let units = build.and(units, build.i32(0x3fff));
    let wide = builder
        .op("arith.extui")
        .operands(&[units])
        .results(&[builder.context().i64()])
        .value();
    build.or(wide, build.i64(descriptor))
}

/// Address of the first column for this warp: a warp reaches the quarter of the lanes that
/// its number modulo 4 names, and the address says so.
fn warp_address(op: Op, builder: Builder, range: Value, at: Value) -> Result<Value, Failed> {
    let build = Build(builder);
    let range = address(op, range)?;
    let i32 = builder.context().i32();
    let thread = register(builder, "nvvm.read.ptx.sreg.tid.x");
    // Bits 5 and 6 of the thread's number, times 32 lanes, at bit 16 of the address.
    let quarter = build.and(thread, build.i32(0x60));
    let lanes = builder
        .op("arith.shli")
        .operands(&[quarter, build.i32(16)])
        .results(&[i32])
        .value();
    Ok(build.add(build.add(range, lanes), at))
}

fn names(first: i64, count: i64) -> String {
    let names: Vec<String> = (first..first + count)
        .map(|number| format!("${number}"))
        .collect();
    names.join(", ")
}

fn bitcast(builder: Builder, value: Value, ty: Type) -> Value {
    if value.ty() == ty {
        return value;
    }
    builder
        .op("arith.bitcast")
        .operands(&[value])
        .results(&[ty])
        .value()
}

fn load(op: Op, builder: Builder) -> Result<(), Failed> {
    let context = builder.context();
    let i32 = context.i32();
    let vector = op.result(0).ty();
    let count = vector.static_shape()[0];
    let from = warp_address(op, builder, op.operand(0), op.operand(1))?;
    let text = format!(
        "tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {{{}}}, [${count}];",
        names(0, count)
    );
    let constraints = format!("{}r", "=r,".repeat(count as usize));
    let words: Vec<Value> = if count == 1 {
        vec![ptx_value(builder, &text, &constraints, &[from], i32)]
    } else {
        let all = context.llvm_struct(&vec![i32; count as usize]);
        let all = inline(builder, &text, &constraints, &[from], &[all]).result(0);
        (0..count)
            .map(|index| {
                builder
                    .op("llvm.extractvalue")
                    .operands(&[all])
                    .attr("position", context.dense_i64_attr(&[index]))
                    .results(&[i32])
                    .value()
            })
            .collect()
    };
    let elements: Vec<Value> = words
        .into_iter()
        .map(|word| bitcast(builder, word, vector.element()))
        .collect();
    let value = builder
        .op("vector.from_elements")
        .operands(&elements)
        .results(&[vector])
        .value();
    op.replace(&[value]);
    Ok(())
}

fn store(op: Op, builder: Builder) -> Result<(), Failed> {
    let context = builder.context();
    let values = op.operand(0);
    let vector = values.ty();
    let count = vector.static_shape()[0];
    let mut operands = vec![warp_address(op, builder, op.operand(1), op.operand(2))?];
    for index in 0..count {
        let element = builder
            .op("vector.extract")
            .operands(&[values])
            .attr("static_position", context.dense_i64_attr(&[index]))
            .results(&[vector.element()])
            .value();
        operands.push(bitcast(builder, element, context.i32()));
    }
    let text = format!(
        "tcgen05.st.sync.aligned.32x32b.x{count}.b32 [$0], {{{}}};",
        names(1, count)
    );
    ptx(
        builder,
        &text,
        &format!("r{}", ",r".repeat(count as usize)),
        &operands,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_those_of_other_compilers() {
        let stored = |span, shape, transposed| Matrix {
            span,
            shape,
            element_bytes: 2,
            transposed,
        };
        let along_k = stored(128, [128, 64], false);
        assert_eq!(along_k.descriptor(), 0x4000_4040_0001_0000);
        let steps: Vec<i64> = (0..along_k.steps())
            .map(|step| along_k.step(step))
            .collect();
        assert_eq!(steps, [0, 32, 64, 96]);
        // Two boxes: K goes on in the second.
        assert_eq!(stored(128, [128, 128], false).step(4), 128 * 128);
        // Across K: 16 rows of 128 bytes for each step, and 64 columns for each box.
        let across = stored(128, [64, 256], true);
        assert_eq!(across.descriptor(), 0x4000_4040_0200_0000);
        assert_eq!((across.steps(), across.step(1)), (4, 16 * 128));
        let operand = |kind, code| Operand { kind, code };
        let f16 = operand("f16", 0);
        let bf16 = operand("f16", 1);
        let e5m2 = operand("f8f6f4", 1);
        let along = [false, false];
        assert_eq!(instruction(f16, f16, 128, 128, [false, true]), 0x0821_0010);
        assert_eq!(instruction(f16, f16, 128, 128, along), 0x0820_0010);
        assert_eq!(instruction(bf16, bf16, 128, 128, along), 0x0820_0490);
        assert_eq!(instruction(f16, f16, 64, 64, along), 0x0410_0010);
        assert_eq!(instruction(e5m2, e5m2, 128, 256, along), 0x0840_0490);
    }
}
