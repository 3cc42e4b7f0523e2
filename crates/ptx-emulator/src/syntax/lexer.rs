//! PTX text to tokens, one at a time, so that a file costs no memory for tokens.

use logos::{FilterResult, Lexer, Logos};

use super::{SyntaxError, ast::Span};

/// What a token is.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\x0b]+", error = Fault)]
pub(super) enum Kind {
    /// Never returned: comments are skipped.
    #[regex("//[^\n]*", logos::skip, allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    /// A name, with its `%` if it has one.
    #[regex(r"[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|%[A-Za-z_$][A-Za-z0-9_$]*")]
    Name,
    /// `.name`: a directive, type, modifier or component. Blanks may follow the dot and surround
    /// `::`; a modifier may begin with a digit, which is why this is not a dot and a name.
    #[regex(
        r"\.[ \t\r\n]*[A-Za-z0-9_]+([ \t\r\n]*::[ \t\r\n]*[A-Za-z0-9_]+)*",
        priority = 20
    )]
    Dotted,
    /// An integer, or a floating-point constant by its bits. Anything that begins with a digit,
    /// so that a malformed number is one token and one error.
    #[regex(r"[0-9][A-Za-z0-9_]*", priority = 3)]
    Number,
    /// A decimal floating-point constant, or a version number.
    #[regex(
        r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+",
        priority = 10
    )]
    Decimal,
    /// A string with its quotes.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[token("\"", open_string)]
    String,
    #[token("_", priority = 30)]
    Underscore,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("@")]
    At,
    #[token("?")]
    Question,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Xor,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("=")]
    Assign,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("&&")]
    LogicalAnd,
    #[token("||")]
    LogicalOr,
    /// The end of the text; made here, matched by no pattern.
    End,
}

/// Why a piece of text is no token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fault {
    /// No token begins so.
    #[default]
    Character,
    /// A `/*` without `*/`.
    Comment,
    /// A `"` without its partner in the same line.
    String,
}

/// A quote that begins no whole string.
fn open_string(_: &mut Lexer<'_, Kind>) -> Result<(), Fault> {
    Err(Fault::String)
}

fn block_comment(lexer: &mut Lexer<'_, Kind>) -> FilterResult<(), Fault> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            FilterResult::Skip
        }
        None => FilterResult::Error(Fault::Comment),
    }
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) span: Span,
}

/// The tokens of a text, with one of lookahead.
pub(super) struct Tokens<'a> {
    lexer: Lexer<'a, Kind>,
    next: Result<Token<'a>, SyntaxError>,
    /// The line that `line_start` begins, from 1.
    line: u32,
    line_start: usize,
    /// Line breaks before this offset are counted.
    counted: usize,
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of `text`, which must be shorter than 4 GiB.
    pub(super) fn new(text: &'a str) -> Self {
        let mut tokens = Self {
            lexer: Kind::lexer(text),
            next: Ok(Token {
                kind: Kind::End,
                text: "",
                span: Span { line: 1, column: 1 },
            }),
            line: 1,
            line_start: 0,
            counted: 0,
        };
        tokens.next = tokens.read();
        tokens
    }

    /// The next token, without taking it.
    pub(super) fn peek(&self) -> Result<Token<'a>, SyntaxError> {
        self.next.clone()
    }

    /// Takes the next token. At the end, and at an error, it is the same one for ever.
    pub(super) fn take(&mut self) -> Result<Token<'a>, SyntaxError> {
        let taken = self.next.clone()?;
        if taken.kind != Kind::End {
            self.next = self.read();
        }
        Ok(taken)
    }

    fn read(&mut self) -> Result<Token<'a>, SyntaxError> {
        let found = self.lexer.next();
        let text = self.lexer.source();
        // A fault's range may end in the middle of what the reader would call a word, and at
        // the end of the text the range is empty, but its start is always right.
        let range = self.lexer.span();
        let start = if found.is_none() {
            text.len()
        } else {
            range.start
        };
        let span = self.locate(start);
        let kind = match found {
            None => Kind::End,
            Some(Ok(kind)) => kind,
            Some(Err(fault)) => {
                let message = match fault {
                    Fault::Comment => "the comment has no end".into(),
                    Fault::String => "the string has no end in its line".into(),
                    Fault::Character => match text.get(start..).and_then(|t| t.chars().next()) {
                        Some(c) => format!("unexpected character `{}`", c.escape_debug()),
                        None => "unexpected end of the text".into(),
                    },
                };
                return Err(SyntaxError { span, message });
            }
        };
        Ok(Token {
            kind,
            text: if kind == Kind::End { "" } else { &text[range] },
            span,
        })
    }

    /// Offsets only grow, so line breaks are counted once each.
    fn locate(&mut self, offset: usize) -> Span {
        let passed = &self.lexer.source().as_bytes()[self.counted..offset];
        for (at, &byte) in passed.iter().enumerate() {
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.counted + at + 1;
            }
        }
        self.counted = offset;
        Span {
            line: self.line,
            column: (offset - self.line_start + 1) as u32,
        }
    }
}
