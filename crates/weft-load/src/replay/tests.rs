use super::*;
use crate::clip::{Encoding, Version};
use weft_units::Codec;

/// Two encodings in two versions, of ten pictures each; a frame's first byte is its index,
/// the second one its version.
fn clip() -> Arc<Clip> {
    let version = |number: u8, rate| Version {
        rate: Rate::from_kbps(rate),
        pictures: (0..10)
            .map(|place| {
                Some(EncodedFrame {
                    data: vec![place, number],
                    keyframe: place == 0,
                    temporal_layer: None,
                    layer_sync: false,
                    non_reference: false,
                    quantizer: 0,
                    attempts: 1,
                })
            })
            .collect(),
    };
    let encoding = |height, low, high| Encoding {
        height,
        versions: vec![version(0, low), version(1, high)],
    };
    Arc::new(Clip {
        codec: Codec::Vp8,
        fps: 10,
        encodings: vec![encoding(90, 100, 200), encoding(180, 400, 800)],
        sound: Vec::new(),
    })
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns index and version of the picture of each encoding.
fn frames(replay: &mut Replay, ms: u64) -> Vec<(u8, u8, u8)> {
    let frames = replay.frames(at(ms));
    let brief = |(encoding, frame): (u8, EncodedFrame)| (encoding, frame.data[0], frame.data[1]);
    frames.into_iter().map(brief).collect()
}

#[test]
fn pictures_come_at_their_times_and_late_ones_are_left_out() {
    let mut replay = Replay::at_once(clip(), at(50));
    assert_eq!(replay.poll(at(49)), None);
    let due = replay.poll(at(50)).expect("a picture");
    assert_eq!((due.number, due.late), (0, Duration::ZERO));
    frames(&mut replay, 50);
    assert_eq!(replay.next_at(), at(150));
    // The thread is 230 ms late: two pictures are missing.
    let due = replay.poll(at(380)).expect("a picture");
    assert_eq!((due.number, due.late), (1, Duration::from_millis(230)));
    frames(&mut replay, 380);
    assert_eq!((replay.skipped(), replay.next_at()), (2, at(450)));
    assert_eq!(replay.sent_at(), [at(50), at(380)]);
}

#[test]
fn the_target_rate_chooses_the_versions() {
    let mut replay = Replay::at_once(clip(), at(0));
    let mut at_rate = |kbps, ms| {
        replay.set_target(Rate::from_kbps(kbps), false);
        frames(&mut replay, ms)
    };
    assert_eq!(at_rate(1_000, 0), [(0, 0, 1), (1, 0, 1)]);
    // 700 - 200 leaves 500.
    assert_eq!(at_rate(700, 100), [(0, 1, 1), (1, 1, 0)]);
    assert_eq!(at_rate(300, 200), [(0, 2, 1)]);
    // 200 + 400 is enough to stay, but 480 of its own is required to resume, with a
    // keyframe.
    assert_eq!(at_rate(600, 300), [(0, 3, 1)]);
    assert_eq!(at_rate(690, 400), [(0, 4, 1), (1, 0, 0)]);
    assert_eq!(at_rate(600, 500), [(0, 5, 1), (1, 1, 0)]);
}

#[test]
fn below_the_lowest_version_there_are_fewer_pictures() {
    let mut replay = Replay::at_once(clip(), at(0));
    // A third of 100 kbit/s: sending every fourth picture stays below it.
    replay.set_target(Rate::from_kbps(33), false);
    let sent: Vec<usize> = (0..8).map(|i| frames(&mut replay, i * 100).len()).collect();
    assert_eq!(sent, [1, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!((replay.skipped(), replay.sent_at().len()), (6, 2));
}

#[test]
fn a_requested_keyframe_and_a_watched_encoding_begin_the_clip_again() {
    let mut replay = Replay::at_once(clip(), at(0));
    replay.set_target(Rate::from_mbps(1), false);
    frames(&mut replay, 0);
    replay.request_keyframe(1);
    assert_eq!(frames(&mut replay, 100), [(0, 1, 1), (1, 0, 1)]);
    replay.set_wanted(&[true, false]);
    assert_eq!(frames(&mut replay, 200), [(0, 2, 1)]);
    replay.set_wanted(&[true, true]);
    assert_eq!(frames(&mut replay, 300), [(0, 3, 1), (1, 0, 1)]);
    // Nobody watches anything, so no picture has a number.
    replay.set_wanted(&[false, false]);
    assert_eq!(frames(&mut replay, 400), []);
    assert_eq!((replay.skipped(), replay.sent_at().len()), (0, 4));
}
