//! Types of register values and of memory, and how MLIR prints them.

use super::{BuildProblem, Element};
use std::fmt;

/// Elements of the largest register value: 256 in each of 256 threads.
const MAX_ELEMENTS: u64 = 1 << 16;
/// Bytes of the largest tile in shared memory that the dialect has a type for.
const MAX_TILE_BYTES: u64 = 1 << 28;
/// Most dimensions of memory: what a tensor map has.
pub(super) const MAX_RANK: usize = 5;

/// Extents of a register value: none for a scalar, one or two for a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: usize,
    extents: [u64; 2],
}

impl Shape {
    /// No extents.
    pub const SCALAR: Shape = Shape {
        rank: 0,
        extents: [1, 1],
    };

    /// The extents, outermost first.
    pub fn extents(&self) -> &[u64] {
        &self.extents[..self.rank]
    }

    /// Number of elements.
    pub fn elements(&self) -> u64 {
        self.extents[0].saturating_mul(self.extents[1])
    }

    /// What is left when some dimensions are gone.
    pub(super) fn without(&self, gone: &[usize]) -> Shape {
        let left: Vec<u64> = (0..self.rank)
            .filter(|dimension| !gone.contains(dimension))
            .map(|dimension| self.extents[dimension])
            .collect();
        match left[..] {
            [only] => Shape::from([only]),
            [rows, columns] => Shape::from([rows, columns]),
            _ => Shape::SCALAR,
        }
    }
}

impl From<[u64; 1]> for Shape {
    fn from([extent]: [u64; 1]) -> Self {
        Self {
            rank: 1,
            extents: [extent, 1],
        }
    }
}

impl From<[u64; 2]> for Shape {
    fn from(extents: [u64; 2]) -> Self {
        Self { rank: 2, extents }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.extents()).finish()
    }
}

/// Type of a register value: a scalar, or a tile of elements.
///
/// It prints as MLIR writes it: `f32`, `vector<128x256xf32>`. Whether registers can hold
/// such a value is checked where one is made: extents are powers of two, a value has at most
/// 65536 elements, integers have 1, 8, 16, 32 or 64 bits, and f64 is for scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueType {
    element: Element,
    shape: Shape,
}

impl ValueType {
    /// A tile, or a scalar for [`Shape::SCALAR`].
    pub fn new(element: Element, shape: impl Into<Shape>) -> Self {
        Self {
            element,
            shape: shape.into(),
        }
    }

    /// Type of one element.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Its extents.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether it is a scalar.
    pub fn is_scalar(&self) -> bool {
        self.shape == Shape::SCALAR
    }

    /// The same shape of other elements.
    pub(super) fn with(self, element: Element) -> Self {
        Self { element, ..self }
    }

    /// The same elements in another shape.
    pub(super) fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// Whether registers hold it, by the rules of `async-pipeline-verify-tiles`.
    pub(super) fn check(self) -> Result<Self, BuildProblem> {
        let vector = !self.is_scalar();
        let known = match self.element {
            Element::Int(bits) => is_width(bits),
            Element::F64 => !vector,
            _ => true,
        };
        if !known {
            return Err(BuildProblem::Elements {
                what: "register values",
                allowed: "i1, i8, i16, i32, i64, index, f16, bf16, f32, f8E4M3FN, f8E5M2 or, for scalars, f64",
                got: self.element,
            });
        }
        if self
            .shape
            .extents()
            .iter()
            .any(|extent| !extent.is_power_of_two())
        {
            return Err(BuildProblem::PowerOfTwo(self));
        }
        let elements = self.shape.elements();
        range("elements of a register value", elements, 1, MAX_ELEMENTS)?;
        Ok(self)
    }
}

impl From<Element> for ValueType {
    fn from(element: Element) -> Self {
        Self::new(element, Shape::SCALAR)
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_scalar() {
            return write!(f, "{}", self.element);
        }
        write!(f, "vector<{}>", tile(self.shape.extents(), self.element))
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Type of a tensor in global memory.
///
/// ```
/// use async_pipeline::builder::{Element, TensorType};
///
/// let matrix = TensorType::new(Element::F16, 2); // both extents are known at launch
/// let table = TensorType::new(Element::F32, 2).extent(1, 64).align(8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    pub(super) element: Element,
    pub(super) rank: usize,
    /// Extents that are no part of the launch.
    fixed: Vec<(usize, u64)>,
    padded: bool,
    pub(super) align: Option<u32>,
    pub(super) may_alias: bool,
}

impl TensorType {
    /// A row-major tensor whose extents are known at launch; rank 1 to 5, elements of f16,
    /// bf16, f32, f64, 8-bit floats, or integers of 8, 16, 32 or 64 bits.
    pub fn new(element: Element, rank: usize) -> Self {
        Self {
            element,
            rank,
            fixed: Vec::new(),
            padded: false,
            align: None,
            may_alias: false,
        }
    }

    /// Fixes an extent, counted in elements; dimension 0 is the outermost.
    pub fn extent(mut self, dimension: usize, extent: u64) -> Self {
        self.fixed.push((dimension, extent));
        self
    }

    /// Rows may stand farther apart than their length: the strides of all dimensions but the
    /// innermost are known at launch.
    pub fn padded(mut self) -> Self {
        self.padded = true;
        self
    }

    /// Bytes that base address and row pitch are multiples of: 4, 8 or 16 (the default).
    pub fn align(mut self, bytes: u32) -> Self {
        self.align = Some(bytes);
        self
    }

    /// It may overlap another argument.
    pub fn may_alias(mut self) -> Self {
        self.may_alias = true;
        self
    }

    /// The memref type, if it is one that kernels take.
    pub(super) fn memref(&self) -> Result<String, BuildProblem> {
        in_memory("tensors", self.element)?;
        range("a rank", self.rank as u64, 1, MAX_RANK as u64)?;
        if let Some(bytes) = self.align
            && !matches!(bytes, 4 | 8 | 16)
        {
            return Err(BuildProblem::Align(bytes));
        }
        let mut extents = vec!["?".to_owned(); self.rank];
        for (dimension, extent) in &self.fixed {
            let Some(known) = extents.get_mut(*dimension) else {
                return Err(dimension_of(self.rank, *dimension));
            };
            range("an extent", *extent, 1, i64::MAX.cast_unsigned())?;
            *known = extent.to_string();
        }
        let layout = if self.padded && self.rank > 1 {
            format!(", strided<[{}1]>", "?, ".repeat(self.rank - 1))
        } else {
            String::new()
        };
        Ok(format!(
            "memref<{}x{}{layout}>",
            extents.join("x"),
            self.element
        ))
    }
}

/// `128x64xf16`
pub(super) fn tile(extents: &[u64], element: Element) -> String {
    let mut text = String::new();
    for extent in extents {
        text += &format!("{extent}x");
    }
    text + &element.to_string()
}

/// Whether shared memory holds such a tile.
pub(super) fn check_tile(extents: &[u64], element: Element) -> Result<(), BuildProblem> {
    in_memory("buffers", element)?;
    range("a rank", extents.len() as u64, 1, MAX_RANK as u64)?;
    let mut bytes = u64::from(element.bits()) / 8;
    for extent in extents {
        range("an extent", *extent, 1, MAX_TILE_BYTES)?;
        bytes = bytes.saturating_mul(*extent);
    }
    range("bytes of a tile", bytes, 1, MAX_TILE_BYTES)
}

fn in_memory(what: &'static str, element: Element) -> Result<(), BuildProblem> {
    match element {
        Element::Index => {}
        Element::Int(bits) if bits == 1 || !is_width(bits) => {}
        _ => return Ok(()),
    }
    Err(BuildProblem::Elements {
        what,
        allowed: "i8, i16, i32, i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2",
        got: element,
    })
}

pub(super) fn is_width(bits: u32) -> bool {
    matches!(bits, 1 | 8 | 16 | 32 | 64)
}

pub(super) fn range(
    what: &'static str,
    got: u64,
    least: u64,
    most: u64,
) -> Result<(), BuildProblem> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    Err(BuildProblem::Range {
        what,
        least: least.cast_signed(),
        most: most.cast_signed(),
        got: i128::from(got),
    })
}

pub(super) fn dimension_of(rank: usize, got: usize) -> BuildProblem {
    BuildProblem::Range {
        what: "a dimension",
        least: 0,
        most: rank as i64 - 1,
        got: got as i128,
    }
}
