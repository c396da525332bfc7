//! Pictures and sound, encoded once and sent by all publishers.

use std::thread;

use weft_media::audio::{AudioFrame, FRAME_SAMPLES, OpusEncoder, OpusError};
use weft_media::clip::{Clip as Pictures, ClipConfig};
use weft_media::{EncodedFrame, EncoderConfig, Keyframe, VideoEncoder, VideoError};
use weft_units::{Codec, Rate};

use crate::config::Video;

/// Length of the clip in seconds; it starts with its only keyframe. Chosen by us: encoding
/// 720p at three rates takes 10 s of processor time.
const SECONDS: u64 = 8;
/// Rates of each encoding, as shares of its highest rate. Chosen by us: they miss a
/// target rate by at most 40 %.
const SHARES: [f64; 3] = [0.36, 0.6, 1.0];
/// Rate of each encoding, as a share of that of the next larger one, which has four times
/// the pixels. libwebrtc's table (simulcast.cc): 150, 500 and 2500 kbit/s.
const SMALLER: f64 = 0.25;
/// Number of temporal layers, as in browsers with simulcast and always in `weft join`.
const LAYERS: u8 = 3;
/// Rate of the sound: libwebrtc's default for speech (RFC 7587 section 3.1.1).
pub(crate) const SOUND_RATE: Rate = Rate::from_kbps(32);
/// Number of sound packets, 20 ms each, before they repeat.
const SOUND_PACKETS: usize = 100;

/// Reason why the clip cannot be encoded.
#[derive(Debug, thiserror::Error)]
pub enum ClipError {
    /// Pictures.
    #[error("cannot encode the pictures: {0}")]
    Video(#[from] VideoError),
    /// Sound.
    #[error("cannot encode the sound: {0}")]
    Sound(#[from] OpusError),
}

/// Clip with all its encodings.
#[derive(Debug)]
pub(crate) struct Clip {
    pub codec: Codec,
    pub fps: u32,
    /// Encodings, the smallest first.
    pub encodings: Vec<Encoding>,
    /// Packets of sound.
    pub sound: Vec<Vec<u8>>,
}

/// Encoding of the clip.
#[derive(Debug)]
pub(crate) struct Encoding {
    /// Height of the pictures in pixels.
    pub height: usize,
    /// Versions, the lowest rate first. Pictures at the same index show the same in all
    /// of them.
    pub versions: Vec<Version>,
}

/// Encoding at one rate.
#[derive(Debug)]
pub(crate) struct Version {
    pub rate: Rate,
    /// Pictures; `None` for one that the encoder dropped.
    pub pictures: Vec<Option<EncodedFrame>>,
}

impl Clip {
    /// Encodes the built-in clip.
    pub fn encode(video: &Video) -> Result<Clip, ClipError> {
        let count = usize::from(video.encodings);
        let wanted = (0..count).flat_map(|place| {
            let smaller = (count - 1 - place) as i32;
            let most = video.rate.mul_f64(SMALLER.powi(smaller));
            let height = (video.height >> smaller) & !1;
            SHARES.map(|share| (place, height, most.mul_f64(share)))
        });
        let mut encodings: Vec<Encoding> = Vec::new();
        thread::scope(|scope| {
            let encode = |(place, height, rate)| {
                let made = scope.spawn(move || version(video, height, rate));
                (place, height, made)
            };
            let running: Vec<_> = wanted.map(encode).collect();
            for (place, height, made) in running {
                let made = made.join().expect("encoding does not panic")?;
                if encodings.len() <= place {
                    let versions = Vec::new();
                    encodings.push(Encoding { height, versions });
                }
                encodings[place].versions.push(made);
            }
            Ok::<(), ClipError>(())
        })?;
        Ok(Clip {
            codec: video.codec,
            fps: video.fps,
            encodings,
            sound: sound()?,
        })
    }

    /// Returns the maximum rate of all encodings together.
    pub fn rate(&self) -> Rate {
        let rates = self.encodings.iter().filter_map(|e| e.versions.last());
        Rate::from_bps(rates.map(|version| version.rate.as_bps()).sum())
    }
}

fn version(video: &Video, height: usize, rate: Rate) -> Result<Version, ClipError> {
    let width = (height * 16 / 9) & !1;
    let fps = video.fps;
    let mut clip = Pictures::new(ClipConfig {
        width,
        height,
        fps,
        seed: 1,
    });
    let config = EncoderConfig {
        width,
        height,
        fps,
        rate,
        temporal_layers: video.codec.temporal_layers().min(LAYERS),
    };
    let mut encoder = VideoEncoder::new(video.codec, config)?;
    let mut encode = |number: u64| {
        let picture = clip.picture(number, number * 1000 / u64::from(fps));
        let timestamp = (number * 90_000 / u64::from(fps)) as u32;
        encoder.encode(&picture, timestamp, Keyframe::Auto)
    };
    let pictures = (0..SECONDS * u64::from(fps)).map(&mut encode);
    let pictures = pictures.collect::<Result<_, _>>()?;
    Ok(Version { rate, pictures })
}

/// Returns packets of a tone that swells and fades, like speech.
fn sound() -> Result<Vec<Vec<u8>>, OpusError> {
    let mut encoder = OpusEncoder::new(SOUND_RATE)?;
    let mut packet = |place: usize| {
        let mut frame: AudioFrame = [0; _];
        let loud = (place as f64 / SOUND_PACKETS as f64 * std::f64::consts::PI).sin();
        for (index, pair) in frame.chunks_exact_mut(2).enumerate() {
            let at = (place * FRAME_SAMPLES + index) as f64 / 48_000.0;
            let sample = (at * 220.0 * std::f64::consts::TAU).sin() * loud * 8_000.0;
            pair.fill(sample as i16);
        }
        encoder.encode(&frame)
    };
    (0..SOUND_PACKETS).map(&mut packet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_their_sizes_and_rates_and_one_keyframe() {
        let video = Video {
            codec: Codec::Vp8,
            height: 180,
            fps: 15,
            rate: Rate::from_kbps(200),
            encodings: 2,
        };
        let clip = Clip::encode(&video).expect("a clip");
        let heights: Vec<usize> = clip.encodings.iter().map(|e| e.height).collect();
        assert_eq!(heights, [90, 180]);
        assert_eq!(clip.rate(), Rate::from_kbps(250));
        assert_eq!(clip.sound.len(), SOUND_PACKETS);
        for version in clip.encodings.iter().flat_map(|e| &e.versions) {
            let frames = version.pictures.iter().flatten();
            let keyframes: Vec<bool> = frames.clone().map(|f| f.keyframe).collect();
            assert!(keyframes[0] && !keyframes[1..].contains(&true));
            let bytes: usize = frames.map(|f| f.data.len()).sum();
            let rate = Rate::from_bps(8 * bytes as u64 / SECONDS);
            let (low, high) = (version.rate.mul_f64(0.5), version.rate.mul_f64(1.6));
            assert!(
                (low..=high).contains(&rate),
                "{rate:?} of {:?}",
                version.rate
            );
        }
    }
}
