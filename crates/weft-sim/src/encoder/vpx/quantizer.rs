//! VP8's quantizer indices.

/// `log2` of the quantizer step of an index (RFC 6386 section 14.1, AC
/// coefficients), whose steps grow with the index.
pub fn log2_step(index: f64) -> f64 {
    const KNEES: [(f64, f64, f64); 5] = [
        (0.0, 4.0, 1.0),
        (54.0, 58.0, 2.0),
        (83.0, 116.0, 3.0),
        (102.0, 173.0, 4.0),
        (116.0, 229.0, 5.0),
    ];
    let knee = KNEES.iter().rfind(|(from, _, _)| *from <= index);
    let (from, step, slope) = knee.copied().unwrap_or(KNEES[0]);
    (step + slope * (index - from)).log2()
}

/// The finest quantizer for a given coarsest: `inter_minq` within one step.
pub fn finest(worst: f64) -> f64 {
    (worst * (0.6 + worst / 700.0)).floor()
}

/// The same for keyframes: `kf_high_motion_minq` within three steps.
pub fn finest_key(worst: f64) -> f64 {
    ((worst - 28.0) / 4.0).floor()
}
