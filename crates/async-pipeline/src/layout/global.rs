//! Which thread loads, stores or copies which elements of a row-major tile.
//!
//! Consecutive lanes take consecutive vectors of a row, so that a warp's access covers whole
//! 32-byte sectors. The rule is ours; what it serves is in the CUDA C++ Best Practices Guide,
//! "Coalesced Access to Global Memory".

use super::{
    COLUMN, COPY, ELEMENT, LANE, Layout, LayoutError, REGISTER, ROW, WARP, space::bits_of,
};

/// A tile of `[rows, columns]` over the threads of `warps` warps: (register, lane, warp) →
/// (row, column).
///
/// In row-major order the lowest bits of the element index number the elements of one vector (at
/// most `vector_bytes`, at most a row), then the lanes, then the warps; what is left are further
/// registers. Threads beyond the tile hold copies: see [`Layout::free_bits`].
///
/// # Errors
/// A size is not a power of two, or a vector is not 1 to 16 bytes.
pub fn blocked(
    [rows, columns]: [u32; 2],
    element_bytes: u32,
    warps: u32,
    vector_bytes: u32,
) -> Result<Layout, LayoutError> {
    if !matches!(vector_bytes, 1 | 2 | 4 | 8 | 16) || vector_bytes < element_bytes {
        return Err(LayoutError::Unsupported {
            what: "the bytes of a vector",
            expected: "1, 2, 4, 8 or 16, and at least one element",
            got: vector_bytes,
        });
    }
    bits_of(ELEMENT, element_bytes)?;
    let (row_bits, column_bits) = (bits_of(ROW, rows)?, bits_of(COLUMN, columns)?);
    let mut rest: Vec<[u32; 2]> = (0..column_bits)
        .map(|bit| [0, 1 << bit])
        .chain((0..row_bits).map(|bit| [1 << bit, 0]))
        .collect();
    let mut take = |count: u32| -> Vec<[u32; 2]> {
        let available = rest.len().min(count as usize);
        rest.drain(..available).collect()
    };
    let vector = (vector_bytes / element_bytes).ilog2().min(column_bits);
    let mut registers = take(vector);
    let mut lanes = take(5);
    lanes.resize(5, [0, 0]);
    let warp_bits = bits_of(WARP, warps)?;
    let mut warps = take(warp_bits);
    warps.resize(warp_bits as usize, [0, 0]);
    registers.extend(take(u32::MAX));
    Layout::from_bases(
        &[(REGISTER, registers), (LANE, lanes), (WARP, warps)],
        [(ROW, rows), (COLUMN, columns)],
    )
}

/// The `cp.async` copies of `bytes` (4, 8 or 16) each that bring a tile of `[rows, columns]` to
/// shared memory: (element, copy, lane, warp) → (row, column).
///
/// Element 0 is where a copy begins, in global memory and (composed with a layout of
/// [`shared`](super::shared)) in shared memory. A lane or warp whose number has a [free
/// bit](Layout::free_bits) set has nothing to copy.
///
/// # Errors
/// A size is not a power of two, or rows are shorter than one copy.
pub fn cp_async(
    shape: [u32; 2],
    element_bytes: u32,
    warps: u32,
    bytes: u32,
) -> Result<Layout, LayoutError> {
    if !matches!(bytes, 4 | 8 | 16) || shape[1].saturating_mul(element_bytes) < bytes {
        return Err(LayoutError::Unsupported {
            what: "the bytes of a cp.async",
            expected: "4, 8 or 16, and at most a row",
            got: bytes,
        });
    }
    let threads = blocked(shape, element_bytes, warps, bytes)?;
    let elements = bytes / element_bytes;
    let vector = Layout::identity(REGISTER, COLUMN, elements)?;
    let starts = threads
        .quotient(&vector)
        .ok_or(LayoutError::NotContained)?
        .rename(REGISTER, COPY)?;
    Layout::identity(ELEMENT, COLUMN, elements)?
        .product(&starts)?
        .part(&[ELEMENT, COPY, LANE, WARP], &[ROW, COLUMN])
}
