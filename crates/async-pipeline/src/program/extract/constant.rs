//! Constants, from attributes.

use crate::program::{FloatType, ScalarType};
use async_pipeline_sys::ir::Attr;

/// The bits of a scalar constant.
pub(super) fn scalar(attribute: Attr, element: ScalarType) -> Option<u64> {
    match element {
        ScalarType::Float(format) => attribute.float().map(|value| format.encode(value)),
        ScalarType::Opaque(_) => None,
        _ => {
            let value = attribute.int().or_else(|| {
                // Integers with a sign in their type print with it; the reader takes signless ones.
                attribute
                    .to_string()
                    .split_whitespace()
                    .next()?
                    .parse()
                    .ok()
            })?;
            Some(mask(value.cast_unsigned(), element.bits()))
        }
    }
}

/// The bits of a `dense<…>` constant, in row-major order.
///
/// Reads the printed form: one element for a splat, a nested list, or the raw bytes in hex.
pub(crate) fn dense(text: &str, lanes: usize, element: ScalarType) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix("dense<")?;
    let inner = &inner[..closing(inner)?];
    if let Some(hex) = inner
        .strip_prefix("\"0x")
        .and_then(|rest| rest.strip_suffix('"'))
    {
        return from_hex(hex, lanes, element);
    }
    let items: Vec<u64> = inner
        .split([',', '[', ']'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| number(item, element))
        .collect::<Option<_>>()?;
    match items[..] {
        [splat] if !inner.starts_with('[') || lanes == 1 => Some(vec![splat; lanes]),
        _ => (items.len() == lanes).then_some(items),
    }
}

/// The position of the `>` that closes the attribute: the one in front of its type.
fn closing(text: &str) -> Option<usize> {
    text.find('>')
}

fn from_hex(hex: &str, lanes: usize, element: ScalarType) -> Option<Vec<u64>> {
    let bytes: Vec<u8> = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect::<Option<_>>()?;
    if element == ScalarType::Int(1) {
        // Booleans are packed into bits; one byte of all ones is a splat.
        return match bytes[..] {
            [0xff] => Some(vec![1; lanes]),
            _ => (0..lanes)
                .map(|lane| Some(u64::from(bytes.get(lane / 8)? >> (lane % 8) & 1)))
                .collect(),
        };
    }
    let width = element.bytes() as usize;
    let items: Vec<u64> = bytes
        .chunks(width)
        .map(|item| {
            item.iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte))
        })
        .collect();
    match items[..] {
        [splat] => Some(vec![splat; lanes]),
        _ => (items.len() == lanes).then_some(items),
    }
}

fn number(text: &str, element: ScalarType) -> Option<u64> {
    let hex = text
        .strip_prefix("0x")
        .map(|digits| u64::from_str_radix(digits, 16));
    match element {
        ScalarType::Float(format) => match hex {
            Some(bits) => bits.ok(),
            None if format == FloatType::F32 => text
                .parse::<f32>()
                .ok()
                .map(|value| u64::from(value.to_bits())),
            None => text.parse().ok().map(|value| format.encode(value)),
        },
        ScalarType::Opaque(_) => None,
        _ => {
            let value = match text {
                "true" => 1,
                "false" => 0,
                _ => text
                    .parse::<i64>()
                    .map(i64::cast_unsigned)
                    .or_else(|_| text.parse::<u64>())
                    .ok()?,
            };
            Some(mask(value, element.bits()))
        }
    }
}

/// The low bits of a number.
pub(super) fn mask(value: u64, bits: u32) -> u64 {
    if bits >= 64 {
        value
    } else {
        value & ((1 << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ScalarType = ScalarType::Float(FloatType::F32);

    #[test]
    fn printed_constants_are_read_back() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(
            dense("dense<1.5> : vector<3xf32>", 3, F32),
            Some(vec![bits(1.5); 3])
        );
        assert_eq!(
            dense(
                "dense<[[1.0, -2.0], [0x7FC00000, 4.0]]> : vector<2x2xf32>",
                4,
                F32
            ),
            Some(vec![bits(1.0), bits(-2.0), 0x7fc0_0000, bits(4.0)])
        );
        let i8 = ScalarType::Int(8);
        assert_eq!(
            dense("dense<[1, -1]> : vector<2xi8>", 2, i8),
            Some(vec![1, 255])
        );
        assert_eq!(
            dense("dense<\"0x01020304\"> : x", 4, i8),
            Some(vec![1, 2, 3, 4])
        );
        let i1 = ScalarType::Int(1);
        assert_eq!(
            dense("dense<[true, false]> : vector<2xi1>", 2, i1),
            Some(vec![1, 0])
        );
        assert_eq!(dense("dense<true> : vector<2xi1>", 2, i1), Some(vec![1, 1]));
    }

    #[test]
    fn text_that_is_no_constant_is_refused() {
        for text in [
            "",
            "dense<",
            "dense<x>",
            "dense<[1]>",
            "dense<[1, 2, 3]>",
            "dense<\"0xG0\">",
        ] {
            assert_eq!(dense(text, 2, ScalarType::Int(32)), None, "{text}");
        }
    }
}
