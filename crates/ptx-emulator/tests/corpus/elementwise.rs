//! Kernels without matrix products: sums of two tensors, rows, exchanges.

use crate::{
    numbers::Element,
    setup::{EXACT, Setup, Tensor, Tolerance},
};

/// Integers from -MOST to MOST go in.
const MOST: i64 = 100;

fn sums(x: &Tensor, y: &Tensor) -> Vec<f64> {
    x.values.iter().zip(&y.values).map(|(x, y)| x + y).collect()
}

/// Two vectors of `count` floats and room for their sum, as the first three parameters.
fn vectors(s: &mut Setup, count: usize) {
    let x = s.input("x", Element::F32, [1, count], count, MOST);
    let y = s.input("y", Element::F32, [1, count], count, MOST);
    let z = s.output("z", Element::F32, [1, count], count);
    for tensor in [&x, &y, &z] {
        s.pointer(tensor);
    }
    s.expect(z, sums(&x, &y), EXACT);
}

/// z = x + y: every block adds `tiles` tiles in a row.
pub(crate) fn add(s: &mut Setup, tile: usize, tiles: usize) {
    const BLOCKS: usize = 2;
    vectors(s, BLOCKS * tile * tiles);
    s.u32(tiles);
    s.grid(BLOCKS, 1);
}

/// The same by Gluon.
pub(crate) fn add_gluon(s: &mut Setup, tile: usize, tiles: usize) {
    add(s, tile, tiles);
    s.scratch();
}

/// The same by Triton: the last block ends inside a tile.
pub(crate) fn add_stream(s: &mut Setup) {
    const CHUNK: usize = 5 * 1024;
    const COUNT: usize = CHUNK + 3 * 1024 + 528;
    vectors(s, COUNT);
    s.u32(COUNT);
    s.u32(CHUNK);
    s.grid(COUNT.div_ceil(CHUNK), 1);
    s.scratch();
}

/// How a kernel takes its tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// nvcc: tensor maps, then the number of tiles.
    Cuda,
    /// Triton and Gluon: descriptors, the number of tiles, scratch memory.
    Triton,
}

/// Z = X + Y on tensor maps: each block adds 64 rows in tiles of columns. `columns` need not be a
/// multiple of the tile.
pub(crate) fn add_maps(s: &mut Setup, style: Style, blocks: usize, columns: usize, tile: usize) {
    let shape = [64 * blocks, columns];
    let pitch = columns + 16;
    let x = s.input("x", Element::F32, shape, pitch, MOST);
    let y = s.input("y", Element::F32, shape, pitch, MOST);
    let z = s.output("z", Element::F32, shape, pitch);
    s.grid(blocks, 1);
    for tensor in [&x, &y, &z] {
        match style {
            Style::Cuda => s.map(tensor),
            Style::Triton => s.descriptor(tensor),
        }
    }
    s.u32(columns.div_ceil(tile));
    if style == Style::Triton {
        s.scratch();
    }
    s.expect(z, sums(&x, &y), EXACT);
}

/// Sums of rows. The number of tiles is a multiple of 16, as all integers of Triton's are.
pub(crate) fn row_sums(s: &mut Setup) {
    const ROWS: usize = 128;
    const COLUMNS: usize = 1008;
    let x = s.input("x", Element::F16, [ROWS, COLUMNS], COLUMNS + 16, MOST);
    let y = s.output("y", Element::F32, [1, ROWS], ROWS);
    s.grid(ROWS / 64, 1);
    s.descriptor(&x);
    s.pointer(&y);
    s.u32(COLUMNS.div_ceil(64));
    s.scratch();
    let expected = (0..ROWS).map(|row| x.row(row).iter().sum()).collect();
    s.expect(y, expected, EXACT);
}

/// Softmax of rows, each in one block. Below 1024 columns the kernel gives NaN.
pub(crate) fn softmax(s: &mut Setup) {
    const ROWS: usize = 2;
    const COLUMNS: usize = 5 * 1024 - 48;
    let x = s.input("x", Element::F16, [ROWS, COLUMNS], COLUMNS, 2);
    let y = s.output("y", Element::F16, [ROWS, COLUMNS], COLUMNS);
    s.grid(ROWS, 1);
    s.pointer(&x);
    s.pointer(&y);
    s.u32(COLUMNS);
    s.scratch();
    let mut expected = Vec::new();
    for row in 0..ROWS {
        let total: f64 = x.row(row).iter().map(|x| x.exp()).sum();
        expected.extend(x.row(row).iter().map(|x| x.exp() / total));
    }
    // Half a step of fp16, subnormal for the smaller results, and 2^-22 from the exponential.
    let tolerance = Tolerance {
        relative: 6e-4,
        absolute: 4e-8,
    };
    s.expect(y, expected, tolerance);
}

/// Each block sends its numbers to the other one of the cluster, which doubles them.
pub(crate) fn exchange(s: &mut Setup) {
    const BLOCKS: usize = 4;
    const EACH: usize = 256;
    let input = s.input("in", Element::F32, [BLOCKS, EACH], EACH, MOST);
    let output = s.output("out", Element::F32, [BLOCKS, EACH], EACH);
    s.grid(BLOCKS, 1);
    s.pointer(&input);
    s.pointer(&output);
    let expected = (0..BLOCKS)
        .flat_map(|block| input.row(block ^ 1).iter().map(|x| 2.0 * x))
        .collect();
    s.expect(output, expected, EXACT);
}
