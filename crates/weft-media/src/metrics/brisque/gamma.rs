//! The gamma function.

/// Lanczos' coefficients for g = 7 and nine terms (Godfrey 2001): 15 digits.
const TERMS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];
const G: f64 = 7.0;

/// Returns the natural logarithm of the gamma function of a positive number.
pub fn ln_gamma(x: f64) -> f64 {
    let x = x - 1.0;
    let terms = TERMS.iter().enumerate().skip(1);
    let series: f64 = terms.map(|(k, term)| term / (x + k as f64)).sum();
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + (TERMS[0] + series).ln()
}
