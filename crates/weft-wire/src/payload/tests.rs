use std::collections::BTreeSet;

use super::*;
use proptest::prelude::*;

/// Returns the payload of a session description made from our own parameters.
fn offered(codec: Codec) -> sdp::Payload {
    let description = format_of(codec).description();
    sdp::Payload {
        payload_type: description.payload_type,
        codec: codec.encoding().to_lowercase(),
        clock_rate: codec.clock_rate(),
        channels: description.channels,
        parameters: Form::ours(codec).parameters(),
        ..sdp::Payload::default()
    }
}

#[test]
fn payload_types_are_dynamic_and_each_is_of_one_thing() {
    let mut used = BTreeSet::new();
    for codec in Codec::ALL {
        let description = format_of(codec).description();
        for number in [Some(description.payload_type), description.rtx] {
            let Some(number) = number else { continue };
            assert!((96..=127).contains(&number), "{codec}");
            assert!(used.insert(number), "{codec}: {number} is used twice");
        }
    }
}

#[test]
fn our_offers_are_recognised_by_codec() {
    for codec in Codec::ALL {
        assert_eq!(Form::of(&offered(codec)), Some(Form::ours(codec)));
    }
}

#[test]
fn people_read_what_is_missing() {
    let wanted = wanted(&Codec::ALL);
    assert_eq!(wanted, "VP8, H.264, VP9, AV1 or Opus (audio/48000/2)");
    let named = |codec: &str| sdp::Payload {
        codec: codec.to_owned(),
        clock_rate: 90_000,
        ..sdp::Payload::default()
    };
    let payloads = ["AV1", "rtx", "H265", "AV1", ""].map(named);
    assert_eq!(listed(&payloads), "AV1 or H265");
    assert_eq!(listed(&payloads[1..2]), "no codec");
    let high = sdp::Payload {
        parameters: "packetization-mode=1;profile-level-id=640028".to_owned(),
        ..named("H264")
    };
    assert_eq!(
        listed(&[high]),
        "H.264 (high profile, packetization-mode=1)"
    );
    let slow = sdp::Payload {
        clock_rate: 48_000,
        ..named("VP8")
    };
    assert_eq!(Form::of(&slow), None);
    assert_eq!(listed(&[slow]), "VP8 with a clock of 48000 Hz");
    for (parameters, name) in [
        (
            "packetization-mode=1;profile-level-id=120028",
            "H.264 with profile-level-id=120028 (RFC 6184 does not list this profile)",
        ),
        (
            "packetization-mode=2;profile-level-id=42e01f",
            "H.264 with packetization-mode=2 (0 or 1 would do)",
        ),
    ] {
        let unknown = sdp::Payload {
            parameters: parameters.to_owned(),
            ..named("H264")
        };
        assert_eq!(listed(&[unknown]), name);
    }
}

#[test]
fn a_forwarder_gives_pictures_of_vp8_other_numbers() {
    // X, S=1; I, L; picture id 5, index 9; the frame.
    let payload = [0x90, 0xc0, 0x80, 5, 9, 0xaa];
    let again = format_of(Codec::Vp8).renumbered(&payload, 0x1234, 255);
    let descriptor = Prefix::new(&[0x90, 0xc0, 0x92, 0x34, 8]);
    assert_eq!(again, Some((descriptor, 5)), "the frame stays");
    assert_eq!(format_of(Codec::H264).renumbered(&payload, 1, 1), None);
}

#[test]
fn a_frame_of_vp8_is_cut_into_parts_of_about_equal_size() {
    let numbers = PictureNumbers {
        picture_id: Some(1),
        ..PictureNumbers::default()
    };
    let frame = [7; 10];
    let parts = format_of(Codec::Vp8).cut(&frame, numbers, 4);
    let sizes: Vec<usize> = parts.iter().map(|part| part.data.len()).collect();
    assert_eq!(sizes, [4, 4, 2]);
    // Only the first descriptor has S.
    assert_eq!(parts[0].prefix.octets(), [0x90, 0x80, 0x80, 1]);
    assert_eq!(parts[1].prefix.octets(), [0x80, 0x80, 0x80, 1]);
}

#[test]
fn a_packet_is_worth_what_its_pictures_are_or_else_its_parameters() {
    let silent = PieceInfo::SILENT;
    let parameters = PieceInfo {
        sequence_parameters: true,
        picture_parameters: true,
        ..silent
    };
    let with_pictures = PieceInfo {
        intra: true,
        ..parameters
    };
    assert_eq!(silent.content(), Content::Media);
    assert_eq!(parameters.content(), Content::SequenceParameters);
    assert_eq!(with_pictures.content(), Content::Media);
}

proptest! {
    #[test]
    fn any_payload_is_read_within_its_bounds(data in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::fuzz::fuzz_payload(&data);
    }
}
