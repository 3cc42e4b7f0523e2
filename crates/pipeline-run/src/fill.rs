//! What inputs hold.

use ptx_model::manifest::ElementType;

use crate::{image::Image, layout::Layout, numeric};

/// How inputs are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fill {
    /// Small integers, so that sums and products in float32 are exact and results compare exactly.
    Integer,
    /// Values spread over [-1, 1); for integer types over [-100, 100].
    Random,
}

/// A small counter-based generator: every element's value depends on nothing but the seed, the
/// argument and the element's number, so that sizes and pitches do not change values.
fn hash(seed: u64, stream: u64, index: u64) -> u64 {
    // The mixing function of SplitMix64.
    let mut z = seed
        .wrapping_add(stream.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn value(fill: Fill, element: ElementType, bits: u64) -> f64 {
    // The top 53 bits as a number in [0, 1).
    let unit = (bits >> 11) as f64 / 2f64.powi(53);
    match fill {
        Fill::Integer => (unit * 17.0).floor() - 8.0,
        Fill::Random if element.is_integer() => (unit * 201.0).floor() - 100.0,
        Fill::Random => unit * 2.0 - 1.0,
    }
}

/// Fills the elements of argument number `argument`.
pub fn fill(
    image: &mut Image,
    layout: &Layout,
    element: ElementType,
    fill: Fill,
    seed: u64,
    argument: u32,
) {
    image.for_each_element(layout, |linear, bytes| {
        let bits = hash(seed, u64::from(argument), linear);
        let encoded = numeric::encode(element, value(fill, element, bits));
        bytes.copy_from_slice(&encoded[..bytes.len()]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_small_exact_and_varied() {
        for element in ElementType::ALL {
            let mut seen = std::collections::BTreeSet::new();
            for index in 0..1000 {
                let v = value(Fill::Integer, element, hash(1, 0, index));
                assert_eq!(numeric::decode(element, &numeric::encode(element, v)), v);
                #[expect(clippy::cast_possible_truncation)]
                seen.insert(v as i64);
            }
            assert_eq!(
                seen.into_iter().collect::<Vec<_>>(),
                (-8..=8).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_value_depends_on_seed_and_argument_but_not_on_pitch() {
        let tight = Layout::new(vec![2, 3], vec![3, 1], 4).expect("valid");
        let padded = Layout::new(vec![2, 3], vec![4, 1], 4).expect("valid");
        let filled = |layout: &Layout, seed, argument| {
            let mut image = Image::new(layout, 16, 0).expect("memory");
            fill(
                &mut image,
                layout,
                ElementType::F32,
                Fill::Random,
                seed,
                argument,
            );
            image.packed(layout)
        };
        assert_eq!(filled(&tight, 1, 0), filled(&padded, 1, 0));
        assert_ne!(filled(&tight, 1, 0), filled(&tight, 2, 0));
        assert_ne!(filled(&tight, 1, 0), filled(&tight, 1, 1));
    }
}
