//! H.264 by OpenH264.

/// Target of each attempt at a keyframe, in parts of the budget.
pub const KEYFRAME_AIMS: [f64; 3] = [0.8, 0.85, 0.6];
/// Target of any other picture: there is no second attempt.
pub const DELTA_AIM: f64 = 0.65;
/// Octaves of size that an octave of quantizer step takes from a keyframe: the
/// fit's `key_bits` (`weft_sim::encoder::H264`).
pub const KEYFRAME_SLOPE: f64 = 0.7;
/// Octaves of size of other frames: less than the fit's `delta_bits` have, so
/// that a large step comes out too small rather than too large.
pub const DELTA_SLOPE: f64 = 1.4;
/// A picture gets finer than the last one by so many quantizers at most: the
/// guess is good near what was seen, and a frame that is too large stays so.
pub const FINER: f64 = 1.0;
/// Rate control keeps a picture within this many times the larger of its share
/// and of the last one (`iMaxBitsTl` in `ratectl.cpp`).
pub const SCATTER: f64 = 1.5;
/// Quantizers that double the step (ITU-T H.264 section 8.5.8).
pub const PER_OCTAVE: f64 = 6.0;
/// The coarsest quantizer (ITU-T H.264 section 7.4.2.2).
pub const COARSEST: f64 = 51.0;
