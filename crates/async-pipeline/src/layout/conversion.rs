//! From one distribution of a tile over registers, lanes and warps to another.
//!
//! [`conversion`] finds the cheapest way and returns a plan in terms of registers, shuffles and
//! addresses, for a lowering to carry out. Costs are counted in wavefronts of one warp: a shuffle,
//! as a wavefront of shared memory, keeps the data path of an SM busy for one cycle; two selects
//! count as one. Source of the throughputs: CUDA C++ Programming Guide, "Arithmetic Instructions".

use super::{
    LANE, Layout, LayoutError, REGISTER, WARP,
    algebra::combine_offsets,
    exchange,
    shuffles::{self, Distribution},
};

pub use exchange::{Access, SharedPlan, Synchronisation};

/// How to change a distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversion {
    /// Every thread has what it needs, in its registers.
    None,
    /// Every thread has what it needs in other registers: target register `i` is source register
    /// `self.0[i]`, the same in every thread.
    RegisterPermutation(Vec<u32>),
    /// Every warp has what it needs.
    WarpShuffle(ShufflePlan),
    /// Through shared memory.
    SharedMemory(Box<SharedPlan>),
}

impl Conversion {
    /// What it costs one warp, in wavefronts; 0 if no data leaves its thread.
    #[must_use]
    pub fn cost(&self) -> u32 {
        match self {
            Self::None | Self::RegisterPermutation(_) => 0,
            Self::WarpShuffle(plan) => plan.cost(),
            Self::SharedMemory(plan) => plan.cost(),
        }
    }
}

/// A number computed from the lane and the warp of a thread: `constant` XOR the entries of
/// `lanes` and `warps` whose bit is set in the lane and the warp.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadMap {
    /// The value of lane 0 of warp 0.
    pub constant: u32,
    /// What each bit of the lane changes.
    pub lanes: Vec<u32>,
    /// What each bit of the warp changes.
    pub warps: Vec<u32>,
}

impl ThreadMap {
    /// The value of one thread.
    #[must_use]
    pub fn at(&self, lane: u32, warp: u32) -> u32 {
        self.constant ^ combine_offsets(&self.lanes, lane) ^ combine_offsets(&self.warps, warp)
    }

    /// Whether all threads have the value 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.constant == 0 && self.bits() == 0
    }

    /// The bits that differ between threads.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.lanes
            .iter()
            .chain(&self.warps)
            .fold(0, |mask, entry| mask | entry)
    }
}

/// A conversion inside each warp, on words of `elements_per_word` consecutive registers (packed in
/// 32 bits, the lowest register in the lowest bits):
///
/// 1. Each thread permutes its source words: `x[i] = source[i ^ before(thread)]`. That is one
///    round of selects for each set bit of `before.bits()`.
/// 2. For each round, `y[round.target]` is `x[round.source]` of the lane `round.lane`.
/// 3. Target word `i` is `y[results[i] ^ after(thread)]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShufflePlan {
    /// Registers in a word: consecutive elements that stay together.
    pub elements_per_word: u32,
    /// Source words per thread.
    pub source_words: u32,
    /// How each thread permutes its source words.
    pub before: ThreadMap,
    /// One per different target word.
    pub rounds: Vec<Round>,
    /// How each thread permutes what it received.
    pub after: ThreadMap,
    /// For each target word the one received, before `after`; words that hold the same share one.
    pub results: Vec<u32>,
}

/// One word for each thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The word that every lane offers, after the first permutation.
    pub source: u32,
    /// The lane to read from.
    pub lane: LaneSource,
    /// The word received, before the last permutation.
    pub target: u32,
}

/// The lane that a thread reads from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneSource {
    /// Its own: a move, no shuffle.
    Own,
    /// Its own number XOR a mask: `shfl.sync.bfly`.
    Xor(u32),
    /// A computed one: `shfl.sync.idx`.
    Index(ThreadMap),
}

impl LaneSource {
    /// The lane that a thread reads from.
    #[must_use]
    pub fn at(&self, lane: u32, warp: u32) -> u32 {
        match self {
            Self::Own => lane,
            Self::Xor(mask) => lane ^ mask,
            Self::Index(map) => map.at(lane, warp),
        }
    }
}

impl ShufflePlan {
    /// How many shuffles a warp executes.
    #[must_use]
    pub fn shuffles(&self) -> u32 {
        let moving = |round: &&Round| round.lane != LaneSource::Own;
        self.rounds.iter().filter(moving).count() as u32
    }

    /// How many selects a thread executes for both permutations.
    #[must_use]
    pub fn selects(&self) -> u32 {
        self.before.bits().count_ones() * self.source_words
            + self.after.bits().count_ones() * self.rounds.len() as u32
    }

    /// Shuffles and half the selects.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.shuffles() + self.selects().div_ceil(2)
    }

    /// The permutation, if no data leaves its thread and all threads do the same.
    fn as_permutation(&self) -> Option<Vec<u32>> {
        if !self.before.is_zero() || !self.after.is_zero() || self.shuffles() != 0 {
            return None;
        }
        let word = |target: &u32| self.rounds.iter().find(|round| round.target == *target);
        let mut registers = Vec::new();
        for target in &self.results {
            let first = word(target)?.source * self.elements_per_word;
            registers.extend(first..first + self.elements_per_word);
        }
        Some(registers)
    }
}

/// The cheapest way to get from the distribution `from` to the distribution `to` of one tile,
/// both (register, lane, warp) → the same outputs, with elements of `element_bytes`.
///
/// # Errors
/// The outputs or the warps differ, `to` wants an element that `from` does not hold, there are
/// other inputs, more than 1024 registers, or the element is not of 1, 2 or 4 bytes.
pub fn conversion(
    from: &Layout,
    to: &Layout,
    element_bytes: u32,
) -> Result<Conversion, LayoutError> {
    let shuffled = shuffles(from, to, element_bytes)?;
    if let Some(permutation) = shuffled.as_ref().and_then(ShufflePlan::as_permutation) {
        let same = from.input_size(REGISTER) == to.input_size(REGISTER)
            && permutation.iter().copied().eq(0..to.input_size(REGISTER));
        return Ok(if same {
            Conversion::None
        } else {
            Conversion::RegisterPermutation(permutation)
        });
    }
    let shared = through_shared(from, to, element_bytes)?;
    Ok(match shuffled {
        Some(plan) if plan.cost() <= shared.cost() => Conversion::WarpShuffle(plan),
        _ => Conversion::SharedMemory(Box::new(shared)),
    })
}

/// The conversion inside each warp, if there is one.
///
/// # Errors
/// As [`conversion`].
pub fn shuffles(
    from: &Layout,
    to: &Layout,
    element_bytes: u32,
) -> Result<Option<ShufflePlan>, LayoutError> {
    check(from, to, element_bytes)?;
    let (source, target) = (Distribution::of(from, from), Distribution::of(to, from));
    Ok(shuffles::plan(&source, &target, element_bytes))
}

/// The conversion through shared memory, with the swizzle that takes the fewest wavefronts.
///
/// # Errors
/// As [`conversion`], or the tile has more than 2^31 bytes.
pub fn through_shared(
    from: &Layout,
    to: &Layout,
    element_bytes: u32,
) -> Result<SharedPlan, LayoutError> {
    check(from, to, element_bytes)?;
    exchange::plan(from, to, element_bytes)
}

fn check(from: &Layout, to: &Layout, element_bytes: u32) -> Result<(), LayoutError> {
    if !matches!(element_bytes, 1 | 2 | 4) {
        return Err(LayoutError::Unsupported {
            what: "the bytes of an element",
            expected: "1, 2 or 4",
            got: element_bytes,
        });
    }
    for layout in [from, to] {
        for axis in layout.inputs() {
            let most = match axis.name {
                // 255 registers of 4 bytes.
                REGISTER => 10,
                LANE | WARP => 5,
                _ => 0,
            };
            if axis.bits > most {
                return Err(LayoutError::SizesDiffer {
                    name: axis.name,
                    expected: 1 << most,
                    got: axis.size(),
                });
            }
        }
    }
    if from.input_size(WARP) != to.input_size(WARP) {
        return Err(LayoutError::SizesDiffer {
            name: WARP,
            expected: from.input_size(WARP),
            got: to.input_size(WARP),
        });
    }
    to.through(from).map(|_| ())
}
