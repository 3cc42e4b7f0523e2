//! The arithmetic of the tensor cores, bit for bit where it was measured.
//!
//! One instruction adds all its products and the accumulator at once (measured on an H200 for f16, bf16 and tf32, `wgmma` and
//! `mma.sync` alike):
//!
//! ```text
//! E = the largest of (exponent of a_k + exponent of b_k) over the non-zero products, and the exponent of c
//! every term, c too, is cut toward zero to a multiple of 2^(E - bits)
//! the exact sum of the cut terms is cut toward zero to f32; beyond the range it becomes infinite
//! ```
//!
//! with `bits` = 25, or 13 for the 8-bit types of `wgmma`, whose sums are cut once more, to 13 fraction bits (measured on an
//! H200). The exponent of a product is not normalised, and a subnormal
//! factor counts with the least exponent of its format. An exact zero is +0, every NaN is 7fffffff.
//!
//! sm_100a promises no more than "at least single precision" in an unspecified order, and none could be measured: there
//! [`Rule::WIDE`] is a choice.

mod exact;
mod small;

use exact::dot;
use small::Reach;

/// How one instruction accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// How many bits below the largest exponent of a term are kept, 1 to 25.
    pub kept_bits: i32,
    /// How many fraction bits of the sum are kept, 0 to 23.
    pub result_bits: u32,
    /// The least exponent of a normal number of A's format: what subnormals count with.
    pub least_a: i32,
    /// The same of B's format.
    pub least_b: i32,
    /// The order of the additions.
    pub order: Order,
}

/// In how many steps an instruction adds its products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All products and the accumulator at once.
    Together,
    /// `mma.sync` of 8-bit floats on sm_90, which is made of two f16 instructions: first the products with k mod 4 below 2,
    /// starting from zero, then the others on that result, and the accumulator last, with an ordinary f32 addition.
    TwoHalvesThenAccumulator,
}

/// Least exponents of a normal number, by format.
pub mod least_exponent {
    /// f16 and e5m2.
    pub const F16: i32 = -14;
    /// bf16 and tf32.
    pub const F32: i32 = -126;
    /// e4m3.
    pub const E4M3: i32 = -6;
    /// e5m2.
    pub const E5M2: i32 = -14;
    /// e2m3 and e2m1.
    pub const E2M3: i32 = 0;
    /// e3m2.
    pub const E3M2: i32 = -2;
}

impl Rule {
    /// f16 operands: 25 bits, all at once.
    pub const F16: Self = Self::wide(least_exponent::F16, least_exponent::F16);
    /// bf16 and tf32 operands: 25 bits, all at once.
    pub const WIDE: Self = Self::wide(least_exponent::F32, least_exponent::F32);
    /// 8-bit floats of `mma.sync` on sm_90. They are widened to f16 first, where none is subnormal.
    pub const MMA_SYNC_EIGHT_BIT: Self = Self {
        order: Order::TwoHalvesThenAccumulator,
        ..Self::F16
    };

    /// The sum as the instruction returns it: toward zero to the fraction bits that are kept.
    fn cut_result(self, sum: f32) -> f32 {
        if sum.is_nan() {
            return sum;
        }
        let dropped = (1 << (23 - self.result_bits.min(23))) - 1;
        f32::from_bits(sum.to_bits() & !dropped)
    }

    /// 25 bits, all at once, with the least exponents of the operands' formats.
    #[must_use]
    pub const fn wide(least_a: i32, least_b: i32) -> Self {
        Self {
            kept_bits: 25,
            result_bits: 23,
            least_a,
            least_b,
            order: Order::Together,
        }
    }

    /// 8-bit floats of `wgmma`: 13 bits, all at once, and 13 fraction bits of the sum.
    #[must_use]
    pub const fn wgmma_eight_bit(least_a: i32, least_b: i32) -> Self {
        Self {
            kept_bits: 13,
            result_bits: 13,
            ..Self::wide(least_a, least_b)
        }
    }
}

/// Columns that are worked on together: what fits the vector registers of the host.
const LANES: usize = 8;
/// Products whose cut values, each below 2^27, can be added in 32 bits.
const GROUP: usize = 8;
/// The "exponent" of zero: low enough never to be the largest, and far from overflow when two are added.
const ZERO: i16 = -4096;
/// The "exponent" of infinities and NaNs: above every finite sum even when added to [`ZERO`].
const SPECIAL: i16 = 8192;

fn exponent(x: f32, least: i32) -> i16 {
    let bits = x.to_bits() & 0x7fff_ffff;
    let field = (bits >> 23) as i32;
    if bits == 0 {
        ZERO
    } else if field == 255 {
        SPECIAL
    } else {
        (field - 127).max(least) as i16
    }
}

/// Operand B, made ready for any number of rows of A: blocks of [`LANES`] columns, K by K.
struct Columns {
    values: Vec<[f32; LANES]>,
    exponents: Vec<[i16; LANES]>,
    /// Of each block.
    reaches: Vec<Reach>,
}

impl Columns {
    fn new(b: &[f32], columns: usize, depth: usize, least: i32) -> Self {
        let blocks = columns.div_ceil(LANES);
        let mut values = vec![[0.0; LANES]; blocks * depth];
        let mut exponents = vec![[ZERO; LANES]; blocks * depth];
        for (column, row) in b.chunks_exact(depth).take(columns).enumerate() {
            let first = column / LANES * depth;
            for (k, &value) in row.iter().enumerate() {
                values[first + k][column % LANES] = value;
                exponents[first + k][column % LANES] = exponent(value, least);
            }
        }
        let blocks = values.chunks(depth).zip(exponents.chunks(depth));
        let reaches = blocks
            .map(|(values, exponents)| Reach::of(values.as_flattened(), exponents.as_flattened()))
            .collect();
        Self {
            values,
            exponents,
            reaches,
        }
    }
}

/// c += a·b for one instruction. `a` is `rows` × `depth`, `b` is `columns` × `depth` (one column of B after the other), `c`
/// is `rows` × `columns`; all row by row. Parts that the slices are too short for are left alone. `depth` is the K of the
/// instruction: what is added at once. Operands have at most 12 significant bits, as all formats of the tensor cores do.
pub fn accumulate_tile(
    rule: Rule,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    rows: usize,
    columns: usize,
    depth: usize,
) {
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    if rule.order == Order::TwoHalvesThenAccumulator {
        return accumulate_halves(rule, a, b, c, rows, columns, depth);
    }
    let prepared = Columns::new(b, columns, depth, rule.least_b);
    let mut exponents = vec![ZERO; depth];
    for (a, c) in a
        .chunks_exact(depth)
        .zip(c.chunks_exact_mut(columns))
        .take(rows)
    {
        for (exponent_of, &value) in exponents.iter_mut().zip(a) {
            *exponent_of = exponent(value, rule.least_a);
        }
        let row_reach = Reach::of(a, &exponents);
        let blocks = prepared
            .values
            .chunks_exact(depth)
            .zip(prepared.exponents.chunks_exact(depth))
            .zip(&prepared.reaches);
        for ((block, c), ((values, value_exponents), &reach)) in
            c.chunks_mut(LANES).enumerate().zip(blocks)
        {
            let mut sums = [0.0; LANES];
            sums[..c.len()].copy_from_slice(c);
            if row_reach.accumulates_exactly(reach, depth, rule.kept_bits, &sums) {
                small::add_products(a, values, &mut sums);
                for (c, sum) in c.iter_mut().zip(sums) {
                    *c = rule.cut_result(sum);
                }
                continue;
            }
            let odd = accumulate_block(
                rule.kept_bits,
                (a, &exponents),
                (values, value_exponents),
                &mut sums,
            );
            for (lane, c) in c.iter_mut().enumerate() {
                *c = if odd & 1 << lane == 0 {
                    rule.cut_result(sums[lane])
                } else {
                    let first = (block * LANES + lane) * depth;
                    dot(rule, a, b.get(first..first + depth).unwrap_or(&[]), *c)
                };
            }
        }
    }
}

/// One row of A against one block of columns. Returns the columns, one bit each, whose terms leave the range in which the
/// steps below are exact; their sums are meaningless.
///
/// Why it is exact elsewhere: operands have at most 12 significant bits, so a product fits the 24 bits of f32 unless it is subnormal, and where E ≥ -100 a subnormal product is below the cut and stays below it when
/// rounded. Scaling by 2^(bits - E) is exact for the same reason. A scaled product is below 2^(bits + 2) ≤ 2^27, so eight fit an
/// i32; sums of those are integers below 2^53 and exact in f64.
fn accumulate_block(
    kept_bits: i32,
    (a, a_exponents): (&[f32], &[i16]),
    (values, value_exponents): (&[[f32; LANES]], &[[i16; LANES]]),
    sums: &mut [f32; LANES],
) -> u32 {
    let mut largest = sums.map(|c| exponent(c, -126));
    for (&a_exponent, b_exponents) in a_exponents.iter().zip(value_exponents) {
        for (largest, &b_exponent) in largest.iter_mut().zip(b_exponents) {
            *largest = (*largest).max(a_exponent + b_exponent);
        }
    }
    let mut odd = 0;
    let mut scales = [0.0f32; LANES];
    for (lane, (scale, &largest)) in scales.iter_mut().zip(&largest).enumerate() {
        if (-100..=125).contains(&largest) {
            let power = kept_bits - i32::from(largest) + 127;
            *scale = f32::from_bits(power.cast_unsigned() << 23);
        } else if largest > -1000 {
            odd |= 1 << lane;
        }
    }
    let mut totals = [0.0f64; LANES];
    for (total, (&c, &scale)) in totals.iter_mut().zip(sums.iter().zip(&scales)) {
        *total = f64::from((c * scale) as i32);
    }
    for (a, values) in a.chunks(GROUP).zip(values.chunks(GROUP)) {
        let mut partial = [0i32; LANES];
        for (&a, values) in a.iter().zip(values) {
            for ((partial, &b), &scale) in partial.iter_mut().zip(values).zip(&scales) {
                *partial = partial.wrapping_add((a * b * scale) as i32);
            }
        }
        for (total, &partial) in totals.iter_mut().zip(&partial) {
            *total += f64::from(partial);
        }
    }
    for ((sum, &total), &largest) in sums.iter_mut().zip(&totals).zip(&largest) {
        let unit =
            f64::from_bits(((i64::from(largest) - i64::from(kept_bits) + 1023) as u64) << 52);
        *sum = if total == 0.0 {
            0.0
        } else {
            cut_to_f32(total * unit)
        };
    }
    odd
}

/// Cut toward zero to f32; what is too large becomes infinite (measured).
fn cut_to_f32(x: f64) -> f32 {
    let nearest = x as f32;
    if nearest.is_infinite() && x.abs() < 2f64.powi(128) {
        return f32::MAX.copysign(nearest);
    }
    if f64::from(nearest).abs() > x.abs() && nearest.is_finite() {
        // One step toward zero: the pattern of the magnitude less one.
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

fn accumulate_halves(
    rule: Rule,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    rows: usize,
    columns: usize,
    depth: usize,
) {
    let part = |values: &[f32], upper: bool| -> Vec<f32> {
        let picked = values.chunks_exact(depth).flat_map(|row| {
            let positions = row.iter().enumerate();
            positions.filter(move |(k, _)| (k % 4 >= 2) == upper)
        });
        picked.map(|(_, &value)| value).collect()
    };
    let half = |upper| (0..depth).filter(|k| (k % 4 >= 2) == upper).count();
    let step = Rule {
        order: Order::Together,
        ..rule
    };
    let mut sums = vec![0.0; rows * columns];
    for upper in [false, true] {
        let (a, b) = (part(a, upper), part(b, upper));
        accumulate_tile(step, &a, &b, &mut sums, rows, columns, half(upper));
    }
    for (c, sum) in c.iter_mut().zip(sums) {
        *c = canonical(*c + sum);
    }
}

fn canonical(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(0x7fff_ffff)
    } else {
        x
    }
}

/// c += a·b for one instruction on integers, given as f32 values of at most 8 bits and a sign: the products of one
/// instruction, 32 at most, stay below 2^24 and their sum is exact in f32. `saturate` is `.satfinite`; otherwise the sum wraps
/// around. Slices as in [`accumulate_tile`].
pub fn accumulate_integers(
    saturate: bool,
    a: &[f32],
    b: &[f32],
    c: &mut [i32],
    rows: usize,
    columns: usize,
    depth: usize,
) {
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    let prepared = Columns::new(b, columns, depth, 0);
    for (a, c) in a
        .chunks_exact(depth)
        .zip(c.chunks_exact_mut(columns))
        .take(rows)
    {
        for (c, values) in c.chunks_mut(LANES).zip(prepared.values.chunks_exact(depth)) {
            let mut sums = [0.0; LANES];
            small::add_products(a, values, &mut sums);
            for (c, &sum) in c.iter_mut().zip(&sums) {
                *c = if saturate {
                    c.saturating_add(sum as i32)
                } else {
                    c.wrapping_add(sum as i32)
                };
            }
        }
    }
}

#[cfg(test)]
mod tests;
