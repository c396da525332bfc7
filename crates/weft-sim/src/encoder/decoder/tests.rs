use weft_experiment::ModelSetup;
use weft_units::{Codec, Duration, Instant, Rate, Rng};

use super::{Decoded, ModelDecoder};
use crate::encoder::{Keyframe, ModelEncoder, ModelFrame};

/// Encodes frames at a generous rate, so that none is dropped, with a second keyframe.
fn frames(temporal_layers: u8, count: u64, second_keyframe: u64) -> Vec<ModelFrame> {
    let setup = ModelSetup {
        temporal_layers,
        ..ModelSetup::new(Codec::Vp8, 640, 360, Rate::from_kbps(800))
    };
    let mut encoder = ModelEncoder::new(setup, Rng::new(7)).unwrap();
    let frame = |n| {
        let keyframe = if n == second_keyframe {
            Keyframe::Force
        } else {
            Keyframe::Auto
        };
        let at = Instant::ZERO + Duration::from_millis(n * 1000 / 30);
        encoder.encode(at, keyframe).unwrap()
    };
    (0..count).map(frame).collect()
}

/// Returns the numbers of the frames that freeze if `lost` never arrive.
fn frozen(frames: &[ModelFrame], lost: &[u64]) -> Vec<u64> {
    let mut decoder = ModelDecoder::new();
    let arrived = frames.iter().filter(|f| !lost.contains(&f.number));
    let frozen = arrived.filter(|f| decoder.decode(f) == Decoded::Frozen);
    frozen.map(|f| f.number).collect()
}

#[test]
fn one_lost_frame_without_layers_freezes_until_the_keyframe() {
    let frames = frames(1, 20, 12);
    assert_eq!(frozen(&frames, &[]), [0_u64; 0]);
    assert_eq!(frozen(&frames, &[4]), (5..12).collect::<Vec<u64>>());
    // The keyframe is also lost: the freeze does not end.
    assert_eq!(
        frozen(&frames, &[4, 12]),
        [5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19]
    );
}

/// Layers of the frames: 0 2 1 2, starting at each keyframe.
#[test]
fn only_a_lost_base_frame_needs_a_keyframe_with_layers() {
    let frames = frames(3, 20, 12);
    // No frame refers to the highest layer.
    assert_eq!(frozen(&frames, &[1, 3, 5]), [0_u64; 0]);
    // The next frame of the highest layer refers to the middle one.
    assert_eq!(frozen(&frames, &[6]), [7]);
    assert_eq!(frozen(&frames, &[4]), (5..12).collect::<Vec<u64>>());
}

#[test]
fn a_keyframe_is_asked_for_only_when_nothing_else_helps() {
    let frames = frames(3, 12, 11);
    let mut decoder = ModelDecoder::new();
    assert!(decoder.awaits_keyframe());
    decoder.decode(&frames[0]);
    // Frame 2 of the middle layer is lost.
    assert_eq!(decoder.decode(&frames[3]), Decoded::Frozen);
    assert!(!decoder.awaits_keyframe());
    // Base frame 4 is lost.
    assert_eq!(decoder.decode(&frames[5]), Decoded::Frozen);
    assert!(decoder.awaits_keyframe());
    assert_eq!(decoder.decode(&frames[8]), Decoded::Frozen);
    assert_eq!(decoder.decode(&frames[11]), Decoded::Picture);
    assert!(!decoder.awaits_keyframe());
}
