//! Text to tokens.

use crate::source::{Diagnostic, Span};
use std::fmt;

/// One word of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or keyword.
    Name(String),
    /// A number.
    Number(f64),
    /// `->` or a single character.
    Symbol(&'static str),
    /// The end of a line outside brackets.
    Newline,
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::Newline => f.write_str("the end of the line"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

const SYMBOLS: [&str; 14] = [
    "->", "(", ")", "[", "]", ",", ":", "=", "@", ".", "+", "-", "*", "/",
];

/// Splits a text. Blanks and comments (from `#` on) separate tokens; line ends inside brackets
/// do too.
///
/// # Errors
/// A character or number that is none of the language.
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens: Vec<(Token, Span)> = Vec::new();
    let (mut at, mut open) = (0_usize, 0_usize);
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let taken = |accepts: fn(char) -> bool| rest.find(|c| !accepts(c)).unwrap_or(rest.len());
        let start = at;
        let token = match next {
            '\n' => {
                at += 1;
                let begun = matches!(tokens.last(), Some((token, _)) if *token != Token::Newline);
                if open > 0 || !begun {
                    continue;
                }
                Token::Newline
            }
            '#' => {
                at += taken(|c| c != '\n');
                continue;
            }
            _ if next.is_whitespace() => {
                at += next.len_utf8();
                continue;
            }
            _ if next.is_ascii_alphabetic() || next == '_' => {
                at += taken(|c| c.is_ascii_alphanumeric() || c == '_');
                Token::Name(text[start..at].to_owned())
            }
            '0'..='9' => {
                at += number(rest);
                let span = Span { start, end: at };
                let behind = text[at..].chars().next();
                if behind.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    return Err(Diagnostic::error(span, "expected a blank behind a number"));
                }
                match text[start..at].parse() {
                    Ok(value) => Token::Number(value),
                    Err(_) => return Err(Diagnostic::error(span, "expected a number")),
                }
            }
            _ => {
                let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) else {
                    let end = at + next.len_utf8();
                    let message = format!("expected a name, number or operator, got {next:?}");
                    return Err(Diagnostic::error(Span { start, end }, message));
                };
                at += symbol.len();
                match *symbol {
                    "(" | "[" => open += 1,
                    ")" | "]" => open = open.saturating_sub(1),
                    _ => {}
                }
                Token::Symbol(symbol)
            }
        };
        let end = if token == Token::Newline { start } else { at };
        tokens.push((token, Span { start, end }));
    }
    let end = Span { start: at, end: at };
    let begun = matches!(tokens.last(), Some((token, _)) if *token != Token::Newline);
    if open == 0 && begun {
        tokens.push((Token::Newline, end));
    }
    tokens.push((Token::End, end));
    Ok(tokens)
}

/// Length of the number that a text begins with: digits, a fraction, an exponent.
fn number(text: &str) -> usize {
    let digits = |from: usize| -> usize {
        let tail = text.get(from..).unwrap_or_default();
        tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len()
    };
    let mut at = digits(0);
    if text[at..].starts_with('.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if text[at..].starts_with(['e', 'E']) {
        let sign = usize::from(text[at + 1..].starts_with(['+', '-']));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}
