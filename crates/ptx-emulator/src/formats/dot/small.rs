//! The quick way where no term is cut and no sum is rounded: small integers and their like.

use super::LANES;

/// What is known of a group of operands: the largest exponent and the largest power of two that divides them all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    largest: i32,
    unit: i32,
}

impl Reach {
    /// `exponents` are those of `values` as the alignment of products counts them.
    pub(super) fn of(values: &[f32], exponents: &[i16]) -> Self {
        Self {
            largest: exponents.iter().copied().max().map_or(0, i32::from),
            unit: values.iter().map(|&value| unit(value)).min().unwrap_or(0),
        }
    }

    /// Whether `c` plus `depth` products of these operands and those of `other` is a plain f32 sum in any order.
    ///
    /// With u the product of the units: every product is a multiple of 2^u, and so is `c` when this holds. The sum of the
    /// products' magnitudes is below 2^(u + 23), that of `c` below 2^(u + 22): every partial sum is a multiple of 2^u below
    /// 2^(u + 24), which f32 holds. The largest exponent of a term is at most u + `kept_bits`, so nothing is cut.
    pub(super) fn accumulates_exactly(
        self,
        other: Self,
        depth: usize,
        kept_bits: i32,
        c: &[f32; LANES],
    ) -> bool {
        let largest = self.largest + other.largest;
        let unit = self.unit + other.unit;
        let additions = depth.next_power_of_two().trailing_zeros().cast_signed();
        let range = -100..100;
        if !range.contains(&largest)
            || !range.contains(&unit)
            || largest + 2 + additions - unit > 23
            || largest - unit > kept_bits
        {
            return false;
        }
        let scale = power_of_two(-unit);
        let limit = power_of_two((kept_bits + 1).min(22));
        // Bitwise `&`: without branches the lanes are looked at together.
        c.iter().fold(true, |exact, &c| {
            let scaled = c * scale;
            exact & (scaled.abs() < limit) & (scaled as i32 as f32 == scaled)
        })
    }
}

/// The exponent of the lowest bit set; a large number for zero.
fn unit(x: f32) -> i32 {
    let bits = x.to_bits() & 0x7fff_ffff;
    if bits == 0 {
        return 4096;
    }
    let field = (bits >> 23) as i32;
    let significand = if field == 0 {
        bits
    } else {
        bits & 0x7f_ffff | 0x80_0000
    };
    field.max(1) - 150 + significand.trailing_zeros().cast_signed()
}

/// 2 to a power in the normal range of f32.
fn power_of_two(power: i32) -> f32 {
    f32::from_bits((power + 127).cast_unsigned() << 23)
}

/// Plain f32 sums. An exact zero is +0.
pub(super) fn add_products(a: &[f32], values: &[[f32; LANES]], sums: &mut [f32; LANES]) {
    let mut total = *sums;
    for (&a, values) in a.iter().zip(values) {
        for (total, &b) in total.iter_mut().zip(values) {
            *total += a * b;
        }
    }
    *sums = total.map(|total| total + 0.0);
}
