//! Layouts from layouts: products, compositions, inverses, quotients and parts.

use super::{Layout, LayoutError, Name};
use super::{
    space::Space,
    span::{Span, combine, pseudo_inverse},
};

impl Layout {
    /// `self` repeated as `other` says: on an axis that both have, the bits of `other` stand above
    /// those of `self`, on the input as on the output side. (`*` in Triton.)
    ///
    /// # Errors
    /// More than 64 bits on a side.
    pub fn product(&self, other: &Self) -> Result<Self, LayoutError> {
        let inputs = joined(&self.inputs, &other.inputs)?;
        let outputs = joined(&self.outputs, &other.outputs)?;
        let mut bases = Vec::new();
        for axis in inputs.axes() {
            let own = self.images_of(axis.name).iter();
            bases.extend(own.map(|&image| outputs.embed(image, &self.outputs, |_| 0)));
            let above = |name| self.outputs.axis_bits(name);
            let others = other.images_of(axis.name).iter();
            bases.extend(others.map(|&image| outputs.embed(image, &other.outputs, above)));
        }
        Ok(Self {
            inputs,
            outputs,
            bases,
        })
    }

    /// `self` repeated `size` times along `output`, the copies numbered by `input`.
    ///
    /// # Errors
    /// As [`Layout::identity`] and [`Layout::product`].
    pub fn repeat(&self, input: Name, output: Name, size: u32) -> Result<Self, LayoutError> {
        self.product(&Self::identity(input, output, size)?)
    }

    /// `self` with `size` values of `input` that hold the same.
    ///
    /// # Errors
    /// As [`Layout::identity`] and [`Layout::product`].
    pub fn broadcast(&self, input: Name, size: u32) -> Result<Self, LayoutError> {
        let Some(output) = self.outputs().first() else {
            return Err(self.outputs.unknown("any"));
        };
        self.product(&Self::zeros(input, size, output.name, 1)?)
    }

    /// The composition: first `self`, then `next`, whose inputs are the outputs of `self` in any
    /// order.
    ///
    /// # Errors
    /// The axes differ, or `self` has an output larger than the input of `next`.
    pub fn then(&self, next: &Self) -> Result<Self, LayoutError> {
        fits(&self.outputs, &next.inputs)?;
        let into_next = |&image: &u64| next.inputs.embed(image, &self.outputs, |_| 0);
        Ok(Self {
            inputs: self.inputs.clone(),
            outputs: next.outputs.clone(),
            bases: self
                .bases
                .iter()
                .map(|image| next.image(into_next(image)))
                .collect(),
        })
    }

    /// The inverse.
    ///
    /// # Errors
    /// The layout is not bijective.
    pub fn inverse(&self) -> Result<Self, LayoutError> {
        if !self.is_bijective() {
            return Err(LayoutError::NotBijective {
                rank: self.rank(),
                inputs: self.inputs.bits(),
                outputs: self.outputs.bits(),
            });
        }
        Ok(self.pseudo_inverse())
    }

    /// One point for each place: `right_inverse.then(self)` is the identity. [Free
    /// bits](Self::free_bits) are 0 in all of them.
    ///
    /// # Errors
    /// The layout is not surjective.
    pub fn right_inverse(&self) -> Result<Self, LayoutError> {
        if !self.is_surjective() {
            return Err(LayoutError::NotSurjective {
                rank: self.rank(),
                outputs: self.outputs.bits(),
            });
        }
        Ok(self.pseudo_inverse())
    }

    /// A map back that is right for every place that is reached:
    /// `self.then(back).then(self) == self`. It is the inverse of a bijective layout, a left
    /// inverse of an injective and a right inverse of a surjective one.
    #[must_use]
    pub fn pseudo_inverse(&self) -> Self {
        Self {
            inputs: self.outputs.clone(),
            outputs: self.inputs.clone(),
            bases: pseudo_inverse(&self.bases, self.outputs.bits()),
        }
    }

    /// `self` seen through `other`: the layout `x` from the inputs of `self` to the inputs of
    /// `other` with `x.then(other) == self`. So `tcgen05_load.through(accumulator)` says which row
    /// and column each register gets.
    ///
    /// # Errors
    /// The outputs differ, or `self` reaches a place that `other` does not.
    pub fn through(&self, other: &Self) -> Result<Self, LayoutError> {
        fits(&self.outputs, &other.outputs)?;
        let span = Span::of(&other.bases);
        let bases = self.bases.iter().map(|&image| {
            let place = other.outputs.embed(image, &self.outputs, |_| 0);
            span.solve(place).ok_or(LayoutError::NotContained)
        });
        Ok(Self {
            inputs: self.inputs.clone(),
            outputs: other.inputs.clone(),
            bases: bases.collect::<Result<_, _>>()?,
        })
    }

    /// The quotient: the layout `q` with `tile.product(q)` equal to `self`, up to the order of
    /// axes, if `self` consists of copies of `tile`.
    #[must_use]
    pub fn quotient(&self, tile: &Self) -> Option<Self> {
        let inputs = divided(&self.inputs, &tile.inputs)?;
        let outputs = divided(&self.outputs, &tile.outputs)?;
        let mut bases = Vec::new();
        for axis in self.inputs.axes() {
            let (low, high) = self
                .images_of(axis.name)
                .split_at(tile.images_of(axis.name).len());
            let own = tile.images_of(axis.name).iter();
            let same = own
                .map(|&image| self.outputs.embed(image, &tile.outputs, |_| 0))
                .eq(low.iter().copied());
            if !same {
                return None;
            }
            for &image in high {
                bases.push(self.without_low_bits(image, tile, &outputs)?);
            }
        }
        Some(Self {
            inputs,
            outputs,
            bases,
        })
    }

    /// An image divided by the sizes of `tile`, if it is a multiple of them.
    fn without_low_bits(&self, image: u64, tile: &Self, outputs: &Space) -> Option<u64> {
        let divided = self
            .outputs
            .unpack(image)
            .into_iter()
            .zip(self.outputs.axes())
            .map(|(coordinate, axis)| {
                let size = tile.outputs.size(axis.name);
                (coordinate % size == 0).then_some(coordinate / size)
            })
            .collect::<Option<Vec<_>>>()?;
        outputs.pack(&divided).ok()
    }

    /// The part of the layout on some input axes (the others held at 0) and some output axes (the
    /// others forgotten), in the order asked for. Axes that the layout lacks have size 1.
    ///
    /// # Errors
    /// An axis is named twice.
    pub fn part(&self, inputs: &[Name], outputs: &[Name]) -> Result<Self, LayoutError> {
        let select = |space: &Space, names: &[Name]| {
            let axes: Vec<_> = names
                .iter()
                .map(|&name| (name, space.axis_bits(name)))
                .collect();
            Space::new(&axes)
        };
        let selected = select(&self.outputs, outputs)?;
        let bases = inputs
            .iter()
            .flat_map(|&name| self.images_of(name))
            .map(|&image| selected.embed(image, &self.outputs, |_| 0));
        Ok(Self {
            bases: bases.collect(),
            inputs: select(&self.inputs, inputs)?,
            outputs: selected,
        })
    }

    /// The layout with axis `from`, on whichever sides it stands, called `to`.
    ///
    /// # Errors
    /// There is no axis `from`, or there is an axis `to` beside it.
    pub fn rename(&self, from: Name, to: Name) -> Result<Self, LayoutError> {
        let renamed = |space: &Space| {
            let axes: Vec<_> = space
                .axes()
                .iter()
                .map(|axis| (if axis.name == from { to } else { axis.name }, axis.bits))
                .collect();
            Space::new(&axes)
        };
        if self.inputs.range(from).is_none() && self.outputs.range(from).is_none() {
            return Err(LayoutError::UnknownAxis {
                name: from.to_owned(),
                known: format!("{}, {}", self.inputs.names(), self.outputs.names()),
            });
        }
        Ok(Self {
            inputs: renamed(&self.inputs)?,
            outputs: renamed(&self.outputs)?,
            bases: self.bases.clone(),
        })
    }

    /// The layout with all outputs joined to one, called `name`, the last axis of `order` fastest.
    ///
    /// # Errors
    /// `order` is not a permutation of the output axes, or their bits are more than 31.
    pub fn flatten(&self, order: &[Name], name: Name) -> Result<Self, LayoutError> {
        let reversed: Vec<_> = order.iter().rev().copied().collect();
        let names: Vec<_> = self.inputs().iter().map(|axis| axis.name).collect();
        let ordered = self.part(&names, &reversed)?;
        if ordered.outputs.bits() != self.outputs.bits() || order.len() != self.outputs().len() {
            return Err(LayoutError::AxesDiffer {
                expected: self.outputs.names(),
                got: order.join(", "),
            });
        }
        Ok(Self {
            outputs: Space::new(&[(name, ordered.outputs.bits())])?,
            ..ordered
        })
    }

    /// Whether two layouts are equal up to the order of axes and axes of size 1.
    #[must_use]
    pub fn same_map(&self, other: &Self) -> bool {
        let sizes_agree = |a: &Space, b: &Space| {
            let within = |a: &Space, b: &Space| {
                a.axes()
                    .iter()
                    .all(|axis| axis.bits == b.axis_bits(axis.name))
            };
            within(a, b) && within(b, a)
        };
        sizes_agree(&self.inputs, &other.inputs)
            && sizes_agree(&self.outputs, &other.outputs)
            && self.inputs().iter().all(|axis| {
                let others = other.images_of(axis.name).iter();
                self.images_of(axis.name)
                    .iter()
                    .copied()
                    .eq(others.map(|&image| self.outputs.embed(image, &other.outputs, |_| 0)))
            })
    }

    /// The images of the bits of one input axis, packed as `outputs` packs them.
    pub(super) fn images_in(&self, input: Name, outputs: &Self) -> Vec<u64> {
        self.images_of(input)
            .iter()
            .map(|&image| outputs.outputs.embed(image, &self.outputs, |_| 0))
            .collect()
    }

    /// The images of the bits of one input axis under a layout of one output.
    pub(super) fn offsets_of(&self, input: Name) -> Vec<u32> {
        self.images_of(input).iter().map(|&i| i as u32).collect()
    }
}

/// The XOR of the offsets whose bit is set in `selection`.
pub(super) fn combine_offsets(offsets: &[u32], selection: u32) -> u32 {
    let wide: Vec<u64> = offsets.iter().map(|&offset| u64::from(offset)).collect();
    combine(&wide, u64::from(selection)) as u32
}

/// The axes of both, with the bits of both.
fn joined(first: &Space, second: &Space) -> Result<Space, LayoutError> {
    let own = first
        .axes()
        .iter()
        .map(|axis| (axis.name, axis.bits + second.axis_bits(axis.name)));
    let new = second
        .axes()
        .iter()
        .filter(|axis| first.range(axis.name).is_none())
        .map(|axis| (axis.name, axis.bits));
    Space::new(&own.chain(new).collect::<Vec<_>>())
}

/// `whole` with the bits of `part` taken away.
fn divided(whole: &Space, part: &Space) -> Option<Space> {
    if part
        .axes()
        .iter()
        .any(|axis| axis.bits > whole.axis_bits(axis.name))
    {
        return None;
    }
    let axes: Vec<_> = whole
        .axes()
        .iter()
        .map(|axis| (axis.name, axis.bits - part.axis_bits(axis.name)))
        .collect();
    Space::new(&axes).ok()
}

/// Whether every point of `from` is one of `into`.
fn fits(from: &Space, into: &Space) -> Result<(), LayoutError> {
    let known = |axis: &super::Axis| into.range(axis.name).is_some();
    if from.axes().len() != into.axes().len() || !from.axes().iter().all(known) {
        return Err(LayoutError::AxesDiffer {
            expected: into.names(),
            got: from.names(),
        });
    }
    for axis in from.axes() {
        if axis.bits > into.axis_bits(axis.name) {
            return Err(LayoutError::SizesDiffer {
                name: axis.name,
                expected: into.size(axis.name),
                got: axis.size(),
            });
        }
    }
    Ok(())
}
