//! Feedback by packet numbers.

use super::*;

/// Status 1 (3 received), 2 lost, one received late (negative delta).
fn few_arrivals() -> Vec<Option<Instant>> {
    vec![
        Some(ms(640)), // reference 10, delta 0
        Some(ms(650)), // 40 ticks
        Some(ms(700)), // 200 ticks
        None,
        None,
        Some(ms(699)), // -4 ticks
    ]
}

#[test]
fn transport_feedback_has_the_octets_of_the_draft() {
    let feedback = TransportFeedback {
        sender: Ssrc(1),
        media: Ssrc(2),
        feedback_count: 9,
        base_sequence: 0xfffe,
        arrivals: few_arrivals(),
    };
    // One chunk of 2-bit symbols: 11 | 01 01 01 00 00 10 00.
    #[rustfmt::skip]
    assert_wire(Packet::TransportFeedback(feedback), &[
        0x8f, 205, 0, 6,
        0, 0, 0, 1,  0, 0, 0, 2,
        0xff, 0xfe, 0, 6,
        0, 0, 10, 9,
        0xd5, 0x08, 0, 40,
        200, 0xff, 0xfc, 0,
    ]);
}

#[test]
fn path_feedback_is_an_application_packet_with_the_same_body() {
    let feedback = PathFeedback {
        sender: Ssrc(1),
        path: PathId(3),
        base_sequence: 0xfffe,
        arrivals: few_arrivals(),
        marks: vec![],
    };
    #[rustfmt::skip]
    assert_wire(Packet::PathFeedback(feedback), &[
        0x81, 204, 0, 6,
        0, 0, 0, 1,  b'W', b'E', b'F', b'T',
        0xff, 0xfe, 0, 6,
        0, 0, 10, 3,
        0xd5, 0x08, 0, 40,
        200, 0xff, 0xfc, 0,
    ]);
}

#[test]
fn marks_follow_the_deltas_of_path_feedback() {
    let feedback = PathFeedback {
        sender: Ssrc(1),
        path: PathId(3),
        base_sequence: 0xfffe,
        arrivals: few_arrivals(),
        marks: vec![Ecn::Ect1, Ecn::Ect1, Ecn::Ce, Ecn::NotEct],
    };
    // One chunk of 2-bit symbols for the four received packets: 11 | 01 01 11
    // 00, then zeros.
    #[rustfmt::skip]
    assert_wire(Packet::PathFeedback(feedback), &[
        0x81, 204, 0, 7,
        0, 0, 0, 1,  b'W', b'E', b'F', b'T',
        0xff, 0xfe, 0, 6,
        0, 0, 10, 3,
        0xd5, 0x08, 0, 40,
        200, 0xff, 0xfc, 0,
        0xd7, 0x00, 0, 0,
    ]);
}

#[test]
fn the_chunks_printed_in_the_draft_are_read() {
    // Section 3.1.3: a run of 221 not received. Section 3.1.4: 14 symbols of
    // one bit, 0 11111 00 111 000, and 7 of two bits. The draft's example of
    // the latter has the reserved status; here it is a large delta instead:
    // 00 10 01 01 01 00 00.
    #[rustfmt::skip]
    let octets = [
        0x8f, 205, 0, 9,
        0, 0, 0, 1,  0, 0, 0, 2,
        0, 0,  0, 242, // 221 + 14 + 7
        0, 0, 1, 0,
        0x00, 0xdd,
        0b1001_1111, 0b0011_1000,
        0b1100_1001, 0b0101_0000,
        1, 1, 1, 1, 1, 1, 1, 1, // of the one-bit chunk
        1, 0, 1, 1, 1, 0,       // large 256, then three small; padding
    ];
    let Packet::TransportFeedback(read) = parse_compound(&octets, &mut { MAX_ENTRIES })
        .unwrap()
        .remove(0)
    else {
        panic!("not transport feedback");
    };
    assert_eq!(read.arrivals.len(), 242);
    let received: Vec<usize> = (0..242).filter(|&i| read.arrivals[i].is_some()).collect();
    let expected = [222, 223, 224, 225, 226, 229, 230, 231, 236, 237, 238, 239];
    assert_eq!(received, expected);
    // 64 ms + 8 ticks + 256 ticks + 3 ticks of 250 us.
    assert_eq!(
        read.arrivals[239],
        Some(Instant::from_nanos((256 + 8 + 256 + 3) * 250_000))
    );
}

#[test]
fn long_runs_take_one_chunk() {
    let mut arrivals = vec![None; 1000];
    arrivals.extend(vec![Some(ms(64)); 100]);
    let feedback = PathFeedback {
        sender: Ssrc(1),
        path: PathId(0),
        base_sequence: 0,
        arrivals,
        marks: vec![Ecn::Ect1; 100],
    };
    let packet = Packet::PathFeedback(feedback);
    // 20 octets of headers, two chunks, 100 deltas, a chunk of marks, zeros.
    assert_eq!(written(&packet).len(), 128);
    assert_eq!(
        parse_compound(&written(&packet), &mut { MAX_ENTRIES }),
        Ok(vec![packet])
    );
}
