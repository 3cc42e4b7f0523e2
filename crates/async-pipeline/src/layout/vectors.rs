//! How many elements one instruction of a thread can move.

use super::{
    BYTE, LANE, Layout, LayoutError, REGISTER, WARP, algebra::combine_offsets, space::bits_of,
    span::Span,
};

/// How the registers of a thread form vectors of consecutive, aligned bytes in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    /// Bytes per vector.
    pub bytes: u32,
    /// The register of each element of the vector that register 0 is in, relative to the
    /// register of its first element: element `i` of the vector from `starts[s]` is register
    /// `starts[s] ^ elements[i]`.
    pub elements: Vec<u32>,
    /// The register of the first element of each vector; its byte is where the vector begins.
    pub starts: Vec<u32>,
    /// Registers that hold what another one holds, each with the one that is in a vector.
    pub copies: Vec<(u32, u32)>,
}

impl Vectors {
    /// Whether the elements of every vector are in consecutive registers, in order.
    #[must_use]
    pub fn are_in_order(&self) -> bool {
        self.elements
            .iter()
            .copied()
            .eq(0..self.elements.len() as u32)
    }
}

/// The widest vectors, up to `max_bytes` (at most 16), with which each thread can load or store its
/// registers: (register, lane, warp) → byte, for elements of `element_bytes`.
///
/// A vector of `2^v` bytes exists if the registers reach each of the low `v` bits of the byte on
/// their own and no lane or warp touches them; the registers may stand in any order.
///
/// # Errors
/// The sizes are not powers of two, or `byte` is not the only output.
pub fn vectors(
    access: &Layout,
    element_bytes: u32,
    max_bytes: u32,
) -> Result<Vectors, LayoutError> {
    if access.outputs().len() != 1 || access.outputs()[0].name != BYTE {
        let got: Vec<_> = access.outputs().iter().map(|axis| axis.name).collect();
        return Err(LayoutError::AxesDiffer {
            expected: BYTE.to_owned(),
            got: got.join(", "),
        });
    }
    let element_bits = bits_of(super::ELEMENT, element_bytes)?;
    let max_bits = bits_of(BYTE, max_bytes.min(16))?;
    let registers = access.images_of(REGISTER);
    let threads = [access.images_of(LANE), access.images_of(WARP)].concat();
    let span = Span::of(registers);

    let mut width = element_bits;
    while width < max_bits
        && span.contains(1 << width)
        && threads.iter().all(|image| image >> width & 1 == 0)
    {
        width += 1;
    }
    let inside: Vec<u32> = (element_bits..width)
        .filter_map(|bit| span.solve(1 << bit))
        .map(|register| register as u32)
        .collect();
    let elements = all_sums(&inside);

    // Every other independent register, moved to the start of the vector that it is in.
    let offsets = access.offsets_of(REGISTER);
    let mut seen = Span::default();
    for &register in &inside {
        seen.insert(u64::from(combine_offsets(&offsets, register)));
    }
    let mut steps = Vec::new();
    let mut copies_of = Vec::new();
    for (bit, &offset) in offsets.iter().enumerate() {
        let register = 1_u32 << bit;
        let within = (offset & ((1 << width) - 1)) >> element_bits;
        let start = register ^ combine_offsets(&inside, within);
        if seen
            .insert(u64::from(combine_offsets(&offsets, start)))
            .is_none()
        {
            steps.push(start);
        } else if span.independent() >> bit & 1 == 0 {
            copies_of.push(register);
        }
    }
    Ok(Vectors {
        bytes: 1 << width,
        elements,
        starts: all_sums(&steps),
        copies: copies(&copies_of, access.input_size(REGISTER), registers, &span),
    })
}

/// Each register with a bit of `free` set and the one without that holds the same.
fn copies(free: &[u32], size: u32, registers: &[u64], span: &Span) -> Vec<(u32, u32)> {
    let free = free.iter().fold(0, |mask, bit| mask | bit);
    (0..size)
        .filter(|register| register & free != 0)
        .filter_map(|register| {
            let place = super::span::combine(registers, u64::from(register));
            let holder = span.solve(place)?;
            Some((register, holder as u32))
        })
        .collect()
}

/// All sums of some of `terms`; sum `i` has the terms whose bit is set in `i`.
pub(super) fn all_sums(terms: &[u32]) -> Vec<u32> {
    (0..1_u32 << terms.len())
        .map(|selection| combine_offsets(terms, selection))
        .collect()
}
