//! Instructions among the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `elect` (PTX ISA 9.1,
//! sections 9.7.9 and 9.7.13; measured on an H200).
//!
//! Each waits for the lanes of its member mask; members that have ended do not count.

use super::{
    Convergence, Execute,
    decode::{DecodeError, Decoder, Dst, Pred, PredDst, Src},
    float::pick,
    lanes::{Lane, Single},
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::{Operand, ScalarType},
};

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// All members have to name the same mask.
fn check_members(step: &Step<'_>, members: Src) -> Result<(), Fault> {
    step.uniform(members, "the member mask").map(|_| ())
}

/// `d` or `d|p`.
fn result(d: &Decoder<'_>, ty: ScalarType) -> Result<(Dst, PredDst), DecodeError> {
    match d.operand(0)? {
        Operand::Pair(dst, pred) => Ok((d.dst_of(dst, ty)?, d.pred_dst_of(pred)?)),
        other => Ok((d.dst_of(other, ty)?, PredDst::SINK)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The lane that a lane reads from, if it is in range. `b` is the distance, mask or index, `c`
/// holds the clamp in bits 0-4 and the segment mask in bits 8-12.
fn shuffle_source(mode: Shuffle, lane: u32, b: u32, c: u32) -> Option<u32> {
    let b = b & 31;
    let clamp = c & 31;
    let segment = c >> 8 & 31;
    let base = lane & segment;
    let last = base | clamp & !segment;
    let (source, in_range) = match mode {
        Shuffle::Up => {
            let source = lane.wrapping_sub(b);
            (source, source.cast_signed() >= last.cast_signed())
        }
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Index => {
            let source = base | b & !segment;
            (source, source <= last)
        }
    };
    in_range.then_some(source & 31)
}

/// `shfl.sync`. From a lane that does not take part the ISA promises nothing; what its register
/// holds is read.
#[derive(Debug)]
struct Shfl {
    mode: Shuffle,
    dst: Dst,
    in_range: PredDst,
    a: Src,
    b: Src,
    c: Src,
    members: Src,
}

impl Execute for Shfl {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        check_members(step, self.members)?;
        let values = *step.row(self.a);
        let b = step.row(self.b);
        let c = step.row(self.c);
        let mut out = [0; 32];
        let mut in_range = 0;
        for lane in 0..32 {
            match shuffle_source(self.mode, lane as u32, b[lane] as u32, c[lane] as u32) {
                Some(source) => {
                    out[lane] = values[source as usize] & 0xffff_ffff;
                    in_range |= 1 << lane;
                }
                None => out[lane] = values[lane] & 0xffff_ffff,
            }
        }
        step.write(self.dst, &out);
        step.set_pred(self.in_range, in_range);
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

pub(super) fn decode_shfl(d: &mut Decoder<'_>) -> Decoded {
    d.need("sync")?;
    let mode = match d.need_one_of(&["up", "down", "bfly", "idx"])? {
        "up" => Shuffle::Up,
        "down" => Shuffle::Down,
        "bfly" => Shuffle::Butterfly,
        _ => Shuffle::Index,
    };
    d.need("b32")?;
    d.expect_operands(5..=5)?;
    let (dst, in_range) = result(d, ScalarType::B32)?;
    Ok(Box::new(Shfl {
        mode,
        dst,
        in_range,
        a: d.src(1, ScalarType::B32)?,
        b: d.src(2, ScalarType::B32)?,
        c: d.src(3, ScalarType::B32)?,
        members: d.src(4, ScalarType::B32)?,
    }))
}

#[derive(Debug, Clone, Copy)]
enum Vote {
    All(PredDst),
    Any(PredDst),
    Uniform(PredDst),
    Ballot(Dst),
}

/// `vote.sync`.
#[derive(Debug)]
struct Voting {
    vote: Vote,
    ballot: Pred,
    members: Src,
}

impl Execute for Voting {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        check_members(step, self.members)?;
        let yes = step.pred(self.ballot) & step.mask;
        let mask = step.mask;
        let spread = |answer: bool| if answer { u32::MAX } else { 0 };
        match self.vote {
            Vote::All(dst) => step.set_pred(dst, spread(yes == mask)),
            Vote::Any(dst) => step.set_pred(dst, spread(yes != 0)),
            Vote::Uniform(dst) => step.set_pred(dst, spread(yes == 0 || yes == mask)),
            Vote::Ballot(dst) => step.write_with(dst, |_| u64::from(yes)),
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

pub(super) fn decode_vote(d: &mut Decoder<'_>) -> Decoded {
    d.need("sync")?;
    let mode = d.need_one_of(&["all", "any", "uni", "ballot"])?;
    d.need(if mode == "ballot" { "b32" } else { "pred" })?;
    d.expect_operands(3..=3)?;
    let vote = match mode {
        "all" => Vote::All(d.pred_dst(0)?),
        "any" => Vote::Any(d.pred_dst(0)?),
        "uni" => Vote::Uniform(d.pred_dst(0)?),
        _ => Vote::Ballot(d.dst(0, ScalarType::B32)?),
    };
    Ok(Box::new(Voting {
        vote,
        ballot: d.pred(1)?,
        members: d.src(2, ScalarType::B32)?,
    }))
}

/// `match.sync`: which lanes hold the same value.
#[derive(Debug)]
struct Match {
    all: bool,
    dst: Dst,
    equal: PredDst,
    a: Src,
    /// Bits of the type.
    mask: u64,
    members: Src,
}

impl Execute for Match {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        check_members(step, self.members)?;
        let values = step.row(self.a).map(|value| value & self.mask);
        let same = |lane: usize| {
            let equal = step.lanes().filter(|&other| values[other] == values[lane]);
            equal.fold(0u32, |mask, other| mask | 1 << other)
        };
        if self.all {
            let equal = same(step.first_lane()) == step.mask;
            let mask = if equal { u64::from(step.mask) } else { 0 };
            step.write_with(self.dst, |_| mask);
            step.set_pred(self.equal, if equal { u32::MAX } else { 0 });
        } else {
            let out = std::array::from_fn(|lane| u64::from(same(lane)));
            step.write(self.dst, &out);
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

pub(super) fn decode_match(d: &mut Decoder<'_>) -> Decoded {
    let all = d.need_one_of(&["any", "all"])? == "all";
    d.need("sync")?;
    let ty = match d.need_one_of(&["b32", "b64"])? {
        "b32" => ScalarType::B32,
        _ => ScalarType::B64,
    };
    d.expect_operands(3..=3)?;
    let (dst, equal) = result(d, ScalarType::B32)?;
    if !all && equal != PredDst::SINK {
        return Err(d.error("only .all has a predicate"));
    }
    Ok(Box::new(Match {
        all,
        dst,
        equal,
        a: d.src(1, ty)?,
        mask: u64::MAX >> (64 - ty.bits()),
        members: d.src(2, ScalarType::B32)?,
    }))
}

/// `redux.sync`.
struct Reduce {
    dst: Dst,
    a: Src,
    f: Box<dyn Fn(u64, u64) -> u64 + Send + Sync>,
    /// Applied to each operand first.
    first: fn(u64) -> u64,
    members: Src,
}

impl std::fmt::Debug for Reduce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reduce({:?} <- {:?})", self.dst, self.a)
    }
}

impl Execute for Reduce {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        check_members(step, self.members)?;
        let values = step
            .lanes()
            .map(|lane| (self.first)(step.get(self.a, lane)));
        let result = values.reduce(|x, y| (self.f)(x, y)).unwrap_or(0);
        step.write_with(self.dst, |_| result);
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

pub(super) fn decode_redux(d: &mut Decoder<'_>) -> Decoded {
    d.need("sync")?;
    let operation = d.need_one_of(&["add", "min", "max", "and", "or", "xor"])?;
    let abs = d.flag("abs");
    let nan = d.flag("NaN");
    let ty = d.scalar_type()?;
    if ty != ScalarType::F32 && (abs || nan) {
        return Err(d.error(".abs and .NaN are for .f32 only"));
    }
    let max = operation == "max";
    let f: Box<dyn Fn(u64, u64) -> u64 + Send + Sync> = match (operation, ty) {
        ("add", ScalarType::U32 | ScalarType::S32) => {
            Box::new(|x, y| u32::of(x).wrapping_add(u32::of(y)).register())
        }
        ("min" | "max", ScalarType::U32) => Box::new(move |x, y| {
            let (x, y) = (u32::of(x), u32::of(y));
            (if max { x.max(y) } else { x.min(y) }).register()
        }),
        ("min" | "max", ScalarType::S32) => Box::new(move |x, y| {
            let (x, y) = (i32::of(x), i32::of(y));
            (if max { x.max(y) } else { x.min(y) }).register()
        }),
        ("min" | "max", ScalarType::F32) => {
            Box::new(move |x, y| Single(pick(f32::of(x), f32::of(y), max, nan)).register())
        }
        ("and", ScalarType::B32) => Box::new(|x, y| x & y),
        ("or", ScalarType::B32) => Box::new(|x, y| x | y),
        ("xor", ScalarType::B32) => Box::new(|x, y| x ^ y),
        _ => return Err(d.error("does not exist for this type")),
    };
    let first: fn(u64) -> u64 = match (ty, abs) {
        // One lane alone also has its NaN made the hardware's.
        (ScalarType::F32, true) => |x| Single(f32::of(x).abs()).register(),
        (ScalarType::F32, false) => |x| Single(f32::of(x)).register(),
        _ => |x| x & 0xffff_ffff,
    };
    d.expect_operands(3..=3)?;
    Ok(Box::new(Reduce {
        dst: d.dst(0, ty)?,
        a: d.src(1, ty)?,
        f,
        first,
        members: d.src(2, ScalarType::B32)?,
    }))
}

/// `elect.sync`: the lowest lane of the member mask. The ISA only promises that it is always the
/// same one; compilers and the hardware agree on the lowest.
#[derive(Debug)]
struct Elect {
    dst: Dst,
    elected: PredDst,
    members: Src,
}

impl Execute for Elect {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        check_members(step, self.members)?;
        let leader = step.first_lane();
        step.write_with(self.dst, |_| leader as u64);
        step.set_pred(self.elected, 1 << leader);
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Members(self.members)
    }
}

pub(super) fn decode_elect(d: &mut Decoder<'_>) -> Decoded {
    d.need("sync")?;
    d.expect_operands(2..=2)?;
    let Operand::Pair(dst, elected) = d.operand(0)? else {
        return Err(d.error("needs a register and a predicate to write to"));
    };
    Ok(Box::new(Elect {
        dst: d.dst_of(dst, ScalarType::B32)?,
        elected: d.pred_dst_of(elected)?,
        members: d.src(1, ScalarType::B32)?,
    }))
}
