use std::process::Command;

use super::*;

fn written(datagrams: &[Datagram<'_>]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), "weft").unwrap();
    let interface = writer.interface("wifi").unwrap();
    for datagram in datagrams {
        writer.datagram(interface, datagram).unwrap();
    }
    writer.finish().unwrap()
}

fn datagram<'a>(from: &str, to: &str, content: &'a [u8]) -> Datagram<'a> {
    Datagram {
        at: Duration::from_millis(1_500),
        direction: Direction::Outbound,
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        content,
        kept: content.len(),
        dropped: 0,
    }
}

#[test]
fn a_packet_block_has_the_layout_of_the_draft() {
    let bytes = written(&[datagram("10.0.0.1:5004", "10.0.0.2:5004", b"abc")]);
    // Section header: 28 bytes, an option of 4 + 4, the end of options, so 40. Interface:
    // 20 bytes, options of 4 + 4 and 4 + 4, the end of options, so 40.
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), word(4), word(36)), (0x0A0D_0D0A, 40, 40));
    assert_eq!((word(40), word(44), word(76)), (1, 40, 40));
    // Packet: 28 bytes, 20 + 8 + 3 bytes and one of padding, options of 8 + 4, 4 at the end.
    assert_eq!((word(80), word(84), word(88)), (6, 76, 0));
    let nanos = u64::from(word(92)) << 32 | u64::from(word(96));
    assert_eq!((nanos, word(100), word(104)), (1_500_000_000, 31, 31));
    let packet = &bytes[108..139];
    assert_eq!(packet[28..], *b"abc");
    // The sum over the header, checksum included, is all ones.
    let sum = |words: &[u8]| {
        words
            .chunks(2)
            .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]))
            .sum::<u32>()
    };
    let header = sum(&packet[..20]);
    assert_eq!((header & 0xffff) + (header >> 16), 0xffff);
    // "Packet flags": outbound.
    assert_eq!((word(140), word(144)), (2 | 4 << 16, 2));
    assert_eq!(bytes.len(), 80 + 76);
}

#[test]
fn a_datagram_that_ip_cannot_carry_is_an_error() {
    let mut writer = PcapngWriter::new(Vec::new(), "weft").unwrap();
    let interface = writer.interface("wifi").unwrap();
    let long = vec![0; 65_508];
    for datagram in [
        datagram("10.0.0.1:1", "[::1]:1", b""),
        datagram("10.0.0.1:1", "10.0.0.2:1", &long),
    ] {
        let error = writer.datagram(interface, &datagram).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
    let longest = datagram("10.0.0.1:1", "10.0.0.2:1", &long[1..]);
    writer.datagram(interface, &longest).unwrap();
}

#[test]
fn tshark_finds_both_checksums_correct() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.pcapng");
    let mut cut = datagram("[fe80::1]:7", "[2001:db8::2]:9", b"0123456789");
    cut.kept = 4;
    let bytes = written(&[
        datagram("10.0.0.1:5004", "192.0.2.200:443", b"abc"),
        datagram("[fe80::1]:7", "[2001:db8::2]:9", b"abcd"),
        cut,
    ]);
    std::fs::write(&file, bytes).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&file).args(["-T", "fields"]);
    tshark.args([
        "-o",
        "udp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
    ]);
    for field in [
        "ip.checksum.status",
        "udp.checksum.status",
        "frame.cap_len",
        "frame.len",
    ] {
        tshark.args(["-e", field]);
    }
    let Ok(output) = tshark.output() else {
        return weft_testing::skipped("no tshark here");
    };
    assert!(output.status.success(), "{output:?}");
    // Status 1 is good, 2 unverified. The last datagram is cut after 4 bytes.
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "1\t1\t31\t31\n\t1\t52\t52\n\t2\t52\t58\n");
}
