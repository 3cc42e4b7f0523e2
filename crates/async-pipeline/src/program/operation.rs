//! What a statement does.

use super::{BarrierId, Block, BufferId, FloatType, Register, ScalarType};
use std::sync::Arc;

/// One barrier of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The array.
    pub barrier: BarrierId,
    /// The register that holds the stage.
    pub stage: Register,
}

/// An element of a memref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The register that holds the memref.
    pub memref: Register,
    /// One index register per dimension.
    pub indices: Vec<Register>,
}

/// How a load or store reaches memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The first element.
    pub at: Element,
    /// Elements along the innermost dimension; `None` for a scalar.
    pub lanes: Option<u32>,
    /// Bytes the address has to be a multiple of.
    pub alignment: u32,
    /// Type of one element.
    pub element: ScalarType,
    /// Lanes outside the memref read as this register (loads) or are dropped (stores).
    pub padding: Option<Register>,
}

/// A number that the hardware knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Index of the thread in its CTA, by dimension. CTAs are one-dimensional.
    ThreadId(u8),
    /// Index of the CTA in the grid, by dimension.
    BlockId(u8),
    /// Threads of the CTA, by dimension.
    BlockDim(u8),
    /// CTAs of the grid, by dimension.
    GridDim(u8),
    /// Index of the thread in its role.
    RoleThreadId,
    /// Threads of the role.
    RoleThreadCount,
    /// Index of the thread in its warp.
    LaneId,
    /// Index of the warp in the CTA.
    WarpId,
}

/// Integer functions of two operands, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as in the `arith` dialect.
pub enum IntegerBinary {
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    RemS,
    RemU,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightS,
    ShiftRightU,
    MinS,
    MinU,
    MaxS,
    MaxU,
}

/// Integer comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as in the `arith` dialect.
pub enum IntegerPredicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

/// Float comparisons: the relations under which the answer is yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatPredicate {
    /// Yes if the operands are equal.
    pub equal: bool,
    /// Yes if the first is greater.
    pub greater: bool,
    /// Yes if the first is less.
    pub less: bool,
    /// Yes if one is not a number.
    pub unordered: bool,
}

/// Float functions of two operands, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as in the `arith` and `math` dialects.
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// NaN if either is NaN.
    Minimum,
    /// NaN if either is NaN.
    Maximum,
    /// The number if one is NaN.
    MinNum,
    /// The number if one is NaN.
    MaxNum,
    Pow,
    Atan2,
    CopySign,
}

/// Float functions of one operand, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as in the `math` dialect.
pub enum FloatUnary {
    Neg,
    Abs,
    Exp,
    Exp2,
    ExpM1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Tanh,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundEven,
}

/// How the lanes of a vector are folded into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Integers.
    Integer(IntegerBinary, u32),
    /// Floats.
    Float(FloatBinary, FloatType),
}

/// A function of registers without any effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Function {
    /// The bits of a scalar.
    Scalar(u64),
    /// The bits of a vector.
    Vector(Arc<[u64]>),
    /// The operand itself.
    Copy,
    /// An integer function at a width.
    Integer(IntegerBinary, u32),
    /// An integer comparison at a width.
    IntegerCompare(IntegerPredicate, u32),
    /// A float function.
    Float(FloatBinary, FloatType),
    /// A float function of one operand.
    FloatUnary(FloatUnary, FloatType),
    /// A float comparison.
    FloatCompare(FloatPredicate, FloatType),
    /// `a * b + c` with one rounding.
    Fma(FloatType),
    /// Integer absolute value at a width.
    IntegerAbs(u32),
    /// The second operand where the first is true, else the third.
    Select,
    /// Sign extension or truncation from a width to a width.
    ExtendS(u32, u32),
    /// Zero extension or truncation from a width to a width.
    ExtendU(u32, u32),
    /// Float to float.
    Float2Float(FloatType, FloatType),
    /// Integer of a width, signed or not, to float.
    Int2Float(u32, bool, FloatType),
    /// Float to integer of a width, signed or not; saturates.
    Float2Int(FloatType, u32, bool),
    /// Picks lanes out of the lanes of all operands laid side by side.
    Rearrange {
        /// For each lane of the result, the lane it comes from.
        picks: Arc<[u32]>,
        /// Whether the result is a scalar.
        scalar: bool,
    },
    /// Takes lanes of the first operand at a position given by the others.
    Extract {
        /// Lanes per step of each position, and its extent.
        positions: Vec<(u64, u64)>,
        /// Number of lanes taken.
        lanes: u32,
        /// Whether the result is a scalar.
        scalar: bool,
    },
    /// Puts the first operand into the second at a position given by the others.
    Insert {
        /// Lanes per step of each position, and its extent.
        positions: Vec<(u64, u64)>,
    },
    /// Folds the first operand; a second one is the start.
    Reduce(Reduction),
}

/// What a statement does. Register fields are named after their part.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The fields are the operands of the dialect's ops of these names.
pub enum Operation {
    /// Computes.
    Compute {
        function: Function,
        operands: Vec<Register>,
        result: Register,
    },
    /// Asks the hardware.
    Ask { query: Query, result: Register },
    /// Extent of a memref.
    Dim {
        memref: Register,
        dimension: Register,
        result: Register,
    },
    /// Offset, sizes and strides of a memref, and its base buffer.
    Metadata {
        memref: Register,
        base: Register,
        numbers: Vec<Register>,
    },
    /// A part of a memref, by offset, size and step per dimension.
    SubView {
        memref: Register,
        offsets: Vec<Register>,
        sizes: Vec<Register>,
        strides: Vec<Register>,
        /// Dimensions that the result drops.
        dropped: Vec<bool>,
        result: Register,
    },
    /// A memref with a layout of its own over the same base.
    Reinterpret {
        memref: Register,
        offset: Register,
        sizes: Vec<Register>,
        strides: Vec<Register>,
        result: Register,
    },
    /// Memory of this thread.
    Local {
        element: ScalarType,
        shape: Vec<u64>,
        dynamic: Vec<Register>,
        result: Register,
    },
    /// Reads memory.
    Load {
        access: MemoryAccess,
        result: Register,
    },
    /// Writes memory.
    Store {
        access: MemoryAccess,
        value: Register,
    },
    /// A slot of a buffer as a memref.
    BufferSlot {
        buffer: BufferId,
        stage: Register,
        result: Register,
    },
    /// `mbarrier.init` of a whole array.
    Init { barrier: BarrierId, count: u32 },
    /// `mbarrier.inval` of a whole array.
    Inval { barrier: BarrierId },
    /// `mbarrier.arrive` or `mbarrier.arrive_drop`.
    Arrive {
        at: At,
        count: u32,
        no_complete: bool,
        drop: bool,
        state: Option<Register>,
    },
    /// `mbarrier.arrive.expect_tx`.
    ArriveExpectTx { at: At, bytes: Register },
    /// `mbarrier.expect_tx`.
    ExpectTx { at: At, bytes: Register },
    /// `mbarrier.complete_tx`.
    CompleteTx { at: At, bytes: Register },
    /// `mbarrier.wait`.
    Wait { at: At, parity: Register },
    /// `mbarrier.test_wait.parity` or (`suspends`) `mbarrier.try_wait.parity`.
    PollParity {
        at: At,
        parity: Register,
        suspends: bool,
        done: Register,
    },
    /// `mbarrier.test_wait` or (`suspends`) `mbarrier.try_wait`.
    PollState {
        at: At,
        state: Register,
        suspends: bool,
        done: Register,
    },
    /// `mbarrier.pending_count`.
    PendingCount { state: Register, result: Register },
    /// `cp_async.copy`.
    CpAsync {
        source: Element,
        target: Element,
        bytes: u32,
        valid: Option<Register>,
    },
    /// `cp_async.mbarrier.arrive`.
    CpAsyncArrive { at: At, noinc: bool },
    /// `cp_async.commit_group`.
    CpAsyncCommit,
    /// `cp_async.wait_group`.
    CpAsyncWait { pending: u32 },
    /// `bulk.load`.
    BulkLoad {
        source: Element,
        target: Element,
        bytes: Register,
        at: At,
    },
    /// `bulk.store`.
    BulkStore {
        source: Element,
        target: Element,
        bytes: Register,
    },
    /// `tma.load`; `map` holds the memref that the tensor map describes.
    TmaLoad {
        map: Register,
        coordinates: Vec<Register>,
        extents: Vec<u64>,
        buffer: BufferId,
        slot: Register,
        /// First element of the slot that is touched.
        first: u64,
        at: At,
    },
    /// `tma.store`.
    TmaStore {
        map: Register,
        coordinates: Vec<Register>,
        extents: Vec<u64>,
        buffer: BufferId,
        slot: Register,
        first: u64,
    },
    /// `bulk.commit_group`.
    BulkCommit,
    /// `bulk.wait_group`.
    BulkWait { pending: u32, read: bool },
    /// `fence.mbarrier_init`.
    FenceMbarrierInit,
    /// `fence.proxy_async`.
    FenceProxyAsync,
    /// `cta.barrier`.
    CtaBarrier,
    /// `named_barrier.sync` or (not `waits`) `named_barrier.arrive`.
    NamedBarrier { id: u32, threads: u32, waits: bool },
    /// `warp.sync`.
    WarpSync,
    /// `elect`.
    Elect { result: Register },
    /// `scf.if`.
    If {
        condition: Register,
        then: Block,
        otherwise: Block,
        results: Vec<Register>,
    },
    /// `scf.for`.
    For {
        lower: Register,
        upper: Register,
        step: Register,
        counter: Register,
        /// Bits of the counter.
        width: u32,
        unsigned: bool,
        initial: Vec<Register>,
        carried: Vec<Register>,
        results: Vec<Register>,
        body: Block,
    },
    /// `scf.while`.
    While {
        initial: Vec<Register>,
        before_arguments: Vec<Register>,
        before: Block,
        after_arguments: Vec<Register>,
        after: Block,
        results: Vec<Register>,
    },
    /// Ends an arm of `scf.if` or the body of a loop.
    Yield { values: Vec<Register> },
    /// Ends the first region of `scf.while`.
    Condition {
        condition: Register,
        values: Vec<Register>,
    },
    /// Branches to the program's roles.
    Roles,
    /// Ends the kernel for this thread.
    Return,
}

impl Operation {
    /// The blocks inside, in order. The roles hang on the program.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Operation::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Operation::For { body, .. } => vec![body],
            Operation::While { before, after, .. } => vec![before, after],
            _ => Vec::new(),
        }
    }

    /// The blocks inside, in order, for changing.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Operation::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Operation::For { body, .. } => vec![body],
            Operation::While { before, after, .. } => vec![before, after],
            _ => Vec::new(),
        }
    }
}
