//! Inputs and outputs of rate control for a picture.

use weft_experiment::ModelSetup;

use super::parameters::Transition;

/// Picture as rate control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Pictures per second.
    pub fps: f64,
    pub layer: usize,
    /// `log2` of the time to the picture that it refers to, in 30ths of a second.
    pub distance: f64,
    pub keyframe: bool,
    /// Largest size that it may have, in bits.
    pub budget: Option<f64>,
}

/// Result of rate control for a picture.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub bits: f64,
    /// Quantizer, in the codec's own units.
    pub quantizer: f64,
    pub psnr: f64,
}

/// Quality from one reference to the next, in dB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quality {
    reference: f64,
}

/// Cost of the content.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    pub pixels: f64,
    /// `log2(height / 360)`, the fit's variable for the resolution.
    pub scale: f64,
    /// `log2` of the complexity.
    pub complexity: f64,
}

/// Range of heights for which the fit is extrapolated beyond its measurements: 180 and
/// 1080 lines.
const LEAST_SCALE: f64 = -1.0;
const MOST_SCALE: f64 = 1.6;

impl Content {
    pub fn of(setup: &ModelSetup) -> Content {
        Content {
            pixels: f64::from(setup.width) * f64::from(setup.height),
            scale: (f64::from(setup.height) / 360.0)
                .log2()
                .clamp(LEAST_SCALE, MOST_SCALE),
            complexity: setup.complexity.log2(),
        }
    }

    /// Returns the bits of a picture with this `log2` of bits per pixel at complexity 1,
    /// at most those of the raw picture in I420.
    pub fn bits(&self, per_pixel: f64) -> f64 {
        const RAW: f64 = 12.0;
        (per_pixel + self.complexity).exp2().min(RAW) * self.pixels
    }
}

impl Quality {
    /// Returns the long-run quality of the quantizer minus the current quality.
    pub fn gap(&self, long_run: f64) -> f64 {
        long_run - self.reference
    }

    /// Returns the quality of a delta frame.
    pub fn after(&self, gap: f64, transition: &Transition) -> f64 {
        let moved = transition.rise * gap.max(0.0) + transition.fall * gap.min(0.0);
        self.reference + moved
    }

    /// Stores the quality for later pictures that refer to this one, if it is in the base
    /// layer.
    pub fn follow(&mut self, psnr: f64, layer: usize) {
        if layer == 0 {
            self.reference = psnr;
        }
    }
}
