use std::net::SocketAddr;
use std::process::Command;

use super::*;
use crate::pcapng::{Datagram, PcapngWriter};

/// Packets of two interfaces, of both families and directions.
fn written() -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), "weft").unwrap();
    let interfaces = ["wifi", "lte"].map(|name| writer.interface(name).unwrap());
    for number in 0..20_u64 {
        let is_v4 = number % 3 > 0;
        let [from, to] = match is_v4 {
            true => ["10.0.0.1:5004", "192.0.2.1:9"],
            false => ["[fd00::1]:5004", "[2001:db8::1]:9"],
        };
        let direction = match number % 2 {
            0 => Direction::Outbound,
            _ => Direction::Inbound,
        };
        let datagram = Datagram {
            at: Duration::from_nanos(1_700_000_000_000_000_000 + number * 1_000),
            direction,
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            content: &[number as u8; 33],
            kept: if number == 7 { 12 } else { 33 },
            dropped: u64::from(number == 5) * 4,
        };
        writer
            .datagram(interfaces[(number % 2) as usize], &datagram)
            .unwrap();
    }
    writer.finish().unwrap()
}

/// Fields of a packet, with its datagram.
type Read = (
    Duration,
    Option<String>,
    Option<Direction>,
    SocketAddr,
    SocketAddr,
    usize,
    Vec<u8>,
    u64,
);

/// Reads packets until the end or an error.
fn read(bytes: &[u8]) -> (Vec<Read>, Option<CaptureError>) {
    let mut found = Vec::new();
    let mut reader = match CaptureReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (found, Some(error)),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                let udp = udp::parse(frame.interface.link_type, frame.data).expect("it is UDP");
                found.push((
                    frame.at,
                    frame.interface.name.clone(),
                    frame.direction,
                    udp.from,
                    udp.to,
                    udp.length,
                    udp.content.to_vec(),
                    frame.dropped,
                ));
            }
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error)),
        }
    }
}

#[test]
fn reads_what_the_writer_wrote() {
    let (packets, error) = read(&written());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(packets.len(), 20);
    let (at, interface, direction, from, to, length, content, dropped) = &packets[5];
    assert_eq!(at.as_nanos(), 1_700_000_000_000_005_000);
    assert_eq!(
        (interface.as_deref(), *direction),
        (Some("lte"), Some(Direction::Inbound))
    );
    assert_eq!(
        (from.to_string(), to.to_string()),
        ("10.0.0.1:5004".into(), "192.0.2.1:9".into())
    );
    assert_eq!((*length, content.len(), *dropped), (33, 33, 4));
    assert_eq!(packets[0].3.to_string(), "[fd00::1]:5004");
    // Only a part of it was kept.
    assert_eq!((packets[7].5, packets[7].6.len()), (33, 12));
}

#[test]
fn a_cut_file_has_the_packets_before_the_cut() {
    let whole = written();
    let (all, _) = read(&whole);
    let mut ends = 0;
    for cut in 0..whole.len() {
        let (packets, error) = read(&whole[..cut]);
        assert_eq!(packets, all[..packets.len()], "cut at {cut}");
        match error {
            None => ends += 1,
            Some(CaptureError::Empty) => assert_eq!(cut, 0),
            Some(CaptureError::NotACapture) => assert!(cut < 4),
            Some(CaptureError::Cut) => {}
            Some(error) => panic!("cut at {cut}: {error}"),
        }
    }
    // The beginning of each packet and interface: a file that ends there is whole.
    assert_eq!(ends, 20 + 2);
}

#[test]
fn damage_is_an_error_and_takes_no_memory() {
    let whole = written();
    for place in 0..whole.len() {
        for byte in [0, 0x7F, 0xFF] {
            let mut damaged = whole.clone();
            damaged[place] = byte;
            let mut reader = match CaptureReader::new(&damaged[..]) {
                Ok(reader) => reader,
                Err(_) => continue,
            };
            let mut packets = 0;
            while let Ok(Some(frame)) = reader.next_frame() {
                let _ = udp::parse(frame.interface.link_type, frame.data);
                packets += 1;
            }
            assert!(packets <= 20);
            assert!(reader.block.capacity() <= 2 * whole.len());
        }
    }
}

#[test]
fn reads_what_editcap_makes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.pcapng");
    std::fs::write(&original, written()).unwrap();
    let (all, _) = read(&written());
    for (format, unit) in [("pcapng", 1), ("nsecpcap", 1), ("pcap", 1_000)] {
        let other = folder.path().join(format);
        let mut editcap = Command::new("editcap");
        let Ok(ended) = editcap
            .args(["-F", format])
            .arg(&original)
            .arg(&other)
            .status()
        else {
            return weft_testing::skipped("no editcap here");
        };
        assert!(ended.success(), "{format}");
        let (packets, error) = read(&std::fs::read(&other).unwrap());
        assert!(error.is_none(), "{format}: {error:?}");
        assert_eq!(packets.len(), 20, "{format}");
        for (here, there) in packets.iter().zip(&all) {
            assert_eq!(
                here.0.as_nanos() / unit,
                there.0.as_nanos() / unit,
                "{format}"
            );
            assert_eq!((here.3, here.4, here.5), (there.3, there.4, there.5));
            assert_eq!(here.6, there.6);
        }
    }
}

/// Numbers of the older format in big-endian order: microseconds, one packet.
#[test]
fn reads_both_orders_of_the_older_format() {
    let frame = [0x45; 30];
    for is_big in [true, false] {
        let number = |value: u32| match is_big {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        };
        let header = [0xA1B2_C3D4, 0x0002_0004, 0, 0, 65_535, 101];
        let packet = [7, 250_000, 30, 1_500];
        let numbers = header.into_iter().chain(packet);
        let mut bytes: Vec<u8> = numbers.flat_map(number).collect();
        bytes.extend(frame);
        let mut reader = CaptureReader::new(&bytes[..]).unwrap();
        let found = reader.next_frame().unwrap().expect("a packet");
        assert_eq!(found.at.as_nanos(), 7_250_000_000);
        assert_eq!((found.length, found.data), (1_500, &frame[..]));
        assert_eq!(found.interface.link_type, LinkType(101));
        assert!(reader.next_frame().unwrap().is_none());
    }
}

#[test]
fn frames_of_other_links_have_their_datagrams() {
    let mut writer = PcapngWriter::new(Vec::new(), "weft").unwrap();
    let interface = writer.interface("x").unwrap();
    let datagram = Datagram {
        at: Duration::ZERO,
        direction: Direction::Outbound,
        from: "10.0.0.1:1".parse().unwrap(),
        to: "10.0.0.2:2".parse().unwrap(),
        content: b"abc",
        kept: 3,
        dropped: 0,
    };
    writer.datagram(interface, &datagram).unwrap();
    let file = writer.finish().unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let ip = reader.next_frame().unwrap().unwrap().data.to_vec();
    let ethernet = [0; 12];
    let with = |parts: &[&[u8]]| [&parts.concat()[..], &ip].concat();
    let sll = [0, 4, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0];
    let sll2 = [8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
    let cases = [
        (101, ip.clone(), None),
        (1, with(&[&ethernet, &[8, 0]]), None),
        (1, with(&[&ethernet, &[0x81, 0, 0, 5, 8, 0]]), None),
        (0, with(&[&[2, 0, 0, 0]]), None),
        (113, with(&[&sll]), Some(Direction::Outbound)),
        (276, with(&[&sll2]), Some(Direction::Inbound)),
    ];
    for (link_type, frame, direction) in cases {
        let found = udp::parse(LinkType(link_type), &frame).expect("a datagram");
        assert_eq!(found.content, b"abc", "link type {link_type}");
        assert_eq!((found.from, found.to), (datagram.from, datagram.to));
        assert_eq!((found.direction, found.ip_length), (direction, 31));
        // A truncated frame causes no panic.
        for end in 0..frame.len() {
            let _ = udp::parse(LinkType(link_type), &frame[..end]);
        }
    }
    // ARP.
    assert_eq!(udp::parse(LinkType(1), &with(&[&ethernet, &[8, 6]])), None);
}
