//! Where the elements of a matrix operand lie in shared memory, for wgmma and tcgen05.
//!
//! Both descriptors say the same in different codes, so this works on the decoded fields. All formulas move whole *chunks*
//! of 16 bytes, so addresses are computed once per chunk. Source: PTX ISA 9.1, "Shared memory matrix layout", canonical
//! layouts; all modes but the 32-byte atoms measured on an H200.

use std::ops::Range;

use super::swizzle::Swizzle;

/// Which dimension of an operand is contiguous in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// The contracted dimension.
    K,
    /// The rows of A or the columns of B.
    Mn,
}

/// The layout of one operand of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandLayout {
    /// Shared-memory byte address of the first element before the swizzle, a multiple of 16.
    pub start: u32,
    /// Leading-dimension byte offset.
    pub leading: u32,
    /// Stride-dimension byte offset.
    pub stride: u32,
    /// Base-offset field, in 128-byte lines, 0 to 7.
    pub base_offset: u32,
    /// The permutation of the operand's bytes.
    pub swizzle: Swizzle,
    /// The contiguous dimension.
    pub major: Major,
    /// Elements in 16 bytes: 4 (32-bit), 8 (16-bit), 16 (8-bit and padded narrower types) or 32 (packed 4-bit).
    pub chunk_elements: u32,
}

/// 16 contiguous bytes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Shared-memory byte address, a multiple of 16.
    pub address: u32,
    /// Row of A or column of B of the chunk's first element. In an MN-major operand the others follow in this direction.
    pub mn: u32,
    /// Position in K of the chunk's first element. In a K-major operand the others follow in this direction.
    pub k: u32,
}

impl OperandLayout {
    /// The address of the chunk that holds element (`mn`, `k`). Wraps around at 32 bits.
    #[must_use]
    pub fn chunk_address(&self, mn: u32, k: u32) -> u32 {
        let chunk = self.chunk_elements.max(1);
        let offset = match (self.major, self.swizzle.span()) {
            (Major::K, None) => [
                (mn % 8, 16),
                (mn / 8, self.stride),
                (k / chunk, self.leading),
            ],
            // The leading offset plays no part: K advances by adding bytes, and the XOR comes after the addition.
            (Major::K, Some(span)) => [(mn % 8, span), (mn / 8, self.stride), (k / chunk, 16)],
            (Major::Mn, None) => [
                (mn / chunk, self.stride),
                (k % 8, 16),
                (k / 8, self.leading),
            ],
            (Major::Mn, Some(span)) => {
                let chunks = span / 16;
                let wide = mn / chunk;
                let block = wide / chunks;
                // 32-byte atoms put four positions of K into a block, the others eight (CUTLASS canonical layouts).
                let depth = if self.swizzle == Swizzle::Span128Atom32 {
                    4
                } else {
                    8
                };
                let linear = self
                    .start
                    .wrapping_add(wide % chunks * 16)
                    .wrapping_add(block.wrapping_mul(self.leading));
                return self.permute(
                    linear
                        .wrapping_add(k % depth * span)
                        .wrapping_add((k / depth).wrapping_mul(self.stride)),
                );
            }
        };
        let linear = offset.iter().fold(self.start, |sum, &(count, pitch)| {
            sum.wrapping_add(count.wrapping_mul(pitch))
        });
        self.permute(linear)
    }

    fn permute(&self, linear: u32) -> u32 {
        self.swizzle.apply_with_base(linear, self.base_offset)
    }

    /// The byte address of element (`mn`, `k`), for elements of at least 8 bits.
    #[must_use]
    pub fn element_address(&self, mn: u32, k: u32) -> u32 {
        let along = match self.major {
            Major::K => k,
            Major::Mn => mn,
        };
        let chunk = self.chunk_elements.max(1);
        self.chunk_address(mn, k)
            .wrapping_add(along % chunk * (16 / chunk))
    }

    /// Every chunk of the operand's first `rows` × `depth` elements, row by row for K-major, K by K for MN-major operands. The
    /// extent in the contiguous direction is a multiple of the chunk in every instruction; a rest is left out.
    pub fn chunks(&self, rows: u32, depth: u32) -> impl Iterator<Item = Chunk> + '_ {
        self.chunks_of(0..rows, depth)
    }

    /// The same of some of the rows, whose numbers begin at a multiple of a chunk in an MN-major operand.
    pub fn chunks_of(&self, rows: Range<u32>, depth: u32) -> impl Iterator<Item = Chunk> + '_ {
        let chunk = self.chunk_elements.max(1);
        let (first, count) = (rows.start, rows.end.saturating_sub(rows.start));
        let (outer, inner) = match self.major {
            Major::K => (count, depth / chunk),
            Major::Mn => (depth, count / chunk),
        };
        (0..outer).flat_map(move |outer| {
            (0..inner).map(move |inner| {
                let (mn, k) = match self.major {
                    Major::K => (first + outer, inner * chunk),
                    Major::Mn => (first + inner * chunk, outer),
                };
                Chunk {
                    address: self.chunk_address(mn, k),
                    mn,
                    k,
                }
            })
        })
    }
}

#[cfg(test)]
mod tests;
