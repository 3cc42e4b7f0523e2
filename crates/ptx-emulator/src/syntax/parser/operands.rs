//! Operands of instructions.

use super::{
    Parser, Result, clip,
    constants::Constant,
    dotted, fail,
    scopes::Symbol,
    special::{Special, special},
    unexpected,
};
use crate::syntax::{
    ast::{Operand, RegisterId},
    lexer::{Kind, Token},
};

/// More operands of one instruction, elements of one vector or parts of one address are refused:
/// the longest vector of the ISA has 128 elements.
pub(super) const MAX_OPERANDS: usize = 256;

impl<'a> Parser<'a> {
    /// Parses one operand, of an instruction that jumps nowhere.
    pub(super) fn operand(&mut self) -> Result<Operand> {
        let token = self.peek()?;
        match token.kind {
            Kind::OpenBracket => {
                self.take()?;
                self.nested(token.span, Self::memory)
            }
            Kind::OpenBrace => {
                self.take()?;
                let elements = self.nested(token.span, |parser| {
                    parser.operands(Kind::CloseBrace, "`,` or `}` after an element")
                })?;
                Ok(Operand::Vector(elements))
            }
            Kind::Underscore => {
                self.take()?;
                self.pair(Operand::Sink)
            }
            Kind::Not => self.negated(),
            Kind::Name if token.text != "WARP_SZ" => {
                self.take()?;
                match self.named(token)? {
                    operand @ Operand::Register(_) => self.pair(operand),
                    operand => Ok(operand),
                }
            }
            Kind::Number
            | Kind::Decimal
            | Kind::Name
            | Kind::Minus
            | Kind::Plus
            | Kind::Tilde
            | Kind::OpenParen => Ok(immediate(self.constant()?)),
            _ => unexpected(token, "an operand"),
        }
    }

    /// What a name that was taken stands for, with what may follow it.
    pub(super) fn named(&mut self, name: Token<'a>) -> Result<Operand> {
        let symbol = self.scopes.resolve(name.text, &mut self.body.registers);
        match symbol {
            Some(Symbol::Register(register)) => {
                let next = self.peek()?;
                if next.kind == Kind::Dotted {
                    return fail(
                        next.span,
                        format!(
                            "`.{}` selects a part of register `{}`, which is not supported",
                            clip(&dotted(next)),
                            clip(name.text)
                        ),
                    );
                }
                Ok(Operand::Register(register))
            }
            Some(Symbol::Variable(id)) => Ok(Operand::Variable(id, self.offset()?)),
            Some(Symbol::Parameter(index)) => Ok(Operand::Parameter(index, self.offset()?)),
            None => match special(name.text) {
                Some(kind) => self.special(name, kind),
                None => undeclared(name),
            },
        }
    }

    fn special(&mut self, name: Token<'a>, kind: Special) -> Result<Operand> {
        let next = self.peek()?;
        if next.kind != Kind::Dotted {
            return match kind {
                Special::Scalar => Ok(Operand::Special(name.text.into())),
                Special::Vector => fail(
                    name.span,
                    format!("`{}` needs a component such as `.x`", name.text),
                ),
            };
        }
        let component = dotted(next);
        match (kind, &*component) {
            (Special::Vector, "x" | "y" | "z" | "w") => {
                self.take()?;
                Ok(Operand::Special(format!("{}.{component}", name.text)))
            }
            _ => fail(
                next.span,
                format!("`{}` has no component `.{}`", name.text, clip(&component)),
            ),
        }
    }

    /// `first`, or `first|second` if a bar follows.
    fn pair(&mut self, first: Operand) -> Result<Operand> {
        if !self.accept(Kind::Or)? {
            return Ok(first);
        }
        let token = self.take()?;
        let second = match token.kind {
            Kind::Underscore => Operand::Sink,
            Kind::Name => Operand::Register(self.register(token)?),
            _ => return unexpected(token, "a register or `_` after `|`"),
        };
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    /// A name that was taken and must be a register.
    pub(super) fn register(&mut self, name: Token<'a>) -> Result<RegisterId> {
        match self.named(name)? {
            Operand::Register(register) => Ok(register),
            _ => fail(
                name.span,
                format!("expected a register, got `{}`", clip(name.text)),
            ),
        }
    }

    /// `!%p`, or a constant that begins with `!`.
    fn negated(&mut self) -> Result<Operand> {
        let not = self.take()?;
        let token = self.peek()?;
        if token.kind == Kind::Name && token.text != "WARP_SZ" {
            self.take()?;
            return Ok(Operand::Not(self.register(token)?));
        }
        Ok(immediate(self.negated_constant(not)?))
    }

    /// What follows `[`.
    fn memory(&mut self) -> Result<Operand> {
        let token = self.peek()?;
        let base = match token.kind {
            Kind::Name if token.text != "WARP_SZ" => {
                self.take()?;
                self.named(token)?
            }
            Kind::CloseBracket | Kind::OpenBrace | Kind::OpenBracket | Kind::Underscore => {
                return unexpected(token, "an address");
            }
            _ => Operand::Integer(self.integer_constant()?.0),
        };
        let offset = match base {
            Operand::Register(_) | Operand::Special(_) => self.offset()?,
            // Folded into the base already.
            _ => 0,
        };
        let more = match self.accept(Kind::Comma)? {
            true => self.operands(Kind::CloseBracket, "`,` or `]` in an address")?,
            false => {
                self.expect(Kind::CloseBracket, "`,` or `]` in an address")?;
                Vec::new()
            }
        };
        Ok(Operand::Memory {
            base: Box::new(base),
            offset,
            more,
        })
    }

    /// Operands separated by commas, and what closes them; `separator` says what follows each.
    fn operands(&mut self, close: Kind, separator: &str) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        loop {
            let span = self.peek()?.span;
            if operands.len() == MAX_OPERANDS {
                return fail(span, format!("more than {MAX_OPERANDS} operands"));
            }
            operands.push(self.operand()?);
            if self.accept(close)? {
                return Ok(operands);
            }
            self.expect(Kind::Comma, separator)?;
        }
    }
}

fn immediate(constant: Constant) -> Operand {
    match constant {
        Constant::Integer { bits, .. } => Operand::Integer(bits as i64),
        Constant::Float32(bits) => Operand::Float32(bits),
        Constant::Float64(bits) => Operand::Float64(bits),
    }
}

fn undeclared<T>(name: Token<'_>) -> Result<T> {
    let what = match name.text.starts_with('%') {
        true => "register",
        false => "name",
    };
    fail(
        name.span,
        format!("{what} `{}` is not declared", clip(name.text)),
    )
}
