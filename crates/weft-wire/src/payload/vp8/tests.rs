use super::*;
use proptest::prelude::*;

#[test]
fn the_shortest_descriptor_is_one_octet() {
    // S=1, partition 0.
    let (descriptor, body) = parse(&[0x10, 0xaa]).unwrap();
    let expected = Descriptor {
        start_of_partition: true,
        ..Descriptor::default()
    };
    assert_eq!((descriptor, body), (expected, &[0xaa][..]));
    assert_eq!(expected.len(), 1);
}

#[test]
fn a_full_descriptor_has_the_octets_of_rfc_7741() {
    let descriptor = Descriptor {
        non_reference: true,
        start_of_partition: true,
        partition: 3,
        picture_id: Some(0x1234),
        tl0_picture_index: Some(0x56),
        temporal_layer: Some(2),
        layer_sync: true,
        key_index: Some(0x15),
    };
    let mut out = Vec::new();
    descriptor.write(&mut out);
    // X=1 N=1 S=1 PID=3; I L T K; M=1 and 15 bits; TL0PICIDX;
    // TID=10 Y=1 KEYIDX=10101.
    assert_eq!(out, [0xb3, 0xf0, 0x92, 0x34, 0x56, 0xb5]);
    assert_eq!(descriptor.len(), 6);
    out.push(0);
    assert_eq!(parse(&out), Ok((descriptor, &[0][..])));
}

#[test]
fn a_picture_id_of_7_bits_is_read() {
    let (descriptor, body) = parse(&[0x90, 0x80, 0x7f, 1]).unwrap();
    assert_eq!(descriptor.picture_id, Some(0x7f));
    assert_eq!(body, [1]);
}

#[test]
fn layer_sync_needs_a_temporal_layer() {
    // K only, but the bits of TID and Y are set.
    let (descriptor, _) = parse(&[0x80, 0x10, 0xe1, 0]).unwrap();
    assert_eq!(descriptor.temporal_layer, None);
    assert!(!descriptor.layer_sync);
    assert_eq!(descriptor.key_index, Some(1));
}

#[test]
fn a_descriptor_cut_off_or_without_payload_is_an_error() {
    let full = [0xb3, 0xf0, 0x92, 0x34, 0x56, 0xb5, 0xff];
    for len in 0..full.len() {
        assert!(parse(&full[..len]).is_err(), "{len}");
    }
    assert!(parse(&full).is_ok());
}

#[test]
fn a_keyframe_starts_partition_zero_with_a_clear_bit() {
    let start = Descriptor {
        start_of_partition: true,
        ..Descriptor::default()
    };
    assert!(is_keyframe(&start, &[0x50]));
    assert!(!is_keyframe(&start, &[0x51]));
    assert!(!is_keyframe(&start, &[]));
    assert!(!is_keyframe(&Descriptor::default(), &[0x50]));
    let second_partition = Descriptor {
        partition: 1,
        ..start
    };
    assert!(!is_keyframe(&second_partition, &[0x50]));
}

#[test]
fn a_keyframe_tells_its_dimensions() {
    // 1280 = 0x0500, 720 = 0x02d0; the scale bits on top are ignored.
    let body = [0x50, 0, 0, 0x9d, 0x01, 0x2a, 0x00, 0x45, 0xd0, 0x82, 0];
    assert_eq!(dimensions(&body), Some((1280, 720)));
    assert_eq!(dimensions(&body[..9]), None);
    let mut delta = body;
    delta[0] |= 1;
    assert_eq!(dimensions(&delta), None);
    let mut wrong_start_code = body;
    wrong_start_code[4] = 2;
    assert_eq!(dimensions(&wrong_start_code), None);
}

proptest! {
    #[test]
    fn written_values_are_read_back(
        non_reference: bool, start_of_partition: bool, partition in 0..8_u8,
        picture_id in proptest::option::of(0..0x8000_u16),
        tl0_picture_index: Option<u8>,
        temporal_layer in proptest::option::of(0..4_u8),
        layer_sync: bool,
        key_index in proptest::option::of(0..32_u8),
        body in proptest::collection::vec(any::<u8>(), 1..9),
    ) {
        let descriptor = Descriptor {
            non_reference, start_of_partition, partition, picture_id,
            tl0_picture_index, temporal_layer,
            layer_sync: layer_sync && temporal_layer.is_some(),
            key_index,
        };
        let mut out = Vec::new();
        descriptor.write(&mut out);
        prop_assert_eq!(out.len(), descriptor.len());
        out.extend(&body);
        prop_assert_eq!(parse(&out), Ok((descriptor, &body[..])));
    }

    #[test]
    fn no_bytes_panic(data: Vec<u8>) {
        crate::fuzz::fuzz_vp8(&data);
    }
}
