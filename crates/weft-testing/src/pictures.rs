//! Pictures without content, for calls whose encoder and display do not matter:
//! each contains its number and capture time.

use weft_units::{Duration, Instant, Rate, Rng};

/// 30 pictures a second.
pub const FRAME_INTERVAL: Duration = Duration::from_nanos(33_333_333);

/// Temporal layer of each position in the three-layer pattern of libvpx and browsers
/// (libwebrtc, default_temporal_layers.cc, the short one), and the size of its pictures
/// relative to the mean: 40, 20 and 40 % of the rate (simulcast_rate_allocator.cc) for a
/// quarter, a quarter and a half of the pictures.
const LAYERS: [(u8, f64); 4] = [(0, 1.6), (2, 0.8), (1, 0.8), (2, 0.8)];
/// Pictures of the pattern that refer to the base layer only.
const LAYER_SYNC: [bool; 4] = [false, true, true, false];
/// Distance from each picture of the pattern back to the one that it refers to.
const REFERENCE: [u64; 4] = [4, 1, 2, 1];

/// Offset of the stamp: after the header of a VP8 keyframe.
const STAMP: usize = 10;

/// Source of pictures whose size follows the rate.
#[derive(Debug)]
pub struct Source {
    /// Rate that the session asks for.
    pub rate: Rate,
    /// Whether the next picture is a keyframe.
    pub keyframe_wanted: bool,
    interval: Duration,
    layers: Layers,
    number: u64,
    /// Number of the latest keyframe, at which the layer pattern starts.
    keyframe: u64,
    rng: Rng,
}

/// Reference structure of a source's pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// Each picture refers to the previous one.
    One,
    /// Three temporal layers, as in browsers and weft.
    Three,
}

/// Picture to send, with content that VP8's packets can carry.
#[derive(Debug)]
pub struct Picture {
    /// Content, with the [`Stamp`].
    pub data: Vec<u8>,
    /// RTP timestamp, at 90 kHz.
    pub timestamp: u32,
    /// Whether it can be decoded without any other picture.
    pub keyframe: bool,
    /// Temporal layer, if the source has several.
    pub temporal_layer: Option<u8>,
    /// Whether it refers to the base layer only.
    pub layer_sync: bool,
    /// Capture time, as in the stamp.
    pub captured_at: Instant,
}

/// Stamp in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the picture, from zero.
    pub number: u64,
    /// Capture time.
    pub captured: Instant,
    /// Whether it is a keyframe.
    pub keyframe: bool,
    /// Number of the picture that it refers to; its own for a keyframe.
    pub needs: u64,
}

impl Source {
    /// Creates a source that starts with a keyframe at this rate.
    #[must_use]
    pub fn new(rate: Rate, rng: Rng) -> Source {
        Source {
            rate,
            keyframe_wanted: true,
            interval: FRAME_INTERVAL,
            layers: Layers::One,
            number: 0,
            keyframe: 0,
            rng,
        }
    }

    /// Returns the source with pictures at this interval and in these layers.
    #[must_use]
    pub fn with(self, interval: Duration, layers: Layers) -> Source {
        Source {
            interval,
            layers,
            ..self
        }
    }

    /// Time between two pictures.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Captures the next picture. Sizes vary by a fifth, and a keyframe has
    /// three times the mean: chosen by us.
    pub fn capture(&mut self, now: Instant) -> Picture {
        let keyframe = std::mem::take(&mut self.keyframe_wanted);
        if keyframe {
            self.keyframe = self.number;
        }
        let place = ((self.number - self.keyframe) % LAYERS.len() as u64) as usize;
        let (layer, size) = match self.layers {
            Layers::One => (None, 1.0),
            Layers::Three => (Some(LAYERS[place].0), LAYERS[place].1),
        };
        let needs = match (keyframe, self.layers) {
            (true, _) => self.number,
            (false, Layers::One) => self.number - 1,
            (false, Layers::Three) => self.number - REFERENCE[place],
        };
        let mean = (self.rate * self.interval).0 as f64;
        let factor = match keyframe {
            true => 3.0,
            false => size * (self.rng.normal() * 0.2).exp(),
        };
        let mut data = vec![0; (mean * factor).max(50.0) as usize];
        // RFC 6386 section 9.1: the lowest bit is 0 in a keyframe.
        data[0] = u8::from(!keyframe);
        data[STAMP..][..8].copy_from_slice(&self.number.to_be_bytes());
        data[STAMP + 8..][..8].copy_from_slice(&now.as_nanos().to_be_bytes());
        data[STAMP + 16..][..8].copy_from_slice(&needs.to_be_bytes());
        let ticks = (self.interval.as_secs_f64() * 90_000.0).round() as u64;
        let timestamp = (self.number * ticks) as u32;
        self.number += 1;
        Picture {
            data,
            timestamp,
            keyframe,
            temporal_layer: layer,
            layer_sync: layer.is_some() && LAYER_SYNC[place],
            captured_at: now,
        }
    }
}

impl Stamp {
    /// Reads the stamp of a whole picture; `None` if the picture is too short.
    #[must_use]
    pub fn of(data: &[u8]) -> Option<Stamp> {
        let word = |at: usize| Some(u64::from_be_bytes(*data.get(at..)?.first_chunk()?));
        Some(Stamp {
            number: word(STAMP)?,
            captured: Instant::from_nanos(word(STAMP + 8)?),
            keyframe: data[0] & 1 == 0,
            needs: word(STAMP + 16)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_rate_and_carry_their_time() {
        let mut source = Source::new(Rate::from_mbps(1), Rng::new(1));
        let mut bytes = 0;
        for number in 0..300_u64 {
            let now = Instant::from_nanos(number * FRAME_INTERVAL.as_nanos());
            source.keyframe_wanted |= number == 100;
            let picture = source.capture(now);
            let stamp = Stamp {
                number,
                captured: now,
                keyframe: [0, 100].contains(&number),
                needs: match number {
                    0 | 100 => number,
                    _ => number - 1,
                },
            };
            assert_eq!(Stamp::of(&picture.data), Some(stamp));
            assert_eq!(picture.keyframe, stamp.keyframe);
            assert_eq!(u64::from(picture.timestamp), number * 3_000);
            bytes += picture.data.len();
        }
        // Ten seconds, and a log-normal mean that is 2 % above the median.
        assert!((1_240_000..1_320_000).contains(&bytes), "{bytes} bytes");
        assert_eq!(Stamp::of(&[0; 33]), None);
    }

    #[test]
    fn pictures_of_three_layers_refer_to_lower_layers_only() {
        let source = Source::new(Rate::from_mbps(1), Rng::new(1));
        let mut source = source.with(FRAME_INTERVAL, Layers::Three);
        let mut seen = Vec::new();
        for number in 0..11 {
            source.keyframe_wanted |= number == 6;
            let picture = source.capture(Instant::ZERO);
            let stamp = Stamp::of(&picture.data).expect("a stamp");
            let layer = picture.temporal_layer.expect("a layer");
            seen.push((layer, stamp.needs, picture.layer_sync));
        }
        let expected = [
            (0, 0, false),
            (2, 0, true),
            (1, 0, true),
            (2, 2, false),
            (0, 0, false),
            (2, 4, true),
            (0, 6, false),
            (2, 6, true),
            (1, 6, true),
            (2, 8, false),
            (0, 6, false),
        ];
        assert_eq!(seen, expected);
    }
}
