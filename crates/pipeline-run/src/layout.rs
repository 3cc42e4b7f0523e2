//! Where the elements of a tensor lie in memory.

/// Why sizes and strides make no usable layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Elements would share bytes.
    #[error(
        "stride {stride} of dimension {dimension} makes elements overlap; at least {least} is needed"
    )]
    Overlap {
        /// Which dimension.
        dimension: usize,
        /// Its stride in elements.
        stride: u64,
        /// The smallest stride that keeps elements apart.
        least: u64,
    },
    /// More than this program is willing to allocate.
    #[error("the tensor is larger than {MAX_BYTES} bytes")]
    TooLarge,
}

/// The largest tensor accepted, in bytes: about the memory of the largest GPUs, and small enough
/// that no sum of sizes overflows.
pub const MAX_BYTES: u64 = 1 << 38;

/// Sizes and strides of a tensor, outermost dimension first, in elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    shape: Vec<u64>,
    strides: Vec<u64>,
    element_bytes: u64,
    /// Bytes from the first element's start to the last one's end.
    extent: u64,
}

/// Elements of one row: `count` of them, `step` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Row-major index of the first element.
    pub first: u64,
    /// Byte offset of the first element.
    pub offset: usize,
    /// How many elements there are.
    pub count: u64,
    /// Bytes between starts of neighbours.
    pub step: usize,
}

impl Layout {
    /// A layout of these sizes and strides; both have the same length.
    ///
    /// # Errors
    /// Strides that let elements overlap, and tensors above [`MAX_BYTES`].
    pub fn new(
        shape: Vec<u64>,
        strides: Vec<u64>,
        element_bytes: u32,
    ) -> Result<Self, LayoutError> {
        let element_bytes = u64::from(element_bytes);
        if shape.contains(&0) {
            return Ok(Self {
                shape,
                strides,
                element_bytes,
                extent: 0,
            });
        }
        let mut least = 1;
        for (dimension, (&size, &stride)) in shape.iter().zip(&strides).enumerate().rev() {
            if stride < least {
                return Err(LayoutError::Overlap {
                    dimension,
                    stride,
                    least,
                });
            }
            let within = |n: &u64| *n <= MAX_BYTES;
            let span = stride.checked_mul(size).filter(within);
            least = span.ok_or(LayoutError::TooLarge)?;
        }
        let steps = shape.iter().zip(&strides);
        let last: u64 = steps.map(|(&size, &stride)| (size - 1) * stride).sum();
        let extent = (last + 1) * element_bytes;
        if extent > MAX_BYTES {
            return Err(LayoutError::TooLarge);
        }
        Ok(Self {
            shape,
            strides,
            element_bytes,
            extent,
        })
    }

    /// Sizes in elements, outermost first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Strides in elements, outermost first.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// How many elements there are.
    pub fn elements(&self) -> u64 {
        if self.extent == 0 {
            return 0;
        }
        self.shape.iter().product()
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        to_usize(self.element_bytes)
    }

    /// Bytes from the first element's start to the last one's end, padding included.
    pub fn extent_bytes(&self) -> usize {
        to_usize(self.extent)
    }

    /// The bytes that the elements themselves take.
    pub fn data_bytes(&self) -> u64 {
        self.elements() * self.element_bytes
    }

    /// The rows in memory order, which is also row-major order.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let (count, step) = match (self.shape.last(), self.strides.last()) {
            (Some(&count), Some(&stride)) => (count, stride.saturating_mul(self.element_bytes)),
            _ => (1, self.element_bytes),
        };
        let rows = if self.extent == 0 {
            0
        } else {
            self.elements() / count
        };
        (0..rows).map(move |row| {
            let first = row * count;
            Row {
                first,
                offset: self.offset_of(first),
                count,
                step: to_usize(step),
            }
        })
    }

    /// The indices of the element with this row-major number.
    pub fn indices(&self, linear: u64) -> Vec<u64> {
        let mut rest = linear;
        let mut indices: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|&size| {
                let size = size.max(1);
                let index = rest % size;
                rest /= size;
                index
            })
            .collect();
        indices.reverse();
        indices
    }

    fn offset_of(&self, linear: u64) -> usize {
        let indices = self.indices(linear);
        let steps = indices.iter().zip(&self.strides);
        let elements: u64 = steps.map(|(index, stride)| index * stride).sum();
        to_usize(elements * self.element_bytes)
    }
}

/// Sizes are below [`MAX_BYTES`], so this cuts nothing off on the 64-bit hosts that CUDA has.
fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A shape as people write it: `64x32`, or `scalar` for rank 0.
pub fn shape_text(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    sizes.join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[u64], strides: &[u64], bytes: u32) -> Layout {
        Layout::new(shape.to_vec(), strides.to_vec(), bytes).expect("valid")
    }

    #[test]
    fn rows_of_a_padded_matrix() {
        let padded = layout(&[3, 5], &[8, 1], 4);
        assert_eq!(padded.extent_bytes(), (2 * 8 + 5) * 4);
        assert_eq!((padded.elements(), padded.data_bytes()), (15, 60));
        let rows: Vec<_> = padded
            .rows()
            .map(|r| (r.first, r.offset, r.count, r.step))
            .collect();
        assert_eq!(rows, [(0, 0, 5, 4), (5, 32, 5, 4), (10, 64, 5, 4)]);
        assert_eq!(padded.indices(13), [2, 3]);
    }

    #[test]
    fn empty_and_rank_zero() {
        let empty = layout(&[0, 7], &[8, 1], 2);
        assert_eq!(
            (empty.elements(), empty.extent_bytes(), empty.rows().count()),
            (0, 0, 0)
        );
        let number = layout(&[], &[], 4);
        assert_eq!(
            (
                number.elements(),
                number.extent_bytes(),
                number.rows().count()
            ),
            (1, 4, 1)
        );
    }

    #[test]
    fn refuses_overlap_and_excess() {
        let overlap = Layout::new(vec![4, 8], vec![7, 1], 4).expect_err("overlaps");
        assert!(overlap.to_string().contains("stride 7 of dimension 0"));
        let zero = Layout::new(vec![4], vec![0], 4).expect_err("overlaps");
        assert!(matches!(zero, LayoutError::Overlap { least: 1, .. }));
        let huge = Layout::new(vec![u64::MAX, u64::MAX], vec![u64::MAX, 1], 8);
        assert_eq!(huge, Err(LayoutError::TooLarge));
        let empty = layout(&[0], &[u64::MAX], 8);
        assert_eq!(empty.rows().count(), 0);
    }
}
