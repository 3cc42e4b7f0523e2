//! The 64-bit shared-memory matrix descriptor of `wgmma.mma_async` (PTX ISA 9.1, "Matrix descriptor format"; fields
//! measured on an H200).

use super::operand::{Major, OperandLayout};
use super::swizzle::Swizzle;
use thiserror::Error;

/// What is wrong with a descriptor.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DescriptorError {
    /// Bits that the format leaves at zero are set.
    #[error("matrix descriptor {descriptor:#018x} sets reserved bits {reserved:#x}")]
    Reserved {
        /// The whole descriptor.
        descriptor: u64,
        /// The reserved bits that are set.
        reserved: u64,
    },
}

const RESERVED: u64 = !(0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62);

/// Reads a descriptor. The start address has 18 bits, relative to the shared window of the executing CTA; the three offsets
/// are multiples of 16.
///
/// # Errors
/// Where a reserved bit is set.
pub fn decode(
    descriptor: u64,
    major: Major,
    chunk_elements: u32,
) -> Result<OperandLayout, DescriptorError> {
    if descriptor & RESERVED != 0 {
        return Err(DescriptorError::Reserved {
            descriptor,
            reserved: descriptor & RESERVED,
        });
    }
    let field = |low: u32| ((descriptor >> low & 0x3fff) as u32) << 4;
    let swizzle = match descriptor >> 62 {
        0 => Swizzle::None,
        1 => Swizzle::Span128,
        2 => Swizzle::Span64,
        _ => Swizzle::Span32,
    };
    let base_offset = if swizzle == Swizzle::None {
        0
    } else {
        (descriptor >> 49 & 7) as u32
    };
    Ok(OperandLayout {
        start: field(0),
        leading: field(16),
        stride: field(32),
        base_offset,
        swizzle,
        major,
        chunk_elements,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_other_compilers_emit() {
        // CUTLASS and Triton: 128-byte swizzle, stride offset 1024, leading offset 16 or 0.
        for (descriptor, leading) in [(0x4000_0040_0001_0000, 16), (0x4000_0040_0000_0000, 0)] {
            let layout = decode(descriptor | 0x1234, Major::K, 8);
            let expected = OperandLayout {
                start: 0x12340,
                leading,
                stride: 1024,
                base_offset: 0,
                swizzle: Swizzle::Span128,
                major: Major::K,
                chunk_elements: 8,
            };
            assert_eq!(layout, Ok(expected));
        }
    }

    #[test]
    fn codes_of_the_swizzle_and_the_base_offset() {
        for (code, swizzle, base) in [
            (0, Swizzle::None, 0),
            (1, Swizzle::Span128, 5),
            (2, Swizzle::Span64, 5),
            (3, Swizzle::Span32, 5),
        ] {
            let layout = decode(code << 62 | 5 << 49, Major::Mn, 8).expect("no reserved bit");
            assert_eq!((layout.swizzle, layout.base_offset), (swizzle, base));
        }
    }

    #[test]
    fn reserved_bits_are_refused() {
        for bit in [14, 15, 30, 31, 46, 48, 52, 61] {
            let wrong = decode(1 << bit, Major::K, 8);
            assert!(
                matches!(wrong, Err(DescriptorError::Reserved { .. })),
                "bit {bit}"
            );
        }
        let message = decode(1 << 46, Major::K, 8)
            .expect_err("reserved")
            .to_string();
        assert_eq!(
            message,
            "matrix descriptor 0x0000400000000000 sets reserved bits 0x400000000000"
        );
    }
}
