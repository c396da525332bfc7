//! VP8 by libvpx.

/// Target of each attempt at a picture, in parts of the budget. The third one
/// costs a picture in a hundred.
pub const AIMS: [f64; 3] = [0.85, 0.85, 0.6];
/// Octaves of size that an octave of quantizer step takes from a keyframe: the
/// fit's `key_bits` (`weft_sim::encoder::VP8`).
pub const KEYFRAME_SLOPE: f64 = 0.7;
/// Octaves of size of other frames, from one picture to the next, where what the
/// reference has already need not be paid again: the sizes come out below the
/// budget, not far below.
pub const NEXT_SLOPE: f64 = 1.7;
/// Octaves of size from one attempt to the next at the same picture.
pub const AGAIN_SLOPE: f64 = 1.1;

/// `log2` of the AC step of a quantizer index, 0 to 127 (RFC 6386 section 14.1:
/// straight pieces).
#[must_use]
pub fn log2_step(index: f64) -> f64 {
    // From an index on, the step there, and its growth by index.
    const PIECES: [(f64, f64, f64); 5] = [
        (0.0, 4.0, 1.0),
        (54.0, 58.0, 2.0),
        (83.0, 116.0, 3.0),
        (102.0, 173.0, 4.0),
        (116.0, 229.0, 5.0),
    ];
    let piece = PIECES.iter().rfind(|(from, ..)| *from <= index);
    let (from, step, growth) = piece.unwrap_or(&PIECES[0]);
    (step + growth * (index - from)).log2()
}
