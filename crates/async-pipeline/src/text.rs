//! What a text is refused for before it is parsed.
//!
//! MLIR's parser, verifier and passes recurse over nested regions, types and
//! attributes, some in quadratic time: a text that nests thousands of levels would
//! exhaust the stack or take minutes. A number of thousands of digits is read in
//! quadratic time as well, and on `array<index: …>` the parser of MLIR 22 crashes.

/// Most open brackets at once; far above what a kernel needs.
const MAX_DEPTH: usize = 256;

/// Most digits in a row; a 64-bit number has 20.
const MAX_DIGITS: usize = 1000;

/// A place in a text, counted from 1, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// Checks nesting, numbers and array types outside strings and comments.
pub(crate) fn check(text: &[u8]) -> Result<(), Refused> {
    let (mut depth, mut line, mut start) = (0_usize, 1, 0);
    let (mut in_string, mut in_comment) = (false, false);
    let mut previous = 0;
    let mut digits = 0;
    for (at, byte) in text.iter().copied().enumerate() {
        let before = std::mem::replace(&mut previous, byte);
        if byte == b'\n' {
            (in_string, in_comment) = (false, false);
            line += 1;
            start = at + 1;
            continue;
        }
        digits = if byte.is_ascii_digit() && !in_string && !in_comment {
            digits + 1
        } else {
            0
        };
        if digits > MAX_DIGITS {
            return Err(Refused {
                line,
                column: at - start + 1 - MAX_DIGITS,
                message: format!("more than {MAX_DIGITS} digits in a row"),
            });
        }
        if byte == b'<' && !in_string && !in_comment && is_index_array(text, at) {
            return Err(Refused {
                line,
                column: at - start + 2,
                message: "expected integer or float type, got: 'index'".to_owned(),
            });
        }
        match byte {
            _ if in_comment => {}
            b'\\' if in_string => previous = if before == b'\\' { 0 } else { byte },
            b'"' if before != b'\\' || !in_string => in_string = !in_string,
            _ if in_string => {}
            b'/' if before == b'/' => in_comment = true,
            b'(' | b'[' | b'{' | b'<' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Refused {
                        line,
                        column: at - start + 1,
                        message: format!("nested more than {MAX_DEPTH} levels deep"),
                    });
                }
            }
            // `->` closes nothing.
            b'>' if before == b'-' => {}
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Whether the `<` at this place opens an `array<index`.
fn is_index_array(text: &[u8], at: usize) -> bool {
    let word =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'#' | b'!');
    let head = text[..at].trim_ascii_end();
    let Some(before) = head.strip_suffix(b"array") else {
        return false;
    };
    let Some(rest) = text[at + 1..].trim_ascii_start().strip_prefix(b"index") else {
        return false;
    };
    before.last().is_none_or(|byte| !word(*byte)) && rest.first().is_none_or(|byte| !word(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_open_brackets_only() {
        let flat = "f(a) -> (b)\n".repeat(1000);
        assert_eq!(check(flat.as_bytes()), Ok(()));
        assert_eq!(check("{".repeat(MAX_DEPTH).as_bytes()), Ok(()));
        let deep = format!("x\n{}", "{".repeat(MAX_DEPTH + 1));
        let error = check(deep.as_bytes()).expect_err("too deep");
        assert_eq!((error.line, error.column), (2, MAX_DEPTH + 1));
    }

    #[test]
    fn digits_are_counted_outside_strings() {
        let long = "7".repeat(MAX_DIGITS + 1);
        assert!(check(long.as_bytes()).is_err());
        assert_eq!(check(format!("\"{long}\"").as_bytes()), Ok(()));
    }

    #[test]
    fn arrays_of_index_are_refused() {
        let error = check(b"a = array < index: 1>").expect_err("crashes the parser");
        assert_eq!((error.line, error.column), (1, 12));
        for fine in [
            "array<i32: 1>",
            "my_array<index>",
            "array<indexed>",
            "\"array<index\"",
        ] {
            assert_eq!(check(fine.as_bytes()), Ok(()), "{fine}");
        }
    }

    #[test]
    fn strings_and_comments_do_not_nest() {
        let text = format!("\"{0}\\\"{0}\" // {0}\n", "(".repeat(200));
        assert_eq!(check(text.repeat(3).as_bytes()), Ok(()));
    }
}
