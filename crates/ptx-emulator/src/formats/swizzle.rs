//! How 16-byte units of shared memory are permuted by the copy engine and by the tensor cores.
//!
//! A swizzle is an XOR of some bits of the *absolute* shared-memory address into lower ones (measured on an H200 for 32, 64
//! and 128 bytes; PTX ISA 9.1, "Swizzling modes", for the larger atoms). All are involutions.

/// A permutation of shared-memory addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Addresses stay as they are.
    None,
    /// Within 32-byte spans; repeats every 256 bytes.
    Span32,
    /// Within 64-byte spans; repeats every 512 bytes.
    Span64,
    /// Within 128-byte spans; repeats every 1024 bytes.
    Span128,
    /// Within 128-byte spans, moving units of 32 bytes; repeats every 512 bytes. sm_100 only.
    Span128Atom32,
    /// As [`Swizzle::Span128Atom32`], with the 8-byte halves of 16 bytes exchanged in every other 128-byte line. sm_100 only;
    /// which lines is only known from the text.
    Span128Atom32Flip8,
    /// Within 128-byte spans, moving units of 64 bytes; repeats every 256 bytes. sm_100 only.
    Span128Atom64,
}

impl Swizzle {
    /// The bytes that a row of a tile occupies, or `None` where rows follow each other without a pitch of their own.
    #[must_use]
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Span32 => Some(32),
            Self::Span64 => Some(64),
            Self::Span128
            | Self::Span128Atom32
            | Self::Span128Atom32Flip8
            | Self::Span128Atom64 => Some(128),
        }
    }

    /// Where the byte of linear address `address` lies.
    #[must_use]
    #[inline]
    pub const fn apply(self, address: u32) -> u32 {
        self.apply_with_base(address, 0)
    }

    /// [`Swizzle::apply`] with the pattern moved up by `base` 128-byte lines: the base-offset field of matrix descriptors.
    /// The field is subtracted from the line number (measured on an H200 for 128-byte spans).
    #[must_use]
    #[inline]
    pub const fn apply_with_base(self, address: u32, base: u32) -> u32 {
        let line = (address >> 7).wrapping_sub(base);
        address
            ^ match self {
                Self::None => 0,
                Self::Span32 => (line & 1) << 4,
                Self::Span64 => (line & 3) << 4,
                Self::Span128 => (line & 7) << 4,
                Self::Span128Atom32 => (line & 3) << 5,
                Self::Span128Atom32Flip8 => (line & 3) << 5 | (line & 1) << 3,
                Self::Span128Atom64 => (line & 1) << 6,
            }
    }

    /// After how many bytes the pattern repeats; 1 without a swizzle.
    #[must_use]
    pub const fn period(self) -> u32 {
        match self {
            Self::None => 1,
            Self::Span32 | Self::Span128Atom64 => 256,
            Self::Span64 | Self::Span128Atom32 | Self::Span128Atom32Flip8 => 512,
            Self::Span128 => 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Swizzle; 7] = [
        Swizzle::None,
        Swizzle::Span32,
        Swizzle::Span64,
        Swizzle::Span128,
        Swizzle::Span128Atom32,
        Swizzle::Span128Atom32Flip8,
        Swizzle::Span128Atom64,
    ];

    #[test]
    fn every_swizzle_is_its_own_inverse_and_repeats() {
        for swizzle in ALL {
            for address in 0..4096 {
                let moved = swizzle.apply(address);
                assert_eq!(swizzle.apply(moved), address, "{swizzle:?}");
                assert_eq!(moved >> 7, address >> 7, "stays in its line: {swizzle:?}");
                let later = address + swizzle.period();
                assert_eq!(
                    swizzle.apply(later),
                    moved + swizzle.period(),
                    "{swizzle:?}"
                );
            }
        }
    }

    /// The pattern tables of the PTX ISA: which 16-byte unit of a 128-byte line lies where.
    #[test]
    fn patterns_are_those_of_the_manual() {
        let by_16 = [
            "01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301",
            "76543210",
        ];
        let by_32 = ["01234567", "23016745", "45670123", "67452301"];
        let tables: [(Swizzle, &[&str]); 4] = [
            (Swizzle::Span128, &by_16),
            (Swizzle::Span64, &by_16[..4]),
            (Swizzle::Span32, &by_16[..2]),
            (Swizzle::Span128Atom32, &by_32),
        ];
        for (swizzle, table) in tables {
            for (line, row) in (0u32..).zip(table) {
                for (position, unit) in (0u32..).zip(row.bytes()) {
                    let unit = u32::from(unit - b'0');
                    assert_eq!(
                        swizzle.apply(line * 128 + unit * 16),
                        line * 128 + position * 16
                    );
                }
            }
        }
    }

    #[test]
    fn a_base_offset_moves_the_pattern_to_the_start_of_the_operand() {
        for start in (0..8).map(|line| line * 128) {
            for offset in (0..1024).step_by(16) {
                let moved = Swizzle::Span128.apply_with_base(start + offset, start >> 7);
                assert_eq!(moved, start + Swizzle::Span128.apply(offset));
            }
        }
    }
}
