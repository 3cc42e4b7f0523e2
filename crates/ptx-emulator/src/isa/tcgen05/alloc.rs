//! `tcgen05.alloc`, `dealloc` and `relinquish_alloc_permit` (PTX ISA 9.7.16.7).
//!
//! With `cta_group::2` a warp of either CTA of a pair executes the instruction, and the first one
//! waits for the second: the ISA lets both block, so a program has to be right if they do.

use super::{Use, cta_group, keep_to_group, peer, state, touch};
use crate::{
    detect::{Access, Mode, Place, Proxy},
    isa::{
        Convergence, Execute,
        decode::{Address, DecodeError, Decoder, Src},
        matrix::{need_whole_warp, sync_aligned},
        memory,
    },
    machine::{
        ids::CtaRef,
        step::{Flow, Location, Step, Window},
        wait::Why,
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_memory::{
        CELLS_PER_COLUMN, LANES, Region, TensorAddress, allocation::AllocationError,
        shapes::CtaGroup,
    },
};

/// What one CTA of a pair has asked for, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairRequest {
    /// This many columns.
    Alloc(u32),
    /// Columns from here on are its own.
    Granted(u32),
    /// These columns are to be freed: first and number.
    Dealloc(u32, u32),
    /// They are.
    Freed,
}

impl From<AllocationError> for Fault {
    fn from(error: AllocationError) -> Self {
        let kind = match error {
            AllocationError::Size { .. } => Kind::InvalidOperand,
            _ => Kind::TensorMemory,
        };
        Self::new(kind, error.to_string())
    }
}

#[derive(Debug)]
struct Alloc {
    group: CtaGroup,
    window: Window,
    dst: Address,
    columns: Src,
}

impl Alloc {
    /// Columns of one CTA; `None` while there are none.
    fn alone(&self, step: &mut Step<'_>, columns: u32) -> Result<Option<u32>, Fault> {
        let cta = step.cta();
        let column = state(step.machine, cta)?.memory.allocations().find(columns);
        if let Some(column) = column {
            claim(step, cta, column, columns)?;
        }
        Ok(column)
    }

    /// The same columns of both CTAs of a pair, once both have asked.
    fn paired(&self, step: &mut Step<'_>, columns: u32) -> Result<Option<u32>, Fault> {
        let me = step.cta();
        // The peer may have ended since it claimed these columns for both.
        if let Some(PairRequest::Granted(column)) = state(step.machine, me)?.pair {
            state(step.machine, me)?.pair = None;
            note_owner(step, me, column)?;
            return Ok(Some(column));
        }
        let other = peer(step.machine, me)?;
        state(step.machine, me)?.pair = Some(PairRequest::Alloc(columns));
        let theirs = match state(step.machine, other)?.pair {
            Some(PairRequest::Alloc(theirs)) => theirs,
            _ => return Ok(None),
        };
        if theirs != columns {
            return Err(Fault::new(
                Kind::TensorMemory,
                format!(
                    "the CTAs of a pair allocate {columns} and {theirs} columns, and have to allocate alike"
                ),
            ));
        }
        let free = state(step.machine, other)?.memory.allocations().clone();
        let column = state(step.machine, me)?
            .memory
            .allocations()
            .find_in_both(&free, columns);
        if let Some(column) = column {
            claim(step, other, column, columns)?;
            claim(step, me, column, columns)?;
            state(step.machine, other)?.pair = Some(PairRequest::Granted(column));
            state(step.machine, me)?.pair = None;
        }
        Ok(column)
    }
}

/// Tells the detector of the store of the address. The ISA leaves open through which proxy it
/// goes. Triton lets copies overwrite the place without a `fence.proxy.async`, so it counts as
/// the async one.
fn watch_address(step: &mut Step<'_>, lane: usize, location: Location) {
    let Some((place, position)) = location.place() else {
        return;
    };
    let thread = step.thread(lane);
    let access = Access {
        thread,
        epoch: step.machine.detector.now(thread),
        mode: Mode::Write,
        proxy: Proxy::Async,
        pc: step.pc,
    };
    step.machine.watch(place, position, 4, &access);
}

/// Takes columns that are free.
fn claim(step: &mut Step<'_>, cta: CtaRef, column: u32, columns: u32) -> Result<(), Fault> {
    state(step.machine, cta)?.memory.allocate(column, columns)?;
    note_owner(step, cta, column)?;
    let cells = u64::from(CELLS_PER_COLUMN);
    step.machine.detector.forget(
        Place::Tensor(cta),
        u64::from(column) * cells,
        u64::from(columns) * cells,
    );
    step.machine.changed();
    Ok(())
}

fn note_owner(step: &mut Step<'_>, cta: CtaRef, column: u32) -> Result<(), Fault> {
    let owner = (step.pc, step.thread(0));
    state(step.machine, cta)?.owners.insert(column, owner);
    Ok(())
}

impl Execute for Alloc {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        need_whole_warp(step)?;
        keep_to_group(step, self.group)?;
        let columns = step.uniform(self.columns, "the number of columns")? as u32;
        let cta = step.cta();
        if step.ticket.is_none() {
            let waiting = state(step.machine, cta)?.pair.is_some();
            state(step.machine, cta)?
                .memory
                .allocations()
                .permits(columns)?;
            if waiting {
                return Ok(Flow::wait(Why::TensorMemory));
            }
            step.ticket = Some(0);
        }
        let column = match self.group {
            CtaGroup::One => self.alone(step, columns)?,
            CtaGroup::Two => self.paired(step, columns)?,
        };
        let Some(column) = column else {
            let other = matches!(self.group, CtaGroup::Two)
                .then(|| peer(step.machine, cta))
                .transpose()?;
            let alone = match other {
                Some(other) => state(step.machine, other)?.pair.is_none(),
                None => false,
            };
            return Ok(Flow::wait(if alone {
                Why::Async("the other CTA of the pair to come to tcgen05.alloc")
            } else {
                Why::TensorMemory
            }));
        };
        let lane = step.first_lane();
        let dst = step.address(self.dst, lane);
        let location = step.locate(self.window, lane, dst, 4, 4)?;
        watch_address(step, lane, location);
        let address = TensorAddress { lane: 0, column };
        step.put(location, lane, &address.bits().to_le_bytes())?;
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_alloc(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("alloc")?;
    let group = cta_group(d)?;
    sync_aligned(d)?;
    let window = memory::window(d);
    if !matches!(window, Window::Generic | Window::SharedCta) {
        return Err(d.error("the address is written to shared memory of the CTA"));
    }
    d.need("b32")?;
    d.expect_operands(2..=2)?;
    Ok(Box::new(Alloc {
        group,
        window,
        dst: d.address(0)?,
        columns: d.src(1, ScalarType::U32)?,
    }))
}

#[derive(Debug)]
struct Dealloc {
    group: CtaGroup,
    address: Src,
    columns: Src,
}

/// Frees columns of one CTA. The detector takes it for a write to all of them.
fn free(step: &mut Step<'_>, column: u32, columns: u32) -> Result<(), Fault> {
    let thread = step.thread(0);
    let what = Use {
        thread,
        epoch: step.machine.detector.now(thread),
        mode: Mode::Write,
        // Freeing needs order, but no tcgen05.fence.
        proxy: Proxy::Generic,
        pc: step.pc,
    };
    let region = Region::new(0, LANES, column, columns);
    touch(step.machine, thread.cta, &[region], false, what)?;
    Ok(())
}

impl Execute for Dealloc {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        need_whole_warp(step)?;
        keep_to_group(step, self.group)?;
        let bits = step.uniform(self.address, "the tensor memory address")? as u32;
        let columns = step.uniform(self.columns, "the number of columns")? as u32;
        let address = TensorAddress::from_bits(bits);
        if address.lane != 0 {
            return Err(Fault::new(
                Kind::TensorMemory,
                format!("tcgen05.dealloc of {address}, which is no address of tcgen05.alloc"),
            ));
        }
        let (me, column) = (step.cta(), address.column);
        if self.group == CtaGroup::One {
            check_release(step, column, columns)?;
            free(step, column, columns)?;
            release(step, me, column, columns)?;
            return Ok(Flow::Next);
        }
        if step.ticket.is_none() {
            if state(step.machine, me)?.pair.is_some() {
                return Ok(Flow::wait(Why::TensorMemory));
            }
            check_release(step, column, columns)?;
            free(step, column, columns)?;
            step.ticket = Some(0);
            state(step.machine, me)?.pair = Some(PairRequest::Dealloc(column, columns));
        }
        if state(step.machine, me)?.pair == Some(PairRequest::Freed) {
            state(step.machine, me)?.pair = None;
            return Ok(Flow::Next);
        }
        let other = peer(step.machine, me)?;
        let Some(PairRequest::Dealloc(their_column, their_columns)) =
            state(step.machine, other)?.pair
        else {
            return Ok(Flow::wait(Why::Async(
                "the other CTA of the pair to come to tcgen05.dealloc",
            )));
        };
        release(step, me, column, columns)?;
        release(step, other, their_column, their_columns)?;
        state(step.machine, other)?.pair = Some(PairRequest::Freed);
        state(step.machine, me)?.pair = None;
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// Whether this is an allocation, before anything is told of its end.
fn check_release(step: &mut Step<'_>, column: u32, columns: u32) -> Result<(), Fault> {
    let cta = step.cta();
    let mut trial = state(step.machine, cta)?.memory.allocations().clone();
    trial.release(column, columns)?;
    Ok(())
}

fn release(step: &mut Step<'_>, cta: CtaRef, column: u32, columns: u32) -> Result<(), Fault> {
    state(step.machine, cta)?.memory.release(column, columns)?;
    step.machine.changed();
    Ok(())
}

pub(super) fn decode_dealloc(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("dealloc")?;
    let group = cta_group(d)?;
    sync_aligned(d)?;
    d.need("b32")?;
    d.expect_operands(2..=2)?;
    Ok(Box::new(Dealloc {
        group,
        address: d.src(0, ScalarType::B32)?,
        columns: d.src(1, ScalarType::U32)?,
    }))
}

#[derive(Debug)]
struct Relinquish(CtaGroup);

impl Execute for Relinquish {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        need_whole_warp(step)?;
        keep_to_group(step, self.0)?;
        let cta = step.cta();
        state(step.machine, cta)?.memory.relinquish();
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_relinquish(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("relinquish_alloc_permit")?;
    let group = cta_group(d)?;
    sync_aligned(d)?;
    d.expect_operands(0..=0)?;
    Ok(Box::new(Relinquish(group)))
}
