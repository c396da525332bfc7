//! One encoder on one content.

use std::error::Error;
use std::time::Instant;

use weft_media::metrics::psnr;
use weft_media::{EncoderConfig, FrameRequest, Keyframe, VideoDecoder, VideoEncoder};
use weft_units::{Bytes, Codec, Rate};

use crate::FPS;
use crate::contents::Content;

/// Number of the picture before which the encoder finds its quantizer.
const SETTLED: u32 = 60;
/// Size, in budgets, up to which a picture counts as fitting.
const FITS: f64 = 1.1;

/// Pictures with a budget.
#[derive(Clone, Copy, PartialEq)]
pub enum Case {
    /// One picture of each second.
    One,
    /// Ten pictures of each second.
    Ten,
    /// A keyframe in each second.
    Keyframe,
}

/// Size limit that the encoder receives.
#[derive(Clone, Copy, PartialEq)]
pub enum Bound {
    Nothing,
    /// The rate at which a share equals the budget, for these pictures.
    Rate,
    Budget,
}

/// Result of a picture with a budget.
#[derive(Clone, Copy)]
pub struct Seen {
    pub shares: f64,
    /// Size of the picture in budgets.
    pub size: f64,
    pub psnr: f64,
    pub attempts: u8,
}

/// Results of a run.
pub struct Run {
    pub content: &'static str,
    pub kbps: u64,
    pub case: Case,
    pub bound: Bound,
    pub seen: Vec<Seen>,
    /// Sums over all pictures: PSNR, bytes, and the number not dropped.
    sums: (f64, f64, f64),
    pictures: usize,
    /// Encoding time in seconds.
    pub time: f64,
}

impl Case {
    pub const ALL: [Case; 3] = [Case::One, Case::Ten, Case::Keyframe];

    pub fn name(self) -> &'static str {
        match self {
            Case::One => "one",
            Case::Ten => "ten",
            Case::Keyframe => "keyframe",
        }
    }

    /// Returns the budgets; each is used for one second in turn.
    pub fn shares(self) -> [f64; 3] {
        match self {
            Case::One | Case::Ten => [0.5, 0.25, 0.125],
            Case::Keyframe => [2.0, 3.0, 4.0],
        }
    }

    /// Returns the request for a picture: its budget in shares.
    pub fn request(self, number: u32) -> (Keyframe, Option<f64>) {
        let place = number % FPS;
        let has = match self {
            Case::One | Case::Keyframe => place == 15,
            Case::Ten => (15..25).contains(&place),
        };
        let shares = self.shares()[(number / FPS) as usize % 3];
        let shares = (has && number >= SETTLED).then_some(shares);
        match (self, shares) {
            (Case::Keyframe, Some(_)) => (Keyframe::Force, shares),
            _ => (Keyframe::Auto, shares),
        }
    }
}

/// Encodes the pictures.
pub fn run(
    codec: Codec,
    (content, pictures): &Content,
    kbps: u64,
    case: Case,
    bound: Bound,
) -> Result<Run, Box<dyn Error>> {
    let rate = Rate::from_kbps(kbps);
    let config = EncoderConfig {
        width: pictures[0].width,
        height: pictures[0].height,
        fps: FPS,
        rate,
        temporal_layers: 1,
    };
    let share = rate.as_bps() as f64 / 8.0 / f64::from(FPS);
    let mut encoder = VideoEncoder::new(codec, config)?;
    let mut decoder = VideoDecoder::new(codec)?;
    let mut run = Run::new(content, kbps, case, bound, pictures.len());
    for (number, picture) in (0..).zip(pictures) {
        let (keyframe, shares) = case.request(number);
        if bound == Bound::Rate {
            let part = shares.unwrap_or(1.0).min(1.0);
            encoder.set_rate(Rate::from_bps((rate.as_bps() as f64 * part) as u64))?;
        }
        let budget = shares.filter(|_| bound == Bound::Budget);
        let budget = budget.map(|shares| Bytes((shares * share) as u64));
        let begun = Instant::now();
        let frame = encoder.encode(picture, number * 3000, FrameRequest { keyframe, budget })?;
        run.time += begun.elapsed().as_secs_f64();
        if let Some(frame) = frame {
            let decoded = decoder.decode(&frame.data)?.ok_or("no picture")?;
            let (bytes, psnr) = (frame.data.len() as f64, psnr(picture, &decoded));
            let seen = shares.map(|shares| Seen {
                shares,
                size: bytes / (shares * share),
                psnr,
                attempts: frame.attempts,
            });
            run.add(bytes, psnr, seen);
        }
    }
    Ok(run)
}

impl Run {
    /// Creates a run without results, for this many pictures.
    pub fn new(content: &'static str, kbps: u64, case: Case, bound: Bound, pictures: usize) -> Run {
        Run {
            content,
            kbps,
            case,
            bound,
            seen: Vec::new(),
            sums: (0.0, 0.0, 0.0),
            pictures,
            time: 0.0,
        }
    }

    /// Adds an encoded picture, with its result if it has a budget.
    pub fn add(&mut self, bytes: f64, psnr: f64, seen: Option<Seen>) {
        self.sums.0 += psnr;
        self.sums.1 += bytes;
        self.sums.2 += 1.0;
        self.seen.extend(seen);
    }

    /// Returns the mean PSNR of the pictures with a budget.
    pub fn psnr_seen(&self) -> f64 {
        self.seen.iter().map(|seen| seen.psnr).sum::<f64>() / self.seen.len() as f64
    }

    /// Returns the mean PSNR of all pictures.
    pub fn psnr(&self) -> f64 {
        self.sums.0 / self.sums.2
    }

    /// Returns the rate in kbps.
    pub fn rate(&self) -> f64 {
        self.sums.1 * 8.0 / 1000.0 * f64::from(FPS) / self.pictures as f64
    }
}

/// Returns the share of the pictures that fit.
pub fn fit(seen: &[Seen]) -> f64 {
    seen.iter().filter(|seen| seen.size <= FITS).count() as f64 / seen.len() as f64
}

/// Returns the number that fit, and the median, 95th percentile and largest size in
/// budgets.
pub fn spread(seen: &[Seen]) -> String {
    let mut sizes: Vec<f64> = seen.iter().map(|seen| seen.size).collect();
    sizes.sort_by(f64::total_cmp);
    let at = |part: f64| sizes[((sizes.len() - 1) as f64 * part).round() as usize];
    let fit = 100.0 * fit(seen);
    let (median, high, most) = (at(0.5), at(0.95), at(1.0));
    format!("{fit:.0} %: {median:.2}, {high:.2}, {most:.2}")
}
