//! `cvt` (PTX ISA 9.1, section 9.7.9). Special cases were measured on an H200.

mod packed;

use super::{
    Execute,
    decode::{DecodeError, Decoder},
    float::{exact::Exact, flush, saturate},
    half::{Kind, nearest},
    lanes::{Single, unary, unary_of},
    memory::cut,
};
use crate::{
    formats::narrow::{
        BF16, F16, F32, Format, Modifiers, Rounding, bf16_to_f32, f16_to_f32, f32_to_tf32,
    },
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// What is converted from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer { bits: u32, signed: bool },
    F16,
    Bf16,
    F32,
    F64,
    Tf32,
    Packed(packed::Pair),
}

impl Type {
    fn from_name(name: &str) -> Option<Self> {
        if let Some(pair) = packed::Pair::from_name(name) {
            return Some(Self::Packed(pair));
        }
        Some(match ScalarType::from_name(name)? {
            ScalarType::F16 => Self::F16,
            ScalarType::Bf16 => Self::Bf16,
            ScalarType::F32 => Self::F32,
            ScalarType::F64 => Self::F64,
            ScalarType::Tf32 => Self::Tf32,
            ty => Self::Integer {
                bits: matches!(name.as_bytes(), [b'u' | b's', ..]).then(|| ty.bits())?,
                signed: ty.is_signed(),
            },
        })
    }

    /// A register type of its width.
    fn scalar(self) -> ScalarType {
        match self {
            Self::Integer { bits: 8, .. } => ScalarType::B8,
            Self::Integer { bits: 16, .. } => ScalarType::B16,
            Self::Integer { bits: 32, .. } | Self::Tf32 => ScalarType::B32,
            Self::Integer { .. } => ScalarType::B64,
            Self::F16 => ScalarType::F16,
            Self::Bf16 => ScalarType::Bf16,
            Self::F32 => ScalarType::F32,
            Self::F64 => ScalarType::F64,
            Self::Packed(pair) => pair.scalar(),
        }
    }
}

/// How a float becomes a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    NearestEven,
    TowardZero,
    Down,
    Up,
}

impl Whole {
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::NearestEven => x.round_ties_even(),
            Self::TowardZero => x.trunc(),
            Self::Down => x.floor(),
            Self::Up => x.ceil(),
        }
    }
}

/// The modifiers.
#[derive(Debug, Clone, Copy)]
struct Form {
    rounding: Option<Rounding>,
    whole: Option<Whole>,
    ftz: bool,
    sat: bool,
    relu: bool,
    satfinite: bool,
}

impl Form {
    fn take(d: &mut Decoder<'_>) -> Self {
        let rounding = d
            .one_of(&["rn", "rz", "rm", "rp", "rna"])
            .map(|name| match name {
                "rn" => Rounding::NearestEven,
                "rz" => Rounding::TowardZero,
                "rm" => Rounding::Down,
                "rp" => Rounding::Up,
                _ => Rounding::NearestAway,
            });
        let whole = d
            .one_of(&["rni", "rzi", "rmi", "rpi"])
            .map(|name| match name {
                "rni" => Whole::NearestEven,
                "rzi" => Whole::TowardZero,
                "rmi" => Whole::Down,
                _ => Whole::Up,
            });
        Self {
            rounding,
            whole,
            ftz: d.flag("ftz"),
            sat: d.flag("sat"),
            relu: d.flag("relu"),
            satfinite: d.flag("satfinite"),
        }
    }

    /// Refuses modifiers that are there and not among those.
    fn allow(&self, d: &Decoder<'_>, allowed: &[&str]) -> Result<()> {
        let there = [
            ("rounding", self.rounding.is_some()),
            ("whole", self.whole.is_some()),
            ("ftz", self.ftz),
            ("sat", self.sat),
            ("relu", self.relu),
            ("satfinite", self.satfinite),
        ];
        match there
            .iter()
            .find(|(name, there)| *there && !allowed.contains(name))
        {
            None => Ok(()),
            Some(("rounding" | "whole", _)) => Err(d.error("does not have this rounding")),
            Some((name, _)) => Err(d.error(format!(".{name} does not exist for these types"))),
        }
    }

    /// The rounding, which has to be one of these.
    fn rounding(&self, d: &Decoder<'_>, allowed: &[Rounding]) -> Result<Rounding> {
        match self.rounding {
            Some(rounding) if allowed.contains(&rounding) => Ok(rounding),
            Some(_) => Err(d.error("does not have this rounding")),
            None => Err(d.error("needs a rounding")),
        }
    }

    fn modifiers(&self) -> Modifiers {
        Modifiers {
            relu: self.relu,
            satfinite: self.satfinite,
        }
    }
}

const IEEE: [Rounding; 4] = [
    Rounding::NearestEven,
    Rounding::TowardZero,
    Rounding::Down,
    Rounding::Up,
];

pub(super) fn decode_cvt(d: &mut Decoder<'_>) -> Decoded {
    if d.flag("pack") {
        return packed::decode_pack(d);
    }
    let form = Form::take(d);
    let mut ty = || d.parse_modifier(Type::from_name);
    let (Some(to), Some(from)) = (ty(), ty()) else {
        return Err(d.error("needs two types that are known"));
    };
    if let (Type::Packed(_), _) | (_, Type::Packed(_)) = (to, from) {
        return packed::decode(d, form, to, from);
    }
    d.expect_operands(2..=2)?;
    match (to, from) {
        (Type::Tf32, Type::F32) => to_tf32(d, form),
        (Type::Tf32, _) | (_, Type::Tf32) => Err(d.error("converts .f32 to .tf32 only")),
        (
            Type::Integer { bits, signed },
            Type::Integer {
                bits: from_bits,
                signed: from_signed,
            },
        ) => integer_to_integer(d, form, (bits, signed), (from_bits, from_signed)),
        (Type::Integer { bits, signed }, _) => float_to_integer(d, form, (bits, signed), from),
        (_, Type::Integer { bits, signed }) => integer_to_float(d, form, to, (bits, signed)),
        _ => float_to_float(d, form, to, from),
    }
}

fn to_tf32(d: &mut Decoder<'_>, form: Form) -> Decoded {
    form.allow(d, &["rounding", "relu", "satfinite"])?;
    let allowed = [
        Rounding::NearestEven,
        Rounding::TowardZero,
        Rounding::NearestAway,
    ];
    let rounding = form.rounding(d, &allowed)?;
    let modifiers = form.modifiers();
    if rounding == Rounding::NearestAway && modifiers.relu {
        return Err(d.error(".rna and .relu exclude each other"));
    }
    unary(d, move |a: u32| f32_to_tf32(a, rounding, modifiers))
}

/// An integer of a width and sign out of a register.
#[inline(always)]
fn read_integer(register: u64, (bits, signed): (u32, bool)) -> i128 {
    let shift = 64 - bits;
    if signed {
        i128::from((register << shift).cast_signed() >> shift)
    } else {
        i128::from(register << shift >> shift)
    }
}

/// An integer into a register that may be wider: extended by its own sign.
#[inline(always)]
fn write_integer(value: u64, (bits, signed): (u32, bool), register_bits: u32) -> u64 {
    let shift = 64 - bits;
    if signed {
        cut(
            ((value << shift).cast_signed() >> shift).cast_unsigned(),
            register_bits,
        )
    } else {
        value << shift >> shift
    }
}

/// The least and the largest integer.
fn range((bits, signed): (u32, bool)) -> (i128, i128) {
    if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn integer_to_integer(
    d: &mut Decoder<'_>,
    form: Form,
    to: (u32, bool),
    from: (u32, bool),
) -> Decoded {
    form.allow(d, &["sat"])?;
    let ty = |(bits, signed)| Type::Integer { bits, signed }.scalar();
    let dst = d.dst(0, ty(to))?;
    let register_bits = d.operand_bits(d.operand(0)?);
    let src = d.src(1, ty(from))?;
    if form.sat {
        let (least, largest) = range(to);
        return Ok(unary_of(dst, src, move |a: u64| {
            let value = read_integer(a, from).clamp(least, largest);
            write_integer(value as u64, to, register_bits)
        }));
    }
    let sign_matters = from.1 && to.0 > from.0 || to.1 && register_bits > to.0;
    if !sign_matters {
        let keep = cut(u64::MAX, to.0.min(from.0));
        return Ok(unary_of(dst, src, move |a: u64| a & keep));
    }
    if from == (32, true) && to.0 == 64 {
        return Ok(unary_of(dst, src, |a: i32| i64::from(a)));
    }
    Ok(unary_of(dst, src, move |a: u64| {
        write_integer(read_integer(a, from) as u64, to, register_bits)
    }))
}

/// The value of a register, exactly; subnormal `.f32` flushed with `ftz`.
fn reader(from: Type, ftz: bool) -> fn(u64) -> f64 {
    match (from, ftz) {
        (Type::F16, _) => |x| f16_to_f32(x as u16).into(),
        (Type::Bf16, _) => |x| bf16_to_f32(x as u16).into(),
        (Type::F32, false) => |x| f32::from_bits(x as u32).into(),
        (Type::F32, true) => |x| flush(f32::from_bits(x as u32)).into(),
        _ => f64::from_bits,
    }
}

/// Saturates always. NaN is 0, except that what involves 64 bits gives the highest bit alone.
fn float_to_integer(d: &mut Decoder<'_>, form: Form, to: (u32, bool), from: Type) -> Decoded {
    form.allow(d, &["whole", "ftz", "sat"])?;
    let Some(whole) = form.whole else {
        return Err(d.error("needs .rni, .rzi, .rmi or .rpi"));
    };
    ftz_needs_f32(d, form, from == Type::F32)?;
    let (bits, signed) = to;
    let dst = d.dst(0, Type::Integer { bits, signed }.scalar())?;
    let register_bits = d.operand_bits(d.operand(0)?);
    let src = d.src(1, from.scalar())?;
    let read = reader(from, form.ftz);
    let nan = if from == Type::F64 || bits == 64 {
        1 << (bits - 1)
    } else {
        0
    };
    let (least, largest) = range(to);
    Ok(unary_of(dst, src, move |a: u64| {
        let value = read(a);
        let integer = if value.is_nan() {
            nan
        } else {
            (whole.apply(value) as i128).clamp(least, largest) as u64
        };
        write_integer(integer, to, register_bits)
    }))
}

fn ftz_needs_f32(d: &Decoder<'_>, form: Form, there: bool) -> Result<()> {
    if form.ftz && !there {
        return Err(d.error(".ftz needs .f32"));
    }
    Ok(())
}

fn format(ty: Type) -> &'static Format {
    match ty {
        Type::F16 => &F16,
        Type::Bf16 => &BF16,
        _ => &F32,
    }
}

/// `.sat` of an f64.
fn clamp(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

fn integer_to_float(d: &mut Decoder<'_>, form: Form, to: Type, from: (u32, bool)) -> Decoded {
    form.allow(d, &["rounding", "ftz", "sat"])?;
    ftz_needs_f32(d, form, to == Type::F32)?;
    let rounding = form.rounding(d, &IEEE)?;
    let (bits, signed) = from;
    let dst = d.dst(0, to.scalar())?;
    let src = d.src(1, Type::Integer { bits, signed }.scalar())?;
    if to == Type::F32 && rounding == Rounding::NearestEven && !form.sat {
        return Ok(unary_of(dst, src, move |a: u64| {
            read_integer(a, from) as f32
        }));
    }
    if to == Type::F64 {
        return Ok(unary_of(dst, src, move |a: u64| {
            let value = Exact::integer(read_integer(a, from)).to_f64(rounding);
            if form.sat { clamp(value) } else { value }
        }));
    }
    let format = format(to);
    Ok(unary_of(dst, src, move |a: u64| {
        let mut value = read_integer(a, from);
        if form.sat {
            value = value.clamp(0, 1);
        }
        Exact::integer(value).to(format, rounding, Modifiers::default())
    }))
}

fn width(ty: Type) -> u32 {
    ty.scalar().bits()
}

fn float_to_float(d: &mut Decoder<'_>, form: Form, to: Type, from: Type) -> Decoded {
    ftz_needs_f32(d, form, to == Type::F32 || from == Type::F32)?;
    let narrows = width(to) <= width(from) && to != from;
    let dst = d.dst(0, to.scalar())?;
    let src = d.src(1, from.scalar())?;
    let read = reader(from, form.ftz);
    if narrows {
        let small = to != Type::F32;
        let allowed: &[&str] = if small {
            &["rounding", "ftz", "sat", "relu", "satfinite"]
        } else {
            &["rounding", "ftz", "sat"]
        };
        form.allow(d, allowed)?;
        let rounding = form.rounding(d, &IEEE)?;
        let (format, modifiers) = (format(to), form.modifiers());
        let flushes = form.ftz && to == Type::F32;
        let plain = form.rounding == Some(Rounding::NearestEven)
            && !(form.ftz || form.sat || form.relu || form.satfinite);
        match (to, from) {
            (Type::F16, Type::F32) if plain => {
                return Ok(unary_of(dst, src, |a: f32| nearest(Kind::F16, a)));
            }
            (Type::Bf16, Type::F32) if plain => {
                return Ok(unary_of(dst, src, |a: f32| nearest(Kind::Bf16, a)));
            }
            _ => {}
        }
        return Ok(unary_of(dst, src, move |a: u64| {
            let value = read(a);
            let value = if form.sat { clamp(value) } else { value };
            let bits = format.encode(value, rounding, modifiers);
            if flushes {
                flush(f32::from_bits(bits)).to_bits()
            } else {
                bits
            }
        }));
    }
    if to == from {
        form.allow(d, &["whole", "ftz", "sat"])?;
    } else {
        form.allow(d, &["ftz", "sat"])?;
    }
    let round = move |x: f64| {
        let x = form.whole.map_or(x, |whole| whole.apply(x));
        if form.sat { clamp(x) } else { x }
    };
    Ok(match (to, from) {
        // Hardware moves the bits, so that a NaN keeps its payload.
        (Type::F32, Type::Bf16) if !form.sat => unary_of(dst, src, |a: u64| (a & 0xffff) << 16),
        (Type::F32, Type::F16) if !form.sat => unary_of(dst, src, |a: u16| Single(f16_to_f32(a))),
        (Type::F32, Type::F32) if form.whole.is_none() => unary_of(dst, src, move |a: f32| {
            let a = if form.ftz { flush(a) } else { a };
            Single(if form.sat { saturate(a) } else { a })
        }),
        (Type::F64, Type::F64) => unary_of(dst, src, move |a: f64| round(a)),
        (Type::F64, _) => unary_of(dst, src, move |a: u64| {
            let value = round(read(a));
            // What the one NaN of f32 is when widened.
            if value.is_nan() {
                0x7fff_ffff_e000_0000
            } else {
                value.to_bits()
            }
        }),
        _ => {
            let format = format(to);
            unary_of(dst, src, move |a: u64| {
                format.encode(round(read(a)), Rounding::NearestEven, Modifiers::default())
            })
        }
    })
}
