use super::*;

fn read(payload: &[u8]) -> PieceInfo {
    Format.read(payload).expect("a VP9 payload").info
}

/// First packet of a keyframe sent by Chromium in flexible mode with three temporal
/// layers: picture id 0x1234, layers, a structure of one size.
const KEYFRAME: [u8; 11] = [
    0xba, 0x92, 0x34, 0x10, 0x10, 0x05, 0x00, 0x02, 0xd0, 0xaa, 0xbb,
];

#[test]
fn a_keyframe_begins_with_its_size_and_is_an_entry() {
    let info = read(&KEYFRAME);
    assert_eq!(info.start, Start::Certain);
    assert!(info.entry && info.intra && !info.delta);
    assert_eq!(info.size, Some((1280, 720)));
    let numbers = info.numbers;
    assert_eq!(numbers.picture_id, Some(0x1234));
    assert_eq!(numbers.temporal_layer, Some(0));
    assert!(numbers.switching_up);
    assert_eq!(
        Format.read(&KEYFRAME).unwrap().body,
        Body::Plain(&[0xaa, 0xbb])
    );
}

#[test]
fn only_the_first_packet_of_a_keyframe_is_an_entry() {
    let info = read(&[0x80, 0x92, 0x34, 0xcc]);
    assert_eq!(info.start, Start::Never);
    assert!(info.intra && !info.entry && !info.delta);
}

#[test]
fn upper_spatial_layers_of_a_keyframe_belong_to_its_picture() {
    // Spatial layer 1, which refers to the layer below (D) of the same picture.
    let info = read(&[0xb8, 0x92, 0x34, 0x03, 0xcc]);
    assert_eq!(
        info.start,
        Start::Never,
        "a picture begins with its base layer"
    );
    assert!(!info.entry && !info.intra);
    assert_eq!(info.numbers.picture_id, Some(0x1234));
}

#[test]
fn references_and_the_index_of_base_layer_pictures_are_alternatives() {
    // Flexible: layer 2, two references.
    let info = read(&[0xf8, 0x05, 0x40, 0x03, 0x02, 0xcc]);
    assert!(info.delta && info.start == Start::Certain);
    assert_eq!(info.numbers.temporal_layer, Some(2));
    assert_eq!(info.numbers.picture_id, Some(5));
    assert_eq!(info.numbers.tl0_picture_index, None);
    // Not flexible: the index.
    let info = read(&[0xe8, 0x05, 0x40, 0x07, 0xcc]);
    assert_eq!(info.numbers.tl0_picture_index, Some(7));
}

#[test]
fn a_picture_group_is_skipped() {
    // A structure without sizes: two pictures with one and no reference.
    let payload = [0x8a, 0x05, 0x08, 0x02, 0x04, 0x01, 0x20, 0xcc];
    let piece = Format.read(&payload).expect("a VP9 payload");
    assert_eq!(piece.body, Body::Plain(&[0xcc]));
}

#[test]
fn truncated_input_and_too_many_references_are_refused() {
    for length in 0..KEYFRAME.len() - 1 {
        assert!(Format.read(&KEYFRAME[..length]).is_err(), "{length} octets");
    }
    let four = [0xd8, 0x05, 0x03, 0x03, 0x03, 0x02, 0xcc];
    assert!(Format.read(&four).is_err());
    assert!(Format.read(&[0xd8, 0x05, 0x03, 0x03, 0x02, 0xcc]).is_ok());
}

#[test]
fn another_picture_id_leaves_the_rest_as_it_was() {
    let renumbered = |payload: &[u8], id, shift| {
        let (prefix, replaced) = Format.renumbered(payload, id, shift).expect("numbered");
        [prefix.octets(), &payload[replaced..]].concat()
    };
    let mut wanted = KEYFRAME;
    (wanted[1], wanted[2]) = (0xff, 0xff);
    assert_eq!(renumbered(&KEYFRAME, 0x7fff, 9), wanted);
    // A short id becomes a long one, and the index is shifted.
    assert_eq!(
        renumbered(&[0xe8, 0x05, 0x40, 0xff, 0xcc], 6, 2),
        [0xe8, 0x80, 0x06, 0x40, 0x01, 0xcc]
    );
    assert_eq!(Format.renumbered(&[0x08, 0xcc], 6, 2), None);
}

#[test]
fn profiles_differ_and_the_lowest_is_the_default() {
    let form = |parameters: &str| {
        Format.form(&sdp::Payload {
            codec: "vp9".to_owned(),
            parameters: parameters.to_owned(),
            ..sdp::Payload::default()
        })
    };
    let zero = form("").expect("profile 0");
    assert_eq!(form("profile-id=0"), Some(zero));
    let two = form("profile-id=2").expect("profile 2");
    assert!(!zero.decodes(two) && !two.decodes(zero) && two.decodes(two));
    assert_eq!(two.parameters(), "profile-id=2");
    assert_eq!(two.to_string(), "VP9 (profile 2)");
    for unknown in ["profile-id=4", "profile-id=x"] {
        assert_eq!(form(unknown), None);
    }
}
