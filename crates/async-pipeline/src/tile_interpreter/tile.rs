//! Values of registers: scalars and tiles, and what reshapes them.

use super::element::Element;
use std::sync::Arc;

/// Elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    /// Integers, without their unused upper bits.
    Int(Vec<u64>),
    /// Floats, each a value of its type.
    Float(Vec<f64>),
}

/// A scalar (without extents) or a vector.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tile {
    pub(super) shape: Arc<[usize]>,
    pub(super) element: Element,
    pub(super) data: Data,
}

impl Data {
    pub(super) fn zeros(element: Element, length: usize) -> Self {
        if element.is_float() {
            Data::Float(vec![0.0; length])
        } else {
            Data::Int(vec![0; length])
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Data::Int(values) => values.len(),
            Data::Float(values) => values.len(),
        }
    }

    /// Integers; none if these are floats.
    pub(super) fn ints(&self) -> &[u64] {
        match self {
            Data::Int(values) => values,
            Data::Float(_) => &[],
        }
    }

    /// Floats; none if these are integers.
    pub(super) fn floats(&self) -> &[f64] {
        match self {
            Data::Float(values) => values,
            Data::Int(_) => &[],
        }
    }

    /// The elements at these positions, all of which exist.
    pub(super) fn pick(&self, positions: impl Iterator<Item = usize>) -> Self {
        match self {
            Data::Int(values) => Data::Int(positions.map(|at| values[at]).collect()),
            Data::Float(values) => Data::Float(positions.map(|at| values[at]).collect()),
        }
    }
}

impl Tile {
    pub(super) fn int(element: Element, bits: u64) -> Self {
        Tile {
            shape: Arc::default(),
            element,
            data: Data::Int(vec![element.truncate(bits)]),
        }
    }

    pub(super) fn float(element: Element, value: f64) -> Self {
        Tile {
            shape: Arc::default(),
            element,
            data: Data::Float(vec![value]),
        }
    }

    /// Repeats along new outer dimensions and along extents of 1.
    pub(super) fn broadcast(&self, shape: &Arc<[usize]>) -> Self {
        // A dimension along which elements repeat has stride 0.
        let new = shape.len() - self.shape.len();
        let own = strides(&self.shape);
        let steps: Vec<usize> = (0..shape.len())
            .map(|dimension| match dimension.checked_sub(new) {
                Some(old) if self.shape[old] != 1 => own[old],
                _ => 0,
            })
            .collect();
        let positions = (0..elements(shape)).map(|at| {
            let at = coordinates(at, shape);
            at.zip(&steps).map(|(at, step)| at * step).sum()
        });
        Tile {
            shape: Arc::clone(shape),
            element: self.element,
            data: self.data.pick(positions),
        }
    }

    /// For every element of a reduction over `dimensions`, the positions of what is combined.
    pub(super) fn groups(&self, dimensions: &[bool]) -> Vec<Vec<usize>> {
        let kept: Vec<usize> = (0..self.shape.len())
            .filter(|dimension| !dimensions[*dimension])
            .collect();
        let outer: Vec<usize> = kept.iter().map(|kept| self.shape[*kept]).collect();
        let steps = strides(&outer);
        let mut groups = vec![Vec::new(); elements(&outer)];
        for at in 0..self.data.len() {
            let coordinates: Vec<usize> = coordinates(at, &self.shape).collect();
            let group: usize = kept
                .iter()
                .zip(&steps)
                .map(|(kept, step)| coordinates[*kept] * step)
                .sum();
            groups[group].push(at);
        }
        groups
    }
}

/// Number of elements.
pub(super) fn elements(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Row-major strides.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = strides[dimension] * shape[dimension];
    }
    strides
}

/// Coordinates of an element, outermost first.
pub(super) fn coordinates(at: usize, shape: &[usize]) -> impl Iterator<Item = usize> {
    let mut step = elements(shape);
    let mut rest = at;
    shape.iter().map(move |extent| {
        step /= extent;
        let coordinate = rest / step;
        rest %= step;
        coordinate
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(shape: &[usize], values: &[f64]) -> Tile {
        Tile {
            shape: shape.into(),
            element: Element::F32,
            data: Data::Float(values.to_vec()),
        }
    }

    #[test]
    fn broadcasts_repeat_rows_and_columns() {
        let shape: Arc<[usize]> = [2, 3].into();
        let row = tile(&[3], &[1.0, 2.0, 3.0]).broadcast(&shape);
        assert_eq!(row.data.floats(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        let column = tile(&[2, 1], &[1.0, 2.0]).broadcast(&shape);
        assert_eq!(column.data.floats(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        let scalar = Tile::float(Element::F32, 7.0).broadcast(&shape);
        assert_eq!(scalar.data.floats(), [7.0; 6]);
    }

    #[test]
    fn reductions_group_along_any_dimensions() {
        let cube = tile(&[2, 3, 2], &[0.0; 12]);
        assert_eq!(cube.groups(&[true; 3]), [(0..12).collect::<Vec<_>>()]);
        let middle = cube.groups(&[false, true, false]);
        assert_eq!(middle, [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]);
        assert_eq!(cube.groups(&[true, false, true])[1], [2, 3, 8, 9]);
    }
}
