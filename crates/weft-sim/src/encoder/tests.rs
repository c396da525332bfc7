use proptest::prelude::*;
use weft_experiment::{ModelError, ModelSetup};
use weft_units::{Codec, Duration, Instant, Rate, Rng};

use super::{Keyframe, ModelEncoder, ModelFrame};

mod budget;
mod rate;

const FPS: u64 = 30;

fn setup(codec: Codec, height: u32, kbps: u64) -> ModelSetup {
    ModelSetup::new(codec, height * 16 / 9, height, Rate::from_kbps(kbps))
}

fn encoder(setup: ModelSetup, seed: u64) -> ModelEncoder {
    ModelEncoder::new(setup, Rng::new(seed)).unwrap()
}

/// Encodes pictures `from..to` at 30 per second.
fn encode(encoder: &mut ModelEncoder, from: u64, to: u64) -> Vec<Option<ModelFrame>> {
    let at = |n| Instant::ZERO + Duration::from_nanos(n * 1_000_000_000 / FPS);
    (from..to)
        .map(|n| encoder.encode(at(n), Keyframe::Auto))
        .collect()
}

fn kbps(frames: &[Option<ModelFrame>]) -> f64 {
    let bytes: u64 = frames.iter().flatten().map(|f| f.size.0).sum();
    bytes as f64 * 8.0 * FPS as f64 / frames.len() as f64 / 1000.0
}

fn mean(frames: &[Option<ModelFrame>], value: fn(&ModelFrame) -> f64) -> f64 {
    let coded: Vec<f64> = frames.iter().flatten().map(value).collect();
    coded.iter().sum::<f64>() / coded.len() as f64
}

/// AC steps of RFC 6386 section 14.1 where their distance changes, and between.
#[test]
fn quantizer_steps_are_those_of_vp8() {
    let steps = [
        (0, 4),
        (2, 6),
        (54, 58),
        (55, 60),
        (83, 116),
        (84, 119),
        (102, 173),
        (106, 189),
        (116, 229),
    ];
    for (index, step) in steps {
        let found = weft_publish::fitting::vp8::log2_step(f64::from(index)).exp2();
        assert!(
            (found - f64::from(step)).abs() < 1e-9,
            "index {index}: {found}, not {step}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    for codec in [Codec::Vp8, Codec::H264] {
        let run = |seed| encode(&mut encoder(setup(codec, 720, 1200), seed), 0, 300);
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }
}

#[test]
fn the_target_rate_is_met_without_drops() {
    for (codec, height, rate) in [
        (Codec::Vp8, 720, 1200),
        (Codec::Vp8, 360, 400),
        (Codec::H264, 720, 1200),
        (Codec::H264, 360, 400),
    ] {
        let mut encoder = encoder(setup(codec, height, rate), 1);
        let frames = encode(&mut encoder, 0, 600);
        assert!(frames[0].is_some_and(|f| f.keyframe));
        // OpenH264 may skip one picture to pay for the keyframe.
        assert!(frames[30..].iter().all(|f| f.is_some_and(|f| !f.keyframe)));
        let settled = kbps(&frames[150..]) / rate as f64;
        assert!(
            (0.95..1.05).contains(&settled),
            "{codec} {height}: {settled}"
        );
    }
}

#[test]
fn a_lower_rate_or_harder_content_costs_quality() {
    for codec in [Codec::Vp8, Codec::H264] {
        let quality = |rate, complexity| {
            let setup = ModelSetup {
                complexity,
                ..setup(codec, 720, rate)
            };
            let frames = encode(&mut encoder(setup, 1), 0, 300);
            let frames = &frames[100..];
            (
                mean(frames, |f| f.psnr_db),
                mean(frames, |f| f.ssim),
                mean(frames, |f| f.quantizer.into()),
            )
        };
        let standard = quality(1000, 1.0);
        for worse in [quality(600, 1.0), quality(1000, 2.0)] {
            assert!(
                worse.0 < standard.0 - 0.5 && worse.1 < standard.1 && worse.2 > standard.2 + 3.0
            );
        }
        // Twice the rate at twice the bits per quantizer gives the same quality.
        let scaled = quality(2000, 2.0);
        assert!(
            (scaled.0 - standard.0).abs() < 0.3,
            "{} dB, {} dB",
            scaled.0,
            standard.0
        );
    }
}

/// Halving the pictures doubles their bits.
#[test]
fn the_rate_holds_at_another_frame_rate() {
    let mut encoder = encoder(setup(Codec::Vp8, 360, 400), 3);
    let at = |n: u64| Instant::ZERO + Duration::from_nanos(n * 1_000_000_000 / 15);
    let frames: Vec<_> = (0..300)
        .map(|n| encoder.encode(at(n), Keyframe::Auto))
        .collect();
    let half = kbps(&frames[75..]) / 2.0;
    assert!((380.0..420.0).contains(&half), "{half} kbps for 400");
}

#[test]
fn wrong_setups_are_reported() {
    let good = setup(Codec::Vp8, 360, 400);
    let error = |setup: ModelSetup| ModelEncoder::new(setup, Rng::new(0)).unwrap_err();
    assert_eq!(
        error(ModelSetup { width: 8, ..good }),
        ModelError::Size {
            width: 8,
            height: 360
        }
    );
    assert_eq!(
        error(ModelSetup { fps: 0.0, ..good }),
        ModelError::FrameRate(0.0)
    );
    assert!(matches!(
        error(ModelSetup {
            complexity: f64::NAN,
            ..good
        }),
        ModelError::Complexity(_)
    ));
    assert_eq!(
        error(setup(Codec::Opus, 360, 400)).to_string(),
        "opus has no model of an encoder: vp8 and h264 have one"
    );
    let layers = ModelSetup {
        temporal_layers: 3,
        ..setup(Codec::H264, 360, 400)
    };
    assert_eq!(
        error(layers).to_string(),
        "3 temporal layers of h264: VP8 has 1 or 3, H.264 has 1"
    );
}

proptest! {
    /// For any requests, frames have a size and a quality, requested keyframes appear,
    /// and over time the encoder sends no more than the rate and the buffer allow.
    #[test]
    fn any_course_of_rates_gives_sane_frames(
        vp8 in any::<bool>(),
        seed in any::<u64>(),
        complexity in 0.01..100.0,
        rates in prop::collection::vec((0u64..20_000, any::<bool>(), 1u64..5_000_000_000), 1..200),
    ) {
        let codec = if vp8 { Codec::Vp8 } else { Codec::H264 };
        let setup = ModelSetup { complexity, ..setup(codec, 360, 500) };
        let mut encoder = encoder(setup, seed);
        let mut now = Instant::ZERO;
        let mut number = 0;
        for (index, (kbps, force, pause)) in rates.into_iter().enumerate() {
            encoder.set_rate(Rate::from_kbps(kbps));
            let keyframe = if force { Keyframe::Force } else { Keyframe::Auto };
            let frame = encoder.encode(now, keyframe);
            now += Duration::from_nanos(pause);
            let Some(frame) = frame else {
                prop_assert!(!force && index > 0);
                continue;
            };
            prop_assert_eq!(frame.number, number);
            number += 1;
            prop_assert_eq!(frame.keyframe, force || index == 0);
            prop_assert!(frame.size.0 >= 1 && frame.size.0 < 100_000_000);
            prop_assert!((0.0..100.0).contains(&frame.psnr_db), "{} dB", frame.psnr_db);
            prop_assert!((0.0..=1.0).contains(&frame.ssim));
        }
    }
}
