//! Fitted parameters, as `fit_encoder` prints them.

/// Value over the quantizer step and the resolution: with `s = log2(quantizer step)` and
/// `r = log2(height / 360)` it is `base + step s + scale r + bend s^2 + twist s r`.
///
/// For VP8, the step is that of RFC 6386 section 14.1; for H.264, `s` is a sixth of the
/// quantizer (section 8.5.8: six indices double the step).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Surface {
    /// Value at `s = 0` and 360 lines.
    pub base: f64,
    /// Linear coefficient of `s`.
    pub step: f64,
    /// Linear coefficient of `r`.
    pub scale: f64,
    /// Quadratic coefficient of `s`.
    pub bend: f64,
    /// Coefficient of the product `s r`.
    pub twist: f64,
}

/// Deviation of sizes from their mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scatter {
    /// Standard deviation of `log2` of the bits.
    pub sigma: f64,
    /// Correlation of one picture's deviation with the next one's.
    pub correlation: f64,
}

/// Transition of a picture's quality from its reference's quality to the long-run quality
/// of its quantizer; their difference is the gap.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transition {
    /// Fraction of the gap that one picture closes upwards.
    pub rise: f64,
    /// Fraction of the gap that one picture closes downwards.
    pub fall: f64,
    /// `log2` of the additional bits per dB of improvement.
    pub up: f64,
    /// `log2` of the saved bits per dB of decline.
    pub down: f64,
}

/// Parameters of one encoder, on content of complexity 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// `log2` of a delta frame's bits per pixel.
    pub delta_bits: Surface,
    /// `log2` of a keyframe's bits per pixel.
    pub key_bits: Surface,
    /// Luma PSNR in dB, in the long run.
    pub psnr: Surface,
    /// Luma PSNR of a keyframe in dB.
    pub key_psnr: Surface,
    /// `log2(1 - SSIM)` over PSNR in dB (in place of `s`).
    pub dissimilarity: Surface,
    /// Transition from picture to picture.
    pub transition: Transition,
    /// `log2` of the additional bits per octave of time to the reference, above a 30th of
    /// a second. Measured on VP8's temporal layers only.
    pub distance: f64,
    /// Deviation of the delta frames' bits: at one quantizer for VP8, around the
    /// picture's share of the rate for H.264.
    pub scatter: Scatter,
}

/// Parameters of libvpx 1.12 in `weft-media`'s configuration, on its clip.
pub const VP8: Parameters = Parameters {
    delta_bits: surface(11.0278, -4.1120, -1.6301, 0.2407, 0.1308),
    key_bits: surface(2.3053, -0.7230, -0.7547, 0.0000, 0.0000),
    psnr: surface(54.0523, -3.1399, -0.2724, 0.0828, 0.2965),
    key_psnr: surface(53.2148, -2.7242, 1.9042, 0.0000, 0.0000),
    dissimilarity: surface(3.2238, -0.1949, 0.3491, 0.0000, 0.0000),
    transition: transition(0.404, 0.274, 0.422, 0.183),
    distance: 0.180,
    scatter: scatter(0.294, -0.010),
};

/// Parameters of OpenH264 2.6 in libwebrtc's configuration, on the same clip.
pub const H264: Parameters = Parameters {
    delta_bits: surface(5.5677, -2.8657, -1.6971, 0.1497, 0.2420),
    key_bits: surface(2.5630, -0.8248, -0.7388, 0.0000, 0.0000),
    psnr: surface(45.3827, -0.3621, -1.2898, -0.2600, 0.6073),
    key_psnr: surface(52.9789, -2.9224, 1.3509, 0.0000, 0.0000),
    dissimilarity: surface(2.2877, -0.1708, 0.3131, 0.0000, 0.0000),
    transition: transition(0.397, 0.490, 0.000, 0.000),
    distance: 0.180,
    scatter: scatter(0.127, 0.049),
};

const fn surface(base: f64, step: f64, scale: f64, bend: f64, twist: f64) -> Surface {
    Surface {
        base,
        step,
        scale,
        bend,
        twist,
    }
}

const fn transition(rise: f64, fall: f64, up: f64, down: f64) -> Transition {
    Transition {
        rise,
        fall,
        up,
        down,
    }
}

const fn scatter(sigma: f64, correlation: f64) -> Scatter {
    Scatter { sigma, correlation }
}

impl Surface {
    /// Returns the value at `s` and `r`.
    #[must_use]
    pub fn at(&self, s: f64, r: f64) -> f64 {
        self.base + (self.step + self.bend * s + self.twist * r) * s + self.scale * r
    }
}
