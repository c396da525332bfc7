//! Shared arithmetic for keeping a picture within a budget: estimates the quantizer for a
//! given size from earlier pictures.
//!
//! The encoders of `weft-media` and their models in `weft-sim` share this estimate and
//! these numbers; how they use them, and the resulting sizes, differ. Numbers without
//! another source are chosen by us: `cargo run -p weft-media --example frame_budget`
//! shows their effect.

pub mod h264;
pub mod vp8;

/// Remembers the last keyframe and the last other frame of an encoder.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizeGuess {
    keyframe: Option<Seen>,
    delta: Option<Seen>,
}

/// Step and size of an encoded frame.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// `log2` of the quantizer step.
    pub step: f64,
    /// Size in bytes or bits, as the encoder counts.
    pub size: f64,
}

impl SizeGuess {
    /// Records an encoded frame.
    pub fn on_frame(&mut self, keyframe: bool, seen: Seen) {
        match keyframe {
            true => self.keyframe = Some(seen),
            false => self.delta = Some(seen),
        }
    }

    /// Returns the last frame of this kind.
    #[must_use]
    pub fn seen(&self, keyframe: bool) -> Option<Seen> {
        match keyframe {
            true => self.keyframe,
            false => self.delta,
        }
    }
}

impl Seen {
    /// Returns `log2` of the step at which the frame would have this size, if each octave
    /// of step reduces the size by `slope` octaves.
    #[must_use]
    pub fn step_for(&self, size: f64, slope: f64) -> f64 {
        self.step + (self.size / size).log2() / slope
    }
}
