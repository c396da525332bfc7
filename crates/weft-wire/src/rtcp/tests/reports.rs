//! Reports and descriptions of sources.

use super::*;

#[test]
fn a_sender_report_has_the_octets_of_rfc_3550() {
    let report = SenderReport {
        ssrc: Ssrc(1),
        ntp: 0x0102_0304_0506_0708,
        rtp_timestamp: 9,
        packet_count: 10,
        octet_count: 11,
        reports: vec![ReportBlock {
            ssrc: Ssrc(2),
            fraction_lost: 64,
            cumulative_lost: -2,
            highest_sequence: 0x0001_0005,
            jitter: 7,
            last_sender_report: 8,
            delay_since_last: 0x1_0000,
        }],
    };
    #[rustfmt::skip]
    assert_wire(Packet::SenderReport(report), &[
        0x81, 200, 0, 12, // 13 words less one
        0, 0, 0, 1,
        1, 2, 3, 4, 5, 6, 7, 8,
        0, 0, 0, 9,  0, 0, 0, 10,  0, 0, 0, 11,
        0, 0, 0, 2,
        64, 0xff, 0xff, 0xfe,
        0, 1, 0, 5,  0, 0, 0, 7,  0, 0, 0, 8,  0, 1, 0, 0,
    ]);
}

#[test]
fn an_empty_receiver_report_has_two_words() {
    let report = ReceiverReport {
        ssrc: Ssrc(5),
        reports: vec![],
    };
    assert_wire(
        Packet::ReceiverReport(report),
        &[0x80, 201, 0, 1, 0, 0, 0, 5],
    );
}

#[test]
fn cumulative_loss_stays_within_24_bits() {
    for (lost, expected) in [(i32::MAX, 0x7f_ffff), (i32::MIN, -0x80_0000), (-1, -1)] {
        let block = ReportBlock {
            ssrc: Ssrc(2),
            fraction_lost: 255,
            cumulative_lost: lost,
            highest_sequence: 0,
            jitter: 0,
            last_sender_report: 0,
            delay_since_last: 0,
        };
        let report = ReceiverReport {
            ssrc: Ssrc(1),
            reports: vec![block],
        };
        let octets = written(&Packet::ReceiverReport(report));
        let Packet::ReceiverReport(read) = parse_compound(&octets, &mut { MAX_ENTRIES })
            .unwrap()
            .remove(0)
        else {
            panic!("not a receiver report");
        };
        assert_eq!(read.reports[0].cumulative_lost, expected);
        assert_eq!(read.reports[0].fraction_lost, 255);
    }
}

#[test]
fn each_description_ends_at_a_whole_word() {
    let describe = |ssrc, cname: &str| SourceDescription {
        ssrc: Ssrc(ssrc),
        cname: cname.to_owned(),
        frame_rate: None,
    };
    let list = vec![describe(1, "ab"), describe(2, "c")];
    #[rustfmt::skip]
    assert_wire(Packet::SourceDescription(list), &[
        0x82, 202, 0, 5,
        0, 0, 0, 1,  1, 2, b'a', b'b',  0, 0, 0, 0,
        0, 0, 0, 2,  1, 1, b'c', 0,
    ]);
}

#[test]
fn other_items_of_a_description_are_skipped() {
    #[rustfmt::skip]
    let octets = [
        0x81, 202, 0, 3,
        0, 0, 0, 1,  6, 1, b't', 1,  1, b'x', 0, 0,
    ];
    let expected = SourceDescription {
        ssrc: Ssrc(1),
        cname: "x".to_owned(),
        frame_rate: None,
    };
    assert_eq!(
        parse_compound(&octets, &mut { MAX_ENTRIES }),
        Ok(vec![Packet::SourceDescription(vec![expected])])
    );
}

#[test]
fn a_long_name_is_cut_between_characters() {
    let cname = "\u{e9}".repeat(200); // 400 octets
    let list = vec![SourceDescription {
        ssrc: Ssrc(1),
        cname,
        frame_rate: None,
    }];
    let octets = written(&Packet::SourceDescription(list));
    let Packet::SourceDescription(read) = parse_compound(&octets, &mut { MAX_ENTRIES })
        .unwrap()
        .remove(0)
    else {
        panic!("not a source description");
    };
    assert_eq!(read[0].cname, "\u{e9}".repeat(127));
}

#[test]
fn the_frame_rate_is_a_private_item() {
    let describe = |rate| SourceDescription {
        ssrc: Ssrc(1),
        cname: "a".to_owned(),
        frame_rate: Some(rate),
    };
    let mut octets = vec![0x81, 202, 0, 7, 0, 0, 0, 1, 1, 1, b'a', 8, 18, 15];
    octets.extend(b"weft-frame-rate30");
    octets.push(0);
    assert_wire(Packet::SourceDescription(vec![describe(30_000)]), &octets);
    for rate in [0, 1, 29_970, 30_001, 10_000_000, u32::MAX] {
        let packet = Packet::SourceDescription(vec![describe(rate)]);
        assert_eq!(
            parse_compound(&written(&packet), &mut { MAX_ENTRIES }),
            Ok(vec![packet])
        );
    }
}

#[test]
fn a_frame_rate_that_is_not_a_number_is_ignored() {
    for value in [
        "",
        "-30",
        "30.",
        ".5",
        "30.0001",
        "3e1",
        "30 ",
        "4294968",
        "99999999999",
    ] {
        let len = 16 + value.len() as u8;
        let mut octets = vec![0x81, 202, 0, 0, 0, 0, 0, 1, 8, len, 15];
        octets.extend(b"weft-frame-rate");
        octets.extend(value.as_bytes());
        octets.push(0);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets[3] = (octets.len() / 4 - 1) as u8;
        let Packet::SourceDescription(read) = parse_compound(&octets, &mut { MAX_ENTRIES })
            .unwrap()
            .remove(0)
        else {
            panic!("not a source description");
        };
        assert_eq!(read[0].frame_rate, None, "`{value}`");
    }
}
