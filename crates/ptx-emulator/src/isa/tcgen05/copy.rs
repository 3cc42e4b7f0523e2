//! `tcgen05.cp`: shared memory to tensor memory (PTX ISA 9.7.16.9).

use super::{
    Use, cta_group, keep_to_group, operand::watch_reads, order, stream, touch, working_ctas,
};
use crate::{
    detect::{Mode, Proxy},
    isa::{
        Execute,
        decode::{Address, DecodeError, Decoder, Src},
    },
    machine::{
        Machine,
        cta::Cta,
        events::{Unit, Work},
        ids::CtaRef,
        step::{Flow, Step},
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_memory::{
        LANES, Region, TensorAddress,
        copy::{CopyShape, source_address},
        shapes::CtaGroup,
        shared_descriptor::SharedDescriptor,
    },
};

#[derive(Debug)]
struct Copy {
    group: CtaGroup,
    shape: CopyShape,
    dst: Address,
    src: Src,
}

/// One copy in the queue.
#[derive(Debug)]
struct InFlight {
    ctas: Vec<CtaRef>,
    shape: CopyShape,
    column: u32,
    /// The pieces of 16 bytes, row by row.
    sources: Vec<u32>,
}

impl Execute for Copy {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        keep_to_group(step, self.group)?;
        let ctas = working_ctas(step, self.group)?;
        for lane in step.lanes() {
            let at = TensorAddress::from_bits(step.address(self.dst, lane) as u32);
            if at.lane != 0 {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!("tcgen05.cp to {at}: this shape begins at lane 0"),
                ));
            }
            let descriptor = SharedDescriptor::decode(step.get(self.src, lane))?;
            let shape = self.shape;
            let sources: Vec<u32> = (0..shape.rows())
                .flat_map(|row| (0..shape.chunks()).map(move |chunk| (row, chunk)))
                .map(|(row, chunk)| source_address(&descriptor, row, chunk))
                .collect();
            let thread = step.thread(lane);
            let epoch = stream(step.machine, thread)?;
            let region = Region::new(0, LANES, at.column, shape.columns());
            // Every CTA copies from its own shared memory into its own tensor memory.
            for &cta in &ctas {
                let reads = sources.iter().copied();
                watch_reads(step.machine, cta, reads, thread, epoch, step.pc)?;
                let what = Use {
                    thread,
                    epoch,
                    mode: Mode::Write,
                    proxy: Proxy::Tensor,
                    pc: step.pc,
                };
                touch(
                    step.machine,
                    cta,
                    std::slice::from_ref(&region),
                    false,
                    what,
                )?;
            }
            let work = InFlight {
                ctas: ctas.clone(),
                shape,
                column: at.column,
                sources,
            };
            let site = step.site(lane);
            let cluster = thread.cta.cluster;
            step.machine
                .post(Unit::Tensor, order(thread), site, cluster, Box::new(work));
        }
        Ok(Flow::Next)
    }
}

impl Work for InFlight {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        for &cta in &self.ctas {
            let Some(Cta { shared, tensor, .. }) = machine.cta_mut(cta) else {
                continue;
            };
            let per_row = self.shape.chunks() as usize;
            for (row, sources) in (0..).zip(self.sources.chunks(per_row)) {
                let mut words = Vec::with_capacity(4 * per_row);
                for &source in sources {
                    let bytes = shared
                        .get(source as usize..)
                        .and_then(|b| b.first_chunk::<16>());
                    let bytes = bytes.copied().unwrap_or_default();
                    let (quads, _) = bytes.as_chunks::<4>();
                    words.extend(quads.iter().map(|quad| u32::from_le_bytes(*quad)));
                }
                for lane in self.shape.lanes(row) {
                    tensor.memory.write_row(lane, self.column, &words);
                }
            }
        }
        Ok(())
    }
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("cp")?;
    let group = cta_group(d)?;
    let shape = d.need_one_of(&["128x256b", "128x128b", "64x128b", "32x128b", "4x256b"])?;
    let multicast = d.one_of(&["warpx2::02_13", "warpx2::01_23", "warpx4"]);
    let Some(shape) = CopyShape::from_modifiers(shape, multicast) else {
        return Err(d.error("this combination of shape and multicast is not supported"));
    };
    d.expect_operands(2..=2)?;
    Ok(Box::new(Copy {
        group,
        shape,
        dst: d.address(0)?,
        src: d.src(1, ScalarType::B64)?,
    }))
}
