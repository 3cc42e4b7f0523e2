//! Comparisons: `setp`, `set` (PTX ISA 9.1, sections 9.7.6 and 9.7.7).

use std::{fmt, marker::PhantomData};

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Pred, PredDst, Src},
    float::flush,
    half::{Kind, widen},
    lanes::{Lane, for_integer},
    logic::Combine,
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::{Operand, ScalarType},
};

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// What is asked of two values: which of less, equal, greater and unordered say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Question {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

const QUESTIONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

impl Question {
    /// Takes the comparison; which types it suits is checked by [`Self::check`].
    fn take(d: &mut Decoder<'_>) -> Result<(&'static str, Self)> {
        let name = d.need_one_of(&QUESTIONS)?;
        let base = match name {
            "lo" => "lt",
            "ls" => "le",
            "hi" => "gt",
            "hs" => "ge",
            "num" | "nan" => name,
            _ => &name[..2],
        };
        let (less, equal, greater) = match base {
            "eq" => (false, true, false),
            "ne" => (true, false, true),
            "lt" => (true, false, false),
            "le" => (true, true, false),
            "gt" => (false, false, true),
            "ge" => (false, true, true),
            "num" => (true, true, true),
            _ => (false, false, false),
        };
        let question = Self {
            less,
            equal,
            greater,
            unordered: name == "nan" || name.len() == 3 && name.ends_with('u'),
        };
        Ok((name, question))
    }

    fn check(d: &Decoder<'_>, name: &str, ty: ScalarType) -> Result<()> {
        let fits = match name {
            "eq" | "ne" => true,
            "lt" | "le" | "gt" | "ge" => !is_bits(ty),
            "lo" | "ls" | "hi" | "hs" => {
                matches!(ty, ScalarType::U16 | ScalarType::U32 | ScalarType::U64)
            }
            _ => ty.is_float(),
        };
        if fits {
            return Ok(());
        }
        Err(d.error(format!(".{name} does not exist for this type")))
    }

    #[inline(always)]
    fn ask<T: PartialOrd>(self, a: T, b: T) -> bool {
        let (less, equal, greater) = (a < b, a == b, a > b);
        self.less & less
            | self.equal & equal
            | self.greater & greater
            | self.unordered & !(less | equal | greater)
    }
}

fn is_bits(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::B16 | ScalarType::B32 | ScalarType::B64)
}

/// Where answers go: `p` or `p|q`, and the predicate that each is combined with.
#[derive(Debug)]
struct Answers {
    p: PredDst,
    q: PredDst,
    with: Option<(Combine, Pred)>,
}

impl Answers {
    fn decode(d: &mut Decoder<'_>, combine: Option<Combine>) -> Result<Self> {
        let (p, q) = match d.operand(0)? {
            Operand::Pair(p, q) => (d.pred_dst_of(p)?, d.pred_dst_of(q)?),
            _ => (d.pred_dst(0)?, PredDst::SINK),
        };
        let operands = if combine.is_some() { 4 } else { 3 };
        d.expect_operands(operands..=operands)?;
        let with = match combine {
            Some(combine) => Some((combine, d.pred(3)?)),
            None => None,
        };
        Ok(Self { p, q, with })
    }

    /// `second` is what `q` answers: the opposite, except for pairs.
    fn give(&self, step: &mut Step<'_>, first: u32, second: u32) {
        let combined = |answer: u32| match self.with {
            Some((combine, with)) => combine.apply(answer, step.pred(with)),
            None => answer,
        };
        let (first, second) = (combined(first), combined(second));
        step.set_pred(self.p, first);
        step.set_pred(self.q, second);
    }
}

/// `setp`.
struct SetPredicate<T, F> {
    answers: Answers,
    a: Src,
    b: Src,
    ask: F,
    of: PhantomData<fn(T)>,
}

impl<T: Lane, F: Fn(T, T) -> bool + Send + Sync> Execute for SetPredicate<T, F> {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let a = step.row(self.a);
        let b = step.row(self.b);
        let mut mask = 0;
        for lane in 0..32 {
            mask |= u32::from((self.ask)(T::of(a[lane]), T::of(b[lane]))) << lane;
        }
        self.answers.give(step, mask, !mask);
        Ok(Flow::Next)
    }
}

impl<T, F> fmt::Debug for SetPredicate<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SetPredicate({:?} <- {:?}, {:?})",
            self.answers, self.a, self.b
        )
    }
}

fn set_predicate<T, F>(d: &mut Decoder<'_>, answers: Answers, ask: F) -> Decoded
where
    T: Lane,
    F: Fn(T, T) -> bool + Send + Sync + 'static,
{
    Ok(Box::new(SetPredicate {
        answers,
        a: d.src(1, T::TYPE)?,
        b: d.src(2, T::TYPE)?,
        ask,
        of: PhantomData,
    }))
}

/// The six ordered questions get loops of their own; the others are asked in general.
macro_rules! specialised {
    ($d:expr, $answers:expr, $question:expr, $t:ident) => {{
        let question = $question;
        let answers = $answers;
        match (
            question.less,
            question.equal,
            question.greater,
            question.unordered,
        ) {
            (false, true, false, false) => set_predicate($d, answers, |a: $t, b: $t| a == b),
            (true, false, false, false) => set_predicate($d, answers, |a: $t, b: $t| a < b),
            (true, true, false, false) => set_predicate($d, answers, |a: $t, b: $t| a <= b),
            (false, false, true, false) => set_predicate($d, answers, |a: $t, b: $t| a > b),
            (false, true, true, false) => set_predicate($d, answers, |a: $t, b: $t| a >= b),
            _ => set_predicate($d, answers, move |a: $t, b: $t| question.ask(a, b)),
        }
    }};
}

pub(super) fn decode_setp(d: &mut Decoder<'_>) -> Decoded {
    let (name, question) = Question::take(d)?;
    let combine = Combine::take(d);
    let ftz = d.flag("ftz");
    let ty = d.scalar_type()?;
    Question::check(d, name, ty)?;
    if ftz && !matches!(ty, ScalarType::F32 | ScalarType::F16 | ScalarType::F16x2) {
        return Err(d.error(".ftz is for .f32 and .f16 only"));
    }
    let answers = Answers::decode(d, combine)?;
    match ty {
        ScalarType::F32 if ftz => set_predicate(d, answers, move |a: f32, b: f32| {
            question.ask(flush(a), flush(b))
        }),
        ScalarType::F32 => specialised!(d, answers, question, f32),
        ScalarType::F64 => specialised!(d, answers, question, f64),
        ScalarType::F16 | ScalarType::Bf16 => {
            let kind = Kind::of(ty);
            set_predicate(d, answers, move |a: u16, b: u16| {
                question.ask(widen(kind, a, ftz), widen(kind, b, ftz))
            })
        }
        ScalarType::F16x2 | ScalarType::Bf16x2 => Ok(Box::new(SetPair {
            answers,
            a: d.src(1, ty)?,
            b: d.src(2, ty)?,
            kind: Kind::of(ty),
            question,
            ftz,
        })),
        _ => for_integer!(
            d, ty,
            [
                B16 = u16, B32 = u32, B64 = u64,
                U16 = u16, U32 = u32, U64 = u64,
                S16 = i16, S32 = i32, S64 = i64
            ],
            T => specialised!(d, answers, question, T)
        ),
    }
}

/// `setp` of pairs: `p` from the low halves, `q` from the high ones.
#[derive(Debug)]
struct SetPair {
    answers: Answers,
    a: Src,
    b: Src,
    kind: Kind,
    question: Question,
    ftz: bool,
}

impl Execute for SetPair {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let (mut low, mut high) = (0, 0);
        for lane in step.lanes() {
            let (a, b) = (step.get(self.a, lane), step.get(self.b, lane));
            let ask = |shift: u32| {
                let a = widen(self.kind, (a >> shift) as u16, self.ftz);
                let b = widen(self.kind, (b >> shift) as u16, self.ftz);
                u32::from(self.question.ask(a, b)) << lane
            };
            low |= ask(0);
            high |= ask(16);
        }
        self.answers.give(step, low, high);
        Ok(Flow::Next)
    }
}

/// `set`: the answer as a number.
#[derive(Debug)]
struct SetNumber {
    dst: Dst,
    a: Src,
    b: Src,
    source: ScalarType,
    question: Question,
    with: Option<(Combine, Pred)>,
    ftz: bool,
    /// What says yes.
    yes: u64,
    /// Whether operands are pairs, each half giving half of the result.
    pair: bool,
}

impl SetNumber {
    fn answer(&self, a: u64, b: u64) -> bool {
        let question = self.question;
        match self.source {
            ScalarType::F32 => {
                let of = |x: u64| {
                    if self.ftz {
                        flush(f32::of(x))
                    } else {
                        f32::of(x)
                    }
                };
                question.ask(of(a), of(b))
            }
            ScalarType::F64 => question.ask(f64::of(a), f64::of(b)),
            ScalarType::F16 | ScalarType::F16x2 | ScalarType::Bf16 | ScalarType::Bf16x2 => {
                let of = |x: u64| widen(Kind::of(self.source), x as u16, self.ftz);
                question.ask(of(a), of(b))
            }
            ScalarType::S16 => question.ask(i16::of(a), i16::of(b)),
            ScalarType::S32 => question.ask(i32::of(a), i32::of(b)),
            ScalarType::S64 => question.ask(i64::of(a), i64::of(b)),
            ScalarType::B16 | ScalarType::U16 => question.ask(a as u16, b as u16),
            ScalarType::B32 | ScalarType::U32 => question.ask(a as u32, b as u32),
            _ => question.ask(a, b),
        }
    }
}

impl Execute for SetNumber {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let with = self.with.map(|(combine, pred)| (combine, step.pred(pred)));
        for lane in step.lanes() {
            let (a, b) = (step.get(self.a, lane), step.get(self.b, lane));
            let number = |shift: u32| {
                let mut answer = u32::from(self.answer(a >> shift, b >> shift));
                if let Some((combine, with)) = with {
                    answer = combine.apply(answer, with >> lane & 1);
                }
                if answer == 1 { self.yes << shift } else { 0 }
            };
            let value = if self.pair {
                number(0) | number(16)
            } else {
                number(0)
            };
            step.set(self.dst, lane, value);
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode_set(d: &mut Decoder<'_>) -> Decoded {
    let (name, question) = Question::take(d)?;
    let combine = Combine::take(d);
    let ftz = d.flag("ftz");
    let result = d.scalar_type()?;
    let source = d.scalar_type()?;
    Question::check(d, name, source)?;
    let pair = matches!(source, ScalarType::F16x2 | ScalarType::Bf16x2);
    let yes = match (result, pair) {
        (ScalarType::U32 | ScalarType::S32, false) => 0xffff_ffff,
        (ScalarType::U16 | ScalarType::S16, false) => 0xffff,
        (ScalarType::F32, false) => u64::from(1f32.to_bits()),
        (ScalarType::F16, false) | (ScalarType::F16x2, true) => 0x3c00,
        (ScalarType::Bf16, false) | (ScalarType::Bf16x2, true) => 0x3f80,
        (ScalarType::U32 | ScalarType::S32, true) => 0xffff,
        _ => return Err(d.error("does not exist for this result type")),
    };
    if !source.is_float() {
        for_integer!(
            d, source,
            [
                B16 = u16, B32 = u32, B64 = u64,
                U16 = u16, U32 = u32, U64 = u64,
                S16 = i16, S32 = i32, S64 = i64
            ],
            T => Ok(T::BITS)
        )?;
    }
    let operands = if combine.is_some() { 4 } else { 3 };
    d.expect_operands(operands..=operands)?;
    let with = match combine {
        Some(combine) => Some((combine, d.pred(3)?)),
        None => None,
    };
    Ok(Box::new(SetNumber {
        dst: d.dst(0, result)?,
        a: d.src(1, source)?,
        b: d.src(2, source)?,
        source,
        question,
        with,
        ftz,
        yes,
        pair,
    }))
}
