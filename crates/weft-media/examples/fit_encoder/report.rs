//! Output of the fit: the parameters in the format of `weft-sim`, and the model's
//! deviation from the real encoders.

use std::fmt::Write;

use weft_experiment::ModelSetup;
use weft_sim::encoder::{Keyframe, ModelEncoder, Parameters, Surface, Transition};
use weft_units::{Codec, Duration, Instant, Rate, Rng};

use crate::fit::mean;
use crate::measure::{Measured, Sample};
use crate::plan::{FPS, Run, SECOND_KEYFRAME, STEPS};

/// Number of seeds over which the model's results are averaged.
const SEEDS: u64 = 20;
const HALF_SECOND: usize = FPS as usize / 2;

/// Formats the parameters as Rust code to paste.
pub fn parameters(codec: Codec, fitted: &Parameters) -> String {
    let surface = |s: &Surface| {
        let Surface {
            base,
            step,
            scale,
            bend,
            twist,
        } = s;
        format!("surface({base:.4}, {step:.4}, {scale:.4}, {bend:.4}, {twist:.4})")
    };
    let name = codec.to_string().to_uppercase();
    let mut out = format!("pub const {name}: Parameters = Parameters {{\n");
    let surfaces = [
        ("delta_bits", fitted.delta_bits),
        ("key_bits", fitted.key_bits),
        ("psnr", fitted.psnr),
        ("key_psnr", fitted.key_psnr),
        ("dissimilarity", fitted.dissimilarity),
    ];
    for (field, value) in surfaces {
        let _ = writeln!(out, "    {field}: {},", surface(&value));
    }
    let Transition {
        rise,
        fall,
        up,
        down,
    } = fitted.transition;
    let _ = writeln!(
        out,
        "    transition: transition({rise:.3}, {fall:.3}, {up:.3}, {down:.3}),\n    distance: {:.3},",
        fitted.distance
    );
    let (sigma, correlation) = (fitted.scatter.sigma, fitted.scatter.correlation);
    let _ = writeln!(
        out,
        "    scatter: scatter({sigma:.3}, {correlation:.3}),\n}};"
    );
    out
}

/// Runs the model on a run's rates and keyframes.
pub fn model(run: &Run, seed: u64) -> Vec<Sample> {
    let mut setup = ModelSetup::new(
        run.codec,
        run.width() as u32,
        run.height as u32,
        Rate::from_kbps(run.kbps(0)),
    );
    setup.temporal_layers = run.layers;
    setup.fps = f64::from(FPS);
    let mut encoder = ModelEncoder::new(setup, Rng::new(seed)).expect("a run of the plan");
    let sample = |number: u32| {
        let kbps = run.kbps(number);
        encoder.set_rate(Rate::from_kbps(kbps));
        let keyframe = match run.keyframes.contains(&number) {
            true => Keyframe::Force,
            false => Keyframe::Auto,
        };
        let at = Instant::ZERO
            + Duration::from_nanos(u64::from(number) * 1_000_000_000 / u64::from(FPS));
        let frame = encoder.encode(at, keyframe);
        let dropped = Sample {
            kbps,
            ..Sample::default()
        };
        frame.map_or(dropped, |frame| Sample {
            kbps,
            bits: frame.size.0 as usize * 8,
            keyframe: frame.keyframe,
            layer: frame.temporal_layer.unwrap_or(0),
            quantizer: frame.quantizer,
            psnr: frame.psnr_db,
            ssim: frame.ssim,
        })
    };
    (0..run.pictures).map(sample).collect()
}

/// Returns a value of a run's samples: from the real encoder, and the model's mean.
fn both(
    measured: &Measured,
    modelled: &[Vec<Sample>],
    value: impl Fn(&[Sample]) -> f64,
) -> [f64; 2] {
    [
        value(&measured.samples),
        mean(modelled.iter().map(|s| value(s))),
    ]
}

/// Returns the bits relative to the rate.
fn ratio(samples: &[Sample]) -> f64 {
    let bits: usize = samples.iter().map(|s| s.bits).sum();
    let allowed: f64 = samples
        .iter()
        .map(|s| s.kbps as f64 * 1000.0 / f64::from(FPS))
        .sum();
    bits as f64 / allowed
}

fn coded_mean(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> f64 {
    mean(samples.iter().filter(|s| s.bits > 0).map(value))
}

fn pair(out: &mut String, digits: usize, [real, model]: [f64; 2]) {
    let _ = write!(out, " {real:.digits$} / {model:.digits$} |");
}

/// Formats steady state and keyframes, real / model.
pub fn steady(all: &[Measured]) -> String {
    let mut out = "| codec | height | kbps | rate / target | dropped % | QP | PSNR dB | 1000 (1 - SSIM) | first keyframe / share | second | 10 after it |\n|---|---|---|---|---|---|---|---|---|---|---|\n".to_owned();
    for measured in all.iter().filter(|m| m.run.rates.len() == 1) {
        let run = &measured.run;
        let modelled: Vec<Vec<Sample>> = (0..SEEDS).map(|seed| model(run, seed)).collect();
        let both = |value: &dyn Fn(&[Sample]) -> f64| both(measured, &modelled, value);
        let key = SECOND_KEYFRAME as usize;
        let settled = 60..key;
        let name = match (run.layers, run.seed) {
            (1, 0) => run.codec.to_string(),
            (1, seed) => format!("{}, seed {seed}", run.codec),
            (layers, _) => format!("{}, {layers} layers", run.codec),
        };
        let _ = write!(out, "| {name} | {} | {} |", run.height, run.kbps(0));
        pair(&mut out, 2, both(&|s| ratio(&s[settled.clone()])));
        let dropped = |s: &[Sample]| {
            mean(
                s[settled.clone()]
                    .iter()
                    .map(|s| f64::from(u8::from(s.bits == 0))),
            )
        };
        pair(&mut out, 0, both(&|s| 100.0 * dropped(s)));
        pair(
            &mut out,
            1,
            both(&|s| coded_mean(&s[settled.clone()], |s| s.quantizer.into())),
        );
        pair(
            &mut out,
            1,
            both(&|s| coded_mean(&s[settled.clone()], |s| s.psnr)),
        );
        pair(
            &mut out,
            1,
            both(&|s| 1000.0 * coded_mean(&s[settled.clone()], |s| 1.0 - s.ssim)),
        );
        pair(&mut out, 1, both(&|s| ratio(&s[..1])));
        pair(&mut out, 1, both(&|s| ratio(&s[key..=key])));
        pair(&mut out, 2, both(&|s| ratio(&s[key + 1..=key + 10])));
        out.push('\n');
    }
    out
}

/// Formats half-seconds after steps of the rate, real / model.
pub fn steps(all: &[Measured]) -> String {
    let mut out = "| codec | height | kbps | 0 to 0.5 s | to 1.0 | to 1.5 | to 2.0 | to 2.5 |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for measured in all.iter().filter(|m| m.run.rates.len() > 1) {
        let run = &measured.run;
        let modelled: Vec<Vec<Sample>> = (0..SEEDS).map(|seed| model(run, seed)).collect();
        for step in STEPS {
            let (before, after) = (run.kbps(step - 1), run.kbps(step));
            let _ = write!(
                out,
                "| {} | {} | {before} to {after} |",
                run.codec, run.height
            );
            for half in 0..5 {
                let from = step as usize + half * HALF_SECOND;
                let range = from..from + HALF_SECOND;
                pair(
                    &mut out,
                    2,
                    both(measured, &modelled, |s| ratio(&s[range.clone()])),
                );
            }
            out.push('\n');
        }
    }
    out
}

/// Formats the cost of other clips, as the model's complexity.
pub fn complexity(all: &[Measured]) -> String {
    let mut out = "| codec | clip | complexity |\n|---|---|---|\n".to_owned();
    for measured in all.iter().filter(|m| m.run.seed != 0) {
        let run = &measured.run;
        let _ = writeln!(
            out,
            "| {} | seed {}, {} kbps | {:.2} |",
            run.codec,
            run.seed,
            run.kbps(0),
            measured.complexity()
        );
    }
    out
}
