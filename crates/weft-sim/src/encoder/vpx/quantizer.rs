//! VP8's quantizer indices.

/// Steps of straight pieces: from an index on, the step there, and its growth
/// by index.
type Knees<const N: usize> = [(f64, f64, f64); N];

/// `log2` of the AC step of an index (RFC 6386 section 14.1).
pub fn log2_step(index: f64) -> f64 {
    const AC: Knees<5> = [
        (0.0, 4.0, 1.0),
        (54.0, 58.0, 2.0),
        (83.0, 116.0, 3.0),
        (102.0, 173.0, 4.0),
        (116.0, 229.0, 5.0),
    ];
    at(&AC, index).log2()
}

/// The DC step of an index (the same section), within an eighth.
pub fn dc_step(index: f64) -> f64 {
    const DC: Knees<4> = [
        (0.0, 4.0, 0.86),
        (58.0, 54.0, 1.0),
        (95.0, 90.5, 1.6),
        (115.0, 122.0, 2.9),
    ];
    at(&DC, index)
}

fn at<const N: usize>(knees: &Knees<N>, index: f64) -> f64 {
    let knee = knees.iter().rfind(|(from, _, _)| *from <= index);
    let (from, step, growth) = knee.unwrap_or(&knees[0]);
    step + growth * (index - from)
}

/// The finest quantizer for a given coarsest: `inter_minq` within one step.
pub fn finest(worst: f64) -> f64 {
    (worst * (0.6 + worst / 700.0)).floor()
}

/// The same for keyframes: `kf_high_motion_minq` within three steps.
pub fn finest_key(worst: f64) -> f64 {
    ((worst - 28.0) / 4.0).floor()
}
