//! Tests the real encoders with a budget for each picture. `examples/frame_budget`
//! measures more contents, sizes and rates.

use weft_experiment::ModelSetup;
use weft_media::clip::{Clip, ClipConfig};
use weft_media::metrics::psnr;
use weft_media::{EncoderConfig, FrameRequest, Keyframe, Picture, VideoDecoder, VideoEncoder};
use weft_sim::encoder::{self, ModelEncoder};
use weft_units::{Bytes, Codec, Duration, Instant, Rate, Rng};

const FPS: u32 = 30;
const SIZE: (usize, usize) = (640, 360);
const RATE: Rate = Rate::from_kbps(600);
/// Bytes of a picture at the rate: 2500.
const SHARE: f64 = 600_000.0 / 8.0 / 30.0;
/// Number of the picture before which the encoder finds its quantizer.
const SETTLED: u32 = 45;

fn clip((width, height): (usize, usize)) -> Clip {
    Clip::new(ClipConfig {
        width,
        height,
        fps: FPS,
        seed: 0,
    })
}

/// A talking person.
fn talk(count: u64) -> Vec<Picture> {
    let mut clip = clip(SIZE);
    let picture = |n| clip.picture(n, n * 1000 / u64::from(FPS));
    (0..count).map(picture).collect()
}

/// A panning camera: a window that moves over a larger picture.
fn pan(count: usize) -> Vec<Picture> {
    let (width, height) = SIZE;
    let wide = clip((2 * width, 2 * height)).picture(0, 0);
    let window = |n: usize| {
        let (left, top) = ((n * 6 % width) & !1, (n * 2 % height) & !1);
        let cut = |plane: &[u8], stride: usize, at: (usize, usize), size: (usize, usize)| {
            let rows = plane.chunks_exact(stride).skip(at.1).take(size.1);
            rows.flat_map(|row| &row[at.0..at.0 + size.0])
                .copied()
                .collect()
        };
        let (half_at, half) = ((left / 2, top / 2), (width / 2, height / 2));
        Picture {
            width,
            height,
            y: cut(&wide.y, wide.width, (left, top), SIZE),
            u: cut(&wide.u, wide.chroma_width(), half_at, half),
            v: cut(&wide.v, wide.chroma_width(), half_at, half),
        }
    };
    (0..count).map(window).collect()
}

/// Size and PSNR of each picture, `None` for dropped ones.
type Course = Vec<Option<(f64, f64)>>;

/// Encodes the pictures; `request` returns whether each is a keyframe, and its budget in
/// shares.
fn course(
    codec: Codec,
    pictures: &[Picture],
    request: impl Fn(u32) -> (Keyframe, Option<f64>),
) -> Course {
    let (width, height) = SIZE;
    let config = EncoderConfig {
        width,
        height,
        fps: FPS,
        rate: RATE,
        temporal_layers: 1,
    };
    let mut encoder = VideoEncoder::new(codec, config).unwrap();
    let mut decoder = VideoDecoder::new(codec).unwrap();
    let encode = |(n, picture): (u32, &Picture)| {
        let (keyframe, shares) = request(n);
        let budget = shares.map(|shares| Bytes((shares * SHARE) as u64));
        let request = FrameRequest { keyframe, budget };
        let frame = encoder.encode(picture, n * 3000, request).unwrap()?;
        assert!(keyframe == Keyframe::Auto || frame.keyframe);
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        Some((frame.data.len() as f64, psnr(picture, &decoded)))
    };
    (0..).zip(pictures).map(encode).collect()
}

/// Runs the simulator's model, whose content corresponds to [`talk`].
fn model_course(
    codec: Codec,
    count: u32,
    request: impl Fn(u32) -> (Keyframe, Option<f64>),
) -> Course {
    let setup = ModelSetup::new(codec, SIZE.0 as u32, SIZE.1 as u32, RATE);
    let mut encoder = ModelEncoder::new(setup, Rng::new(1)).unwrap();
    let encode = |n: u32| {
        let (keyframe, shares) = request(n);
        let keyframe = match keyframe {
            Keyframe::Force => encoder::Keyframe::Force,
            Keyframe::Auto => encoder::Keyframe::Auto,
        };
        let budget = shares.map(|shares| Bytes((shares * SHARE) as u64));
        let request = encoder::FrameRequest { keyframe, budget };
        let nanos = u64::from(n) * 1_000_000_000 / u64::from(FPS);
        let frame = encoder.encode(Instant::ZERO + Duration::from_nanos(nanos), request)?;
        Some((frame.size.0 as f64, frame.psnr_db))
    };
    (0..count).map(encode).collect()
}

/// Ten pictures of each second have a half, a quarter and so on of a share.
fn falls(n: u32) -> Option<f64> {
    const SHARES: [f64; 3] = [0.5, 0.25, 0.35];
    let in_fall = n > SETTLED && (15..25).contains(&(n % 30));
    in_fall.then(|| SHARES[n as usize / 30 % 3])
}

/// Returns the share of the pictures with a budget that have at most 1.1 times that size.
fn hits(course: &Course, budget: impl Fn(u32) -> Option<f64>) -> f64 {
    let sizes = (0..).zip(course).filter_map(|(n, coded)| {
        let (size, _) = (*coded)?;
        Some(size / (budget(n)? * SHARE))
    });
    let sizes: Vec<f64> = sizes.collect();
    assert!(sizes.len() > 8, "only {} pictures", sizes.len());
    sizes.iter().filter(|size| **size <= 1.1).count() as f64 / sizes.len() as f64
}

fn mean_psnr(course: &Course) -> f64 {
    let coded: Vec<f64> = course.iter().flatten().map(|(_, psnr)| *psnr).collect();
    coded.iter().sum::<f64>() / coded.len() as f64
}

#[test]
fn a_fall_is_followed_within_the_picture() {
    for (codec, pictures, least) in [
        (Codec::Vp8, talk(240), 0.95),
        (Codec::Vp8, pan(240), 0.95),
        (Codec::H264, talk(240), 0.95),
        (Codec::H264, pan(240), 0.85),
    ] {
        let told = course(codec, &pictures, |n| (Keyframe::Auto, falls(n)));
        let untold = course(codec, &pictures, |_| (Keyframe::Auto, None));
        let (with, without) = (hits(&told, falls), hits(&untold, falls));
        assert!(with >= least, "{codec:?}: {with} of the pictures fit");
        assert!(without < 0.3, "{codec:?}: {without} fit without a budget");
        // A third of the pictures have a third of the size, and the others compensate.
        let lost = mean_psnr(&untold) - mean_psnr(&told);
        assert!((-0.5..2.5).contains(&lost), "{codec:?}: {lost} dB lost");
    }
}

#[test]
fn keyframes_fit() {
    let pictures = talk(250);
    let budget = |n: u32| (n > 0 && n % 25 == 20).then(|| f64::from(2 + n / 25 % 3));
    let ask = |with: bool| {
        move |n| match budget(n) {
            Some(shares) => (Keyframe::Force, with.then_some(shares)),
            None => (Keyframe::Auto, None),
        }
    };
    for codec in [Codec::Vp8, Codec::H264] {
        let told = course(codec, &pictures, ask(true));
        let untold = course(codec, &pictures, ask(false));
        let (with, without) = (hits(&told, budget), hits(&untold, budget));
        assert!(with >= 0.95, "{codec:?}: {with} of the keyframes fit");
        assert!(without < 0.6, "{codec:?}: {without} fit without a budget");
        let lost = mean_psnr(&untold) - mean_psnr(&told);
        assert!((-0.2..1.5).contains(&lost), "{codec:?}: {lost} dB lost");
    }
}

#[test]
fn a_budget_with_room_changes_next_to_nothing() {
    let pictures = talk(120);
    for codec in [Codec::Vp8, Codec::H264] {
        let roomy = course(codec, &pictures, |_| (Keyframe::Auto, Some(20.0)));
        let untold = course(codec, &pictures, |_| (Keyframe::Auto, None));
        let bytes = |course: &Course| course.iter().flatten().map(|(size, _)| size).sum::<f64>();
        let ratio = bytes(&roomy) / bytes(&untold);
        assert!((0.98..1.02).contains(&ratio), "{codec:?}: {ratio}");
        let lost = mean_psnr(&untold) - mean_psnr(&roomy);
        assert!((-0.15..0.15).contains(&lost), "{codec:?}: {lost} dB lost");
    }
}

/// Returns the mean size in budgets and the mean PSNR of the pictures with a budget.
fn means(course: &Course, budget: impl Fn(u32) -> Option<f64>) -> (f64, f64) {
    let seen = (0..).zip(course).filter_map(|(n, coded)| {
        let (size, psnr) = (*coded)?;
        Some((size / (budget(n)? * SHARE), psnr))
    });
    let seen: Vec<(f64, f64)> = seen.collect();
    let count = seen.len() as f64;
    let (sizes, psnrs): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
    let mean = |values: Vec<f64>| values.into_iter().sum::<f64>() / count;
    (mean(sizes), mean(psnrs))
}

#[test]
fn the_simulators_model_does_the_same() {
    let pictures = talk(200);
    let keyframe = |n: u32| (n > 0 && n % 25 == 20).then(|| f64::from(2 + n / 25 % 3));
    for codec in [Codec::Vp8, Codec::H264] {
        let ask = |n| (Keyframe::Auto, falls(n));
        let (real, model) = (course(codec, &pictures, ask), model_course(codec, 200, ask));
        let (with, modelled) = (hits(&real, falls), hits(&model, falls));
        assert!((with - modelled).abs() < 0.06, "{with}, model {modelled}");
        compare(codec, means(&real, falls), means(&model, falls));
        let ask = |n| match keyframe(n) {
            Some(shares) => (Keyframe::Force, Some(shares)),
            None => (Keyframe::Auto, None),
        };
        let (real, model) = (course(codec, &pictures, ask), model_course(codec, 200, ask));
        compare(codec, means(&real, keyframe), means(&model, keyframe));
    }
}

fn compare(codec: Codec, real: (f64, f64), model: (f64, f64)) {
    let (size, psnr) = (model.0 - real.0, model.1 - real.1);
    assert!(size.abs() < 0.15, "{codec:?}: {real:?}, model {model:?}");
    assert!(psnr.abs() < 1.5, "{codec:?}: {real:?}, model {model:?}");
}

#[test]
fn frames_that_cannot_fit_become_as_small_as_possible() {
    let pictures = talk(60);
    for codec in [Codec::Vp8, Codec::H264] {
        let starved = course(codec, &pictures, |_| (Keyframe::Auto, Some(0.0)));
        let (key, _) = starved[0].unwrap();
        assert!((1500.0..6000.0).contains(&key), "{codec:?}: {key} bytes");
        let others: Vec<f64> = starved[1..]
            .iter()
            .flatten()
            .map(|(size, _)| *size)
            .collect();
        assert_eq!(others.len(), 59, "{codec:?}: none is dropped");
        let largest = others.iter().copied().fold(0.0, f64::max);
        assert!(largest < 1200.0, "{codec:?}: {largest} bytes");
    }
}
