use super::support::*;
use crate::receive::*;
use weft_units::{Duration, Instant, PathId, Rng};

const PACKETS: u64 = 10;
/// Time between two packets of a frame.
const PACING: Duration = Duration::from_millis(1);

/// Sends `frames` frames of ten packets; `route` gives each packet its path and its
/// transit, `None` if it is lost.
fn send(
    wire: &mut Wire,
    encoder: &mut Encoder,
    frames: u64,
    mut route: impl FnMut(Instant, u64) -> (PathId, Option<Duration>),
) {
    for frame in 0..frames {
        let captured = at_ms(1000) + FRAME * frame;
        for (index, packet) in encoder.frame(frame == 0, PACKETS).into_iter().enumerate() {
            let sent = captured + PACING * index as u64;
            let (path, transit) = route(sent, packet.sequence);
            let packet = encoder.by(path, packet);
            match transit {
                Some(transit) => wire.deliver(sent + transit, packet),
                None => wire.lose(packet),
            }
        }
    }
}

fn alternate(sequence: u64, skew: Duration) -> (PathId, Option<Duration>) {
    match sequence % 2 {
        0 => (A, Some(ms(20))),
        _ => (B, Some(ms(20) + skew)),
    }
}

#[test]
fn skew_between_numbered_paths_causes_no_nack() {
    for skew in [ms(50), ms(100)] {
        let mut wire = Wire::new(video(Delivery::Frames));
        let mut encoder = Encoder::new(Layers::One);
        send(&mut wire, &mut encoder, 300, |_, s| alternate(s, skew));
        wire.run(at_ms(20_000));
        let stats = wire.receiver.stats();
        assert_eq!(stats.repair, RepairCounters::default(), "skew {skew:?}");
        assert_eq!(stats.frames.released, 300);
        assert_eq!(stats.packets.missing, 0);
        // The slower path's last packet decides: the skew, nine packets of pacing and the
        // margin.
        let expected = skew + ms(9) + ms(5);
        let off = stats.delays.playout.saturating_sub(expected)
            + expected.saturating_sub(stats.delays.playout);
        assert!(off < ms(1), "{:?}", stats.delays);
        assert_eq!(stats.frames.late, 0);
        let last = wire.frames()[299].1;
        assert_eq!(last.path_skew(), Some(skew + ms(1)));
        assert_eq!(last.paths[0].late_packets, 0);
        assert_eq!(last.paths[1].late_packets, 5);
    }
}

#[test]
fn without_path_numbers_the_same_skew_is_taken_for_loss() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    send(&mut wire, &mut encoder, 30, |_, s| alternate(s, ms(50)));
    let mut plain = Wire::new(video(Delivery::Frames));
    for (_, mut packet) in std::mem::take(&mut wire.history) {
        packet.stream_sequence = None;
        let frame = (packet.sequence - FIRST) / PACKETS;
        let sent = at_ms(1000) + FRAME * frame + PACING * ((packet.sequence - FIRST) % PACKETS);
        let (_, transit) = alternate(packet.sequence, ms(50));
        plain.deliver(sent + transit.unwrap_or_default(), packet);
    }
    plain.run(at_ms(20_000));
    assert!(plain.nacked.len() > 100, "{}", plain.nacked.len());
}

#[test]
fn under_skew_exactly_the_lost_packets_are_asked_for() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(60));
    let mut encoder = Encoder::new(Layers::One);
    let mut rng = Rng::new(11);
    let mut lost = std::collections::BTreeSet::new();
    send(&mut wire, &mut encoder, 300, |_, sequence| {
        let (path, transit) = alternate(sequence, ms(50));
        // Not in the last frame: no later packet would show the loss.
        let is_lost = rng.chance(0.02) && (FIRST + 1..FIRST + 2900).contains(&sequence);
        if is_lost {
            lost.insert(sequence);
        }
        (path, transit.filter(|_| !is_lost))
    });
    wire.run(at_ms(20_000));
    assert!(lost.len() > 30, "{}", lost.len());
    assert_eq!(wire.nacked, lost);
    let stats = wire.receiver.stats();
    assert_eq!(stats.frames.released, 300);
    assert_eq!(stats.packets.recovered, lost.len() as u64);
    assert_eq!(stats.repair.keyframes, 0);
}

#[test]
fn five_percent_loss_is_restored_by_retransmission() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(50));
    wire.answer_lost = |n| n % 20 == 0;
    wire.receiver.set_rtt(ms(50), ms(50));
    let mut encoder = Encoder::new(Layers::One);
    let mut rng = Rng::new(5);
    let mut lost = 0;
    send(&mut wire, &mut encoder, 600, |_, sequence| {
        let is_lost = sequence > FIRST && sequence < FIRST + 5990 && rng.chance(0.05);
        lost += u64::from(is_lost);
        (A, (!is_lost).then_some(ms(20)))
    });
    wire.run(at_ms(40_000));
    let stats = wire.receiver.stats();
    assert!((200..400).contains(&lost), "{lost}");
    assert_eq!(stats.frames.released, 600);
    assert_eq!(stats.frames.dropped, 0);
    assert_eq!(stats.packets.recovered, lost);
    assert_eq!(stats.packets.missing, 0);
    assert_eq!(stats.repair.keyframes, 0);
    // One request for each loss, and more for the answers that are lost as well.
    assert!(stats.repair.requested >= lost);
    assert!(
        stats.repair.requested <= lost * 11 / 10,
        "{:?}",
        stats.repair
    );
    // No freeze by the W3C's definition: 150 ms more than the frame interval.
    let gap = wire.largest_gap();
    assert!(gap < FRAME + ms(150), "{gap:?}");
}

#[test]
fn an_outage_of_300_ms_is_one_gap_and_costs_no_keyframe() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(50));
    wire.receiver.set_rtt(ms(50), ms(50));
    let mut encoder = Encoder::new(Layers::One);
    let outage = at_ms(3000)..at_ms(3300);
    send(&mut wire, &mut encoder, 300, |sent, _| {
        (A, (!outage.contains(&sent)).then_some(ms(20)))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.frames.released, 300);
    assert_eq!(stats.repair.keyframes, 0);
    assert_eq!(stats.packets.recovered, 90);
    // The gap contains one round trip, the tolerance for reordering and the frame
    // interval; it is not shorter than the outage.
    let gap = wire.largest_gap();
    assert!((ms(300)..ms(420)).contains(&gap), "{gap:?}");
}

#[test]
fn the_death_of_one_of_two_paths_loses_nothing_that_is_sent_again() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(60));
    let mut encoder = Encoder::new(Layers::One);
    // B dies; the sender switches 150 ms later.
    let (death, moved) = (at_ms(3000), at_ms(3150));
    send(&mut wire, &mut encoder, 300, |sent, sequence| {
        let (path, transit) = alternate(sequence, ms(30));
        if sent >= moved {
            return (A, Some(ms(20)));
        }
        (path, transit.filter(|_| path == A || sent < death))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.frames.released, 300);
    assert_eq!(stats.repair.keyframes, 0);
    // B may still deliver them until the skew allowance has passed.
    let gap = wire.largest_gap();
    assert!((ms(200)..ms(350)).contains(&gap), "{gap:?}");
}

#[test]
fn a_lost_frame_that_nothing_refers_to_is_skipped_in_time() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::Two);
    send(&mut wire, &mut encoder, 60, |_, sequence| {
        // All of frame 21, and one packet of frame 31: both in layer 1.
        let frame = (sequence - FIRST) / PACKETS;
        let is_lost = frame == 21 || sequence == FIRST + 315;
        (A, (!is_lost).then_some(ms(20)))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.frames.released, 58);
    assert_eq!(stats.frames.dropped, 2);
    assert_eq!(stats.repair.keyframes, 0);
    assert_eq!(stats.packets.missing, 11);
    // A skipped frame leaves two intervals and not more.
    assert!(wire.largest_gap() <= FRAME * 2 + ms(1));
}

#[test]
fn a_lost_reference_stops_the_picture_until_the_keyframe() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    for frame in 0..60_u64 {
        let sent = at_ms(1000) + FRAME * frame;
        for packet in encoder.frame(frame == 0 || frame == 40, PACKETS) {
            match packet.sequence == FIRST + 203 {
                true => wire.lose(packet),
                false => wire.deliver(sent + ms(20), packet),
            }
        }
    }
    wire.run(at_ms(20_000));
    let pictures: Vec<u64> = wire
        .frames()
        .iter()
        .map(|(_, f)| (f.first_sequence - FIRST) / PACKETS)
        .collect();
    let expected: Vec<u64> = (0..20).chain(40..60).collect();
    assert_eq!(pictures, expected);
    assert_eq!(wire.receiver.stats().frames.dropped, 20);
    // It is requested once the patience (300 ms at the default round trip) is over, and
    // not too often: the picture freezes for 660 ms.
    let asked: Vec<Instant> = wire
        .events
        .iter()
        .filter(|(_, e)| *e == ReceiveEvent::KeyframeNeeded)
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    let broken = at_ms(1020) + FRAME * 20;
    let waited = asked[0].saturating_since(broken);
    assert!((ms(300)..ms(340)).contains(&waited), "{waited:?}");
}

#[test]
fn a_stream_that_starts_without_a_keyframe_asks_for_one_soon() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    encoder.frame(true, PACKETS);
    for n in 0..5 {
        for packet in encoder.frame(false, PACKETS) {
            wire.deliver(at_ms(10 + 33 * n), packet);
        }
    }
    wire.run(at_ms(200));
    assert_eq!(wire.events, [(at_ms(110), ReceiveEvent::KeyframeNeeded)]);
}

#[test]
fn a_slow_keyframe_is_not_asked_for_again_while_it_arrives() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    for (index, packet) in encoder.frame(true, 100).into_iter().enumerate() {
        wire.deliver(at_ms(10 + 20 * index as u64), packet);
    }
    wire.run(at_ms(10_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.frames.released, 1);
    assert_eq!(stats.repair.keyframes, 0);
    assert_eq!(stats.delays.construction.last, ms(1980));
}

#[test]
fn a_packet_behind_its_frames_time_is_late_and_stays_missing() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::Two);
    send(&mut wire, &mut encoder, 40, |_, sequence| {
        let transit = if sequence == FIRST + 315 { 900 } else { 20 };
        (A, Some(ms(transit)))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.packets.late, 1);
    assert_eq!(stats.packets.missing, 1);
    assert_eq!(stats.packets.received, 399);
    assert_eq!(stats.frames.dropped, 1);
}

#[test]
fn audio_comes_in_order_at_even_times_and_a_hole_stays_a_hole() {
    let mut wire = Wire::new(audio(Delivery::Frames));
    let mut rng = Rng::new(9);
    for n in 0..500_u64 {
        let packet = ReceivedPacket {
            path: A,
            sequence: FIRST + n,
            stream_sequence: None,
            timestamp: (n * 960) as u32,
            marker: false,
            audio_level: None,
            dependency: &[],
            payload: vec![n as u8; 80].leak(),
            recovered: false,
        };
        let jitter = Duration::from_micros(rng.below(15_000));
        match n == 300 {
            true => wire.lose(packet),
            false => wire.deliver(at_ms(100 + 20 * n) + jitter, packet),
        }
    }
    wire.run(at_ms(20_000));
    let frames = wire.frames();
    let heard: Vec<u64> = frames
        .iter()
        .map(|(_, f)| f.first_sequence - FIRST)
        .collect();
    let expected: Vec<u64> = (0..500).filter(|n| *n != 300).collect();
    assert_eq!(heard, expected);
    // Once the delay has adapted, the rhythm is that of the sender, faster by at most one
    // part in twenty.
    for pair in frames[100..].windows(2) {
        let step = pair[1].0.saturating_since(pair[0].0);
        let steps = pair[1].1.first_sequence - pair[0].1.first_sequence;
        let (low, high) = (ms(19) * steps, Duration::from_micros(20_500) * steps);
        assert!((low..high).contains(&step), "{step:?}");
    }
    assert_eq!(wire.receiver.stats().repair.keyframes, 0);
}

#[test]
fn a_forwarder_gets_every_packet_once_and_at_once() {
    let mut wire = Wire::new(video(Delivery::Packets));
    wire.answer_after = Some(ms(50));
    let mut encoder = Encoder::new(Layers::One);
    let mut copies = Vec::new();
    send(&mut wire, &mut encoder, 100, |_, sequence| {
        (A, (sequence % 50 != 7).then_some(ms(20)))
    });
    for (n, packet) in wire.history.values().enumerate().step_by(3) {
        copies.push((at_ms(1100 + 3 * n as u64), *packet));
    }
    for (at, packet) in copies {
        wire.deliver(at, packet);
    }
    wire.run(at_ms(20_000));
    let mut seen: Vec<u64> = wire
        .events
        .iter()
        .filter_map(|(at, event)| match event {
            ReceiveEvent::Packet(packet) => {
                assert_eq!(wire.arrived[&packet.sequence], *at);
                Some(packet.sequence)
            }
            _ => None,
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, (FIRST..FIRST + 1000).collect::<Vec<_>>());
    assert_eq!(wire.receiver.stats().packets.missing, 0);
    assert!(wire.receiver.stats().packets.duplicate > 300);
}

#[test]
fn an_unanswered_forwarder_gives_up_and_asks_for_a_keyframe() {
    let mut wire = Wire::new(video(Delivery::Packets));
    let mut encoder = Encoder::new(Layers::One);
    send(&mut wire, &mut encoder, 100, |_, sequence| {
        (A, (sequence != FIRST + 100).then_some(ms(20)))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!(stats.repair.requested, 10);
    assert_eq!(stats.repair.abandoned, 1);
    assert_eq!(stats.repair.keyframes, 1);
}

#[test]
fn a_sender_that_starts_again_is_followed() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    send(&mut wire, &mut encoder, 30, |_, _| (A, Some(ms(20))));
    let mut again = Encoder::new(Layers::One);
    for frame in 0..30_u64 {
        for mut packet in again.frame(frame == 0, PACKETS) {
            packet.sequence -= 20_000;
            packet.timestamp = packet.timestamp.wrapping_add(1 << 30);
            wire.deliver(at_ms(4000) + FRAME * frame, packet);
        }
    }
    wire.run(at_ms(20_000));
    assert_eq!(wire.receiver.stats().frames.released, 60);
}

#[test]
fn a_frame_that_says_that_nothing_refers_to_it_is_skipped_in_time() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::Droppable);
    send(&mut wire, &mut encoder, 60, |_, sequence| {
        // One packet of frame 32, which is droppable.
        (A, (sequence != FIRST + 325).then_some(ms(20)))
    });
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!((stats.frames.released, stats.frames.dropped), (59, 1));
    assert!(wire.largest_gap() <= FRAME * 2 + ms(1));
    // It is requested only while it is useful.
    assert_eq!(stats.repair.requested, 1);
    assert_eq!(stats.repair.keyframes, 0);
}

#[test]
fn timestamps_that_leap_ahead_do_not_stop_the_picture() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    for frame in 0..120_u64 {
        for mut packet in encoder.frame(frame == 0, PACKETS) {
            if frame >= 60 {
                packet.timestamp = packet.timestamp.wrapping_add(5 * 90_000);
            }
            wire.deliver(at_ms(1000) + FRAME * frame, packet);
        }
    }
    wire.run(at_ms(20_000));
    assert_eq!(wire.receiver.stats().frames.released, 120);
    assert!(wire.largest_gap() < ms(450), "{:?}", wire.largest_gap());
}
