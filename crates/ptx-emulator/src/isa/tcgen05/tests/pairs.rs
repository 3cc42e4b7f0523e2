//! `cta_group::2`: the rows of A and D, and the columns of B, are split between two CTAs.

use super::*;
use crate::{
    Kind,
    formats::tile::Element,
    isa::mma::tests::{encode, small},
};

const ELEMENT: Element = Element::F16;

fn put(image: &mut [u8], rows: std::ops::Range<usize>, seed: usize) {
    for (place, row) in rows.enumerate() {
        for k in 0..16 {
            let at = place % 8 * 16 + place / 8 * 128 + k / 8 * 4096 + k % 8 * 2;
            let bits = encode(ELEMENT, small(ELEMENT, seed, row, k)).to_le_bytes();
            image[at..at + 2].copy_from_slice(&bits[..2]);
        }
    }
}

fn product(row: usize, column: usize) -> i32 {
    (0..16)
        .map(|k| small(ELEMENT, 1, row, k) * small(ELEMENT, 2, column, k))
        .sum()
}

fn kernel(m: usize, n: usize) -> (Kernel, Vec<u8>) {
    let mut image = vec![0u8; 32768];
    for cta in 0..2 {
        let image = &mut image[cta * 16384..];
        put(image, cta * m / 2..(cta + 1) * m / 2, 1);
        put(&mut image[8192..], cta * n / 2..(cta + 1) * n / 2, 2);
    }
    let word = 0x10 | (n as u32 / 8) << 17 | (m as u32 / 16) << 24;
    let columns = if m == 256 { n } else { n / 2 };
    // The first thread of the even CTA issues, and signals both.
    let mut kernel = Kernel::new(format!(
        "{}{}mov.b32 %x2, {word};\nsetp.ne.u32 %p1, 0, 0;\nmov.b16 %h0, 3;\n\
         setp.eq.u32 %p2, %g, 0;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         @%p2 tcgen05.mma.cta_group::2.kind::f16 [%taddr], %y0, %y1, %x2, %p1;\n\
         @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %h0;\n\
         {}tcgen05.fence::after_thread_sync;\n\
         tcgen05.ld.sync.aligned.32x32b.x{columns}.b32 {}, [%q];\ntcgen05.wait::ld.sync.aligned;\n",
        descriptor(0, 0, 4096, 128, 0).replace("%s,", "%x14,"),
        descriptor(1, 8192, 4096, 128, 0).replace("%s,", "%x14,"),
        wait(0, 0),
        registers(columns),
    ));
    kernel.body.insert_str(0, "and.b32 %x14, %s, 0xffffff;\n");
    kernel.ctas = 2;
    kernel.outputs = columns;
    (kernel, image)
}

#[test]
fn rows_and_columns_come_from_both() {
    for (m, n) in [(256, 32), (256, 128), (128, 64)] {
        let (kernel, image) = kernel(m, n);
        let words = kernel.run_clean(&image);
        let width = kernel.outputs;
        for cta in 0..2 {
            for lane in 0..128 {
                for j in 0..width {
                    let (row, column) = if m == 256 {
                        (cta * 128 + lane, j)
                    } else {
                        (cta * 64 + lane % 64, j + lane / 64 * width)
                    };
                    let got = words[(cta * 128 + lane) * width + j];
                    assert_eq!(
                        f32::from_bits(got) as i32,
                        product(row, column),
                        "{m} {n} {cta} {lane} {j}"
                    );
                }
            }
        }
    }
}

/// Only one CTA of the pair frees its memory: the ISA lets that block for ever.
#[test]
fn a_pair_frees_together() {
    let mut kernel = Kernel::new("");
    kernel.ctas = 2;
    kernel.end = Some(
        "setp.lt.and.u32 %p3, %g, 32, %w0;\n\
         @%p3 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 128;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         not.pred %p4, %p3;\nand.pred %p4, %p4, %w0;\n\
         @%p4 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 128;\n"
            .to_owned(),
    );
    for schedule in SCHEDULES {
        let options = Options {
            schedule,
            ..Options::default()
        };
        let (outcome, _) = kernel.run(&[], options);
        assert!(!outcome.completed);
        assert!(
            outcome
                .reports
                .iter()
                .any(|report| report.kind == Kind::Deadlock),
            "{schedule:?}"
        );
    }
}

/// The odd CTA does not issue, and a pair needs two CTAs.
#[test]
fn who_may_issue() {
    let mut kernel = kernel(256, 32).0;
    kernel.body = kernel
        .body
        .replace("setp.eq.u32 %p2, %g, 0;", "setp.eq.u32 %p2, %g, 128;");
    let (outcome, _) = kernel.run(&[], Options::default());
    let odd = |report: &crate::Report| report.message.contains("odd CTA");
    assert!(outcome.reports.iter().any(odd));
}
