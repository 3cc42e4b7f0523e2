//! Constants and constant expressions.

use super::{Parser, Result, clip, fail, unexpected};
use crate::syntax::{
    ast::Span,
    lexer::{Kind, Token},
};

/// Threads in a warp, `WARP_SZ`.
const WARP_SIZE: u64 = 32;

/// How tightly `||` binds: less than any other operator with two sides.
const WEAKEST: u8 = 1;

/// How tightly `*`, `/` and `%` bind: what may follow the `+` of an address.
const FACTOR: u8 = 10;

/// A constant. Integers are 64 bits and signed or unsigned, as the ISA computes with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Constant {
    Integer { bits: u64, unsigned: bool },
    Float32(u32),
    Float64(u64),
}

impl Constant {
    fn truth(value: bool) -> Self {
        Self::Integer {
            bits: value.into(),
            unsigned: false,
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses a constant expression.
    pub(super) fn constant(&mut self) -> Result<Constant> {
        let first = self.unary()?;
        self.constant_from(first)
    }

    /// Parses a constant expression whose `!` was taken.
    pub(super) fn negated_constant(&mut self, not: Token<'a>) -> Result<Constant> {
        let operand = self.nested(not.span, Self::unary)?;
        self.constant_from(negate(not, operand)?)
    }

    /// Parses what follows the first operand of a constant expression.
    fn constant_from(&mut self, first: Constant) -> Result<Constant> {
        let condition = self.binary(first, WEAKEST)?;
        let question = self.peek()?;
        if question.kind != Kind::Question {
            return Ok(condition);
        }
        self.take()?;
        let (condition, _) = integer(condition, question.span)?;
        let (yes, no) = self.nested(question.span, |parser| {
            let yes = parser.constant()?;
            parser.expect(Kind::Colon, "`:`")?;
            Ok((yes, parser.constant()?))
        })?;
        Ok(if condition != 0 { yes } else { no })
    }

    /// Parses a constant expression that must be an integer.
    pub(super) fn integer_constant(&mut self) -> Result<(i64, Span)> {
        let span = self.peek()?.span;
        let (bits, _) = integer(self.constant()?, span)?;
        Ok((bits as i64, span))
    }

    /// Parses `+ 4 - 2 …` if it is there and returns the sum.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let mut sum = 0u64;
        loop {
            let sign = self.peek()?;
            if !matches!(sign.kind, Kind::Plus | Kind::Minus) {
                return Ok(sum as i64);
            }
            self.take()?;
            let term = self.peek()?;
            if term.kind == Kind::Name && term.text != "WARP_SZ" {
                return unexpected(term, "a constant");
            }
            let first = self.unary()?;
            let (term, _) = integer(self.binary(first, FACTOR)?, term.span)?;
            sum = match sign.kind {
                Kind::Plus => sum.wrapping_add(term),
                _ => sum.wrapping_sub(term),
            };
        }
    }

    /// Parses an unsigned literal of at most 32 bits; `what` says what it is.
    pub(super) fn literal(&mut self, what: &str) -> Result<(u32, Span)> {
        let token = self.expect(Kind::Number, what)?;
        let (bits, _) = integer(number(token)?, token.span)?;
        match u32::try_from(bits) {
            Ok(value) => Ok((value, token.span)),
            Err(_) => fail(
                token.span,
                format!("`{}` does not fit 32 bits", clip(token.text)),
            ),
        }
    }

    /// Parses the operators after `left` that bind at least as tightly as `weakest`.
    fn binary(&mut self, mut left: Constant, weakest: u8) -> Result<Constant> {
        loop {
            let operator = self.peek()?;
            let Some(strength) = strength(operator.kind).filter(|s| *s >= weakest) else {
                return Ok(left);
            };
            self.take()?;
            let first = self.unary()?;
            let right = self.binary(first, strength + 1)?;
            left = apply(operator, left, right)?;
        }
    }

    fn unary(&mut self) -> Result<Constant> {
        let token = self.take()?;
        match token.kind {
            Kind::Number => number(token),
            Kind::Decimal => match token.text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Constant::Float64(value.to_bits())),
                _ => fail(token.span, format!("`{}` is too large", clip(token.text))),
            },
            Kind::Name if token.text == "WARP_SZ" => Ok(Constant::Integer {
                bits: WARP_SIZE,
                unsigned: false,
            }),
            Kind::OpenParen => self.nested(token.span, Self::parenthesised),
            Kind::Plus | Kind::Minus | Kind::Not | Kind::Tilde => {
                let operand = self.nested(token.span, Self::unary)?;
                negate(token, operand)
            }
            _ => unexpected(token, "a constant"),
        }
    }

    /// What follows `(`: a cast, or an expression and `)`.
    fn parenthesised(&mut self) -> Result<Constant> {
        let token = self.peek()?;
        if token.kind != Kind::Dotted {
            let value = self.constant()?;
            self.expect(Kind::CloseParen, "`)`")?;
            return Ok(value);
        }
        self.take()?;
        let unsigned = match &*super::dotted(token) {
            "s64" => false,
            "u64" => true,
            _ => return unexpected(token, "`.s64` or `.u64`"),
        };
        self.expect(Kind::CloseParen, "`)`")?;
        let (bits, _) = integer(self.unary()?, token.span)?;
        Ok(Constant::Integer { bits, unsigned })
    }
}

/// The value of an integer and whether it is unsigned.
fn integer(constant: Constant, span: Span) -> Result<(u64, bool)> {
    match constant {
        Constant::Integer { bits, unsigned } => Ok((bits, unsigned)),
        _ => fail(span, "expected an integer, got a floating-point constant"),
    }
}

/// Reads a number that is not a decimal fraction.
fn number(token: Token<'_>) -> Result<Constant> {
    let malformed = || {
        fail(
            token.span,
            format!("malformed number `{}`", clip(token.text)),
        )
    };
    let text = token.text;
    if let Some(digits) = strip(text, "0f") {
        return match u32::from_str_radix(digits, 16) {
            Ok(bits) if digits.len() == 8 => Ok(Constant::Float32(bits)),
            _ => malformed(),
        };
    }
    if let Some(digits) = strip(text, "0d") {
        return match u64::from_str_radix(digits, 16) {
            Ok(bits) if digits.len() == 16 => Ok(Constant::Float64(bits)),
            _ => malformed(),
        };
    }
    let plain = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match (strip(plain, "0x"), strip(plain, "0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ if plain.len() > 1 && plain.starts_with('0') => (&plain[1..], 8),
        _ => (plain, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return malformed();
    }
    match u64::from_str_radix(digits, radix) {
        // What does not fit a signed integer is unsigned, as in C.
        Ok(bits) => Ok(Constant::Integer {
            bits,
            unsigned: plain.len() < text.len() || bits > i64::MAX as u64,
        }),
        Err(_) => fail(token.span, format!("`{}` does not fit 64 bits", clip(text))),
    }
}

/// Removes a prefix in either case; the prefix is lower-case ASCII.
fn strip<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn strength(operator: Kind) -> Option<u8> {
    Some(match operator {
        Kind::LogicalOr => WEAKEST,
        Kind::LogicalAnd => 2,
        Kind::Or => 3,
        Kind::Xor => 4,
        Kind::And => 5,
        Kind::Equal | Kind::NotEqual => 6,
        Kind::Less | Kind::LessEqual | Kind::Greater | Kind::GreaterEqual => 7,
        Kind::ShiftLeft | Kind::ShiftRight => 8,
        Kind::Plus | Kind::Minus => 9,
        Kind::Star | Kind::Slash | Kind::Percent => FACTOR,
        _ => return None,
    })
}

fn negate(operator: Token<'_>, operand: Constant) -> Result<Constant> {
    let (bits, unsigned) = match (operator.kind, operand) {
        (Kind::Plus, operand) => return Ok(operand),
        (Kind::Minus, Constant::Float32(bits)) => return Ok(Constant::Float32(bits ^ 1 << 31)),
        (Kind::Minus, Constant::Float64(bits)) => return Ok(Constant::Float64(bits ^ 1 << 63)),
        (_, operand) => integer(operand, operator.span)?,
    };
    Ok(match operator.kind {
        Kind::Minus => Constant::Integer {
            bits: bits.wrapping_neg(),
            unsigned,
        },
        Kind::Tilde => Constant::Integer {
            bits: !bits,
            unsigned,
        },
        _ => Constant::truth(bits == 0),
    })
}

fn apply(operator: Token<'_>, left: Constant, right: Constant) -> Result<Constant> {
    let (a, a_unsigned) = integer(left, operator.span)?;
    let (b, b_unsigned) = integer(right, operator.span)?;
    let unsigned = a_unsigned || b_unsigned;
    let (signed_a, signed_b) = (a as i64, b as i64);
    let order = match unsigned {
        true => a.cmp(&b),
        false => signed_a.cmp(&signed_b),
    };
    let distance = u32::try_from(b).unwrap_or(u32::MAX);
    let bits = match operator.kind {
        Kind::LogicalOr => return Ok(Constant::truth(a != 0 || b != 0)),
        Kind::LogicalAnd => return Ok(Constant::truth(a != 0 && b != 0)),
        Kind::Equal => return Ok(Constant::truth(order.is_eq())),
        Kind::NotEqual => return Ok(Constant::truth(order.is_ne())),
        Kind::Less => return Ok(Constant::truth(order.is_lt())),
        Kind::LessEqual => return Ok(Constant::truth(order.is_le())),
        Kind::Greater => return Ok(Constant::truth(order.is_gt())),
        Kind::GreaterEqual => return Ok(Constant::truth(order.is_ge())),
        Kind::Or => a | b,
        Kind::Xor => a ^ b,
        Kind::And => a & b,
        // The type of a shift is its left side's.
        Kind::ShiftLeft => {
            return Ok(Constant::Integer {
                bits: a.checked_shl(distance).unwrap_or(0),
                unsigned: a_unsigned,
            });
        }
        Kind::ShiftRight => {
            return Ok(Constant::Integer {
                bits: match a_unsigned {
                    true => a.checked_shr(distance).unwrap_or(0),
                    false => (signed_a >> distance.min(63)) as u64,
                },
                unsigned: a_unsigned,
            });
        }
        Kind::Plus => a.wrapping_add(b),
        Kind::Minus => a.wrapping_sub(b),
        Kind::Star => a.wrapping_mul(b),
        Kind::Slash | Kind::Percent if b == 0 => return fail(operator.span, "division by zero"),
        Kind::Slash if unsigned => a / b,
        Kind::Slash => signed_a.wrapping_div(signed_b) as u64,
        Kind::Percent if unsigned => a % b,
        _ => signed_a.wrapping_rem(signed_b) as u64,
    };
    Ok(Constant::Integer { bits, unsigned })
}
