//! Expectations: `C = relu(A + 2 * B)`, evaluated element by element.
//!
//! The text is parsed into postfix form, so that evaluating it needs neither recursion nor
//! allocation per element.

mod parse;

pub use parse::ExpectError;

/// A parsed expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The argument on the left side.
    pub target: Name,
    /// The names on the right side, each once, in order of appearance.
    pub names: Vec<Name>,
    operations: Vec<Operation>,
}

/// A name and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Byte offset of its first appearance.
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Number(f64),
    /// The value of the name with this number.
    Load(usize),
    Unary(Unary),
    Binary(Binary),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unary {
    Negate,
    Abs,
    Sqrt,
    Exp,
    Relu,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

impl Expectation {
    /// Parses `TARGET = EXPRESSION`.
    ///
    /// # Errors
    /// Text that is none, with the byte where it stops being one.
    pub fn parse(text: &str) -> Result<Self, ExpectError> {
        parse::parse(text)
    }

    /// The value of the right side, where `load` gives the value of the name with a number.
    ///
    /// `stack` is working space, passed in so that it is allocated once.
    pub fn eval(&self, stack: &mut Vec<f64>, load: impl Fn(usize) -> f64) -> f64 {
        stack.clear();
        for operation in &self.operations {
            let value = match *operation {
                Operation::Number(value) => value,
                Operation::Load(name) => load(name),
                Operation::Unary(unary) => {
                    let a = stack.pop().unwrap_or(f64::NAN);
                    unary.apply(a)
                }
                Operation::Binary(binary) => {
                    let b = stack.pop().unwrap_or(f64::NAN);
                    let a = stack.pop().unwrap_or(f64::NAN);
                    binary.apply(a, b)
                }
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(f64::NAN)
    }
}

impl Unary {
    fn apply(self, a: f64) -> f64 {
        match self {
            Self::Negate => -a,
            Self::Abs => a.abs(),
            Self::Sqrt => a.sqrt(),
            Self::Exp => a.exp(),
            // Keeps NaN, which `max` would replace by 0.
            Self::Relu => {
                if a < 0.0 {
                    0.0
                } else {
                    a
                }
            }
        }
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}
