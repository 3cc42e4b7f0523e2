//! Accumulators in registers, and the products that add to them.

use super::{Threads, WARP, addresses, held::tiling};
use crate::{
    build::Build,
    diagnostics::error,
    layout::{
        BYTE, COLUMN, LANE, Layout, LayoutError, REGISTER, ROW, WARP as WARP_AXIS,
        fragments::MmaTiling,
        ldmatrix::{Ldmatrix, ldmatrix},
        shared::{Swizzle, boxes},
    },
    passes::{
        Failed,
        carry::{append_to_terminator, rebuild},
    },
};
use async_pipeline_sys::ir::{Block, Builder, Op, TypeKind, Value};
use std::collections::HashMap;

/// Bytes of K that one `mma.sync` of the shapes used here takes (PTX ISA 9.1, 9.7.14.5).
const K_BYTES: i64 = 32;

/// The values of accumulators as control flow carries them.
pub(super) struct Registers<'a> {
    threads: &'a Threads,
    /// The values that stand in an accumulator now.
    current: HashMap<Value, Vec<Value>>,
    /// What each load of an accumulator found.
    loaded: HashMap<Op, Vec<Value>>,
    /// Row addresses of threads, by what they follow from.
    rows: HashMap<(Vec<u32>, Vec<u32>, u32), Value>,
}

/// What each load of an accumulator found, in the order of the layout of `mma.sync`.
pub(super) type Loaded = HashMap<Op, Vec<Value>>;

impl<'a> Registers<'a> {
    pub(super) fn new(threads: &'a Threads) -> Self {
        Self {
            threads,
            current: HashMap::new(),
            loaded: HashMap::new(),
            rows: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Loaded {
        self.loaded
    }

    /// Threads the values through a block.
    pub(super) fn thread(&mut self, block: Block) -> Result<(), Failed> {
        for op in block.ops() {
            match op.name() {
                "async_pipeline.tile.accumulator" => {
                    let tile = op.result(0).ty().fields()[0];
                    let all: i64 = tile.static_shape().iter().product();
                    let zero =
                        Build(Builder::before(op)).parsed_constant("0.0 : f32", tile.element());
                    let count = all / (self.threads.warps * WARP);
                    self.current
                        .insert(op.result(0), vec![zero; count as usize]);
                }
                "async_pipeline.mma.sync" => {
                    self.product(op)?;
                    op.erase();
                }
                "async_pipeline.work.load"
                    if op.operand(0).ty().kind() == TypeKind::Accumulator =>
                {
                    let values = self.values(op, op.operand(0))?;
                    self.loaded.insert(op, values);
                }
                _ if !op.regions().is_empty() => self.nested(op)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn values(&self, op: Op, accumulator: Value) -> Result<Vec<Value>, Failed> {
        self.current
            .get(&accumulator)
            .cloned()
            .ok_or_else(|| error(op, "expected an accumulator that is made in front of here"))
    }

    fn nested(&mut self, op: Op) -> Result<(), Failed> {
        let mut changed: Vec<Value> = Vec::new();
        for product in op.find("async_pipeline.mma.sync") {
            let accumulator = product.operand(0);
            if self.current.contains_key(&accumulator) && !changed.contains(&accumulator) {
                changed.push(accumulator);
            }
        }
        if changed.is_empty() {
            let bodies = op.regions().into_iter().flat_map(|region| region.blocks());
            return bodies.into_iter().try_for_each(|block| self.thread(block));
        }
        let values: Vec<Value> = changed
            .iter()
            .flat_map(|accumulator| self.current[accumulator].clone())
            .collect();
        let (new, loops) = match op.name() {
            "scf.for" => (rebuild(op, &values, &[]), true),
            "scf.if" => (rebuild(op, &[], &values), false),
            name => {
                return Err(error(
                    op,
                    format!("a product inside {name} is not supported; expected scf.for or scf.if"),
                ));
            }
        };
        let outer = self.current.clone();
        for region in 0..new.regions().len() {
            let block = match new.body(region) {
                Some(block) => block,
                None => {
                    let (block, builder) =
                        new.regions()[region].new_block(&[], new.location(), new.context());
                    builder.op("scf.yield").build();
                    block
                }
            };
            self.current.clone_from(&outer);
            if loops {
                let inner: Vec<Value> = values
                    .iter()
                    .map(|value| block.add_argument(value.ty(), new.location()))
                    .collect();
                self.set(&changed, &inner);
            }
            self.thread(block)?;
            let yielded: Vec<Value> = changed
                .iter()
                .flat_map(|accumulator| self.current[accumulator].clone())
                .collect();
            append_to_terminator(block, &yielded);
        }
        self.current = outer;
        let (count, results) = (op.result_count(), new.results());
        op.replace(&results[..count]);
        self.set(&changed, &results[count..]);
        Ok(())
    }

    fn set(&mut self, accumulators: &[Value], values: &[Value]) {
        let mut rest = values.iter().copied();
        for accumulator in accumulators {
            let count = self.current[accumulator].len();
            self.current
                .insert(*accumulator, rest.by_ref().take(count).collect());
        }
    }

    /// Loads the fragments of each step along K one step ahead of the products that need them.
    fn product(&mut self, op: Op) -> Result<(), Failed> {
        let accumulator = op.operand(0);
        let shape = accumulator.ty().fields()[0].static_shape();
        let element = op.operand(1).ty().fields()[0].element();
        let bytes = element.byte_width().unwrap_or(K_BYTES);
        let depth = K_BYTES / bytes;
        let tiling = tiling(op, [shape[0], shape[1]], depth, self.threads.warps)?;
        let a = Operand::new(op, Side::A, &tiling, bytes)?;
        let b = Operand::new(op, Side::B, &tiling, bytes)?;
        let (_, k) = crate::verify::tensor::rows_and_depth(op, op.operand(1), "transpose_a");
        if k % depth != 0 {
            return Err(error(
                op,
                format!("expected K to be a multiple of {depth}, got {k}"),
            ));
        }
        let instruction = Instruction::new(op, &element.to_string());
        let mut values = self.values(op, accumulator)?;
        let build = Build(Builder::before(op));
        let load = |registers: &mut Self, step: i64| -> Result<[Vec<Value>; 2], Failed> {
            let at = (step * depth) as u32;
            Ok([
                registers.fragments(build, op, &a, at)?,
                registers.fragments(build, op, &b, at)?,
            ])
        };
        let mut next = load(self, 0)?;
        for step in 0..k / depth {
            let [a, b] = if step + 1 < k / depth {
                let later = load(self, step + 1)?;
                std::mem::replace(&mut next, later)
            } else {
                next.clone()
            };
            let across = b.len() / 2;
            for (row, a) in a.chunks_exact(4).enumerate() {
                for (column, b) in b.chunks_exact(2).enumerate() {
                    let at = (row * across + column) * 4;
                    let sum = instruction.emit(build, a, b, &values[at..at + 4]);
                    values[at..at + 4].copy_from_slice(&sum);
                }
            }
        }
        self.current.insert(accumulator, values);
        Ok(())
    }

    /// The words of one step along K.
    fn fragments(
        &mut self,
        build: Build,
        op: Op,
        operand: &Operand,
        k: u32,
    ) -> Result<Vec<Value>, Failed> {
        let plan = &operand.plan;
        let images = |axis| {
            operand
                .images(axis)
                .map_err(|why| error(op, why.to_string()))
        };
        let (lanes, warps) = (images(LANE)?, images(WARP_AXIS)?);
        let moving = lanes
            .iter()
            .chain(&warps)
            .fold(0, |mask, image| mask | image);
        let along = operand.along(k).map_err(|why| error(op, why.to_string()))?;
        let i32 = build.0.context().i32();
        let mut words = Vec::new();
        for instruction in 0..plan.instructions() {
            let own = plan
                .addresses
                .coordinate(BYTE, &[(REGISTER, instruction)])
                .map_err(|why| error(op, why.to_string()))?;
            // What no thread changes is added by the instruction itself; the rest is exchanged
            // with the thread's part, once for all stages and loops.
            let constant = own ^ along;
            let (exchanged, added) = (constant & moving, constant & !moving);
            let key = (lanes.clone(), warps.clone(), exchanged);
            let threads = self.threads;
            let row = *self.rows.entry(key).or_insert_with(|| {
                let own = addresses::combined(threads, &lanes, &warps);
                let start = threads.start;
                let row = match exchanged {
                    0 => own,
                    bits => start.xor(own, start.index(i64::from(bits))),
                };
                start.index_cast(row, i32)
            });
            let mut load = build
                .0
                .op("async_pipeline.ldmatrix")
                .operands(&[operand.buffer, operand.stage, row])
                .attr("plus", build.0.context().i32_attr(i64::from(added)))
                .results(&vec![i32; plan.matrices as usize]);
            if plan.transposed {
                load = load.attr("transpose", build.0.context().unit_attr());
            }
            words.extend(load.build().results());
        }
        Ok(words)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    A,
    B,
}

/// An operand in shared memory and how one step along K of it is loaded.
struct Operand {
    buffer: Value,
    stage: Value,
    plan: Ldmatrix,
    /// (row, column) → byte, in the operand's own rows and columns.
    stored: Layout,
    /// Which of both runs along K.
    depth: &'static str,
}

impl Operand {
    fn new(op: Op, side: Side, tiling: &MmaTiling, bytes: i64) -> Result<Self, Failed> {
        let (at, transpose, depth) = match side {
            Side::A => (1, "transpose_a", COLUMN),
            Side::B => (3, "transpose_b", ROW),
        };
        let buffer = op.operand(at);
        let transposed = op.attr(transpose).is_some();
        let plan = |bytes: u32| -> Result<(Layout, Option<Ldmatrix>), LayoutError> {
            let shape = buffer.ty().fields()[0].static_shape();
            let swizzle = match buffer.ty().swizzle() {
                32 => Swizzle::B32,
                64 => Swizzle::B64,
                _ => Swizzle::B128,
            };
            let mut stored = boxes(shape[0] as u32, shape[1] as u32, bytes, swizzle)?;
            if transposed {
                stored = stored
                    .rename(ROW, "other")?
                    .rename(COLUMN, ROW)?
                    .rename("other", COLUMN)?;
            }
            let held = match side {
                Side::A => tiling.a(bytes)?,
                Side::B => tiling.b(bytes)?,
            };
            let plan = ldmatrix(&held.then(&stored)?, bytes)?;
            Ok((stored, plan))
        };
        match plan(bytes as u32) {
            Ok((stored, Some(plan))) => Ok(Self {
                buffer,
                stage: op.operand(at + 1),
                plan,
                stored,
                depth,
            }),
            Ok((_, None)) => Err(error(
                op,
                format!(
                    "an operand of {} that is stored across K is not supported in registers; store it along K",
                    buffer.ty().fields()[0].element()
                ),
            )),
            Err(why) => Err(error(op, why.to_string())),
        }
    }

    fn images(&self, axis: &'static str) -> Result<Vec<u32>, LayoutError> {
        let addresses = &self.plan.addresses;
        (0..addresses.input_size(axis).ilog2())
            .map(|bit| addresses.coordinate(BYTE, &[(axis, 1 << bit)]))
            .collect()
    }

    /// Where K goes on.
    fn along(&self, k: u32) -> Result<u32, LayoutError> {
        self.stored.coordinate(BYTE, &[(self.depth, k)])
    }
}

/// `mma.sync` of one element type.
struct Instruction {
    text: async_pipeline_sys::ir::Attr,
    constraints: async_pipeline_sys::ir::Attr,
    result: async_pipeline_sys::ir::Type,
}

impl Instruction {
    fn new(op: Op, element: &str) -> Self {
        let context = op.context();
        let (shape, element) = match element {
            "f32" => ("m16n8k8", "tf32"),
            other => ("m16n8k16", other),
        };
        let f32 = context.parse_type("f32").expect("f32 is a type");
        Self {
            text: context.string_attr(&format!(
                "mma.sync.aligned.{shape}.row.col.f32.{element}.{element}.f32 {{$0, $1, $2, $3}}, {{$4, $5, $6, $7}}, {{$8, $9}}, {{$10, $11, $12, $13}};"
            )),
            constraints: context.string_attr("=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"),
            result: context.llvm_struct(&[f32; 4]),
        }
    }

    /// Registers to registers: no effect that others could see.
    fn emit(&self, build: Build, a: &[Value], b: &[Value], c: &[Value]) -> [Value; 4] {
        let context = build.0.context();
        let all = build
            .0
            .op("llvm.inline_asm")
            .operands(a)
            .operands(b)
            .operands(c)
            .results(&[self.result])
            .attr("asm_string", self.text)
            .attr("constraints", self.constraints)
            .attr("asm_dialect", context.i64_attr(0))
            .value();
        [0, 1, 2, 3].map(|index| {
            build
                .0
                .op("llvm.extractvalue")
                .operands(&[all])
                .attr("position", context.dense_i64_attr(&[index]))
                .results(&[c[0].ty()])
                .value()
        })
    }
}
