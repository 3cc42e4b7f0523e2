//! `atom` and `red`.

use super::{Execute, decode::{Address, DecodeError, Decoder, Dst, Src}, memory::{cache_hints, cut, window}};
use crate::{
    detect::Mode,
    machine::step::{Flow, Step, Window},
    report::Fault,
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Add,
    Inc,
    Dec,
    Min,
    Max,
}

#[derive(Debug)]
struct Atomic {
    window: Window,
    acquire: bool,
    release: bool,
    op: Op,
    ty: ScalarType,
    dst: Dst,
    address: Address,
    value: Src,
    second: Option<Src>,
}

fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    (value << shift) as i64 >> shift
}

fn float_add(ty: ScalarType, old: u64, value: u64) -> u64 {
    match ty {
        ScalarType::F32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(value as u32);
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
        _ => {
            let sum = f64::from_bits(old) + f64::from_bits(value);
            sum.to_bits()
        }
    }
}

fn apply(op: Op, ty: ScalarType, old: u64, value: u64, second: u64) -> u64 {
    let bits = ty.bits();
    let new = match op {
        Op::And => old & value,
        Op::Or => old | value,
        Op::Xor => old ^ value,
        Op::Exch => value,
        Op::Cas if old == cut(value, bits) => second,
        Op::Cas => old,
        Op::Add if ty.is_float() => float_add(ty, old, value),
        Op::Add => old.wrapping_add(value),
        Op::Inc if old >= value => 0,
        Op::Inc => old.wrapping_add(1),
        Op::Dec if old == 0 || old > value => value,
        Op::Dec => old.wrapping_sub(1),
        Op::Min if ty.is_signed() => signed(old, bits).min(signed(value, bits)) as u64,
        Op::Max if ty.is_signed() => signed(old, bits).max(signed(value, bits)) as u64,
        Op::Min => old.min(value),
        Op::Max => old.max(value),
    };
    cut(new, bits)
}

impl Execute for Atomic {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let size = self.ty.bytes() as usize;
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let location =
                step.locate(self.window, lane, address, size as u64, size as u64)?;
            let thread = step.thread(lane);
            if let Some((place, position)) = location.place() {
                step.machine.detector.location_load(thread, place, position, self.acquire);
            }
            step.watch(location, lane, size as u64, Mode::Atomic);
            let mut raw = [0; 8];
            raw[..size].copy_from_slice(step.bytes(location, lane, size));
            let old = u64::from_le_bytes(raw);
            let value = step.get(self.value, lane);
            let second = self.second.map_or(0, |second| step.get(second, lane));
            let new = apply(self.op, self.ty, old, value, second);
            if let Some((place, position)) = location.place() {
                step.machine
                    .detector
                    .location_store(thread, place, position, self.release, true);
            }
            step.put(location, lane, &new.to_le_bytes()[..size])?;
            step.set(self.dst, lane, old);
        }
        step.machine.changed();
        Ok(Flow::Next)
    }
}

fn decode(d: &mut Decoder<'_>, returns: bool) -> Result<Box<dyn Execute>> {
    if d.flag("async") {
        return super::st_async::decode_red(d);
    }
    let window = window(d);
    if !matches!(
        window,
        Window::Generic | Window::Global | Window::SharedCta | Window::SharedCluster
    ) {
        return Err(d.error("atomics act on global and shared memory"));
    }
    let order = d.one_of(&["acq_rel", "acquire", "release", "relaxed"]);
    d.one_of(&["cta", "cluster", "gpu", "sys"]);
    let policy = cache_hints(d);
    let op = match d.need_one_of(&[
        "and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max",
    ])? {
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "exch" => Op::Exch,
        "cas" => Op::Cas,
        "add" => Op::Add,
        "inc" => Op::Inc,
        "dec" => Op::Dec,
        "min" => Op::Min,
        _ => Op::Max,
    };
    let ty = d.scalar_type()?;
    use ScalarType::{B32, B64, F32, F64, S32, S64, U32, U64};
    let allowed: &[ScalarType] = match op {
        Op::And | Op::Or | Op::Xor | Op::Exch | Op::Cas => &[B32, B64],
        Op::Add => &[U32, S32, U64, S64, F32, F64],
        Op::Inc | Op::Dec => &[U32],
        Op::Min | Op::Max => &[U32, S32, U64, S64],
    };
    if !allowed.contains(&ty) {
        return Err(d.error("this operation is not supported on this type"));
    }
    let shift = usize::from(returns);
    let operands = 2 + shift + usize::from(op == Op::Cas) + usize::from(policy);
    d.expect_operands(operands..=operands)?;
    let dst = if returns { d.dst(0, ty)? } else { Dst::SINK };
    let address = d.address(shift)?;
    let value = d.src(shift + 1, ty)?;
    let second = if op == Op::Cas { Some(d.src(shift + 2, ty)?) } else { None };
    if policy {
        d.src(operands - 1, ScalarType::B64)?;
    }
    Ok(Box::new(Atomic {
        window,
        acquire: matches!(order, Some("acq_rel" | "acquire")),
        release: matches!(order, Some("acq_rel" | "release")),
        op,
        ty,
        dst,
        address,
        value,
        second,
    }))
}

pub(super) fn decode_atom(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    decode(d, true)
}

pub(super) fn decode_red(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    decode(d, false)
}
