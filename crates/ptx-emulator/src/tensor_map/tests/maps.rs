//! Encoding, replacing fields and the driver's rules.

use ptx_model::target::Target;

use crate::tensor_map::{
    Field, Fill, Interleave, MAP_BYTES, MapElement, MapError, MapRule, ReplaceError, Swizzle,
    TensorMap,
};

fn plain() -> TensorMap {
    let sizes = [100, 60, 5];
    TensorMap::tiled(MapElement::F16, 0x1000, &sizes, &[208, 12480], &[64, 8, 2]).unwrap()
}

#[test]
fn maps_survive_encoding() {
    let mut map = plain();
    assert_eq!(TensorMap::decode(&map.encode()), Ok(map.clone()));
    map.swizzle = Swizzle::B128Atom64;
    map.fill = Fill::Nan;
    map.sizes[2] = 1 << 32;
    map.element_strides[1] = 8;
    assert_eq!(TensorMap::decode(&map.encode()), Ok(map));
}

#[test]
fn other_bytes_are_refused() {
    assert_eq!(TensorMap::decode(&[0; MAP_BYTES]), Err(MapError::Zero));
    assert_eq!(TensorMap::decode(&[7; MAP_BYTES]), Err(MapError::NotAMap));
    let mut bytes = plain().encode();
    bytes[12] = 99;
    let message = TensorMap::decode(&bytes).unwrap_err().to_string();
    assert_eq!(
        message,
        "the tensor map's elemtype has the meaningless value 99; was it overwritten?"
    );
    let replaced = TensorMap::replace(&mut [7; MAP_BYTES], Field::Rank, 0, 1);
    assert_eq!(replaced, Err(ReplaceError::NotAMap));
}

/// The fields that Triton's device-made maps replace, in its order.
const DEVICE_MADE: [(Field, u32, u64); 11] = [
    (Field::GlobalAddress, 0, 0x4000),
    (Field::Rank, 0, 1),
    (Field::BoxDim, 0, 64),
    (Field::BoxDim, 1, 128),
    (Field::GlobalDim, 0, 300),
    (Field::GlobalDim, 1, 200),
    (Field::GlobalStride, 0, 608),
    (Field::ElementStride, 0, 1),
    (Field::ElementStride, 1, 1),
    (Field::Elemtype, 0, 6),
    (Field::SwizzleMode, 0, 3),
];

#[test]
fn a_map_made_from_zeros_is_one_when_all_is_replaced() {
    let mut bytes = [0; MAP_BYTES];
    for (done, (field, ordinal, value)) in DEVICE_MADE.into_iter().enumerate() {
        let early = TensorMap::decode(&bytes).is_ok();
        // The swizzle, the last one, has a default.
        assert_eq!(early, done == 10, "{field}");
        TensorMap::replace(&mut bytes, field, ordinal, value).unwrap();
    }
    let mut expected =
        TensorMap::tiled(MapElement::F16, 0x4000, &[300, 200], &[608], &[64, 128]).unwrap();
    expected.swizzle = Swizzle::B128;
    assert_eq!(TensorMap::decode(&bytes), Ok(expected));
}

#[test]
fn a_missing_field_is_named() {
    for (left_out, name) in [
        (6, "global_stride 0"),
        (3, "box_dim 1"),
        (1, "rank"),
        (9, "elemtype"),
    ] {
        let mut bytes = [0; MAP_BYTES];
        for (index, (field, ordinal, value)) in DEVICE_MADE.into_iter().enumerate() {
            if index != left_out {
                TensorMap::replace(&mut bytes, field, ordinal, value).unwrap();
            }
        }
        let message = TensorMap::decode(&bytes).unwrap_err().to_string();
        let expected = format!("the tensor map made by tensormap.replace has no {name} yet");
        assert_eq!(message, expected);
    }
}

#[test]
fn element_types_have_two_numberings() {
    for (code, element) in [
        (0, MapElement::U8),
        (7, MapElement::F32),
        (8, MapElement::F32Ftz),
        (9, MapElement::F64),
        (10, MapElement::Bf16),
        (11, MapElement::Tf32),
        (15, MapElement::B6x16Align16),
    ] {
        assert_eq!(MapElement::from_replace_code(code), Some(element));
    }
    assert_eq!(MapElement::from_driver_code(8), Some(MapElement::F64));
    assert_eq!(MapElement::from_driver_code(9), Some(MapElement::Bf16));
    assert_eq!(MapElement::from_driver_code(10), Some(MapElement::F32Ftz));
    assert_eq!(MapElement::from_replace_code(16), None);
}

#[test]
fn replaced_values_are_checked() {
    let refused = |field, ordinal, value| {
        let mut bytes = plain().encode();
        let error = TensorMap::replace(&mut bytes, field, ordinal, value).unwrap_err();
        assert_eq!(bytes, plain().encode(), "a refused value changes nothing");
        error.to_string()
    };
    assert_eq!(
        refused(Field::BoxDim, 5, 1),
        "box_dim 5 does not exist; the last one is 4"
    );
    assert_eq!(
        refused(Field::GlobalStride, 4, 16),
        "global_stride 4 does not exist; the last one is 3"
    );
    assert_eq!(
        refused(Field::Rank, 0, 5),
        "rank cannot be 5; expected 0 to 4, the rank minus 1"
    );
    assert!(refused(Field::SwizzleMode, 0, 4).contains("sm_103a"));
    refused(Field::ElementStride, 0, 9);
    refused(Field::Elemtype, 0, 16);
    refused(Field::FillMode, 0, 2);
    refused(Field::InterleaveLayout, 0, u64::MAX);
}

#[test]
fn swizzle_units_need_the_widest_swizzle() {
    let mut bytes = plain().encode();
    TensorMap::replace(&mut bytes, Field::SwizzleAtomicity, 0, 1).unwrap();
    assert_eq!(TensorMap::decode(&bytes), Err(MapError::SwizzleUnit));
    TensorMap::replace(&mut bytes, Field::SwizzleMode, 0, 3).unwrap();
    let map = TensorMap::decode(&bytes).unwrap();
    assert_eq!(map.swizzle, Swizzle::B128Atom32);
}

#[test]
fn every_rule_of_the_driver_is_checked() {
    let judge = |change: &dyn Fn(&mut TensorMap)| {
        let mut map = plain();
        change(&mut map);
        map.validate(Target::Sm100a)
            .err()
            .map(|rule| rule.to_string())
    };
    assert_eq!(judge(&|_| {}), None);
    let refused = |change: &dyn Fn(&mut TensorMap), expected: &str| {
        assert_eq!(judge(change).as_deref(), Some(expected));
    };
    refused(&|m| m.rank = 0, "a tensor map has 1 to 5 dimensions, not 0");
    refused(&|m| m.rank = 6, "a tensor map has 1 to 5 dimensions, not 6");
    let address = "the tensor's address 0x1008 is no multiple of 16 bytes";
    refused(&|m| m.address = 0x1008, address);
    let size = "size 0 of dimension 1 is not between 1 and 4294967296";
    refused(&|m| m.sizes[1] = 0, size);
    let stride = "stride 200 of dimension 1 is no multiple of 16 bytes";
    refused(&|m| m.strides[0] = 200, stride);
    let stride = "stride 1099511627776 of dimension 2 is not below 2^40 bytes";
    refused(&|m| m.strides[1] = 1 << 40, stride);
    let size = "box size 257 of dimension 2 is not between 1 and 256";
    refused(&|m| m.box_sizes[2] = 257, size);
    let row = "a row of the box has 24 bytes, which is no multiple of 16";
    refused(&|m| m.box_sizes[0] = 12, row);
    let step = "element stride 9 of dimension 1 is not between 1 and 8";
    refused(&|m| m.element_strides[1] = 9, step);
    let row = "a row of the box has 128 bytes, more than the 64 of its swizzle";
    refused(&|m| m.swizzle = Swizzle::B64, row);
    let interleave = "interleave of 32 bytes needs the swizzle of 32 bytes";
    refused(
        &|m| {
            (m.interleave, m.strides) = (Interleave::B32, [224, 12480, 0, 0]);
        },
        interleave,
    );
    let rank = "an interleaved tensor has at least 3 dimensions, not 2";
    refused(&|m| (m.interleave, m.rank) = (Interleave::B16, 2), rank);
    let packed = "16U6_ALIGN16B needs a size of dimension 0 that is a multiple of 128, not 100";
    refused(
        &|m| {
            (m.element, m.strides) = (MapElement::B6x16Align16, [224, 12480, 0, 0]);
        },
        packed,
    );
    assert_eq!(
        plain().validate(Target::Sm80).unwrap_err().to_string(),
        "sm_80 has no tensor maps; sm_90a and sm_100a have"
    );
    let lists = TensorMap::tiled(MapElement::F16, 0, &[8, 8], &[], &[8, 8]);
    assert_eq!(
        lists.unwrap_err().to_string(),
        "2 sizes need 1 strides and 2 box sizes, got 0 and 2"
    );
    let none = TensorMap::tiled(MapElement::F16, 0, &[], &[], &[]);
    assert_eq!(none, Err(MapRule::Rank { rank: 0 }));
}
