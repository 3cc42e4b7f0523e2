//! What expansions are made of.

/// The operations that an expansion may use, on f32 values and their 32 bits.
///
/// The pass emits them; a test computes them, with the instructions that PTX ISA 9.1 calls
/// approximate as far off as it allows.
pub(super) trait Arithmetic: Copy {
    /// f32.
    type Float: Copy;
    /// i32.
    type Int: Copy;
    /// A condition.
    type Flag: Copy;

    fn float(self, value: f32) -> Self::Float;
    fn int(self, value: u32) -> Self::Int;

    fn add(self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn sub(self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn mul(self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;
    fn abs(self, a: Self::Float) -> Self::Float;
    /// The magnitude of `a` with the sign of `b`.
    fn copysign(self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// The smaller; NaN if one is NaN.
    fn minimum(self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// The greater; NaN if one is NaN.
    fn maximum(self, a: Self::Float, b: Self::Float) -> Self::Float;

    /// `fma.rn.sat.f32`: `a * b + c` within 0 and 1, 0 for NaN.
    fn fma_sat(self, a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;
    /// `ex2.approx.f32`: 2^a.
    fn ex2(self, a: Self::Float) -> Self::Float;
    /// `ex2.approx.ftz.f32`: 2^a; subnormal numbers are 0.
    fn ex2_ftz(self, a: Self::Float) -> Self::Float;
    /// `lg2.approx.f32`: its special values only; near 1 it is far off.
    fn lg2(self, a: Self::Float) -> Self::Float;
    /// `rcp.approx.ftz.f32`: 1 / a; subnormal numbers are 0.
    fn rcp_ftz(self, a: Self::Float) -> Self::Float;
    /// `rsqrt.approx.f32`: 1 / √a.
    fn rsqrt(self, a: Self::Float) -> Self::Float;

    fn bits(self, a: Self::Float) -> Self::Int;
    fn float_of(self, a: Self::Int) -> Self::Float;
    fn int_add(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn int_sub(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn int_and(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn int_or(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn int_xor(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn choose_int(self, condition: Self::Flag, yes: Self::Int, no: Self::Int) -> Self::Int;
    fn shift_right(self, a: Self::Int, count: u32) -> Self::Int;
    /// The upper word of two, moved left by the count modulo 32.
    fn funnel(self, high: Self::Int, low: Self::Int, count: Self::Int) -> Self::Int;
    /// Low and high word of `a * b + c`, unsigned.
    fn multiply(self, a: Self::Int, b: Self::Int, c: Self::Int) -> (Self::Int, Self::Int);
    /// The angle of a signed fraction of a quarter turn; the two words have two bits in
    /// front of the point.
    fn quarter_turn(self, high: Self::Int, low: Self::Int) -> Self::Float;
    fn shift_left(self, a: Self::Int, count: u32) -> Self::Int;
    /// The nearest float of a signed integer.
    fn signed_to_float(self, a: Self::Int) -> Self::Float;

    /// `a >= b`; false with NaN.
    fn at_least(self, a: Self::Float, b: Self::Float) -> Self::Flag;
    /// `a < b`; false with NaN.
    fn less(self, a: Self::Float, b: Self::Float) -> Self::Flag;
    /// `a < b`, unsigned.
    fn below(self, a: Self::Int, b: Self::Int) -> Self::Flag;
    fn select(self, condition: Self::Flag, yes: Self::Float, no: Self::Float) -> Self::Float;

    /// A polynomial by Horner's rule; the highest power comes first.
    fn polynomial(self, a: Self::Float, coefficients: &[f32]) -> Self::Float {
        let mut rest = coefficients.iter().map(|value| self.float(*value));
        let first = rest.next().unwrap_or_else(|| self.float(0.0));
        rest.fold(first, |sum, coefficient| self.fma(sum, a, coefficient))
    }
}
