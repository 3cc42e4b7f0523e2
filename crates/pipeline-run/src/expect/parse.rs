//! Lexer and parser of expectations.

use super::{Binary, Expectation, Name, Operation, Unary};

/// The deepest nesting of parentheses, so that hostile text cannot exhaust the stack.
const MAX_NESTING: usize = 64;

/// Why a text is no expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: at byte {offset}: {message}")]
pub struct ExpectError {
    /// The whole text.
    pub text: String,
    /// Where it stops making sense, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Symbol(char),
    End,
}

impl Token<'_> {
    fn describe(self) -> String {
        match self {
            Self::Number(value) => format!("number {value}"),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "end of the expression".to_owned(),
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Expectation, ExpectError> {
    let mut parser = Parser {
        text,
        offset: 0,
        token: Token::End,
        start: 0,
        names: Vec::new(),
        operations: Vec::new(),
    };
    parser.advance()?;
    let target = match parser.token {
        Token::Name(name) => Name {
            text: name.to_owned(),
            offset: parser.start,
        },
        other => return Err(parser.expected("an argument's name", other)),
    };
    parser.advance()?;
    parser.require('=')?;
    parser.sum(0)?;
    if parser.token != Token::End {
        return Err(parser.expected("an operator", parser.token));
    }
    Ok(Expectation {
        target,
        names: parser.names,
        operations: parser.operations,
    })
}

struct Parser<'a> {
    text: &'a str,
    /// Where the text after the current token starts.
    offset: usize,
    token: Token<'a>,
    /// Where the current token starts.
    start: usize,
    names: Vec<Name>,
    operations: Vec<Operation>,
}

impl<'a> Parser<'a> {
    fn error(&self, message: String) -> ExpectError {
        ExpectError {
            text: self.text.to_owned(),
            offset: self.start,
            message,
        }
    }

    fn expected(&self, what: &str, got: Token<'_>) -> ExpectError {
        self.error(format!("expected {what}, got {}", got.describe()))
    }

    fn advance(&mut self) -> Result<(), ExpectError> {
        let rest = self.text.get(self.offset..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.start = self.text.len() - trimmed.len();
        let Some(first) = trimmed.chars().next() else {
            self.offset = self.text.len();
            self.token = Token::End;
            return Ok(());
        };
        let length = if first.is_ascii_digit() || first == '.' {
            let length = number_length(trimmed);
            match trimmed[..length].parse() {
                Ok(value) => self.token = Token::Number(value),
                Err(_) => return Err(self.error(format!("`{}` is no number", &trimmed[..length]))),
            }
            length
        } else if first.is_alphabetic() || first == '_' {
            let ends = |c: char| !(c.is_alphanumeric() || c == '_');
            let length = trimmed.find(ends).unwrap_or(trimmed.len());
            self.token = Token::Name(&trimmed[..length]);
            length
        } else {
            self.token = Token::Symbol(first);
            first.len_utf8()
        };
        self.offset = self.start + length;
        Ok(())
    }

    fn eat(&mut self, symbol: char) -> Result<bool, ExpectError> {
        let hit = self.token == Token::Symbol(symbol);
        if hit {
            self.advance()?;
        }
        Ok(hit)
    }

    fn require(&mut self, symbol: char) -> Result<(), ExpectError> {
        if self.eat(symbol)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{symbol}`"), self.token))
    }

    fn sum(&mut self, nesting: usize) -> Result<(), ExpectError> {
        self.product(nesting)?;
        loop {
            let operation = if self.eat('+')? {
                Binary::Add
            } else if self.eat('-')? {
                Binary::Subtract
            } else {
                return Ok(());
            };
            self.product(nesting)?;
            self.operations.push(Operation::Binary(operation));
        }
    }

    fn product(&mut self, nesting: usize) -> Result<(), ExpectError> {
        self.signed(nesting)?;
        loop {
            let operation = if self.eat('*')? {
                Binary::Multiply
            } else if self.eat('/')? {
                Binary::Divide
            } else {
                return Ok(());
            };
            self.signed(nesting)?;
            self.operations.push(Operation::Binary(operation));
        }
    }

    fn signed(&mut self, nesting: usize) -> Result<(), ExpectError> {
        let mut negative = false;
        while self.eat('-')? {
            negative = !negative;
        }
        self.atom(nesting)?;
        if negative {
            self.operations.push(Operation::Unary(Unary::Negate));
        }
        Ok(())
    }

    fn atom(&mut self, nesting: usize) -> Result<(), ExpectError> {
        if nesting > MAX_NESTING {
            let message = format!("parentheses are nested deeper than {MAX_NESTING} levels");
            return Err(self.error(message));
        }
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                self.operations.push(Operation::Number(value));
                Ok(())
            }
            Token::Name(name) => {
                let start = self.start;
                self.advance()?;
                if self.token == Token::Symbol('(') {
                    self.call(name, start, nesting)
                } else {
                    self.load(name, start);
                    Ok(())
                }
            }
            Token::Symbol('(') => {
                self.advance()?;
                self.sum(nesting + 1)?;
                self.require(')')
            }
            other => Err(self.expected("a number, a name or `(`", other)),
        }
    }

    fn load(&mut self, name: &str, offset: usize) {
        let known = self.names.iter().position(|known| known.text == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(Name {
                text: name.to_owned(),
                offset,
            });
            self.names.len() - 1
        });
        self.operations.push(Operation::Load(index));
    }

    fn call(&mut self, name: &str, start: usize, nesting: usize) -> Result<(), ExpectError> {
        let operation = match name {
            "abs" => Operation::Unary(Unary::Abs),
            "sqrt" => Operation::Unary(Unary::Sqrt),
            "exp" => Operation::Unary(Unary::Exp),
            "relu" => Operation::Unary(Unary::Relu),
            "min" => Operation::Binary(Binary::Min),
            "max" => Operation::Binary(Binary::Max),
            _ => {
                self.start = start;
                return Err(self.error(format!(
                    "unknown function `{name}`; known are abs, exp, max, min, relu and sqrt"
                )));
            }
        };
        self.require('(')?;
        self.sum(nesting + 1)?;
        if matches!(operation, Operation::Binary(_)) {
            self.require(',')?;
            self.sum(nesting + 1)?;
        }
        self.require(')')?;
        self.operations.push(operation);
        Ok(())
    }
}

/// How many bytes of `text` belong to the number at its start: digits, a point, an exponent.
fn number_length(text: &str) -> usize {
    let mut previous = ' ';
    for (offset, c) in text.char_indices() {
        let exponent_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || exponent_sign) {
            return offset;
        }
        previous = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn eval(text: &str) -> f64 {
        let expectation = parse(text).expect(text);
        let values = |name: usize| match expectation.names[name].text.as_str() {
            "A" => 3.0,
            "B" => -2.0,
            _ => 0.5,
        };
        expectation.eval(&mut Vec::new(), values)
    }

    #[test]
    fn evaluates() {
        let cases = [
            ("C = A + B", 1.0),
            ("C = A + B * 2", -1.0),
            ("C=(A+B)*2", 2.0),
            ("C = A - B - 1", 4.0),
            ("C = 8 / 4 / 2", 1.0),
            ("C = -A - --B", -1.0),
            ("C = 2 * -A", -6.0),
            ("C = alpha * A", 1.5),
            ("C = max(A, B) + min(A, B)", 1.0),
            ("C = relu(B) + abs(B) + sqrt(A + 1)", 4.0),
            ("C = exp(0) + 1.5e-1 + .5 + 1E+1", 11.65),
            ("max = A + A", 6.0),
        ];
        for (text, value) in cases {
            assert!((eval(text) - value).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn names_appear_once() {
        let expectation = parse("C = A * A + B").expect("parses");
        let names: Vec<_> = expectation
            .names
            .iter()
            .map(|n| (n.text.as_str(), n.offset))
            .collect();
        assert_eq!(names, [("A", 4), ("B", 12)]);
        assert_eq!(expectation.target.text, "C");
    }

    #[test]
    fn rejects_with_a_place() {
        let cases = [
            (
                "",
                0,
                "expected an argument's name, got end of the expression",
            ),
            ("C", 1, "expected `=`, got end of the expression"),
            (
                "C = ",
                4,
                "expected a number, a name or `(`, got end of the expression",
            ),
            ("C = A B", 6, "expected an operator, got `B`"),
            ("C = (A", 6, "expected `)`, got end of the expression"),
            (
                "C = log(A)",
                4,
                "unknown function `log`; known are abs, exp, max, min, relu and sqrt",
            ),
            ("C = min(A)", 9, "expected `,`, got `)`"),
            ("C = 1.2.3", 4, "`1.2.3` is no number"),
            ("C = 2x", 4, "`2x` is no number"),
            ("C = A % B", 6, "expected an operator, got `%`"),
        ];
        for (text, offset, message) in cases {
            let error = parse(text).expect_err(text);
            assert_eq!(
                (error.offset, error.message.as_str()),
                (offset, message),
                "{text}"
            );
        }
    }

    #[test]
    fn hostile_nesting_is_refused() {
        assert!(parse(&format!("C = {}", "(".repeat(1_000_000))).is_err());
        assert!(parse(&format!("C = {}", "abs(".repeat(1_000_000))).is_err());
        assert!(parse(&format!("C = {}A", "-".repeat(1_000_000))).is_ok());
        assert!(parse(&format!("C = A{}", "+A".repeat(100_000))).is_ok());
    }

    proptest! {
        #[test]
        fn never_panics(text in "C = [-+*/(), .0-9eA-Cmin_é]{0,40}") {
            if let Ok(expectation) = parse(&text) {
                expectation.eval(&mut Vec::new(), |_| 1.0);
            }
        }
    }
}
