//! Packets that a dead path held in its queue.

use super::support::*;
use crate::receive::*;

const PACKETS: u64 = 10;

#[test]
fn old_packets_of_a_dead_path_do_not_restart_the_stream() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(60));
    let mut encoder = Encoder::new(Layers::One);
    let mut stuck = Vec::new();
    for frame in 0..450_u64 {
        for packet in encoder.frame(frame == 0, PACKETS) {
            wire.deliver(at_ms(1000) + FRAME * frame, packet);
            if (50..60).contains(&frame) {
                stuck.push(packet);
            }
        }
    }
    // Copies, 12 s later.
    for packet in stuck {
        wire.deliver(at_ms(14_700), packet);
    }
    wire.run(at_ms(20_000));
    let stats = wire.receiver.stats();
    assert_eq!((stats.frames.released, stats.repair.keyframes), (450, 0));
    assert!(wire.largest_gap() < ms(200), "{:?}", wire.largest_gap());
}

#[test]
fn old_packets_do_not_restart_the_stream_after_half_of_all_sequence_numbers() {
    let mut wire = Wire::new(video(Delivery::Frames));
    wire.answer_after = Some(ms(60));
    let mut encoder = Encoder::new(Layers::One);
    let mut stuck = Vec::new();
    for frame in 0..1200_u64 {
        for mut packet in encoder.frame(frame == 0, PACKETS) {
            wire.deliver(at_ms(1000) + FRAME * frame, packet);
            if (100..110).contains(&frame) {
                // Extended from a highest number that is more than 32,768 ahead.
                packet.sequence += 1 << 16;
                stuck.push(packet);
            }
        }
    }
    // Copies, half a minute later.
    for packet in stuck {
        wire.deliver(at_ms(35_000), packet);
    }
    wire.run(at_ms(45_000));
    let stats = wire.receiver.stats();
    assert_eq!((stats.frames.released, stats.repair.keyframes), (1200, 0));
    assert!(wire.largest_gap() < ms(200), "{:?}", wire.largest_gap());
}

#[test]
fn old_packets_do_not_restart_the_stream_after_all_paths_were_dead() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    let mut stuck = Vec::new();
    for frame in 0..450_u64 {
        for packet in encoder.frame(frame == 0 || frame == 390, PACKETS) {
            if !(300..390).contains(&frame) {
                wire.deliver(at_ms(1000) + FRAME * frame, packet);
            }
            if (20..30).contains(&frame) {
                stuck.push(packet);
            }
        }
    }
    // Copies, 11 s later, after two seconds without any packet.
    for packet in stuck {
        wire.deliver(at_ms(1000) + FRAME * 360, packet);
    }
    wire.run(at_ms(20_000));
    assert_eq!(wire.receiver.stats().frames.released, 360);
    let dead = FRAME * 91;
    assert!(
        wire.largest_gap() <= dead + ms(50),
        "{:?}",
        wire.largest_gap()
    );
}

#[test]
fn old_packets_do_not_keep_out_those_of_another_path() {
    let mut wire = Wire::new(video(Delivery::Frames));
    let mut encoder = Encoder::new(Layers::One);
    for frame in 0..900_u64 {
        let late = if (300..390).contains(&frame) { 11 } else { 0 };
        for packet in encoder.frame(frame == 0 || frame == 390, 4) {
            wire.deliver(at_ms(1000 + 1000 * late) + FRAME * frame, packet);
        }
    }
    wire.run(at_ms(40_000));
    assert_eq!(wire.receiver.stats().frames.released, 810);
    assert!(wire.largest_gap() <= FRAME * 91 + ms(50));
}
