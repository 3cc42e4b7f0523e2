//! Linear algebra over GF(2) on words of 64 bits.

/// The XOR of the vectors whose bit is set in `selection`.
pub(super) fn combine(vectors: &[u64], selection: u64) -> u64 {
    vectors
        .iter()
        .enumerate()
        .filter(|(index, _)| selection >> index & 1 == 1)
        .fold(0, |sum, (_, vector)| sum ^ vector)
}

/// One vector of the echelon form and the inserted vectors that it is the sum of.
#[derive(Debug, Clone)]
struct Row {
    vector: u64,
    combination: u64,
}

/// What a sequence of at most 64 vectors spans.
///
/// A vector that depends on those inserted before it adds nothing, so every vector of the span is
/// the sum of exactly one set of [independent](Span::independent) vectors.
#[derive(Debug, Clone, Default)]
pub(super) struct Span {
    /// By leading bit, highest first.
    rows: Vec<Row>,
    inserted: u32,
    independent: u64,
    dependencies: Vec<u64>,
}

impl Span {
    pub(super) fn of<'a>(vectors: impl IntoIterator<Item = &'a u64>) -> Self {
        let mut span = Self::default();
        for &vector in vectors {
            span.insert(vector);
        }
        span
    }

    /// Adds a vector. If it depends on earlier ones, the set that sums to 0 with it (itself
    /// included) is returned.
    pub(super) fn insert(&mut self, vector: u64) -> Option<u64> {
        let own = 1 << self.inserted;
        self.inserted += 1;
        let (rest, others) = self.reduce(vector);
        let combination = own ^ others;
        if rest == 0 {
            self.dependencies.push(combination);
            return Some(combination);
        }
        self.independent |= own;
        let place = self.rows.partition_point(|row| row.vector > rest);
        self.rows.insert(
            place,
            Row {
                vector: rest,
                combination,
            },
        );
        None
    }

    /// The set of independent vectors that sum to `vector`, if it is in the span.
    pub(super) fn solve(&self, vector: u64) -> Option<u64> {
        let (rest, combination) = self.reduce(vector);
        (rest == 0).then_some(combination)
    }

    pub(super) fn contains(&self, vector: u64) -> bool {
        self.reduce(vector).0 == 0
    }

    pub(super) fn rank(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Which of the inserted vectors did not depend on earlier ones.
    pub(super) fn independent(&self) -> u64 {
        self.independent
    }

    /// A basis of the sets that sum to 0, one for each dependent vector in order.
    pub(super) fn into_dependencies(self) -> Vec<u64> {
        self.dependencies
    }

    /// What is left of a vector without the leading bits of `rows`, and what was taken away. Linear
    /// in the vector.
    fn reduce(&self, vector: u64) -> (u64, u64) {
        let mut rest = vector;
        let mut combination = 0;
        for row in &self.rows {
            if rest ^ row.vector < rest {
                rest ^= row.vector;
                combination ^= row.combination;
            }
        }
        (rest, combination)
    }
}

/// For each unit vector below `bits`, a selection of `vectors`: a linear map that finds back which
/// vectors a sum was made of. It is exact on the span (up to dependent vectors).
pub(super) fn pseudo_inverse(vectors: &[u64], bits: u32) -> Vec<u64> {
    let span = Span::of(vectors);
    (0..bits).map(|bit| span.reduce(1 << bit).1).collect()
}
