//! The small languages of the command line: `A=64x32`, `alpha=2.0`, `1e-5,1e-6`.

use std::{path::PathBuf, str::FromStr};

/// Why a value of an option is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionError(String);

/// Sizes of one argument, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeOption {
    /// The argument; none for all that have a dimension known only at launch.
    pub argument: Option<String>,
    /// Its sizes, outermost first.
    pub shape: Vec<u64>,
}

/// A value for one named argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T> {
    /// The argument.
    pub argument: String,
    /// The value.
    pub value: T,
}

/// How far a result may be from what is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub relative: f64,
    /// In addition, independent of it.
    pub absolute: f64,
}

fn fail<T>(message: impl Into<String>) -> Result<T, OptionError> {
    Err(OptionError(message.into()))
}

fn split_name(text: &str) -> Result<(&str, &str), OptionError> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value.trim())),
        _ => fail(format!("expected NAME=VALUE, got `{text}`")),
    }
}

/// Parses `64`, `64x32`, ….
///
/// # Errors
/// A part that is no number.
pub fn parse_shape(text: &str) -> Result<Vec<u64>, OptionError> {
    text.trim()
        .split('x')
        .map(|size| {
            let parsed = size.trim().parse();
            parsed.or_else(|_| fail(format!("expected sizes such as 64 or 64x32, got `{text}`")))
        })
        .collect()
}

/// Parses a comma-separated triple.
///
/// # Errors
/// Anything but one to three numbers; missing ones are 1.
pub fn parse_triple(text: &str) -> Result<[u32; 3], OptionError> {
    let mut triple = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return fail(format!("expected X, X,Y or X,Y,Z, got `{text}`"));
    }
    for (to, part) in triple.iter_mut().zip(parts) {
        match part.trim().parse() {
            Ok(value) => *to = value,
            Err(_) => return fail(format!("expected X, X,Y or X,Y,Z, got `{text}`")),
        }
    }
    Ok(triple)
}

impl FromStr for SizeOption {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let Some((name, sizes)) = text.split_once('=') else {
            let shape = parse_shape(text)?;
            return Ok(Self {
                argument: None,
                shape,
            });
        };
        if name.trim().is_empty() {
            return fail(format!("expected NAME=SIZES or SIZES, got `{text}`"));
        }
        Ok(Self {
            argument: Some(name.trim().to_owned()),
            shape: parse_shape(sizes)?,
        })
    }
}

impl FromStr for Named<u64> {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (argument, value) = split_name(text)?;
        match value.parse() {
            Ok(value) => Ok(Self {
                argument: argument.to_owned(),
                value,
            }),
            Err(_) => fail(format!("expected NAME=NUMBER, got `{text}`")),
        }
    }
}

impl FromStr for Named<String> {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (argument, value) = split_name(text)?;
        Ok(Self {
            argument: argument.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl FromStr for Named<PathBuf> {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (argument, value) = split_name(text)?;
        Ok(Self {
            argument: argument.to_owned(),
            value: PathBuf::from(value),
        })
    }
}

impl Tolerance {
    /// Results must be equal.
    pub const EXACT: Self = Self {
        relative: 0.0,
        absolute: 0.0,
    };

    /// Whether `got` is near enough to `expected`. NaN matches NaN, an infinity only itself.
    pub fn accepts(&self, got: f64, expected: f64) -> bool {
        if got == expected || (got.is_nan() && expected.is_nan()) {
            return true;
        }
        let allowed = self.absolute + self.relative * expected.abs();
        expected.is_finite() && (got - expected).abs() <= allowed
    }
}

impl FromStr for Tolerance {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (relative, absolute) = text.split_once(',').unwrap_or((text, "0"));
        let number = |part: &str| match part.trim().parse::<f64>() {
            Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
            _ => fail(format!(
                "expected RELATIVE or RELATIVE,ABSOLUTE, got `{text}`"
            )),
        };
        Ok(Self {
            relative: number(relative)?,
            absolute: number(absolute)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let all: SizeOption = "1000".parse().expect("parses");
        assert_eq!((all.argument, all.shape), (None, vec![1000]));
        let one: SizeOption = "A = 64x0x32".parse().expect("parses");
        assert_eq!(
            (one.argument.as_deref(), one.shape),
            (Some("A"), vec![64, 0, 32])
        );
        for bad in ["", "A=", "=3", "A=4x", "A=-1", "99999999999999999999"] {
            assert!(bad.parse::<SizeOption>().is_err(), "{bad}");
        }
        assert_eq!(parse_triple("4,2").expect("parses"), [4, 2, 1]);
        assert!(parse_triple("1,2,3,4").is_err() && parse_triple("a").is_err());
    }

    #[test]
    fn tolerances() {
        let tolerance: Tolerance = "1e-3,0.5".parse().expect("parses");
        assert!(tolerance.accepts(1001.4, 1000.0) && !tolerance.accepts(1001.6, 1000.0));
        assert!("-1".parse::<Tolerance>().is_err() && "nan".parse::<Tolerance>().is_err());
        let exact = Tolerance::EXACT;
        assert!(exact.accepts(f64::NAN, f64::NAN) && exact.accepts(-0.0, 0.0));
        assert!(!exact.accepts(1.0, f64::NAN) && !exact.accepts(f64::NAN, 1.0));
        assert!(exact.accepts(f64::INFINITY, f64::INFINITY));
        let wide = Tolerance {
            relative: 0.1,
            absolute: 0.0,
        };
        assert!(!wide.accepts(1.0, f64::INFINITY) && !wide.accepts(f64::INFINITY, 1.0));
    }
}
