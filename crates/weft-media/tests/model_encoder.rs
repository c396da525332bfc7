//! Compares the simulator's model of an encoder with the encoder itself.
//! `examples/fit_encoder` compares them at more rates and sizes.

use weft_experiment::ModelSetup;
use weft_media::clip::{Clip, ClipConfig};
use weft_media::metrics::psnr;
use weft_media::{EncoderConfig, Keyframe, Scaler, Vp8Decoder, Vp8Encoder};
use weft_publish::{Adaptation, AdaptationSetup, Degradation, Form, QuantizerBounds, Verdict};
use weft_sim::encoder::{self, ModelEncoder};
use weft_units::{Codec, Duration, Instant, Rate, Rng};

const FPS: u32 = 30;
const WIDTH: usize = 640;
const HEIGHT: usize = 360;

/// Size in bits and PSNR of each picture, `None` for dropped ones.
type Course = Vec<Option<(f64, f64)>>;

/// Rates in kbps, each with the number of pictures for which it applies.
type Plan = [(u64, u32)];

fn real(plan: &Plan) -> Course {
    let mut clip = Clip::new(ClipConfig {
        width: WIDTH,
        height: HEIGHT,
        fps: FPS,
        seed: 0,
    });
    let mut encoder = Vp8Encoder::new(EncoderConfig {
        width: WIDTH,
        height: HEIGHT,
        fps: FPS,
        rate: Rate::from_kbps(plan[0].0),
        temporal_layers: 1,
    })
    .unwrap();
    let mut decoder = Vp8Decoder::new().unwrap();
    each(plan, |number, rate| {
        encoder.set_rate(rate).unwrap();
        let picture = clip.picture(number.into(), u64::from(number) * 1000 / u64::from(FPS));
        let timestamp = number * (90_000 / FPS);
        let frame = encoder
            .encode(&picture, timestamp, Keyframe::Auto)
            .unwrap()?;
        let decoded = decoder.decode(&frame.data).unwrap().unwrap();
        Some((frame.data.len() as f64 * 8.0, psnr(&picture, &decoded)))
    })
}

fn model(plan: &Plan) -> Course {
    let rate = Rate::from_kbps(plan[0].0);
    let setup = ModelSetup::new(Codec::Vp8, WIDTH as u32, HEIGHT as u32, rate);
    let mut encoder = ModelEncoder::new(setup, Rng::new(1)).unwrap();
    each(plan, |number, rate| {
        encoder.set_rate(rate);
        let at = Instant::ZERO
            + Duration::from_nanos(u64::from(number) * 1_000_000_000 / u64::from(FPS));
        let frame = encoder.encode(at, encoder::Keyframe::Auto)?;
        Some((frame.size.0 as f64 * 8.0, frame.psnr_db))
    })
}

fn each(plan: &Plan, mut encode: impl FnMut(u32, Rate) -> Option<(f64, f64)>) -> Course {
    let rates = plan
        .iter()
        .flat_map(|(kbps, count)| std::iter::repeat_n(*kbps, *count as usize));
    let numbered = rates.zip(0..);
    numbered
        .map(|(kbps, number)| encode(number, Rate::from_kbps(kbps)))
        .collect()
}

fn kbps(course: &[Option<(f64, f64)>]) -> f64 {
    let bits: f64 = course.iter().flatten().map(|(bits, _)| bits).sum();
    bits * f64::from(FPS) / course.len() as f64 / 1000.0
}

fn decibels(course: &[Option<(f64, f64)>]) -> f64 {
    let coded: Vec<f64> = course.iter().flatten().map(|(_, psnr)| *psnr).collect();
    coded.iter().sum::<f64>() / coded.len() as f64
}

#[test]
fn rate_and_quality_of_the_model_are_the_encoders() {
    for rate in [300, 800] {
        let plan = [(rate, 180)];
        let (real, model) = (real(&plan), model(&plan));
        // Without the first second, which compensates for the keyframe.
        let (real, model) = (&real[30..], &model[30..]);
        let ratio = kbps(model) / kbps(real);
        assert!(
            (0.9..1.1).contains(&ratio),
            "{rate} kbps: {ratio} of the real rate"
        );
        let off = decibels(model) - decibels(real);
        assert!(off.abs() < 1.0, "{rate} kbps: {off} dB off");
    }
}

#[test]
fn the_model_spends_what_the_buffer_held_after_a_step_down() {
    let plan = [(1000, 210), (250, 60)];
    let (real, model) = (real(&plan), model(&plan));
    for (half, tolerance) in [(0, 0.35), (1, 0.2), (2, 0.2), (3, 0.2)] {
        let range = 210 + half * 15..225 + half * 15;
        let (real, model) = (
            kbps(&real[range.clone()]) / 250.0,
            kbps(&model[range]) / 250.0,
        );
        let off = (real - model).abs();
        assert!(
            off < tolerance,
            "half-second {half}: real {real}, model {model} of the target"
        );
    }
}

/// Returns the picture heights by second that the policy chooses from the output of
/// `encode`, which maps number, rate, form and restart flag to a quantizer.
fn heights(plan: &Plan, mut encode: impl FnMut(u32, Rate, Form, bool) -> Option<u8>) -> Vec<u32> {
    let mut adaptation = Adaptation::new(&AdaptationSetup {
        width: WIDTH as u32,
        height: HEIGHT as u32,
        fps: FPS.into(),
        degradation: Degradation::MaintainFrameRate,
        quantizers: QuantizerBounds::VP8,
    });
    let mut heights = Vec::new();
    each(plan, |number, rate| {
        let verdict = adaptation.on_picture(at(number), rate);
        let form = adaptation.form();
        assert_ne!(verdict, Verdict::Skip);
        let quantizer = encode(number, rate, form, verdict == Verdict::Restart);
        adaptation.on_encoded(quantizer);
        if number % FPS == FPS - 1 {
            heights.push(form.height);
        }
        None
    });
    heights
}

fn at(number: u32) -> Instant {
    Instant::ZERO + Duration::from_nanos(u64::from(number) * 1_000_000_000 / u64::from(FPS))
}

#[test]
fn the_model_adapts_as_the_encoder_does() {
    // Enough, slightly below the starting rate of the smaller size, far too little, and
    // then increasing.
    let plan = [(800, 120), (180, 150), (60, 150), (250, 120), (1000, 150)];
    let mut clip = Clip::new(ClipConfig {
        width: WIDTH,
        height: HEIGHT,
        fps: FPS,
        seed: 0,
    });
    let mut encoder = Vp8Encoder::new(EncoderConfig {
        width: WIDTH,
        height: HEIGHT,
        fps: FPS,
        rate: Rate::from_kbps(800),
        temporal_layers: 1,
    })
    .unwrap();
    let real = heights(&plan, |number, rate, form, _| {
        encoder.set_rate(rate).unwrap();
        let picture = clip.picture(number.into(), u64::from(number) * 1000 / u64::from(FPS));
        let size = (form.width as usize, form.height as usize);
        let picture = Scaler::new((WIDTH, HEIGHT), size).scale(&picture);
        let timestamp = number * (90_000 / FPS);
        let frame = encoder.encode(&picture, timestamp, Keyframe::Auto);
        frame.unwrap().map(|frame| frame.quantizer)
    });
    let setup = ModelSetup::new(
        Codec::Vp8,
        WIDTH as u32,
        HEIGHT as u32,
        Rate::from_kbps(800),
    );
    let mut encoder = ModelEncoder::new(setup, Rng::new(1)).unwrap();
    let model = heights(&plan, |number, rate, form, restart| {
        encoder.set_rate(rate);
        if restart {
            encoder.restart(form.width, form.height).unwrap();
        }
        let frame = encoder.encode(at(number), encoder::Keyframe::Auto);
        frame.map(|frame| frame.quantizer)
    });
    assert_eq!(real, model);
    assert_eq!(real[..4], [360; 4]);
    assert_eq!(real[9..14], [180; 5]);
    assert_eq!(real.last(), Some(&360));
}
