//! Features: differences of grey values from their surroundings, and products of
//! neighbouring differences, at two sizes.

use super::filter::Grey;
use super::gamma::ln_gamma;

/// Number of features: eighteen at each of two sizes.
pub const COUNT: usize = 36;
/// Avoids a division by zero in flat areas: Mittal et al., equation 1, for values up to 1
/// instead of 255.
const C: f32 = 1.0 / 255.0;
/// Minimum number of lines and columns; with fewer, the half-size copy has too few
/// samples.
const LEAST: usize = 16;
/// Offsets of neighbours in products, in lines and columns: to the right, below, and on
/// both diagonals. Values beyond the edges are zero.
const NEIGHBOURS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, 1), (-1, 1)];

/// Fits distributions to the observed values.
#[derive(Debug)]
pub struct Features {
    /// Shapes with their ratios of moments.
    shapes: Vec<(f64, f64)>,
}

/// An asymmetric generalised Gaussian distribution (Lasmar et al. 2009).
struct Fit {
    shape: f64,
    left: f64,
    right: f64,
}

impl Features {
    /// Creates a fitter with the shapes of Mittal et al.: 0.2 to 10, a thousandth apart.
    pub fn new() -> Features {
        let shapes = (0..9_800).map(|step| {
            let shape = 0.2 + f64::from(step) * 0.001;
            let ln_ratio =
                2.0 * ln_gamma(2.0 / shape) - ln_gamma(1.0 / shape) - ln_gamma(3.0 / shape);
            (shape, ln_ratio.exp())
        });
        Features {
            shapes: shapes.collect(),
        }
    }

    /// Returns the features; `None` if a picture is too small or flat.
    pub fn of(&self, grey: &Grey) -> Option<[f64; COUNT]> {
        if grey.width.min(grey.height) < LEAST {
            return None;
        }
        let mut features = Vec::with_capacity(COUNT);
        self.add(grey, &mut features);
        self.add(&grey.halved(), &mut features);
        let features: [f64; COUNT] = features.try_into().expect("as many as are added");
        features
            .iter()
            .all(|value| value.is_finite())
            .then_some(features)
    }

    fn add(&self, grey: &Grey, features: &mut Vec<f64>) {
        let normalised = normalised(grey);
        let fit = self.fit(normalised.values.iter().copied());
        features.push(fit.shape);
        features.push((fit.left * fit.left + fit.right * fit.right) / 2.0);
        for neighbour in NEIGHBOURS {
            let fit = self.fit(products(&normalised, neighbour));
            features.extend([
                fit.shape,
                fit.mean(),
                fit.left * fit.left,
                fit.right * fit.right,
            ]);
        }
    }

    fn fit(&self, values: impl Iterator<Item = f32>) -> Fit {
        let (mut below, mut above) = (Side::default(), Side::default());
        let (mut sum, mut count) = (0.0, 0.0);
        for value in values.map(f64::from) {
            count += 1.0;
            sum += value.abs();
            if value > 0.0 {
                above.add(value);
            } else if value < 0.0 {
                below.add(value);
            }
        }
        let (left, right) = (below.deviation(), above.deviation());
        let skew = left / right;
        let ratio = (sum / count).powi(2) * count / (below.squares + above.squares);
        let wanted = ratio * (skew.powi(3) + 1.0) * (skew + 1.0) / (skew * skew + 1.0).powi(2);
        Fit {
            shape: self.shape(wanted),
            left,
            right,
        }
    }

    /// Returns the shape with the nearest ratio; ratios increase with shapes.
    fn shape(&self, ratio: f64) -> f64 {
        let last = self.shapes.len() - 1;
        let above = self.shapes.partition_point(|(_, known)| *known < ratio);
        let (above, below) = (above.min(last), above.saturating_sub(1).min(last));
        let away = |at: usize| (self.shapes[at].1 - ratio).abs();
        self.shapes[if away(below) <= away(above) {
            below
        } else {
            above
        }]
        .0
    }
}

/// Values on one side of zero.
#[derive(Default)]
struct Side {
    squares: f64,
    count: f64,
}

impl Side {
    fn add(&mut self, value: f64) {
        self.squares += value * value;
        self.count += 1.0;
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }
}

impl Fit {
    /// Mittal et al., equation 8.
    fn mean(&self) -> f64 {
        let of = |n: f64| ln_gamma(n / self.shape);
        let scale = (of(2.0) - of(1.0) + (of(1.0) - of(3.0)) / 2.0).exp();
        (self.right - self.left) * scale
    }
}

/// Normalises by Mittal et al., equation 1: difference from the local mean, divided by
/// the local deviation.
fn normalised(grey: &Grey) -> Grey {
    let mean = grey.blurred();
    let squares = grey.map(|value| value * value).blurred();
    let mut out = grey.clone();
    for ((value, mean), squares) in out.values.iter_mut().zip(&mean.values).zip(&squares.values) {
        let deviation = (squares - mean * mean).max(0.0).sqrt();
        *value = (*value - mean) / (deviation + C);
    }
    out
}

fn products(grey: &Grey, (down, right): (isize, isize)) -> impl Iterator<Item = f32> {
    (0..grey.height).flat_map(move |y| {
        let row = grey.row(y);
        let other = y.checked_add_signed(down).filter(|y| *y < grey.height);
        (0..grey.width).map(move |x| {
            let x_there = x.checked_add_signed(right).filter(|x| *x < grey.width);
            let there = other.zip(x_there).map(|(y, x)| grey.row(y)[x]);
            row[x] * there.unwrap_or(0.0)
        })
    })
}
