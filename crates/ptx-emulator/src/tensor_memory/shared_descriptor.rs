//! The 64-bit descriptor of an operand in shared memory (PTX ISA 9.7.16.4.1).

use crate::formats::{
    operand::{Major, OperandLayout},
    swizzle::Swizzle,
};

/// A descriptor that no hardware would read as meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SharedDescriptorError {
    /// Bits 48–46.
    #[error(
        "shared-memory descriptor {descriptor:#018x}: bits 48 to 46 must be 1, they are {version}"
    )]
    Version {
        /// The descriptor.
        descriptor: u64,
        /// What stands there.
        version: u32,
    },
    /// Bits that must be 0.
    #[error(
        "shared-memory descriptor {descriptor:#018x}: reserved bits {reserved:#018x} must be 0"
    )]
    Reserved {
        /// The descriptor.
        descriptor: u64,
        /// Those that are set.
        reserved: u64,
    },
    /// Bits 63–61.
    #[error("shared-memory descriptor {descriptor:#018x}: there is no swizzle mode {code}")]
    Swizzle {
        /// The descriptor.
        descriptor: u64,
        /// What stands there.
        code: u32,
    },
    /// Bit 52.
    #[error(
        "shared-memory descriptor {descriptor:#018x}: an absolute leading address exists on sm_103a only"
    )]
    AbsoluteLeading {
        /// The descriptor.
        descriptor: u64,
    },
}

/// A decoded descriptor. All numbers are bytes except the base offset, which counts rows of the
/// swizzle pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedDescriptor {
    /// Start address in the CTA's shared memory, a multiple of 16 below 2^18.
    pub start: u32,
    /// Leading dimension byte offset (LBO).
    pub leading: u32,
    /// Stride dimension byte offset (SBO).
    pub stride: u32,
    /// Base offset, 0 to 7.
    pub base_offset: u32,
    /// Swizzle mode.
    pub swizzle: Swizzle,
}

/// Bits 15, 14, 31, 30 and 60–53.
const RESERVED: u64 = (0xff << 53) | (3 << 30) | (3 << 14);

impl SharedDescriptor {
    /// Takes a descriptor apart.
    pub fn decode(descriptor: u64) -> Result<Self, SharedDescriptorError> {
        let field = |low: u32, bits: u32| (descriptor >> low) as u32 & ((1 << bits) - 1);
        let swizzle = match field(61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::Span128Atom32,
            2 => Swizzle::Span128,
            4 => Swizzle::Span64,
            6 => Swizzle::Span32,
            code => return Err(SharedDescriptorError::Swizzle { descriptor, code }),
        };
        let version = field(46, 3);
        if version != 1 {
            return Err(SharedDescriptorError::Version {
                descriptor,
                version,
            });
        }
        if field(52, 1) != 0 {
            return Err(SharedDescriptorError::AbsoluteLeading { descriptor });
        }
        let reserved = descriptor & RESERVED;
        if reserved != 0 {
            return Err(SharedDescriptorError::Reserved {
                descriptor,
                reserved,
            });
        }
        Ok(Self {
            start: field(0, 14) << 4,
            leading: field(16, 14) << 4,
            stride: field(32, 14) << 4,
            base_offset: field(49, 3),
            swizzle,
        })
    }

    /// Where the elements lie. `chunk_elements` is how many of them 16 bytes hold.
    pub fn layout(&self, major: Major, chunk_elements: u32) -> OperandLayout {
        OperandLayout {
            start: self.start,
            leading: self.leading,
            stride: self.stride,
            base_offset: self.base_offset,
            swizzle: self.swizzle,
            major,
            chunk_elements,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn corpus_constants() {
        // CuTe and CUDA; Triton's upper word is the same, its leading offset 0.
        let cute = SharedDescriptor::decode(0x4000_4040_0001_0000 | 0x2346).unwrap();
        assert_eq!(
            cute,
            SharedDescriptor {
                start: 0x23460,
                leading: 16,
                stride: 1024,
                base_offset: 0,
                swizzle: Swizzle::Span128
            }
        );
        let triton = SharedDescriptor::decode(0x4000_4040_0000_0040).unwrap();
        assert_eq!((triton.leading, triton.start), (0, 1024));
        // One K step of 32 bytes is the descriptor plus 2.
        assert_eq!(
            SharedDescriptor::decode(0x4000_4040_0000_0042)
                .unwrap()
                .start,
            1024 + 32
        );
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        let good = 0x4000_4040_0001_0000_u64;
        let decode = SharedDescriptor::decode;
        for code in [3u64, 5, 7] {
            assert!(matches!(
                decode((good & !(7 << 61)) | (code << 61)),
                Err(SharedDescriptorError::Swizzle { .. })
            ));
        }
        // A wgmma descriptor has no version.
        assert!(matches!(
            decode(0x4000_0040_0001_0000),
            Err(SharedDescriptorError::Version { version: 0, .. })
        ));
        assert!(matches!(
            decode(good | (1 << 52)),
            Err(SharedDescriptorError::AbsoluteLeading { .. })
        ));
        assert!(matches!(
            decode(good | (1 << 14)),
            Err(SharedDescriptorError::Reserved {
                reserved: 0x4000,
                ..
            })
        ));
    }

    #[test]
    fn elements_lie_where_the_fields_say() {
        let descriptor = SharedDescriptor::decode(0x4000_4040_0001_0000).unwrap();
        let layout = descriptor.layout(Major::K, 8);
        // The third 128-byte row of the ISA's 128B figure begins with chunk 2.
        assert_eq!(layout.element_address(2, 0), 256 + 32);
        assert_eq!(layout.element_address(8, 3), 1024 + 6);
    }

    proptest! {
        #[test]
        fn any_word_decodes_or_is_refused(bits: u64) {
            if let Ok(descriptor) = SharedDescriptor::decode(bits) {
                prop_assert!(descriptor.start < 1 << 18);
                prop_assert!(descriptor.stride < 1 << 18);
            }
        }
    }
}
