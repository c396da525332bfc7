use super::*;
use proptest::prelude::*;

/// V=2, marker 0, PT 96, sequence 7, timestamp 0x01020304, SSRC 9, payload.
fn packet(sequence: u16, timestamp: u32, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x80, 96];
    packet.extend(sequence.to_be_bytes());
    packet.extend(timestamp.to_be_bytes());
    packet.extend(9_u32.to_be_bytes());
    packet.extend(payload);
    packet
}

fn parity(packets: &[Vec<u8>]) -> Parity {
    let mut parity = Parity::default();
    for packet in packets {
        parity.add(packet).expect("an RTP packet");
    }
    parity
}

#[test]
fn the_octets_of_two_protected_packets_are_those_of_rfc_8627() {
    let mut second = packet(9, 0x0102_0305, &[0x10, 0x20, 0x30]);
    second[1] |= 0x80; // the marker
    let first = packet(7, 0x0102_0304, &[0x0a]);
    let repair = Repair {
        mask: Mask::new(7, [0, 2]),
        parity: parity(&[first, second]),
    };
    let mut out = Vec::new();
    repair.write(&mut out);
    let expected = [
        0x00, 0x80, // flags: none; marker once, payload types cancel
        0x00, 0x02, // lengths 1 XOR 3
        0x00, 0x00, 0x00, 0x01, // timestamps
        0x00, 0x07, // base
        0x50, 0x00, // k=0, mask 1 0 1 0 …
        0x1a, 0x20, 0x30, // payloads, the shorter one filled with zeros
    ];
    assert_eq!(out, expected);
    assert_eq!(out.len(), repair.len());
    assert_eq!(Repair::parse(&out), Ok(repair));
}

#[test]
fn a_packet_in_two_parts_is_the_same_packet() {
    let whole = packet(7, 1, &[1, 2, 3, 4, 5]);
    for at in 12..=whole.len() {
        let mut parts = Parity::default();
        parts
            .add_parts(&whole[..at], &whole[at..])
            .expect("an RTP packet");
        assert_eq!(parts, parity(std::slice::from_ref(&whole)), "cut at {at}");
    }
    assert!(
        Parity::default()
            .add_parts(&whole[..11], &whole[11..])
            .is_err()
    );
}

#[test]
fn masks_grow_by_blocks_and_say_so() {
    let octets = |distances: &[u32]| {
        let mut out = Vec::new();
        Mask::new(0, distances.iter().copied()).write(&mut out);
        out.split_off(2)
    };
    assert_eq!(octets(&[14]), [0x00, 0x01]);
    assert_eq!(octets(&[15]), [0x80, 0, 0x40, 0, 0, 0]);
    assert_eq!(octets(&[0, 45]), [0xc0, 0, 0, 0, 0, 0x01]);
    let long = octets(&[46, 109]);
    assert_eq!(long[..6], [0x80, 0, 0x80, 0, 0, 0]);
    assert_eq!(long[6..], [0x80, 0, 0, 0, 0, 0, 0, 0x01]);
    assert_eq!(octets(&[110]), [0, 0], "beyond the span");
}

#[test]
fn other_forms_and_empty_masks_are_refused() {
    let mut out = Vec::new();
    let repair = Repair {
        mask: Mask::new(1, [0]),
        parity: parity(&[packet(1, 2, &[3])]),
    };
    repair.write(&mut out);
    for bit in [0x80, 0x40] {
        let mut other = out.clone();
        other[0] |= bit;
        assert!(Repair::parse(&other).is_err(), "bit {bit:#x}");
    }
    let mut empty = out.clone();
    empty[10] = 0;
    assert!(Repair::parse(&empty).is_err());
    for len in 0..12 {
        assert!(Repair::parse(&out[..len]).is_err(), "{len} octets");
    }
}

#[test]
fn a_length_beyond_the_longest_packet_is_refused() {
    let [one, two, three] = [1, 2, 3].map(|n| packet(n, 0, &[n as u8; 5]));
    let mut wrong = parity(&[one, two]);
    // Not a protected packet: lengths 5, 5 and 5 + 8.
    wrong.add(&packet(9, 0, &[0; 13])).expect("an RTP packet");
    wrong.body.truncate(5);
    assert!(wrong.recover(Ssrc(9), 3).is_err());
    assert!(wrong.add(&three[..11]).is_err(), "cut off");
    assert!(wrong.add(&vec![0x80; 70_000]).is_err(), "no datagram");
}

proptest! {
    #[test]
    fn any_one_of_the_packets_comes_back(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..20),
        timestamp: u32, lost: prop::sample::Index,
    ) {
        let packets: Vec<_> = payloads.iter().enumerate()
            .map(|(i, p)| packet(i as u16, timestamp.wrapping_add(i as u32), p)).collect();
        let mut repair = parity(&packets);
        let lost = lost.index(packets.len());
        for (i, packet) in packets.iter().enumerate() {
            if i != lost {
                repair.add(packet).expect("an RTP packet");
            }
        }
        prop_assert_eq!(&repair.recover(Ssrc(9), lost as u16).expect("a length"), &packets[lost]);
    }

    #[test]
    fn written_values_are_read_back(
        base: u16, bits in 1..1_u128 << SPAN, body in proptest::collection::vec(any::<u8>(), 0..40),
        header: [u8; RECOVERY_LEN],
    ) {
        let mut header = header;
        header[0] &= !OTHER_FORMS;
        let repair = Repair { mask: Mask { base, bits }, parity: Parity { header, body } };
        let mut out = Vec::new();
        repair.write(&mut out);
        prop_assert_eq!(out.len(), repair.len());
        prop_assert_eq!(Repair::parse(&out), Ok(repair));
    }

    #[test]
    fn no_bytes_panic(data: Vec<u8>) {
        crate::fuzz::fuzz_flexfec(&data);
    }
}
