//! Changing a distribution through shared memory.

use super::{
    BYTE, ELEMENT, Layout, LayoutError, Name,
    banks::wavefronts,
    shared::Swizzle,
    shuffles::Distribution,
    span::Span,
    vectors::{Vectors, vectors},
};

/// What the barrier between stores and loads counts as, in wavefronts: an estimate of the latency
/// that a warp waits for its own stores, not a measurement.
const BARRIER_COST: u32 = 16;

/// Who has to meet between the stores and the loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronisation {
    /// Every warp reads only what it wrote: `bar.warp.sync`.
    Warp,
    /// All warps of the tile: a named barrier.
    Warps,
}

/// One side of the exchange: what every thread stores or loads.
///
/// Vector `s` begins at the byte of register `vectors.starts[s]` in `access` and has the elements
/// of registers `vectors.starts[s] ^ vectors.elements[i]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Where each register is: (register, lane, warp) → byte.
    pub access: Layout,
    /// The vectors that one instruction each moves.
    pub vectors: Vectors,
    /// The wavefronts that all instructions of a warp take.
    pub wavefronts: u32,
    /// Those of the worst request: 1 without bank conflicts.
    pub conflicts: u32,
}

/// A conversion through shared memory: store, synchronise, load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPlan {
    /// The size of the buffer in bytes.
    pub bytes: u32,
    /// The alignment of the buffer in bytes.
    pub alignment: u32,
    /// The swizzle of the buffer.
    pub swizzle: Swizzle,
    /// Where each element of the tile is: the outputs of the distributions → byte.
    pub buffer: Layout,
    /// What every thread stores.
    pub store: Access,
    /// Who meets in between.
    pub synchronisation: Synchronisation,
    /// What every thread loads.
    pub load: Access,
}

impl SharedPlan {
    /// The wavefronts of stores and loads of one warp, and 16 for the barrier between them.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.wavefronts() + BARRIER_COST
    }

    fn wavefronts(&self) -> u32 {
        self.store.wavefronts + self.load.wavefronts
    }

    /// No conflicts, and vectors as wide as without swizzle: other swizzles of the same order are
    /// then not looked at.
    fn is_good(&self, plain: &Self) -> bool {
        let good = |own: &Access, plain: &Access| {
            own.conflicts <= 1 && own.vectors.bytes >= plain.vectors.bytes
        };
        good(&self.store, &plain.store) && good(&self.load, &plain.load)
    }
}

/// The plan with the fewest wavefronts, over the tile stored in the order of its axes or in the
/// reverse, under the swizzles that keep 4 or more bytes together, from the simplest on.
pub(super) fn plan(
    from: &Layout,
    to: &Layout,
    element_bytes: u32,
) -> Result<SharedPlan, LayoutError> {
    let axes: Vec<Name> = from.outputs().iter().map(|axis| axis.name).collect();
    let reversed: Vec<Name> = axes.iter().rev().copied().collect();
    let least = least_wavefronts(from, element_bytes) + least_wavefronts(to, element_bytes);
    let mut best: Option<SharedPlan> = None;
    for order in [axes, reversed] {
        let linear = linear(from, &order, element_bytes)?;
        let plain = assess(from, to, &linear, Swizzle::NONE, element_bytes)?;
        for swizzle in swizzles(linear.output_size(BYTE).ilog2()) {
            let plan = assess(from, to, &linear, swizzle, element_bytes)?;
            if plan.wavefronts() == least {
                return Ok(plan);
            }
            let good = plan.is_good(&plain);
            let better = |best: &SharedPlan| plan.wavefronts() < best.wavefronts();
            if best.as_ref().is_none_or(better) {
                best = Some(plan);
            }
            if good {
                break;
            }
        }
    }
    best.ok_or(LayoutError::NotContained)
}

/// What a warp holds, in units of the 128 bytes that one wavefront moves at most.
fn least_wavefronts(layout: &Layout, element_bytes: u32) -> u32 {
    let warp = Distribution::of(layout, layout);
    let elements = 1_u64 << Span::of(warp.registers.iter().chain(&warp.lanes)).rank();
    (elements * u64::from(element_bytes)).div_ceil(128) as u32
}

/// The tile of the outputs of `from`, the last axis of `order` fastest.
fn linear(from: &Layout, order: &[Name], element_bytes: u32) -> Result<Layout, LayoutError> {
    let mut tile = Layout::zeros(ELEMENT, 1, BYTE, element_bytes)?;
    for &axis in order.iter().rev() {
        tile = tile.repeat(axis, BYTE, from.output_size(axis))?;
    }
    tile.part(order, &[BYTE])
}

/// No swizzle first, then by number of bits.
fn swizzles(byte_bits: u32) -> Vec<Swizzle> {
    let mut all = vec![Swizzle::NONE];
    for bits in 1..=5 {
        // Banks are told apart by address bits 2 to 6.
        for base in (2..=7 - bits).rev() {
            let last = byte_bits.saturating_sub(base + bits);
            all.extend((bits..=last).map(|shift| Swizzle::new(bits, base, shift)));
        }
    }
    all
}

fn assess(
    from: &Layout,
    to: &Layout,
    linear: &Layout,
    swizzle: Swizzle,
    element_bytes: u32,
) -> Result<SharedPlan, LayoutError> {
    let bytes = linear.output_size(BYTE);
    let buffer = linear.then(&swizzle.layout(bytes)?)?;
    let side = |layout: &Layout| {
        let access = layout.then(&buffer)?;
        let vectors = vectors(&access, element_bytes, 16)?;
        let one = wavefronts(&access, vectors.bytes)?;
        Ok::<_, LayoutError>(Access {
            wavefronts: one.total * vectors.starts.len() as u32,
            conflicts: one.worst,
            access,
            vectors,
        })
    };
    Ok(SharedPlan {
        bytes,
        alignment: swizzle.repeats_every().max(16),
        swizzle,
        store: side(from)?,
        load: side(to)?,
        synchronisation: synchronisation(from, to),
        buffer,
    })
}

/// Whether every warp finds all it wants among what it wrote.
fn synchronisation(from: &Layout, to: &Layout) -> Synchronisation {
    let (source, target) = (Distribution::of(from, from), Distribution::of(to, from));
    let written = Span::of(source.registers.iter().chain(&source.lanes));
    let own = target.registers.iter().chain(&target.lanes).copied();
    let between = source.warps.iter().zip(&target.warps).map(|(s, t)| s ^ t);
    if own.chain(between).all(|place| written.contains(place)) {
        Synchronisation::Warp
    } else {
        Synchronisation::Warps
    }
}
