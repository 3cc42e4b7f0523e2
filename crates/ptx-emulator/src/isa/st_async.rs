//! `st.async` and `red.async`: values from registers into the shared memory of a CTA of the
//! cluster, counted by an mbarrier there.

use super::{
    Execute,
    bulk::{reduce_type, same_cta, transfer::Reduction},
    decode::{Address, DecodeError, Decoder, Src},
    mbarrier::barrier_at,
};
use crate::{
    detect::{Access, Epoch, Mode, Place, Proxy},
    machine::{
        Machine,
        events::{Unit, Work},
        ids::CtaRef,
        step::{Flow, Location, Step, Window},
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_map::ReduceOp,
};

type Result<T> = std::result::Result<T, DecodeError>;

#[derive(Debug)]
struct Send {
    dst: Address,
    values: Vec<Src>,
    /// Bytes of each value.
    size: usize,
    barrier: Address,
    reduction: Option<Reduction>,
}

impl Execute for Send {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            self.send(step, lane)?;
        }
        Ok(Flow::Next)
    }
}

impl Send {
    fn send(&self, step: &mut Step<'_>, lane: usize) -> std::result::Result<(), Fault> {
        let window = Window::SharedCluster;
        let mut bytes = Vec::with_capacity(self.size * self.values.len());
        for value in &self.values {
            bytes.extend_from_slice(&step.get(*value, lane).to_le_bytes()[..self.size]);
        }
        let len = bytes.len() as u64;
        let address = step.address(self.dst, lane);
        let Location::Shared(cta, offset) = step.locate(window, lane, address, len, len)? else {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!("the address {address:#x} of lane {lane} is not in shared memory"),
            ));
        };
        let barrier = barrier_at(step, window, lane, step.address(self.barrier, lane))?;
        same_cta(lane, barrier.0, cta)?;
        let (thread, pc, site) = (step.thread(lane), step.pc, step.site(lane));
        let machine = &mut *step.machine;
        machine.mbarrier(barrier.0, barrier.1)?;
        machine.check_barrier_init(thread, pc, barrier.0, barrier.1, true);
        let operation = machine.detector.begin_operation(thread);
        let access = Access {
            thread,
            epoch: operation,
            mode: if self.reduction.is_some() {
                Mode::Atomic
            } else {
                Mode::Write
            },
            // Not among the operations of the async proxy (PTX ISA, async proxy).
            proxy: Proxy::Generic,
            pc,
        };
        machine.watch(Place::Shared(cta), u64::from(offset), len, &access);
        let what = format!("line {}: {}", site.span.line, site.instruction);
        let work = Arrival {
            cta,
            offset: offset as usize,
            bytes,
            barrier,
            reduction: self.reduction,
            operation,
            what,
        };
        machine.post(Unit::Copy, 0, site, cta.cluster, Box::new(work));
        Ok(())
    }
}

#[derive(Debug)]
struct Arrival {
    cta: CtaRef,
    offset: usize,
    bytes: Vec<u8>,
    barrier: (CtaRef, u32),
    reduction: Option<Reduction>,
    operation: Epoch,
    what: String,
}

impl Work for Arrival {
    fn finish(self: Box<Self>, machine: &mut Machine) -> std::result::Result<(), Fault> {
        if let Some(cta) = machine.cta_mut(self.cta) {
            let target = &mut cta.shared[self.offset..self.offset + self.bytes.len()];
            match self.reduction {
                Some(Reduction { op, kind }) => kind.reduce(op, target, &self.bytes),
                None => target.copy_from_slice(&self.bytes),
            }
        }
        let bytes = self.bytes.len() as u32;
        let (cta, offset) = self.barrier;
        machine.complete_tx(cta, offset, bytes, Some(self.operation), &self.what)
    }
}

/// `st.async`; the opcode and `.async` have been taken.
pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.flag("weak");
    d.flag("shared::cluster");
    d.need("mbarrier::complete_tx::bytes")?;
    let count = match d.one_of(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    };
    let ty = d.scalar_type()?;
    let whole =
        !ty.is_float() && ty != ScalarType::Pred || matches!(ty, ScalarType::F32 | ScalarType::F64);
    if !whole || !matches!(ty.bits(), 32 | 64) {
        return Err(d.error("values have 32 or 64 bits"));
    }
    d.expect_operands(3..=3)?;
    Ok(Box::new(Send {
        dst: d.address(0)?,
        values: d.srcs(1, ty, Some(count))?,
        size: ty.bytes() as usize,
        barrier: d.address(2)?,
        reduction: None,
    }))
}

/// `red.async`; the opcode and `.async` have been taken.
pub(super) fn decode_red(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.need("relaxed")?;
    d.need("cluster")?;
    d.flag("shared::cluster");
    d.need("mbarrier::complete_tx::bytes")?;
    let op = d
        .parse_modifier(ReduceOp::from_name)
        .ok_or_else(|| d.error("needs an operation"))?;
    let ty = d.scalar_type()?;
    let kind = reduce_type(ty)
        .filter(|kind| kind.exists_between_ctas(op))
        .ok_or_else(|| d.error("there is no such operation on this type"))?;
    d.expect_operands(3..=3)?;
    Ok(Box::new(Send {
        dst: d.address(0)?,
        values: vec![d.src(1, ty)?],
        size: ty.bytes() as usize,
        barrier: d.address(2)?,
        reduction: Some(Reduction { op, kind }),
    }))
}
