//! The syntax tree.

use std::{fmt, sync::Arc};

/// A place in the PTX text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Line.
    pub line: u32,
    /// Column in bytes.
    pub column: u32,
}

/// A place in the source that the PTX was made from, by `.loc`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file's name, by `.file`.
    pub file: Arc<str>,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A whole PTX file.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// The first name of `.target`, such as `sm_90a`.
    pub target: String,
    /// Module-level variables: `.global`, `.const`, `.shared`, extern ones included.
    pub variables: Vec<Variable>,
    /// The kernels. Device functions (`.func`) with a body are refused by name.
    pub entries: Vec<Entry>,
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Any: addresses tell windows apart.
    Generic,
    /// Device memory.
    Global,
    /// Shared memory of the own CTA, or with a 32-bit cluster address of any CTA in the cluster.
    Shared,
    /// Memory of one thread.
    Local,
    /// Constants of the module.
    Const,
    /// The kernel's parameters.
    Param,
}

/// The type of a register, a variable's element or an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ScalarType {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F32x2,
    F64,
    Tf32,
}

impl ScalarType {
    /// Parses a type's name without the dot, such as `u32`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "pred" => Self::Pred,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "f32" => Self::F32,
            "f32x2" => Self::F32x2,
            "f64" => Self::F64,
            "tf32" => Self::Tf32,
            _ => return None,
        })
    }

    /// Width in bits; 1 for predicates.
    pub fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::F16x2 | Self::Bf16x2 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 => 64,
            Self::B128 => 128,
        }
    }

    /// Width in bytes as in memory; 1 for predicates.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether values are signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether values are floating-point numbers, packed ones included.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16
                | Self::F16x2
                | Self::Bf16
                | Self::Bf16x2
                | Self::F32
                | Self::F32x2
                | Self::F64
                | Self::Tf32
        )
    }
}

/// A variable in `.global`, `.const`, `.shared` or `.local` memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Where it is declared.
    pub span: Span,
    /// Its name, unique only within its scope.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// `.align`, or the element's own.
    pub align: u32,
    /// Size in bytes; 0 for `.extern .shared` arrays of open size.
    pub bytes: u64,
    /// Whether it is `.extern`.
    pub is_extern: bool,
    /// Initial bytes, empty if none; shorter than `bytes` means zeros follow.
    pub init: Vec<u8>,
}

/// A kernel parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Where it is declared.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes.
    pub bytes: u64,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where its name stands.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// `.reqntid`, missing sizes 1.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`, missing sizes 1.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`, missing sizes 1.
    pub cluster: Option<[u32; 3]>,
    /// Whether `.explicitcluster` is there.
    pub explicit_cluster: bool,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// Every register of the body, whatever scope it was declared in; [`RegisterId`] indexes it.
    pub registers: Vec<Register>,
    /// Variables of the body: [`VariableId::Local`] indexes it.
    pub variables: Vec<Variable>,
    /// `.branchtargets` tables: targets as indices of `instructions`.
    pub tables: Vec<Vec<u32>>,
    /// The body. A label is the index of the instruction that follows it, so it may be one past
    /// the end.
    pub instructions: Vec<Instruction>,
}

/// A register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name with the `%`.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
}

/// Index into [`Entry::registers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub u32);

/// A variable by scope and index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VariableId {
    /// Of [`Module::variables`].
    Module(u32),
    /// Of [`Entry::variables`].
    Local(u32),
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Where it begins (its guard, if it has one).
    pub span: Span,
    /// What it was compiled from.
    pub source: Option<SourceLine>,
    /// `@%p` or `@!%p`.
    pub guard: Option<Guard>,
    /// The part before the first dot, such as `mbarrier`.
    pub opcode: String,
    /// The parts after it, without dots, such as `arrive`, `expect_tx`, `shared::cta`, `b64`.
    pub modifiers: Vec<String>,
    /// Operands in order.
    pub operands: Vec<Operand>,
}

impl Instruction {
    /// Opcode and modifiers as written, without blanks.
    pub fn mnemonic(&self) -> String {
        let mut text = self.opcode.clone();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

/// The predicate in front of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: RegisterId,
    /// Whether the instruction runs where it is false.
    pub negated: bool,
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A register.
    Register(RegisterId),
    /// `!%p`.
    Not(RegisterId),
    /// A special register with its `%`, such as `%tid.x`.
    Special(String),
    /// An integer; negative ones in two's complement of 64 bits. Sums and the like of constants
    /// are folded, `WARP_SZ` is 32.
    Integer(i64),
    /// `0f…`: the bits of an f32.
    Float32(u32),
    /// `0d…`, and decimal floating-point constants, which PTX reads as f64.
    Float64(u64),
    /// The address of a variable, or of one plus a constant.
    Variable(VariableId, i64),
    /// The address of a kernel parameter (an index), plus a constant.
    Parameter(u32, i64),
    /// `[a]`, `[a+4]`, and with more parts separated by commas, such as `[map, {x, y}]` and
    /// `[bar], mask`-less forms. `base` is a register, special register, integer, variable or
    /// parameter; the offset of a variable or parameter is folded into it.
    Memory {
        /// What stands first.
        base: Box<Operand>,
        /// The constant added to it.
        offset: i64,
        /// What follows the first comma.
        more: Vec<Operand>,
    },
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `a|b`.
    Pair(Box<Operand>, Box<Operand>),
    /// `_`.
    Sink,
    /// A label: an index of [`Entry::instructions`].
    Label(u32),
    /// A `.branchtargets` table: an index of [`Entry::tables`].
    Table(u32),
}
