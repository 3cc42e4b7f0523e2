//! What measured times mean.

use std::fmt;

/// Median, smallest and largest of a set of times, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The middle one; for an even number, the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Times {
    /// The statistics of `milliseconds`; none if there are none.
    pub fn of(milliseconds: &[f64]) -> Option<Self> {
        let mut sorted = milliseconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let upper = sorted[middle];
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], upper)
        } else {
            upper
        };
        Some(Self { median, min, max })
    }

    /// How much of `amount` goes by per second, in units of 10^9, at the median time.
    pub fn giga_per_second(&self, amount: f64) -> f64 {
        amount / (self.median * 1e6)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "median {:.4} ms, min {:.4} ms, max {:.4} ms",
            self.median, self.min, self.max
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics() {
        let odd = Times::of(&[3.0, 1.0, 2.0]).expect("some");
        assert_eq!((odd.median, odd.min, odd.max), (2.0, 1.0, 3.0));
        let even = Times::of(&[4.0, 1.0, 2.0, 3.0]).expect("some");
        assert_eq!(even.median, 2.5);
        assert_eq!(Times::of(&[]), None);
        assert_eq!(odd.giga_per_second(4e9), 2000.0);
        assert_eq!(
            odd.to_string(),
            "median 2.0000 ms, min 1.0000 ms, max 3.0000 ms"
        );
    }
}
