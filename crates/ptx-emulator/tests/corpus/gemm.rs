//! Matrix products: C = A Bᵀ, with A of m by k, B of n by k and C of m by n elements.

use crate::{
    numbers::Element,
    setup::{EXACT, Setup, Tensor},
};

/// The sizes of a product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Rows of A and C.
    pub(crate) m: usize,
    /// Rows of B, columns of C.
    pub(crate) n: usize,
    /// Columns of A and B.
    pub(crate) k: usize,
}

/// A size in short.
pub(crate) const fn size(m: usize, n: usize, k: usize) -> Size {
    Size { m, n, k }
}

/// Integers from -MOST to MOST go in: a product is 4 at most, so that no sum of the tests exceeds
/// what fp16 has exactly, and all but few of bf16.
const MOST: i64 = 2;

/// Elements between the end of a row and the next, where a kernel takes the distance: 16 bytes or
/// more, as tensor maps demand.
const GAP: usize = 16;

/// The three matrices.
struct Matrices {
    a: Tensor,
    b: Tensor,
    c: Tensor,
}

impl Matrices {
    fn new(s: &mut Setup, size: Size, inputs: Element, output: Element, gap: usize) -> Self {
        let Size { m, n, k } = size;
        let a = s.input("a", inputs, [m, k], k + gap, MOST);
        let b = s.input("b", inputs, [n, k], k + gap, MOST);
        let c = s.output("c", output, [m, n], n + gap);
        Self { a, b, c }
    }

    fn product(&self) -> Vec<f64> {
        let Self { a, b, .. } = self;
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum();
        (0..a.rows)
            .flat_map(|row| (0..b.rows).map(move |column| dot(a.row(row), b.row(column))))
            .collect()
    }

    fn expect(self, s: &mut Setup) {
        let product = self.product();
        s.expect(self.c, product, EXACT);
    }
}

fn sizes(s: &mut Setup, size: Size) {
    for value in [size.m, size.n, size.k] {
        s.u32(value);
    }
}

/// Pointers to matrices without gaps, then the sizes.
fn pointers(s: &mut Setup, size: Size, tile: [usize; 2], inputs: Element, output: Element) {
    let matrices = Matrices::new(s, size, inputs, output, 0);
    for tensor in [&matrices.a, &matrices.b, &matrices.c] {
        s.pointer(tensor);
    }
    sizes(s, size);
    s.grid(size.m.div_ceil(tile[0]), size.n.div_ceil(tile[1]));
    matrices.expect(s);
}

/// nvcc on pointers: fp16 to fp32.
pub(crate) fn cuda_pointers(s: &mut Setup, size: Size) {
    pointers(s, size, [128, 128], Element::F16, Element::F32);
}

/// nvcc on tensor maps for A and B and a pointer for C, fp16.
pub(crate) fn cuda_maps(s: &mut Setup, size: Size) {
    let Size { m, n, k } = size;
    let a = s.input("a", Element::F16, [m, k], k + GAP, MOST);
    let b = s.input("b", Element::F16, [n, k], k + GAP, MOST);
    let c = s.output("c", Element::F16, [m, n], n);
    let matrices = Matrices { a, b, c };
    s.map(&matrices.a);
    s.map(&matrices.b);
    s.pointer(&matrices.c);
    sizes(s, size);
    s.grid(m / 128, n / 128);
    matrices.expect(s);
}

/// Triton on pointers.
pub(crate) fn triton_pointers(s: &mut Setup, size: Size, inputs: Element, output: Element) {
    pointers(s, size, [128, 128], inputs, output);
    s.scratch();
}

/// What follows the three descriptors.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    /// The size k; a program makes one tile.
    K,
    /// All sizes; a program makes one tile.
    Sizes,
    /// All sizes and the number of programs, which make all tiles between them.
    Programs(usize),
}

/// Triton and Gluon on descriptors. `tile` is what one program makes of C at a time.
pub(crate) fn descriptors(
    s: &mut Setup,
    size: Size,
    tile: [usize; 2],
    inputs: Element,
    then: Then,
) {
    let matrices = Matrices::new(s, size, inputs, Element::F16, GAP);
    for tensor in [&matrices.a, &matrices.b, &matrices.c] {
        s.descriptor(tensor);
    }
    match then {
        Then::K => s.u32(size.k),
        Then::Sizes | Then::Programs(_) => sizes(s, size),
    }
    if let Then::Programs(programs) = then {
        s.u32(programs);
        s.programs(programs, 1);
    } else {
        s.programs(size.m.div_ceil(tile[0]), size.n.div_ceil(tile[1]));
    }
    s.scratch();
    matrices.expect(s);
}

/// Products scaled by blocks: 32 elements of a row share a factor, a power of two that is stored
/// as its exponent plus 127.
pub(crate) fn scaled(s: &mut Setup, size: Size) {
    const BLOCK: usize = 32;
    let Size { m, n, k } = size;
    let matrices = Matrices::new(s, size, Element::E4m3, Element::F16, GAP);
    for tensor in [&matrices.a, &matrices.b, &matrices.c] {
        s.descriptor(tensor);
    }
    let factors = |s: &mut Setup, name, rows| {
        let columns = k / BLOCK;
        let values = (0..rows * columns)
            .map(|_| s.random.integer(126, 128))
            .collect();
        s.filled(name, Element::U8, [rows, columns], columns, values)
    };
    let of_a = factors(s, "sa", m);
    let of_b = factors(s, "sb", n);
    s.pointer(&of_a);
    s.pointer(&of_b);
    sizes(s, size);
    s.grid(m / 128, n / 128);
    s.scratch();
    let apply = |tensor: &mut Tensor, factors: &Tensor| {
        for (index, value) in tensor.values.iter_mut().enumerate() {
            let (row, column) = (index / k, index % k);
            *value *= (factors.row(row)[column / BLOCK] - 127.0).exp2();
        }
    };
    let mut matrices = matrices;
    apply(&mut matrices.a, &of_a);
    apply(&mut matrices.b, &of_b);
    matrices.expect(s);
}
