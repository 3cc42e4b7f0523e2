//! The text form of [`GridExpr`]: recursive descent with a depth limit.

use std::str::FromStr;

use super::{GridExpr, MAX_DEPTH};

/// Why a text is no grid expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {message}")]
pub struct ParseError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

impl FromStr for GridExpr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { text, offset: 0 };
        let parsed = parser.sum(0)?;
        parser.skip_blanks();
        if parser.offset < text.len() {
            return Err(parser.error(format!("unexpected {}", parser.found())));
        }
        Ok(parsed.expr)
    }
}

/// A subtree and its depth. The depth is carried along, because measuring it again at every
/// operator of a long sum would take quadratic time.
struct Parsed {
    expr: GridExpr,
    depth: usize,
}

impl Parsed {
    fn leaf(expr: GridExpr) -> Self {
        Self { expr, depth: 1 }
    }
}

type Combine = fn(Box<GridExpr>, Box<GridExpr>) -> GridExpr;

struct Parser<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            offset: self.offset,
            message: message.into(),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start().len();
    }

    /// What stands at the current place, for a message.
    fn found(&self) -> String {
        match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "end of the expression".to_owned(),
        }
    }

    fn eat(&mut self, symbol: char) -> bool {
        self.skip_blanks();
        let hit = self.rest().starts_with(symbol);
        if hit {
            self.offset += symbol.len_utf8();
        }
        hit
    }

    fn require(&mut self, symbol: char) -> Result<(), ParseError> {
        if self.eat(symbol) {
            return Ok(());
        }
        Err(self.error(format!("expected `{symbol}`, got {}", self.found())))
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let start = self.offset;
        self.offset += length;
        &self.text[start..self.offset]
    }

    fn combine(&self, combine: Combine, lhs: Parsed, rhs: Parsed) -> Result<Parsed, ParseError> {
        let depth = 1 + lhs.depth.max(rhs.depth);
        if depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(Parsed {
            expr: combine(Box::new(lhs.expr), Box::new(rhs.expr)),
            depth,
        })
    }

    fn too_deep(&self) -> ParseError {
        self.error(format!(
            "the expression is nested deeper than {MAX_DEPTH} levels"
        ))
    }

    fn sum(&mut self, nesting: usize) -> Result<Parsed, ParseError> {
        let mut lhs = self.product(nesting)?;
        loop {
            let combine: Combine = if self.eat('+') {
                GridExpr::Add
            } else if self.eat('-') {
                GridExpr::Sub
            } else {
                return Ok(lhs);
            };
            let rhs = self.product(nesting)?;
            lhs = self.combine(combine, lhs, rhs)?;
        }
    }

    fn product(&mut self, nesting: usize) -> Result<Parsed, ParseError> {
        let mut lhs = self.atom(nesting)?;
        while self.eat('*') {
            let rhs = self.atom(nesting)?;
            lhs = self.combine(GridExpr::Mul, lhs, rhs)?;
        }
        Ok(lhs)
    }

    fn atom(&mut self, nesting: usize) -> Result<Parsed, ParseError> {
        // Guards the stack against a long run of `(`, which makes no tree level of its own.
        if nesting > MAX_DEPTH {
            return Err(self.too_deep());
        }
        if self.eat('(') {
            let inner = self.sum(nesting + 1)?;
            self.require(')')?;
            return Ok(inner);
        }
        self.skip_blanks();
        match self.rest().chars().next() {
            Some(c) if c == '-' || c.is_ascii_digit() => self.integer(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.named(nesting),
            _ => Err(self.error(format!(
                "expected a number, a name or `(`, got {}",
                self.found()
            ))),
        }
    }

    fn integer(&mut self) -> Result<Parsed, ParseError> {
        let start = self.offset;
        if self.rest().starts_with('-') {
            self.offset += 1;
        }
        if self.take_while(|c| c.is_ascii_digit()).is_empty() {
            return Err(self.error(format!("expected a digit, got {}", self.found())));
        }
        match self.text[start..self.offset].parse() {
            Ok(value) => Ok(Parsed::leaf(GridExpr::Const(value))),
            Err(_) => Err(ParseError {
                offset: start,
                message: "the number does not fit in 64 bits".to_owned(),
            }),
        }
    }

    fn index(&mut self) -> Result<u32, ParseError> {
        self.skip_blanks();
        let start = self.offset;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if let Ok(value) = digits.parse() {
            return Ok(value);
        }
        self.offset = start;
        Err(self.error(format!("expected an index, got {}", self.found())))
    }

    fn named(&mut self, nesting: usize) -> Result<Parsed, ParseError> {
        let start = self.offset;
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let combine: Combine = match name {
            "sm_count" => return Ok(Parsed::leaf(GridExpr::SmCount)),
            "dim" => return self.dim(),
            "scalar" => return self.scalar(),
            "ceildiv" => GridExpr::Ceildiv,
            "floordiv" => GridExpr::Floordiv,
            "min" => GridExpr::Min,
            "max" => GridExpr::Max,
            _ => {
                let message = format!(
                    "unknown name `{name}`; known are ceildiv, dim, floordiv, max, min, scalar \
                     and sm_count"
                );
                return Err(ParseError {
                    offset: start,
                    message,
                });
            }
        };
        self.require('(')?;
        let lhs = self.sum(nesting + 1)?;
        self.require(',')?;
        let rhs = self.sum(nesting + 1)?;
        self.require(')')?;
        self.combine(combine, lhs, rhs)
    }

    fn dim(&mut self) -> Result<Parsed, ParseError> {
        self.require('(')?;
        let argument = self.index()?;
        self.require(',')?;
        let dimension = self.index()?;
        self.require(')')?;
        Ok(Parsed::leaf(GridExpr::Dim {
            argument,
            dimension,
        }))
    }

    fn scalar(&mut self) -> Result<Parsed, ParseError> {
        self.require('(')?;
        let argument = self.index()?;
        self.require(')')?;
        Ok(Parsed::leaf(GridExpr::Scalar { argument }))
    }
}
