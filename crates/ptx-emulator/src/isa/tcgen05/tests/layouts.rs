//! `ld`, `st` and `cp`.

use super::*;

/// Word of a cell, different in every one.
fn cell(lane: usize, column: usize) -> u32 {
    0x4000_0000 + (lane as u32) * 0x1000 + column as u32
}

/// Every thread's row, 64 columns from column 0 on, written with 32x32b.
fn fill() -> String {
    let mut body = String::from(
        "and.b32 %x1, %t, 127;\nshl.b32 %x1, %x1, 12;\nadd.u32 %x1, %x1, 0x40000000;\n",
    );
    for column in 0..64 {
        let _ = writeln!(body, "add.u32 %v{column}, %x1, {column};");
    }
    let _ = write!(
        body,
        "tcgen05.st.sync.aligned.32x32b.x64.b32 [%q], {};\ntcgen05.wait::st.sync.aligned;\n",
        registers(64)
    );
    body
}

/// The place of register `r` of lane `t` by the PTX ISA's figures, restated.
fn place(shape: &str, t: usize, r: usize) -> (usize, usize) {
    match shape {
        "32x32b" => (t, r),
        "16x64b" => (t / 4 + 8 * (t & 1), 2 * r + (t >> 1 & 1)),
        "16x128b" => (t / 4 + 8 * (r & 1), 4 * (r >> 1) + (t & 3)),
        "16x256b" => (
            t / 4 + 8 * (r >> 1 & 1),
            8 * (r >> 2) + 2 * (t & 3) + (r & 1),
        ),
        _ => (t % 16, r + if t < 16 { 0 } else { 32 }),
    }
}

#[test]
fn loads_find_what_rows_hold() {
    for (shape, repeat, count) in [
        ("32x32b", "x32", 32),
        ("32x32b", "x1", 1),
        ("16x64b", "x16", 16),
        ("16x128b", "x8", 16),
        ("16x256b", "x4", 16),
        ("16x32bx2", "x16", 16),
    ] {
        let halves = if shape == "16x32bx2" { ", 32" } else { "" };
        let mut kernel = Kernel::new(format!(
            "{}tcgen05.ld.sync.aligned.{shape}.{repeat}.b32 {}, [%q + 4]{halves};\ntcgen05.wait::ld.sync.aligned;\n",
            fill(),
            registers(count)
        ));
        kernel.outputs = count;
        let words = kernel.run_clean(&[]);
        for thread in 0..128 {
            for r in 0..count {
                let (lane, column) = place(shape, thread % 32, r);
                let lane = thread / 32 * 32 + lane;
                assert_eq!(
                    words[thread * count + r],
                    cell(lane, column + 4),
                    "{shape} {thread} {r}"
                );
            }
        }
    }
}

#[test]
fn stores_are_the_inverse_of_loads() {
    for (shape, repeat, count) in [
        ("16x64b", "x8", 8),
        ("16x128b", "x4", 8),
        ("16x256b", "x2", 8),
        ("16x32bx2", "x8", 8),
    ] {
        let (st_split, ld_split) = if shape == "16x32bx2" {
            (" 32,", ", 32")
        } else {
            ("", "")
        };
        let mut body = String::new();
        for r in 0..count {
            let _ = write!(
                body,
                "mul.lo.u32 %v{r}, %t, 256;\nadd.u32 %v{r}, %v{r}, {r};\n"
            );
        }
        let list = registers(count);
        let _ = write!(
            body,
            "tcgen05.st.sync.aligned.{shape}.{repeat}.b32 [%q],{st_split} {list};\n\
             tcgen05.wait::st.sync.aligned;\n"
        );
        for r in 0..count {
            let _ = writeln!(body, "mov.b32 %v{r}, 0;");
        }
        let _ = write!(
            body,
            "tcgen05.ld.sync.aligned.{shape}.{repeat}.b32 {list}, [%q]{ld_split};\n\
             tcgen05.wait::ld.sync.aligned;\n"
        );
        let mut kernel = Kernel::new(body);
        kernel.outputs = count;
        let words = kernel.run_clean(&[]);
        for (index, word) in words.iter().enumerate() {
            assert_eq!(
                *word as usize,
                index / count * 256 + index % count,
                "{shape}"
            );
        }
    }
}

#[test]
fn packing_takes_low_halves_of_two_columns() {
    let mut kernel = Kernel::new(format!(
        "{}tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {list}, [%q];\n\
         tcgen05.wait::ld.sync.aligned;\n\
         tcgen05.st.sync.aligned.32x32b.x4.unpack::16b.b32 [%q + 64], {list};\n\
         tcgen05.wait::st.sync.aligned;\n\
         tcgen05.ld.sync.aligned.32x32b.x8.b32 {wide}, [%q + 64];\n\
         tcgen05.wait::ld.sync.aligned;\n",
        fill(),
        list = registers(4),
        wide = registers(8),
    ));
    kernel.outputs = 8;
    let words = kernel.run_clean(&[]);
    for thread in 0..128 {
        for column in 0..8 {
            assert_eq!(words[thread * 8 + column], cell(thread, column) & 0xffff);
        }
    }
}

/// Rows of 16 or 32 bytes without a swizzle: 8 rows after each other, SBO between groups of 8,
/// LBO between the halves of 32 bytes.
#[test]
fn copies_reach_their_lanes() {
    for (shape, rows, bytes) in [
        ("128x256b", 128, 32),
        ("128x128b", 128, 16),
        ("64x128b.warpx2::02_13", 64, 16),
        ("64x128b.warpx2::01_23", 64, 16),
        ("32x128b.warpx4", 32, 16),
    ] {
        let mut image = vec![0u8; 16384];
        let word = |row: usize, column: usize| (row * 16 + column + 1) as u32;
        for row in 0..rows {
            for column in 0..bytes / 4 {
                let at = 1024 + row % 8 * 16 + row / 8 * 128 + column / 4 * 4096 + column % 4 * 4;
                image[at..at + 4].copy_from_slice(&word(row, column).to_le_bytes());
            }
        }
        let count = bytes / 4;
        let mut kernel = Kernel::new(format!(
            "{}{}tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {}, [%q + 8];\ntcgen05.wait::ld.sync.aligned;\n",
            descriptor(0, 1024, 4096, 128, 0),
            issue(&format!(
                "tcgen05.cp.cta_group::1.{shape} [%taddr + 8], %y0;"
            )),
            registers(count),
        ));
        kernel.outputs = count;
        let words = kernel.run_clean(&image);
        for lane in 0..128 {
            let row = match shape {
                "64x128b.warpx2::02_13" => lane % 64,
                "64x128b.warpx2::01_23" => lane / 64 * 32 + lane % 32,
                "32x128b.warpx4" => lane % 32,
                _ => lane,
            };
            for column in 0..count {
                assert_eq!(
                    words[lane * count + column],
                    word(row, column),
                    "{shape} {lane}"
                );
            }
        }
    }
}

#[test]
fn unknown_forms_are_refused() {
    let refuse = |body: &str, part: &str| {
        let message = refusal(body);
        assert!(message.contains(part), "{body}: {message}");
    };
    refuse(
        "tcgen05.ld.sync.aligned.32x32b.x3.b32 {%v0, %v1, %v2}, [%q];",
        "x3",
    );
    refuse(
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0}, [%q];",
        "needs 2 elements",
    );
    refuse(
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.b32 {%v0, %v1}, [%q];",
        "not supported",
    );
    refuse("tcgen05.ld.aligned.32x32b.x1.b32 {%v0}, [%q];", ".sync");
    refuse(
        "tcgen05.cp.cta_group::1.4x256b [%taddr], %y0;",
        "not supported",
    );
    refuse(
        "tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [%taddr], %y0;",
        "b8x16",
    );
    refuse("tcgen05.shift.cta_group::1.down [%taddr];", "not supported");
    refuse(
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x0, %p0;",
        ".ws",
    );
    refuse(
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%taddr], %y0, %y1, [%x1], %x0, %p0;",
        ".sp",
    );
    refuse(
        "tcgen05.mma.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x0, %p0, 16;",
        "0 to 15",
    );
    refuse(
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%taddr], %y0, %y1, %x0, [%x1], [%x2], %p0;",
        "scale vector",
    );
    refuse(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%bar];",
        "shared::cluster",
    );
}
