//! Changing a distribution inside each warp, with `shfl.sync` and selects.
//!
//! Take tile positions as vectors over GF(2). The source has at lane `s`, register `p` the element
//! `S_l·s + S_r·p`; the target wants at lane `t`, register `d` the element `D_l·t + D_r·d`. In one
//! shuffle each lane publishes one register and reads from one lane. So let lane `t` receive, in
//! round `k`, its register `d = k ^ F·t` from lane `s = C·k ^ T·t`, register `p = A·k ^ G·t`, with
//!
//! ```text
//!   D_r·k = S_r·A·k + S_l·C·k            where the elements of a round are, seen from lane 0
//!   D_l·t + D_r·F·t = S_r·G·t + S_l·T·t  how that moves with the lane
//! ```
//!
//! A round is possible if the published register depends on the publishing lane only: if
//! `T·t = 0` only where `F·t`, `G·t` make lane `t` want what lane 0 wants. Then every round moves
//! a different register of every lane, and as many rounds as the target has registers do it all.
//! With `T` the identity rounds with `C·k = 0` need no shuffle, so that is tried first.

use super::{
    LANE, Layout, REGISTER, WARP,
    conversion::{LaneSource, Round, ShufflePlan, ThreadMap},
    span::{Span, combine, pseudo_inverse},
    vectors::all_sums,
};

/// The images of the bits of a distribution over (register, lane, warp), in a common space.
pub(super) struct Distribution {
    pub(super) registers: Vec<u64>,
    pub(super) lanes: Vec<u64>,
    pub(super) warps: Vec<u64>,
}

impl Distribution {
    /// The images of `layout`, packed as the outputs of `space` are.
    pub(super) fn of(layout: &Layout, space: &Layout) -> Self {
        let mut lanes = layout.images_in(LANE, space);
        lanes.resize(5, 0);
        Self {
            registers: layout.images_in(REGISTER, space),
            lanes,
            warps: layout.images_in(WARP, space),
        }
    }

    /// The distribution of words of `2^bits` consecutive registers each, by the first of a word.
    fn words(&self, bits: usize) -> Self {
        Self {
            registers: self.registers[bits..].to_vec(),
            lanes: self.lanes.clone(),
            warps: self.warps.clone(),
        }
    }
}

/// The plan with the fewest rounds that keeps as many elements as possible together in a 32-bit
/// word; `None` if some warp wants what it does not have, or cannot have it in one round per word.
pub(super) fn plan(
    from: &Distribution,
    to: &Distribution,
    element_bytes: u32,
) -> Option<ShufflePlan> {
    let fitting = (4 / element_bytes.clamp(1, 4)).ilog2() as usize;
    let common = from
        .registers
        .iter()
        .zip(&to.registers)
        .take(fitting)
        .take_while(|(source, target)| source == target)
        .count();
    (0..=common)
        .rev()
        .find_map(|bits| words(&from.words(bits), &to.words(bits), 1 << bits))
}

fn words(from: &Distribution, to: &Distribution, elements_per_word: u32) -> Option<ShufflePlan> {
    let moves = same_lane(from, to).or_else(|| any_lane(from, to))?;
    let target = Span::of(&to.registers);
    let held = Span::of(from.registers.iter().chain(&from.lanes));
    let register_mask = (1_u64 << from.registers.len()) - 1;

    // The register that a publishing lane offers depends on its own number, so go back from the
    // source lane to a lane that reads there.
    let back = pseudo_inverse(&moves.lanes.iter().map(|m| m.lane).collect::<Vec<_>>(), 5);
    let lane_registers: Vec<u64> = moves.lanes.iter().map(|m| m.from_register).collect();
    let published = |lane: u64| combine(&lane_registers, combine(&back, lane));

    let independent: Vec<u32> = (0..to.registers.len())
        .filter(|bit| target.independent() >> bit & 1 == 1)
        .map(|bit| 1 << bit)
        .collect();
    let stays = moves
        .lanes
        .iter()
        .enumerate()
        .all(|(bit, m)| m.lane == 1 << bit)
        && moves.warps.iter().all(|m| m.lane == 0);
    let mut rounds = Vec::new();
    for register in all_sums(&independent) {
        let place = held.solve(combine(&to.registers, u64::from(register)))?;
        let (source, lane) = (place & register_mask, place >> from.registers.len());
        let offset = lane as u32;
        rounds.push(Round {
            source: (source ^ published(lane)) as u32,
            target: register,
            lane: match (stays, offset) {
                (true, 0) => LaneSource::Own,
                (true, _) => LaneSource::Xor(offset),
                _ => LaneSource::Index(ThreadMap {
                    constant: offset,
                    lanes: moves.lanes.iter().map(|m| m.lane as u32).collect(),
                    warps: moves.warps.iter().map(|m| m.lane as u32).collect(),
                }),
            },
        });
    }
    let results = (0..1_u64 << to.registers.len())
        .map(|register| Some(target.solve(combine(&to.registers, register))? as u32))
        .collect::<Option<_>>()?;
    let to_register = |m: &Move| m.to_register as u32;
    Some(ShufflePlan {
        elements_per_word,
        source_words: 1 << from.registers.len(),
        before: ThreadMap {
            constant: 0,
            lanes: (0..5).map(|bit| published(1 << bit) as u32).collect(),
            warps: moves
                .warps
                .iter()
                .map(|m| (m.from_register ^ published(m.lane)) as u32)
                .collect(),
        },
        rounds,
        after: ThreadMap {
            constant: 0,
            lanes: moves.lanes.iter().map(to_register).collect(),
            warps: moves.warps.iter().map(to_register).collect(),
        },
        results,
    })
}

/// What one bit of the thread adds: to the target register (a column of `F`), to the source
/// register (`G`) and to the source lane (`T`).
#[derive(Debug, Clone, Copy, Default)]
struct Move {
    to_register: u64,
    from_register: u64,
    lane: u64,
}

impl Move {
    fn sum(moves: &[Self], selection: u64) -> Self {
        let part = |of: fn(&Self) -> u64| {
            let column: Vec<u64> = moves.iter().map(of).collect();
            combine(&column, selection)
        };
        Self {
            to_register: part(|m| m.to_register),
            from_register: part(|m| m.from_register),
            lane: part(|m| m.lane),
        }
    }
}

struct Moves {
    lanes: Vec<Move>,
    warps: Vec<Move>,
}

/// All places, as sums of target registers, then source registers, then source lanes.
struct Places {
    span: Span,
    to_bits: usize,
    from_bits: usize,
}

impl Places {
    fn of(from: &Distribution, to: &Distribution) -> Self {
        Self {
            span: Span::of(
                to.registers
                    .iter()
                    .chain(&from.registers)
                    .chain(&from.lanes),
            ),
            to_bits: to.registers.len(),
            from_bits: from.registers.len(),
        }
    }

    fn split(&self, selection: u64) -> Move {
        let field = |start: usize, bits: usize| (selection >> start) & ((1 << bits) - 1);
        Move {
            to_register: field(0, self.to_bits),
            from_register: field(self.to_bits, self.from_bits),
            lane: field(self.to_bits + self.from_bits, 5),
        }
    }

    fn solve(&self, place: u64) -> Option<Move> {
        self.span
            .solve(place)
            .map(|selection| self.split(selection))
    }
}

/// How the source changes from warp to warp; each stays in its own.
fn warp_moves(from: &Distribution, to: &Distribution, places: &Places) -> Option<Vec<Move>> {
    let pairs = from.warps.iter().zip(&to.warps);
    pairs
        .map(|(source, target)| places.solve(source ^ target))
        .collect()
}

/// `T` the identity.
fn same_lane(from: &Distribution, to: &Distribution) -> Option<Moves> {
    let places = Places::of(from, to);
    let lanes = from.lanes.iter().zip(&to.lanes).enumerate();
    let lanes = lanes
        .map(|(bit, (source, target))| {
            let own = places.solve(source ^ target)?;
            (own.lane == 0).then_some(Move {
                lane: 1 << bit,
                ..own
            })
        })
        .collect::<Option<_>>()?;
    Some(Moves {
        lanes,
        warps: warp_moves(from, to, &places)?,
    })
}

/// Any `T` that lets every round be published.
///
/// First each lane bit gets the source lane that it must have, up to those lane steps (`spare`)
/// that source and target registers can undo. Lanes that then all read from lane 0 want either
/// the same elements, or different ones: those are led apart with spare steps.
fn any_lane(from: &Distribution, to: &Distribution) -> Option<Moves> {
    let places = Places::of(from, to);
    let start = places.to_bits + places.from_bits;
    let mut spare = places
        .span
        .clone()
        .into_dependencies()
        .into_iter()
        .filter(|dependency| dependency >> start != 0)
        .map(|dependency| places.split(dependency));

    let wanted = to
        .lanes
        .iter()
        .map(|&target| places.solve(target))
        .collect::<Option<Vec<_>>>()?;
    let apart = Span::of(&wanted.iter().map(|m| m.lane).collect::<Vec<_>>());
    let mut basis: Vec<(u64, Move)> = (0..5)
        .filter(|bit| apart.independent() >> bit & 1 == 1)
        .map(|bit| (1 << bit, wanted[bit]))
        .collect();

    let together = apart.into_dependencies();
    // What those lanes want, beyond what the registers of lane 0 are for.
    let mut seen = Span::of(&to.registers);
    let first = to.registers.len();
    for (number, &lanes) in together.iter().enumerate() {
        let Some(relation) = seen.insert(combine(&to.lanes, lanes)) else {
            let own = Move::sum(&wanted, lanes);
            basis.push((lanes, Move::sum(&[own, spare.next()?], 0b11)));
            continue;
        };
        // This sum of `together` wants what lane 0 wants in other registers, and nothing else.
        let sum = (0..=number)
            .filter(|other| relation >> (first + other) & 1 == 1)
            .fold(0, |sum, other| sum ^ together[other]);
        basis.push((sum, Move::sum(&wanted, sum)));
    }

    let (lanes, moves): (Vec<u64>, Vec<Move>) = basis.into_iter().unzip();
    let adapted = Span::of(&lanes);
    let lanes = (0..5)
        .map(|bit| Some(Move::sum(&moves, adapted.solve(1 << bit)?)))
        .collect::<Option<_>>()?;
    Some(Moves {
        lanes,
        warps: warp_moves(from, to, &places)?,
    })
}
