//! Steps of the rate, keyframes, and rates that are too low.

use super::*;
use weft_units::Codec;

/// Encodes ten seconds at one rate, then three at another; returns rates relative to the
/// second one, by half-seconds after the step, as means over ten seeds.
fn step(codec: Codec, from: u64, to: u64) -> Vec<f64> {
    let halves = |seed| {
        let mut encoder = encoder(setup(codec, 720, from), seed);
        encode(&mut encoder, 0, 300);
        encoder.set_rate(Rate::from_kbps(to));
        let after = encode(&mut encoder, 300, 390);
        let halves = after.chunks(15).map(|half| kbps(half) / to as f64);
        halves.collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = (0..10).map(halves).collect();
    let mean = |half| all.iter().map(|halves| halves[half]).sum::<f64>() / 10.0;
    (0..6).map(mean).collect()
}

/// The bucket held 0.6 s of 2.5 Mbps. At 500 kbps it has room for 1.0 s and a target of
/// 0.6 s: 0.4 s are spent at once, so the first half-second gets 0.9 s of the rate, 1.8
/// times the target.
#[test]
fn vp8_spends_what_was_saved_up_after_a_step_down() {
    let halves = step(Codec::Vp8, 2500, 500);
    assert!((1.7..2.1).contains(&halves[0]), "{halves:?}");
    assert!(
        halves[1..].iter().all(|h| (0.9..1.1).contains(h)),
        "{halves:?}"
    );
}

/// The bucket holds 0.6 s of 600 kbps, which is 0.2 s of 1.8 Mbps: a third of its target
/// level, so the encoder saves before it spends. libvpx was measured at 0.27, 0.74, 0.91
/// and 1.02 of the target.
#[test]
fn vp8_saves_first_after_a_step_up() {
    let halves = step(Codec::Vp8, 600, 1800);
    for (half, measured) in halves.iter().zip([0.27, 0.74, 0.91, 1.02]) {
        assert!((half - measured).abs() < 0.1, "{halves:?}");
    }
}

#[test]
fn h264_follows_a_step_at_once() {
    for (from, to) in [(2500, 500), (500, 1500)] {
        let halves = step(Codec::H264, from, to);
        assert!(
            halves.iter().all(|h| (0.93..1.07).contains(h)),
            "{halves:?}"
        );
    }
}

/// Measured lower limit: libvpx drops one picture in eight at 360 lines and 80 kbps, none
/// at 130.
#[test]
fn below_its_floor_vp8_drops_pictures_at_the_coarsest_quantizer() {
    let settled = |rate| {
        let mut encoder = encoder(setup(Codec::Vp8, 360, rate), 2);
        encode(&mut encoder, 0, 1200).split_off(150)
    };
    let dropped = |frames: &[Option<ModelFrame>]| {
        frames.iter().filter(|f| f.is_none()).count() as f64 / 1050.0
    };
    let (below, above) = (settled(80), settled(130));
    assert!(
        (0.06..0.20).contains(&dropped(&below)),
        "{}",
        dropped(&below)
    );
    assert_eq!(dropped(&above), 0.0);
    assert!(mean(&below, |f| f.quantizer.into()) > 105.0);
    assert!(
        (72.0..84.0).contains(&kbps(&below)),
        "{} kbps",
        kbps(&below)
    );
}

/// Both encoders aim at more than four shares. VP8's was measured at 2.3 because there
/// were no recent keyframes, H.264's at 4.2; in VP8, the frame after a coarse keyframe is
/// large.
#[test]
fn a_forced_keyframe_costs_several_frames() {
    for (codec, expected) in [(Codec::Vp8, 1.9..2.7), (Codec::H264, 3.5..4.6)] {
        let mut encoder = encoder(setup(codec, 360, 400), 4);
        encode(&mut encoder, 0, 210);
        let now = Instant::ZERO + Duration::from_secs(7);
        let keyframe = encoder.encode(now, Keyframe::Force).unwrap();
        assert!(keyframe.keyframe && keyframe.needs == [None; 2]);
        let share = 400_000.0 / 8.0 / FPS as f64;
        let shares = keyframe.size.0 as f64 / share;
        assert!(expected.contains(&shares), "{codec}: {shares} shares");
        let before = encode(&mut encoder, 211, 300);
        let paid = kbps(&before) / 400.0;
        assert!((0.85..1.05).contains(&paid), "{codec}: {paid} after it");
    }
}

/// At 360 lines and 80 kbps the first keyframe is measured at 16.5 shares:
/// every second picture is skipped until the debt is below four.
#[test]
fn h264_skips_every_second_picture_in_debt() {
    let mut encoder = encoder(setup(Codec::H264, 360, 80), 1);
    let frames = encode(&mut encoder, 0, 60);
    let skipped: Vec<usize> = (0..60).filter(|n| frames[*n].is_none()).collect();
    assert!(skipped.windows(2).all(|pair| pair[1] - pair[0] == 2));
    assert!((5..14).contains(&skipped.len()), "{skipped:?}");
    assert_eq!(skipped[0], 1);
}

/// The layers get 40, 20 and 40 % of the rate for a quarter, a quarter and half of the
/// pictures.
#[test]
fn temporal_layers_have_their_shares_of_the_rate() {
    let setup = ModelSetup {
        temporal_layers: 3,
        ..setup(Codec::Vp8, 720, 1200)
    };
    let frames = encode(&mut encoder(setup, 1), 0, 1200).split_off(200);
    let layer = |layer: u8| {
        let own = frames
            .iter()
            .flatten()
            .filter(|f| f.temporal_layer == Some(layer));
        own.map(|f| f.size.0 as f64).sum::<f64>()
    };
    let total: f64 = (0..3).map(layer).sum();
    for (number, share) in [(0, 0.4), (1, 0.2), (2, 0.4)] {
        let found = layer(number) / total;
        assert!((found - share).abs() < 0.03, "layer {number}: {found}");
    }
}
