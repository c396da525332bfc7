//! How encoders keep a picture within a budget: which quantizer gives a picture
//! of a certain size, by the pictures before.
//!
//! The real encoders of `weft-media` and their models in `weft-sim` calculate
//! with the same guess and the same numbers; what they do with them, and what a
//! picture then has, is theirs. Numbers without another source are chosen by us:
//! `cargo run -p weft-media --example frame_budget` shows what they give.

pub mod h264;
pub mod vp8;

/// Remembers the last keyframe and the last other frame of an encoder.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizeGuess {
    keyframe: Option<Seen>,
    delta: Option<Seen>,
}

/// A frame that was encoded.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// `log2` of the quantizer step.
    pub step: f64,
    /// In bytes or bits, as the encoder counts.
    pub size: f64,
}

impl SizeGuess {
    /// A frame was encoded.
    pub fn on_frame(&mut self, keyframe: bool, seen: Seen) {
        match keyframe {
            true => self.keyframe = Some(seen),
            false => self.delta = Some(seen),
        }
    }

    /// The last frame of this kind.
    #[must_use]
    pub fn seen(&self, keyframe: bool) -> Option<Seen> {
        match keyframe {
            true => self.keyframe,
            false => self.delta,
        }
    }
}

impl Seen {
    /// `log2` of the step at which the frame would have this size, if an octave
    /// more of step leaves it `slope` octaves less.
    #[must_use]
    pub fn step_for(&self, size: f64, slope: f64) -> f64 {
        self.step + (self.size / size).log2() / slope
    }
}
