//! Bank conflicts in shared memory.
//!
//! 32 banks of 4 bytes serve one word each per wavefront; lanes that want the same word share it.
//! A warp's access of 4 bytes or less per lane is one request, of 8 bytes two (half warps), of 16
//! bytes four (quarter warps). One 8×8 matrix of `ldmatrix` is a quarter-warp request. Source: CUDA
//! C++ Programming Guide, "Shared Memory"; the halves and quarters are how profilers count.

use super::{BYTE, LANE, Layout, LayoutError};

/// How many wavefronts an access of one warp takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wavefronts {
    /// Of all requests together.
    pub total: u32,
    /// Of the worst request: 1 without bank conflicts, n for an n-way conflict.
    pub worst: u32,
    /// How many requests there are; `total` without bank conflicts.
    pub requests: u32,
}

impl Wavefronts {
    /// Whether every request takes one wavefront.
    #[must_use]
    pub fn is_conflict_free(&self) -> bool {
        self.worst <= 1
    }
}

/// The wavefronts of one access in which lane `i` touches `bytes_per_lane` bytes from
/// `addresses[i]` on. The addresses are any multiples of the width, so padded rows can be asked
/// about too.
///
/// # Errors
/// The width is not 1, 2, 4, 8 or 16, or there are more than 32 lanes.
pub fn wavefronts_of(addresses: &[u32], bytes_per_lane: u32) -> Result<Wavefronts, LayoutError> {
    if !matches!(bytes_per_lane, 1 | 2 | 4 | 8 | 16) {
        return Err(LayoutError::Unsupported {
            what: "the bytes per lane",
            expected: "1, 2, 4, 8 or 16",
            got: bytes_per_lane,
        });
    }
    if addresses.len() > 32 {
        return Err(LayoutError::OutOfRange {
            name: LANE,
            got: addresses.len() as u32 - 1,
            size: 32,
        });
    }
    let lanes = 32 / (bytes_per_lane / 4).max(1);
    let words_per_lane = bytes_per_lane.div_ceil(4);
    let mut result = Wavefronts::default();
    for request in addresses.chunks(lanes as usize) {
        let mut words: Vec<u32> = request
            .iter()
            .flat_map(|address| (0..words_per_lane).map(move |word| address / 4 + word))
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut per_bank = [0; 32];
        for word in words {
            per_bank[word as usize % 32] += 1;
        }
        let needed = per_bank.into_iter().max().unwrap_or(0);
        result.total += needed;
        result.worst = result.worst.max(needed);
        result.requests += 1;
    }
    Ok(result)
}

/// The wavefronts of an access from the byte that each lane begins at: `lane` → `byte`. Other
/// inputs may stand beside the lane; an XOR with what they add moves all banks alike, so they
/// make no difference.
///
/// # Errors
/// As [`wavefronts_of`], or there is no output `byte`.
pub fn wavefronts(access: &Layout, bytes_per_lane: u32) -> Result<Wavefronts, LayoutError> {
    if access.outputs.range(BYTE).is_none() {
        return Err(access.outputs.unknown(BYTE));
    }
    let lanes = access.part(&[LANE], &[BYTE])?;
    let addresses = (0..lanes.input_size(LANE))
        .map(|lane| lanes.coordinate(BYTE, &[(LANE, lane)]))
        .collect::<Result<Vec<_>, _>>()?;
    wavefronts_of(&addresses, bytes_per_lane)
}

/// The wavefronts of the worst request of an access: 1 without conflicts, n for an n-way conflict.
///
/// # Errors
/// As [`wavefronts`].
pub fn bank_conflicts(access: &Layout, bytes_per_lane: u32) -> Result<u32, LayoutError> {
    Ok(wavefronts(access, bytes_per_lane)?.worst)
}
