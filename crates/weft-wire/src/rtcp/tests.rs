mod arrivals;
mod reports;

use super::*;
use proptest::prelude::*;
use weft_units::{Duration, Ecn, Instant, PathId, Rate};

fn written(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    packet.write(&mut out);
    out
}

#[track_caller]
fn assert_wire(packet: Packet, octets: &[u8]) {
    assert_eq!(written(&packet), octets);
    assert_eq!(
        parse_compound(octets, &mut { MAX_ENTRIES }),
        Ok(vec![packet])
    );
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

#[test]
fn quality_feedback_has_its_octets() {
    let feedback = QualityFeedback {
        sender: Ssrc(1),
        media: Ssrc(2),
        path: PathId(3),
        alpha: -5,
        construction: Duration::from_millis(66),
    };
    #[rustfmt::skip]
    assert_wire(Packet::QualityFeedback(feedback), &[
        0x82, 204, 0, 5,
        0, 0, 0, 1,  b'W', b'E', b'F', b'T',  0, 0, 0, 2,
        3, 0, 0xff, 0xfb,  0, 1, 0x01, 0xd0,
    ]);
}

#[test]
fn goodbye_pli_and_fir_have_their_octets() {
    assert_wire(
        Packet::Goodbye(vec![Ssrc(1), Ssrc(2)]),
        &[0x82, 203, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
    );
    let (sender, media) = (Ssrc(1), Ssrc(2));
    assert_wire(
        Packet::PictureLoss { sender, media },
        &[0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
    );
    let request = Packet::FullIntraRequest {
        sender,
        media,
        sequence: 7,
    };
    #[rustfmt::skip]
    assert_wire(request, &[
        0x84, 206, 0, 4,
        0, 0, 0, 1,  0, 0, 0, 0,  0, 0, 0, 2,  7, 0, 0, 0,
    ]);
}

#[test]
fn a_request_for_two_streams_is_two_messages() {
    #[rustfmt::skip]
    let octets = [
        0x84, 206, 0, 6,
        0, 0, 0, 1,  0, 0, 0, 0,
        0, 0, 0, 2,  7, 0, 0, 0,
        0, 0, 0, 3,  8, 0, 0, 0,
    ];
    let request = |media, sequence| Packet::FullIntraRequest {
        sender: Ssrc(1),
        media: Ssrc(media),
        sequence,
    };
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }),
        Ok(vec![request(2, 7), request(3, 8)])
    );
}

#[test]
fn a_nack_packs_16_numbers_behind_the_first_across_the_wrap() {
    let nack = Nack {
        sender: Ssrc(1),
        media: Ssrc(2),
        lost: vec![0xfffe, 0xffff, 14, 15],
    };
    // 0xffff is bit 0; 14 is 16 ahead: bit 15. 15 needs a separate entry.
    #[rustfmt::skip]
    assert_wire(Packet::Nack(nack), &[
        0x81, 205, 0, 4,
        0, 0, 0, 1,  0, 0, 0, 2,
        0xff, 0xfe, 0x80, 0x01,
        0, 15, 0, 0,
    ]);
}

#[test]
fn a_remb_is_a_float_of_18_bits() {
    let remb = Remb {
        sender: Ssrc(1),
        rate: Rate::from_bps(0x2_0001 << 3), // 18 bits, exponent 3
        ssrcs: vec![Ssrc(3)],
    };
    // exponent 3 in the top 6 of 24 bits: 0x0c0000 + 0x20001.
    #[rustfmt::skip]
    assert_wire(Packet::Remb(remb), &[
        0x8f, 206, 0, 5,
        0, 0, 0, 1,  0, 0, 0, 0,
        b'R', b'E', b'M', b'B',
        1, 0x0e, 0x00, 0x01,
        0, 0, 0, 3,
    ]);
}

#[test]
fn a_remb_beyond_all_rates_is_the_highest_rate() {
    #[rustfmt::skip]
    let octets = [
        0x8f, 206, 0, 4,
        0, 0, 0, 1,  0, 0, 0, 0,
        b'R', b'E', b'M', b'B',
        0, 0xff, 0xff, 0xff,
    ];
    let Packet::Remb(remb) = parse_compound(&octets, &mut { MAX_ENTRIES })
        .unwrap()
        .remove(0)
    else {
        panic!("not a REMB");
    };
    assert_eq!(remb.rate, Rate::from_bps(u64::MAX));
}

#[test]
fn a_padded_message_may_precede_another_one() {
    #[rustfmt::skip]
    let octets = [
        0xa1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4,
        0x80, 201, 0, 1, 0, 0, 0, 5,
    ];
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }).unwrap().len(),
        2
    );
    let mut wrong = octets;
    wrong[15] = 13; // more padding than content
    assert!(parse_compound(&wrong, &mut { MAX_ENTRIES }).is_err());
}

#[test]
fn others_are_named_but_not_read() {
    let unknown = |packet_type, count| Packet::Unknown { packet_type, count };
    #[rustfmt::skip]
    let octets = [
        0x83, 207, 0, 1, 1, 2, 3, 4,
        0x81, 204, 0, 2, 0, 0, 0, 1, b'O', b'T', b'H', b'R',
        0x8f, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2,
    ];
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }),
        Ok(vec![unknown(207, 3), unknown(204, 1), unknown(206, 15)])
    );
    assert_eq!(written(&unknown(207, 3)), []);
}

#[test]
fn a_few_octets_cannot_ask_for_endless_lists() {
    // 8,191 lost packets per chunk: 5 chunks are 40,955.
    let mut octets = vec![0x8f, 205, 0, 7];
    octets.extend([0; 8]);
    octets.extend([0, 0, 0x9f, 0xfb, 0, 0, 0, 0]);
    octets.extend([0x1f, 0xff].repeat(5));
    octets.extend([0, 0]);
    let what = "arrival list";
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }),
        Err(ParseError::TooLarge { what })
    );
    octets[14..16].copy_from_slice(&0x4000_u16.to_be_bytes());
    assert!(parse_compound(&octets, &mut { MAX_ENTRIES }).is_ok());
    let twice = octets.repeat(2);
    assert!(parse_compound(&twice, &mut { MAX_ENTRIES }).is_ok());
    let three_times = octets.repeat(3);
    assert_eq!(
        parse_compound(&three_times, &mut { MAX_ENTRIES }),
        Err(ParseError::TooLarge { what })
    );
}

#[test]
fn the_reserved_status_and_the_empty_run_are_errors() {
    let with_chunk = |chunk: u16| {
        let mut octets = vec![0x8f, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2];
        octets.extend([0, 0, 0, 1, 0, 0, 0, 0]);
        octets.extend(chunk.to_be_bytes());
        octets.extend([0, 0]);
        parse_compound(&octets, &mut { MAX_ENTRIES }).is_ok()
    };
    assert!(with_chunk(0x2001));
    assert!(with_chunk(0xd000));
    assert!(!with_chunk(0x6001));
    assert!(!with_chunk(0xf000));
    assert!(!with_chunk(0x2000));
}

#[test]
fn rtcp_differs_from_rtp_by_the_packet_type() {
    assert!(is_rtcp(&[0x80, 200]));
    assert!(is_rtcp(&[0x8f, 206, 0]));
    assert!(!is_rtcp(&[0x80, 96]));
    assert!(!is_rtcp(&[0x80, 0x80 | 96]));
    assert!(!is_rtcp(&[0x80]));
}

fn report_block() -> impl Strategy<Value = ReportBlock> {
    (
        any::<(u32, u8, u32, u32, u32, u32)>(),
        -0x80_0000..0x80_0000_i32,
    )
        .prop_map(
            |((ssrc, fraction, highest, jitter, last, delay), lost)| ReportBlock {
                ssrc: Ssrc(ssrc),
                fraction_lost: fraction,
                cumulative_lost: lost,
                highest_sequence: highest,
                jitter,
                last_sender_report: last,
                delay_since_last: delay,
            },
        )
}

fn packet() -> impl Strategy<Value = Packet> {
    let ssrc = || any::<u32>().prop_map(Ssrc);
    let reports = || proptest::collection::vec(report_block(), 0..=31);
    let sender_report = (ssrc(), any::<(u64, u32, u32, u32)>(), reports()).prop_map(
        |(ssrc, (ntp, rtp_timestamp, packet_count, octet_count), reports)| {
            Packet::SenderReport(SenderReport {
                ssrc,
                ntp,
                rtp_timestamp,
                packet_count,
                octet_count,
                reports,
            })
        },
    );
    let receiver_report = (ssrc(), reports())
        .prop_map(|(ssrc, reports)| Packet::ReceiverReport(ReceiverReport { ssrc, reports }));
    let description =
        (ssrc(), "[a-z@]{0,255}", any::<Option<u32>>()).prop_map(|(ssrc, cname, frame_rate)| {
            SourceDescription {
                ssrc,
                cname,
                frame_rate,
            }
        });
    let descriptions =
        proptest::collection::vec(description, 0..=31).prop_map(Packet::SourceDescription);
    let goodbye = proptest::collection::vec(ssrc(), 0..=31).prop_map(Packet::Goodbye);
    let lost = proptest::collection::btree_set(any::<u16>(), 0..50);
    let nack = (ssrc(), ssrc(), lost).prop_map(|(sender, media, lost)| {
        let lost = lost.into_iter().collect();
        Packet::Nack(Nack {
            sender,
            media,
            lost,
        })
    });
    let request = (ssrc(), ssrc(), any::<u8>());
    let picture_loss = request
        .clone()
        .prop_map(|(sender, media, _)| Packet::PictureLoss { sender, media });
    let intra = request.prop_map(|(sender, media, sequence)| Packet::FullIntraRequest {
        sender,
        media,
        sequence,
    });
    let quality =
        any::<(u32, u32, u8, i16, u32)>().prop_map(|(sender, media, path, alpha, fcd)| {
            Packet::QualityFeedback(QualityFeedback {
                sender: Ssrc(sender),
                media: Ssrc(media),
                path: PathId(path),
                alpha,
                construction: Duration::from_micros(fcd.into()),
            })
        });
    let ssrcs = proptest::collection::vec(ssrc(), 0..=255);
    let remb = (ssrc(), 0..1_u64 << 18, 0..46_u32, ssrcs).prop_map(
        |(sender, mantissa, exponent, ssrcs)| {
            let rate = Rate::from_bps(mantissa << exponent);
            Packet::Remb(Remb {
                sender,
                rate,
                ssrcs,
            })
        },
    );
    prop_oneof![
        sender_report,
        receiver_report,
        descriptions,
        goodbye,
        nack,
        picture_loss,
        intra,
        quality,
        remb
    ]
}

proptest! {
    #[test]
    fn a_compound_is_read_back_as_it_was_written(
        packets in proptest::collection::vec(packet(), 0..8),
    ) {
        let mut octets = Vec::new();
        for packet in &packets {
            packet.write(&mut octets);
        }
        prop_assert_eq!(parse_compound(&octets, &mut { MAX_ENTRIES }), Ok(packets));
    }

    #[test]
    fn no_bytes_panic(
        data: Vec<u8>,
        packet_type in 200..208_u8,
        count in 0..32_u8,
        named: bool,
    ) {
        crate::fuzz::fuzz_rtcp(&data);
        // Parses the same data as the body of each kind of message.
        let mut body = data;
        if named && body.len() >= 12 {
            let at = if packet_type == APPLICATION { 4 } else { 8 };
            let name = if packet_type == APPLICATION { b"WEFT" } else { b"REMB" };
            body[at..at + 4].copy_from_slice(name);
        }
        body.resize(body.len().next_multiple_of(4), 1);
        let mut octets = vec![0x80 | count, packet_type];
        octets.extend(((body.len() / 4) as u16).to_be_bytes());
        octets.extend(body);
        crate::fuzz::fuzz_rtcp(&octets);
        octets[0] |= PADDING_BIT;
        crate::fuzz::fuzz_rtcp(&octets);
    }
}
