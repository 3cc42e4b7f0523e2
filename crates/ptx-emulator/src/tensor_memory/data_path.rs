//! Where the elements of an accumulator lie in tensor memory (PTX ISA 9.7.16.10.5, layouts A to G;
//! A, B, D and F as in CUTLASS and Triton, E and G as in CUTLASS).
//!
//! An accumulator takes 32-bit columns, one element each. Rows become lanes; layouts that would
//! leave lanes idle put groups of columns on them instead.

use super::shapes::CtaGroup;

/// Layout of an accumulator of M rows and N columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataPath {
    /// A pair, M = 256: 128 rows in each CTA.
    A,
    /// A pair, M = 128, dense: 64 rows in each CTA, the upper half of N on lanes 64 to 127.
    B,
    /// A pair, M = 128, sparse: 64 rows in each CTA on every other 16 lanes. (By analogy with F.)
    C,
    /// One CTA, M = 128.
    D,
    /// One CTA, M = 64, weight stationary: the upper half of N on lanes 64 to 127.
    E,
    /// One CTA, M = 64: every other 16 lanes.
    F,
    /// One CTA, M = 32, weight stationary: each quarter of N on 32 lanes.
    G,
}

/// Where an element lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// 0: the CTA itself or the even one of a pair; 1: the odd one.
    pub cta: u32,
    /// Lane.
    pub lane: u32,
    /// Column, counted from the accumulator's first.
    pub column: u32,
}

impl DataPath {
    /// The layout of an instruction; `None` if it has none with these M.
    pub fn select(group: CtaGroup, m: u32, weight_stationary: bool, sparse: bool) -> Option<Self> {
        Some(match (group, m, weight_stationary) {
            (CtaGroup::Two, 256, false) => Self::A,
            (CtaGroup::Two, 128, false) if sparse => Self::C,
            (CtaGroup::Two, 128, false) => Self::B,
            (CtaGroup::One, 128, _) => Self::D,
            (CtaGroup::One, 64, true) => Self::E,
            (CtaGroup::One, 64, false) => Self::F,
            (CtaGroup::One, 32, true) => Self::G,
            _ => return None,
        })
    }

    /// Rows of D in each CTA.
    pub fn rows_per_cta(self) -> u32 {
        match self {
            Self::A | Self::D => 128,
            Self::B | Self::C | Self::E | Self::F => 64,
            Self::G => 32,
        }
    }

    /// Groups into which the columns are cut, each on lanes of its own.
    pub fn column_groups(self) -> u32 {
        match self {
            Self::A | Self::C | Self::D | Self::F => 1,
            Self::B | Self::E => 2,
            Self::G => 4,
        }
    }

    /// Tensor memory columns of an accumulator with N columns.
    pub fn columns(self, n: u32) -> u32 {
        n / self.column_groups()
    }

    /// Whether an accumulator's address may name this lane. Layouts that use every other 16
    /// lanes may begin at lane 16.
    pub fn begins_at(self, lane: u32) -> bool {
        lane == 0 || (lane == 16 && matches!(self, Self::C | Self::F))
    }

    /// The lane of a row (counted within its CTA, below [`rows_per_cta`](Self::rows_per_cta)) in
    /// a column group, for an accumulator whose address names lane `first` (0 or 16).
    ///
    /// A operand in tensor memory lies on the same lanes, once for every column group.
    pub fn lane(self, row: u32, group: u32, first: u32) -> u32 {
        match self {
            Self::A | Self::D => row,
            Self::B | Self::E => row + 64 * group,
            Self::C | Self::F => row / 16 * 32 + row % 16 + first,
            Self::G => row + 32 * group,
        }
    }

    /// Where element (`row`, `column`) of D lies, for an accumulator of N columns whose address
    /// names lane `first`.
    pub fn position(self, n: u32, row: u32, column: u32, first: u32) -> Position {
        let width = self.columns(n).max(1);
        let rows = self.rows_per_cta();
        Position {
            cta: row / rows,
            lane: self.lane(row % rows, column / width, first),
            column: column % width,
        }
    }

    /// The lanes that a CTA's part of D takes, as ranges in ascending order.
    pub fn lane_ranges(self, first: u32) -> Vec<std::ops::Range<u32>> {
        match self {
            Self::C | Self::F => (0..4)
                .map(|quadrant| 32 * quadrant + first..32 * quadrant + first + 16)
                .collect(),
            _ => std::iter::once(0..128).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ALL: [(DataPath, u32); 7] = [
        (DataPath::A, 256),
        (DataPath::B, 128),
        (DataPath::C, 128),
        (DataPath::D, 128),
        (DataPath::E, 64),
        (DataPath::F, 64),
        (DataPath::G, 32),
    ];

    #[test]
    fn every_element_has_a_cell_of_its_own_inside_the_lane_ranges() {
        for (path, m) in ALL {
            for n in [8, 16, 64, 128, 256] {
                for first in [0, 16].into_iter().filter(|&lane| path.begins_at(lane)) {
                    let cells: BTreeSet<_> = (0..m)
                        .flat_map(|i| (0..n).map(move |j| path.position(n, i, j, first)))
                        .collect();
                    assert_eq!(cells.len() as u32, m * n, "{path:?} {n}");
                    let ranges = path.lane_ranges(first);
                    let lanes: BTreeSet<_> = cells.iter().map(|cell| cell.lane).collect();
                    let expected: BTreeSet<_> = ranges.into_iter().flatten().collect();
                    assert_eq!(lanes, expected, "{path:?}");
                    assert!(cells.iter().all(|cell| cell.column < path.columns(n)));
                    let ctas = cells.iter().map(|cell| cell.cta).max().unwrap() + 1;
                    assert_eq!(ctas * path.rows_per_cta(), m);
                }
            }
        }
    }

    /// One row of the ISA's figures each.
    #[test]
    fn known_places() {
        let at = |path: DataPath, i, j, first| {
            let place = path.position(128, i, j, first);
            (place.cta, place.lane, place.column)
        };
        assert_eq!(at(DataPath::A, 200, 7, 0), (1, 72, 7));
        assert_eq!(at(DataPath::B, 70, 65, 0), (1, 70, 1));
        assert_eq!(at(DataPath::D, 127, 127, 0), (0, 127, 127));
        assert_eq!(at(DataPath::E, 3, 64, 0), (0, 67, 0));
        assert_eq!(at(DataPath::F, 17, 5, 0), (0, 33, 5));
        assert_eq!(at(DataPath::F, 17, 5, 16), (0, 49, 5));
        assert_eq!(at(DataPath::G, 31, 96, 0), (0, 127, 0));
    }

    #[test]
    fn selection() {
        let select = DataPath::select;
        assert_eq!(select(CtaGroup::One, 64, false, false), Some(DataPath::F));
        assert_eq!(select(CtaGroup::One, 64, true, false), Some(DataPath::E));
        assert_eq!(select(CtaGroup::Two, 128, false, false), Some(DataPath::B));
        assert_eq!(select(CtaGroup::Two, 128, false, true), Some(DataPath::C));
        assert_eq!(select(CtaGroup::Two, 64, false, false), None);
        assert_eq!(select(CtaGroup::Two, 256, true, false), None);
        assert_eq!(select(CtaGroup::One, 32, false, false), None);
    }
}
