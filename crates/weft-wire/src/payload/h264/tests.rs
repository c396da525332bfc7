use super::*;
use proptest::prelude::*;

mod forms;

const SPS: [u8; 4] = [0x67, 0x42, 0xc0, 0x1f];
const PPS: [u8; 3] = [0x68, 0xce, 0x3c];

#[test]
fn a_unit_is_its_own_payload() {
    // nal_ref_idc 3, type 7.
    let payload = parse(&SPS).unwrap();
    assert_eq!(payload, Payload::Unit(&SPS));
    let expected = Contents {
        sequence_parameters: true,
        begins_unit: true,
        begins_picture: true,
        ..Contents::default()
    };
    assert_eq!(payload.contents(), expected);
    let mut stream = Vec::new();
    payload.write_stream(&mut stream);
    assert_eq!(stream, [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f]);
}

#[test]
fn stap_a_has_the_octets_of_rfc_6184_figure_7() {
    let mut payload = Vec::new();
    write_units(&[&SPS, &PPS], &mut payload);
    // The greatest nal_ref_idc and type 24; sizes in 16 bits.
    let octets = [0x78, 0, 4, 0x67, 0x42, 0xc0, 0x1f, 0, 3, 0x68, 0xce, 0x3c];
    assert_eq!(payload, octets);
    let parsed = parse(&payload).unwrap();
    let contents = parsed.contents();
    assert!(contents.sequence_parameters && contents.picture_parameters);
    assert!(contents.begins_picture && !contents.idr && !contents.delta);
    let mut stream = Vec::new();
    parsed.write_stream(&mut stream);
    assert_eq!(nal_units(&stream).collect::<Vec<_>>(), [&SPS[..], &PPS]);
    for len in 0..payload.len() {
        let whole_units = len == 7;
        assert_eq!(parse(&payload[..len]).is_ok(), whole_units, "{len}");
    }
}

#[test]
fn fu_a_has_the_octets_of_rfc_6184_figure_14() {
    // An IDR slice, nal_ref_idc 3: seven octets after the header, four in a
    // packet of six.
    let unit = [0x65, 1, 2, 3, 4, 5, 6, 7];
    let payloads: Vec<Vec<u8>> = parts(&unit, 6)
        .map(|part| {
            let mut payload = Vec::new();
            part.write(&mut payload);
            payload
        })
        .collect();
    assert_eq!(
        payloads,
        [vec![0x7c, 0x85, 1, 2, 3, 4], vec![0x7c, 0x45, 5, 6, 7]]
    );
    let mut stream = Vec::new();
    for payload in &payloads {
        let payload = parse(payload).unwrap();
        assert!(payload.contents().idr && payload.contents().referenced);
        payload.write_stream(&mut stream);
    }
    assert_eq!(nal_units(&stream).collect::<Vec<_>>(), [&unit[..]]);
    let begins = |payload: &[u8]| parse(payload).unwrap().contents().begins_unit;
    assert!(begins(&payloads[0]) && !begins(&payloads[1]));
}

#[test]
fn payloads_of_other_modes_and_damaged_ones_are_errors() {
    for payload in [
        &[][..],
        &[0xe5, 0],             // forbidden bit
        &[0x60, 0],             // type 0
        &[0x79, 0, 0, 0],       // STAP-B
        &[0x7d, 0x85, 0, 0, 0], // FU-B
        &[0x78],                // STAP-A of nothing
        &[0x78, 0, 0],          // of an empty unit
        &[0x78, 0, 1, 0x78],    // of a STAP-A
        &[0x7c, 0x85],          // FU-A of nothing
        &[0x7c, 0xc5, 1],       // start and end at once
        &[0x7c, 0x98, 1],       // of a STAP-A
    ] {
        assert!(parse(payload).is_err(), "{payload:02x?}");
    }
}

#[test]
fn byte_streams_have_start_codes_of_three_or_four_octets() {
    let stream = [
        0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0, 0, 1, 0x41, 3, 0,
    ];
    let units: Vec<&[u8]> = nal_units(&stream).collect();
    assert_eq!(units, [&[0x67, 1][..], &[0x68, 2], &[0x41, 3]]);
    assert_eq!(nal_units(&[1, 2, 3]).count(), 0);
    assert_eq!(nal_units(&[0, 0, 1]).count(), 0);
}

#[test]
fn slices_say_whether_others_refer_to_them() {
    // nal_ref_idc 2 and 0, type 1.
    let referenced = parse(&[0x41, 9]).unwrap().contents();
    assert!(
        referenced.delta && referenced.referenced && !PieceInfo::from(referenced).is_of_keyframe()
    );
    let unreferenced = parse(&[0x01, 9]).unwrap().contents();
    assert!(unreferenced.delta && !unreferenced.referenced);
}

/// Writes the codes of ITU-T H.264 section 9.1.
#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn bits(mut self, count: u32, value: u32) -> Writer {
        self.0
            .extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
        self
    }

    fn unsigned(self, value: u32) -> Writer {
        let bits = (value + 1).ilog2();
        self.bits(bits, 0).bits(bits + 1, value + 1)
    }

    fn unit(self, header: u8) -> Vec<u8> {
        let octet = |bits: &[bool]| {
            let bits = bits.iter().enumerate();
            bits.fold(0, |octet, (at, bit)| octet | u8::from(*bit) << (7 - at))
        };
        let body = self.0.chunks(8).map(octet);
        [header].into_iter().chain(body).collect()
    }
}

#[test]
fn sizes_and_quantizers_are_read_from_parameters_and_slices() {
    // 1280x720: 80 by 45 blocks of 16. 640x360: 40 by 23, of which 8 lines
    // (4 times 2) are cut off at the bottom.
    let parameters = |down: u32, across: u32, cut: Option<u32>| {
        let writer = Writer::default()
            .bits(24, 0x42_c01f)
            .unsigned(0)
            .unsigned(0) // four bits of frame number
            .unsigned(0)
            .unsigned(2) // six bits of picture order
            .unsigned(1)
            .bits(1, 0)
            .unsigned(across - 1)
            .unsigned(down - 1)
            .bits(2, 0b11);
        let writer = match cut {
            None => writer.bits(1, 0),
            Some(cut) => writer
                .bits(1, 1)
                .unsigned(0)
                .unsigned(0)
                .unsigned(0)
                .unsigned(cut),
        };
        writer.bits(2, 0b01).unit(0x67)
    };
    let size = |unit: &[u8]| SequenceParameters::parse(unit).map(|s| (s.width, s.height));
    assert_eq!(size(&parameters(45, 80, None)), Some((1280, 720)));
    let small = parameters(23, 40, Some(4));
    assert_eq!(size(&small), Some((640, 360)));
    for len in 0..small.len() - 1 {
        assert_eq!(size(&small[..len]), None, "{len}");
    }

    // pic_init_qp_minus26 is +3 (code 5), the slice's own part -5 (code 10):
    // 26 + 3 - 5 = 24.
    let picture = Writer::default()
        .unsigned(0)
        .unsigned(0)
        .bits(2, 0)
        .unsigned(0)
        .unsigned(0)
        .unsigned(0)
        .bits(3, 0)
        .unsigned(5)
        .unsigned(0)
        .unsigned(0)
        .bits(4, 0b1001)
        .unit(0x68);
    let idr = Writer::default()
        .unsigned(0)
        .unsigned(7) // I, and so are all of the picture
        .unsigned(0)
        .bits(4, 0)
        .unsigned(0)
        .bits(6, 0)
        .bits(2, 0)
        .unsigned(10)
        .unit(0x65);
    // +2 (code 3) of a P slice: 31.
    let delta = Writer::default()
        .unsigned(0)
        .unsigned(5)
        .unsigned(0)
        .bits(4, 1)
        .bits(6, 2)
        .bits(3, 0)
        .unsigned(3)
        .unit(0x61);
    let mut quantizers = Quantizers::default();
    assert_eq!(quantizers.on_unit(&idr), None, "no parameters so far");
    let read = [&small, &picture, &idr, &delta].map(|unit| quantizers.on_unit(unit));
    assert_eq!(read, [None, None, Some(24), Some(31)]);
}

proptest! {
    #[test]
    fn fragments_are_reassembled(
        units in proptest::collection::vec(
            (1_u8..24, 0..4_u8, proptest::collection::vec(1_u8.., 0..200)), 1..6),
        max in 3_usize..120,
    ) {
        let units: Vec<Vec<u8>> = units
            .into_iter()
            .map(|(kind, reference, body)| {
                let mut unit = vec![NalHeader { reference, kind }.octet()];
                unit.extend(body);
                unit
            })
            .collect();
        let mut stream = Vec::new();
        for unit in &units {
            for part in parts(unit, max) {
                let mut payload = Vec::new();
                part.write(&mut payload);
                prop_assert!(payload.len() <= max);
                let parsed = parse(&payload).unwrap();
                parsed.write_stream(&mut stream);
            }
        }
        let again: Vec<&[u8]> = nal_units(&stream).collect();
        prop_assert_eq!(again, units);
    }

    #[test]
    fn no_bytes_panic(data: Vec<u8>) {
        crate::fuzz::fuzz_h264(&data);
    }
}
