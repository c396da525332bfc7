use proptest::prelude::*;

use super::Scaler;
use crate::Picture;
use crate::clip::{Clip, ClipConfig};
use crate::metrics::psnr;

fn picture(width: usize, height: usize, luma: impl Fn(usize, usize) -> u8) -> Picture {
    let mut picture = Picture::new(width, height);
    for y in 0..height {
        for x in 0..width {
            picture.y[y * width + x] = luma(x, y);
        }
    }
    picture
}

#[test]
fn a_sample_is_the_mean_of_what_it_covers() {
    let half = Scaler::new((4, 4), (2, 2)).scale(&picture(4, 4, |x, y| (x * 10 + y * 40) as u8));
    // Upper left: 0, 10, 40, 50; upper right 20, 30, 60, 70.
    assert_eq!(half.y, [25, 45, 105, 125]);
    // Four columns to three: 3:1, 2:2, 1:3 of 0, 40, 80, 120.
    let part = Scaler::new((4, 1), (3, 1)).scale(&picture(4, 1, |x, _| (x * 40) as u8));
    assert_eq!(part.y, [10, 60, 110]);
}

#[test]
fn even_and_extreme_levels_stay_as_they_are() {
    for level in [0, 1, 128, 254, 255] {
        for to in [(960, 540), (640, 360), (480, 270), (320, 180), (1280, 720)] {
            let small = Scaler::new((1280, 720), to).scale(&picture(1280, 720, |_, _| level));
            assert_eq!((small.width, small.height), to);
            assert_eq!(small.y.len(), to.0 * to.1);
            assert!(small.y.iter().all(|y| *y == level));
            assert!(small.u.iter().chain(&small.v).all(|c| *c == 128));
            assert_eq!(small.u.len(), small.chroma_width() * small.chroma_height());
        }
    }
}

/// Compares half the size with another averaging method.
#[test]
fn the_clip_looks_as_it_does_by_floating_point() {
    let mut clip = Clip::new(ClipConfig {
        width: 640,
        height: 360,
        fps: 30,
        seed: 3,
    });
    let whole = clip.picture(7, 250);
    let fast = Scaler::new((640, 360), (320, 180)).scale(&whole);
    let slow = whole.scaled(320, 180);
    let likeness = psnr(&slow, &fast);
    // A triangle twice as wide blurs more than a box, so they differ slightly.
    assert!((30.0..60.0).contains(&likeness), "{likeness} dB");
}

proptest! {
    #[test]
    fn means_stay_within_what_they_are_of(
        (from, to) in (1_usize..40, 1_usize..40)
            .prop_flat_map(|from| (Just(from), (1..=from.0, 1..=from.1))),
        seed in any::<u8>(),
    ) {
        let source = picture(from.0, from.1, |x, y| (x * 7 + y * 13) as u8 ^ seed);
        let small = Scaler::new(from, to).scale(&source);
        prop_assert_eq!(small.y.len(), to.0 * to.1);
        let (low, high) = (source.y.iter().min(), source.y.iter().max());
        prop_assert!(small.y.iter().min() >= low && small.y.iter().max() <= high);
        let mean = |p: &Picture| p.y.iter().map(|s| f64::from(*s)).sum::<f64>() / p.y.len() as f64;
        // The area weights of all samples are equal, except for rounding of weights.
        let off = (mean(&source) - mean(&small)).abs();
        prop_assert!(off < 4.0, "{} became {}", mean(&source), mean(&small));
    }
}
