//! Least squares: the parameters of `weft_sim::encoder` from samples.

use weft_sim::encoder::{Parameters, Scatter, Surface, Transition};
use weft_units::Codec;

use crate::measure::{Measured, Sample};

/// Pictures until rate control has settled: at the start, after a keyframe and after a
/// step.
const SETTLE: usize = 75;

/// Gap below which differences are noise of the pictures, not transitions.
const LEAST_GAP_DB: f64 = 0.5;

/// Mean over pictures at one rate: a point for fitting the surfaces.
struct Point {
    /// `log2` of the quantizer step, `log2(height / 360)`.
    at: [f64; 2],
    bits: f64,
    psnr: f64,
}

/// A delta frame compared with the long-run quality of its quantizer.
struct Move {
    /// Quality gap to the previous picture, in dB.
    gap: f64,
    /// Improvement in dB.
    moved: f64,
    /// `log2` of its bits above the surface.
    extra: f64,
}

/// Fits one encoder, from runs of the first clip with one layer.
pub fn fit(codec: Codec, all: &[Measured]) -> Parameters {
    // Only VP8 was run with temporal layers.
    let distance = (codec != Codec::Vp8).then(|| fit(Codec::Vp8, all).distance);
    let standard = |m: &&Measured| m.run.codec == codec && m.is_standard();
    let runs: Vec<&Measured> = all.iter().filter(standard).collect();
    let points: Vec<Point> = runs.iter().flat_map(|m| points(m)).collect();
    let through = |value: fn(&Point) -> f64| surface(points.iter().map(|p| (p.at, value(p))));
    let (delta_bits, psnr) = (through(|p| p.bits), through(|p| p.psnr));
    let distance = distance.unwrap_or_else(|| self::distance(all, &delta_bits));
    let coded = |keyframes: bool| {
        let samples = move |m: &&'_ Measured| m.coded(keyframes);
        runs.iter()
            .flat_map(move |m| samples(m).into_iter().map(move |s| (*m, s)))
    };
    let on_keyframes = |value: fn(&Measured, &Sample) -> f64| {
        plane(coded(true).map(|(m, s)| (m.at(&s), value(m, &s))))
    };
    let dissimilarities = coded(false).map(|(m, s)| ([s.psnr, m.scale()], (1.0 - s.ssim).log2()));
    let moves: Vec<Vec<Move>> = runs.iter().map(|m| moves(m, &delta_bits, &psnr)).collect();
    let transition = transition(codec, &moves);
    Parameters {
        delta_bits,
        key_bits: on_keyframes(Measured::log2_bits),
        psnr,
        key_psnr: on_keyframes(|_, s| s.psnr),
        dissimilarity: plane(dissimilarities),
        transition,
        distance,
        scatter: match codec {
            // Relative to the picture's share of the rate.
            Codec::H264 => scatter(runs.iter().flat_map(|m| {
                let stretches = m.stretches().into_iter();
                stretches.map(|s| {
                    s.iter()
                        .filter(|s| s.bits > 0)
                        .map(|s| m.log2_bits(s))
                        .collect()
                })
            })),
            _ => scatter(moves.iter().map(|moves| {
                let expected =
                    |m: &Move| transition.up * m.gap.max(0.0) + transition.down * m.gap.min(0.0);
                let settled = moves.iter().skip(SETTLE);
                settled.map(|m| m.extra - expected(m)).collect()
            })),
        },
    }
}

impl Measured {
    /// Whether it is the built-in clip with complexity 1.
    pub fn is_standard(&self) -> bool {
        self.run.seed == 0 && self.run.layers == 1
    }

    /// Returns the size of its delta frames relative to the committed model's at equal
    /// quantizers.
    pub fn complexity(&self) -> f64 {
        let plane = self.run.model().parameters.delta_bits;
        let stretches = self.stretches();
        let coded = stretches.into_iter().flatten().filter(|s| s.bits > 0);
        let off = coded.map(|s| {
            let [step, scale] = self.at(s);
            self.log2_bits(s) - plane.at(step, scale)
        });
        mean(off).exp2()
    }

    pub fn at(&self, sample: &Sample) -> [f64; 2] {
        let step = (self.run.model().log2_step)(sample.quantizer.into());
        [step, self.scale()]
    }

    fn coded(&self, keyframes: bool) -> Vec<Sample> {
        let wanted = |s: &&Sample| s.bits > 0 && s.keyframe == keyframes;
        self.samples.iter().filter(wanted).copied().collect()
    }

    /// Returns PSNR and scale of every delta frame.
    pub fn qualities(&self) -> Vec<[f64; 2]> {
        self.coded(false)
            .iter()
            .map(|s| [s.psnr, self.scale()])
            .collect()
    }

    fn scale(&self) -> f64 {
        (self.run.height as f64 / 360.0).log2()
    }

    fn log2_bits(&self, sample: &Sample) -> f64 {
        let pixels = self.run.width() * self.run.height;
        (sample.bits as f64 / pixels as f64).log2()
    }

    /// Returns settled ranges of pictures at one rate, without keyframes.
    pub fn stretches(&self) -> Vec<&[Sample]> {
        let mut breaks = vec![0];
        for (number, pair) in self.samples.windows(2).enumerate() {
            if pair[1].keyframe || pair[1].kbps != pair[0].kbps {
                breaks.push(number + 1);
            }
        }
        let ends = breaks.iter().skip(1).copied().chain([self.samples.len()]);
        let ranges = breaks.iter().zip(ends);
        let settled = ranges.map(|(from, to)| (from + SETTLE).min(to)..to);
        settled
            .filter(|r| r.len() >= 10)
            .map(|r| &self.samples[r])
            .collect()
    }
}

fn points(measured: &Measured) -> Vec<Point> {
    let point = |samples: &[Sample]| {
        let coded = || samples.iter().filter(|s| s.bits > 0);
        let mean = |value: &dyn Fn(&Sample) -> f64| mean(coded().map(value));
        Point {
            at: [mean(&|s| measured.at(s)[0]), measured.scale()],
            bits: mean(&|s| measured.log2_bits(s)),
            psnr: mean(&|s| s.psnr),
        }
    };
    measured.stretches().into_iter().map(point).collect()
}

fn moves(measured: &Measured, bits: &Surface, psnr: &Surface) -> Vec<Move> {
    let coded: Vec<&Sample> = measured.samples.iter().filter(|s| s.bits > 0).collect();
    let deltas = coded.windows(2).filter(|pair| !pair[1].keyframe);
    let one = |pair: &[&Sample]| {
        let [step, scale] = measured.at(pair[1]);
        Move {
            gap: psnr.at(step, scale) - pair[0].psnr,
            moved: pair[1].psnr - pair[0].psnr,
            extra: measured.log2_bits(pair[1]) - bits.at(step, scale),
        }
    };
    deltas.map(one).collect()
}

/// Returns the cost of an octave of distance between a picture and its reference.
/// Compares the lower temporal layers, whose references are two and four pictures old,
/// with the highest one.
fn distance(all: &[Measured], bits: &Surface) -> f64 {
    let (mut product, mut square) = (0.0, 0.0);
    for measured in all.iter().filter(|m| m.run.layers == 3) {
        for sample in measured
            .stretches()
            .into_iter()
            .flatten()
            .filter(|s| s.bits > 0)
        {
            let octaves = f64::from(2 - sample.layer);
            let [step, scale] = measured.at(sample);
            let extra = measured.log2_bits(sample) - bits.at(step, scale);
            product += octaves * extra;
            square += octaves * octaves;
        }
    }
    product / square
}

/// Returns slopes through the origin over the gaps that exceed the noise.
fn transition(codec: Codec, moves: &[Vec<Move>]) -> Transition {
    let slope = |value: fn(&Move) -> f64, counts: fn(&Move) -> bool| {
        let counted = moves.iter().flatten().filter(|m| counts(m));
        let sums = counted.fold((0.0, 0.0), |(product, square), m| {
            (product + m.gap * value(m), square + m.gap * m.gap)
        });
        sums.0 / sums.1
    };
    let upwards: fn(&Move) -> bool = |m| m.gap > LEAST_GAP_DB;
    let downwards: fn(&Move) -> bool = |m| m.gap < -LEAST_GAP_DB;
    // OpenH264's sizes follow the rate, regardless of the quantizers.
    let (up, down) = match codec {
        Codec::H264 => (0.0, 0.0),
        _ => (slope(|m| m.extra, upwards), slope(|m| m.extra, downwards)),
    };
    Transition {
        rise: slope(|m| m.moved, upwards),
        fall: slope(|m| m.moved, downwards),
        up,
        down,
    }
}

pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    sum / count
}

/// Returns the deviations of single pictures from the mean of their sequence.
fn scatter(sequences: impl Iterator<Item = Vec<f64>>) -> Scatter {
    let (mut square, mut product, mut count) = (0.0, 0.0, 0.0);
    for values in sequences {
        let middle = mean(values.iter().copied());
        for pair in values.windows(2) {
            square += (pair[0] - middle).powi(2);
            product += (pair[0] - middle) * (pair[1] - middle);
            count += 1.0;
        }
    }
    Scatter {
        sigma: f64::sqrt(square / count),
        correlation: product / square,
    }
}

type Points<'a> = &'a mut dyn Iterator<Item = ([f64; 2], f64)>;

/// Returns the surface with the smallest squared distance in value.
fn surface(mut points: impl Iterator<Item = ([f64; 2], f64)>) -> Surface {
    let terms = |[s, r]: [f64; 2]| [1.0, s, r, s * s, s * r];
    let [base, step, scale, bend, twist] = least_squares(&mut points, terms);
    Surface {
        base,
        step,
        scale,
        bend,
        twist,
    }
}

/// Returns a surface without curvature, for keyframes (there are few) and for linear
/// relations.
fn plane(mut points: impl Iterator<Item = ([f64; 2], f64)>) -> Surface {
    let [base, step, scale] = least_squares(&mut points, |[s, r]| [1.0, s, r]);
    Surface {
        base,
        step,
        scale,
        bend: 0.0,
        twist: 0.0,
    }
}

/// Solves the normal equations by Gauss-Jordan elimination. They are positive
/// definite, so no pivot is needed.
fn least_squares<const N: usize>(
    points: Points<'_>,
    terms: impl Fn([f64; 2]) -> [f64; N],
) -> [f64; N] {
    let mut rows = [([0.0; N], 0.0); N];
    for (at, value) in points {
        let x = terms(at);
        for ((row, right), x_row) in rows.iter_mut().zip(x) {
            row.iter_mut()
                .zip(x)
                .for_each(|(cell, x)| *cell += x_row * x);
            *right += x_row * value;
        }
    }
    for pivot in 0..N {
        let (row, right) = rows[pivot];
        let scaled = (row.map(|cell| cell / row[pivot]), right / row[pivot]);
        rows[pivot] = scaled;
        for (_, (row, right)) in rows
            .iter_mut()
            .enumerate()
            .filter(|(other, _)| *other != pivot)
        {
            let factor = row[pivot];
            row.iter_mut()
                .zip(scaled.0)
                .for_each(|(cell, s)| *cell -= factor * s);
            *right -= factor * scaled.1;
        }
    }
    rows.map(|(_, right)| right)
}
