//! `ld`, `st`, and the instructions about addresses.

use super::{Execute, decode::{Address, DecodeError, Decoder, Dst, PredDst, Src}};
use crate::{
    machine::step::{Flow, Location, Step, Window},
    memory::{SHARED_RANK_SHIFT, window},
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// How strong an access is, as far as order is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// `.weak`, or nothing.
    Weak,
    /// `.relaxed`, `.volatile`, `.mmio`.
    Relaxed,
    /// `.acquire` of a load, `.release` of a store.
    Synchronising,
}

/// Reads the space modifiers; `generic` stands for none.
pub(super) fn window(d: &mut Decoder<'_>) -> Window {
    match d.one_of(&[
        "global",
        "shared::cta",
        "shared::cluster",
        "shared",
        "local",
        "const",
        "param",
        "param::entry",
    ]) {
        Some("global") => Window::Global,
        Some("shared::cta" | "shared") => Window::SharedCta,
        Some("shared::cluster") => Window::SharedCluster,
        Some("local") => Window::Local,
        Some("const") => Window::Const,
        Some("param" | "param::entry") => Window::Param,
        _ => Window::Generic,
    }
}

/// Reads order and scope, and throws away what only concerns caches. `synchronising` is the
/// order's name that makes an access synchronise. A cache policy is a further operand; whether
/// there is one is returned.
fn order(d: &mut Decoder<'_>, synchronising: &'static str) -> (Order, bool) {
    let order = if d.flag(synchronising) {
        Order::Synchronising
    } else if d.one_of(&["relaxed", "volatile", "mmio"]).is_some() {
        Order::Relaxed
    } else {
        d.flag("weak");
        Order::Weak
    };
    d.one_of(&["cta", "cluster", "gpu", "sys"]);
    (order, cache_hints(d))
}

/// Takes modifiers that only concern caches; whether a cache policy operand follows.
pub(super) fn cache_hints(d: &mut Decoder<'_>) -> bool {
    d.one_of(&["ca", "cg", "cs", "lu", "cv", "wb", "wt"]);
    d.flag("nc");
    d.parse_modifier(|m| {
        (m.starts_with("L1::") || m.starts_with("L2::") && m != "L2::cache_hint").then_some(())
    });
    d.parse_modifier(|m| (m.starts_with("L2::") && m != "L2::cache_hint").then_some(()));
    d.flag("L2::cache_hint")
}

fn vector(d: &mut Decoder<'_>) -> usize {
    match d.one_of(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some("v8") => 8,
        _ => 1,
    }
}

/// A value of `ty` from its bytes, sign-extended for the wider register of a signed type.
fn from_memory(bytes: &[u8], ty: ScalarType, register_bits: u32) -> u64 {
    let mut raw = [0; 8];
    let len = bytes.len().min(8);
    raw[..len].copy_from_slice(&bytes[..len]);
    let value = u64::from_le_bytes(raw);
    if ty.is_signed() && ty.bits() < 64 {
        let shift = 64 - ty.bits();
        let extended = ((value << shift) as i64 >> shift) as u64;
        return cut(extended, register_bits);
    }
    value
}

/// The low `bits` of a value.
pub(super) fn cut(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

#[derive(Debug)]
struct Load {
    window: Window,
    order: Order,
    ty: ScalarType,
    dsts: Vec<(Dst, u32)>,
    address: Address,
}

impl Execute for Load {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let size = self.ty.bytes() as usize;
        let total = size * self.dsts.len();
        let mut buffer = [0u8; 128];
        let buffer = &mut buffer[..total.min(128)];
        for lane in step.lanes() {
            let address = step.address(self.address, lane);
            let location = step.locate(self.window, lane, address, total as u64, total as u64)?;
            if self.order != Order::Weak
                && let Some((place, position)) = location.place()
            {
                let thread = step.thread(lane);
                let acquire = self.order == Order::Synchronising;
                step.machine.detector.location_load(thread, place, position, acquire);
                read_strong(step, location, lane, buffer);
            } else {
                step.read(location, lane, buffer)?;
            }
            for (index, (dst, bits)) in self.dsts.iter().enumerate() {
                let bytes = &buffer[index * size..(index + 1) * size];
                step.set(*dst, lane, from_memory(bytes, self.ty, *bits));
                if size == 16 {
                    step.set_high(*dst, lane, from_memory(&bytes[8..], ScalarType::B64, 64));
                }
            }
        }
        Ok(Flow::Next)
    }
}

/// Strong loads do not race with strong stores and atomics, so they are not written down; a weak
/// store that races with them is found from its own side only.
fn read_strong(step: &mut Step<'_>, location: Location, lane: usize, buffer: &mut [u8]) {
    let bytes = step.bytes(location, lane, buffer.len());
    buffer[..bytes.len()].copy_from_slice(bytes);
}

pub(super) fn decode_ld(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let window = window(d);
    let (order, policy) = order(d, "acquire");
    let count = vector(d);
    let ty = d.scalar_type()?;
    if ty == ScalarType::Pred {
        return Err(d.error("predicates cannot be loaded"));
    }
    let most = if policy { 3 } else { 2 };
    d.expect_operands(most..=most)?;
    let elements = d.elements(0)?;
    if elements.len() != count {
        return Err(d.error(format!("needs {count} registers, got {}", elements.len())));
    }
    let mut dsts = Vec::new();
    for element in elements {
        let bits = d.operand_bits(element);
        dsts.push((d.dst_of(element, ty)?, bits));
    }
    let address = d.address(1)?;
    if policy {
        d.src(2, ScalarType::B64)?;
    }
    Ok(Box::new(Load {
        window,
        order,
        ty,
        dsts,
        address,
    }))
}

#[derive(Debug)]
struct Store {
    window: Window,
    order: Order,
    ty: ScalarType,
    address: Address,
    values: Vec<Src>,
}

impl Execute for Store {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let size = self.ty.bytes() as usize;
        let total = size * self.values.len();
        let mut buffer = [0u8; 128];
        for lane in step.lanes() {
            for (index, value) in self.values.iter().enumerate() {
                let at = index * size;
                let low = step.get(*value, lane).to_le_bytes();
                buffer[at..at + size.min(8)].copy_from_slice(&low[..size.min(8)]);
                if size == 16 {
                    let high = step.get_high(*value, lane).to_le_bytes();
                    buffer[at + 8..at + 16].copy_from_slice(&high);
                }
            }
            let address = step.address(self.address, lane);
            let location = step.locate(self.window, lane, address, total as u64, total as u64)?;
            if self.order != Order::Weak
                && let Some((place, position)) = location.place()
            {
                let thread = step.thread(lane);
                let release = self.order == Order::Synchronising;
                step.watch(location, lane, total as u64, crate::detect::Mode::Atomic);
                step.machine.detector.location_store(thread, place, position, release, false);
                step.put(location, lane, &buffer[..total])?;
                step.machine.changed();
            } else {
                step.store(location, lane, &buffer[..total])?;
            }
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode_st(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("async") {
        return super::st_async::decode(d);
    }
    let window = window(d);
    let (order, policy) = order(d, "release");
    let count = vector(d);
    let ty = d.scalar_type()?;
    if ty == ScalarType::Pred {
        return Err(d.error("predicates cannot be stored"));
    }
    if matches!(window, Window::Const | Window::Param) {
        return Err(d.error("constants and parameters cannot be written"));
    }
    let most = if policy { 3 } else { 2 };
    d.expect_operands(most..=most)?;
    let address = d.address(0)?;
    let values = d.srcs(1, ty, Some(count))?;
    if policy {
        d.src(2, ScalarType::B64)?;
    }
    Ok(Box::new(Store {
        window,
        order,
        ty,
        address,
        values,
    }))
}

/// `cvta` both ways.
#[derive(Debug)]
struct Convert {
    dst: Dst,
    src: Src,
    base: u64,
    back: bool,
}

impl Execute for Convert {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let source = *step.row(self.src);
        step.write_with(self.dst, |lane| {
            let address = source[lane];
            if self.back {
                address.wrapping_sub(self.base)
            } else {
                address.wrapping_add(self.base)
            }
        });
        Ok(Flow::Next)
    }
}

pub(super) fn decode_cvta(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let back = d.flag("to");
    let base = match window(d) {
        Window::Global => 0,
        Window::SharedCta | Window::SharedCluster => window::SHARED,
        Window::Local => window::LOCAL,
        Window::Const => window::CONST,
        Window::Param => window::PARAM,
        Window::Generic => return Err(d.error("needs a state space")),
    };
    d.need_one_of(&["u64"])?;
    d.expect_operands(2..=2)?;
    let dst = d.dst(0, ScalarType::U64)?;
    let src = d.src(1, ScalarType::U64)?;
    Ok(Box::new(Convert {
        dst,
        src,
        base,
        back,
    }))
}

#[derive(Debug)]
struct IsSpace {
    dst: PredDst,
    src: Src,
    window: Window,
}

impl Execute for IsSpace {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let rank = u64::from(step.cta().rank);
        let mut mask = 0;
        for lane in step.lanes() {
            let address = step.get(self.src, lane);
            let inside = |base: u64| address.wrapping_sub(base) < window::SIZE;
            let shared = inside(window::SHARED);
            let is = match self.window {
                Window::SharedCta => {
                    shared && (address - window::SHARED) >> SHARED_RANK_SHIFT == rank
                }
                Window::SharedCluster => shared,
                Window::Local => inside(window::LOCAL),
                Window::Param => inside(window::PARAM),
                Window::Const => inside(window::CONST),
                Window::Global | Window::Generic => address < window::CONST,
            };
            mask |= u32::from(is) << lane;
        }
        step.set_pred(self.dst, mask);
        Ok(Flow::Next)
    }
}

pub(super) fn decode_isspacep(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let window = window(d);
    if window == Window::Generic {
        return Err(d.error("needs a state space"));
    }
    d.expect_operands(2..=2)?;
    let dst = d.pred_dst(0)?;
    let src = d.src(1, ScalarType::U64)?;
    Ok(Box::new(IsSpace { dst, src, window }))
}

/// `mapa`: the same place in another CTA of the cluster.
#[derive(Debug)]
struct MapAddress {
    dst: Dst,
    address: Src,
    rank: Src,
}

impl Execute for MapAddress {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let size: u32 = step.machine.launch.cluster.iter().product();
        for lane in step.lanes() {
            let rank = step.get(self.rank, lane) & 0xffff_ffff;
            if rank >= u64::from(size) {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!("lane {lane} asks for CTA {rank} of a cluster of {size}"),
                ));
            }
            let address = step.get(self.address, lane);
            let low = (1 << SHARED_RANK_SHIFT) - 1;
            // Generic addresses keep their window's base (measured on an H200: both agree).
            let base = address & !0xffff_ffff;
            step.set(self.dst, lane, base | rank << SHARED_RANK_SHIFT | address & low);
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode_mapa(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.flag("shared::cluster");
    let ty = d.scalar_type()?;
    if !matches!(ty, ScalarType::U32 | ScalarType::U64) {
        return Err(d.error("needs .u32 or .u64"));
    }
    d.expect_operands(3..=3)?;
    let dst = d.dst(0, ty)?;
    let address = d.src(1, ty)?;
    let rank = d.src(2, ScalarType::U32)?;
    Ok(Box::new(MapAddress { dst, address, rank }))
}

#[derive(Debug)]
struct Rank {
    dst: Dst,
    address: Src,
}

impl Execute for Rank {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let source = *step.row(self.address);
        step.write_with(self.dst, |lane| (source[lane] & 0xffff_ffff) >> SHARED_RANK_SHIFT);
        Ok(Flow::Next)
    }
}

pub(super) fn decode_getctarank(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.flag("shared::cluster");
    let ty = d.scalar_type()?;
    d.expect_operands(2..=2)?;
    let dst = d.dst(0, ScalarType::U32)?;
    let address = d.src(1, ty)?;
    Ok(Box::new(Rank { dst, address }))
}

/// Prefetches move nothing that a program could see.
#[derive(Debug)]
struct Nothing;

impl Execute for Nothing {
    fn execute(&self, _: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Ok(Flow::Next)
    }
}

pub(super) fn decode_prefetch(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("tensormap") {
        return super::bulk_tensor::decode_prefetch_tensormap(d);
    }
    d.one_of(&["global", "local"]);
    d.parse_modifier(|m| (m.starts_with("L1") || m.starts_with("L2")).then_some(()));
    d.expect_operands(1..=1)?;
    d.address(0)?;
    Ok(Box::new(Nothing))
}
