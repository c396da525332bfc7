//! The simulator's model of the encoder with equal budgets.

use std::error::Error;

use weft_experiment::ModelSetup;
use weft_sim::encoder::{FrameRequest, ModelEncoder};
use weft_units::{Bytes, Codec, Duration, Instant, Rate, Rng};

use crate::run::{Bound, Case, Run, Seen};
use crate::{FPS, PICTURES};

const SEEDS: u64 = 10;

/// Runs the pictures with a budget, over all seeds.
pub fn run(codec: Codec, lines: usize, kbps: u64, case: Case) -> Result<Run, Box<dyn Error>> {
    let rate = Rate::from_kbps(kbps);
    let (width, height) = (lines as u32 * 16 / 9, lines as u32);
    let setup = ModelSetup::new(codec, width, height, rate);
    let mut run = Run::new("talk", kbps, case, Bound::Budget, PICTURES * SEEDS as usize);
    for seed in 0..SEEDS {
        let mut encoder = ModelEncoder::new(setup, Rng::new(seed))?;
        for number in 0..PICTURES as u32 {
            let (keyframe, shares) = case.request(number);
            let share = rate.as_bps() as f64 / 8.0 / f64::from(FPS);
            let request = FrameRequest {
                keyframe,
                budget: shares.map(|shares| Bytes((shares * share) as u64)),
            };
            let nanos = u64::from(number) * 1_000_000_000 / u64::from(FPS);
            let at = Instant::ZERO + Duration::from_nanos(nanos);
            if let Some(frame) = encoder.encode(at, request) {
                let seen = shares.map(|shares| Seen {
                    shares,
                    size: frame.size.0 as f64 / (shares * share),
                    psnr: frame.psnr_db,
                    attempts: 1,
                });
                run.add(frame.size.0 as f64, frame.psnr_db, seen);
            }
        }
    }
    Ok(run)
}
