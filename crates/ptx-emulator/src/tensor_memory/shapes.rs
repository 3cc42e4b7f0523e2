//! Kinds of `tcgen05.mma` and the shapes they allow (PTX ISA 9.7.16.2.1, table of 9.7.16.10).

/// How many CTAs work together: `.cta_group`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CtaGroup {
    /// `.cta_group::1`.
    One,
    /// `.cta_group::2`: the CTAs of a cluster with ranks 2i and 2i+1.
    Two,
}

impl CtaGroup {
    /// 1 or 2.
    pub fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// `.kind` of `tcgen05.mma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MmaKind {
    /// f16 and bf16.
    F16,
    /// tf32.
    Tf32,
    /// 8-, 6- and 4-bit floats, one to a byte.
    F8f6f4,
    /// 8-bit integers.
    I8,
    /// 8-, 6- and 4-bit floats with scale factors.
    Mxf8f6f4,
    /// 4-bit floats, two to a byte, with ue8m0 scale factors.
    Mxf4,
    /// The same with ue8m0 or ue4m3 scale factors.
    Mxf4nvf4,
}

impl MmaKind {
    /// The kind of a modifier such as `kind::f16`.
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "kind::f16" => Self::F16,
            "kind::tf32" => Self::Tf32,
            "kind::f8f6f4" => Self::F8f6f4,
            "kind::i8" => Self::I8,
            "kind::mxf8f6f4" => Self::Mxf8f6f4,
            "kind::mxf4" => Self::Mxf4,
            "kind::mxf4nvf4" => Self::Mxf4nvf4,
            _ => return None,
        })
    }

    /// The name after `kind::`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Tf32 => "tf32",
            Self::F8f6f4 => "f8f6f4",
            Self::I8 => "i8",
            Self::Mxf8f6f4 => "mxf8f6f4",
            Self::Mxf4 => "mxf4",
            Self::Mxf4nvf4 => "mxf4nvf4",
        }
    }

    /// Whether operands have scale factors.
    pub fn is_block_scaled(self) -> bool {
        matches!(self, Self::Mxf8f6f4 | Self::Mxf4 | Self::Mxf4nvf4)
    }

    /// K of one dense instruction, in elements: 32 bytes of shared memory in every kind.
    pub fn k(self) -> u32 {
        match self {
            Self::F16 => 16,
            Self::Tf32 => 8,
            Self::F8f6f4 | Self::I8 | Self::Mxf8f6f4 => 32,
            Self::Mxf4 | Self::Mxf4nvf4 => 64,
        }
    }

    /// Bits that an element takes in memory; 4- and 6-bit floats of the f8f6f4 kinds take 8.
    pub fn element_bits(self) -> u32 {
        256 / self.k()
    }

    /// Whether a dense instruction (without `.ws`) may have this M. With `cta_group::2` M counts
    /// the rows of both CTAs.
    pub fn allows_m(self, group: CtaGroup, m: u32) -> bool {
        match group {
            CtaGroup::One => m == 128 || (m == 64 && !self.is_block_scaled()),
            CtaGroup::Two => m == 128 || m == 256,
        }
    }

    /// Whether a dense instruction may have this N.
    pub fn allows_n(self, group: CtaGroup, n: u32) -> bool {
        let step = 8 * group.count();
        if n == 0 || n > 256 || !n.is_multiple_of(step) {
            return false;
        }
        // Integers go up in steps of 16 from 32 on (32 for a pair).
        self != Self::I8 || n.is_multiple_of(2 * step) || (group == CtaGroup::One && n < 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(kind: MmaKind, group: CtaGroup) -> Vec<u32> {
        (0..=300).filter(|&n| kind.allows_n(group, n)).collect()
    }

    #[test]
    fn widths() {
        let steps = |step: usize| (step as u32..=256).step_by(step).collect::<Vec<_>>();
        assert_eq!(sizes(MmaKind::F16, CtaGroup::One), steps(8));
        assert_eq!(sizes(MmaKind::Mxf4, CtaGroup::Two), steps(16));
        assert_eq!(sizes(MmaKind::I8, CtaGroup::Two), steps(32));
        let mut integers = vec![8, 16, 24];
        integers.extend((32..=256).step_by(16));
        assert_eq!(sizes(MmaKind::I8, CtaGroup::One), integers);
    }

    #[test]
    fn heights() {
        let heights = |kind: MmaKind, group| -> Vec<u32> {
            (0..=512).filter(|&m| kind.allows_m(group, m)).collect()
        };
        assert_eq!(heights(MmaKind::F16, CtaGroup::One), [64, 128]);
        assert_eq!(heights(MmaKind::Mxf8f6f4, CtaGroup::One), [128]);
        assert_eq!(heights(MmaKind::Tf32, CtaGroup::Two), [128, 256]);
    }

    #[test]
    fn every_kind_takes_32_bytes_along_k() {
        let widths = [
            (MmaKind::F16, 16),
            (MmaKind::Tf32, 32),
            (MmaKind::F8f6f4, 8),
            (MmaKind::I8, 8),
            (MmaKind::Mxf8f6f4, 8),
            (MmaKind::Mxf4, 4),
            (MmaKind::Mxf4nvf4, 4),
        ];
        for (kind, bits) in widths {
            assert_eq!(kind.element_bits(), bits);
            assert_eq!(kind.k() * bits, 256);
            assert_eq!(
                MmaKind::from_modifier(&format!("kind::{}", kind.name())),
                Some(kind)
            );
        }
        assert_eq!(MmaKind::from_modifier("kind::f32"), None);
    }
}
