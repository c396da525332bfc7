//! VP8's quantizer indices.

/// Returns the DC step of an index (RFC 6386 section 14.1), within an eighth.
pub fn dc_step(index: f64) -> f64 {
    // Linear pieces: first index, the step there, and the growth per index.
    const PIECES: [(f64, f64, f64); 4] = [
        (0.0, 4.0, 0.86),
        (58.0, 54.0, 1.0),
        (95.0, 90.5, 1.6),
        (115.0, 122.0, 2.9),
    ];
    let piece = PIECES.iter().rfind(|(from, ..)| *from <= index);
    let (from, step, growth) = piece.unwrap_or(&PIECES[0]);
    step + growth * (index - from)
}

/// Returns the finest quantizer for a given coarsest: `inter_minq` within one step.
pub fn finest(worst: f64) -> f64 {
    (worst * (0.6 + worst / 700.0)).floor()
}

/// Returns the finest quantizer of keyframes: `kf_high_motion_minq` within three steps.
pub fn finest_key(worst: f64) -> f64 {
    ((worst - 28.0) / 4.0).floor()
}
