//! VP8 by libvpx.

/// Target of each attempt at a picture, as a fraction of the budget. One picture in a
/// hundred needs the third attempt.
pub const AIMS: [f64; 3] = [0.85, 0.85, 0.6];
/// Octaves by which a keyframe shrinks per octave of quantizer step: the fit's `key_bits`
/// (`weft_sim::encoder::VP8`).
pub const KEYFRAME_SLOPE: f64 = 0.7;
/// Octaves by which other frames shrink per octave of step, from one picture to the next.
/// The encoder does not pay again for the detail of the reference, so sizes stay below
/// the budget, but not far below.
pub const NEXT_SLOPE: f64 = 1.7;
/// Octaves by which the same picture shrinks per octave of step, from one attempt to the
/// next.
pub const AGAIN_SLOPE: f64 = 1.1;

/// Returns `log2` of the AC step of a quantizer index, 0 to 127 (RFC 6386 section 14.1,
/// as a piecewise linear function).
#[must_use]
pub fn log2_step(index: f64) -> f64 {
    // First index of each piece, the step there, and the growth of the step per index.
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
