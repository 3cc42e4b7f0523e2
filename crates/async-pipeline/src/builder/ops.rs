//! Which ops there are on register values, and what they are called for floats and integers.

/// An op with one operand. Integers have [`Abs`](Self::Abs) only, 8-bit floats none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// -a
    Neg,
    /// The magnitude.
    Abs,
    /// √a
    Sqrt,
    /// 1 / √a
    Rsqrt,
    /// e^a
    Exp,
    /// 2^a
    Exp2,
    /// e^a - 1
    Expm1,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// log(1 + a)
    Log1p,
    /// sin a
    Sin,
    /// cos a
    Cos,
    /// tanh a
    Tanh,
    /// The error function.
    Erf,
    /// ⌈a⌉
    Ceil,
    /// ⌊a⌋
    Floor,
    /// The nearest integer, ties away from 0.
    Round,
    /// The nearest integer, ties to even.
    RoundEven,
    /// The integer towards 0.
    Trunc,
}

/// An op with two operands of one type. Some exist for floats only, some for integers only;
/// 8-bit floats have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a · b
    Mul,
    /// a / b. Integers: signed, towards 0.
    Div,
    /// a / b. Integers only: unsigned, towards 0.
    DivUnsigned,
    /// ⌈a / b⌉. Integers only: signed.
    CeilDiv,
    /// ⌈a / b⌉. Integers only: unsigned.
    CeilDivUnsigned,
    /// ⌊a / b⌋. Integers only: signed.
    FloorDiv,
    /// Rest of a / b with the sign of a. Integers only.
    Rem,
    /// Rest of a / b. Integers only: unsigned.
    RemUnsigned,
    /// The greater; NaN if one is NaN. Integers: signed.
    Max,
    /// The smaller; NaN if one is NaN. Integers: signed.
    Min,
    /// The greater. Integers only: unsigned.
    MaxUnsigned,
    /// The smaller. Integers only: unsigned.
    MinUnsigned,
    /// The greater; the other one if one is NaN. Floats only.
    MaxNum,
    /// The smaller; the other one if one is NaN. Floats only.
    MinNum,
    /// The magnitude of a with the sign of b. Floats only.
    CopySign,
    /// a^b. Floats only.
    Pow,
    /// Bitwise and. Integers only.
    And,
    /// Bitwise or. Integers only.
    Or,
    /// Bitwise exclusive or. Integers only.
    Xor,
    /// a · 2^b. Integers only.
    ShiftLeft,
    /// ⌊a / 2^b⌋. Integers only: signed.
    ShiftRight,
    /// ⌊a / 2^b⌋. Integers only: unsigned.
    ShiftRightUnsigned,
}

/// A relation of two operands. With a NaN all are false but [`NotEqual`](Self::NotEqual) and
/// [`Unordered`](Self::Unordered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// a = b
    Equal,
    /// a ≠ b
    NotEqual,
    /// a < b. Integers: signed.
    Less,
    /// a ≤ b. Integers: signed.
    LessOrEqual,
    /// a > b. Integers: signed.
    Greater,
    /// a ≥ b. Integers: signed.
    GreaterOrEqual,
    /// a < b. Integers only: unsigned.
    LessUnsigned,
    /// a ≤ b. Integers only: unsigned.
    LessOrEqualUnsigned,
    /// a > b. Integers only: unsigned.
    GreaterUnsigned,
    /// a ≥ b. Integers only: unsigned.
    GreaterOrEqualUnsigned,
    /// None is NaN. Floats only.
    Ordered,
    /// One is NaN. Floats only.
    Unordered,
}

/// How a reduction combines elements. 8-bit floats have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The greatest; NaN if one is NaN. Integers: signed.
    Max,
    /// The smallest; NaN if one is NaN. Integers: signed.
    Min,
    /// The greatest. Integers only: unsigned.
    MaxUnsigned,
    /// The smallest. Integers only: unsigned.
    MinUnsigned,
    /// The greatest that is no NaN. Floats only.
    MaxNum,
    /// The smallest that is no NaN. Floats only.
    MinNum,
    /// Bitwise and. Integers only.
    And,
    /// Bitwise or. Integers only.
    Or,
    /// Bitwise exclusive or. Integers only.
    Xor,
}

/// What an op is called for floats and for integers; empty where it does not exist.
pub(super) struct Names {
    pub(super) float: &'static str,
    pub(super) integer: &'static str,
}

const fn both(float: &'static str, integer: &'static str) -> Names {
    Names { float, integer }
}

const fn floats(float: &'static str) -> Names {
    both(float, "")
}

const fn integers(integer: &'static str) -> Names {
    both("", integer)
}

impl Names {
    /// The name for such elements, or the other one and that it does not exist for them.
    pub(super) fn of(&self, float: bool) -> Result<&'static str, &'static str> {
        let (name, other) = if float {
            (self.float, self.integer)
        } else {
            (self.integer, self.float)
        };
        if name.is_empty() {
            Err(other)
        } else {
            Ok(name)
        }
    }
}

impl UnaryOp {
    pub(super) fn names(self) -> Names {
        match self {
            Self::Neg => floats("arith.negf"),
            Self::Abs => both("math.absf", "math.absi"),
            Self::Sqrt => floats("math.sqrt"),
            Self::Rsqrt => floats("math.rsqrt"),
            Self::Exp => floats("math.exp"),
            Self::Exp2 => floats("math.exp2"),
            Self::Expm1 => floats("math.expm1"),
            Self::Log => floats("math.log"),
            Self::Log2 => floats("math.log2"),
            Self::Log10 => floats("math.log10"),
            Self::Log1p => floats("math.log1p"),
            Self::Sin => floats("math.sin"),
            Self::Cos => floats("math.cos"),
            Self::Tanh => floats("math.tanh"),
            Self::Erf => floats("math.erf"),
            Self::Ceil => floats("math.ceil"),
            Self::Floor => floats("math.floor"),
            Self::Round => floats("math.round"),
            Self::RoundEven => floats("math.roundeven"),
            Self::Trunc => floats("math.trunc"),
        }
    }
}

impl BinaryOp {
    pub(super) fn names(self) -> Names {
        match self {
            Self::Add => both("arith.addf", "arith.addi"),
            Self::Sub => both("arith.subf", "arith.subi"),
            Self::Mul => both("arith.mulf", "arith.muli"),
            Self::Div => both("arith.divf", "arith.divsi"),
            Self::DivUnsigned => integers("arith.divui"),
            Self::CeilDiv => integers("arith.ceildivsi"),
            Self::CeilDivUnsigned => integers("arith.ceildivui"),
            Self::FloorDiv => integers("arith.floordivsi"),
            Self::Rem => integers("arith.remsi"),
            Self::RemUnsigned => integers("arith.remui"),
            Self::Max => both("arith.maximumf", "arith.maxsi"),
            Self::Min => both("arith.minimumf", "arith.minsi"),
            Self::MaxUnsigned => integers("arith.maxui"),
            Self::MinUnsigned => integers("arith.minui"),
            Self::MaxNum => floats("arith.maxnumf"),
            Self::MinNum => floats("arith.minnumf"),
            Self::CopySign => floats("math.copysign"),
            Self::Pow => floats("math.powf"),
            Self::And => integers("arith.andi"),
            Self::Or => integers("arith.ori"),
            Self::Xor => integers("arith.xori"),
            Self::ShiftLeft => integers("arith.shli"),
            Self::ShiftRight => integers("arith.shrsi"),
            Self::ShiftRightUnsigned => integers("arith.shrui"),
        }
    }
}

impl Predicate {
    pub(super) fn names(self) -> Names {
        match self {
            Self::Equal => both("oeq", "eq"),
            Self::NotEqual => both("une", "ne"),
            Self::Less => both("olt", "slt"),
            Self::LessOrEqual => both("ole", "sle"),
            Self::Greater => both("ogt", "sgt"),
            Self::GreaterOrEqual => both("oge", "sge"),
            Self::LessUnsigned => integers("ult"),
            Self::LessOrEqualUnsigned => integers("ule"),
            Self::GreaterUnsigned => integers("ugt"),
            Self::GreaterOrEqualUnsigned => integers("uge"),
            Self::Ordered => floats("ord"),
            Self::Unordered => floats("uno"),
        }
    }
}

impl ReduceOp {
    pub(super) fn names(self) -> Names {
        match self {
            Self::Add => both("add", "add"),
            Self::Mul => both("mul", "mul"),
            Self::Max => both("maximumf", "maxsi"),
            Self::Min => both("minimumf", "minsi"),
            Self::MaxUnsigned => integers("maxui"),
            Self::MinUnsigned => integers("minui"),
            Self::MaxNum => floats("maxnumf"),
            Self::MinNum => floats("minnumf"),
            Self::And => integers("and"),
            Self::Or => integers("or"),
            Self::Xor => integers("xor"),
        }
    }

    /// The float that changes nothing.
    pub(super) fn float_identity(self) -> f64 {
        match self {
            Self::Mul => 1.0,
            Self::Max | Self::MaxNum => f64::NEG_INFINITY,
            Self::Min | Self::MinNum => f64::INFINITY,
            // A sum that starts at -0 keeps a sum of negative zeros.
            _ => -0.0,
        }
    }

    /// The integer of so many bits that changes nothing, with its sign.
    pub(super) fn integer_identity(self, bits: u32) -> i64 {
        let lowest = i64::MIN >> (64 - bits.clamp(1, 64));
        match self {
            Self::Mul => 1,
            Self::Max => lowest,
            Self::Min => !lowest,
            Self::MinUnsigned | Self::And => -1,
            _ => 0,
        }
    }
}
