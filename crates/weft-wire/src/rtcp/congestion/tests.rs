use super::*;
use crate::rtcp::{MAX_ENTRIES, Packet, parse_compound};
use proptest::prelude::*;

fn written(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    packet.write(&mut out);
    out
}

#[test]
fn feedback_has_the_octets_of_rfc_8888() {
    let arrival = |ecn, millis| PacketArrival::new(ecn, Some(Duration::from_millis(millis)));
    let feedback = CongestionFeedback {
        sender: Ssrc(1),
        report_timestamp: 0x0102_0304,
        streams: vec![
            StreamArrivals {
                ssrc: Ssrc(2),
                begin_sequence: 0xffff,
                packets: vec![Some(arrival(1, 500)), None, Some(arrival(3, 0))],
            },
            StreamArrivals {
                ssrc: Ssrc(3),
                begin_sequence: 4,
                packets: vec![],
            },
        ],
    };
    #[rustfmt::skip]
    let octets = [
        0x8b, 205, 0, 8,
        0, 0, 0, 1,
        0, 0, 0, 2,  0xff, 0xff, 0, 3,
        0xa2, 0x00, 0, 0, // received, ECT(1), 512/1024 s; not received
        0xe0, 0x00, 0, 0, // received, CE, now; padding
        0, 0, 0, 3,  0, 4, 0, 0,
        1, 2, 3, 4,
    ];
    let packet = Packet::CongestionFeedback(feedback);
    assert_eq!(written(&packet), octets);
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }),
        Ok(vec![packet])
    );
}

#[test]
fn offsets_beyond_the_range_are_not_times() {
    let offset = |before| PacketArrival::new(0, before).offset;
    assert_eq!(offset(None), 0x1fff);
    assert_eq!(offset(Some(Duration::from_secs(8))), 0x1ffe);
    assert_eq!(offset(Some(Duration::from_secs(7))), 7 * 1024);
    let ago = |offset| PacketArrival { ecn: 0, offset }.before_report();
    assert_eq!(ago(512), Some(Duration::from_millis(500)));
    assert_eq!(ago(0x1ffd), Some(Duration::from_nanos(7_997_070_312)));
    assert_eq!(ago(0x1ffe), None);
    assert_eq!(ago(0x1fff), None);
}

#[test]
fn lists_that_are_cut_off_or_too_long_are_errors() {
    let with_count = |count: u16| {
        let mut octets = vec![0x8b, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0];
        octets.extend(count.to_be_bytes());
        octets.extend([0; 8]);
        parse_compound(&octets, &mut { MAX_ENTRIES })
    };
    assert!(with_count(2).is_ok());
    assert!(with_count(3).is_err());
    let what = "arrival list";
    assert_eq!(with_count(16_385), Err(ParseError::TooLarge { what }));
}

#[test]
fn streams_beyond_the_longest_packet_are_left_out() {
    let stream = StreamArrivals {
        ssrc: Ssrc(2),
        begin_sequence: 0,
        packets: vec![None; 20_000],
    };
    let feedback = CongestionFeedback {
        sender: Ssrc(1),
        report_timestamp: 0,
        streams: vec![stream; 10],
    };
    let octets = written(&Packet::CongestionFeedback(feedback));
    let Packet::CongestionFeedback(read) = parse_compound(&octets, &mut { usize::MAX })
        .unwrap()
        .remove(0)
    else {
        panic!("not congestion feedback");
    };
    // 65,533 words hold 7 streams of 2 + 8,192 words.
    assert_eq!(read.streams.len(), 7);
    assert_eq!(read.streams[0].packets.len(), 16_384);
}

proptest! {
    #[test]
    fn packed_reports_fit_and_say_the_same(
        lens in proptest::collection::vec(0..900_usize, 0..6),
        bits: u16,
        max_len in 24..1200_usize,
    ) {
        let streams = lens.iter().zip(1..).map(|(len, ssrc)| StreamArrivals {
            ssrc: Ssrc(ssrc),
            begin_sequence: bits,
            packets: (0..*len as u16)
                .map(|i| PacketArrival::from_bits(bits.rotate_left(u32::from(i)) ^ i))
                .collect(),
        });
        let streams: Vec<StreamArrivals> = streams.collect();
        let named = |streams: &[StreamArrivals]| -> Vec<(Ssrc, u16, Option<PacketArrival>)> {
            let each = streams.iter().flat_map(|s| {
                let numbers = (0..).map(|i| s.begin_sequence.wrapping_add(i));
                numbers.zip(&s.packets).map(|(n, p)| (s.ssrc, n, *p))
            });
            each.collect()
        };
        let mut found = Vec::new();
        for message in CongestionFeedback::pack(Ssrc(9), 7, streams.clone(), max_len) {
            let octets = written(&Packet::CongestionFeedback(message.clone()));
            prop_assert!(octets.len() <= max_len, "{} of {max_len}", octets.len());
            let read = parse_compound(&octets, &mut { MAX_ENTRIES });
            prop_assert_eq!(read, Ok(vec![Packet::CongestionFeedback(message.clone())]));
            found.extend(named(&message.streams));
        }
        prop_assert_eq!(found, named(&streams));
    }
}
