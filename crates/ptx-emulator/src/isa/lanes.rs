//! Instructions that compute each lane's result from the lane's own operands.
//!
//! A family gives the function of one lane, typed; what is here reads the rows, applies it to all
//! lanes in one loop that the compiler can vectorise, and writes the lanes that execute. Lanes
//! that do not execute are computed as well: a lane's function has no effects and no panics.

use std::{fmt, marker::PhantomData};

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Src},
};
use crate::{
    machine::{
        step::{Flow, Step},
        warp::Row,
    },
    report::Fault,
    syntax::ast::ScalarType,
};

/// What a lane of a row holds.
pub(super) trait Lane: Copy + Send + Sync + 'static {
    /// The PTX type with this layout.
    const TYPE: ScalarType;
    /// From a register; bits above the type do not matter.
    fn of(register: u64) -> Self;
    /// To a register: zeros above the type.
    fn register(self) -> u64;
}

macro_rules! integer_lanes {
    ($($name:ident $unsigned:ident $ty:ident),+) => {
        $(impl Lane for $name {
            const TYPE: ScalarType = ScalarType::$ty;
            #[inline(always)]
            fn of(register: u64) -> Self {
                register as $name
            }
            #[inline(always)]
            fn register(self) -> u64 {
                self as $unsigned as u64
            }
        })+
    };
}

integer_lanes!(
    u8 u8 B8, i8 u8 S8, u16 u16 U16, i16 u16 S16, u32 u32 U32, i32 u32 S32, u64 u64 U64, i64 u64 S64
);

impl Lane for f32 {
    const TYPE: ScalarType = ScalarType::F32;
    #[inline(always)]
    fn of(register: u64) -> Self {
        f32::from_bits(register as u32)
    }
    #[inline(always)]
    fn register(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Lane for f64 {
    const TYPE: ScalarType = ScalarType::F64;
    #[inline(always)]
    fn of(register: u64) -> Self {
        f64::from_bits(register)
    }
    #[inline(always)]
    fn register(self) -> u64 {
        self.to_bits()
    }
}

/// The result of an `.f32` instruction: every NaN becomes the one that the hardware produces,
/// 7fffffff (measured on an H200).
///
/// This happens on the bits. A choice between floating-point values may be optimised away, since
/// to LLVM one NaN of an operation is as good as another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Single(pub(super) f32);

impl Lane for Single {
    const TYPE: ScalarType = ScalarType::F32;
    #[inline(always)]
    fn of(register: u64) -> Self {
        Self(f32::of(register))
    }
    #[inline(always)]
    fn register(self) -> u64 {
        let bits = self.0.to_bits();
        u64::from(if bits & 0x7fff_ffff > 0x7f80_0000 {
            0x7fff_ffff
        } else {
            bits
        })
    }
}

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// `d = f(a)`.
struct Unary<A, R, F> {
    dst: Dst,
    a: Src,
    f: F,
    types: PhantomData<fn(A) -> R>,
}

impl<A: Lane, R: Lane, F: Fn(A) -> R + Send + Sync> Execute for Unary<A, R, F> {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let a = step.row(self.a);
        let mut out: Row = [0; 32];
        for lane in 0..32 {
            out[lane] = (self.f)(A::of(a[lane])).register();
        }
        step.write(self.dst, &out);
        Ok(Flow::Next)
    }
}

impl<A, R, F> fmt::Debug for Unary<A, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unary({:?} <- {:?})", self.dst, self.a)
    }
}

/// Decodes the two operands of `d = f(a)`.
pub(super) fn unary<A, R, F>(d: &mut Decoder<'_>, f: F) -> Decoded
where
    A: Lane,
    R: Lane,
    F: Fn(A) -> R + Send + Sync + 'static,
{
    d.expect_operands(2..=2)?;
    let dst = d.dst(0, R::TYPE)?;
    let a = d.src(1, A::TYPE)?;
    Ok(unary_of(dst, a, f))
}

/// `d = f(a)` of operands at hand.
pub(super) fn unary_of<A, R, F>(dst: Dst, a: Src, f: F) -> Box<dyn Execute>
where
    A: Lane,
    R: Lane,
    F: Fn(A) -> R + Send + Sync + 'static,
{
    Box::new(Unary {
        dst,
        a,
        f,
        types: PhantomData,
    })
}

/// `d = f(a, b)`.
struct Binary<A, B, R, F> {
    dst: Dst,
    a: Src,
    b: Src,
    f: F,
    types: PhantomData<fn(A, B) -> R>,
}

impl<A: Lane, B: Lane, R: Lane, F: Fn(A, B) -> R + Send + Sync> Execute for Binary<A, B, R, F> {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let a = step.row(self.a);
        let b = step.row(self.b);
        let mut out: Row = [0; 32];
        for lane in 0..32 {
            out[lane] = (self.f)(A::of(a[lane]), B::of(b[lane])).register();
        }
        step.write(self.dst, &out);
        Ok(Flow::Next)
    }
}

impl<A, B, R, F> fmt::Debug for Binary<A, B, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binary({:?} <- {:?}, {:?})", self.dst, self.a, self.b)
    }
}

/// Decodes the three operands of `d = f(a, b)`.
pub(super) fn binary<A, B, R, F>(d: &mut Decoder<'_>, f: F) -> Decoded
where
    A: Lane,
    B: Lane,
    R: Lane,
    F: Fn(A, B) -> R + Send + Sync + 'static,
{
    d.expect_operands(3..=3)?;
    let dst = d.dst(0, R::TYPE)?;
    let a = d.src(1, A::TYPE)?;
    let b = d.src(2, B::TYPE)?;
    Ok(binary_of(dst, a, b, f))
}

/// `d = f(a, b)` of operands at hand.
pub(super) fn binary_of<A, B, R, F>(dst: Dst, a: Src, b: Src, f: F) -> Box<dyn Execute>
where
    A: Lane,
    B: Lane,
    R: Lane,
    F: Fn(A, B) -> R + Send + Sync + 'static,
{
    Box::new(Binary {
        dst,
        a,
        b,
        f,
        types: PhantomData,
    })
}

/// `d = f(a, b, c)`.
struct Ternary<A, B, C, R, F> {
    dst: Dst,
    a: Src,
    b: Src,
    c: Src,
    f: F,
    types: PhantomData<fn(A, B, C) -> R>,
}

impl<A, B, C, R, F> Execute for Ternary<A, B, C, R, F>
where
    A: Lane,
    B: Lane,
    C: Lane,
    R: Lane,
    F: Fn(A, B, C) -> R + Send + Sync,
{
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let a = step.row(self.a);
        let b = step.row(self.b);
        let c = step.row(self.c);
        let mut out: Row = [0; 32];
        for lane in 0..32 {
            out[lane] = (self.f)(A::of(a[lane]), B::of(b[lane]), C::of(c[lane])).register();
        }
        step.write(self.dst, &out);
        Ok(Flow::Next)
    }
}

impl<A, B, C, R, F> fmt::Debug for Ternary<A, B, C, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Ternary({:?} <- {:?}, {:?}, {:?})",
            self.dst, self.a, self.b, self.c
        )
    }
}

/// Decodes the four operands of `d = f(a, b, c)`.
pub(super) fn ternary<A, B, C, R, F>(d: &mut Decoder<'_>, f: F) -> Decoded
where
    A: Lane,
    B: Lane,
    C: Lane,
    R: Lane,
    F: Fn(A, B, C) -> R + Send + Sync + 'static,
{
    d.expect_operands(4..=4)?;
    let dst = d.dst(0, R::TYPE)?;
    let a = d.src(1, A::TYPE)?;
    let b = d.src(2, B::TYPE)?;
    let c = d.src(3, C::TYPE)?;
    Ok(Box::new(Ternary {
        dst,
        a,
        b,
        c,
        f,
        types: PhantomData,
    }))
}

/// Expands to a match over integer types in which `$t` names the Rust integer of the type.
macro_rules! for_integer {
    ($d:expr, $ty:expr, [$($case:ident = $int:ty),+], $t:ident => $body:expr) => {
        match $ty {
            $($crate::syntax::ast::ScalarType::$case => {
                type $t = $int;
                $body
            })+
            _ => Err($d.error("does not exist for this type")),
        }
    };
    ($d:expr, $ty:expr, $t:ident => $body:expr) => {
        $crate::isa::lanes::for_integer!(
            $d, $ty,
            [U16 = u16, S16 = i16, U32 = u32, S32 = i32, U64 = u64, S64 = i64],
            $t => $body
        )
    };
}
pub(super) use for_integer;
