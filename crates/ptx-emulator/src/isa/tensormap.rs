//! `tensormap.replace`, `tensormap.cp_fenceproxy` and `fence.proxy.tensormap`.

use super::{
    Convergence, Execute,
    decode::{Address, DecodeError, Decoder, Src},
};
use crate::{
    machine::step::{Flow, Location, Step, Window},
    report::{Fault, Kind},
    syntax::ast::ScalarType,
    tensor_map::{Field, MAP_ALIGN, MAP_BYTES, ReplaceError, TensorMap},
};

type Result<T> = std::result::Result<T, DecodeError>;

impl From<ReplaceError> for Fault {
    fn from(error: ReplaceError) -> Self {
        Self::new(Kind::InvalidOperand, error.to_string())
    }
}

/// `tensormap.replace`: a read and a write of the whole map through the generic proxy.
#[derive(Debug)]
struct Replace {
    window: Window,
    address: Address,
    field: Field,
    ordinal: u32,
    value: Src,
}

impl Execute for Replace {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let location = locate(step, self.window, self.address, lane)?;
            let mut bytes = [0; MAP_BYTES];
            step.read(location, lane, &mut bytes)?;
            let value = step.get(self.value, lane);
            let value = if self.field.is_wide() {
                value
            } else {
                value & 0xffff_ffff
            };
            TensorMap::replace(&mut bytes, self.field, self.ordinal, value)?;
            step.store(location, lane, &bytes)?;
        }
        Ok(Flow::Next)
    }
}

fn locate(
    step: &Step<'_>,
    window: Window,
    address: Address,
    lane: usize,
) -> std::result::Result<Location, Fault> {
    let address = step.address(address, lane);
    step.locate(window, lane, address, MAP_BYTES as u64, MAP_ALIGN)
}

/// `tensormap.cp_fenceproxy`: one copy by the whole warp, released to the tensormap proxy.
#[derive(Debug)]
struct CopyFence {
    dst: Address,
    src: Address,
}

impl Execute for CopyFence {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for (address, what) in [(self.dst, "the destination"), (self.src, "the source")] {
            step.uniform(address.base, what)?;
        }
        let lane = step.first_lane();
        let src = locate(step, Window::SharedCta, self.src, lane)?;
        let dst = locate(step, Window::Global, self.dst, lane)?;
        let mut bytes = [0; MAP_BYTES];
        step.read(src, lane, &mut bytes)?;
        step.store(dst, lane, &bytes)?;
        if let Some((place, position)) = dst.place() {
            let thread = step.thread(lane);
            let detector = &mut step.machine.detector;
            detector.location_store(thread, place, position, true, false);
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// `fence.proxy.tensormap`.
#[derive(Debug)]
enum Fence {
    /// Earlier changes of maps come before what is released later.
    Release,
    /// What was released at the map comes before its later uses.
    Acquire(Address),
}

impl Execute for Fence {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let thread = step.thread(lane);
            match self {
                Self::Release => step.machine.detector.fence(thread),
                Self::Acquire(address) => {
                    let map = locate(step, Window::Generic, *address, lane)?;
                    if let Some((place, position)) = map.place() {
                        let detector = &mut step.machine.detector;
                        detector.location_load(thread, place, position, true);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }
}

/// `tensormap.replace` and `tensormap.cp_fenceproxy`.
pub(super) fn decode_tensormap(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    if d.flag("cp_fenceproxy") {
        return decode_copy(d);
    }
    d.need("replace")?;
    d.need("tile")?;
    let field = d
        .parse_modifier(Field::from_name)
        .ok_or_else(|| d.error("needs a field of tensor maps"))?;
    let window = match d.one_of(&["global", "shared::cta", "shared"]) {
        Some("global") => Window::Global,
        Some(_) => Window::SharedCta,
        None => Window::Generic,
    };
    d.need("b1024")?;
    let (width, ty) = if field.is_wide() {
        ("b64", ScalarType::B64)
    } else {
        ("b32", ScalarType::B32)
    };
    d.need(width)?;
    let last = 1 + usize::from(field.has_ordinal());
    d.expect_operands(last + 1..=last + 1)?;
    let address = d.address(0)?;
    let ordinal = if field.has_ordinal() {
        d.immediate(1)?
    } else {
        0
    };
    let ordinal =
        u32::try_from(ordinal).map_err(|_| d.error(format!("{field} {ordinal} does not exist")))?;
    if field.is_immediate() {
        d.immediate(last)?;
    }
    Ok(Box::new(Replace {
        window,
        address,
        field,
        ordinal,
        value: d.src(last, ty)?,
    }))
}

fn decode_copy(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let names = d.modifiers().iter().map(String::as_str);
    let spaces: Vec<&str> = names
        .filter(|m| ["global", "shared::cta"].contains(m))
        .collect();
    if spaces != ["global", "shared::cta"] {
        return Err(d.error("copies from shared::cta to global memory only"));
    }
    for needed in [
        "global",
        "shared::cta",
        "tensormap::generic",
        "release",
        "sync",
        "aligned",
    ] {
        d.need(needed)?;
    }
    d.need_one_of(&["cta", "cluster", "gpu", "sys"])?;
    d.expect_operands(3..=3)?;
    need_map_size(d, 2)?;
    Ok(Box::new(CopyFence {
        dst: d.address(0)?,
        src: d.address(1)?,
    }))
}

fn need_map_size(d: &Decoder<'_>, index: usize) -> Result<()> {
    match d.immediate(index)? {
        128 => Ok(()),
        size => Err(d.error(format!("a tensor map has 128 bytes, not {size}"))),
    }
}

/// `fence.proxy.tensormap`; the opcode and `.proxy` have been taken.
pub(super) fn decode_fence(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.need("tensormap::generic")?;
    let direction = d.need_one_of(&["acquire", "release"])?;
    d.need_one_of(&["cta", "cluster", "gpu", "sys"])?;
    if direction == "release" {
        d.expect_operands(0..=0)?;
        return Ok(Box::new(Fence::Release));
    }
    d.expect_operands(2..=2)?;
    need_map_size(d, 1)?;
    Ok(Box::new(Fence::Acquire(d.address(0)?)))
}
