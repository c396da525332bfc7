use weft_units::Rate;

use super::{Stamp, crc16, read, write};
use crate::clip::{Clip, ClipConfig};
use crate::{EncoderConfig, Keyframe, Picture, Scaler, Vp8Decoder, Vp8Encoder};

const STAMP: Stamp = Stamp {
    number: 0xDEAD_BEEF,
    time_ms: 0x0123_4567,
};

#[test]
fn crc_gives_the_published_check_value() {
    // CRC-16/IBM-3740 ("CCITT-FALSE"), check value of "123456789".
    assert_eq!(crc16(b"123456789"), 0x29B1);
}

#[test]
fn stamps_are_read_in_every_usual_size() {
    for (width, height) in [
        (320, 180),
        (640, 360),
        (640, 480),
        (1280, 720),
        (1920, 1080),
        (720, 1280),
    ] {
        for stamp in [
            STAMP,
            Stamp {
                number: 0,
                time_ms: 0,
            },
            Stamp {
                number: u32::MAX,
                time_ms: 7,
            },
        ] {
            let mut picture = Picture::new(width, height);
            write(&mut picture, stamp);
            assert_eq!(read(&picture), Some(stamp), "{width}x{height}");
        }
    }
}

#[test]
fn one_wrong_cell_is_noticed() {
    let mut picture = Picture::new(640, 360);
    write(&mut picture, STAMP);
    // The cell at row 1, column 5: 8 pixels each way.
    for row in 8..16 {
        for sample in &mut picture.y[row * 640 + 40..row * 640 + 48] {
            *sample = 240 - *sample;
        }
    }
    assert_eq!(read(&picture), None);
}

#[test]
fn pictures_without_a_stamp_have_none() {
    let mut clip = Clip::new(ClipConfig {
        width: 320,
        height: 180,
        fps: 30,
        seed: 1,
    });
    for number in 0..20 {
        assert_eq!(read(&clip.picture(number, number * 100)), None);
    }
    assert_eq!(read(&Picture::new(640, 360)), None);
    assert_eq!(read(&Picture::new(8, 8)), None);
}

/// Requirement: 360p at 150 kbps, then scaled to half, one and a half and double the
/// size.
#[test]
fn every_stamp_survives_low_rate_video_and_scaling() {
    let (width, height, fps) = (640, 360, 30);
    let mut clip = Clip::new(ClipConfig {
        width,
        height,
        fps,
        seed: 0,
    });
    let rate = Rate::from_kbps(150);
    let mut encoder = Vp8Encoder::new(EncoderConfig {
        width,
        height,
        fps,
        rate,
        temporal_layers: 1,
    })
    .unwrap();
    let mut decoder = Vp8Decoder::new().unwrap();
    let mut shown = 0;
    for number in 0..90 {
        let time_ms = number * 100 / 3;
        let mut picture = clip.picture(number.into(), time_ms.into());
        let stamp = Stamp {
            number,
            time_ms: 987_654_000 + time_ms,
        };
        write(&mut picture, stamp);
        let Some(frame) = encoder
            .encode(&picture, number * 3000, Keyframe::Auto)
            .unwrap()
        else {
            continue;
        };
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        shown += 1;
        for (width, height) in [(640, 360), (320, 180), (960, 540), (1280, 720), (512, 288)] {
            let scaled = decoded.scaled(width, height);
            assert_eq!(
                read(&scaled),
                Some(stamp),
                "picture {number} at {width}x{height}"
            );
        }
    }
    assert!(shown >= 80, "the encoder dropped all but {shown} of 90");
}

/// A sender downscales its pictures at a low rate: tests each size at its starting rate,
/// from its first picture on.
#[test]
fn every_stamp_survives_a_sender_that_shrinks() {
    let (width, height) = (1280, 720);
    let mut clip = Clip::new(ClipConfig {
        width,
        height,
        fps: 30,
        seed: 0,
    });
    let mut encoder = Vp8Encoder::new(EncoderConfig {
        width,
        height,
        fps: 30,
        rate: Rate::from_kbps(900),
        temporal_layers: 3,
    })
    .unwrap();
    let mut decoder = Vp8Decoder::new().unwrap();
    let sizes = [
        (960, 540, 500),
        (640, 360, 300),
        (480, 270, 200),
        (320, 180, 100),
        (1280, 720, 900),
    ];
    let mut number = 0;
    for (width, height, kbps) in sizes {
        let mut scaler = Scaler::new((1280, 720), (width, height));
        encoder.set_rate(Rate::from_kbps(kbps)).unwrap();
        for first in [true, false, false, false, false, false, false, false] {
            let time_ms = number * 100 / 3;
            let mut picture = clip.picture(number.into(), time_ms.into());
            let stamp = Stamp { number, time_ms };
            write(&mut picture, stamp);
            let picture = scaler.scale(&picture);
            let frame = encoder.encode(&picture, number * 3000, Keyframe::Auto);
            number += 1;
            let Some(frame) = frame.unwrap() else {
                continue;
            };
            assert_eq!(frame.keyframe, first, "{height} lines");
            let decoded = decoder.decode(&frame.data).unwrap().unwrap();
            assert_eq!((decoded.width, decoded.height), (width, height));
            assert_eq!(read(&decoded), Some(stamp), "{height} lines");
        }
    }
}
