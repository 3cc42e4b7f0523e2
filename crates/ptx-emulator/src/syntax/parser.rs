//! Tokens to the syntax tree.
//!
//! One pass over the text. Registers, variables and parameters are declared before they are used,
//! so they are resolved on the spot; labels and file numbers may come later and are filled in at
//! the end of the kernel and of the module.

mod body;
mod constants;
mod labels;
mod module;
mod operands;
mod scopes;
mod special;
mod variables;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::{
    SyntaxError,
    ast::{Module, Span, Variable},
    lexer::{Kind, Token, Tokens},
};
use body::Body;
use scopes::Scopes;

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// Longer texts are refused.
const MAX_TEXT: usize = 64 << 20;

/// How deep scopes, parentheses, brackets and braces may nest.
const MAX_NESTING: usize = 64;

/// Parses a PTX module.
///
/// # Errors
///
/// The first thing in the text that is malformed, undeclared, declared twice or not supported.
pub fn parse(text: &str) -> Result<Module, SyntaxError> {
    let start = Span { line: 1, column: 1 };
    if text.len() > MAX_TEXT {
        return fail(
            start,
            format!("the text is longer than {} MiB", MAX_TEXT >> 20),
        );
    }
    Parser {
        tokens: Tokens::new(text),
        scopes: Scopes::default(),
        nesting: 0,
        variables: Vec::new(),
        files: BTreeMap::new(),
        used_files: BTreeMap::new(),
        instructions: 0,
        body: Body::default(),
    }
    .module()
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    scopes: Scopes<'a>,
    /// Open parentheses, brackets and braces of the operand or initialiser at hand.
    nesting: usize,
    /// Variables of the module.
    variables: Vec<Variable>,
    /// By `.file`.
    files: BTreeMap<u32, Arc<str>>,
    /// File numbers in `.loc`, and where each is used first.
    used_files: BTreeMap<u32, Span>,
    /// Instructions in all kernels so far.
    instructions: usize,
    /// The kernel at hand.
    body: Body<'a>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Result<Token<'a>> {
        self.tokens.peek()
    }

    fn take(&mut self) -> Result<Token<'a>> {
        self.tokens.take()
    }

    /// Takes the next token if it is of this kind.
    fn accept(&mut self, kind: Kind) -> Result<bool> {
        let found = self.peek()?.kind == kind;
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes the next token, which must be of this kind; `what` says what it is.
    fn expect(&mut self, kind: Kind, what: &str) -> Result<Token<'a>> {
        let token = self.take()?;
        if token.kind == kind {
            return Ok(token);
        }
        unexpected(token, what)
    }

    /// Takes the next token if it is this directive, modifier or type.
    fn accept_dotted(&mut self, name: &str) -> Result<bool> {
        let token = self.peek()?;
        let found = token.kind == Kind::Dotted && dotted(token) == name;
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Parses one level deeper.
    fn nested<T>(&mut self, span: Span, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == MAX_NESTING {
            return fail(span, format!("nested deeper than {MAX_NESTING} levels"));
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }
}

fn fail<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(SyntaxError {
        span,
        message: message.into(),
    })
}

fn unexpected<T>(token: Token<'_>, what: &str) -> Result<T> {
    let found = match token.kind {
        Kind::End => "the end of the text".into(),
        _ => format!("`{}`", clip(token.text)),
    };
    fail(token.span, format!("expected {what}, got {found}"))
}

/// The name in a `.name` token, without blanks.
fn dotted(token: Token<'_>) -> Cow<'_, str> {
    let name = token.text.trim_start_matches('.');
    if name.contains(|c: char| c.is_ascii_whitespace()) {
        return name.split_ascii_whitespace().collect::<String>().into();
    }
    name.into()
}

/// A piece of the text short enough for a message.
fn clip(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
