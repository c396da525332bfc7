//! An encoder's output for a film, by quantizer and size.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::LazyLock;

use weft_media::metrics::Brisque;
use weft_media::{EncoderConfig, Keyframe, VideoDecoder, VideoEncoder};
use weft_units::{Codec, Rate};

use crate::film::{FPS, HEIGHT, Still, WIDTH};

/// Encoded lines, relative to captured lines.
pub const SHARES: [f64; 4] = [1.0, 0.75, 0.5, 0.25];

/// Quantizers of the table's columns.
pub static QUANTIZERS: LazyLock<BTreeMap<Codec, Vec<f64>>> = LazyLock::new(|| {
    let even = |step: u8, most: u8| (0..=most / step).map(|n| f64::from(n * step)).collect();
    BTreeMap::from([(Codec::Vp8, even(18, 127)), (Codec::H264, even(6, 51))])
});

/// Rates to try, kbit/s: about an octave apart.
const RATES: [u64; 8] = [20, 40, 80, 160, 320, 640, 1_300, 4_000];
/// Pictures until rate control has settled, and the distance between two scored pictures.
const SETTLING: u32 = 20;
const EVERY: u32 = 8;

/// Quantizers and scores of one film's pictures, by share of the lines.
pub struct Scores {
    columns: Vec<f64>,
    points: Vec<Vec<(f64, f64)>>,
}

impl Scores {
    pub fn of(codec: Codec, still: &Still, model: &Brisque) -> Result<Scores, Box<dyn Error>> {
        let mut points = Vec::new();
        for share in SHARES {
            let mut own = Vec::new();
            for kbps in RATES {
                own.extend(encoded(codec, still, model, share, Rate::from_kbps(kbps))?);
            }
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
            points.push(own);
        }
        Ok(Scores {
            columns: QUANTIZERS[&codec].clone(),
            points,
        })
    }

    /// Returns the scores at the columns' quantizers: means of the nearest samples.
    pub fn row(&self, share: usize) -> Vec<f64> {
        let half = (self.columns[1] - self.columns[0]) / 2.0;
        let known = |column: &f64| {
            let near = self.points[share].iter();
            let near = near.filter(|(quantizer, _)| (quantizer - column).abs() <= half);
            let scores: Vec<f64> = near.map(|(_, score)| *score).collect();
            let count = scores.len() as f64;
            (count > 0.0).then(|| scores.iter().sum::<f64>() / count)
        };
        let known: Vec<Option<f64>> = self.columns.iter().map(known).collect();
        let between = |at: usize| {
            let below = (0..=at).rev().find_map(|n| Some((n, known[n]?)));
            let above = (at..known.len()).find_map(|n| Some((n, known[n]?)));
            match (below, above) {
                (Some((a, low)), Some((b, high))) if b > a => {
                    low + (high - low) * (at - a) as f64 / (b - a) as f64
                }
                (Some((_, only)), _) | (_, Some((_, only))) => only,
                (None, None) => f64::NAN,
            }
        };
        (0..known.len()).map(between).collect()
    }
}

fn encoded(
    codec: Codec,
    still: &Still,
    model: &Brisque,
    share: f64,
    rate: Rate,
) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let even = |side: usize| ((side as f64 * share / 2.0).round() * 2.0) as usize;
    let (width, height) = (even(WIDTH), even(HEIGHT));
    let mut encoder = VideoEncoder::new(
        codec,
        EncoderConfig {
            width,
            height,
            fps: FPS,
            rate,
            temporal_layers: 1,
        },
    )?;
    let mut decoder = VideoDecoder::new(codec)?;
    let mut points = Vec::new();
    for (number, picture) in (0..).zip(still.pictures()) {
        let small = picture.scaled(width, height);
        let stamp = number * (90_000 / FPS);
        let Some(frame) = encoder.encode(&small, stamp, Keyframe::Auto)? else {
            continue;
        };
        let Some(seen) = decoder.decode(&frame.data)? else {
            continue;
        };
        if number >= SETTLING && number % EVERY == 0 {
            // At the displayed size, which is the captured size.
            let score = model.score(&seen.scaled(WIDTH, HEIGHT));
            points.extend(score.map(|score| (f64::from(frame.quantizer), score)));
        }
    }
    Ok(points)
}
