use weft_units::{Codec, Rate};
use weft_wire::payload::h264::{NalHeader, SequenceParameters, nal_units};

use crate::clip::{Clip, ClipConfig};
use crate::metrics::psnr;
use crate::{
    EncodedFrame, EncoderConfig, Keyframe, Picture, VideoDecoder, VideoEncoder, VideoError,
};

const FPS: u32 = 30;

fn encoder(kbps: u64) -> VideoEncoder {
    let config = EncoderConfig {
        width: 640,
        height: 360,
        fps: FPS,
        rate: Rate::from_kbps(kbps),
        temporal_layers: 1,
    };
    VideoEncoder::new(Codec::H264, config).unwrap()
}

fn decoder() -> VideoDecoder {
    VideoDecoder::new(Codec::H264).unwrap()
}

fn pictures(count: u64) -> Vec<Picture> {
    let mut clip = Clip::new(ClipConfig {
        width: 640,
        height: 360,
        fps: FPS,
        seed: 0,
    });
    (0..count)
        .map(|n| clip.picture(n, n * 1000 / u64::from(FPS)))
        .collect()
}

/// Encodes the pictures, numbered from `first`.
fn encode(encoder: &mut VideoEncoder, pictures: &[Picture], first: u32) -> Vec<EncodedFrame> {
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

fn kinds(frame: &EncodedFrame) -> Vec<u8> {
    let header = |unit: &[u8]| NalHeader::parse(unit[0]).unwrap().kind;
    nal_units(&frame.data).map(header).collect()
}

#[test]
fn decoded_pictures_resemble_what_was_encoded() {
    let pictures = pictures(60);
    let mut encoder = encoder(600);
    let frames = encode(&mut encoder, &pictures, 0);
    assert_eq!(frames.len(), 60);
    let mut decoder = decoder();
    for (n, (frame, picture)) in frames.iter().zip(&pictures).enumerate() {
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        let quality = psnr(picture, &decoded);
        assert!((30.0..60.0).contains(&quality), "picture {n}: {quality} dB");
        assert_eq!(frame.keyframe, n == 0);
    }
    let sent = kbps(&frames[1..], 59);
    assert!((500.0..700.0).contains(&sent), "{sent} kbps");
}

#[test]
fn keyframes_bring_their_parameters_and_the_profile_is_what_we_offer() {
    let pictures = pictures(3);
    let mut encoder = encoder(600);
    let first = encode(&mut encoder, &pictures[..1], 0).remove(0);
    let delta = encode(&mut encoder, &pictures[1..2], 1).remove(0);
    let forced = encoder.encode(&pictures[2], 6000, Keyframe::Force);
    let forced = forced.unwrap().unwrap();
    for keyframe in [&first, &forced] {
        assert!(keyframe.keyframe);
        assert_eq!(kinds(keyframe), [7, 8, 5]);
        let sps = nal_units(&keyframe.data).next().unwrap();
        // profile_idc 66 and constraint_set1_flag: constrained baseline.
        assert_eq!((sps[1], sps[2] & 0x40), (0x42, 0x40));
        let size = SequenceParameters::parse(sps).map(|s| (s.width, s.height));
        assert_eq!(size, Some((640, 360)));
    }
    assert!(!delta.keyframe && !delta.non_reference);
    assert_eq!(kinds(&delta), [1]);
}

#[test]
fn parameters_depend_on_the_size_only() {
    let pictures = pictures(2);
    let parameters = |frame: &EncodedFrame| {
        let units = nal_units(&frame.data).take(2);
        units.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let mut first = encoder(600);
    let expected = parameters(&encode(&mut first, &pictures[..1], 0)[0]);
    assert_eq!(expected[0][3], 30, "level 3");
    for (kbps, fps) in [(100, 5), (300, 15), (600, 24), (4000, 30)] {
        let mut encoder = encoder(kbps);
        encoder.set_fps(fps).unwrap();
        for (n, picture) in pictures.iter().enumerate() {
            let forced = encoder.encode(picture, n as u32 * 3000, Keyframe::Force);
            let frame = forced.unwrap().unwrap();
            assert_eq!(parameters(&frame), expected, "{kbps} kbps, {fps} fps");
        }
    }
}

#[test]
fn the_rate_follows_the_target_in_both_directions() {
    let pictures = pictures(60);
    let mut encoder = encoder(300);
    // The maximum is the first target unless it is raised; increases must work too.
    let mut first = 0;
    for target in [300, 900, 200] {
        encoder.set_rate(Rate::from_kbps(target)).unwrap();
        let frames = encode(&mut encoder, &pictures, first);
        first += 60;
        let sent = kbps(&frames[20..], 60 - 20);
        let ratio = sent / target as f64;
        assert!((0.8..1.2).contains(&ratio), "{target} kbps: {ratio}");
    }
}

#[test]
fn the_quantizer_is_finer_at_a_higher_rate() {
    let pictures = pictures(60);
    let quantizer = |kbps| {
        let frames = encode(&mut encoder(kbps), &pictures, 0);
        let all: Vec<u32> = frames.iter().map(|f| u32::from(f.quantizer)).collect();
        assert!(all.iter().all(|q| (1..=51).contains(q)), "{all:?}");
        all[20..].iter().sum::<u32>() / (all.len() as u32 - 20)
    };
    let (fine, coarse) = (quantizer(1500), quantizer(150));
    assert!((10..30).contains(&fine), "{fine}");
    assert!((30..=51).contains(&coarse), "{coarse}");
}

#[test]
fn another_size_and_a_restart_begin_with_a_keyframe() {
    let pictures = pictures(6);
    let mut encoder = encoder(600);
    let mut decoder = decoder();
    encode(&mut encoder, &pictures[..2], 0);
    let mut timestamp = 6000;
    for (width, height) in [(320, 180), (640, 360), (480, 270)] {
        let small = pictures[2].scaled(width, height);
        let frame = encoder.encode(&small, timestamp, Keyframe::Auto);
        timestamp += 3000;
        let frame = frame.unwrap().unwrap();
        assert!(frame.keyframe);
        let shown = decoder.decode(&frame.data).unwrap().unwrap();
        assert_eq!((shown.width, shown.height), (width, height));
        assert!(psnr(&small, &shown) > 28.0);
    }
    encoder.restart().unwrap();
    let frame = encoder.encode(&pictures[2].scaled(480, 270), timestamp, Keyframe::Auto);
    assert!(frame.unwrap().unwrap().keyframe);
}

#[test]
fn a_decoder_resumes_at_the_next_keyframe_after_garbage() {
    let pictures = pictures(4);
    let mut encoder = encoder(600);
    let frames = encode(&mut encoder, &pictures[..3], 0);
    let keyframe = encoder.encode(&pictures[3], 9000, Keyframe::Force);
    let keyframe = keyframe.unwrap().unwrap();
    let mut decoder = decoder();
    assert!(decoder.decode(&[]).is_err());
    assert!(!matches!(decoder.decode(&frames[1].data), Ok(Some(_))));
    for nonsense in [&[0xff; 100][..], &[0, 0, 0, 1, 0x67], &frames[0].data[..40]] {
        let _ = decoder.decode(nonsense);
    }
    let shown = decoder.decode(&keyframe.data).unwrap().unwrap();
    assert!(psnr(&pictures[3], &shown) > 28.0);
}

#[test]
fn pictures_that_cannot_be_encoded_are_an_error_with_the_value() {
    let good = *encoder(300).config();
    let bad = [
        EncoderConfig { width: 8, ..good },
        EncoderConfig { fps: 0, ..good },
        EncoderConfig {
            temporal_layers: 3,
            ..good
        },
        EncoderConfig {
            width: 3000,
            height: 3000,
            ..good
        },
    ];
    for (config, value) in bad
        .into_iter()
        .zip(["8x360", "fps = 0", "= 3", "3000x3000"])
    {
        let error = VideoEncoder::new(Codec::H264, config).err().unwrap();
        assert!(error.to_string().contains(value), "{error}");
    }
}

/// A sequence parameter set of the baseline profile with this many macroblocks and
/// references, cropped to 16 by 16 pixels.
fn parameters(across: u32, down: u32, references: u32) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    let mut put = |count: u32, value: u32| {
        bits.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
    };
    put(24, 0x42_c0_2a);
    // As `ue(v)`: as many leading zeros as bits after the first one.
    for value in [0, 0, 2, references] {
        put(2 * (value + 1_u32).ilog2() + 1, value + 1);
    }
    put(1, 0);
    for value in [across - 1, down - 1] {
        put(2 * (value + 1).ilog2() + 1, value + 1);
    }
    put(3, 0b111);
    for value in [0, across * 8 - 8, 0, down * 8 - 8] {
        put(2 * (value + 1).ilog2() + 1, value + 1);
    }
    put(2, 0b01);
    let mut unit = vec![0, 0, 0, 1, 0x67];
    let mut zeros = 0;
    for octet in bits.chunks(8) {
        let octet = (0..8).fold(0, |all, n| all << 1 | u8::from(octet.get(n) == Some(&true)));
        if zeros >= 2 && octet <= 3 {
            unit.push(3);
            zeros = 0;
        }
        unit.push(octet);
        zeros = if octet == 0 { zeros + 1 } else { 0 };
    }
    unit
}

#[test]
fn parameters_beyond_the_bound_are_refused_before_they_take_memory() {
    let refused = |unit: &[u8]| match decoder().decode(unit) {
        Err(VideoError::TooLarge { width, height, .. }) => Some((width, height)),
        _ => None,
    };
    for (across, down, references) in [(1024, 1024, 1), (121, 72, 1), (120, 68, 5), (40, 23, 1000)]
    {
        let unit = parameters(across, down, references);
        assert_eq!(
            SequenceParameters::parse(&unit[4..]).map(|s| s.width),
            Some(16)
        );
        assert_eq!(refused(&unit), Some((across * 16, down * 16)));
    }
    for (across, down, references) in [(120, 68, 4), (68, 120, 1), (40, 23, 16)] {
        assert_eq!(refused(&parameters(across, down, references)), None);
    }
    // OpenH264 also reads those of scalable layers.
    let mut layered = parameters(1024, 1024, 1);
    layered[4] = 0x6f;
    let mut decoder = decoder();
    assert!(matches!(
        decoder.decode(&layered),
        Err(VideoError::Decode(..))
    ));
    let frame = encode(&mut encoder(600), &pictures(1), 0).remove(0);
    assert!(decoder.decode(&frame.data).unwrap().is_some());
}
