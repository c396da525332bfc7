//! Contents of the pictures.

use weft_media::Picture;
use weft_media::clip::{Clip, ClipConfig};
use weft_units::Rng;

use crate::FPS;

/// Pictures between two cuts.
const SCENE: usize = 45;
/// Noise amplitude of luma.
const NOISE: u64 = 8;

/// Name and pictures of a content.
pub type Content = (&'static str, Vec<Picture>);

/// Returns `count` pictures of each content, with this height.
pub fn contents(height: usize, count: usize) -> Vec<Content> {
    let talk = talk(height, count, 0);
    let still = vec![talk[0].clone(); count];
    let pan = pan(height, count);
    let noise = noise(&talk);
    let other = self::talk(height, count, 7);
    let cut = |n: usize| {
        if (n / SCENE).is_multiple_of(2) {
            &talk[n]
        } else {
            &other[n]
        }
    };
    let cuts = (0..count).map(|n| cut(n).clone()).collect();
    vec![
        ("talk", talk.clone()),
        ("still", still),
        ("pan", pan),
        ("noise", noise),
        ("cuts", cuts),
    ]
}

fn clip(height: usize, seed: u64) -> Clip {
    Clip::new(ClipConfig {
        width: height * 16 / 9,
        height,
        fps: FPS,
        seed,
    })
}

/// The built-in clip.
fn talk(height: usize, count: usize, seed: u64) -> Vec<Picture> {
    let mut clip = clip(height, seed);
    let picture = |n| clip.picture(n, n * 1000 / u64::from(FPS));
    (0..count as u64).map(picture).collect()
}

/// A window that moves over one picture, by 6 samples per picture.
fn pan(height: usize, count: usize) -> Vec<Picture> {
    let wide = clip(2 * height, 3).picture(0, 0);
    let (width, chroma) = (height * 16 / 9, wide.chroma_width());
    let cut = |plane: &[u8], stride: usize, (left, top): (usize, usize), size: (usize, usize)| {
        let rows = plane.chunks_exact(stride).skip(top).take(size.1);
        rows.flat_map(|row| &row[left..left + size.0])
            .copied()
            .collect()
    };
    let window = |n: usize| {
        let (left, top) = ((n * 6 % width) & !1, (n * 2 % height) & !1);
        let (half, at) = ((width / 2, height / 2), (left / 2, top / 2));
        Picture {
            width,
            height,
            y: cut(&wide.y, wide.width, (left, top), (width, height)),
            u: cut(&wide.u, chroma, at, half),
            v: cut(&wide.v, chroma, at, half),
        }
    };
    (0..count).map(window).collect()
}

/// Adds the noise of a bad camera in the dark.
fn noise(pictures: &[Picture]) -> Vec<Picture> {
    let mut rng = Rng::new(1);
    let mut noisy = |picture: &Picture| {
        let mut picture = picture.clone();
        for sample in &mut picture.y {
            let noise = (rng.unit() * (2 * NOISE + 1) as f64) as i32 - NOISE as i32;
            *sample = (i32::from(*sample) + noise).clamp(16, 235) as u8;
        }
        picture
    };
    pictures.iter().map(&mut noisy).collect()
}
