use super::support::*;
use crate::receive::frame_assembly::AssembledFrame;
use crate::receive::jitter_buffer::JitterBuffer;
use crate::receive::nack::{Findings, NackTracker};
use crate::receive::packet_buffer::{Arrival, CAPACITY, PacketBuffer};
use crate::receive::references::{Hole, References};
use crate::receive::stats::Reception;
use crate::receive::*;
use weft_units::{Duration, Instant};
use weft_wire::payload::PictureNumbers;

#[test]
fn the_report_is_that_of_rfc_3550() {
    let mut reception = Reception::new(8_000);
    assert_eq!(reception.take_report(), None);
    // 100 packets are expected from 65 536 + 65 500 on, and every fourth is lost: 64/256.
    for n in (0..100).filter(|n| n % 4 != 2) {
        reception.on_packet(at_ms(20 * n), FIRST + n, 160 * n as u32);
    }
    let figures = reception.take_report().unwrap();
    assert_eq!(figures.fraction_lost, 64);
    assert_eq!(figures.cumulative_lost, 25);
    // 65 500 + 99 is 63 in the next cycle.
    assert_eq!(figures.highest_sequence, 0x1_003f);
    assert_eq!(figures.jitter, 0);
    // The next 20 arrive, and two of the lost: more than expected is not loss.
    for n in (100..120).chain([2, 6]) {
        reception.on_packet(at_ms(20 * 120), FIRST + n, 160 * n as u32);
    }
    let figures = reception.take_report().unwrap();
    assert_eq!((figures.fraction_lost, figures.cumulative_lost), (0, 23));
}

#[test]
fn interarrival_jitter_moves_by_a_sixteenth_of_the_difference() {
    let mut reception = Reception::new(8_000);
    reception.on_packet(at_ms(0), FIRST, 0);
    // 22 ms for 20 ms of timestamps: 16 ticks, J = 16/16.
    reception.on_packet(at_ms(22), FIRST + 1, 160);
    assert_eq!(reception.jitter(), Duration::from_micros(125));
    // 50 ms for 20 ms: 240 ticks, J = 1 + (240 - 1)/16 = 15.9375.
    reception.on_packet(at_ms(72), FIRST + 2, 320);
    assert_eq!(reception.take_report().unwrap().jitter, 15);
    assert_eq!(reception.jitter(), Duration::from_nanos(1_992_188));
}

#[test]
fn the_ring_knows_new_duplicate_and_too_old() {
    let mut buffer = PacketBuffer::new();
    assert_eq!(buffer.insert(FIRST), Arrival::New);
    assert_eq!(buffer.insert(FIRST + 5), Arrival::New);
    assert_eq!(buffer.insert(FIRST), Arrival::Duplicate);
    let missing: Vec<u64> = buffer.missing_between(FIRST, FIRST + 5).collect();
    assert_eq!(missing, [FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4]);
    assert_eq!(buffer.insert(FIRST + 2), Arrival::New);
    assert_eq!(buffer.insert(FIRST + CAPACITY), Arrival::New);
    assert_eq!(buffer.insert(FIRST), Arrival::TooOld);
    assert_eq!(buffer.insert(FIRST + 1), Arrival::New);
    assert_eq!(buffer.insert(FIRST + 2), Arrival::Duplicate);
    assert_eq!(buffer.expected(), CAPACITY + 1);
    assert_eq!(buffer.missing_between(FIRST + 9, FIRST + 9).count(), 0);
}

/// Returns the delay after frames at 100 Hz with these extra transits.
fn delay_after(extra_ms: impl Iterator<Item = u64>) -> Duration {
    delay_of(JitterBuffer::new(MediaKind::Video, 1_000), extra_ms)
}

fn delay_of(mut jitter: JitterBuffer, extra_ms: impl Iterator<Item = u64>) -> Duration {
    for (n, extra) in extra_ms.enumerate() {
        let (n, now) = (n as u64, at_ms(20 + 10 * n as u64 + extra));
        let at = at_ms(20 + 10 * n);
        jitter.on_packet(at, jitter.transit(at, 10 * n));
        jitter.on_complete(now, 10 * n);
    }
    jitter.delay()
}

#[test]
fn the_delay_follows_the_95_percent_quantile_up_at_once() {
    // Only the margin.
    assert_eq!(delay_after((0..200).map(|_| 0)), ms(5));
    // A late frame counts while there are fewer than twenty frames.
    assert_eq!(delay_after([0, 60].into_iter()), ms(65));
    // Six late frames of 128 are tolerated, seven are not.
    let is_late = |n, count| n % 20 == 19 && n / 20 < count || count == 7 && n == 127;
    let late = |count| (0..128).map(move |n| if is_late(n, count) { 60 } else { 0 });
    assert_eq!(delay_after(late(6)), ms(5));
    assert_eq!(delay_after(late(7)), ms(65));
    // Not above the limit.
    assert_eq!(delay_after((0..200).map(|_| 900)), ms(200));
}

#[test]
fn the_delay_shrinks_by_a_tenth_of_the_time() {
    // 60 ms late for 128 frames of 10 ms, then in time: five blocks of 250 ms fill the
    // window. When two of them are in time, three late ones remain, which are tolerated.
    // That happens 50 frames after the last late one.
    let late_then = |in_time| (0..128 + in_time).map(|n| if n < 128 { 60 } else { 0 });
    assert_eq!(delay_after(late_then(20)), ms(65));
    let gone: Vec<Duration> = (20..128).map(|n| delay_after(late_then(n))).collect();
    let begin = gone.iter().position(|d| *d < ms(65)).unwrap();
    // The delay shrinks by a millisecond per frame; the first one comes 50 ms early.
    for (n, delay) in gone[begin..].iter().take(40).enumerate() {
        assert!(
            *delay <= ms(65 - n as u64) && *delay >= ms(62 - n as u64),
            "{n}: {delay:?}"
        );
    }
    assert_eq!(delay_after(late_then(200)), ms(5));
}

#[test]
fn a_run_of_late_frames_is_not_waited_for() {
    // 1.2 s in time, then 50 of 78 frames 200 ms late: two or three blocks.
    let event = (0..200).map(|n| if (120..170).contains(&n) { 200 } else { 0 });
    // The event still counts as trouble for 20 s.
    assert_eq!(delay_after(event), ms(50));
    let later = (0..2300).map(|n| if (120..170).contains(&n) { 200 } else { 0 });
    assert_eq!(delay_after(later), ms(5));
    // As many late frames, but spread out: they recur.
    let often = (0..200).map(|n| if n % 10 == 0 { 200 } else { 0 });
    assert_eq!(delay_after(often), ms(200));
}

#[test]
fn on_the_only_path_pictures_wait_for_repairs_that_recur() {
    let late_at = |places: &'static [u64], frames| {
        (0..frames).map(move |n| if places.contains(&n) { 80 } else { 0 })
    };
    let alone = |places, frames| {
        let mut jitter = JitterBuffer::new(MediaKind::Video, 1_000);
        jitter.set_remedy(Remedy::Waiting);
        delay_of(jitter, late_at(places, frames))
    };
    assert_eq!(alone(&[200], 400), ms(5), "once is no row");
    assert_eq!(alone(&[200, 300], 400), ms(80));
    assert_eq!(delay_after(late_at(&[200, 300], 400)), ms(5), "others help");
    assert_eq!(alone(&[200, 300], 2_000), ms(5), "15 s later");
}

#[test]
fn where_another_path_helps_pictures_wait_for_it_after_trouble() {
    let event = |frames| (0..frames).map(|n| if (120..125).contains(&n) { 150 } else { 0 });
    let several = |frames| {
        let mut jitter = JitterBuffer::new(MediaKind::Video, 1_000);
        jitter.set_remedy(Remedy::OtherPath);
        delay_of(jitter, event(frames))
    };
    assert_eq!(several(300), ms(70));
    assert_eq!(delay_after(event(300)), ms(50));
    assert_eq!(several(2_300), ms(5), "20 s later");
}

#[test]
fn a_frame_is_played_at_its_timestamp_plus_the_delay() {
    let mut jitter = JitterBuffer::new(MediaKind::Video, 90_000);
    jitter.on_packet(at_ms(1_020), jitter.transit(at_ms(1_020), 90_000));
    jitter.on_complete(at_ms(1_030), 90_000);
    assert_eq!(jitter.release_at(90_000), at_ms(1_035));
    assert_eq!(
        jitter.release_at(93_000),
        at_ms(1_035) + Duration::from_nanos(33_333_333)
    );
    assert_eq!(jitter.delay(), ms(15));
}

/// Checks at each wake-up until then; returns the findings and their times.
fn asked(tracker: &mut NackTracker, until: Instant) -> Vec<(Instant, Findings)> {
    let mut out = Vec::new();
    while let Some(at) = tracker.wake().filter(|at| *at <= until) {
        let findings = tracker.check(at);
        if findings != Findings::default() {
            out.push((at, findings));
        }
    }
    out
}

#[test]
fn a_packet_overtaken_by_two_is_not_asked_for() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    for (at, sequence) in [(0, 1), (1, 3), (2, 4), (9, 2), (10, 5)] {
        tracker.on_packet(at_ms(at), A, FIRST + sequence, None);
        assert_eq!(asked(&mut tracker, at_ms(at)), []);
    }
    assert_eq!(tracker.wake(), None);
}

#[test]
fn a_lost_packet_is_asked_for_after_three_and_then_each_round_trip() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    tracker.set_rtt(ms(40));
    for sequence in [1, 3, 4] {
        tracker.on_packet(at_ms(100), A, FIRST + sequence, None);
        assert_eq!(asked(&mut tracker, at_ms(100)), []);
    }
    tracker.on_packet(at_ms(104), A, FIRST + 5, None);
    let times: Vec<_> = asked(&mut tracker, at_ms(5_000));
    let requested: Vec<Instant> = times
        .iter()
        .filter(|(_, f)| f.requested == [FIRST + 2])
        .map(|(at, _)| *at)
        .collect();
    let expected: Vec<Instant> = (0..10).map(|n| at_ms(105 + 50 * n)).collect();
    assert_eq!(requested, expected);
    let (at, last) = times.last().unwrap();
    assert_eq!(
        (*at, last.abandoned.as_slice()),
        (at_ms(605), &[FIRST + 2][..])
    );
    assert_eq!(tracker.wake(), None);
}

#[test]
fn requests_are_bounded_in_burst_rate_and_number() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    tracker.on_packet(at_ms(1_000), A, FIRST, None);
    assert!(tracker.on_packet(at_ms(1_000), A, FIRST + 401, None));
    let rounds = asked(&mut tracker, at_ms(1_090));
    assert_eq!(rounds[0].1.requested.len(), 250);
    // The 90 ms since then give credit for one request per two milliseconds.
    let rest: usize = rounds[1..].iter().map(|(_, f)| f.requested.len()).sum();
    assert_eq!(rest, 45);
    // An outage that is too long for requests.
    assert!(!tracker.on_packet(at_ms(1_090), A, FIRST + 1_000, None));
    assert_eq!(tracker.wake(), None);
}

#[test]
fn a_gap_in_one_paths_numbers_waits_for_the_other_path() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    // A delivers 0 2 . 6 8 10, and B still has 1 3 5 7 in flight.
    for (number, sequence) in [(0, 0), (1, 2), (3, 6), (4, 8), (5, 10)] {
        tracker.on_packet(at_ms(100), A, FIRST + sequence, Some(number));
    }
    tracker.on_packet(at_ms(100), B, FIRST + 1, Some(0));
    assert_eq!(asked(&mut tracker, at_ms(149)), []);
    // B passes 4 without delivering it: the next check requests it.
    for (number, sequence) in [(1, 3), (2, 5)] {
        tracker.on_packet(at_ms(150), B, FIRST + sequence, Some(number));
    }
    let found = asked(&mut tracker, at_ms(155));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.requested, [FIRST + 4]);
}

#[test]
fn a_gap_that_explains_all_that_is_missing_does_not_wait() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    tracker.on_packet(at_ms(100), B, FIRST, Some(0));
    tracker.on_packet(at_ms(100), A, FIRST + 1, Some(0));
    // A lost two packets, and two are missing: B has none of them.
    tracker.on_packet(at_ms(101), A, FIRST + 4, Some(3));
    let found = asked(&mut tracker, at_ms(115));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, at_ms(111));
    assert_eq!(found[0].1.requested, [FIRST + 2, FIRST + 3]);
}

#[test]
fn a_gap_that_every_path_has_passed_does_not_wait() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    // A loses 4 and B loses 3: neither gap explains both losses.
    for (number, sequence) in [(0, 0), (1, 2), (3, 6), (4, 8), (5, 10)] {
        tracker.on_packet(at_ms(100), A, FIRST + sequence, Some(number));
    }
    for (number, sequence) in [(0, 1), (2, 5), (3, 7), (4, 9)] {
        tracker.on_packet(at_ms(101), B, FIRST + sequence, Some(number));
    }
    let found = asked(&mut tracker, at_ms(115));
    let requested: Vec<u64> = found
        .iter()
        .flat_map(|(_, f)| f.requested.clone())
        .collect();
    assert_eq!(requested, [FIRST + 3, FIRST + 4]);
}

#[test]
fn gaps_that_no_path_explains_are_requested_after_the_allowance() {
    let mut tracker = NackTracker::new(Reordering::Fixed);
    tracker.on_packet(at_ms(100), A, FIRST, Some(0));
    tracker.on_packet(at_ms(101), A, FIRST + 2, Some(1));
    let found = asked(&mut tracker, at_ms(400));
    assert_eq!(found[0].0, at_ms(301));
    assert_eq!(found[0].1.requested, [FIRST + 1]);
}

fn frame(number: u64, info: PictureNumbers) -> AssembledFrame {
    AssembledFrame {
        timestamp: number * 3_000,
        first_sequence: number * 10,
        last_sequence: number * 10 + 9,
        info,
        keyframe: number == 0,
        data: Vec::new(),
        packets: 10,
        recovered_packets: 0,
        first_arrival: Instant::ZERO,
        complete_at: Instant::ZERO,
        paths: Vec::new(),
    }
}

#[test]
fn picture_numbers_of_seven_and_fifteen_bits_wrap() {
    let info = |id| PictureNumbers {
        picture_id: Some(id),
        ..PictureNumbers::default()
    };
    let mut unknown = Hole::default();
    unknown.unknown = true;
    for (last, next, decodable) in [
        (126, 127, true),
        (127, 0, true),
        (127, 128, true),
        (127, 1, false),
        (32_767, 0, true),
        (32_767, 1, false),
        (300, 302, false),
    ] {
        let mut references = References::default();
        references.on_released(&frame(0, info(last)), &Hole::default());
        // Missing sequence numbers between consecutive pictures are padding.
        let next_frame = frame(1, info(next));
        let found = references.is_decodable(&next_frame, &unknown);
        assert_eq!(found, decodable, "{last} {next}");
    }
}

#[test]
fn a_damaged_layer_heals_at_its_sync_frame() {
    let info = |id, tl0, layer, layer_sync| PictureNumbers {
        picture_id: Some(id),
        tl0_picture_index: Some(tl0),
        temporal_layer: Some(layer),
        layer_sync,
        switching_up: false,
        non_reference: false,
    };
    let whole = Hole::default();
    let mut references = References::default();
    references.on_released(&frame(0, info(10, 255, 0, false)), &whole);
    // 11 is lost: it is in layer 1 or above, because 12 is the next base frame.
    let base = frame(2, info(12, 0, 0, false));
    assert!(references.is_decodable(&base, &whole));
    assert_eq!(references.on_released(&base, &whole), 1);
    assert!(!references.is_decodable(&frame(3, info(13, 0, 1, false)), &whole));
    let sync = frame(3, info(13, 0, 1, true));
    assert!(references.is_decodable(&sync, &whole));
    references.on_released(&sync, &whole);
    assert!(references.is_decodable(&frame(4, info(14, 0, 1, false)), &whole));
    assert!(!references.is_decodable(&frame(4, info(14, 0, 2, false)), &whole));
    // A base frame is missing.
    assert!(!references.is_decodable(&frame(5, info(15, 2, 0, false)), &whole));
}

#[test]
fn a_frame_needs_its_start_its_marker_and_all_between() {
    let mut encoder = Encoder::new(Layers::One);
    let packets = encoder.frame(true, 4);
    for absent in 0..4 {
        let mut receiver = video(Delivery::Frames);
        for packet in packets.iter().filter(|p| p.sequence != FIRST + absent) {
            receiver.handle_packet(at_ms(5), *packet);
        }
        assert_eq!(receiver.stats().frames.complete, 0);
        receiver.handle_packet(at_ms(6), packets[absent as usize]);
        assert_eq!(receiver.stats().frames.complete, 1, "{absent}");
    }
}

#[test]
fn payloads_that_are_not_vp8_are_counted_and_not_requested_again() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    let mut packets = encoder.frame(true, 3);
    packets[1].payload = &[0xff, 0xff];
    for packet in packets {
        wire.deliver(at_ms(5), packet);
    }
    wire.run(at_ms(100));
    let stats = wire.receiver.stats();
    assert_eq!(stats.packets.malformed, 1);
    assert_eq!(stats.repair, RepairCounters::default());
    assert_eq!(stats.frames.complete, 0);
}

/// Each restart allocates the buffers again, 49 kB; a peer must not be able to cause one
/// with each packet.
#[test]
fn timestamps_that_jump_all_the_time_restart_once_a_second() {
    let mut receiver = video(Delivery::Packets);
    for n in 0..3_000_u64 {
        // Twenty seconds at 90 kHz forwards and back.
        let timestamp = if n % 2 == 0 { 0 } else { 20 * 90_000 };
        receiver.handle_packet(
            at_ms(n),
            ReceivedPacket {
                path: A,
                sequence: FIRST + n,
                stream_sequence: None,
                timestamp,
                marker: true,
                audio_level: None,
                dependency: &[],
                payload: &[0x10, 0, 7],
                recovered: false,
            },
        );
        while receiver.poll_event().is_some() {}
    }
    let packets = receiver.stats().packets;
    // Every other packet has the timestamp base that is current at that moment.
    assert!((1_400..=1_600).contains(&packets.received), "{packets:?}");
    assert!((1_400..=1_600).contains(&packets.late), "{packets:?}");
}
