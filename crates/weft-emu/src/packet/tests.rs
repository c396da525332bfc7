use super::*;
use proptest::prelude::*;

/// The usual example of RFC 1071's arithmetic: the checksum of this header is b861 (ones'
/// complement sum of its words 479e).
const V4: [u8; 24] = [
    0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01,
    0xc0, 0xa8, 0x00, 0xc7, 0x12, 0x34, 0x56, 0x78,
];

fn v6() -> Vec<u8> {
    let mut packet = vec![0x60, 0x20, 0, 0, 0, 4, UDP, 64];
    packet.extend("2001:2::1".parse::<Ipv6Addr>().unwrap().octets());
    packet.extend("2001:2::2".parse::<Ipv6Addr>().unwrap().octets());
    packet.extend([0x12, 0x34, 0x56, 0x78]);
    packet
}

/// Zero for a correct checksum (RFC 1071 section 1).
pub(crate) fn checksum(header: &[u8]) -> u16 {
    let words = header
        .chunks(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn fields_are_read_of_both_versions() {
    let header = Header::of(&V4).unwrap();
    assert_eq!(header.source.to_string(), "192.168.0.1");
    assert_eq!(header.destination.to_string(), "192.168.0.199");
    assert_eq!(header.ports, (0x1234, 0x5678));
    assert_eq!(header.ecn, Ecn::NotEct);
    let header = Header::of(&v6()).unwrap();
    assert_eq!(header.destination.to_string(), "2001:2::2");
    assert_eq!((header.protocol, header.ports), (UDP, (0x1234, 0x5678)));
    assert_eq!(header.ecn, Ecn::Ect0);
}

#[test]
fn later_fragments_have_no_ports() {
    let mut packet = V4;
    packet[7] = 1;
    assert_eq!(Header::of(&packet).unwrap().ports, (0, 0));
}

#[test]
fn a_mark_keeps_the_checksum_right() {
    assert_eq!(checksum(&V4[..20]), 0);
    for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::Ect1, Ecn::NotEct] {
        let mut packet = V4;
        packet[1] = 0xb8;
        packet[10..12].copy_from_slice(&[0, 0]);
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        set_ecn(&mut packet, ecn);
        assert_eq!(Header::of(&packet).unwrap().ecn, ecn);
        assert_eq!(packet[1] >> 2, 0xb8 >> 2);
        assert_eq!(checksum(&packet[..20]), 0, "{ecn:?}");
    }
    let mut packet = v6();
    set_ecn(&mut packet, Ecn::Ce);
    assert_eq!(packet[..2], [0x60, 0x30]);
}

#[test]
fn flows_differ_by_each_field_and_not_by_the_mark() {
    let flow = |change: fn(&mut [u8])| {
        let mut packet = V4;
        change(&mut packet);
        Header::of(&packet).unwrap().flow()
    };
    let same = flow(|_| {});
    assert_eq!(flow(|p| set_ecn(p, Ecn::Ce)), same);
    let changes: [fn(&mut [u8]); 4] = [|p| p[15] = 9, |p| p[19] = 9, |p| p[20] = 9, |p| p[23] = 9];
    for change in changes {
        assert_ne!(flow(change), same);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), ecn in 0_u8..4) {
        let mut bytes = bytes;
        if let Some(header) = Header::of(&bytes) {
            let _ = header.flow();
            set_ecn(&mut bytes, Ecn::from_bits(ecn));
            prop_assert_eq!(Header::of(&bytes).unwrap().ecn.bits(), ecn);
        }
    }
}
