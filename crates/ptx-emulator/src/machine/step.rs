//! What an instruction sees while it executes: its warp, its lanes, the machine.

use super::{
    Machine,
    ids::{CtaRef, ThreadRef},
    wait::Why,
    warp::{Row, Warp},
};
use crate::{
    detect::{Mode, Place},
    isa::decode::{Address, Dst, Pred, PredDst, Src},
    report::{Fault, Kind, Severity, Site},
};

/// What becomes of the lanes that have executed an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Flow {
    /// They go on with the next one.
    Next,
    /// These lanes go to that instruction, the rest to the next one.
    Branch {
        /// Lanes that jump.
        mask: u32,
        /// Where to.
        target: u32,
    },
    /// Each group goes to its own instruction.
    Scatter(Vec<(u32, u32)>),
    /// They have ended.
    Exit,
    /// They execute the same instruction again once something has changed.
    Wait {
        /// What they wait for.
        why: Why,
        /// Whether the instruction may give up when nothing else can happen.
        may_expire: bool,
    },
    /// They go on with the next instruction, but there is no hurry: they have looked and found
    /// nothing, or want to sleep. For what they looked, if for anything.
    Yield(Option<Why>),
}

impl Flow {
    /// Waits without giving up.
    pub fn wait(why: Why) -> Self {
        Self::Wait {
            why,
            may_expire: false,
        }
    }
}

/// Which memory an instruction means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    /// The address tells.
    Generic,
    /// Global memory.
    Global,
    /// Shared memory of the own CTA.
    SharedCta,
    /// Shared memory of any CTA of the cluster.
    SharedCluster,
    /// The thread's own memory.
    Local,
    /// Constants.
    Const,
    /// Kernel parameters.
    Param,
}

/// A place in memory, found to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Location {
    /// Shared memory of a CTA at a byte offset.
    Shared(CtaRef, u32),
    /// A global allocation (index) at a byte offset.
    Global(u32, u64),
    /// The thread's own memory.
    Local(u64),
    /// Constants.
    Const(u64),
    /// Kernel parameters.
    Param(u64),
}

impl Location {
    /// The detector's name for it, where it watches.
    pub fn place(self) -> Option<(Place, u64)> {
        match self {
            Self::Shared(cta, offset) => Some((Place::Shared(cta), u64::from(offset))),
            Self::Global(index, offset) => Some((Place::Global(index), offset)),
            _ => None,
        }
    }
}

/// One instruction of one warp.
pub struct Step<'m> {
    /// The warp; it is not in its CTA meanwhile.
    pub warp: &'m mut Warp,
    /// Lanes that execute the instruction; never none.
    pub mask: u32,
    /// The instruction's index.
    pub pc: u32,
    /// What an instruction that waits remembers between attempts; none at the first one.
    pub ticket: Option<u64>,
    /// Nothing else can happen: an instruction that may give up should.
    pub expired: bool,
    /// Everything else.
    pub machine: &'m mut Machine,
}

impl Step<'_> {
    /// The CTA.
    pub fn cta(&self) -> CtaRef {
        self.warp.cta
    }

    /// The lanes that execute, in order.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// The lowest lane that executes.
    pub fn first_lane(&self) -> usize {
        self.mask.trailing_zeros() as usize % 32
    }

    /// A lane as a thread.
    pub fn thread(&self, lane: usize) -> ThreadRef {
        self.warp.thread(lane as u32)
    }

    /// This instruction as a lane executes it.
    pub fn site(&self, lane: usize) -> Site {
        self.machine.site(self.pc, self.thread(lane))
    }

    /// All lanes' values.
    pub fn row(&self, src: Src) -> &Row {
        &self.warp.rows[src.0 as usize]
    }

    /// One lane's value.
    pub fn get(&self, src: Src, lane: usize) -> u64 {
        self.warp.rows[src.0 as usize][lane]
    }

    /// The high half of a 128-bit register in one lane; [`get`](Self::get) is the low one.
    pub fn get_high(&self, src: Src, lane: usize) -> u64 {
        let high = self.warp.rows.get(src.0 as usize + 1);
        high.map_or(0, |row| row[lane])
    }

    /// Sets one lane's value. The caller has cut it to the register's width.
    pub fn set(&mut self, dst: Dst, lane: usize, value: u64) {
        if !dst.is_sink() {
            self.warp.rows[dst.0 as usize][lane] = value;
        }
    }

    /// Sets the high half of a 128-bit register in one lane.
    pub fn set_high(&mut self, dst: Dst, lane: usize, value: u64) {
        if !dst.is_sink()
            && let Some(row) = self.warp.rows.get_mut(dst.0 as usize + 1)
        {
            row[lane] = value;
        }
    }

    /// Sets the values of the lanes that execute.
    pub fn write(&mut self, dst: Dst, values: &Row) {
        if dst.is_sink() {
            return;
        }
        let row = &mut self.warp.rows[dst.0 as usize];
        if self.mask == u32::MAX {
            *row = *values;
            return;
        }
        for lane in 0..32 {
            if self.mask >> lane & 1 == 1 {
                row[lane] = values[lane];
            }
        }
    }

    /// Sets the lanes that execute to what `f` makes of their number.
    pub fn write_with(&mut self, dst: Dst, f: impl Fn(usize) -> u64) {
        let values: Row = std::array::from_fn(f);
        self.write(dst, &values);
    }

    /// A predicate in all lanes, a bit each; only those of `mask` mean anything.
    pub fn pred(&self, pred: Pred) -> u32 {
        self.warp.predicate(pred)
    }

    /// Sets a predicate in the lanes that execute.
    pub fn set_pred(&mut self, dst: PredDst, value: u32) {
        if dst != PredDst::SINK {
            let old = &mut self.warp.predicates[dst.0 as usize];
            *old = *old & !self.mask | value & self.mask;
        }
    }

    /// The address that an operand gives in a lane.
    pub fn address(&self, address: Address, lane: usize) -> u64 {
        self.get(address.base, lane)
            .wrapping_add_signed(address.offset)
    }

    /// A value that has to be the same in all lanes that execute.
    ///
    /// # Errors
    /// It is not.
    pub fn uniform(&self, src: Src, what: &str) -> Result<u64, Fault> {
        let value = self.get(src, self.first_lane());
        if self.lanes().all(|lane| self.get(src, lane) == value) {
            return Ok(value);
        }
        Err(Fault::new(
            Kind::Divergence,
            format!("{what} has to be the same in all lanes"),
        ))
    }

    /// The bytes of a location, `len` of them; no check for races.
    pub fn bytes(&self, location: Location, lane: usize, len: usize) -> &[u8] {
        let cut = |bytes: &'_ [u8], offset: usize| -> std::ops::Range<usize> {
            let end = (offset + len).min(bytes.len());
            offset.min(end)..end
        };
        match location {
            Location::Shared(cta, offset) => match self.machine.cta(cta) {
                Some(cta) => &cta.shared[cut(&cta.shared, offset as usize)],
                None => &[],
            },
            Location::Global(index, offset) => {
                let bytes = &self.machine.memory.allocations()[index as usize].bytes;
                &bytes[cut(bytes, offset as usize)]
            }
            Location::Local(offset) => {
                let base = lane * self.machine.program.local_bytes as usize;
                &self.warp.local[cut(&self.warp.local, base + offset as usize)]
            }
            Location::Const(offset) => {
                let bytes = &self.machine.program.constants;
                &bytes[cut(bytes, offset as usize)]
            }
            Location::Param(_) => &[],
        }
    }

    /// Reads a location through the generic proxy: races, uninitialised shared memory and live
    /// barriers are reported.
    ///
    /// # Errors
    /// None at present; a location exists.
    pub fn read(&mut self, location: Location, lane: usize, out: &mut [u8]) -> Result<(), Fault> {
        if let Location::Param(offset) = location {
            for (index, byte) in out.iter_mut().enumerate() {
                *byte = self.parameter_byte(offset + index as u64);
            }
            return Ok(());
        }
        self.watch(location, lane, out.len() as u64, Mode::Read);
        let bytes = self.bytes(location, lane, out.len());
        out[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn parameter_byte(&self, offset: u64) -> u8 {
        let parameters = &self.machine.program.parameters;
        let after = parameters.partition_point(|(start, _)| *start <= offset);
        let Some(index) = after.checked_sub(1) else {
            return 0;
        };
        let inside = (offset - parameters[index].0) as usize;
        self.machine
            .launch
            .parameters
            .get(index)
            .and_then(|value| value.get(inside))
            .copied()
            .unwrap_or(0)
    }

    /// Writes a location through the generic proxy.
    ///
    /// # Errors
    /// Memory that cannot be written.
    pub fn store(&mut self, location: Location, lane: usize, bytes: &[u8]) -> Result<(), Fault> {
        // Compilers let all threads that hold a value store it to the same place.
        let same = self.bytes(location, lane, bytes.len()) == bytes;
        let mode = if same { Mode::Rewrite } else { Mode::Write };
        self.watch(location, lane, bytes.len() as u64, mode);
        self.put(location, lane, bytes)
    }

    /// The same without telling the detector.
    ///
    /// # Errors
    /// Memory that cannot be written.
    pub fn put(&mut self, location: Location, lane: usize, bytes: &[u8]) -> Result<(), Fault> {
        self.machine.progress += 1;
        match location {
            Location::Shared(cta, offset) => {
                if let Some(cta) = self.machine.cta_mut(cta) {
                    let offset = offset as usize;
                    cta.shared[offset..offset + bytes.len()].copy_from_slice(bytes);
                }
            }
            Location::Global(index, offset) => {
                self.machine
                    .memory
                    .write_at(index as usize, offset as usize, bytes);
            }
            Location::Local(offset) => {
                let base = lane * self.machine.program.local_bytes as usize + offset as usize;
                self.warp.local[base..base + bytes.len()].copy_from_slice(bytes);
            }
            Location::Const(_) | Location::Param(_) => {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    "constants and parameters cannot be written",
                ));
            }
        }
        Ok(())
    }

    /// Tells the detector of an ordinary access.
    pub fn watch(&mut self, location: Location, lane: usize, len: u64, mode: Mode) {
        let Some((place, position)) = location.place() else {
            return;
        };
        let thread = self.thread(lane);
        if let Location::Shared(cta, offset) = location {
            self.watch_barriers(cta, offset, len, thread);
            if mode == Mode::Read
                && self.machine.detector.enabled()
                && !self.machine.detector.is_written(place, position, len)
            {
                let message = format!(
                    "{} is read before anybody has written it",
                    self.machine.describe(place, position)
                );
                self.machine.report(
                    Kind::UninitialisedRead,
                    Severity::Error,
                    message,
                    self.pc,
                    thread,
                    u32::MAX,
                    Vec::new(),
                );
            }
        }
        let pc = self.pc;
        self.machine
            .watch_generic(thread, pc, mode, place, position, len);
    }

    /// Ordinary instructions must not touch a live barrier.
    fn watch_barriers(&mut self, cta: CtaRef, offset: u32, len: u64, thread: ThreadRef) {
        let Some(state) = self.machine.cta(cta) else {
            return;
        };
        if state.mbarriers.is_empty() {
            return;
        }
        let end = offset.saturating_add(len as u32);
        let start = offset.saturating_sub(7);
        let hit = state
            .mbarriers
            .range(start..end)
            .find(|(_, cell)| cell.barrier.is_valid());
        if let Some((at, cell)) = hit {
            let message = format!(
                "an ordinary access touches the live mbarrier at shared memory {at:#x} ({})",
                cell.barrier
            );
            self.machine.report(
                Kind::MbarrierContract,
                Severity::Error,
                message,
                self.pc,
                thread,
                u32::MAX,
                Vec::new(),
            );
        }
    }
}

impl Warp {
    /// A predicate in all lanes.
    pub fn predicate(&self, pred: Pred) -> u32 {
        let value = if pred.index == Pred::CONSTANT {
            u32::MAX
        } else {
            self.predicates[pred.index as usize]
        };
        if pred.negated { !value } else { value }
    }
}
