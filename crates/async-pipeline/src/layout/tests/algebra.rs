//! The laws of layouts.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::support::{images, invertible, layout, named_points};
use crate::layout::{COLUMN, LANE, Layout, LayoutError, REGISTER, ROW, WARP};

const THREADS: [(&str, u32); 2] = [(REGISTER, 3), (LANE, 4)];
const TILE: [(&str, u32); 2] = [(ROW, 2), (COLUMN, 4)];
const THIRD: [(&str, u32); 2] = [("x", 3), ("y", 3)];

fn all_images(layout: &Layout) -> Vec<Vec<u32>> {
    let points = named_points(layout);
    points
        .iter()
        .map(|point| layout.apply(point).unwrap())
        .collect()
}

proptest! {
    #[test]
    fn a_layout_is_linear(images in images(7, 6), a in 0_u32..8, b in 0_u32..16, c in 0_u32..8, d in 0_u32..16) {
        let layout = layout(&THREADS, &TILE, &images);
        let at = |register, lane| layout.apply(&[(REGISTER, register), (LANE, lane)]).unwrap();
        let (first, second) = (at(a, b), at(c, d));
        let sum: Vec<u32> = first.iter().zip(&second).map(|(x, y)| x ^ y).collect();
        prop_assert_eq!(at(a ^ c, b ^ d), sum);
    }

    #[test]
    fn ranks_agree_with_counting(images in images(7, 6)) {
        let layout = layout(&THREADS, &TILE, &images);
        let all = all_images(&layout);
        let different: BTreeSet<_> = all.iter().collect();
        prop_assert_eq!(1 << layout.rank(), different.len());
        prop_assert_eq!(layout.is_injective(), different.len() == all.len());
        prop_assert_eq!(layout.is_surjective(), different.len() == 1 << 6);
        prop_assert_eq!(layout.is_bijective(), layout.is_injective() && layout.is_surjective());
        prop_assert_eq!(layout.kernel().len() as u32, 7 - layout.rank());
        for point in layout.kernel() {
            let image = layout.apply(&[(REGISTER, point[0]), (LANE, point[1])]).unwrap();
            prop_assert_eq!(image, vec![0, 0]);
            prop_assert_ne!(point, vec![0, 0]);
        }
    }

    #[test]
    fn clearing_the_free_bits_names_each_element_once(images in images(7, 4)) {
        let layout = layout(&THREADS, &[(ROW, 1), (COLUMN, 3)], &images);
        let free = [layout.free_bits(REGISTER), layout.free_bits(LANE)];
        let kept: Vec<_> = named_points(&layout)
            .into_iter()
            .filter(|point| point[0].1 & free[0] == 0 && point[1].1 & free[1] == 0)
            .map(|point| layout.apply(&point).unwrap())
            .collect();
        let different: BTreeSet<_> = kept.iter().cloned().collect();
        prop_assert_eq!(kept.len(), different.len());
        let all: BTreeSet<_> = all_images(&layout).into_iter().collect();
        prop_assert_eq!(different, all);
    }

    #[test]
    fn composition_is_application_twice_and_associative(
        a in images(7, 6), b in images(6, 6), c in images(6, 5)
    ) {
        let a = layout(&THREADS, &TILE, &a);
        let b = layout(&TILE, &THIRD, &b);
        let c = layout(&THIRD, &[("z", 5)], &c);
        let ab = a.then(&b).unwrap();
        for point in named_points(&a) {
            let middle = a.apply(&point).unwrap();
            let end = b.apply(&[(ROW, middle[0]), (COLUMN, middle[1])]).unwrap();
            prop_assert_eq!(ab.apply(&point).unwrap(), end);
        }
        prop_assert_eq!(ab.then(&c).unwrap(), a.then(&b.then(&c).unwrap()).unwrap());
    }

    #[test]
    fn an_inverse_leads_back(images in invertible(6)) {
        let layout = layout(&TILE, &THIRD, &images);
        let inverse = layout.inverse().unwrap();
        for point in named_points(&layout) {
            let image = layout.apply(&point).unwrap();
            let back = inverse.apply(&[("x", image[0]), ("y", image[1])]).unwrap();
            prop_assert_eq!(back, vec![point[0].1, point[1].1]);
        }
        prop_assert_eq!(inverse.inverse().unwrap(), layout);
    }

    #[test]
    fn a_right_inverse_names_a_point_without_free_bits(images in images(7, 4)) {
        let layout = layout(&THREADS, &[(ROW, 2), (COLUMN, 2)], &images);
        let Ok(inverse) = layout.right_inverse() else {
            prop_assert!(!layout.is_surjective());
            return Ok(());
        };
        prop_assert!(layout.is_surjective());
        for point in named_points(&inverse) {
            let back = inverse.apply(&point).unwrap();
            prop_assert_eq!(back[0] & layout.free_bits(REGISTER), 0);
            prop_assert_eq!(back[1] & layout.free_bits(LANE), 0);
            let image = layout.apply(&[(REGISTER, back[0]), (LANE, back[1])]).unwrap();
            prop_assert_eq!(image, vec![point[0].1, point[1].1]);
        }
    }

    #[test]
    fn a_pseudo_inverse_is_right_on_what_is_reached(images in images(7, 6)) {
        let layout = layout(&THREADS, &TILE, &images);
        let back = layout.pseudo_inverse();
        prop_assert_eq!(layout.then(&back).unwrap().then(&layout).unwrap(), layout);
    }

    #[test]
    fn one_layout_through_another(a in images(7, 6), b in images(6, 6)) {
        let a = layout(&THREADS, &TILE, &a);
        let b = layout(&THIRD, &TILE, &b);
        let reached: BTreeSet<_> = all_images(&b).into_iter().collect();
        let contained = all_images(&a).iter().all(|image| reached.contains(image));
        match a.through(&b) {
            Ok(through) => {
                prop_assert!(contained);
                prop_assert_eq!(through.then(&b).unwrap(), a);
            }
            Err(error) => {
                prop_assert!(!contained);
                prop_assert_eq!(error, LayoutError::NotContained);
            }
        }
    }

    #[test]
    fn a_quotient_undoes_a_product(a in images(7, 6), b in images(7, 6)) {
        let a = layout(&THREADS, &TILE, &a);
        let b = layout(&[(LANE, 3), (WARP, 4)], &[(COLUMN, 3), ("z", 3)], &b);
        let product = a.product(&b).unwrap();
        let quotient = product.quotient(&a).unwrap();
        prop_assert!(quotient.part(&[LANE, WARP], &[COLUMN, "z"]).unwrap().same_map(&b));
        prop_assert!(a.product(&quotient).unwrap().same_map(&product));
        // b stands above a on the lane and the column, elsewhere alone.
        for point in named_points(&a).into_iter().step_by(7) {
            let more = [(LANE, point[1].1 + 16 * 5), (REGISTER, point[0].1), (WARP, 9)];
            let (low, high) = (a.apply(&point).unwrap(), b.apply(&[(LANE, 5), (WARP, 9)]).unwrap());
            let expected = vec![low[0], low[1] + 16 * high[0], high[1]];
            prop_assert_eq!(product.apply(&more).unwrap(), expected);
        }
    }

    #[test]
    fn order_of_axes_is_no_part_of_the_map(images in images(7, 6)) {
        let layout = layout(&THREADS, &TILE, &images);
        let other = layout.part(&[LANE, REGISTER], &[COLUMN, ROW]).unwrap();
        prop_assert_ne!(&layout, &other);
        prop_assert!(layout.same_map(&other) && other.same_map(&layout));
        let renamed = layout.rename(LANE, WARP).unwrap();
        prop_assert!(!layout.same_map(&renamed));
        prop_assert_eq!(renamed.rename(WARP, LANE).unwrap(), layout);
    }
}

#[test]
fn a_tile_that_is_not_there_has_no_quotient() {
    let pair = Layout::identity(REGISTER, COLUMN, 2).unwrap();
    let strided = Layout::from_bases(&[(REGISTER, vec![[2], [1]])], [(COLUMN, 4)]).unwrap();
    assert_eq!(strided.quotient(&pair), None);
    let copies = Layout::from_bases(&[(REGISTER, vec![[0], [2]])], [(COLUMN, 4)]).unwrap();
    assert_eq!(copies.quotient(&pair), None);
    let overlapping = Layout::from_bases(&[(REGISTER, vec![[1], [3]])], [(COLUMN, 4)]).unwrap();
    assert_eq!(overlapping.quotient(&pair), None);
    let larger = Layout::identity(REGISTER, COLUMN, 8).unwrap();
    assert_eq!(pair.quotient(&larger), None);
}

#[test]
fn flattening_puts_the_last_axis_first() {
    let tile = Layout::identity("i", ROW, 4)
        .unwrap()
        .repeat("j", COLUMN, 8)
        .unwrap();
    let flat = tile.flatten(&[ROW, COLUMN], "element").unwrap();
    for i in 0..4 {
        for j in 0..8 {
            assert_eq!(flat.apply(&[("i", i), ("j", j)]).unwrap(), [8 * i + j]);
        }
    }
    assert!(tile.flatten(&[COLUMN], "element").is_err());
}

#[test]
fn a_layout_prints_as_a_table() {
    let layout = Layout::from_bases(
        &[(REGISTER, vec![[0, 1], [8, 0]]), (LANE, vec![[0, 2]])],
        [(ROW, 16), (COLUMN, 4)],
    )
    .unwrap();
    let expected = "\
register 1 | row  0  column 1
register 2 | row  8  column 0
lane     1 | row  0  column 2
      size | row 16  column 4
";
    assert_eq!(layout.to_string(), expected);
}

#[test]
fn requests_without_an_answer_are_errors() {
    let error = |result: Result<Layout, LayoutError>| result.unwrap_err().to_string();
    let tile = Layout::identity(LANE, ROW, 4).unwrap();
    assert_eq!(
        error(Layout::identity(LANE, ROW, 24)),
        "expected a power of two as the size of `lane`, got 24"
    );
    assert_eq!(
        error(tile.then(&Layout::identity(ROW, "x", 2).unwrap())),
        "expected a size of at most 2 for `row`, got 4"
    );
    assert_eq!(
        error(tile.then(&Layout::identity(COLUMN, "x", 4).unwrap())),
        "expected the axes column, got row"
    );
    assert_eq!(
        error(
            tile.product(&Layout::zeros(LANE, 1, ROW, 2).unwrap())
                .unwrap()
                .inverse()
        ),
        "expected a bijective layout, got rank 2 from 2 to 3 bits"
    );
    assert_eq!(
        error(Layout::from_bases(&[(LANE, vec![[4]])], [(ROW, 4)])),
        "expected an index of `row` below 4, got 4"
    );
    assert_eq!(
        tile.apply(&[("lame", 0)]).unwrap_err().to_string(),
        "expected one of the axes lane, got `lame`"
    );
    assert!(tile.apply(&[(LANE, 4)]).is_err());
    assert!(tile.basis(LANE, 2).is_err() && tile.basis(LANE, 40).is_err());
}
