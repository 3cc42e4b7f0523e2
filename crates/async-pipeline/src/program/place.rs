//! Source places.

use std::{fmt, sync::Arc};

/// A place in a source file; [`Place::default`] is "unknown".
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file as MLIR names it; empty if unknown.
    pub file: Arc<str>,
    /// Line from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
}

impl Place {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.line == 0
    }

    /// Reads a printed MLIR location. Of a fused, named or call-site location the first
    /// file position counts; it is the innermost.
    pub fn parse(text: &str) -> Self {
        let mut rest = text;
        while let Some(start) = rest.find('"') {
            let Some((quoted, behind)) = quoted_string(&rest[start + 1..]) else {
                break;
            };
            if let Some((line, column)) = line_and_column(behind) {
                return Self {
                    file: quoted.into(),
                    line,
                    column,
                };
            }
            rest = behind;
        }
        Self::default()
    }
}

/// The text up to the closing quote, unescaped, and what follows it.
fn quoted_string(text: &str) -> Option<(String, &str)> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Some((String::from_utf8_lossy(&out).into_owned(), &text[at + 1..])),
            b'\\' => {
                let hex = bytes.get(at + 1..at + 3).and_then(|digits| {
                    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
                });
                match hex {
                    Some(value) => {
                        out.push(value);
                        at += 3;
                    }
                    None => {
                        out.push(*bytes.get(at + 1)?);
                        at += 2;
                    }
                }
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    None
}

/// `:line:column` at the start of a text. A range prints as `:line:column to …`.
fn line_and_column(text: &str) -> Option<(u32, u32)> {
    let (line, rest) = number(text.strip_prefix(':')?)?;
    let (column, _) = number(rest.strip_prefix(':')?)?;
    Some((line, column))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown() {
            return f.write_str("unknown place");
        }
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    fn parsed(text: &str) -> String {
        Place::parse(text).to_string()
    }

    #[test]
    fn every_kind_of_location_gives_its_innermost_position() {
        assert_eq!(parsed(r#"loc("a.mlir":3:7)"#), "a.mlir:3:7");
        assert_eq!(parsed(r#"loc("wait"("a b.mlir":12:1))"#), "a b.mlir:12:1");
        assert_eq!(parsed(r#"loc(callsite("f"("a":1:2) at "b":3:4))"#), "a:1:2");
        assert_eq!(parsed(r#"loc(fused<"x">["a":1:2, "b":3:4])"#), "a:1:2");
        assert_eq!(parsed(r#"loc("a":1:2 to :3:4)"#), "a:1:2");
        assert_eq!(parsed(r#"loc("q\22x":1:2)"#), "q\"x:1:2");
        for text in [
            "loc(unknown)",
            "",
            "loc(\"name\")",
            "loc(\"open",
            "loc(\"a\":9)",
            "\"\\",
        ] {
            assert!(Place::parse(text).is_unknown(), "{text}");
        }
    }
}
