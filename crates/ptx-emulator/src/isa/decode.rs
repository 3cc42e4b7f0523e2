//! What decoders are given: one instruction, and how its operands become places in a warp's
//! register file.

mod registers;

pub(crate) use registers::Extra;
pub use registers::{Fixed, Moving, RegisterFile};

use crate::syntax::ast::{Instruction, Operand, RegisterId, ScalarType, Space, Span};

/// An instruction that the emulator refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: error: {message}", span.line, span.column)]
pub struct DecodeError {
    /// Where the instruction begins.
    pub span: Span,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
}

/// A value that can be read: a row of the warp's register file. Registers, constants and the
/// special registers that do not change are all rows, so that instructions need not care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Src(pub(crate) u32);

/// A register that can be written, or nothing (`_`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dst(pub(crate) u32);

impl Dst {
    /// `_`: what is written is lost.
    pub const SINK: Self = Self(u32::MAX);

    /// Whether this is `_`.
    pub fn is_sink(self) -> bool {
        self == Self::SINK
    }

    /// The same register, read.
    pub fn as_src(self) -> Option<Src> {
        (!self.is_sink()).then_some(Src(self.0))
    }
}

/// A predicate that can be read, possibly negated, or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pred {
    pub(crate) index: u32,
    pub(crate) negated: bool,
}

impl Pred {
    pub(crate) const CONSTANT: u32 = u32::MAX;
    /// True in every lane.
    pub const TRUE: Self = Self {
        index: Self::CONSTANT,
        negated: false,
    };
}

/// A predicate that can be written, or nothing (`_`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PredDst(pub(crate) u32);

impl PredDst {
    /// `_`.
    pub const SINK: Self = Self(u32::MAX);
}

/// `[base + offset]` without further parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address {
    /// The row with the base.
    pub base: Src,
    /// Added to it, wrapping.
    pub offset: i64,
}

/// Where variables and parameters of a kernel lie; addresses as the program sees them when it
/// names them.
#[derive(Debug, Default)]
pub struct Symbols {
    pub(crate) module: Vec<Option<(Space, u64)>>,
    pub(crate) local: Vec<Option<(Space, u64)>>,
    pub(crate) parameters: Vec<u64>,
}

/// One instruction to decode.
///
/// Modifiers are taken one by one ([`flag`](Self::flag), [`one_of`](Self::one_of), …); what is
/// left when [`finish`](Self::finish) is called is refused by name.
pub struct Decoder<'a> {
    pub(crate) instruction: &'a Instruction,
    pub(crate) file: &'a mut RegisterFile,
    pub(crate) symbols: &'a Symbols,
    tables: &'a [Vec<u32>],
    taken: Vec<bool>,
}

type Result<T> = std::result::Result<T, DecodeError>;

impl<'a> Decoder<'a> {
    pub(crate) fn new(
        instruction: &'a Instruction,
        file: &'a mut RegisterFile,
        symbols: &'a Symbols,
        tables: &'a [Vec<u32>],
    ) -> Self {
        let taken = vec![false; instruction.modifiers.len()];
        Self {
            instruction,
            file,
            symbols,
            tables,
            taken,
        }
    }

    /// An error at this instruction. The sentence should name what is wrong; the instruction's
    /// name is added.
    pub fn error(&self, message: impl std::fmt::Display) -> DecodeError {
        DecodeError {
            span: self.instruction.span,
            message: format!("{}: {message}", self.instruction.mnemonic()),
        }
    }

    /// The opcode.
    pub fn opcode(&self) -> &'a str {
        &self.instruction.opcode
    }

    /// All modifiers, taken or not.
    pub fn modifiers(&self) -> &'a [String] {
        &self.instruction.modifiers
    }

    /// Whether a modifier is there, wherever it stands; takes it.
    pub fn flag(&mut self, name: &str) -> bool {
        let found = self
            .instruction
            .modifiers
            .iter()
            .zip(&self.taken)
            .position(|(modifier, taken)| !taken && modifier == name);
        if let Some(index) = found {
            self.taken[index] = true;
        }
        found.is_some()
    }

    /// The first of these modifiers that is there; takes it.
    pub fn one_of(&mut self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.flag(name))
    }

    /// The same, but one has to be there.
    pub fn need_one_of(&mut self, names: &[&'static str]) -> Result<&'static str> {
        self.one_of(names)
            .ok_or_else(|| self.error(format!("needs one of .{}", names.join(", ."))))
    }

    /// A modifier that has to be there; takes it.
    pub fn need(&mut self, name: &'static str) -> Result<()> {
        if self.flag(name) {
            return Ok(());
        }
        Err(self.error(format!("needs .{name}")))
    }

    /// The first untaken modifier for which `parse` has a value; takes it.
    pub fn parse_modifier<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        for (index, modifier) in self.instruction.modifiers.iter().enumerate() {
            if self.taken[index] {
                continue;
            }
            if let Some(value) = parse(modifier) {
                self.taken[index] = true;
                return Some(value);
            }
        }
        None
    }

    /// The next untaken modifier that names a scalar type, from the left; takes it.
    pub fn scalar_type(&mut self) -> Result<ScalarType> {
        self.parse_modifier(ScalarType::from_name)
            .ok_or_else(|| self.error("needs a type"))
    }

    /// Refuses modifiers that nobody has taken.
    pub fn finish(&self) -> Result<()> {
        let left = self.taken.iter().position(|taken| !taken);
        match left {
            None => Ok(()),
            Some(index) => Err(self.error(format!(
                ".{} is not supported here",
                self.instruction.modifiers[index]
            ))),
        }
    }

    /// The guard.
    pub(crate) fn guard(&self) -> Result<Pred> {
        match self.instruction.guard {
            None => Ok(Pred::TRUE),
            Some(guard) if self.register_type(guard.register) == ScalarType::Pred => Ok(Pred {
                index: self.file.places[guard.register.0 as usize],
                negated: guard.negated,
            }),
            Some(_) => Err(self.error("the guard is no predicate")),
        }
    }

    /// How many operands there are.
    pub fn operand_count(&self) -> usize {
        self.instruction.operands.len()
    }

    /// Checks the number of operands.
    pub fn expect_operands(&self, allowed: std::ops::RangeInclusive<usize>) -> Result<()> {
        let count = self.operand_count();
        if allowed.contains(&count) {
            return Ok(());
        }
        let (low, high) = (allowed.start(), allowed.end());
        let wanted = if low == high {
            low.to_string()
        } else {
            format!("{low} to {high}")
        };
        Err(self.error(format!("takes {wanted} operands, got {count}")))
    }

    /// An operand.
    pub fn operand(&self, index: usize) -> Result<&'a Operand> {
        self.instruction
            .operands
            .get(index)
            .ok_or_else(|| self.error(format!("operand {} is missing", index + 1)))
    }

    /// The type of a register.
    pub fn register_type(&self, id: RegisterId) -> ScalarType {
        self.file.types[id.0 as usize]
    }

    /// The width of a register operand in bits; 64 for anything else.
    pub fn operand_bits(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Register(id) => self.register_type(*id).bits(),
            _ => 64,
        }
    }

    fn register(&self, id: RegisterId, bits: u32) -> Result<u32> {
        let ty = self.register_type(id);
        // PTX lets a register be wider than the instruction's type for some instructions (ld, st,
        // cvt, …) and asks for equal sizes elsewhere; narrower never makes sense.
        if ty == ScalarType::Pred || ty.bits() < bits {
            return Err(self.error(format!(
                "a register of type .{} stands where {bits} bits are needed",
                format!("{ty:?}").to_lowercase()
            )));
        }
        Ok(self.file.places[id.0 as usize])
    }

    /// A row with a constant, in every lane.
    pub fn constant(&mut self, value: u64) -> Src {
        self.file.extra(Extra::Constant(value))
    }

    /// Operand `index` as a value of this type. Constants are converted as PTX does: integers are
    /// cut to the type's width, floating-point constants rounded to it.
    pub fn src(&mut self, index: usize, ty: ScalarType) -> Result<Src> {
        let operand = self.operand(index)?;
        self.src_of(operand, ty)
    }

    /// The same for an operand at hand, such as an element of a vector.
    pub fn src_of(&mut self, operand: &Operand, ty: ScalarType) -> Result<Src> {
        let bits = ty.bits();
        let mask = if bits >= 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        match operand {
            Operand::Register(id) => Ok(Src(self.register(*id, bits)?)),
            Operand::Integer(value) => {
                let value = match ty {
                    // An integer constant for a floating-point type is its bits only for .b types.
                    ScalarType::F32 => u64::from((*value as f32).to_bits()),
                    ScalarType::F64 => (*value as f64).to_bits(),
                    _ => *value as u64 & mask,
                };
                Ok(self.constant(value))
            }
            Operand::Float32(value) if bits == 64 && ty.is_float() => {
                Ok(self.constant(f64::from(f32::from_bits(*value)).to_bits()))
            }
            Operand::Float32(value) => Ok(self.constant(u64::from(*value))),
            Operand::Float64(value) if bits == 64 => Ok(self.constant(*value)),
            Operand::Float64(value) => {
                let narrow = f64::from_bits(*value) as f32;
                Ok(self.constant(u64::from(narrow.to_bits())))
            }
            Operand::Special(name) => match Fixed::from_name(name) {
                Some(fixed) => Ok(self.file.extra(Extra::Fixed(fixed))),
                None if name == "%is_explicit_cluster" => Ok(self.file.extra(Extra::Clusters)),
                None if name.starts_with("%envreg") => Ok(self.constant(0)),
                None if Moving::from_name(name).is_some() => {
                    Err(self.error(format!("{name} can only be read by mov")))
                }
                None => Err(self.error(format!("the special register {name} is not supported"))),
            },
            Operand::Variable(..) | Operand::Parameter(..) => {
                let (space, address) = self.symbol(operand)?;
                if space == Space::Shared {
                    return Ok(self.file.extra(Extra::Shared(address)));
                }
                Ok(self.constant(address & mask))
            }
            other => Err(self.error(format!("{} cannot be read as a value", kind_name(other)))),
        }
    }

    /// The space and address of a variable or parameter.
    pub fn symbol(&self, operand: &Operand) -> Result<(Space, u64)> {
        use crate::syntax::ast::VariableId;
        let (place, offset) = match operand {
            Operand::Variable(VariableId::Module(index), offset) => (
                self.symbols.module.get(*index as usize).copied().flatten(),
                *offset,
            ),
            Operand::Variable(VariableId::Local(index), offset) => (
                self.symbols.local.get(*index as usize).copied().flatten(),
                *offset,
            ),
            Operand::Parameter(index, offset) => {
                let address = self.symbols.parameters.get(*index as usize);
                (address.map(|&address| (Space::Param, address)), *offset)
            }
            _ => (None, 0),
        };
        match place {
            Some((space, address)) => Ok((space, address.wrapping_add_signed(offset))),
            None => Err(self.error("names something that has no address")),
        }
    }

    /// Operand `index` as a register to write a value of this type to, or `_`.
    pub fn dst(&self, index: usize, ty: ScalarType) -> Result<Dst> {
        let operand = self.operand(index)?;
        self.dst_of(operand, ty)
    }

    /// The same for an operand at hand.
    pub fn dst_of(&self, operand: &Operand, ty: ScalarType) -> Result<Dst> {
        match operand {
            Operand::Register(id) => Ok(Dst(self.register(*id, ty.bits())?)),
            Operand::Sink => Ok(Dst::SINK),
            other => Err(self.error(format!("{} cannot be written to", kind_name(other)))),
        }
    }

    /// Operand `index` as a list of operands: the elements of a vector, or the one operand itself.
    pub fn elements(&self, index: usize) -> Result<&'a [Operand]> {
        Ok(match self.operand(index)? {
            Operand::Vector(elements) => elements,
            other => std::slice::from_ref(other),
        })
    }

    /// The elements of operand `index` as values; a count is checked if given.
    pub fn srcs(&mut self, index: usize, ty: ScalarType, count: Option<usize>) -> Result<Vec<Src>> {
        let elements = self.elements(index)?;
        self.check_count(index, elements.len(), count)?;
        elements.iter().map(|e| self.src_of(e, ty)).collect()
    }

    /// The elements of operand `index` as registers to write.
    pub fn dsts(&mut self, index: usize, ty: ScalarType, count: Option<usize>) -> Result<Vec<Dst>> {
        let elements = self.elements(index)?;
        self.check_count(index, elements.len(), count)?;
        elements.iter().map(|e| self.dst_of(e, ty)).collect()
    }

    fn check_count(&self, index: usize, len: usize, count: Option<usize>) -> Result<()> {
        match count {
            Some(count) if count != len => Err(self.error(format!(
                "operand {} needs {count} elements, got {len}",
                index + 1
            ))),
            _ => Ok(()),
        }
    }

    /// Operand `index` as a predicate: a register, `!` of one, or an integer constant.
    pub fn pred(&self, index: usize) -> Result<Pred> {
        let operand = self.operand(index)?;
        self.pred_of(operand)
    }

    /// The same for an operand at hand.
    pub fn pred_of(&self, operand: &Operand) -> Result<Pred> {
        let (id, negated) = match operand {
            Operand::Register(id) => (*id, false),
            Operand::Not(id) => (*id, true),
            Operand::Integer(value) => {
                return Ok(Pred {
                    index: Pred::CONSTANT,
                    negated: *value == 0,
                });
            }
            other => return Err(self.error(format!("{} is no predicate", kind_name(other)))),
        };
        if self.register_type(id) != ScalarType::Pred {
            return Err(self.error("a register that is no predicate stands where one is needed"));
        }
        Ok(Pred {
            index: self.file.places[id.0 as usize],
            negated,
        })
    }

    /// Whether operand `index` is there and is a predicate register.
    pub fn is_pred(&self, index: usize) -> bool {
        match self.instruction.operands.get(index) {
            Some(Operand::Register(id) | Operand::Not(id)) => {
                self.register_type(*id) == ScalarType::Pred
            }
            _ => false,
        }
    }

    /// Operand `index` as a predicate register to write, or `_`.
    pub fn pred_dst(&self, index: usize) -> Result<PredDst> {
        let operand = self.operand(index)?;
        self.pred_dst_of(operand)
    }

    /// The same for an operand at hand.
    pub fn pred_dst_of(&self, operand: &Operand) -> Result<PredDst> {
        if *operand == Operand::Sink {
            return Ok(PredDst::SINK);
        }
        let pred = self.pred_of(operand)?;
        if pred.negated || pred.index == Pred::CONSTANT {
            return Err(self.error("a predicate register is needed to write to"));
        }
        Ok(PredDst(pred.index))
    }

    /// Operand `index` as `[base]` or `[base + constant]`.
    pub fn address(&mut self, index: usize) -> Result<Address> {
        let (address, more) = self.memory(index)?;
        if more.is_empty() {
            return Ok(address);
        }
        Err(self.error("an address has one part here"))
    }

    /// Operand `index` as `[base + constant, more …]`.
    pub fn memory(&mut self, index: usize) -> Result<(Address, &'a [Operand])> {
        match self.operand(index)? {
            Operand::Memory { base, offset, more } => {
                if let Operand::Register(id) = base.as_ref()
                    && self.register_type(*id).is_float()
                {
                    return Err(self.error("a floating-point register is no address"));
                }
                let bits = match base.as_ref() {
                    Operand::Register(id) => self.register_type(*id).bits().max(32),
                    _ => 64,
                };
                let ty = if bits == 32 {
                    ScalarType::B32
                } else {
                    ScalarType::B64
                };
                let base = self.src_of(base, ty)?;
                let address = Address {
                    base,
                    offset: *offset,
                };
                Ok((address, more))
            }
            other => Err(self.error(format!("{} is no address", kind_name(other)))),
        }
    }

    /// Operand `index` as a table of branch targets.
    pub fn table(&self, index: usize) -> Result<&'a [u32]> {
        match self.operand(index)? {
            Operand::Table(table) => match self.tables.get(*table as usize) {
                Some(targets) => Ok(targets),
                None => Err(self.error("names a table that does not exist")),
            },
            other => Err(self.error(format!("{} is no table of labels", kind_name(other)))),
        }
    }

    /// Operand `index` as an integer constant.
    pub fn immediate(&self, index: usize) -> Result<i64> {
        match self.operand(index)? {
            Operand::Integer(value) => Ok(*value),
            other => Err(self.error(format!(
                "{} stands where a constant is needed",
                kind_name(other)
            ))),
        }
    }
}

fn kind_name(operand: &Operand) -> &'static str {
    match operand {
        Operand::Register(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Special(_) => "a special register",
        Operand::Integer(_) => "an integer",
        Operand::Float32(_) | Operand::Float64(_) => "a floating-point constant",
        Operand::Variable(..) => "a variable",
        Operand::Parameter(..) => "a parameter",
        Operand::Memory { .. } => "an address",
        Operand::Vector(_) => "a vector",
        Operand::Pair(..) => "a pair",
        Operand::Sink => "`_`",
        Operand::Label(_) => "a label",
        Operand::Table(_) => "a table of labels",
    }
}
