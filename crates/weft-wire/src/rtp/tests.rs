use super::*;
use proptest::prelude::*;
use weft_units::{AudioLevel, PathId};

const MAP: ExtensionMap = ExtensionMap {
    transport_sequence: Some(3),
    path: Some(7),
    mid: Some(4),
    audio_level: Some(1),
    rid: Some(10),
    repaired_rid: Some(11),
    dependency: Some(12),
};

fn header_with(extensions: Extensions) -> Header {
    Header {
        marker: true,
        payload_type: 96,
        sequence: 0x1234,
        timestamp: 0x0102_0304,
        ssrc: Ssrc(0xcafe_babe),
        extensions,
    }
}

#[test]
fn a_header_without_extensions_has_the_octets_of_rfc_3550() {
    let mut out = Vec::new();
    header_with(Extensions::default()).write(&MAP, &mut out);
    // V=2; M=1 PT=96; sequence; timestamp; SSRC.
    let expected = [0x80, 0xe0, 0x12, 0x34, 1, 2, 3, 4, 0xca, 0xfe, 0xba, 0xbe];
    assert_eq!(out, expected);
}

#[test]
fn extensions_are_written_in_the_one_byte_form() {
    let extensions = Extensions {
        transport_sequence: Some(0xabcd),
        path: Some(PathExtension {
            path: PathId(2),
            stream_sequence: 0x0102,
            transport_sequence: 0x0304,
        }),
        mid: Mid::new("0"),
        audio_level: Some(AudioLevel(0x85)),
        rid: Rid::new("q"),
        repaired_rid: None,
    };
    let header = header_with(extensions);
    let mut out = Vec::new();
    header.write(&MAP, &mut out);
    let mut expected = vec![0x90, 0xe0, 0x12, 0x34, 1, 2, 3, 4, 0xca, 0xfe, 0xba, 0xbe];
    expected.extend([0xbe, 0xde, 0, 4]); // 15 octets of elements: 4 words
    expected.extend([0x31, 0xab, 0xcd]); // id 3, 2 octets
    expected.extend([0x74, 2, 1, 2, 3, 4]); // id 7, 5 octets
    expected.extend([0x40, b'0']); // id 4, 1 octet
    expected.extend([0x10, 0x85]); // id 1, 1 octet
    expected.extend([0xa0, b'q']); // id 10, 1 octet
    expected.push(0);
    assert_eq!(out, expected);
    assert_eq!(peek(&out).unwrap().header_len, out.len());
    out.extend([9, 9]);
    assert_eq!(parse(&out, &MAP), Ok((header, &[9, 9][..])));
}

#[test]
fn extensions_that_were_not_negotiated_are_neither_written_nor_read() {
    let header = header_with(Extensions {
        transport_sequence: Some(1),
        audio_level: Some(AudioLevel(2)),
        ..Extensions::default()
    });
    let only_level = ExtensionMap {
        audio_level: Some(5),
        transport_sequence: Some(15), // not an id of the one-byte form
        ..ExtensionMap::default()
    };
    let mut out = Vec::new();
    header.write(&only_level, &mut out);
    assert_eq!(out[12..], [0xbe, 0xde, 0, 1, 0x50, 2, 0, 0]);
    let (read, _) = parse(&out, &ExtensionMap::default()).unwrap();
    assert_eq!(read.extensions, Extensions::default());
}

#[test]
fn the_two_byte_form_is_read() {
    let mut packet = vec![0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    packet.extend([0x10, 0x00, 0, 3]);
    packet.extend([3, 2, 0x12, 0x34]); // transport sequence
    packet.extend([0, 99, 0]); // padding; unknown id 99, no content
    packet.extend([4, 2, b'v', b'0', 0]); // mid
    packet.push(0x55);
    let (header, payload) = parse(&packet, &MAP).unwrap();
    assert_eq!(header.extensions.transport_sequence, Some(0x1234));
    assert_eq!(header.extensions.mid, Mid::new("v0"));
    assert_eq!(payload, [0x55]);
}

#[test]
fn contributing_sources_are_skipped_and_padding_is_removed() {
    let mut packet = vec![0xa2, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    packet.extend([1, 1, 1, 1, 2, 2, 2, 2]);
    packet.extend([0x77, 0, 0, 3]);
    let (_, payload) = parse(&packet, &MAP).unwrap();
    assert_eq!(payload, [0x77]);
    assert_eq!(peek(&packet).unwrap().header_len, 20);
}

#[test]
fn a_packet_of_padding_only_has_an_empty_payload() {
    let packet = [0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2];
    assert_eq!(parse(&packet, &MAP).unwrap().1, []);
}

#[test]
fn wrong_padding_version_and_length_are_errors() {
    let good = [0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2];
    let with = |index: usize, value: u8| {
        let mut packet = good;
        packet[index] = value;
        parse(&packet, &MAP).is_ok()
    };
    assert!(with(13, 1));
    assert!(!with(13, 0));
    assert!(!with(13, 3));
    assert!(!with(0, 0x60));
    assert!(!with(0, 0xa1)); // a missing contributing source
    assert!(!with(0, 0xb0)); // a missing extension block
    assert!(parse(&good[..11], &MAP).is_err());
}

#[test]
fn an_element_that_overruns_its_block_ends_the_reading() {
    let mut packet = vec![0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    packet.extend([0xbe, 0xde, 0, 1, 0x10, 0x7f, 0x31, 0xff]); // id 3 lacks an octet
    let (header, payload) = parse(&packet, &MAP).unwrap();
    assert_eq!(header.extensions.audio_level, Some(AudioLevel(0x7f)));
    assert_eq!(header.extensions.transport_sequence, None);
    assert_eq!(payload, []);
}

#[test]
fn a_mid_is_a_token_of_at_most_16_characters() {
    assert_eq!(Mid::new("video-0").unwrap().as_str(), "video-0");
    for wrong in ["", "a b", "a/b", "12345678901234567", "\u{e9}"] {
        assert_eq!(Mid::new(wrong), None, "{wrong:?}");
    }
}

#[test]
fn the_map_takes_the_ids_of_the_known_uris() {
    let pairs = [
        (4, MID_URI.to_owned()),
        (2, "urn:unknown".to_owned()),
        (15, PATH_URI.to_owned()),
        (9, TRANSPORT_SEQUENCE_URI.to_owned()),
    ];
    let expected = ExtensionMap {
        transport_sequence: Some(9),
        mid: Some(4),
        ..ExtensionMap::default()
    };
    assert_eq!(ExtensionMap::from_negotiated(&pairs), expected);
}

fn extensions() -> impl Strategy<Value = Extensions> {
    let path = (any::<u8>(), any::<u16>(), any::<u16>());
    let path = path.prop_map(
        |(path, stream_sequence, transport_sequence)| PathExtension {
            path: PathId(path),
            stream_sequence,
            transport_sequence,
        },
    );
    let token = || {
        let letters = proptest::collection::vec(b'a'..=b'z', 1..=16);
        letters.prop_map(|text| String::from_utf8(text).unwrap())
    };
    let mid = token().prop_map(|text| Mid::new(&text).unwrap());
    let rid = || proptest::option::of(token().prop_map(|text| Rid::new(&text).unwrap()));
    (
        any::<Option<u16>>(),
        proptest::option::of(path),
        proptest::option::of(mid),
        proptest::option::of(any::<u8>().prop_map(AudioLevel)),
        (rid(), rid()),
    )
        .prop_map(
            |(transport_sequence, path, mid, audio_level, rids)| Extensions {
                transport_sequence,
                path,
                mid,
                audio_level,
                rid: rids.0,
                repaired_rid: rids.1,
            },
        )
}

proptest! {
    #[test]
    fn written_values_are_read_back(
        marker: bool, payload_type in 0..128_u8, sequence: u16, timestamp: u32, ssrc: u32,
        extensions in extensions(),
        payload: Vec<u8>,
    ) {
        let ssrc = Ssrc(ssrc);
        let header = Header { marker, payload_type, sequence, timestamp, ssrc, extensions };
        let mut packet = Vec::new();
        header.write(&MAP, &mut packet);
        let header_len = packet.len();
        packet.extend(&payload);
        prop_assert_eq!(parse(&packet, &MAP), Ok((header, &payload[..])));
        let peeked = Peek { header_len, ssrc, sequence, payload_type };
        prop_assert_eq!(peek(&packet), Ok(peeked));
    }

    #[test]
    fn no_bytes_panic(mut data: Vec<u8>, first in 0x80..0xc0_u8) {
        crate::fuzz::fuzz_rtp(&data);
        if let Some(octet) = data.first_mut() {
            *octet = first;
        }
        crate::fuzz::fuzz_rtp(&data);
    }
}

#[test]
fn contributing_sources_are_written_and_read() {
    let mut out = Vec::new();
    let sources = [Ssrc(5), Ssrc(0xffff_0000)];
    header_with(Extensions::default()).write_with_sources(&MAP, &sources, &mut out);
    assert_eq!((out[0], out.len()), (0x82, 20));
    let read: Vec<Ssrc> = contributing_sources(&out).expect("a packet").collect();
    assert_eq!(read, sources);
    assert!(contributing_sources(&out[..15]).is_err(), "cut off");
    out.clear();
    header_with(Extensions::default()).write_with_sources(&MAP, &[Ssrc(1); 20], &mut out);
    assert_eq!(contributing_sources(&out).expect("a packet").count(), 15);
}

#[test]
fn transport_values_are_cleared_and_nothing_else() {
    let numbered = |path: u8, number: u16| Extensions {
        transport_sequence: Some(number),
        path: Some(PathExtension {
            path: PathId(path),
            stream_sequence: number,
            transport_sequence: number,
        }),
        mid: Mid::new("v"),
        audio_level: Some(AudioLevel(3)),
        rid: Rid::new("h"),
        repaired_rid: Rid::new("q"),
    };
    let write = |extensions| {
        let mut out = Vec::new();
        header_with(extensions).write(&MAP, &mut out);
        out.push(77);
        out
    };
    let mut packet = write(numbered(9, 0xabcd));
    clear_transport_values(&mut packet, &MAP);
    assert_eq!(packet, write(numbered(0, 0)));
}

#[test]
fn a_dependency_descriptor_of_any_length_survives() {
    for length in [0, 1, 3, 16, 17, 255] {
        let descriptor: Vec<u8> = (0..length).map(|i| i as u8 | 1).collect();
        let mut header = Header::default();
        header.extensions.mid = Mid::new("0");
        header.extensions.transport_sequence = Some(77);
        let mut packet = Vec::new();
        header.write_with_dependency(&MAP, &descriptor, &mut packet);
        packet.push(42);
        assert_eq!(dependency_of(&packet, &MAP), descriptor);
        let (read, payload) = parse(&packet, &MAP).unwrap();
        assert_eq!((read, payload), (header, &[42][..]), "{length} octets");
    }
}
