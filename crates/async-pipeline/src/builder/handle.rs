//! What the builder hands out: names of values, with their types. All are small and `Copy`.

use super::{
    Element, GridExtent, Shape, ValueType,
    types::{MAX_RANK, tile},
};

/// Which builder made a value, where, and what it is called there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) kernel: u64,
    pub(super) scope: u32,
    pub(super) name: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Argument(u32),
    /// The only result of an op, a loop counter, or what a loop carries.
    Value(u32),
    /// One of the results of an op.
    Result(u32, u32),
}

/// A register value: a scalar, or a tile of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub(super) id: Id,
    pub(super) ty: ValueType,
}

impl Value {
    /// Its type.
    pub fn ty(&self) -> ValueType {
        self.ty
    }

    /// Type of one element.
    pub fn element(&self) -> Element {
        self.ty.element()
    }

    /// Its extents.
    pub fn shape(&self) -> Shape {
        self.ty.shape()
    }
}

/// A scalar of type `index`, 64 bits with a sign: a position, size or number of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub(super) id: Id,
}

impl From<Index> for Value {
    fn from(index: Index) -> Self {
        Value {
            id: index.id,
            ty: Element::Index.into(),
        }
    }
}

mod sealed {
    use super::Value;

    pub trait Sealed {
        /// The value as this kind of operand; its type is that of another one of this kind.
        fn from_value(value: Value) -> Self;
    }
}

use sealed::Sealed;

/// What arithmetic works on: [`Value`] and [`Index`].
pub trait Operand: Copy + Into<Value> + Sealed {}

impl Operand for Value {}
impl Operand for Index {}

impl Sealed for Value {
    fn from_value(value: Value) -> Self {
        value
    }
}

impl Sealed for Index {
    fn from_value(value: Value) -> Self {
        Index { id: value.id }
    }
}

/// A tensor in global memory that the kernel gets as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub(super) id: Id,
    pub(super) argument: u32,
    pub(super) element: Element,
    pub(super) rank: usize,
}

impl Tensor {
    /// Type of one element.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// One of its extents for the kernel's grid, in elements; dimension 0 is the outermost.
    /// Inside the kernel it is [`KernelBuilder::dim`](super::KernelBuilder::dim).
    pub fn extent(&self, dimension: usize) -> GridExtent {
        GridExtent::extent_of(self, dimension)
    }
}

/// A part of a tensor with its own bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub(super) id: Id,
    pub(super) element: Element,
    pub(super) rank: usize,
}

/// Global memory that tiles are read from and written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// A whole tensor.
    Tensor(Tensor),
    /// A part of one.
    Window(Window),
}

impl From<Tensor> for Global {
    fn from(tensor: Tensor) -> Self {
        Global::Tensor(tensor)
    }
}

impl From<Window> for Global {
    fn from(window: Window) -> Self {
        Global::Window(window)
    }
}

impl Global {
    pub(super) fn id(&self) -> Id {
        match self {
            Global::Tensor(tensor) => tensor.id,
            Global::Window(window) => window.id,
        }
    }

    /// Type of one element.
    pub fn element(&self) -> Element {
        match self {
            Global::Tensor(tensor) => tensor.element,
            Global::Window(window) => window.element,
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Global::Tensor(tensor) => tensor.rank,
            Global::Window(window) => window.rank,
        }
    }
}

/// A tile in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub(super) id: Id,
    pub(super) element: Element,
    pub(super) rank: usize,
    pub(super) extents: [u64; MAX_RANK],
}

impl Buffer {
    /// Type of one element.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Extents, outermost first.
    pub fn extents(&self) -> &[u64] {
        &self.extents[..self.rank]
    }

    /// The buffer as a factor of a product that reads it transposed: it holds K×M for A, N×K
    /// for B.
    pub fn transposed(self) -> Transposed {
        Transposed(self)
    }

    pub(super) fn type_text(&self) -> String {
        buffer_type(self.extents(), self.element)
    }
}

/// A buffer that a product reads transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transposed(pub(super) Buffer);

/// An M×N tile of f32 that matrix products are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    pub(super) id: Id,
    pub(super) extents: [u64; 2],
}

impl Accumulator {
    /// Rows and columns.
    pub fn extents(&self) -> [u64; 2] {
        self.extents
    }

    pub(super) fn type_text(&self) -> String {
        accumulator_type(self.extents)
    }
}

/// Storage of whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A tile in shared memory.
    Buffer(Buffer),
    /// An accumulator.
    Accumulator(Accumulator),
}

impl From<Buffer> for Storage {
    fn from(buffer: Buffer) -> Self {
        Storage::Buffer(buffer)
    }
}

impl From<Accumulator> for Storage {
    fn from(accumulator: Accumulator) -> Self {
        Storage::Accumulator(accumulator)
    }
}

/// The left factor of a matrix product: a buffer, a transposed one, or a register value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorA {
    /// M×K in shared memory.
    Buffer(Buffer),
    /// K×M in shared memory.
    Transposed(Buffer),
    /// M×K in registers.
    Value(Value),
}

/// The right factor of a matrix product: a buffer or a transposed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorB {
    /// K×N in shared memory.
    Buffer(Buffer),
    /// N×K in shared memory.
    Transposed(Buffer),
}

impl From<Buffer> for FactorA {
    fn from(buffer: Buffer) -> Self {
        FactorA::Buffer(buffer)
    }
}

impl From<Transposed> for FactorA {
    fn from(Transposed(buffer): Transposed) -> Self {
        FactorA::Transposed(buffer)
    }
}

impl From<Value> for FactorA {
    fn from(value: Value) -> Self {
        FactorA::Value(value)
    }
}

impl From<Buffer> for FactorB {
    fn from(buffer: Buffer) -> Self {
        FactorB::Buffer(buffer)
    }
}

impl From<Transposed> for FactorB {
    fn from(Transposed(buffer): Transposed) -> Self {
        FactorB::Transposed(buffer)
    }
}

pub(super) fn buffer_type(extents: &[u64], element: Element) -> String {
    format!("!async_pipeline.buffer<{}>", tile(extents, element))
}

pub(super) fn accumulator_type(extents: [u64; 2]) -> String {
    format!(
        "!async_pipeline.accumulator<{}>",
        tile(&extents, Element::F32)
    )
}
