use weft_units::Rate;

use super::{Vp8Decoder, Vp8Encoder};
use crate::clip::{Clip, ClipConfig};
use crate::metrics::psnr;
use crate::{EncodedFrame, EncoderConfig, Keyframe, Picture, VideoError};

const FPS: u32 = 30;

fn config(kbps: u64, temporal_layers: u8) -> EncoderConfig {
    EncoderConfig {
        width: 640,
        height: 360,
        fps: FPS,
        rate: Rate::from_kbps(kbps),
        temporal_layers,
    }
}

fn clip() -> Clip {
    Clip::new(ClipConfig {
        width: 640,
        height: 360,
        fps: FPS,
        seed: 0,
    })
}

fn pictures(count: u64) -> Vec<Picture> {
    let mut clip = clip();
    (0..count)
        .map(|n| clip.picture(n, n * 1000 / u64::from(FPS)))
        .collect()
}

/// Encodes the pictures, numbered from `first`.
fn encode(encoder: &mut Vp8Encoder, pictures: &[Picture], first: u32) -> Vec<EncodedFrame> {
    let encode = |(n, picture)| {
        let timestamp = (first + n as u32) * (90_000 / FPS);
        encoder.encode(picture, timestamp, Keyframe::Auto).unwrap()
    };
    pictures.iter().enumerate().filter_map(encode).collect()
}

/// Returns the rate of frames made from this many pictures.
fn kbps(frames: &[EncodedFrame], pictures: u32) -> f64 {
    let bytes: usize = frames.iter().map(|f| f.data.len()).sum();
    bytes as f64 * 8.0 * f64::from(FPS) / f64::from(pictures) / 1000.0
}

#[test]
fn decoded_pictures_resemble_what_was_encoded() {
    let pictures = pictures(60);
    let mut encoder = Vp8Encoder::new(config(600, 1)).unwrap();
    let frames = encode(&mut encoder, &pictures, 0);
    assert_eq!(frames.len(), 60);
    let mut decoder = Vp8Decoder::new().unwrap();
    for (n, (frame, picture)) in frames.iter().zip(&pictures).enumerate() {
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        let quality = psnr(picture, &decoded);
        assert!((33.0..48.0).contains(&quality), "picture {n}: {quality} dB");
    }
    let keyframes: Vec<bool> = frames.iter().map(|f| f.keyframe).collect();
    assert!(keyframes[0] && keyframes[1..].iter().all(|k| !k));
}

#[test]
fn a_new_rate_is_met_in_place_within_a_second() {
    let pictures = pictures(180);
    let mut encoder = Vp8Encoder::new(config(800, 1)).unwrap();
    let before = encode(&mut encoder, &pictures[..30], 0);
    let steady = encode(&mut encoder, &pictures[30..90], 30);
    encoder.set_rate(Rate::from_kbps(300)).unwrap();
    let change = encode(&mut encoder, &pictures[90..120], 90);
    let settled = encode(&mut encoder, &pictures[120..], 120);
    // Both over two seconds; a dropped picture counts as zero bytes.
    let (steady_kbps, settled_kbps) = (kbps(&steady, 60), kbps(&settled, 60));
    assert!(
        (720.0..880.0).contains(&steady_kbps),
        "{steady_kbps} kbps for 800"
    );
    // During this time the encoder spends the bits that its buffer held at the old rate.
    assert!(
        (270.0..360.0).contains(&settled_kbps),
        "{settled_kbps} kbps for 300"
    );
    let later = steady.iter().chain(&change).chain(&settled);
    assert!(before[0].keyframe && later.into_iter().all(|frame| !frame.keyframe));
}

#[test]
fn a_forced_keyframe_decodes_alone() {
    let pictures = pictures(12);
    let mut encoder = Vp8Encoder::new(config(600, 3)).unwrap();
    encode(&mut encoder, &pictures[..10], 0);
    let frame = encoder
        .encode(&pictures[10], 30_000, Keyframe::Force)
        .unwrap()
        .unwrap();
    assert!(frame.keyframe && !frame.non_reference && !frame.layer_sync);
    assert_eq!(frame.temporal_layer, Some(0));
    let decoded = Vp8Decoder::new()
        .unwrap()
        .decode(&frame.data)
        .unwrap()
        .unwrap();
    assert!(psnr(&pictures[10], &decoded) > 30.0);
}

/// Checks the layers' pattern, and that lower layers decode exactly without the upper
/// ones.
#[test]
fn lower_temporal_layers_decode_the_same_without_the_upper_ones() {
    let pictures = pictures(48);
    let mut encoder = Vp8Encoder::new(config(600, 3)).unwrap();
    let frames = encode(&mut encoder, &pictures, 0);
    let layers: Vec<u8> = frames.iter().map(|f| f.temporal_layer.unwrap()).collect();
    assert_eq!(layers[..8], [0, 2, 1, 2, 0, 2, 1, 2]);
    let decode = |highest: u8| -> Vec<(usize, Picture)> {
        let mut decoder = Vp8Decoder::new().unwrap();
        let kept = frames
            .iter()
            .enumerate()
            .filter(|(_, f)| f.temporal_layer <= Some(highest));
        kept.map(|(n, f)| (n, decoder.decode(&f.data).unwrap().unwrap()))
            .collect()
    };
    let (all, half, quarter) = (decode(2), decode(1), decode(0));
    assert_eq!((all.len(), half.len(), quarter.len()), (48, 24, 12));
    for (n, picture) in half.iter().chain(&quarter) {
        assert_eq!(*picture, all[*n].1, "picture {n} depends on a dropped one");
    }
}

#[test]
fn flags_tell_what_nothing_depends_on_and_where_layers_may_be_joined() {
    let pictures = pictures(16);
    let mut encoder = Vp8Encoder::new(config(600, 3)).unwrap();
    let frames = encode(&mut encoder, &pictures, 0);
    for (n, frame) in frames.iter().enumerate() {
        assert_eq!(
            frame.non_reference,
            frame.temporal_layer == Some(2),
            "picture {n}"
        );
        assert_eq!(frame.layer_sync, [1, 2].contains(&(n % 4)), "picture {n}");
    }
    // Joining layer 2 at its sync point needs only layer 0: picture 5 after 0 and 4.
    let mut whole = Vp8Decoder::new().unwrap();
    let expected: Vec<_> = frames
        .iter()
        .map(|f| whole.decode(&f.data).unwrap())
        .collect();
    let mut joining = Vp8Decoder::new().unwrap();
    let got = [0, 4, 5].map(|n| joining.decode(&frames[n].data).unwrap());
    assert_eq!(got[2], expected[5]);
}

#[test]
fn a_picture_of_another_size_restarts_with_a_keyframe() {
    let mut encoder = Vp8Encoder::new(config(600, 1)).unwrap();
    let mut decoder = Vp8Decoder::new().unwrap();
    let pictures = pictures(2);
    for (n, (width, height)) in [(640, 360), (1280, 720), (321, 181)]
        .into_iter()
        .enumerate()
    {
        let picture = pictures[0].scaled(width, height);
        let frame = encoder
            .encode(&picture, n as u32 * 3000, Keyframe::Auto)
            .unwrap()
            .unwrap();
        assert!(frame.keyframe);
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        assert_eq!((decoded.width, decoded.height), (width, height));
        assert!(psnr(&picture, &decoded) > 28.0);
    }
}

#[test]
fn timestamps_may_wrap() {
    let pictures = pictures(40);
    let mut encoder = Vp8Encoder::new(config(600, 1)).unwrap();
    let mut sizes = Vec::new();
    for (n, picture) in pictures.iter().enumerate() {
        let timestamp = (u32::MAX - 30_000).wrapping_add(n as u32 * 3000);
        let frame = encoder
            .encode(picture, timestamp, Keyframe::Auto)
            .unwrap()
            .unwrap();
        sizes.push(frame.data.len());
    }
    let mut steady = Vp8Encoder::new(config(600, 1)).unwrap();
    let expected: Vec<_> = encode(&mut steady, &pictures, 0)
        .iter()
        .map(|f| f.data.len())
        .collect();
    assert_eq!(sizes, expected);
}

#[test]
fn a_picture_beyond_the_bound_is_refused_before_it_takes_memory() {
    let mut encoder = Vp8Encoder::new(config(600, 1)).unwrap();
    let frame = encode(&mut encoder, &pictures(1), 0).remove(0).data;
    let mut decoder = Vp8Decoder::new().unwrap();
    let sized = |width: u16, height: u16| {
        let mut frame = frame.clone();
        frame[6..8].copy_from_slice(&width.to_le_bytes());
        frame[8..10].copy_from_slice(&height.to_le_bytes());
        frame
    };
    // The two bits above a dimension request upscaling and have no effect here.
    for (width, height) in [
        (16_383, 16_383),
        (0xffff, 0xffff),
        (1_936, 1_152),
        (16, 16_383),
    ] {
        let error = decoder.decode(&sized(width, height)).err().unwrap();
        let is_large = matches!(error, VideoError::TooLarge { .. });
        assert_eq!(is_large, (width, height) != (16, 16_383), "{error}");
    }
    for (width, height) in [(1_920, 1_080), (1_080, 1_920)] {
        let decoded = decoder.decode(&sized(width, height));
        assert!(!matches!(decoded, Err(VideoError::TooLarge { .. })));
    }
    assert!(decoder.decode(&frame).unwrap().is_some());
}

#[test]
fn bad_input_is_an_error_with_a_reason() {
    let mut decoder = Vp8Decoder::new().unwrap();
    for bytes in [&[][..], &[0xff; 3], &[1; 200]] {
        assert!(
            matches!(decoder.decode(bytes), Err(VideoError::Decode(..))),
            "{bytes:?}"
        );
    }
    let message = |config| Vp8Encoder::new(config).err().unwrap().to_string();
    assert!(message(config(600, 2)).contains("temporal_layers = 2"));
    assert!(
        message(EncoderConfig {
            fps: 0,
            ..config(600, 1)
        })
        .contains("fps = 0")
    );
    assert!(
        message(EncoderConfig {
            width: 20_000,
            ..config(600, 1)
        })
        .contains("20000x360")
    );
    let mut encoder = Vp8Encoder::new(config(600, 1)).unwrap();
    let mut picture = Picture::new(640, 360);
    picture.v.pop();
    let error = encoder.encode(&picture, 0, Keyframe::Auto);
    assert!(matches!(error, Err(VideoError::PictureSize { .. })));
}

/// A sender without a link encodes nothing; when a link recovers, seconds have passed.
/// Pictures resume at any position of the pattern.
#[test]
fn pictures_come_again_after_a_pause() {
    let pictures = pictures(30);
    for pause in [0.3, 15.0] {
        for before in 20..24 {
            let mut encoder = Vp8Encoder::new(config(2000, 3)).unwrap();
            encode(&mut encoder, &pictures[..before], 0);
            let first = before as u32 + (pause * f64::from(FPS)) as u32;
            let after = encode(&mut encoder, &pictures, first).len();
            assert!(
                (25..=30).contains(&after),
                "{after} of 30 pictures after {before} and a pause of {pause} s"
            );
        }
    }
}

/// An endpoint opens its encoder before it knows a rate.
#[test]
fn an_encoder_opens_without_a_rate() {
    for layers in [1, 3] {
        let mut encoder = Vp8Encoder::new(config(0, layers)).unwrap();
        encoder.set_rate(Rate::from_kbps(1)).unwrap();
        assert_eq!(encode(&mut encoder, &pictures(1), 0).len(), 1);
    }
}
