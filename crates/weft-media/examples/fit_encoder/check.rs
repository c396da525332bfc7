//! Compares the committed parameters with a new fit.

use weft_sim::encoder::{Parameters, Surface};
use weft_units::Codec;

use crate::measure::Measured;

/// Largest difference between a new fit and the committed one, at any measured quantizer
/// and height: the code paths of another processor change only a few bits.
const LOG2_BITS: f64 = 0.1;
const PSNR_DB: f64 = 0.3;
const LOG2_DISSIMILARITY: f64 = 0.1;
const SINGLE: f64 = 0.1;

/// Returns a line for each parameter that differs too much.
pub fn differences(
    codec: Codec,
    fitted: &Parameters,
    committed: &Parameters,
    all: &[Measured],
) -> Vec<String> {
    let runs = || {
        all.iter()
            .filter(|m| m.run.codec == codec && m.is_standard())
    };
    let points = |keyframes: bool| {
        let samples = runs().flat_map(move |m| {
            let samples = m
                .samples
                .iter()
                .filter(move |s| s.bits > 0 && s.keyframe == keyframes);
            samples.map(|s| m.at(s))
        });
        samples.collect::<Vec<[f64; 2]>>()
    };
    let (delta, key) = (points(false), points(true));
    let quality: Vec<[f64; 2]> = runs().flat_map(Measured::qualities).collect();
    let compare = |field, of: fn(&Parameters) -> Surface, points: &[[f64; 2]], allowed: f64| {
        let (a, b) = (of(fitted), of(committed));
        let distance = |[s, r]: &[f64; 2]| (a.at(*s, *r) - b.at(*s, *r)).abs();
        let farthest = points.iter().map(distance).fold(0.0, f64::max);
        (field, farthest, allowed)
    };
    let single =
        |field, of: fn(&Parameters) -> f64| (field, (of(fitted) - of(committed)).abs(), SINGLE);
    let found = [
        compare("delta_bits", |p| p.delta_bits, &delta, LOG2_BITS),
        compare("key_bits", |p| p.key_bits, &key, LOG2_BITS),
        compare("psnr", |p| p.psnr, &delta, PSNR_DB),
        compare("key_psnr", |p| p.key_psnr, &key, PSNR_DB),
        compare(
            "dissimilarity",
            |p| p.dissimilarity,
            &quality,
            LOG2_DISSIMILARITY,
        ),
        single("transition.rise", |p| p.transition.rise),
        single("transition.fall", |p| p.transition.fall),
        single("transition.up", |p| p.transition.up),
        single("transition.down", |p| p.transition.down),
        single("distance", |p| p.distance),
        single("scatter.sigma", |p| p.scatter.sigma),
        single("scatter.correlation", |p| p.scatter.correlation),
    ];
    let off = found
        .into_iter()
        .filter(|(_, distance, allowed)| distance > allowed);
    off.map(|(field, distance, allowed)| {
        format!(
            "{codec}: {field} differs by {distance:.3} from the committed one, allowed is {allowed}"
        )
    })
    .collect()
}
