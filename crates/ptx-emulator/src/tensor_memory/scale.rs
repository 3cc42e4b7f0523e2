//! Where scale factors lie in tensor memory (PTX ISA 9.7.16.10.7; as in CUTLASS and Triton).
//!
//! Four scale factors of one row of A, or column of B, share a 32-bit word: byte s holds the s-th
//! along K. Word i lies on lane i % 32 of column i / 32, and is repeated on the lanes of the other
//! warps, because every 32 lanes of the data path read their own copy.

use super::{TensorMemory, data_path::DataPath, shapes::MmaKind};

/// How many elements along K share a scale factor, and so how many factors an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleVector {
    /// `.scale_vec::1X`: one factor for the K = 32 of an instruction.
    X1,
    /// `.scale_vec::2X`: two factors for K = 64, each for 32 elements.
    X2,
    /// `.scale_vec::4X`: four factors for K = 64, each for 16 elements.
    X4,
}

impl ScaleVector {
    /// The vector of a kind with one of its modifiers, or without any; `None` if the kind does
    /// not have it, or needs one.
    pub fn select(kind: MmaKind, modifier: Option<&str>) -> Option<Self> {
        Some(match (kind, modifier) {
            (MmaKind::Mxf8f6f4, None | Some("scale_vec::1X" | "block32")) => Self::X1,
            (MmaKind::Mxf4, None | Some("scale_vec::2X" | "block32")) => Self::X2,
            (MmaKind::Mxf4nvf4, Some("scale_vec::2X" | "block32")) => Self::X2,
            (MmaKind::Mxf4nvf4, Some("scale_vec::4X" | "block16")) => Self::X4,
            _ => return None,
        })
    }

    /// Factors per row and instruction.
    pub fn factors(self) -> u32 {
        match self {
            Self::X1 => 1,
            Self::X2 => 2,
            Self::X4 => 4,
        }
    }

    /// Whether the factors may begin at this byte of the word.
    pub fn begins_at(self, id: u32) -> bool {
        match self {
            Self::X1 => id < 4,
            Self::X2 => id == 0 || id == 2,
            Self::X4 => id == 0,
        }
    }
}

/// The word of scale factors of one row of A or column of B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaleWord {
    /// First lane.
    pub lane: u32,
    /// Copies, each 32 lanes after the one before.
    pub copies: u32,
    /// Column relative to the operand's address.
    pub column: u32,
}

impl ScaleWord {
    /// Of row `row` of A, counted within the CTA.
    pub fn of_a(row: u32) -> Self {
        Self {
            lane: row % 32,
            copies: 4,
            column: row / 32,
        }
    }

    /// Of column `column` of B, of N. Layout B computes the upper half of N on lanes 64 to 127,
    /// and there its factors lie.
    pub fn of_b(path: DataPath, n: u32, column: u32) -> Self {
        if path != DataPath::B {
            return Self::of_a(column);
        }
        let width = (n / 2).max(1);
        let (half, within) = (column / width, column % width);
        Self {
            lane: within % 32 + 64 * half,
            copies: 2,
            column: within / 32,
        }
    }

    /// The lanes of the copies.
    pub fn lanes(self) -> impl Iterator<Item = u32> {
        (0..self.copies).map(move |copy| self.lane + 32 * copy)
    }

    /// Reads the word; `Err` with two lanes whose copies differ.
    pub fn read(self, memory: &TensorMemory, first_column: u32) -> Result<u32, (u32, u32)> {
        let column = first_column.saturating_add(self.column);
        let word = memory.word(self.lane, column);
        match self.lanes().find(|&lane| memory.word(lane, column) != word) {
            Some(other) => Err((self.lane, other)),
            None => Ok(word),
        }
    }
}

/// Columns that the scale factors of this many rows (or columns of B) take.
pub fn scale_columns(rows: u32) -> u32 {
    rows.div_ceil(32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_fill_their_columns() {
        for (path, n) in [(DataPath::D, 128), (DataPath::A, 256), (DataPath::B, 256)] {
            let words: Vec<_> = (0..n).map(|j| ScaleWord::of_b(path, n, j)).collect();
            let cells: BTreeSet<_> = words
                .iter()
                .flat_map(|word| word.lanes().map(|lane| (lane, word.column)))
                .collect();
            let columns = scale_columns(path.columns(n));
            assert_eq!(cells.len() as u32, 128 * columns, "{path:?}");
            assert!(
                cells
                    .iter()
                    .all(|&(lane, column)| lane < 128 && column < columns)
            );
            let copies = words.iter().map(|word| word.copies).sum::<u32>();
            assert_eq!(copies as usize, cells.len());
        }
        assert_eq!(scale_columns(128), 4);
        assert_eq!(scale_columns(256), 8);
    }

    #[test]
    fn known_places() {
        let row = ScaleWord::of_a(100);
        assert_eq!((row.lane, row.column), (4, 3));
        assert_eq!(row.lanes().collect::<Vec<_>>(), [4, 36, 68, 100]);
        let upper = ScaleWord::of_b(DataPath::B, 128, 64 + 33);
        assert_eq!((upper.lane, upper.column), (65, 1));
        assert_eq!(upper.lanes().collect::<Vec<_>>(), [65, 97]);
    }

    #[test]
    fn copies_must_agree() {
        let mut memory = TensorMemory::default();
        for lane in [4, 36, 68, 100] {
            memory.write_row(lane, 13, &[0x8180_7f7e]);
        }
        assert_eq!(ScaleWord::of_a(100).read(&memory, 10), Ok(0x8180_7f7e));
        memory.write_row(68, 13, &[0]);
        assert_eq!(ScaleWord::of_a(100).read(&memory, 10), Err((4, 68)));
    }

    #[test]
    fn vectors() {
        let select = ScaleVector::select;
        assert_eq!(
            select(MmaKind::Mxf8f6f4, Some("block32")),
            Some(ScaleVector::X1)
        );
        assert_eq!(select(MmaKind::Mxf8f6f4, Some("block16")), None);
        assert_eq!(select(MmaKind::Mxf4, None), Some(ScaleVector::X2));
        assert_eq!(select(MmaKind::Mxf4nvf4, None), None);
        assert_eq!(
            select(MmaKind::Mxf4nvf4, Some("scale_vec::4X")),
            Some(ScaleVector::X4)
        );
        assert_eq!(select(MmaKind::F16, None), None);
        assert!(ScaleVector::X2.begins_at(2) && !ScaleVector::X2.begins_at(1));
        assert!(ScaleVector::X1.begins_at(3) && !ScaleVector::X4.begins_at(2));
    }
}
