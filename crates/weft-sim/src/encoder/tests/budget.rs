//! Pictures with a budget, as `weft-media`'s encoders handle it.

use super::*;
use crate::encoder::FrameRequest;
use weft_units::{Bytes, Codec};

/// Bytes of a picture at 600 kbps: 2500.
const SHARE: f64 = 600_000.0 / 8.0 / 30.0;

fn at(number: u64) -> Instant {
    Instant::ZERO + Duration::from_nanos(number * 1_000_000_000 / FPS)
}

/// Encodes `count` pictures at 360 lines and 600 kbps, with budgets in shares.
fn run(
    codec: Codec,
    seed: u64,
    count: u64,
    request: impl Fn(u64) -> (Keyframe, Option<f64>),
) -> Vec<Option<ModelFrame>> {
    let mut encoder = encoder(setup(codec, 360, 600), seed);
    let encode = |n| {
        let (keyframe, shares) = request(n);
        let budget = shares.map(|shares| Bytes((shares * SHARE) as u64));
        encoder.encode(at(n), FrameRequest { keyframe, budget })
    };
    (0..count).map(encode).collect()
}

/// Gives ten pictures from the 300th on a budget of this many shares.
fn fall(shares: f64) -> impl Fn(u64) -> (Keyframe, Option<f64>) {
    move |n| (Keyframe::Auto, (300..310).contains(&n).then_some(shares))
}

/// Returns their sizes in budgets, over ten seeds, and the loss of PSNR.
fn falls(codec: Codec, shares: f64) -> (Vec<f64>, f64) {
    let (mut sizes, mut lost) = (Vec::new(), Vec::new());
    for seed in 0..10 {
        let told = run(codec, seed, 310, fall(shares));
        let untold = run(codec, seed, 310, |_| (Keyframe::Auto, None));
        for (told, untold) in told[300..].iter().zip(&untold[300..]) {
            let (Some(told), Some(untold)) = (told, untold) else {
                continue;
            };
            sizes.push(told.size.0 as f64 / (shares * SHARE));
            lost.push(untold.psnr_db - told.psnr_db);
        }
    }
    (sizes, lost.iter().sum::<f64>() / lost.len() as f64)
}

fn fit(sizes: &[f64]) -> f64 {
    sizes.iter().filter(|size| **size <= 1.1).count() as f64 / sizes.len() as f64
}

#[test]
fn a_fall_is_followed_within_the_picture() {
    for codec in [Codec::Vp8, Codec::H264] {
        for shares in [0.5, 0.25] {
            let (sizes, lost) = falls(codec, shares);
            assert!(
                sizes.len() > 90 && fit(&sizes) >= 0.95,
                "{codec:?} {shares}"
            );
            let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
            assert!((0.4..0.95).contains(&mean), "{codec:?} {shares}: {mean}");
            assert!((0.5..5.0).contains(&lost), "{codec:?} {shares}: {lost} dB");
        }
    }
}

#[test]
fn keyframes_fit() {
    for codec in [Codec::Vp8, Codec::H264] {
        for shares in [2.0, 3.0, 4.0] {
            let frames = run(codec, 1, 200, |n| match n % 50 {
                40 => (Keyframe::Force, Some(shares)),
                _ => (Keyframe::Auto, None),
            });
            let forced = frames.iter().skip(40).step_by(50).flatten();
            let sizes: Vec<f64> = forced
                .map(|frame| {
                    assert!(frame.keyframe);
                    frame.size.0 as f64 / (shares * SHARE)
                })
                .collect();
            assert_eq!((sizes.len(), fit(&sizes)), (4, 1.0), "{codec:?}: {sizes:?}");
        }
    }
}

/// The coarsest quantizer gives the smallest possible size.
#[test]
fn frames_that_cannot_fit_become_as_small_as_possible() {
    for codec in [Codec::Vp8, Codec::H264] {
        let coarsest = codec.coarsest_quantizer().unwrap();
        let frames = run(codec, 1, 60, |_| (Keyframe::Auto, Some(0.0)));
        let frames: Vec<ModelFrame> = frames.into_iter().flatten().collect();
        assert_eq!(frames.len(), 60, "{codec:?}: none is dropped");
        assert!(frames.iter().all(|frame| frame.size.0 > 10), "{codec:?}");
        // Three attempts do not reach it at once.
        let settled = &frames[10..];
        let same = settled.iter().all(|frame| frame.quantizer == coarsest);
        assert!(same, "{codec:?}");
    }
}

#[test]
fn a_budget_with_room_changes_nothing() {
    for codec in [Codec::Vp8, Codec::H264] {
        let roomy = run(codec, 1, 300, |_| (Keyframe::Auto, Some(50.0)));
        let untold = run(codec, 1, 300, |_| (Keyframe::Auto, None));
        assert_eq!(roomy, untold, "{codec:?}");
    }
}
