//! Element types and random values, written a second time: nothing here comes from the emulator.

/// A type that the kernels keep in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Unsigned byte.
    U8,
    /// Eight bits, four of them exponent; no infinities.
    E4m3,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
}

/// Exponent and fraction bits of a binary floating-point format.
struct Layout {
    exponent: u32,
    fraction: u32,
}

impl Layout {
    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The power of two of the last fraction bit of a subnormal number.
    fn last(&self) -> i32 {
        1 - self.bias() - self.fraction as i32
    }
}

impl Element {
    /// Bytes of one.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::E4m3 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }

    fn layout(self) -> Option<Layout> {
        let (exponent, fraction) = match self {
            Self::U8 => return None,
            Self::E4m3 => (4, 3),
            Self::F16 => (5, 10),
            Self::Bf16 => (8, 7),
            Self::F32 => (8, 23),
        };
        Some(Layout { exponent, fraction })
    }

    /// The bits of a value, rounded to the nearest, ties to even. The tests stay far below the
    /// largest number of every type.
    pub(crate) fn encode(self, value: f64) -> u32 {
        let Some(layout) = self.layout() else {
            return value as u32;
        };
        let sign = u32::from(value.is_sign_negative()) << (layout.exponent + layout.fraction);
        let magnitude = value.abs();
        if magnitude == 0.0 {
            return sign;
        }
        let lowest = 1 - layout.bias();
        let exponent = (magnitude.log2().floor() as i32).max(lowest);
        let unit = 2f64.powi(exponent - layout.fraction as i32);
        let steps = (magnitude / unit).round_ties_even() as u32;
        // A fraction that rounds up to the next power of two carries into the exponent, as does
        // the hidden bit of a normal number.
        sign + ((exponent - lowest) as u32 * (1 << layout.fraction)) + steps
    }

    /// The value of bits.
    pub(crate) fn decode(self, bits: u32) -> f64 {
        let Some(layout) = self.layout() else {
            return f64::from(bits);
        };
        let fraction = bits & ((1 << layout.fraction) - 1);
        let exponent = bits >> layout.fraction & ((1 << layout.exponent) - 1);
        let all_ones = exponent == (1 << layout.exponent) - 1;
        let magnitude = match exponent {
            0 => f64::from(fraction) * 2f64.powi(layout.last()),
            _ if self == Self::E4m3 && bits & 0x7f == 0x7f => f64::NAN,
            _ if self != Self::E4m3 && all_ones && fraction == 0 => f64::INFINITY,
            _ if self != Self::E4m3 && all_ones => f64::NAN,
            _ => {
                let significand = fraction + (1 << layout.fraction);
                f64::from(significand) * 2f64.powi(layout.last() + exponent as i32 - 1)
            }
        };
        if bits >> (layout.exponent + layout.fraction) == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The nearest value that the type has.
    pub(crate) fn round(self, value: f64) -> f64 {
        self.decode(self.encode(value))
    }
}

/// The generator splitmix64, so that inputs are the same everywhere and for ever.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer from `low` to `high`, both included.
    pub(crate) fn integer(&mut self, low: i64, high: i64) -> f64 {
        let span = (high - low + 1) as u64;
        (low + (self.next() % span) as i64) as f64
    }
}

#[test]
fn encodings_are_the_known_ones() {
    assert_eq!(Element::F16.encode(1.0), 0x3c00);
    assert_eq!(Element::F16.encode(-2.0), 0xc000);
    assert_eq!(
        Element::F16.encode(2049.0),
        0x6800,
        "a tie goes to the even 2048"
    );
    assert_eq!(Element::F16.encode(2f64.powi(-24)), 1);
    assert_eq!(
        Element::F16.encode(2047.9),
        0x6800,
        "rounding carries into the exponent"
    );
    assert_eq!(Element::Bf16.encode(-3.0), 0xc040);
    assert_eq!(Element::F32.encode(0.1), 0.1f32.to_bits());
    assert_eq!(Element::E4m3.encode(-1.5), 0xbc);
    assert_eq!(Element::E4m3.decode(0x7e), 448.0);
    assert!(Element::F16.decode(0x7e00).is_nan());
    for bits in 0..0x7c00 {
        assert_eq!(Element::F16.encode(Element::F16.decode(bits)), bits);
    }
}
