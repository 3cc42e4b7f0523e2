//! Where each element of a tile is: layouts as bit-linear maps.
//!
//! A [`Layout`] maps the bits of named input axes to the bits of named output axes, linearly over
//! GF(2): `layout(a ^ b) = layout(a) ^ layout(b)`. Whatever has power-of-two sizes and splits or
//! swizzles its indices bit by bit has that form: the registers of a tensor-core fragment, rows in
//! shared memory under an XOR swizzle, accumulators in tensor memory. Such a map is known from the
//! images of its input bits, so composing, inverting and comparing are a few XORs.
//!
//! ```text
//!   register, lane, warp ──(fragments, global)──► row, column ──(shared)──► byte
//!                                                     │
//!                                            (tensor_memory) ──► tmem_lane, tmem_column
//! ```
//!
//! | module | answers |
//! |---|---|
//! | this one | what a layout is: building it, applying it |
//! | [`fragments`] | who holds what in `mma.sync` and `wgmma` |
//! | [`ldmatrix`] | whether `ldmatrix` loads a distribution, and from which addresses |
//! | [`tensor_memory`] | `tcgen05.ld` shapes and accumulators |
//! | [`shared`] | rows and boxes in shared memory, swizzles and their choice |
//! | [`global`] | which thread loads or copies what |
//! | [`banks`] | how many wavefronts an access to shared memory takes |
//! | [`vectors`] | how many elements one instruction of a thread can move |
//! | [`conversion`] | how to get from one distribution to another |
//!
//! The idea is that of Triton's linear layouts (arXiv 2505.23819).

mod algebra;
pub mod banks;
pub mod conversion;
mod display;
mod error;
mod exchange;
pub mod fragments;
pub mod global;
pub mod ldmatrix;
pub mod shared;
mod shuffles;
mod space;
mod span;
pub mod tensor_memory;
#[cfg(test)]
mod tests;
pub mod vectors;

pub use error::LayoutError;
pub use space::{
    Axis, BYTE, COLUMN, COPY, CTA, ELEMENT, LANE, Name, REGISTER, ROW, TMEM_COLUMN, TMEM_LANE, WARP,
};

use space::{Space, bits_of};
use span::Span;

/// A map from the bits of the input axes to the bits of the output axes, linear over GF(2).
///
/// Two layouts are equal (`==`) if they have the same axes in the same order and the same images;
/// [`Layout::same_map`] ignores the order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    inputs: Space,
    outputs: Space,
    /// The image of each input bit, packed as `outputs` packs points; axis by axis, low bit first.
    bases: Vec<u64>,
}

impl Layout {
    /// The map of no axes: what [`Layout::product`] starts from.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            inputs: Space::default(),
            outputs: Space::default(),
            bases: Vec::new(),
        }
    }

    /// `input` i goes to `output` i, for i below `size`.
    ///
    /// # Errors
    /// `size` is not a power of two.
    pub fn identity(input: Name, output: Name, size: u32) -> Result<Self, LayoutError> {
        let bits = bits_of(input, size)?;
        Ok(Self {
            inputs: Space::new(&[(input, bits)])?,
            outputs: Space::new(&[(output, bits)])?,
            bases: (0..bits).map(|bit| 1 << bit).collect(),
        })
    }

    /// All `input_size` values of `input` go to 0 of an `output` of `output_size`: with an output
    /// of size 1 they share what they hold, with an input of size 1 the output grows by
    /// coordinates that nothing goes to.
    ///
    /// # Errors
    /// A size is not a power of two.
    pub fn zeros(
        input: Name,
        input_size: u32,
        output: Name,
        output_size: u32,
    ) -> Result<Self, LayoutError> {
        let bits = bits_of(input, input_size)?;
        Ok(Self {
            inputs: Space::new(&[(input, bits)])?,
            outputs: Space::new(&[(output, bits_of(output, output_size)?)])?,
            bases: vec![0; bits as usize],
        })
    }

    /// A layout from the images of its input bits, low bit first, each image with one coordinate
    /// per output; outputs are named with their sizes.
    ///
    /// # Errors
    /// A size is not a power of two, a coordinate is outside its axis, an axis is named twice, or
    /// there are more than 64 bits on a side.
    pub fn from_bases<const N: usize>(
        inputs: &[(Name, Vec<[u32; N]>)],
        outputs: [(Name, u32); N],
    ) -> Result<Self, LayoutError> {
        let sizes = outputs
            .iter()
            .map(|&(name, size)| Ok((name, bits_of(name, size)?)))
            .collect::<Result<Vec<_>, LayoutError>>()?;
        let outputs = Space::new(&sizes)?;
        let axes: Vec<_> = inputs
            .iter()
            .map(|(name, images)| (*name, images.len() as u32))
            .collect();
        let bases = inputs
            .iter()
            .flat_map(|(_, images)| images)
            .map(|image| outputs.pack(image))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            inputs: Space::new(&axes)?,
            outputs,
            bases,
        })
    }

    /// The input axes, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Axis] {
        self.inputs.axes()
    }

    /// The output axes, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Axis] {
        self.outputs.axes()
    }

    /// The size of an input axis; 1 if there is none of that name.
    #[must_use]
    pub fn input_size(&self, name: Name) -> u32 {
        self.inputs.size(name)
    }

    /// The size of an output axis; 1 if there is none of that name.
    #[must_use]
    pub fn output_size(&self, name: Name) -> u32 {
        self.outputs.size(name)
    }

    /// Where a point goes, one coordinate per output axis in order. Inputs that `point` does not
    /// name are 0.
    ///
    /// # Errors
    /// `point` names an unknown axis or is outside one.
    pub fn apply(&self, point: &[(Name, u32)]) -> Result<Vec<u32>, LayoutError> {
        let packed = self.inputs.pack_named(point)?;
        Ok(self.outputs.unpack(self.image(packed)))
    }

    /// One coordinate of where a point goes.
    ///
    /// # Errors
    /// As [`Layout::apply`], and for an unknown `output`.
    pub fn coordinate(&self, output: Name, point: &[(Name, u32)]) -> Result<u32, LayoutError> {
        let packed = self.inputs.pack_named(point)?;
        self.outputs.coordinate(output, self.image(packed))
    }

    /// The image of one input bit, one coordinate per output axis in order.
    ///
    /// # Errors
    /// There is no such axis or bit.
    pub fn basis(&self, input: Name, bit: u32) -> Result<Vec<u32>, LayoutError> {
        let value = 1_u32.checked_shl(bit).unwrap_or(u32::MAX);
        self.apply(&[(input, value)])
    }

    /// How many independent bits reach the outputs: the map takes `2^rank` values.
    #[must_use]
    pub fn rank(&self) -> u32 {
        Span::of(&self.bases).rank()
    }

    /// Whether no two points go to the same place.
    #[must_use]
    pub fn is_injective(&self) -> bool {
        self.rank() == self.inputs.bits()
    }

    /// Whether every output point is reached.
    #[must_use]
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.outputs.bits()
    }

    /// Whether points and places correspond one to one.
    #[must_use]
    pub fn is_bijective(&self) -> bool {
        self.is_injective() && self.is_surjective()
    }

    /// The bits of `input` that reach nothing new beyond all bits before them (axes in order, low
    /// bit first). Setting such a bit gives a point that holds a copy of what another one holds;
    /// with all of them clear every element is named once.
    #[must_use]
    pub fn free_bits(&self, input: Name) -> u32 {
        let Some(range) = self.inputs.range(input) else {
            return 0;
        };
        let independent = Span::of(&self.bases).independent();
        range
            .clone()
            .filter(|&bit| independent & (1 << bit) == 0)
            .fold(0, |mask, bit| mask | 1 << (bit - range.start))
    }

    /// A basis of the points that go to 0, one coordinate per input axis in order: two points go
    /// to the same place if they differ by a sum of these.
    #[must_use]
    pub fn kernel(&self) -> Vec<Vec<u32>> {
        let dependencies = Span::of(&self.bases).into_dependencies();
        dependencies
            .into_iter()
            .map(|point| self.inputs.unpack(point))
            .collect()
    }

    /// The image of a packed input point, packed.
    fn image(&self, packed: u64) -> u64 {
        span::combine(&self.bases, packed)
    }

    /// The packed images of the bits of one input axis; none if there is no such axis.
    fn images_of(&self, input: Name) -> &[u64] {
        self.inputs.range(input).map_or(&[], |range| {
            &self.bases[range.start as usize..range.end as usize]
        })
    }
}
