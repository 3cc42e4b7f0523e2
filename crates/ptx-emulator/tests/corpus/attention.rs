//! Attention: o = softmax(scale · q kᵀ) v for each head, on rows of 64 elements.

use crate::{
    numbers::Element,
    setup::{Setup, Tensor, Tolerance},
};

/// Elements of a row.
const WIDTH: usize = 64;

/// Rows that one block makes.
const TILE: usize = 128;

/// One over the square root of the width, as is usual.
const SCALE: f64 = 0.125;

/// The softmax weights are rounded to fp16 before they meet v, and so is the result. Both are
/// below 1/2 in magnitude with these inputs.
const TOLERANCE: Tolerance = Tolerance {
    relative: 1e-3,
    absolute: 2e-4,
};

struct Tensors {
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
}

impl Tensors {
    fn new(s: &mut Setup, heads: usize, length: usize, gap: usize) -> Self {
        let shape = [heads * length, WIDTH];
        let pitch = WIDTH + gap;
        let q = s.input("q", Element::F16, shape, pitch, 1);
        let k = s.input("k", Element::F16, shape, pitch, 1);
        let v = s.input("v", Element::F16, shape, pitch, 2);
        let o = s.output("o", Element::F16, shape, pitch);
        Self { q, k, v, o }
    }

    fn expect(self, s: &mut Setup, length: usize) {
        let mut expected = Vec::with_capacity(self.q.rows * WIDTH);
        for row in 0..self.q.rows {
            let head = row / length * length..(row / length + 1) * length;
            let weights: Vec<f64> = head
                .clone()
                .map(|key| {
                    let pairs = self.q.row(row).iter().zip(self.k.row(key));
                    (SCALE * pairs.map(|(q, k)| q * k).sum::<f64>()).exp()
                })
                .collect();
            let total: f64 = weights.iter().sum();
            let mut sums = [0.0; WIDTH];
            for (weight, key) in weights.iter().zip(head) {
                for (sum, v) in sums.iter_mut().zip(self.v.row(key)) {
                    *sum += weight * v;
                }
            }
            expected.extend(sums.iter().map(|sum| sum / total));
        }
        s.expect(self.o, expected, TOLERANCE);
    }
}

fn rest(s: &mut Setup, heads: usize, length: usize) {
    s.u32(length);
    s.f32((SCALE * std::f64::consts::LOG2_E) as f32);
    s.grid(length / TILE, heads);
    s.scratch();
}

/// Triton on descriptors.
pub(crate) fn descriptors(s: &mut Setup, heads: usize, length: usize) {
    let tensors = Tensors::new(s, heads, length, 16);
    for tensor in [&tensors.q, &tensors.k, &tensors.v, &tensors.o] {
        s.descriptor(tensor);
    }
    rest(s, heads, length);
    tensors.expect(s, length);
}

/// Triton on pointers.
pub(crate) fn pointers(s: &mut Setup, heads: usize, length: usize) {
    let tensors = Tensors::new(s, heads, length, 0);
    for tensor in [&tensors.q, &tensors.k, &tensors.v, &tensors.o] {
        s.pointer(tensor);
    }
    rest(s, heads, length);
    tensors.expect(s, length);
}
