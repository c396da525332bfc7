//! Sizes and frame rates that a camera's pictures may have, from the largest down.

use weft_units::Rate;

use super::setup::{AdaptationSetup, Degradation, Form};

/// Size and frame rate, with the rate it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rung {
    pub form: Form,
    /// Whether there are fewer pictures per second than the camera takes.
    pub thinned: bool,
    /// Lowest rate at which this rung may start.
    pub needs: Rate,
}

/// At least one rung, each smaller or slower than the one before.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    rungs: Vec<Rung>,
}

/// Fractions of both sides: 3/4 and 2/3 in turn, as in libwebrtc's `video_adapter.cc`.
const SIZES: [(u32, u32); 5] = [(1, 1), (3, 4), (1, 2), (3, 8), (1, 4)];
/// Fractions of the frame rate: 30, 20, 15 and 7.5 of a camera's 30 pictures per second;
/// libwebrtc also lowers by 2/3 (`video_stream_adapter.cc`), down to the 7 of
/// [`least_fps`].
const SPEEDS: [f64; 4] = [1.0, 2.0 / 3.0, 0.5, 0.25];
/// Smallest size (libwebrtc, `video_encoder.cc`: `kDefaultMinPixelsPerFrame`).
const LEAST_PIXELS: u32 = 320 * 180;

/// Lowest starting rate for pictures of up to this many pixels (libwebrtc,
/// `encoder_info_settings.cc`: `GetDefaultSinglecastBitrateLimits`, smallest starting
/// rates for VP8 and H.264).
const STARTS: [(u32, Rate); 5] = [
    (320 * 180, Rate::ZERO),
    (480 * 270, Rate::from_kbps(200)),
    (640 * 360, Rate::from_kbps(300)),
    (960 * 540, Rate::from_kbps(500)),
    (1280 * 720, Rate::from_kbps(900)),
];

impl Ladder {
    pub fn new(setup: &AdaptationSetup) -> Ladder {
        let mut rungs = Vec::new();
        let sizes: Vec<(u32, u32)> = SIZES
            .into_iter()
            .map(|(n, d)| (part(setup.width, n, d), part(setup.height, n, d)))
            .enumerate()
            .filter(|(i, (w, h))| *i == 0 || w.saturating_mul(*h) >= LEAST_PIXELS)
            .map(|(_, size)| size)
            .collect();
        let shrinks = matches!(
            setup.degradation,
            Degradation::MaintainFrameRate | Degradation::Balanced
        );
        let sizes = if shrinks { &sizes[..] } else { &sizes[..1] };
        let mut slowest = 0;
        for (index, &(width, height)) in sizes.iter().enumerate() {
            let least = match setup.degradation {
                Degradation::Off => f64::INFINITY,
                Degradation::MaintainResolution => 0.0,
                Degradation::MaintainFrameRate if index + 1 == sizes.len() => 0.0,
                Degradation::MaintainFrameRate => f64::INFINITY,
                Degradation::Balanced => least_fps(width * height),
            };
            for (speed, fraction) in SPEEDS.into_iter().enumerate().skip(slowest) {
                let fps = setup.fps * fraction;
                if speed > slowest && fps < least {
                    break;
                }
                slowest = speed;
                let smallest = shrinks && index + 1 == sizes.len();
                let needs = match smallest {
                    true => 0.0,
                    false => starts_with(width * height).as_bps() as f64 * fraction,
                };
                rungs.push(Rung {
                    form: Form { width, height, fps },
                    thinned: speed > 0,
                    needs: Rate::from_bps(needs as u64),
                });
            }
        }
        Ladder { rungs }
    }

    pub fn last(&self) -> usize {
        self.rungs.len() - 1
    }

    pub fn rung(&self, index: usize) -> Rung {
        self.rungs[index.min(self.last())]
    }

    /// Returns the index of the largest rung that may start with this rate.
    pub fn largest_for(&self, rate: Rate) -> usize {
        let fits = self.rungs.iter().position(|rung| rung.needs <= rate);
        fits.unwrap_or(self.last())
    }
}

/// Returns a fraction of a side, rounded to an even number so that chroma has whole
/// samples.
fn part(side: u32, numerator: u32, denominator: u32) -> u32 {
    match numerator == denominator {
        true => side,
        false => {
            (side / denominator * numerator + side % denominator * numerator / denominator) & !1
        }
    }
}

/// Returns the starting rate of a size. Above the table's largest size, the bits per
/// pixel of that size apply.
fn starts_with(pixels: u32) -> Rate {
    let [.., (most, rate)] = STARTS;
    let row = STARTS.into_iter().find(|(up_to, _)| pixels <= *up_to);
    row.map_or_else(
        || Rate::from_bps(rate.as_bps() * u64::from(pixels) / u64::from(most)),
        |(_, rate)| rate,
    )
}

/// Lowest frame rate at a size (libwebrtc, `balanced_degradation_settings.cc`, default
/// configuration); larger pictures shrink first.
fn least_fps(pixels: u32) -> f64 {
    match pixels {
        0..=76_800 => 7.0,
        76_801..=172_800 => 10.0,
        172_801..=307_200 => 15.0,
        _ => f64::INFINITY,
    }
}
