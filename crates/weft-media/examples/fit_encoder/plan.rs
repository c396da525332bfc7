//! Plan of the runs: picture heights, rates, steps of the rate, keyframes.

use weft_sim::encoder::EncoderModel;
use weft_units::Codec;

/// Pictures per second of all runs, as in the product's clip.
pub const FPS: u32 = 30;

/// One encoder on one clip.
#[derive(Clone, Debug)]
pub struct Run {
    pub codec: Codec,
    /// Picture height in pixels; all are 16:9.
    pub height: usize,
    /// Seed of the clip.
    pub seed: u64,
    pub layers: u8,
    /// Rates in kbps, each valid from a picture number on; the first from 0.
    pub rates: Vec<(u32, u64)>,
    /// Pictures that are forced to be keyframes.
    pub keyframes: Vec<u32>,
    pub pictures: u32,
}

/// Runs on the same pictures, which are painted once.
pub struct Group {
    pub height: usize,
    pub seed: u64,
    pub runs: Vec<Run>,
}

/// Number of the second keyframe of a run at one rate: late enough for libvpx's rate
/// control to have left its start (150 pictures), early enough to show its cost.
pub const SECOND_KEYFRAME: u32 = 210;

const STEADY_PICTURES: u32 = 300;
const STEP_PICTURES: u32 = 600;
/// Pictures at which the rate of a run with steps changes.
pub const STEPS: [u32; 2] = [300, 450];

/// Returns all runs of the fit.
pub fn groups() -> Vec<Group> {
    let mut groups = vec![
        group(
            720,
            0,
            &[250, 400, 700, 1200, 2000, 3000],
            &[[2500, 500, 1500], [600, 1800, 400]],
        ),
        group(540, 0, &[200, 500, 1500], &[]),
        group(
            360,
            0,
            &[80, 130, 220, 400, 700, 1100],
            &[[1000, 200, 600], [250, 750, 150]],
        ),
    ];
    for seed in [1, 2] {
        groups.push(group(360, seed, &[300, 600], &[]));
    }
    for (height, kbps) in [(720, 1200), (360, 400)] {
        let at = groups
            .iter()
            .position(|g| g.height == height && g.seed == 0);
        let mut layered = steady(Codec::Vp8, height, 0, kbps);
        layered.layers = 3;
        groups[at.expect("both heights are there")]
            .runs
            .push(layered);
    }
    groups
}

fn group(height: usize, seed: u64, rates: &[u64], steps: &[[u64; 3]]) -> Group {
    let mut runs = Vec::new();
    for codec in [Codec::Vp8, Codec::H264] {
        runs.extend(rates.iter().map(|kbps| steady(codec, height, seed, *kbps)));
        runs.extend(steps.iter().map(|rates| Run {
            rates: [0, STEPS[0], STEPS[1]].into_iter().zip(*rates).collect(),
            keyframes: Vec::new(),
            pictures: STEP_PICTURES,
            ..steady(codec, height, seed, 0)
        }));
    }
    Group { height, seed, runs }
}

fn steady(codec: Codec, height: usize, seed: u64, kbps: u64) -> Run {
    Run {
        codec,
        height,
        seed,
        layers: 1,
        rates: vec![(0, kbps)],
        keyframes: vec![SECOND_KEYFRAME],
        pictures: STEADY_PICTURES,
    }
}

impl Run {
    pub fn model(&self) -> &'static EncoderModel {
        EncoderModel::of(self.codec).expect("a plan has only codecs with a model")
    }

    pub fn width(&self) -> usize {
        self.height * 16 / 9
    }

    /// Returns the rate of a picture in kbps.
    pub fn kbps(&self, picture: u32) -> u64 {
        let past = self.rates.iter().take_while(|(from, _)| *from <= picture);
        past.last().map_or(0, |(_, kbps)| *kbps)
    }
}
