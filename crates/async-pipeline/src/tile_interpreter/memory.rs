//! Global memory, and which of its elements a tile covers.

use super::{
    element::Element,
    input::{Array, Problem},
    tile::{Data, coordinates, elements},
};

/// The memory of one argument.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) element: Element,
    pub(super) shape: Vec<i64>,
    strides: Vec<i64>,
    pub(super) data: Data,
}

/// A memref or window: an argument, where element 0 lies in it, and its bounds there.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) memory: usize,
    origin: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Memory {
    pub(super) fn new(array: &Array) -> Self {
        let element = array.element;
        let data = if element.is_float() {
            Data::Float(
                array
                    .data
                    .iter()
                    .map(|value| element.admit(*value))
                    .collect(),
            )
        } else {
            Data::Int(
                array
                    .data
                    .iter()
                    .map(|value| element.integer_from(*value))
                    .collect(),
            )
        };
        let numbers = |values: &[u64]| {
            values
                .iter()
                .map(|value| i64::try_from(*value).unwrap_or(i64::MAX))
                .collect()
        };
        Self {
            element,
            shape: numbers(&array.shape),
            strides: numbers(&array.strides),
            data,
        }
    }

    pub(super) fn into_array(self) -> Array {
        let numbers = |values: Vec<i64>| values.into_iter().map(i64::cast_unsigned).collect();
        Array {
            element: self.element,
            shape: numbers(self.shape),
            strides: numbers(self.strides),
            data: match self.data {
                Data::Float(values) => values,
                Data::Int(bits) => bits
                    .into_iter()
                    .map(|bits| self.element.integer_to(bits))
                    .collect(),
            },
        }
    }

    /// Where an element lies.
    pub(super) fn position(&self, indices: &[i64]) -> Result<usize, Problem> {
        let mut at = 0;
        for (dimension, index) in indices.iter().enumerate() {
            let extent = self.shape[dimension];
            if !(0..extent).contains(index) {
                return Err(Problem::Outside {
                    index: *index,
                    dimension,
                    extent,
                });
            }
            at += index * self.strides[dimension];
        }
        Ok(at as usize)
    }

    pub(super) fn read(&self, positions: &[Option<usize>], fill: &Data) -> Data {
        match (&self.data, fill) {
            (Data::Float(values), Data::Float(fill)) => Data::Float(
                positions
                    .iter()
                    .map(|at| at.map_or(fill[0], |at| values[at]))
                    .collect(),
            ),
            (Data::Int(values), fill) => {
                let fill = fill.ints().first().copied().unwrap_or(0);
                Data::Int(
                    positions
                        .iter()
                        .map(|at| at.map_or(fill, |at| values[at]))
                        .collect(),
                )
            }
            (Data::Float(_), Data::Int(_)) => Data::zeros(self.element, positions.len()),
        }
    }

    pub(super) fn write(&mut self, positions: &[Option<usize>], new: &Data, add: bool) {
        let element = self.element;
        match (&mut self.data, new) {
            (Data::Float(values), Data::Float(new)) => {
                for (at, new) in positions.iter().zip(new) {
                    let Some(at) = *at else { continue };
                    values[at] = if add {
                        element.round(values[at] + new)
                    } else {
                        *new
                    };
                }
            }
            (Data::Int(values), Data::Int(new)) => {
                for (at, new) in positions.iter().zip(new) {
                    let Some(at) = *at else { continue };
                    values[at] = if add {
                        element.truncate(values[at].wrapping_add(*new))
                    } else {
                        *new
                    };
                }
            }
            _ => {}
        }
    }
}

impl Tensor {
    /// All of an argument.
    pub(super) fn whole(memory: usize, shape: &[i64]) -> Self {
        Self {
            memory,
            origin: vec![0; shape.len()],
            low: vec![0; shape.len()],
            high: shape.to_vec(),
        }
    }

    /// A part of it with bounds of its own. Numbers saturate: so far out is nothing.
    pub(super) fn window(&self, indices: &[i64], sizes: &[i64]) -> Self {
        let mut window = self.clone();
        for (dimension, (index, size)) in indices.iter().zip(sizes).enumerate() {
            let origin = self.origin[dimension].saturating_add(*index);
            let end = origin.saturating_add((*size).max(0));
            window.origin[dimension] = origin;
            window.low[dimension] = self.low[dimension].max(origin);
            window.high[dimension] = self.high[dimension].min(end);
        }
        window
    }

    /// Where each element of a tile lies that starts at `indices` and runs along the last
    /// dimensions; `None` outside the bounds.
    pub(super) fn positions(
        &self,
        memory: &Memory,
        indices: &[i64],
        shape: &[usize],
    ) -> Vec<Option<usize>> {
        let rank = self.origin.len();
        let outer = rank - shape.len();
        let start: Vec<i64> = self
            .origin
            .iter()
            .zip(indices)
            .map(|(origin, index)| origin.saturating_add(*index))
            .collect();
        let inside =
            |dimension: usize, at: i64| (self.low[dimension]..self.high[dimension]).contains(&at);
        let outside = (0..outer).any(|dimension| !inside(dimension, start[dimension]));
        if outside {
            return vec![None; elements(shape)];
        }
        let base: i64 = (0..outer)
            .map(|dimension| start[dimension] * memory.strides[dimension])
            .sum();
        (0..elements(shape))
            .map(|at| {
                let mut position = base;
                for (dimension, coordinate) in coordinates(at, shape).enumerate() {
                    let dimension = outer + dimension;
                    let at = start[dimension].saturating_add(coordinate as i64);
                    if !inside(dimension, at) {
                        return None;
                    }
                    position += at * memory.strides[dimension];
                }
                Some(position as usize)
            })
            .collect()
    }
}
