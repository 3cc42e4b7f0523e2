//! `tcgen05.mma` of one CTA against plain products.

use super::*;
use crate::{
    formats::tile::Element,
    isa::mma::tests::{encode, small},
};

/// An operand of `rows` rows of 32 bytes in 16-byte columns of 8 rows without a swizzle (LBO 4096,
/// SBO 128), K-major.
fn put(image: &mut [u8], offset: usize, element: Element, rows: usize, seed: usize) {
    let bytes = 16 / element.per_chunk() as usize;
    for row in 0..rows {
        for k in 0..32 / bytes {
            let byte = k * bytes;
            let at = offset + row % 8 * 16 + row / 8 * 128 + byte / 16 * 4096 + byte % 16;
            let bits = encode(element, small(element, seed, row, k)).to_le_bytes();
            image[at..at + bytes].copy_from_slice(&bits[..bytes]);
        }
    }
}

fn product(element: Element, row: usize, column: usize) -> i32 {
    let depth = 2 * element.per_chunk() as usize;
    (0..depth)
        .map(|k| small(element, 1, row, k) * small(element, 2, column, k))
        .sum()
}

fn images(element: Element, m: usize, n: usize) -> Vec<u8> {
    let mut image = vec![0; 16384];
    put(&mut image, 0, element, m, 1);
    put(&mut image, 8192, element, n, 2);
    image
}

fn descriptors() -> String {
    descriptor(0, 0, 4096, 128, 0) + &descriptor(1, 8192, 4096, 128, 0)
}

const KINDS: [(&str, Element, u32); 6] = [
    ("f16", Element::F16, 0x10),
    ("f16", Element::Bf16, 0x490),
    ("tf32", Element::Tf32, 0x910),
    ("f8f6f4", Element::E4m3, 0x10),
    ("f8f6f4", Element::E5m2, 0x490),
    ("i8", Element::S8, 0x4a0),
];

fn value(element: Element, word: u32) -> i32 {
    if element.is_integer() {
        word as i32
    } else {
        f32::from_bits(word) as i32
    }
}

#[test]
fn every_kind_multiplies() {
    for (kind, element, types) in KINDS {
        let n = 64;
        let word = types | (n as u32 / 8) << 17 | 8 << 24;
        let mma = format!(
            "tcgen05.mma.cta_group::1.kind::{kind} [%taddr + 16], %y0, %y1, %x2, %p1;\n\
             tcgen05.mma.cta_group::1.kind::{kind}.collector::a::lastuse [%taddr + 16], %y0, %y1, %x2, %p2;"
        );
        let mut kernel = Kernel::new(format!(
            "{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\nsetp.eq.u32 %p2, 0, 0;\n{}\
             tcgen05.ld.sync.aligned.32x32b.x64.b32 {}, [%q + 16];\ntcgen05.wait::ld.sync.aligned;\n",
            descriptors(),
            issue(&mma),
            registers(64),
        ));
        kernel.outputs = n;
        let words = kernel.run_clean(&images(element, 128, n));
        for row in 0..128 {
            for column in 0..n {
                let got = value(element, words[row * n + column]);
                assert_eq!(
                    got,
                    2 * product(element, row, column),
                    "{kind} {element:?} {row} {column}"
                );
            }
        }
    }
}

/// M = 64 uses every other 16 lanes; negated A; disabled lanes keep what they had.
#[test]
fn half_height_negation_and_disabled_lanes() {
    let (n, element) = (32, Element::F16);
    let word = 0x10 | 1 << 13 | (n as u32 / 8) << 17 | 4 << 24;
    let mma =
        "tcgen05.mma.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x2, {%x3, %x4, %x4, %x4}, %p1;";
    let mut kernel = Kernel::new(format!(
        "{}mov.b32 %x2, {word};\nmov.b32 %x3, 2;\nmov.b32 %x4, 0;\nsetp.ne.u32 %p1, 0, 0;\n{zero}\
         tcgen05.st.sync.aligned.32x32b.x32.b32 [%q], {list};\ntcgen05.wait::st.sync.aligned;\n\
         tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n{}\
         tcgen05.ld.sync.aligned.32x32b.x32.b32 {list}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
        descriptors(),
        issue(mma),
        zero = (0..n)
            .map(|r| format!("mov.b32 %v{r}, 7;\n"))
            .collect::<String>(),
        list = registers(n),
    ));
    kernel.outputs = n;
    let words = kernel.run_clean(&images(element, 64, n));
    for lane in 0..128 {
        for column in 0..n {
            let got = words[lane * n + column];
            if lane % 32 >= 16 || lane == 1 {
                assert_eq!(got, 7, "lane {lane} is not written");
            } else {
                let row = lane / 32 * 16 + lane % 16;
                assert_eq!(f32::from_bits(got) as i32, -product(element, row, column));
            }
        }
    }
}

/// A from tensor memory, where two 16-bit elements share a word; D is halved before it is added
/// to. An f16 D lies in the low halves.
#[test]
fn a_in_tensor_memory() {
    let (n, element) = (32, Element::F16);
    for half in [false, true] {
        let word = if half { 0 } else { 0x10 } | (n as u32 / 8) << 17 | 8 << 24;
        let mma = "tcgen05.mma.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x2, %p1;\n\
                   tcgen05.mma.cta_group::1.kind::f16 [%taddr], [%taddr + 40], %y1, %x2, %p2, 1;";
        // The rows of A go from shared memory to tensor memory through registers.
        let mut kernel = Kernel::new(format!(
            "{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\nsetp.eq.u32 %p2, 0, 0;\n\
             and.b32 %x3, %t, 7;\nshl.b32 %x3, %x3, 4;\nshr.u32 %x4, %t, 3;\nshl.b32 %x4, %x4, 7;\n\
             add.u32 %x3, %x3, %x4;\nadd.u32 %x3, %x3, %s;\n\
             ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%x3];\n\
             ld.shared.v4.b32 {{%v4, %v5, %v6, %v7}}, [%x3+4096];\n\
             tcgen05.st.sync.aligned.32x32b.x8.b32 [%q + 40], {a};\ntcgen05.wait::st.sync.aligned;\n\
             tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n{}\
             tcgen05.ld.sync.aligned.32x32b.x32.b32 {list}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
            descriptors(),
            issue(mma),
            a = registers(8),
            list = registers(n),
        ));
        kernel.outputs = n;
        let words = kernel.run_clean(&images(element, 128, n));
        for row in 0..128 {
            for column in 0..n {
                let got = words[row * n + column];
                let got = if half {
                    crate::formats::narrow::f16_to_f32(got as u16)
                } else {
                    f32::from_bits(got)
                };
                assert_eq!(
                    got,
                    1.5 * product(element, row, column) as f32,
                    "{row} {column}"
                );
            }
        }
    }
}

/// MN-major operands in the 128-byte swizzle: 64 elements of MN side by side, K by K.
#[test]
fn transposed_and_swizzled() {
    let element = Element::F16;
    let mut image = vec![0u8; 16384];
    for (offset, rows, seed) in [(0, 128, 1), (8192, 64, 2)] {
        for row in 0..rows {
            for k in 0..16 {
                let linear = row % 64 * 2 + row / 64 * 2048 + k % 8 * 128 + k / 8 * 1024;
                let at = offset + (linear ^ (linear >> 7 & 7) << 4);
                let bits = encode(element, small(element, seed, row, k)).to_le_bytes();
                image[at..at + 2].copy_from_slice(&bits[..2]);
            }
        }
    }
    let word = 0x10 | 3 << 15 | 8 << 17 | 8 << 24;
    let mut kernel = Kernel::new(format!(
        "{}{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\n{}\
         tcgen05.ld.sync.aligned.32x32b.x64.b32 {}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
        descriptor(0, 0, 2048, 1024, 2),
        descriptor(1, 8192, 2048, 1024, 2),
        issue("tcgen05.mma.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x2, %p1;"),
        registers(64),
    ));
    kernel.outputs = 64;
    let words = kernel.run_clean(&image);
    for row in 0..128 {
        for column in 0..64 {
            let got = f32::from_bits(words[row * 64 + column]) as i32;
            assert_eq!(got, product(element, row, column), "{row} {column}");
        }
    }
}

/// Scale factors are powers of two that depend on the row and the column; each of the four bytes
/// of a word is used once.
#[test]
fn scale_factors() {
    let (n, element) = (64, Element::E4m3);
    for id in 0..4u32 {
        let word = id << 29 | 1 << 27 | 1 << 23 | (n as u32 / 8) << 17 | id << 4;
        let exponent =
            |index: usize, byte: u32| (126 + (index + index / 32 + byte as usize) % 3) as u32;
        // 128 rows in four columns, 64 columns of B in two; row m is on lanes m % 32.
        let mut image = images(element, 128, n);
        image.resize(32768, 0);
        for (offset, count) in [(16384, 128), (20480, 64)] {
            for index in 0..count {
                for byte in 0..4 {
                    let at = offset + index % 32 * 16 + index / 32 * 4 + byte as usize;
                    image[at] = exponent(index, byte) as u8;
                }
            }
        }
        let instructions = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%taddr + 64], %y2;\n\
             tcgen05.cp.cta_group::1.32x128b.warpx4 [%taddr + 68], %y3;\n\
             tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%taddr], %y0, %y1, %x2, [%taddr + 64], [%taddr + 68], %p1;";
        let mut kernel = Kernel::new(format!(
            "{}{}{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\n{}\
             tcgen05.ld.sync.aligned.32x32b.x64.b32 {}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
            descriptors(),
            descriptor(2, 16384, 0, 128, 0),
            descriptor(3, 20480, 0, 128, 0),
            issue(instructions),
            registers(n),
        ));
        kernel.image = 32768;
        kernel.outputs = n;
        let words = kernel.run_clean(&image);
        for row in 0..128 {
            for column in 0..n {
                let scale = exponent(row, id) as i32 + exponent(column, id) as i32 - 254;
                let expected = product(element, row, column) as f32 * 2f32.powi(scale);
                assert_eq!(
                    f32::from_bits(words[row * n + column]),
                    expected,
                    "{id} {row} {column}"
                );
            }
        }
    }
}

/// A value that a padding of 4- and 6-bit elements in shared memory must not disturb.
#[test]
fn narrow_elements_in_shared_memory() {
    // e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; 16 elements in 8 of 16 bytes.
    let values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let code = |seed: usize, row: usize, k: usize| (row * 3 + k * 5 + row * k + seed) % 16;
    let decode = |code: usize| {
        if code < 8 {
            values[code]
        } else {
            -values[code - 8]
        }
    };
    let mut image = vec![0xa5u8; 16384];
    for (offset, rows, seed) in [(0, 128, 1), (8192, 32, 2)] {
        for row in 0..rows {
            for half in 0..2 {
                let at = offset + row % 8 * 16 + row / 8 * 128 + half * 4096;
                for pair in 0..8 {
                    let k = half * 16 + 2 * pair;
                    image[at + pair] = (code(seed, row, k) | code(seed, row, k + 1) << 4) as u8;
                }
            }
        }
    }
    let word = 0x10 | 5 << 7 | 5 << 10 | 4 << 17 | 8 << 24;
    let mut kernel = Kernel::new(format!(
        "{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\n{}\
         tcgen05.ld.sync.aligned.32x32b.x32.b32 {}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
        descriptors(),
        issue("tcgen05.mma.cta_group::1.kind::f8f6f4 [%taddr], %y0, %y1, %x2, %p1;"),
        registers(32),
    ));
    kernel.outputs = 32;
    let words = kernel.run_clean(&image);
    for row in 0..128 {
        for column in 0..32 {
            let expected: f32 = (0..32)
                .map(|k| decode(code(1, row, k)) * decode(code(2, column, k)))
                .sum();
            assert_eq!(
                f32::from_bits(words[row * 32 + column]),
                expected,
                "{row} {column}"
            );
        }
    }
}
