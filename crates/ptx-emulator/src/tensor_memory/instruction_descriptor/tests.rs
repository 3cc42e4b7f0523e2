use proptest::prelude::*;

use super::*;

const KINDS: [MmaKind; 7] = [
    MmaKind::F16,
    MmaKind::Tf32,
    MmaKind::F8f6f4,
    MmaKind::I8,
    MmaKind::Mxf8f6f4,
    MmaKind::Mxf4,
    MmaKind::Mxf4nvf4,
];

fn plain(m: u32, n: u32, a: Element, b: Element) -> InstructionDescriptor {
    InstructionDescriptor {
        m,
        n,
        a,
        b,
        d: AccumulatorType::F32,
        negate_a: false,
        negate_b: false,
        a_mn_major: false,
        b_mn_major: false,
        saturate: false,
        scale: None,
    }
}

/// Constants that Triton, Gluon, CuTe, TileLang and CUDA kernels contain, and their tiles.
#[test]
fn compilers_constants() {
    use Element::{Bf16, E4m3, E5m2, F16};
    let one = |word, kind| InstructionDescriptor::decode(word, kind, CtaGroup::One);
    let f16 = plain(128, 128, F16, F16);
    assert_eq!(one(0x0820_0010, MmaKind::F16), Ok(f16));
    assert_eq!(
        one(0x0820_0490, MmaKind::F16),
        Ok(plain(128, 128, Bf16, Bf16))
    );
    assert_eq!(one(0x0810_0010, MmaKind::F16), Ok(plain(128, 64, F16, F16)));
    assert_eq!(
        one(0x0840_0010, MmaKind::F16),
        Ok(plain(128, 256, F16, F16))
    );
    assert_eq!(one(0x0410_0010, MmaKind::F16), Ok(plain(64, 64, F16, F16)));
    let transposed = InstructionDescriptor {
        b_mn_major: true,
        ..f16
    };
    assert_eq!(one(0x0821_0010, MmaKind::F16), Ok(transposed));
    assert_eq!(
        InstructionDescriptor::decode(0x1020_0010, MmaKind::F16, CtaGroup::Two),
        Ok(plain(256, 128, F16, F16))
    );
    assert_eq!(
        one(0x0820_0010, MmaKind::F8f6f4),
        Ok(plain(128, 128, E4m3, E4m3))
    );
    assert_eq!(
        one(0x0840_0490, MmaKind::F8f6f4),
        Ok(plain(128, 256, E5m2, E5m2))
    );
}

#[test]
fn compilers_block_scaled_constants() {
    let words = [0x08a0_0000u32, 0x28a0_0010, 0x48a0_0020, 0x68a0_0030];
    for (id, word) in (0..).zip(words) {
        let descriptor = InstructionDescriptor {
            scale: Some(ScaleSelect {
                ty: ScaleType::Ue8m0,
                a_id: id,
                b_id: id,
            }),
            ..plain(128, 128, Element::E4m3, Element::E4m3)
        };
        assert_eq!(
            InstructionDescriptor::decode(word, MmaKind::Mxf8f6f4, CtaGroup::One),
            Ok(descriptor)
        );
    }
    for (id, word) in [(0, 0x08a0_0480u32), (2, 0x48a0_04a0)] {
        let descriptor = InstructionDescriptor::decode(word, MmaKind::Mxf4, CtaGroup::One).unwrap();
        assert_eq!(descriptor.a, Element::E2m1Packed);
        assert_eq!(descriptor.scale.unwrap().a_id, id);
        assert_eq!(descriptor.scale.unwrap().b_id, id);
    }
    assert!(matches!(
        InstructionDescriptor::decode(0x28a0_0480, MmaKind::Mxf4, CtaGroup::One),
        Err(InstructionDescriptorError::ScaleId { id: 1, .. })
    ));
    // ue4m3 scale factors belong to mxf4nvf4 only.
    assert!(matches!(
        InstructionDescriptor::decode(0x0820_0480, MmaKind::Mxf4, CtaGroup::One),
        Err(InstructionDescriptorError::Type { .. })
    ));
    let scale = InstructionDescriptor::decode(0x0820_0480, MmaKind::Mxf4nvf4, CtaGroup::One)
        .unwrap()
        .scale;
    assert_eq!(scale.unwrap().ty, ScaleType::Ue4m3);
}

#[test]
fn what_does_not_fit_the_kind_is_refused() {
    let refuse = |word, kind, group| {
        InstructionDescriptor::decode(word, kind, group)
            .unwrap_err()
            .to_string()
    };
    // 256 rows need a pair of CTAs; a pair has no 64.
    assert_eq!(
        refuse(0x1020_0010, MmaKind::F16, CtaGroup::One),
        "instruction descriptor 0x10200010: kind::f16 with cta_group::1 has no shape M=256, N=128"
    );
    refuse(0x0410_0010, MmaKind::F16, CtaGroup::Two);
    assert_eq!(
        refuse(0x0820_0014, MmaKind::F16, CtaGroup::One),
        "instruction descriptor 0x08200014: the sparsity bit is set without .sp"
    );
    assert_eq!(
        refuse(0x2820_0010, MmaKind::F16, CtaGroup::One),
        "instruction descriptor 0x28200010: bits 0x20000000 must be 0 for kind::f16"
    );
    assert_eq!(
        refuse(0x0820_0410, MmaKind::F16, CtaGroup::One),
        "instruction descriptor 0x08200410: kind::f16 has no type code 1 for B"
    );
    assert_eq!(
        refuse(0x0820_0480, MmaKind::F16, CtaGroup::One),
        "instruction descriptor 0x08200480: kind::f16 has no type code 0 for D"
    );
    assert_eq!(
        refuse(0x0820_8290, MmaKind::F8f6f4, CtaGroup::One),
        "instruction descriptor 0x08208290: A of type E2m1 must be K-major"
    );
    // A transposed fp8 B takes N in steps of 16.
    refuse(0x0803_0010, MmaKind::F8f6f4, CtaGroup::One);
    InstructionDescriptor::decode(0x0802_0010, MmaKind::F8f6f4, CtaGroup::One).unwrap();
}

proptest! {
    #[test]
    fn any_word_decodes_to_a_legal_shape_or_an_error(word: u32, index in 0..KINDS.len(), pair: bool) {
        let group = if pair { CtaGroup::Two } else { CtaGroup::One };
        let kind = KINDS[index];
        if let Ok(descriptor) = InstructionDescriptor::decode(word, kind, group) {
            prop_assert!(kind.allows_m(group, descriptor.m));
            prop_assert!(kind.allows_n(group, descriptor.n));
            prop_assert_eq!(descriptor.scale.is_some(), kind.is_block_scaled());
        }
    }
}
