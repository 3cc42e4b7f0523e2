//! `tcgen05.ld`, `st` and the waits for them (PTX ISA 9.7.16.8).

use super::{Pending, Use, WarpStreams, state, touch};
use crate::{
    detect::{Mode, Proxy, Stream},
    isa::{
        Convergence, Execute,
        decode::{Address, DecodeError, Decoder, Dst, Src},
        matrix::{need_whole_warp, sync_aligned},
    },
    machine::{
        ids::ThreadRef,
        step::{Flow, Step},
        warp::Row,
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_memory::{
        TensorAddress, TensorMemory,
        register_access::{AccessShape, RegisterAccess},
    },
};

/// The two kinds of access, each a stream of the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

impl Direction {
    fn stream(self, leader: ThreadRef) -> Stream {
        match self {
            Self::Load => Stream::TensorLoad(leader),
            Self::Store => Stream::TensorStore(leader),
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::Load => Mode::Read,
            Self::Store => Mode::Write,
        }
    }

    fn pending(self, streams: &mut WarpStreams) -> &mut Pending {
        match self {
            Self::Load => &mut streams.loads,
            Self::Store => &mut streams.stores,
        }
    }
}

/// Checks an access, tells the detector of it, and gives its address.
fn begin(
    step: &mut Step<'_>,
    access: &RegisterAccess,
    address: Address,
    direction: Direction,
) -> Result<TensorAddress, Fault> {
    need_whole_warp(step)?;
    let base = step.uniform(address.base, "the tensor memory address")?;
    let at = TensorAddress::from_bits(base.wrapping_add_signed(address.offset) as u32);
    let warp = step.warp.index;
    if !access.reachable(at.lane, warp) {
        let quadrant = 32 * (warp % 4);
        return Err(Fault::new(
            Kind::InvalidOperand,
            format!(
                "warp {warp} accesses tensor memory at {at}, and reaches lanes {quadrant} to {} only",
                quadrant + 31
            ),
        ));
    }
    let leader = step.thread(0);
    let streams = state(step.machine, leader.cta)?
        .warps
        .entry(warp)
        .or_default();
    let pending = direction.pending(streams);
    pending.open = true;
    let time = pending.time();
    let what = Use {
        thread: leader,
        epoch: step
            .machine
            .detector
            .stream_epoch(leader, direction.stream(leader), time),
        mode: direction.mode(),
        proxy: Proxy::Tensor,
        pc: step.pc,
    };
    let reads = direction == Direction::Load;
    touch(step.machine, leader.cta, &access.regions(at), reads, what)?;
    Ok(at)
}

#[derive(Debug)]
struct Load {
    access: RegisterAccess,
    address: Address,
    registers: Vec<Dst>,
}

impl Execute for Load {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let at = begin(step, &self.access, self.address, Direction::Load)?;
        let cta = step.cta();
        for (register, &dst) in (0..).zip(&self.registers) {
            let memory = &state(step.machine, cta)?.memory;
            let values: Row =
                std::array::from_fn(|lane| gather(memory, &self.access, at, lane as u32, register));
            step.write(dst, &values);
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

fn gather(
    memory: &TensorMemory,
    access: &RegisterAccess,
    at: TensorAddress,
    thread: u32,
    register: u32,
) -> u64 {
    let (lane, column) = access.cell(thread, register);
    let (lane, column) = (at.lane + lane, at.column + column);
    let word = memory.word(lane, column);
    if !access.packed() {
        return word.into();
    }
    let upper = memory.word(lane, column + 1);
    (word & 0xffff | upper << 16).into()
}

#[derive(Debug)]
struct Store {
    access: RegisterAccess,
    address: Address,
    registers: Vec<Src>,
}

impl Execute for Store {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let at = begin(step, &self.access, self.address, Direction::Store)?;
        let cta = step.cta();
        for (register, &src) in (0..).zip(&self.registers) {
            let values = *step.row(src);
            let memory = &mut state(step.machine, cta)?.memory;
            for (thread, &value) in (0..).zip(&values) {
                let (lane, column) = self.access.cell(thread, register);
                let (lane, column) = (at.lane + lane, at.column + column);
                let value = value as u32;
                if self.access.packed() {
                    // What the upper halves become is not documented; zeros here.
                    memory.write_row(lane, column, &[value & 0xffff, value >> 16]);
                } else {
                    memory.write_row(lane, column, &[value]);
                }
            }
        }
        step.machine.progress += 1;
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// The repetition of a modifier such as `x32`.
fn repetition(modifier: &str) -> Option<u32> {
    modifier.strip_prefix('x')?.parse().ok()
}

fn access(
    d: &mut Decoder<'_>,
    packed: &str,
    split: Option<usize>,
) -> Result<RegisterAccess, DecodeError> {
    sync_aligned(d)?;
    let shape = d
        .parse_modifier(AccessShape::from_modifier)
        .ok_or_else(|| {
            d.error("needs one of the shapes .32x32b, .16x64b, .16x128b, .16x256b, .16x32bx2")
        })?;
    let repeat = d
        .parse_modifier(repetition)
        .ok_or_else(|| d.error("needs a repetition .x1 to .x128"))?;
    let packed = d.flag(packed);
    d.need("b32")?;
    let halves = shape == AccessShape::S16x32bx2;
    let operands = if halves { 3 } else { 2 };
    d.expect_operands(operands..=operands)?;
    let split = match split {
        Some(index) if halves => u32::try_from(d.immediate(index)?)
            .map_err(|_| d.error("the distance of the halves is out of range"))?,
        _ => 0,
    };
    RegisterAccess::new(shape, repeat, packed, split).map_err(|error| d.error(error))
}

pub(super) fn decode_ld(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("ld")?;
    let access = access(d, "pack::16b", Some(2))?;
    let count = access.registers() as usize;
    Ok(Box::new(Load {
        registers: d.dsts(0, ScalarType::B32, Some(count))?,
        address: d.address(1)?,
        access,
    }))
}

pub(super) fn decode_st(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("st")?;
    let access = access(d, "unpack::16b", Some(1))?;
    let count = access.registers() as usize;
    let values = d.operand_count() - 1;
    Ok(Box::new(Store {
        address: d.address(0)?,
        registers: d.srcs(values, ScalarType::B32, Some(count))?,
        access,
    }))
}

#[derive(Debug)]
struct Wait(Direction);

impl Execute for Wait {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        need_whole_warp(step)?;
        let leader = step.thread(0);
        let warp = step.warp.index;
        let streams = state(step.machine, leader.cta)?
            .warps
            .entry(warp)
            .or_default();
        let pending = self.0.pending(streams);
        if !pending.open {
            return Ok(Flow::Next);
        }
        let time = pending.time();
        pending.open = false;
        pending.waits += 1;
        let epoch = step
            .machine
            .detector
            .stream_epoch(leader, self.0.stream(leader), time);
        for lane in step.lanes() {
            let thread = step.thread(lane);
            step.machine.detector.learn(thread, epoch);
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_wait(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    let name = d.need_one_of(&["wait::ld", "wait::st"])?;
    sync_aligned(d)?;
    d.expect_operands(0..=0)?;
    Ok(Box::new(Wait(match name {
        "wait::ld" => Direction::Load,
        _ => Direction::Store,
    })))
}
