//! The fitted parameters, as `fit_encoder` prints them.

/// A value over the quantizer step and the resolution:
/// `base + step * log2(quantizer step) + scale * log2(height / 360)`.
///
/// `log2(quantizer step)` is the step itself for VP8 (RFC 6386 section 14.1),
/// a sixth of the quantizer for H.264 (section 8.5.8: six indices double it).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plane {
    /// At step 1 and 360 lines.
    pub base: f64,
    /// By octave of the quantizer step.
    pub step: f64,
    /// By octave of the height.
    pub scale: f64,
}

/// How far sizes scatter around their mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scatter {
    /// Standard deviation of `log2` of the bits.
    pub sigma: f64,
    /// Of one picture's deviation with the next one's.
    pub correlation: f64,
}

/// One encoder on content of complexity 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// `log2` of a delta frame's bits per pixel.
    pub delta_bits: Plane,
    /// `log2` of a keyframe's bits per pixel.
    pub key_bits: Plane,
    /// Luma PSNR in dB.
    pub psnr: Plane,
    /// `log2(1 - SSIM)`.
    pub dissimilarity: Plane,
    /// Of the delta frames' bits at one quantizer.
    pub scatter: Scatter,
}

/// libvpx 1.12.
pub const VP8: Parameters = Parameters {
    delta_bits: plane(2.7, -1.3, -0.7),
    key_bits: plane(2.5, -0.8, -0.7),
    psnr: plane(52.0, -2.4, 1.7),
    dissimilarity: plane(-7.7, 0.62, -0.1),
    scatter: scatter(0.2, 0.5),
};

/// OpenH264 2.6.
pub const H264: Parameters = Parameters {
    delta_bits: plane(2.3, -1.36, -0.57),
    key_bits: plane(2.5, -0.8, -0.7),
    psnr: plane(49.9, -2.78, 1.5),
    dissimilarity: plane(-7.0, 0.66, -0.06),
    scatter: scatter(0.1, 0.0),
};

const fn plane(base: f64, step: f64, scale: f64) -> Plane {
    Plane { base, step, scale }
}

const fn scatter(sigma: f64, correlation: f64) -> Scatter {
    Scatter { sigma, correlation }
}

impl Plane {
    /// The value at a `log2` of the quantizer step and of the height over 360.
    #[must_use]
    pub fn at(&self, step: f64, scale: f64) -> f64 {
        self.base + self.step * step + self.scale * scale
    }
}
