//! H.264 by OpenH264.

/// Target of each attempt at a keyframe, as a fraction of the budget.
pub const KEYFRAME_AIMS: [f64; 3] = [0.8, 0.85, 0.6];
/// Target of any other picture, which has no second attempt.
pub const DELTA_AIM: f64 = 0.65;
/// Octaves by which a keyframe shrinks per octave of quantizer step: the fit's `key_bits`
/// (`weft_sim::encoder::H264`).
pub const KEYFRAME_SLOPE: f64 = 0.7;
/// Octaves by which other frames shrink per octave of step: less than the fit's
/// `delta_bits`, so that a large change of step makes frames too small rather than too
/// large.
pub const DELTA_SLOPE: f64 = 1.4;
/// Largest decrease of the quantizer from one picture to the next: the estimate is good
/// only near the last frame, and a frame that is too large is not encoded again.
pub const FINER: f64 = 1.0;
/// Rate control keeps a picture within this multiple of the larger of its share and the
/// last picture (`iMaxBitsTl` in `ratectl.cpp`).
pub const SCATTER: f64 = 1.5;
/// Quantizer increments that double the step (ITU-T H.264 section 8.5.8).
pub const PER_OCTAVE: f64 = 6.0;
/// Coarsest quantizer (ITU-T H.264 section 7.4.2.2).
pub const COARSEST: f64 = 51.0;
