use weft_units::{Bytes, Rate, Rng};

use crate::clip::{Clip, ClipConfig};
use crate::{EncoderConfig, FrameRequest, Keyframe, Picture, Vp8Decoder, Vp8Encoder};

const FPS: u32 = 30;
/// Not a multiple of macroblocks in either direction.
const SIZE: (usize, usize) = (312, 180);

/// Two people in turn, each for two seconds.
fn pictures() -> Vec<Picture> {
    let (width, height) = SIZE;
    let config = |seed| ClipConfig {
        width,
        height,
        fps: FPS,
        seed,
    };
    let mut people = [0, 1].map(|seed| Clip::new(config(seed)));
    let picture = |n| people[n as usize / 60 % 2].picture(n, n * 1000 / u64::from(FPS));
    (0..240).map(picture).collect()
}

fn encoder(kbps: u64, temporal_layers: u8) -> Vp8Encoder {
    let (width, height) = SIZE;
    Vp8Encoder::new(EncoderConfig {
        width,
        height,
        fps: FPS,
        rate: Rate::from_kbps(kbps),
        temporal_layers,
    })
    .unwrap()
}

/// Events of a run.
#[derive(Default)]
struct Counts {
    dropped: u32,
    again: u32,
}

/// Checks that the encoder's reference buffers equal a decoder's output to the last
/// sample, for any requests.
fn stays_with_the_decoder(pictures: &[Picture], seed: u64, temporal_layers: u8) -> Counts {
    let mut rng = Rng::new(seed);
    let mut encoder = encoder(300, temporal_layers);
    let mut decoder = Vp8Decoder::new().unwrap();
    let mut counts = Counts::default();
    for (n, picture) in (0..).zip(pictures) {
        if rng.unit() < 0.05 {
            let kbps = 20.0 * 2_f64.powf(rng.unit() * 6.0);
            encoder.set_rate(Rate::from_kbps(kbps as u64)).unwrap();
        }
        let share = encoder.config().rate.as_bps() as f64 / 8.0 / f64::from(FPS);
        let with_budget = rng.unit() < 0.6;
        let budget = share * 2_f64.powf(rng.unit() * 7.0 - 5.0);
        let force = rng.unit() < 0.04;
        let request = FrameRequest {
            keyframe: if force {
                Keyframe::Force
            } else {
                Keyframe::Auto
            },
            budget: with_budget.then_some(Bytes(budget as u64)),
        };
        let buffer = encoder.raw.updated_buffer();
        let Some(frame) = encoder.encode(picture, n * 3000, request).unwrap() else {
            counts.dropped += 1;
            continue;
        };
        assert!(!force || frame.keyframe);
        counts.again += u32::from(frame.attempts > 1);
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        if let Some(buffer) = buffer.or(frame.keyframe.then_some(1)) {
            let same = encoder.raw.reference(buffer) == decoded;
            assert!(same, "seed {seed}: they differ from picture {n} on");
        }
    }
    counts
}

#[test]
fn a_decoder_never_drifts() {
    let pictures = pictures();
    for temporal_layers in [1, 3] {
        let runs = (0..6).map(|seed| stays_with_the_decoder(&pictures, seed, temporal_layers));
        let all = runs.fold(Counts::default(), |sum, run| Counts {
            dropped: sum.dropped + run.dropped,
            again: sum.again + run.again,
        });
        assert!(all.dropped > 50 && all.again > 50, "nothing was tried");
    }
}
