//! A source text, places in it, and messages about them.

use std::fmt;

/// A part of a text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends; nothing at this byte belongs to it.
    pub end: usize,
}

impl Span {
    /// From the beginning of one to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end.max(self.end),
        }
    }
}

/// A source text with the name it goes by in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A line and what stands on it.
struct Line<'a> {
    number: u32,
    start: usize,
    text: &'a str,
}

impl Source {
    /// A text that goes by a name.
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    fn line_of(&self, offset: usize) -> Line<'_> {
        let mut start = 0;
        let mut last = Line {
            number: 1,
            start: 0,
            text: "",
        };
        for (number, text) in (1..).zip(self.text.split('\n')) {
            last = Line {
                number,
                start,
                text: text.strip_suffix('\r').unwrap_or(text),
            };
            if offset <= start + text.len() {
                break;
            }
            start += text.len() + 1;
        }
        last
    }

    /// Line and column of a byte, both counted from 1, columns in characters.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line_of(offset);
        let before = line.text.char_indices();
        let column = before
            .take_while(|(at, _)| line.start + at < offset)
            .count();
        (line.number, column as u32 + 1)
    }

    /// The byte at a line and column, or the end of what is there.
    pub fn offset(&self, line: u32, column: u32) -> usize {
        let mut start = 0;
        for (number, text) in (1..).zip(self.text.split('\n')) {
            if number == line {
                let skipped = column.saturating_sub(1) as usize;
                let within = text.char_indices().nth(skipped);
                return start + within.map_or(text.len(), |(at, _)| at);
            }
            start += text.len() + 1;
        }
        self.text.len()
    }

    /// A message as people read it: place, words, the line, and a mark under it.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let (line, column) = self.position(diagnostic.at.start);
        let text = self.line_of(diagnostic.at.start);
        let around = diagnostic.around.unwrap_or(diagnostic.at);
        let mut marks = String::new();
        let characters = text.text.char_indices();
        for (at, c) in characters.chain([(text.text.len(), ' ')]) {
            let byte = text.start + at;
            let inside = |span: Span| (span.start..span.end).contains(&byte);
            marks.push(match c {
                _ if byte == diagnostic.at.start => '^',
                _ if inside(around) || inside(diagnostic.at) => '~',
                '\t' => '\t',
                _ => ' ',
            });
        }
        let mut out = format!(
            "{}:{line}:{column}: {}: {}\n{}\n{}\n",
            self.name,
            diagnostic.level,
            diagnostic.message,
            text.text,
            marks.trim_end()
        );
        for note in &diagnostic.notes {
            out += &self.render(note);
        }
        out
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The program is wrong.
    Error,
    /// Something to look at.
    Warning,
    /// More about the message before.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        })
    }
}

/// A message about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is.
    pub level: Level,
    /// Where.
    pub at: Span,
    /// What belongs to it beside that, such as the operands of an operator.
    pub around: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// Other places that explain it.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// An error.
    pub fn error(at: Span, message: impl Into<String>) -> Self {
        Self {
            level: Level::Error,
            at,
            around: None,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// The same, with what is around it.
    pub fn around(mut self, span: Span) -> Self {
        self.around = Some(span);
        self
    }

    /// The same, with a note.
    pub fn note(mut self, at: Span, message: impl Into<String>) -> Self {
        self.notes.push(Self {
            level: Level::Note,
            ..Self::error(at, message)
        });
        self
    }
}
