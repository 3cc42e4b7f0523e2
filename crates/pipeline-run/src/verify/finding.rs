//! What is wrong with the arguments after a launch, in words.

use std::fmt;

use crate::image::GuardDamage;

/// Something wrong with one argument after the launch.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Elements differ from what is expected.
    Mismatch {
        /// The argument.
        name: String,
        /// How many elements differ.
        count: u64,
        /// How many there are.
        elements: u64,
        /// The first few.
        first: Vec<Mismatch>,
    },
    /// An argument that nothing should write was written.
    InputChanged {
        /// The argument.
        name: String,
        /// How many elements changed.
        count: u64,
        /// The indices of the first.
        indices: Vec<u64>,
    },
    /// Bytes outside the elements were written.
    Guard {
        /// The argument.
        name: String,
        /// Where.
        damage: GuardDamage,
    },
}

/// One element that is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Its indices.
    pub indices: Vec<u64>,
    /// What it holds.
    pub got: f64,
    /// What it should hold.
    pub expected: f64,
}

fn index_text(name: &str, indices: &[u64]) -> String {
    let indices: Vec<String> = indices.iter().map(u64::to_string).collect();
    format!("{name}[{}]", indices.join(", "))
}

impl Finding {
    /// A short name of the kind that stays the same, for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Mismatch { .. } => "mismatch",
            Self::InputChanged { .. } => "input-changed",
            Self::Guard { .. } => "guard",
        }
    }

    /// The argument.
    pub fn argument(&self) -> &str {
        match self {
            Self::Mismatch { name, .. }
            | Self::InputChanged { name, .. }
            | Self::Guard { name, .. } => name,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch {
                name,
                count,
                elements,
                first,
            } => {
                write!(f, "{name}: {count} of {elements} elements differ")?;
                for one in first {
                    let place = index_text(name, &one.indices);
                    write!(f, "\n  {place}: got {}, expected {}", one.got, one.expected)?;
                }
                Ok(())
            }
            Self::InputChanged {
                name,
                count,
                indices,
            } => write!(
                f,
                "{name}: {count} elements changed that nothing should write, first {}",
                index_text(name, indices)
            ),
            Self::Guard { name, damage } => write!(
                f,
                "{name}: {} bytes changed outside its elements, first {} at byte offset {}",
                damage.count, damage.region, damage.offset
            ),
        }
    }
}
