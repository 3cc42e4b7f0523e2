//! `clusterlaunchcontrol` and `griddepcontrol`.

use super::{
    Execute,
    bulk::transfer::{self, Delivery},
    decode::{Address, DecodeError, Decoder, Dst, PredDst, Src},
    mbarrier::barrier_at,
};
use crate::{
    detect::Epoch,
    machine::{
        Machine,
        events::{Unit, Work},
        ids::CtaRef,
        step::{Flow, Location, Step, Window},
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// Bytes of a response, and what its address is a multiple of (PTX ISA, clusterlaunchcontrol).
const RESPONSE: u32 = 16;

/// The last word of a response that grants a cluster; the encoding is ours, PTX has none.
const GRANTED: u32 = 0x434c_4301;
/// The last word of a response that grants none.
const DENIED: u32 = 0x434c_4300;

/// `clusterlaunchcontrol.try_cancel`.
#[derive(Debug)]
struct TryCancel {
    response: Address,
    barrier: Address,
    /// Whether all CTAs of the cluster get the response.
    multicast: bool,
}

impl Execute for TryCancel {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let window = Window::SharedCta;
            let (bytes, address) = (u64::from(RESPONSE), step.address(self.response, lane));
            let Location::Shared(own, offset) = step.locate(window, lane, address, bytes, bytes)?
            else {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!(
                        "the response's address {address:#x} of lane {lane} is not in shared memory"
                    ),
                ));
            };
            let (_, barrier) = barrier_at(step, window, lane, step.address(self.barrier, lane))?;
            let size: u32 = step.machine.launch.cluster.iter().product();
            let ranks = if self.multicast {
                0..size
            } else {
                own.rank..own.rank + 1
            };
            let mut deliveries = Vec::new();
            for rank in ranks {
                let cta = CtaRef { rank, ..own };
                let barrier = (cta, barrier);
                let delivery = Delivery { cta, barrier };
                let operation = transfer::expect(step, lane, &delivery, offset, RESPONSE)?;
                deliveries.push((delivery, operation));
            }
            let site = step.site(lane);
            let what = format!("line {}: {}", site.span.line, site.instruction);
            let work = Answer {
                offset: offset as usize,
                deliveries,
                what,
            };
            step.machine
                .post(Unit::Launch, 0, site, own.cluster, Box::new(work));
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Answer {
    offset: usize,
    deliveries: Vec<(Delivery, Epoch)>,
    what: String,
}

impl Work for Answer {
    fn finish(self: Box<Self>, machine: &mut Machine) -> std::result::Result<(), Fault> {
        let words = match machine.cancel_cluster() {
            Some([x, y, z]) => [x, y, z, GRANTED],
            None => [0, 0, 0, DENIED],
        };
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        for (delivery, operation) in self.deliveries {
            if let Some(cta) = machine.cta_mut(delivery.cta) {
                cta.shared[self.offset..self.offset + bytes.len()].copy_from_slice(&bytes);
            }
            let (cta, offset) = delivery.barrier;
            machine.complete_tx(cta, offset, RESPONSE, Some(operation), &self.what)?;
        }
        Ok(())
    }
}

impl Machine {
    /// Takes the next cluster that has not started out of the grid: `%ctaid` of its first CTA.
    fn cancel_cluster(&mut self) -> Option<[u32; 3]> {
        while self.next_cluster < self.cluster_count {
            let id = self.next_cluster;
            self.next_cluster += 1;
            if !self.cancelled.remove(&id) {
                return Some(self.launch.block_id(id, 0));
            }
        }
        None
    }
}

/// The words of a response in a 128-bit register.
///
/// # Errors
/// Something else is in the register.
fn words(step: &Step<'_>, response: Src, lane: usize) -> std::result::Result<[u32; 4], Fault> {
    let (low, high) = (step.get(response, lane), step.get_high(response, lane));
    let words = [
        low as u32,
        (low >> 32) as u32,
        high as u32,
        (high >> 32) as u32,
    ];
    if words[3] == GRANTED || words[3] == DENIED {
        return Ok(words);
    }
    Err(Fault::new(
        Kind::InvalidOperand,
        format!(
            "lane {lane} queries 16 bytes that are no response of clusterlaunchcontrol.try_cancel"
        ),
    ))
}

#[derive(Debug)]
struct IsCanceled {
    dst: PredDst,
    response: Src,
}

impl Execute for IsCanceled {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let mut granted = 0;
        for lane in step.lanes() {
            let words = words(step, self.response, lane)?;
            granted |= u32::from(words[3] == GRANTED) << lane;
        }
        step.set_pred(self.dst, granted);
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct FirstCta {
    /// Where each coordinate goes.
    dsts: Vec<(Dst, usize)>,
    response: Src,
}

impl Execute for FirstCta {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let words = words(step, self.response, lane)?;
            for (dst, axis) in &self.dsts {
                // Without a grant the result is undefined, and compilers ask before they look:
                // a number that no grid reaches shows if it is used after all.
                let value = if words[3] == GRANTED {
                    words[*axis]
                } else {
                    u32::MAX
                };
                step.set(*dst, lane, u64::from(value));
            }
        }
        Ok(Flow::Next)
    }
}

/// `clusterlaunchcontrol`.
pub(super) fn decode_launch_control(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("try_cancel") {
        d.need("async")?;
        d.flag("shared::cta");
        d.need("mbarrier::complete_tx::bytes")?;
        let multicast = d.flag("multicast::cluster::all");
        d.need("b128")?;
        d.expect_operands(2..=2)?;
        return Ok(Box::new(TryCancel {
            response: d.address(0)?,
            barrier: d.address(1)?,
            multicast,
        }));
    }
    d.need("query_cancel")?;
    if d.flag("is_canceled") {
        d.need("pred")?;
        d.need("b128")?;
        d.expect_operands(2..=2)?;
        return Ok(Box::new(IsCanceled {
            dst: d.pred_dst(0)?,
            response: response(d)?,
        }));
    }
    let names = [
        "get_first_ctaid::x",
        "get_first_ctaid::y",
        "get_first_ctaid::z",
    ];
    let axis = d.one_of(&names);
    if axis.is_none() {
        d.need("get_first_ctaid")?;
        d.need("v4")?;
    }
    d.need("b32")?;
    d.need("b128")?;
    d.expect_operands(2..=2)?;
    let dsts = match axis {
        Some(name) => {
            let axis = names.iter().position(|other| *other == name).unwrap_or(0);
            vec![(d.dst(0, ScalarType::B32)?, axis)]
        }
        // The fourth element is unspecified.
        None => d
            .dsts(0, ScalarType::B32, Some(4))?
            .into_iter()
            .zip(0..4)
            .collect(),
    };
    Ok(Box::new(FirstCta {
        dsts,
        response: response(d)?,
    }))
}

fn response(d: &mut Decoder<'_>) -> Result<Src> {
    match d.operand(1)? {
        crate::syntax::ast::Operand::Register(_) => d.src(1, ScalarType::B128),
        _ => Err(d.error("the response has to be in a 128-bit register")),
    }
}

/// `griddepcontrol`: there is no other grid, so there is nothing to wait for or to let start.
#[derive(Debug)]
struct GridDependency;

impl Execute for GridDependency {
    fn execute(&self, _: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Ok(Flow::Next)
    }
}

pub(super) fn decode_grid_dependency(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.need_one_of(&["wait", "launch_dependents"])?;
    d.expect_operands(0..=0)?;
    Ok(Box::new(GridDependency))
}
