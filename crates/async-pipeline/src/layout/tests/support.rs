//! Layouts at random and ways to walk over all points.

use proptest::prelude::*;

use crate::layout::{LANE, Layout, Name, REGISTER, WARP};

/// A layout from axes with bits to axes with bits, each image given as one number.
pub(super) fn layout(inputs: &[(Name, u32)], outputs: &[(Name, u32)], images: &[u64]) -> Layout {
    let mut images = images.iter();
    let mut flat = Vec::new();
    for &(name, bits) in inputs {
        let own = (0..bits).map(|_| [*images.next().unwrap() as u32]);
        flat.push((name, own.collect::<Vec<_>>()));
    }
    let bits = outputs.iter().map(|(_, bits)| bits).sum::<u32>();
    let joined = Layout::from_bases(&flat, [("all", 1 << bits)]).unwrap();
    // `all` split into the outputs, first axis lowest.
    let mut split = Layout::empty();
    for &(name, bits) in outputs {
        split = split
            .product(&Layout::identity("all", name, 1 << bits).unwrap())
            .unwrap();
    }
    joined.then(&split).unwrap()
}

/// Any matrix: images of `inputs` bits in `outputs` bits.
pub(super) fn images(inputs: u32, outputs: u32) -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(0..1_u64 << outputs, inputs as usize)
}

/// A matrix of full rank over `bits` bits, by additions of one row to another.
pub(super) fn invertible(bits: u32) -> impl Strategy<Value = Vec<u64>> {
    let steps = proptest::collection::vec((0..bits as usize, 0..bits as usize), 0..80);
    (
        Just((0..bits).map(|bit| 1 << bit).collect::<Vec<u64>>()).prop_shuffle(),
        steps,
    )
        .prop_map(|(mut rows, steps)| {
            for (from, to) in steps {
                if from != to {
                    rows[to] ^= rows[from];
                }
            }
            rows
        })
}

/// All coordinates of axes of these sizes, the first fastest.
pub(super) fn points(sizes: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        all = (0..size)
            .flat_map(|value| {
                all.iter().map(move |point: &Vec<u32>| {
                    let mut point = point.clone();
                    point.push(value);
                    point
                })
            })
            .collect();
    }
    all
}

/// All points of the inputs, with the names.
pub(super) fn named_points(layout: &Layout) -> Vec<Vec<(Name, u32)>> {
    let sizes: Vec<u32> = layout.inputs().iter().map(|axis| axis.size()).collect();
    let named = |point: Vec<u32>| {
        let names = layout.inputs().iter().map(|axis| axis.name);
        names.zip(point).collect()
    };
    points(&sizes).into_iter().map(named).collect()
}

/// Checks a layout over (register, lane, warp), or fewer of them, at every point.
pub(super) fn assert_formula(
    layout: &Layout,
    sizes: [u32; 3],
    formula: impl Fn(u32, u32, u32) -> Vec<u32>,
) {
    let axes = [REGISTER, LANE, WARP];
    for (axis, size) in axes.iter().zip(sizes) {
        assert_eq!(layout.input_size(axis), size, "size of {axis}\n{layout}");
    }
    for point in points(&sizes) {
        let known = layout.inputs().iter().map(|axis| axis.name);
        let named: Vec<_> = known
            .map(|name| {
                (
                    name,
                    point[axes.iter().position(|axis| *axis == name).unwrap()],
                )
            })
            .collect();
        let expected = formula(point[0], point[1], point[2]);
        assert_eq!(
            layout.apply(&named).unwrap(),
            expected,
            "{named:?}\n{layout}"
        );
    }
}

/// Checks a layout of two inputs at every point.
pub(super) fn assert_plane(
    layout: &Layout,
    axes: [Name; 2],
    sizes: [u32; 2],
    formula: impl Fn(u32, u32) -> Vec<u32>,
) {
    for (axis, size) in axes.iter().zip(sizes) {
        assert_eq!(layout.input_size(axis), size, "size of {axis}\n{layout}");
    }
    for point in points(&sizes) {
        let named = [(axes[0], point[0]), (axes[1], point[1])];
        let expected = formula(point[0], point[1]);
        assert_eq!(
            layout.apply(&named).unwrap(),
            expected,
            "{named:?}\n{layout}"
        );
    }
}
