//! Blurring and downscaling of grey pictures.

/// Grey values from 0 to 1, row by row.
#[derive(Clone, Debug)]
pub struct Grey {
    pub width: usize,
    pub height: usize,
    pub values: Vec<f32>,
}

/// Samples of the Gaussian on either side of its middle, and its deviation: Mittal et
/// al., section III-A (7 x 7, 7/6 as in their program).
const REACH: usize = 3;
const SIGMA: f64 = 7.0 / 6.0;
/// Parameter of the cubic kernel, as in OpenCV.
const CUBIC: f64 = -0.75;

impl Grey {
    pub fn new(width: usize, height: usize, values: Vec<f32>) -> Grey {
        assert_eq!(values.len(), width * height, "one value for each sample");
        Grey {
            width,
            height,
            values,
        }
    }

    pub fn map(&self, of: impl Fn(f32) -> f32) -> Grey {
        Grey::new(
            self.width,
            self.height,
            self.values.iter().map(|&value| of(value)).collect(),
        )
    }

    /// Returns the mean weighted by a Gaussian; edge values are repeated beyond the
    /// edges.
    pub fn blurred(&self) -> Grey {
        let taps = gaussian();
        let across = self.rows(|row, out| {
            for (x, out) in out.iter_mut().enumerate() {
                let value = |(tap, weight): (usize, &f32)| {
                    let at = (x + tap).saturating_sub(REACH).min(row.len() - 1);
                    row[at] * weight
                };
                *out = taps.iter().enumerate().map(value).sum();
            }
        });
        let mut down = Grey::new(self.width, self.height, vec![0.0; self.values.len()]);
        for (y, out) in down.values.chunks_exact_mut(self.width).enumerate() {
            for (tap, weight) in taps.iter().enumerate() {
                let at = (y + tap).saturating_sub(REACH).min(self.height - 1);
                for (out, value) in out.iter_mut().zip(across.row(at)) {
                    *out += value * weight;
                }
            }
        }
        down
    }

    /// Returns the picture at half the size, by a cubic kernel over four samples in each
    /// direction, without prior smoothing.
    pub fn halved(&self) -> Grey {
        let (columns, rows) = (steps(self.width), steps(self.height));
        let mut across = Grey::new(
            columns.len(),
            self.height,
            vec![0.0; columns.len() * self.height],
        );
        for (row, out) in self
            .values
            .chunks_exact(self.width)
            .zip(across.values.chunks_exact_mut(columns.len()))
        {
            for (step, out) in columns.iter().zip(out) {
                *out = step.iter().map(|&(at, weight)| row[at] * weight).sum();
            }
        }
        let mut down = Grey::new(
            columns.len(),
            rows.len(),
            vec![0.0; columns.len() * rows.len()],
        );
        for (step, out) in rows.iter().zip(down.values.chunks_exact_mut(columns.len())) {
            for &(at, weight) in step {
                for (out, value) in out.iter_mut().zip(across.row(at)) {
                    *out += value * weight;
                }
            }
        }
        down
    }

    pub fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.width..(y + 1) * self.width]
    }

    fn rows(&self, of: impl Fn(&[f32], &mut [f32])) -> Grey {
        let mut out = Grey::new(self.width, self.height, vec![0.0; self.values.len()]);
        let rows = self.values.chunks_exact(self.width);
        for (row, out) in rows.zip(out.values.chunks_exact_mut(self.width)) {
            of(row, out);
        }
        out
    }
}

fn gaussian() -> [f32; 2 * REACH + 1] {
    let weight = |tap: usize| {
        let away = tap as f64 - REACH as f64;
        (-away * away / (2.0 * SIGMA * SIGMA)).exp()
    };
    let sum: f64 = (0..=2 * REACH).map(weight).sum();
    std::array::from_fn(|tap| (weight(tap) / sum) as f32)
}

/// Returns, for each of half as many samples, four source samples and their weights.
fn steps(length: usize) -> Vec<[(usize, f32); 4]> {
    let half = length / 2;
    let step = |index: usize| {
        let at = (index as f64 + 0.5) * length as f64 / half as f64 - 0.5;
        let below = at.floor();
        std::array::from_fn(|tap| {
            let sample = below + tap as f64 - 1.0;
            let clamped = sample.clamp(0.0, length as f64 - 1.0);
            (clamped as usize, cubic((at - sample).abs()) as f32)
        })
    };
    (0..half).map(step).collect()
}

/// Keys 1981, equation 15, with a parameter.
fn cubic(x: f64) -> f64 {
    if x <= 1.0 {
        ((CUBIC + 2.0) * x - (CUBIC + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((x - 5.0) * x + 8.0) * x * CUBIC - 4.0 * CUBIC
    } else {
        0.0
    }
}
