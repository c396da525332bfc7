use weft_units::Rate;

use super::*;
use crate::audio::{FRAME_SAMPLES, OpusDecoder, OpusEncoder, tests::strength};

const TICKS: u32 = FRAME_SAMPLES as u32;

/// Packets of a sine with this amplitude, at most 32767.
fn packets(hertz: f64, amplitude: f64, count: usize) -> Vec<Vec<u8>> {
    let mut encoder = OpusEncoder::new(Rate::from_kbps(64)).unwrap();
    let step = std::f64::consts::TAU * hertz / f64::from(SAMPLE_RATE);
    let packet = |number: usize| {
        let frame = std::array::from_fn(|place| {
            let at = number * FRAME_SAMPLES + place / CHANNELS;
            ((at as f64 * step).sin() * amplitude) as i16
        });
        encoder.encode(&frame).unwrap()
    };
    (0..count).map(packet).collect()
}

fn left(block: &SoundBlock) -> Vec<i16> {
    block.chunks_exact(CHANNELS).map(|s| s[0]).collect()
}

fn level(block: &[i16]) -> f64 {
    let squares: f64 = block.iter().map(|s| f64::from(*s).powi(2)).sum();
    (squares / block.len() as f64).sqrt()
}

/// Plays one packet and two blocks at a time, without the packets selected by `is_lost`;
/// returns the blocks of each packet.
fn play(
    mixer: &mut RoomMixer,
    packets: &[Vec<u8>],
    is_lost: impl Fn(usize) -> bool,
) -> Vec<SoundBlock> {
    let mut blocks = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        if !is_lost(number) {
            mixer.push("a", number as u32 * TICKS, packet);
        }
        blocks.extend([mixer.read(), mixer.read()]);
    }
    blocks
}

#[test]
fn a_voice_keeps_its_level() {
    let packets = packets(500.0, 20_000.0, 300);
    let mut decoder = OpusDecoder::new().unwrap();
    let decoded = packets.iter().flat_map(|p| decoder.decode(p).unwrap());
    let decoded: Vec<i16> = decoded.collect();
    let mut mixer = RoomMixer::default();
    let mixed = play(&mut mixer, &packets, |_| false).concat();
    // The third second to the fifth.
    let of = |sound: &[i16]| level(&sound[2 * SAMPLE_RATE as usize * CHANNELS..][..384_000]);
    let (mixed, decoded) = (of(&mixed), of(&decoded));
    assert!((mixed / decoded - 1.0).abs() < 0.02, "{mixed} of {decoded}");
    assert_eq!(mixer.counts().concealed, 0);
}

#[test]
fn a_sum_above_full_scale_is_not_clipped() {
    let step = std::f64::consts::TAU * 500.0 / f64::from(SAMPLE_RATE);
    let wave = |amplitude: f32| {
        let mut limiter = Limiter::default();
        let block = |number: usize| {
            let at = |place: usize| (number * BLOCK_SAMPLES + place / CHANNELS) as f64;
            let sum = std::array::from_fn(|place| (at(place) * step).sin() as f32 * amplitude);
            left(&limiter.limit(&sum))
        };
        (0..200).flat_map(block).collect::<Vec<i16>>()[48_000..].to_vec()
    };
    let loud = wave(1.5 * FULL);
    let (wanted, harmonic) = (strength(&loud, 500.0), strength(&loud, 1_500.0));
    // The peaks are rounder than those of a sine, so the level is slightly above 1.
    assert!((0.9..1.05).contains(&wanted), "{wanted}");
    // Clipping at two thirds has a third harmonic of 0.16.
    assert!(harmonic < 0.03, "{harmonic}");
    let quiet = strength(&wave(0.5 * FULL), 500.0);
    assert!((0.499..0.501).contains(&quiet), "{quiet}");
}

#[test]
fn lost_packets_are_filled_and_cost_no_delay() {
    let packets = packets(300.0, 10_000.0, 300);
    let mut mixer = RoomMixer::default();
    let blocks = play(&mut mixer, &packets, |n| n % 10 == 9);
    let counts = mixer.counts();
    assert_eq!(counts.packets, 270);
    assert!(counts.concealed + counts.recovered >= 29, "{counts:?}");
    assert!(counts.concealed + counts.recovered <= 40, "{counts:?}");
    let silent = blocks[10..]
        .iter()
        .filter(|b| level(&b[..]) < 300.0)
        .count();
    assert!(silent <= 3, "{silent} of 60 blocks of lost packets");
    assert!(mixer.voices["a"].waiting() <= 2 * FRAME_SAMPLES);
}

#[test]
fn a_loss_is_noticed_before_the_next_packet_only_if_the_buffer_is_empty() {
    let packets = packets(300.0, 10_000.0, 12);
    let mut mixer = RoomMixer::default();
    for n in [0, 1, 2] {
        mixer.push("a", n * TICKS, &packets[n as usize]);
    }
    mixer.read();
    // Enough sound waits, so the following packet fills the gap.
    mixer.push("a", 4 * TICKS, &packets[4]);
    assert_eq!((mixer.counts().recovered, mixer.counts().concealed), (1, 0));
    mixer.push("a", 7 * TICKS, &packets[7]);
    assert_eq!((mixer.counts().recovered, mixer.counts().concealed), (2, 1));
    mixer.push("a", 6 * TICKS, &packets[6]);
    assert_eq!(mixer.counts().late, 1);
}

#[test]
fn the_clocks_of_sender_and_sound_card_may_differ() {
    let packets = packets(300.0, 10_000.0, 50);
    // Drift of the sender in parts per million; two minutes each.
    for drift in [-500, -100, 100, 500] {
        let mut mixer = RoomMixer::default();
        let (mut most, mut sent) = (0, 0);
        for block in 0..12_000_i64 {
            let due = block * 480 * (1_000_000 + drift) / 1_000_000;
            while i64::from(sent) * 960 <= due {
                let packet = &packets[sent as usize % packets.len()];
                mixer.push("a", sent * TICKS, packet);
                sent += 1;
            }
            mixer.read();
            if block > 1_000 {
                most = most.max(mixer.voices["a"].waiting());
            }
        }
        let counts = mixer.counts();
        assert!(counts.concealed <= 2, "{drift} ppm: {counts:?}");
        assert_eq!(counts.dropped_samples, 0, "{drift} ppm");
        assert!(most < 2_880, "{drift} ppm: {most} samples wait");
    }
}

#[test]
fn a_pause_is_silent_and_does_not_delay_what_follows() {
    let packets = packets(300.0, 10_000.0, 150);
    let mut mixer = RoomMixer::default();
    let blocks = play(&mut mixer, &packets, |n| (50..100).contains(&n));
    assert_eq!(level(&blocks[150][..]), 0.0, "half a second into the pause");
    let first = blocks[200..].iter().position(|b| level(&b[..]) > 2_000.0);
    assert!(first.expect("it is heard again") <= 4, "{first:?}");
    assert!(mixer.counts().concealed <= 3, "{:?}", mixer.counts());
    assert!(mixer.voices["a"].waiting() <= 2 * FRAME_SAMPLES);
}

#[test]
fn packets_that_come_late_enlarge_the_buffer_for_a_while() {
    let packets = packets(300.0, 10_000.0, 400);
    let mut mixer = RoomMixer::default();
    let mut concealed = Vec::new();
    for (number, pair) in packets.chunks(2).enumerate() {
        // Two packets every 40 ms instead of one every 20.
        for (place, packet) in pair.iter().enumerate() {
            mixer.push("a", (number * 2 + place) as u32 * TICKS, packet);
        }
        for _ in 0..4 {
            mixer.read();
        }
        concealed.push(mixer.counts().concealed);
    }
    let late = concealed[199] - concealed[50];
    assert!(late <= 2, "still conceals after two seconds: {late}");
}

#[test]
fn waiting_packets_and_mixed_voices_are_bounded() {
    let packets = packets(300.0, 10_000.0, 40);
    let mut mixer = RoomMixer::default();
    for (number, packet) in packets.iter().enumerate() {
        mixer.push("a", number as u32 * TICKS, packet);
        assert!(mixer.voices["a"].waiting() <= 20 * FRAME_SAMPLES);
    }
    assert!(mixer.counts().dropped_samples > 0);
    for participant in 0..40 {
        mixer.push(&participant.to_string(), 0, &packets[0]);
    }
    assert_eq!(mixer.counts().crowded, 40 - (MAX_VOICES as u64 - 1));
    mixer.remove("a");
    mixer.push("late", 0, &packets[0]);
    mixer.push("late", TICKS, &[0xff, 0x3f, 0, 0]);
    assert_eq!(mixer.counts().undecodable, 1);
}
