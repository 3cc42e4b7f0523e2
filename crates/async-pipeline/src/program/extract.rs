//! From MLIR to [`Program`]. The only place that reads MLIR for analyses.
//!
//! Takes barrier-level kernels: structured control flow, `arith`, `math`, `vector`,
//! `memref` and `gpu` ops that a thread can run, and the barrier-level ops. Anything else
//! is a located error that names the op.

mod barriers;
mod compute;
pub(crate) mod constant;
mod control;
mod memory;
mod vectors;

use super::{
    Argument, Barrier, BarrierId, Block, Buffer, BufferId, FloatType, MemRefType, Operation, Place,
    PlaceId, Program, Register, Role, ScalarType, Space, Statement, StatementId, ValueType,
};
use async_pipeline_sys::{
    dialect::grid_dims,
    ir::{self, Attr, Loc, Op, Type, TypeKind, Value},
};
use std::{collections::HashMap, fmt};
use thiserror::Error;

/// Regions may nest this deep.
pub const MAX_NESTING: usize = 256;
/// A vector may have this many elements.
pub const MAX_VECTOR_LANES: u64 = 16384;
/// A kernel may have this many mbarriers.
pub const MAX_BARRIERS: u64 = 1024;

/// A program and where its places are in the module.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The program.
    pub program: Program,
    /// MLIR locations, by [`PlaceId`].
    pub locations: Vec<Loc>,
}

/// Why a kernel has no program form.
#[derive(Clone, Debug, Error)]
#[error("{problem}")]
pub struct ExtractError {
    /// Where.
    pub location: Loc,
    /// What.
    pub problem: Problem,
}

/// What cannot be extracted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// An op that the program form does not have.
    #[error("cannot interpret '{0}'")]
    UnknownOp(String),
    /// A channel-level op.
    #[error(
        "cannot interpret '{0}' of the channel level; run async-pipeline-insert-barriers first"
    )]
    ChannelLevel(String),
    /// A form of an op that the program form does not have.
    #[error("cannot interpret this form of '{op}': {what}")]
    UnknownForm {
        /// The op.
        op: String,
        /// What is special about it.
        what: &'static str,
    },
    /// A type that registers cannot hold.
    #[error("cannot interpret a value of type {0}")]
    UnknownType(String),
    /// A region with branches.
    #[error("cannot interpret branches between blocks; expected structured control flow")]
    Unstructured,
    /// Regions inside regions without end.
    #[error("regions nest more than {MAX_NESTING} deep")]
    TooDeep,
    /// A barrier or buffer that does not come straight from its alloc.
    #[error("cannot decide which {0} this is: expected the result of its alloc op")]
    Unresolved(&'static str),
    /// More barriers than can be watched.
    #[error("expected at most {MAX_BARRIERS} mbarriers in a kernel, got {0}")]
    TooManyBarriers(u64),
    /// A second `roles` op.
    #[error("expected one 'async_pipeline.roles' in a kernel")]
    SecondRoles,
}

type Result<T> = std::result::Result<T, ExtractError>;

fn problem<T>(op: Op, problem: Problem) -> Result<T> {
    Err(ExtractError {
        location: op.location(),
        problem,
    })
}

fn unknown_form<T>(op: Op, what: &'static str) -> Result<T> {
    problem(
        op,
        Problem::UnknownForm {
            op: op.name().to_owned(),
            what,
        },
    )
}

/// Every kernel of a module, in order.
///
/// # Errors
/// The first thing that has no program form.
pub fn extract(module: Op) -> Result<Vec<Extracted>> {
    module
        .find("gpu.func")
        .into_iter()
        .filter(|function| {
            function.attr("gpu.kernel").is_some() || function.attr("kernel").is_some()
        })
        .map(extract_kernel)
        .collect()
}

/// One kernel.
///
/// # Errors
/// The first thing that has no program form.
pub fn extract_kernel(function: Op) -> Result<Extracted> {
    let mut extractor = Extractor::default();
    let place = extractor.place(function);
    let Some(block) = function.body(0) else {
        return unknown_form(function, "it has no body");
    };
    let mut arguments = Vec::new();
    for (index, value) in block.arguments().into_iter().enumerate() {
        arguments.push(extractor.argument(function, index, value)?);
    }
    let body = extractor.region(function, 0, 0)?;
    let program = Program {
        kernel: function
            .attr("sym_name")
            .and_then(Attr::string)
            .unwrap_or_default(),
        place,
        arguments,
        buffers: extractor.buffers,
        barriers: extractor.barriers,
        roles: extractor.roles,
        body,
        registers: extractor.next_register,
        places: extractor
            .locations
            .iter()
            .map(|l| Place::parse(&l.to_string()))
            .collect(),
        block_size: block_size(function),
        grid: function
            .attr("async_pipeline.grid")
            .map(grid_dims)
            .unwrap_or_default(),
    };
    Ok(Extracted {
        program,
        locations: extractor.locations,
    })
}

/// Threads of a CTA from `known_block_size` or `nvvm.reqntid`.
fn block_size(function: Op) -> Option<u32> {
    ["known_block_size", "gpu.known_block_size", "nvvm.reqntid"]
        .into_iter()
        .filter_map(|name| function.attr(name))
        .map(Attr::dense_i32)
        .find(|extents| !extents.is_empty())?
        .into_iter()
        .try_fold(1_u32, |product, extent| {
            product.checked_mul(u32::try_from(extent).ok()?)
        })
}

#[derive(Default)]
struct Extractor {
    registers: HashMap<Value, Register>,
    next_register: u32,
    next_statement: u32,
    buffer_ids: HashMap<Value, BufferId>,
    buffers: Vec<Buffer>,
    barrier_ids: HashMap<Value, BarrierId>,
    barriers: Vec<Barrier>,
    roles: Vec<Role>,
    has_roles: bool,
    locations: Vec<Loc>,
    places: HashMap<String, PlaceId>,
}

impl Extractor {
    fn place(&mut self, op: Op) -> PlaceId {
        let location = op.location();
        let next = PlaceId(self.locations.len() as u32);
        let id = *self.places.entry(location.to_string()).or_insert(next);
        if id == next {
            self.locations.push(location);
        }
        id
    }

    fn fresh(&mut self) -> Register {
        let register = Register(self.next_register);
        self.next_register += 1;
        register
    }

    /// A new register for a value.
    fn define(&mut self, value: Value) -> Register {
        let register = self.fresh();
        self.registers.insert(value, register);
        register
    }

    /// A new register for an op's only result, whose type must be one a register can hold.
    fn result(&mut self, op: Op) -> Result<Register> {
        let results = op.results();
        let [value] = results[..] else {
            return unknown_form(op, "expected one result");
        };
        self.type_of(op, value)?;
        Ok(self.define(value))
    }

    fn read(&self, op: Op, value: Value) -> Result<Register> {
        match self.registers.get(&value) {
            Some(register) => Ok(*register),
            None => problem(op, Problem::UnknownType(value.ty().to_string())),
        }
    }

    fn read_all(&self, op: Op, values: &[Value]) -> Result<Vec<Register>> {
        values.iter().map(|value| self.read(op, *value)).collect()
    }

    /// The register of an operand.
    fn operand(&self, op: Op, index: usize) -> Result<Register> {
        match op.operands().get(index) {
            Some(value) => self.read(op, *value),
            None => unknown_form(op, "an operand is missing"),
        }
    }

    fn type_of(&self, op: Op, value: Value) -> Result<ValueType> {
        value_type(value.ty()).map_or_else(
            || problem(op, Problem::UnknownType(value.ty().to_string())),
            Ok,
        )
    }

    fn push(&mut self, block: &mut Block, op: Op, operation: Operation) {
        let place = self.place(op);
        let id = StatementId(self.next_statement);
        self.next_statement += 1;
        block.statements.push(Statement {
            id,
            place,
            operation,
        });
    }

    fn argument(&mut self, function: Op, index: usize, value: Value) -> Result<Argument> {
        let ty = self.type_of(function, value)?;
        let attributes = function
            .attr("arg_attrs")
            .and_then(Attr::array)
            .and_then(|all| all.get(index).copied());
        let entry = |name: &str| attributes.and_then(|all| all.entry(name));
        Ok(Argument {
            register: self.define(value),
            name: entry("async_pipeline.name").and_then(Attr::string),
            ty,
            alignment: entry("async_pipeline.align")
                .and_then(Attr::int)
                .and_then(|bytes| u32::try_from(bytes).ok())
                .unwrap_or(16),
        })
    }

    /// The single block of a region; an empty region is an empty block.
    fn region(&mut self, op: Op, region: usize, depth: usize) -> Result<Block> {
        if depth >= MAX_NESTING {
            return problem(op, Problem::TooDeep);
        }
        let blocks = op
            .regions()
            .get(region)
            .map(|r| r.blocks())
            .unwrap_or_default();
        match blocks[..] {
            [] => Ok(Block::default()),
            [block] => self.block(block, depth),
            _ => problem(op, Problem::Unstructured),
        }
    }

    fn block(&mut self, source: ir::Block, depth: usize) -> Result<Block> {
        let mut block = Block::default();
        for op in source.ops() {
            self.op(&mut block, op, depth)?;
        }
        Ok(block)
    }

    fn op(&mut self, block: &mut Block, op: Op, depth: usize) -> Result<()> {
        let name = op.name();
        let (dialect, rest) = name.split_once('.').unwrap_or((name, ""));
        match dialect {
            "async_pipeline" => self.barrier_op(block, op, rest, depth),
            "scf" => self.control_op(block, op, rest, depth),
            "memref" => self.memory_op(block, op, rest),
            "vector" => self.vector_op(block, op, rest),
            "gpu" | "nvvm" => self.gpu_op(block, op, rest),
            "arith" | "math" | "index" => self.compute_op(block, op, rest),
            _ => problem(op, Problem::UnknownOp(name.to_owned())),
        }
    }
}

/// The program's form of a type; `None` if a register cannot hold it.
fn value_type(ty: Type) -> Option<ValueType> {
    if ty.is_memref() {
        let (strides, _) = ty.strides_and_offset()?;
        let space = match ty.memory_space().as_str() {
            "#gpu.address_space<workgroup>" | "3 : i64" => Space::Shared,
            "#gpu.address_space<private>" | "5 : i64" => Space::Local,
            _ => Space::Global,
        };
        let shape = ty
            .shape()
            .into_iter()
            .map(|e| e.map(|e| e.max(0).cast_unsigned()))
            .collect();
        return Some(ValueType::MemRef(MemRefType {
            space,
            element: scalar_type(ty.element())?,
            shape,
            strides,
        }));
    }
    if ty.is_vector() {
        let shape: Vec<u64> = ty
            .shape()
            .into_iter()
            .map(|e| Some(e?.cast_unsigned()))
            .collect::<Option<_>>()?;
        let vector = ValueType::Vector(shape, scalar_type(ty.element())?);
        return (vector.lanes() <= MAX_VECTOR_LANES).then_some(vector);
    }
    scalar_type(ty).map(ValueType::Scalar)
}

fn scalar_type(ty: Type) -> Option<ScalarType> {
    if ty.is_index() {
        return Some(ScalarType::Index);
    }
    let bits = ty.bit_width().filter(|bits| (1..=64).contains(bits))?;
    if !ty.is_float() {
        return Some(ScalarType::Int(bits));
    }
    Some(match ty.to_string().as_str() {
        "f16" => ScalarType::Float(FloatType::F16),
        "bf16" => ScalarType::Float(FloatType::BF16),
        "f32" => ScalarType::Float(FloatType::F32),
        "f64" => ScalarType::Float(FloatType::F64),
        _ => ScalarType::Opaque(bits),
    })
}

/// Shape and element type of a tile: the field of a buffer or tensor map.
fn tile(ty: Type) -> Option<(Vec<u64>, ScalarType)> {
    if !matches!(ty.kind(), TypeKind::Buffer | TypeKind::TensorMap) {
        return None;
    }
    let field = *ty.fields().first()?;
    let shape = field
        .static_shape()
        .into_iter()
        .map(|e| e.max(0).cast_unsigned())
        .collect();
    Some((shape, scalar_type(field.element())?))
}

fn int_attr(op: Op, name: &str) -> Option<i64> {
    op.attr(name)?.int()
}

fn u32_attr(op: Op, name: &str) -> Option<u32> {
    u32::try_from(int_attr(op, name)?).ok()
}

/// The values of an `array<i64: …>` attribute; `None` stands for a dynamic one.
fn i64_array(op: Op, name: &str) -> Option<Vec<Option<i64>>> {
    let text = op.attr(name)?.to_string();
    let inner = text.trim().strip_prefix("array<i64")?.strip_suffix('>')?;
    inner
        .trim_start_matches(':')
        .split(',')
        .map(str::trim)
        .filter(|number| !number.is_empty())
        .map(|number| {
            number
                .parse()
                .ok()
                .map(|value: i64| (value != i64::MIN).then_some(value))
        })
        .collect()
}

impl fmt::Debug for Extractor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extractor after {} statements", self.next_statement)
    }
}
