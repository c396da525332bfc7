use weft_units::{Duration, Instant, Rng};

use super::{Freezes, PSNR_EQUAL, psnr, ssim};
use crate::Picture;

fn flat(level: u8) -> Picture {
    let mut picture = Picture::new(16, 16);
    picture.y.fill(level);
    picture
}

#[test]
fn psnr_of_a_constant_error_is_its_closed_form() {
    // mse = 5^2 = 25: 10 log10(65025 / 25) = 34.1514 dB.
    assert!((psnr(&flat(100), &flat(105)) - 34.1514).abs() < 1e-3);
    assert_eq!(psnr(&flat(100), &flat(100)), PSNR_EQUAL);
}

#[test]
fn ssim_of_flat_pictures_is_its_luminance_term() {
    // No variance: (2 * 100 * 110 + 6.5025) / (100^2 + 110^2 + 6.5025).
    let expected = (22_000.0 + 6.5025) / (22_100.0 + 6.5025);
    assert!((ssim(&flat(100), &flat(110)) - expected).abs() < 1e-9);
    assert!((ssim(&flat(100), &flat(100)) - 1.0).abs() < 1e-12);
}

#[test]
fn ssim_falls_with_noise_and_is_negative_for_an_inverted_picture() {
    let mut rng = Rng::new(1);
    let mut picture = Picture::new(64, 64);
    picture.y.iter_mut().for_each(|y| *y = rng.below(256) as u8);
    let disturbed = |by: u64, rng: &mut Rng| {
        let mut other = picture.clone();
        for y in &mut other.y {
            *y = y.saturating_add(rng.below(by) as u8);
        }
        other
    };
    let (little, much) = (disturbed(10, &mut rng), disturbed(120, &mut rng));
    let mut inverted = picture.clone();
    inverted.y.iter_mut().for_each(|y| *y = 255 - *y);
    let values = [&picture, &little, &much, &inverted].map(|p| ssim(&picture, p));
    assert!(
        values.windows(2).all(|pair| pair[0] > pair[1]),
        "{values:?}"
    );
    assert!(values[3] < -0.5, "{values:?}");
}

fn shown(intervals_ms: &[u64]) -> Freezes {
    let mut freezes = Freezes::new();
    let mut now = Instant::ZERO;
    freezes.on_picture(now);
    for ms in intervals_ms {
        now += Duration::from_millis(*ms);
        freezes.on_picture(now);
    }
    freezes
}

#[test]
fn a_freeze_is_an_interval_of_mean_plus_150_ms_at_high_frame_rates() {
    // Mean 40 ms: the bound is max(120, 190) = 190 ms.
    let mut intervals = [40; 31];
    intervals[30] = 189;
    assert_eq!(shown(&intervals).count(), 0);
    intervals[30] = 190;
    let freezes = shown(&intervals);
    assert_eq!(
        (freezes.count(), freezes.total()),
        (1, Duration::from_millis(190))
    );
}

#[test]
fn a_freeze_is_three_mean_intervals_at_low_frame_rates() {
    // Mean 100 ms: the bound is max(300, 250) = 300 ms.
    let mut intervals = [100; 31];
    intervals[30] = 299;
    assert_eq!(shown(&intervals).count(), 0);
    intervals[30] = 300;
    assert_eq!(shown(&intervals).count(), 1);
}

#[test]
fn a_standing_picture_is_frozen_before_the_next_one_comes() {
    let freezes = shown(&[40; 10]);
    let last = Instant::ZERO + Duration::from_millis(400);
    assert!(!freezes.is_frozen(last + Duration::from_millis(189)));
    assert!(freezes.is_frozen(last + Duration::from_millis(190)));
    assert_eq!(freezes.count(), 0);
}
