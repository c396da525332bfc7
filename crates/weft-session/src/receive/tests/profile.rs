//! Profiles of other applications' receivers.

use super::support::*;
use crate::receive::*;
use weft_units::{Duration, Instant};

const PACKETS: u64 = 10;
/// First packet of the frame that never becomes complete.
const HOLE: u64 = 30;

/// Receives 200 frames with keyframes at these positions. One frame lacks a packet for
/// good. Retransmissions are lost.
fn with_a_hole(profile: ReceiverProfile, keyframes: &[u64]) -> Wire {
    let mut wire = Wire::new(Receiver::new(ReceiveConfig {
        profile,
        ..video_config(Delivery::Frames)
    }));
    let mut encoder = Encoder::new(Layers::One);
    for frame in 0..200 {
        for packet in encoder.frame(keyframes.contains(&frame), PACKETS) {
            let at = captured(frame) + ms(20);
            match packet.sequence == FIRST + HOLE * PACKETS {
                true => wire.lose(packet),
                false => wire.deliver(at, packet),
            }
        }
    }
    wire.run(at_ms(30_000));
    wire
}

fn captured(frame: u64) -> Instant {
    at_ms(1000) + FRAME * frame
}

/// Returns the times of the keyframe requests, relative to the incomplete frame.
fn requests(wire: &Wire) -> Vec<Duration> {
    let asked = |(at, event): &(Instant, ReceiveEvent)| {
        let is_request = *event == ReceiveEvent::KeyframeNeeded;
        is_request.then(|| at.saturating_since(captured(HOLE) + ms(20)))
    };
    wire.events.iter().filter_map(asked).collect()
}

#[test]
fn a_patient_receiver_asks_for_a_keyframe_every_three_seconds_while_packets_come() {
    let ours = requests(&with_a_hole(ReceiverProfile::default(), &[0]));
    assert!((ms(200)..ms(500)).contains(&ours[0]), "{ours:?}");
    let patient = ReceiverProfile {
        keyframe_patience: Some(ms(3000)),
        ..ReceiverProfile::default()
    };
    let wire = with_a_hole(patient, &[0]);
    // The lost packet is given up after a second, which causes no request. The last
    // packet comes 5.7 s after the hole, and 5 s later the stream is inactive.
    assert_eq!(wire.receiver.stats().repair.abandoned, 1);
    let expected = [3000, 6000, 9000].map(ms);
    let asked = requests(&wire);
    assert_eq!(asked.len(), expected.len(), "{asked:?}");
    for (at, expected) in asked.iter().zip(expected) {
        assert!((expected..expected + ms(40)).contains(at), "{asked:?}");
    }
}

#[test]
fn a_full_packet_buffer_is_emptied_and_asks_for_a_keyframe() {
    let profile = ReceiverProfile {
        keyframe_patience: Some(ms(60_000)),
        packet_buffer: Some(64),
        ..ReceiverProfile::default()
    };
    let wire = with_a_hole(profile, &[0]);
    // 64 numbers are 6.4 frames of 10 packets: the buffer is emptied within a frame, and
    // the other packets of that frame fill it again, as in libwebrtc.
    let asked = requests(&wire);
    assert!((FRAME * 5..FRAME * 7).contains(&asked[0]), "{asked:?}");
    assert!((10..20).contains(&asked.len()), "{asked:?}");
    let roomy = ReceiverProfile {
        packet_buffer: Some(2048),
        ..profile
    };
    assert_eq!(requests(&with_a_hole(roomy, &[0])), []);
}

#[test]
fn a_full_frame_buffer_drops_what_comes_until_a_keyframe_does() {
    let profile = ReceiverProfile {
        keyframe_patience: Some(ms(60_000)),
        frame_buffer: Some(16),
        ..ReceiverProfile::default()
    };
    let wire = with_a_hole(profile, &[0, 100]);
    assert_eq!(wire.receiver.stats().frames.released, HOLE + 100);
    assert_eq!(wire.frames().len() as u64, HOLE + 100);
}

#[test]
fn measured_reordering_asks_at_once_until_packets_overtake_each_other() {
    let asked_after = |late_first: bool, reordering| {
        let profile = ReceiverProfile {
            reordering,
            ..ReceiverProfile::default()
        };
        let mut wire = Wire::new(Receiver::new(ReceiveConfig {
            profile,
            ..video_config(Delivery::Frames)
        }));
        let mut encoder = Encoder::new(Layers::One);
        // One packet every 2 ms, starting at a multiple of 20 ms.
        for (index, packet) in encoder.frame(true, 50).into_iter().enumerate() {
            let index = index as u64;
            let overtaken = late_first && index == 3;
            let at = at_ms(1000 + 2 * index + if overtaken { 9 } else { 0 });
            match index {
                21 => wire.lose(packet),
                _ => wire.deliver(at, packet),
            }
        }
        wire.run(at_ms(1200));
        let nack = wire.events.iter().find(|(_, event)| {
            let lost = (FIRST + 21) as u16;
            matches!(event, ReceiveEvent::Nack { sequences } if *sequences == [lost])
        });
        let (at, _) = nack.expect("the lost packet is asked for");
        at.saturating_since(at_ms(1044))
    };
    // The first packet after the gap comes at 1,044 ms.
    let measured = asked_after(false, Reordering::Measured);
    assert_eq!(measured, Duration::ZERO);
    // Overtaken by four packets: waits for five packets or until 1,060 ms, whichever is
    // sooner.
    let later = asked_after(true, Reordering::Measured);
    assert!((ms(8)..=ms(10)).contains(&later), "{later:?}");
    let fixed = asked_after(false, Reordering::Fixed);
    assert!((ms(4)..=ms(6)).contains(&fixed), "{fixed:?}");
}
