use weft_units::Rng;

use super::{PSNR_EQUAL, psnr, ssim};
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
