//! Which bytes a copy moves where.

use super::value::View;

/// A run of bytes that a copy moves; without a global side it is filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Byte in shared memory.
    pub(super) shared: u64,
    /// Byte in the argument.
    pub(super) global: Option<u64>,
    pub(super) length: u64,
}

/// The pieces of a box of a tensor, clipped to it. The box fits in shared memory.
pub(super) fn box_pieces(
    view: &View,
    coordinates: &[i64],
    extents: &[u64],
    mut shared: u64,
) -> Vec<Piece> {
    let width = i128::from(view.element_bytes);
    let (Some((inner_extent, outer_extents)), Some((inner, outer))) =
        (extents.split_last(), coordinates.split_last())
    else {
        return Vec::new();
    };
    let inner_size = view.sizes.last().copied().unwrap_or(0);
    let inner_extent = inner_extent.cast_signed();
    if coordinates.len() != extents.len() || inner_extent < 0 {
        return Vec::new();
    }
    // The part of a row that lies inside the tensor, counted from the row's start.
    let first = inner.saturating_neg().clamp(0, inner_extent);
    let last = inner_size.saturating_sub(*inner).clamp(first, inner_extent);
    let mut pieces = Vec::new();
    let rows: u64 = outer_extents.iter().product();
    for row in 0..rows {
        let (mut rest, mut offset, mut inside) = (row, i128::from(view.offset), true);
        for dimension in (0..outer_extents.len()).rev() {
            let step = (rest % outer_extents[dimension]).cast_signed();
            rest /= outer_extents[dimension];
            let index = outer[dimension].saturating_add(step);
            let size = view.sizes.get(dimension).copied().unwrap_or(0);
            let stride = view.strides.get(dimension).copied().unwrap_or(0);
            inside &= (0..size).contains(&index);
            offset = offset.saturating_add(i128::from(index) * i128::from(stride));
        }
        let (first, last) = if inside { (first, last) } else { (0, 0) };
        let data = offset
            .saturating_add(i128::from(*inner) + i128::from(first))
            .saturating_mul(width);
        for (start, end, global) in [
            (0, first, None),
            (first, last, u64::try_from(data).ok()),
            (last, inner_extent, None),
        ] {
            if start < end {
                let length = (end - start).cast_unsigned() * u64::from(view.element_bytes);
                pieces.push(Piece {
                    shared,
                    global,
                    length,
                });
                shared += length;
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::value::Base;

    fn pieces(sizes: &[i64], coordinates: &[i64], extents: &[u64]) -> Vec<(Option<u64>, u64)> {
        let view = View {
            base: Base::Argument(0),
            element_bytes: 4,
            offset: 0,
            strides: vec![sizes.get(1).copied().unwrap_or(1), 1][2 - sizes.len()..].to_vec(),
            sizes: sizes.to_vec(),
        };
        box_pieces(&view, coordinates, extents, 0)
            .into_iter()
            .map(|piece| (piece.global, piece.length))
            .collect()
    }

    #[test]
    fn boxes_are_clipped_at_both_ends() {
        assert_eq!(pieces(&[10], &[8], &[4]), [(Some(32), 8), (None, 8)]);
        assert_eq!(pieces(&[10], &[-1], &[4]), [(None, 4), (Some(0), 12)]);
        assert_eq!(pieces(&[0], &[0], &[4]), [(None, 16)]);
        assert_eq!(
            pieces(&[2], &[-1], &[4]),
            [(None, 4), (Some(0), 8), (None, 4)]
        );
    }

    #[test]
    fn rows_outside_the_tensor_are_zero() {
        assert_eq!(
            pieces(&[3, 4], &[2, 2], &[2, 4]),
            [(Some(40), 8), (None, 8), (None, 16)]
        );
    }
}
