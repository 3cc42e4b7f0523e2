//! The product of a `tcgen05.mma`, carried out when the queue comes to it.
//!
//! How sm_100a adds is not documented beyond "at least single precision", and could not be
//! measured. Chosen, here and nowhere else: without scale factors the rule of the wider Hopper
//! types ([`Rule::wide`]) for every type; with them each block of K is added in f64, scaled, added
//! to D in f64, and cut toward zero to f32, which agrees with that rule wherever sums are exact.
//! An f16 D is rounded to nearest even; integer sums wrap unless they saturate.

use super::operand::SharedOperand;
use crate::{
    formats::{
        dot::{Rule, accumulate_integers, accumulate_tile},
        narrow::{
            Modifiers, Rounding, UE4M3_VALUES, f16_to_f32, f32_to_f16, f64_to_f32, ue8m0_to_f32,
        },
        tile::{Element, OperandTile},
    },
    machine::{Machine, cta::Cta, events::Work, ids::CtaRef},
    report::{Fault, Kind},
    tensor_memory::{
        CELL_LANES, TensorAddress, TensorMemory,
        data_path::DataPath,
        instruction_descriptor::{AccumulatorType, InstructionDescriptor, ScaleSelect, ScaleType},
        scale::{ScaleVector, ScaleWord},
        shapes::MmaKind,
    },
};

/// Where A comes from. In shared memory it lies at the same place in both CTAs of a pair.
#[derive(Debug)]
pub(super) enum OperandA {
    Shared(SharedOperand),
    Tensor(TensorAddress),
}

/// Scale factors in tensor memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    pub(super) vector: ScaleVector,
    pub(super) select: ScaleSelect,
    /// First column of those of A.
    pub(super) a: u32,
    /// First column of those of B.
    pub(super) b: u32,
}

/// One instruction on its way.
#[derive(Debug)]
pub(super) struct Product {
    pub(super) kind: MmaKind,
    pub(super) descriptor: InstructionDescriptor,
    pub(super) path: DataPath,
    /// The CTA, or both of a pair, the even one first.
    pub(super) ctas: Vec<CtaRef>,
    pub(super) d: TensorAddress,
    pub(super) a: OperandA,
    /// The part of B of each CTA; they lie at the same place.
    pub(super) b: SharedOperand,
    pub(super) scales: Option<Scales>,
    pub(super) accumulate: bool,
    /// D is divided by 2 to this power.
    pub(super) scale_d: u32,
    /// Lanes that are not written.
    pub(super) disabled: [u32; 4],
}

impl Work for Product {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        let mut b = OperandTile::zeros(0, self.kind.k() as usize);
        for &cta in &self.ctas {
            if let Some(cta) = machine.cta(cta) {
                let part = self.b.load(&cta.shared);
                b.rows += part.rows;
                b.values.extend(part.values);
            }
        }
        // One sign for both: a product of two negated factors is what it was.
        if self.descriptor.negate_a != self.descriptor.negate_b {
            b.values.iter_mut().for_each(|value| *value = -*value);
        }
        for &cta in &self.ctas {
            let Some(Cta { shared, tensor, .. }) = machine.cta_mut(cta) else {
                continue;
            };
            self.multiply(shared, &mut tensor.memory, &b)?;
        }
        Ok(())
    }
}

impl Product {
    /// Whether no lane of a detector's cell is written.
    pub(super) fn disables_cell(&self, lane: u32) -> bool {
        (lane..lane + CELL_LANES).all(|lane| self.disables(lane))
    }

    fn disables(&self, lane: u32) -> bool {
        let word = self.disabled.get(lane as usize / 32).copied().unwrap_or(0);
        word >> (lane % 32) & 1 == 1
    }

    /// One CTA's rows of D.
    fn multiply(
        &self,
        shared: &[u8],
        memory: &mut TensorMemory,
        b: &OperandTile,
    ) -> Result<(), Fault> {
        let (rows, depth) = (self.path.rows_per_cta(), b.depth);
        let columns = self.path.columns(self.descriptor.n);
        let from_shared = match &self.a {
            OperandA::Shared(a) => Some(a.load(shared)),
            OperandA::Tensor(_) => None,
        };
        let scales = match &self.scales {
            Some(scales) => Some(self.read_scales(memory, scales)?),
            None => None,
        };
        for (group, b) in (0..).zip(b.values.chunks(columns as usize * depth)) {
            let from_tensor;
            let a = match (&self.a, &from_shared) {
                (OperandA::Tensor(at), _) => {
                    from_tensor = self.load_a(memory, *at, group);
                    &from_tensor.values
                }
                (_, Some(tile)) => &tile.values,
                (OperandA::Shared(_), None) => continue,
            };
            let mut words = Vec::with_capacity((rows * columns) as usize);
            for row in 0..rows {
                let lane = self.path.lane(row, group, self.d.lane);
                let first = self.d.column;
                if self.accumulate {
                    words.extend_from_slice(memory.row(lane, first..first + columns));
                }
            }
            words.resize((rows * columns) as usize, 0);
            let first = group * columns;
            let scales = scales.as_ref().map(|(a, b)| {
                let per_row = a.len() / rows as usize;
                let (start, end) = (
                    first as usize * per_row,
                    (first + columns) as usize * per_row,
                );
                (a.as_slice(), b.get(start..end).unwrap_or(&[]))
            });
            self.accumulate(
                a,
                b,
                &mut words,
                (rows as usize, columns as usize, depth),
                scales,
            );
            for (row, words) in (0..).zip(words.chunks(columns as usize)) {
                let lane = self.path.lane(row, group, self.d.lane);
                if !self.disables(lane) {
                    memory.write_row(lane, self.d.column, words);
                }
            }
        }
        Ok(())
    }

    /// Rows of A in tensor memory: 32 bytes along K from a column on.
    fn load_a(&self, memory: &TensorMemory, at: TensorAddress, group: u32) -> OperandTile {
        let rows = self.path.rows_per_cta();
        let element = self.descriptor.a;
        let mut tile = OperandTile::zeros(0, self.kind.k() as usize);
        tile.rows = rows as usize;
        for row in 0..rows {
            let lane = self.path.lane(row, group, at.lane);
            for &word in memory.row(lane, at.column..at.column + 8) {
                let elements = 0..element.per_register();
                tile.values
                    .extend(elements.map(|index| element.in_register(word, index)));
            }
        }
        tile
    }

    /// The factors of each row of this CTA's A and of each column of B, one after the other.
    fn read_scales(
        &self,
        memory: &TensorMemory,
        scales: &Scales,
    ) -> Result<(Vec<f32>, Vec<f32>), Fault> {
        let factors = |word: u32, id: u32| {
            (id..id + scales.vector.factors()).map(move |byte| {
                let byte = (word >> (8 * (byte & 3))) as u8;
                match scales.select.ty {
                    ScaleType::Ue8m0 => ue8m0_to_f32(byte),
                    ScaleType::Ue4m3 => UE4M3_VALUES[usize::from(byte)],
                }
            })
        };
        let read = |word: ScaleWord, column: u32| {
            word.read(memory, column).map_err(|(low, high)| {
                Fault::new(
                    Kind::TensorMemory,
                    format!(
                        "scale factors in column {} differ between lanes {low} and {high}, which have to hold the same",
                        column + word.column
                    ),
                )
            })
        };
        let mut a = Vec::new();
        for row in 0..self.path.rows_per_cta() {
            a.extend(factors(
                read(ScaleWord::of_a(row), scales.a)?,
                scales.select.a_id,
            ));
        }
        let mut b = Vec::new();
        for column in 0..self.descriptor.n {
            let word = ScaleWord::of_b(self.path, self.descriptor.n, column);
            b.extend(factors(read(word, scales.b)?, scales.select.b_id));
        }
        Ok((a, b))
    }

    /// D, as words of tensor memory, plus A times B.
    fn accumulate(
        &self,
        a: &[f32],
        b: &[f32],
        words: &mut [u32],
        (rows, columns, depth): (usize, usize, usize),
        scales: Option<(&[f32], &[f32])>,
    ) {
        if self.descriptor.d == AccumulatorType::S32 {
            let mut sums: Vec<i32> = words.iter().map(|&word| word as i32).collect();
            let saturate = self.descriptor.saturate;
            accumulate_integers(saturate, a, b, &mut sums, rows, columns, depth);
            for (word, sum) in words.iter_mut().zip(sums) {
                *word = sum as u32;
            }
            return;
        }
        let half = self.descriptor.d == AccumulatorType::F16;
        let divisor = (1u32 << (self.scale_d & 15)) as f32;
        let mut sums: Vec<f32> = words
            .iter()
            .map(|&word| {
                if half {
                    f16_to_f32(word as u16)
                } else {
                    f32::from_bits(word)
                }
            })
            .map(|old| if divisor == 1.0 { old } else { old / divisor })
            .collect();
        match scales {
            None => {
                let rule = rule(self.descriptor.a, self.descriptor.b);
                accumulate_tile(rule, a, b, &mut sums, rows, columns, depth);
            }
            Some(scales) => accumulate_scaled(a, b, &mut sums, (columns, depth), scales),
        }
        for (word, sum) in words.iter_mut().zip(sums) {
            *word = if half {
                let rounding = Rounding::NearestEven;
                f32_to_f16(sum.to_bits(), rounding, Modifiers::default()).into()
            } else {
                sum.to_bits()
            };
        }
    }
}

fn rule(a: Element, b: Element) -> Rule {
    Rule::wide(a.least_exponent(), b.least_exponent())
}

/// c += sum over blocks of K of scale(a) · scale(b) · (a · b).
fn accumulate_scaled(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    (columns, depth): (usize, usize),
    (scale_a, scale_b): (&[f32], &[f32]),
) {
    let blocks = (scale_b.len() / columns.max(1)).max(1);
    let block = (depth / blocks).max(1);
    // K by K, so that the columns of a row are worked on side by side.
    let mut by_k = vec![0.0f64; columns * depth];
    for (column, values) in b.chunks_exact(depth).enumerate() {
        for (k, &value) in values.iter().enumerate() {
            by_k[k * columns + column] = value.into();
        }
    }
    let mut total = vec![0.0f64; columns];
    let mut part = vec![0.0f64; columns];
    let rows = a
        .chunks_exact(depth)
        .zip(c.chunks_exact_mut(columns))
        .zip(scale_a.chunks(blocks));
    for ((a, c), scale_a) in rows {
        for (total, &old) in total.iter_mut().zip(&*c) {
            *total = old.into();
        }
        let parts = a
            .chunks(block)
            .zip(by_k.chunks(block * columns))
            .zip(scale_a);
        for (index, ((a, b), &scale)) in parts.enumerate() {
            part.fill(0.0);
            for (&a, b) in a.iter().zip(b.chunks_exact(columns)) {
                let a = f64::from(a);
                for (part, &b) in part.iter_mut().zip(b) {
                    *part += a * b;
                }
            }
            let scales = scale_b
                .chunks_exact(blocks)
                .filter_map(|of_column| of_column.get(index));
            for ((total, &part), &other) in total.iter_mut().zip(&part).zip(scales) {
                *total += part * f64::from(scale) * f64::from(other);
            }
        }
        for (c, &total) in c.iter_mut().zip(&total) {
            *c = cut(total);
        }
    }
}

/// Cut toward zero to f32; what is too large becomes infinite, as in the other kinds.
fn cut(total: f64) -> f32 {
    if total.abs() >= 2f64.powi(128) {
        return f32::INFINITY.copysign(total as f32);
    }
    let bits = f64_to_f32(total.to_bits(), Rounding::TowardZero, Modifiers::default());
    f32::from_bits(bits)
}

#[cfg(test)]
mod tests;
