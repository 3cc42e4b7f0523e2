//! The address formulas against the worked examples of the PTX ISA and what was measured.

use super::*;
use std::collections::BTreeSet;

fn layout(
    swizzle: Swizzle,
    major: Major,
    element_bytes: u32,
    leading: u32,
    stride: u32,
) -> OperandLayout {
    OperandLayout {
        start: 0,
        leading,
        stride,
        base_offset: 0,
        swizzle,
        major,
        chunk_elements: 16 / element_bytes,
    }
}

/// A dimension of a layout in the notation of the manual: sizes and strides, innermost first.
type Dimension = ([u32; 3], [u32; 3]);

fn offset(mut index: u32, (sizes, strides): Dimension) -> u32 {
    let mut sum = 0;
    for (size, stride) in sizes.into_iter().zip(strides) {
        sum += index % size * stride;
        index /= size;
    }
    sum
}

/// The five examples of "Strides" in the manual: (shape):(stride) in elements before the swizzle.
#[test]
fn worked_examples_of_the_manual() {
    let examples: [(OperandLayout, Dimension, Dimension); 5] = [
        (
            layout(Swizzle::None, Major::K, 4, 64 * 4, 32 * 4),
            ([8, 2, 1], [4, 32, 0]),
            ([4, 4, 1], [1, 64, 0]),
        ),
        (
            layout(Swizzle::Span32, Major::K, 4, 0, 64 * 4),
            ([8, 2, 1], [8, 64, 0]),
            ([4, 4, 1], [1, 4, 0]),
        ),
        (
            layout(Swizzle::None, Major::Mn, 2, 128 * 2, 64 * 2),
            ([8, 1, 2], [1, 8, 64]),
            ([8, 2, 1], [8, 128, 0]),
        ),
        (
            layout(Swizzle::Span32, Major::Mn, 2, 128 * 2, 256 * 2),
            ([8, 2, 2], [1, 8, 128]),
            ([8, 2, 1], [16, 256, 0]),
        ),
        (
            layout(Swizzle::Span64, Major::Mn, 2, 256 * 2, 512 * 2),
            ([8, 4, 2], [1, 8, 256]),
            ([8, 2, 1], [32, 512, 0]),
        ),
    ];
    for (layout, rows, columns) in examples {
        let element = 16 / layout.chunk_elements;
        for mn in 0..rows.0.iter().product() {
            for k in 0..columns.0.iter().product() {
                let linear = (offset(mn, rows) + offset(k, columns)) * element;
                let expected = layout.swizzle.apply(linear);
                assert_eq!(
                    layout.element_address(mn, k),
                    expected,
                    "{layout:?} ({mn}, {k})"
                );
            }
        }
    }
}

/// MN-major 32-bit operands exist with 32-byte atoms only: 32 elements wide, four positions of K in a block.
#[test]
fn thirty_two_byte_atoms() {
    let layout = layout(Swizzle::Span128Atom32, Major::Mn, 4, 4096, 512);
    for mn in 0..64 {
        for k in 0..8 {
            let linear = mn % 32 * 4 + mn / 32 * 4096 + k % 4 * 128 + k / 4 * 512;
            let expected = linear ^ (((linear >> 7) & 3) << 5);
            assert_eq!(layout.element_address(mn, k), expected);
        }
    }
}

/// Measured: with base offset 1 and a start one line up, element (0, 0) is read from the start itself.
#[test]
fn base_offset_is_subtracted() {
    for line in [1, 2, 4, 5] {
        let moved = OperandLayout {
            start: line * 128,
            base_offset: line,
            ..layout(Swizzle::Span128, Major::K, 2, 16, 1024)
        };
        assert_eq!(moved.element_address(0, 0), line * 128);
        let absolute = OperandLayout {
            base_offset: 0,
            ..moved
        };
        assert_eq!(absolute.element_address(0, 0), line * 128 + line * 16);
    }
}

/// The step along K is an addition before the XOR: start + 32 reads what lies 32 bytes further along K.
#[test]
fn stepping_along_k_is_adding_to_the_start() {
    for step in 1..4 {
        let first = layout(Swizzle::Span128, Major::K, 2, 16, 1024);
        let later = OperandLayout {
            start: step * 32,
            ..first
        };
        for mn in 0..64 {
            for k in 0..16 {
                let expected = first.element_address(mn, k + step * 16);
                assert_eq!(later.element_address(mn, k), expected);
            }
        }
    }
}

#[test]
fn chunks_cover_the_operand_once() {
    for (swizzle, major) in [
        (Swizzle::Span128, Major::K),
        (Swizzle::Span128, Major::Mn),
        (Swizzle::None, Major::K),
        (Swizzle::None, Major::Mn),
    ] {
        let (leading, stride) = match (swizzle, major) {
            (Swizzle::None, Major::K) => (128, 256),
            (Swizzle::None, Major::Mn) => (1024, 128),
            (_, Major::K) => (16, 1024),
            (_, Major::Mn) => (2048, 1024),
        };
        let layout = layout(swizzle, major, 2, leading, stride);
        let chunks: Vec<Chunk> = layout.chunks(64, 16).collect();
        assert_eq!(chunks.len(), 128);
        let places: BTreeSet<u32> = chunks.iter().map(|chunk| chunk.address).collect();
        assert_eq!(places.len(), 128, "{layout:?}");
        for chunk in &chunks {
            assert_eq!(chunk.address, layout.element_address(chunk.mn, chunk.k));
        }
        let mut upper: Vec<Chunk> = layout.chunks_of(16..32, 16).collect();
        let mut expected = chunks;
        expected.retain(|chunk| (16..32).contains(&chunk.mn));
        upper.sort_by_key(|chunk| (chunk.mn, chunk.k));
        expected.sort_by_key(|chunk| (chunk.mn, chunk.k));
        assert_eq!(upper, expected);
    }
}

/// Fields of hostile descriptors wrap instead of overflowing.
#[test]
fn extreme_fields_do_not_overflow() {
    for swizzle in [Swizzle::None, Swizzle::Span128, Swizzle::Span128Atom32] {
        for major in [Major::K, Major::Mn] {
            let wild = OperandLayout {
                start: u32::MAX - 15,
                base_offset: u32::MAX,
                chunk_elements: 0,
                ..layout(swizzle, major, 2, u32::MAX, u32::MAX)
            };
            let _ = wild.element_address(u32::MAX, u32::MAX);
        }
    }
}
