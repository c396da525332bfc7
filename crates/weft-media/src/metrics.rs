//! Quality of a picture, and smoothness of a sequence.

mod brisque;

use crate::Picture;

pub use brisque::{Brisque, BrisqueError};
pub use weft_units::Freezes;

#[cfg(test)]
mod tests;

/// Result of [`psnr`] for equal pictures, instead of infinity.
pub const PSNR_EQUAL: f64 = 99.0;

/// Returns the peak signal-to-noise ratio of luma in dB: `10 log10(255^2 / mse)` (ITU-T
/// J.340 without alignment). Panics if the sizes differ.
#[must_use]
pub fn psnr(reference: &Picture, picture: &Picture) -> f64 {
    same_size(reference, picture);
    let sum: u64 = reference
        .y
        .chunks(4096)
        .zip(picture.y.chunks(4096))
        .map(|(a, b)| {
            let square = |(a, b): (&u8, &u8)| u32::from(a.abs_diff(*b)) * u32::from(a.abs_diff(*b));
            u64::from(a.iter().zip(b).map(square).sum::<u32>())
        })
        .sum();
    if sum == 0 {
        return PSNR_EQUAL;
    }
    let mse = sum as f64 / reference.y.len() as f64;
    10.0 * (255.0 * 255.0 / mse).log10()
}

/// Returns the structural similarity of luma, 1 for equal pictures: Wang et al. 2004,
/// equation 13 with K1 = 0.01, K2 = 0.03, mean over windows of 8 x 8 at every fourth
/// sample without weights, as in x264 and FFmpeg.
///
/// Panics if the sizes differ or a side is shorter than 8.
#[must_use]
pub fn ssim(reference: &Picture, picture: &Picture) -> f64 {
    same_size(reference, picture);
    let (columns, rows) = (reference.width / 4, reference.height / 4);
    assert!(columns > 1 && rows > 1, "SSIM needs at least 8 x 8 samples");
    let mut above = vec![Sums::default(); columns];
    let mut current = above.clone();
    let mut total = 0.0;
    for row in 0..rows {
        std::mem::swap(&mut above, &mut current);
        block_sums(reference, picture, row * 4, &mut current);
        if row == 0 {
            continue;
        }
        for (a, b) in above.windows(2).zip(current.windows(2)) {
            total += similarity(&[a[0], a[1], b[0], b[1]]);
        }
    }
    total / ((columns - 1) * (rows - 1)) as f64
}

/// Sums over a block of samples x (reference) and y.
#[derive(Clone, Copy, Default)]
struct Sums {
    x: u32,
    y: u32,
    squares: u32,
    product: u32,
}

fn block_sums(reference: &Picture, picture: &Picture, top: usize, out: &mut [Sums]) {
    out.fill(Sums::default());
    for row in top..top + 4 {
        let range = row * reference.width..(row + 1) * reference.width;
        let (xs, ys) = (&reference.y[range.clone()], &picture.y[range]);
        for (sums, (xs, ys)) in out
            .iter_mut()
            .zip(xs.chunks_exact(4).zip(ys.chunks_exact(4)))
        {
            for (x, y) in xs.iter().zip(ys) {
                let (x, y) = (u32::from(*x), u32::from(*y));
                sums.x += x;
                sums.y += y;
                sums.squares += x * x + y * y;
                sums.product += x * y;
            }
        }
    }
}

fn similarity(blocks: &[Sums; 4]) -> f64 {
    const N: f64 = 64.0;
    // Both scaled to sums over N samples; variances are unbiased (N - 1).
    const C1: f64 = 0.01 * 0.01 * 255.0 * 255.0 * N * N;
    const C2: f64 = 0.03 * 0.03 * 255.0 * 255.0 * N * (N - 1.0);
    let sum = |get: fn(&Sums) -> u32| f64::from(blocks.iter().map(get).sum::<u32>());
    let (x, y) = (sum(|s| s.x), sum(|s| s.y));
    let variances = sum(|s| s.squares) * N - x * x - y * y;
    let covariance = sum(|s| s.product) * N - x * y;
    (2.0 * x * y + C1) * (2.0 * covariance + C2) / ((x * x + y * y + C1) * (variances + C2))
}

fn same_size(a: &Picture, b: &Picture) {
    assert_eq!(
        (a.width, a.height),
        (b.width, b.height),
        "pictures to compare need one size: scale one of them"
    );
}
