use super::*;

fn read(payload: &[u8]) -> PieceInfo {
    Format.read(payload).expect("an AV1 payload").info
}

#[test]
fn the_first_packet_of_a_sequence_is_an_entry() {
    // Two elements: a sequence header with its length, and a frame.
    let info = read(&[0x28, 0x02, 0x08, 0xaa, 0x30, 0xbb]);
    assert_eq!(info.start, Start::Certain);
    assert!(info.entry && info.intra && !info.delta);
    assert_eq!(info.numbers.temporal_layer, None);
}

#[test]
fn packets_say_whether_they_continue_an_obu() {
    let first = read(&[0x50, 0x30, 0xaa]);
    assert_eq!((first.start, first.entry), (Start::Possible, false));
    assert!(first.delta);
    let later = read(&[0x90, 0xbb]);
    assert_eq!((later.start, later.entry), (Start::Never, false));
    assert!(!later.delta && !later.intra);
}

#[test]
fn the_temporal_layer_is_that_of_an_obu_that_begins_here() {
    // A frame with an extension header: temporal layer 2.
    assert_eq!(
        read(&[0x10, 0x34, 0x40, 0xaa]).numbers.temporal_layer,
        Some(2)
    );
    // The first element continues another OBU, and its octets look like a header.
    assert_eq!(read(&[0x90, 0x34, 0x40]).numbers.temporal_layer, None);
    let second = [0x80, 0x02, 0x34, 0x40, 0x03, 0x34, 0x20, 0xaa];
    assert_eq!(read(&second).numbers.temporal_layer, Some(1));
}

#[test]
fn elements_that_are_cut_off_are_refused() {
    for payload in [
        &[][..],
        &[0x10],
        // One of two elements is missing.
        &[0x20, 0x01, 0x30],
        // The length exceeds the data, or the size of a packet.
        &[0x00, 0x05, 0x30],
        &[0x00, 0x85],
        &[0x00, 0xff, 0xff, 0xff, 0x7f, 0x30],
        // A sequence cannot start within an OBU.
        &[0x98, 0x30],
    ] {
        assert!(Format.read(payload).is_err(), "{payload:x?}");
    }
}

#[test]
fn profiles_differ_and_the_parameters_of_a_stream_go_on() {
    let form = |parameters: &str| {
        Form::of(&sdp::Payload {
            codec: "AV1".to_owned(),
            parameters: parameters.to_owned(),
            clock_rate: 90_000,
            ..sdp::Payload::default()
        })
    };
    let main = form("").expect("the default");
    assert_eq!(main, Form::DEFAULT);
    let other = form("profile=1;level-idx=8;tier=1").expect("high profile");
    assert!(!main.decodes(other) && other.decodes(other));
    assert_eq!(other.parameters(), "level-idx=8;profile=1;tier=1");
    let higher = form("level-idx=13").expect("another level");
    assert!(main.decodes(higher), "levels are ignored");
    for unknown in ["profile=3", "level-idx=32", "tier=2", "profile=main"] {
        assert_eq!(form(unknown), None);
    }
}
