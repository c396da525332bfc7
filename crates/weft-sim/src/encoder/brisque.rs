//! BRISQUE scores of encoded pictures.

use weft_units::Codec;

/// Scores by quantizer and by encoded lines relative to captured lines, for pictures that
/// are displayed at the captured size.
struct Table {
    /// Quantizer difference between columns.
    step: f64,
    /// Scores for each of [`SHARES`].
    scores: [&'static [f64]; SHARES.len()],
}

const SHARES: [f64; 4] = [1.0, 0.75, 0.5, 0.25];

/// Means over photographs, from `examples/fit_brisque` of `weft-media`, which prints the
/// spread.
const VP8: Table = Table {
    step: 18.0,
    scores: [
        &[0.0, 13.9, 23.5, 29.6, 34.0, 38.8, 43.3, 43.3],
        &[29.9, 37.5, 40.0, 44.9, 47.3, 49.3, 51.0, 51.0],
        &[50.1, 52.0, 54.0, 55.4, 55.8, 56.0, 56.3, 56.3],
        &[66.1, 65.5, 65.5, 65.9, 66.7, 67.5, 67.8, 67.8],
    ],
};

/// Means over photographs, like `VP8`.
const H264: Table = Table {
    step: 6.0,
    scores: [
        &[2.2, 2.2, 2.2, 18.0, 32.4, 37.5, 43.1, 47.5, 47.5],
        &[29.8, 29.8, 29.8, 38.8, 44.8, 51.3, 57.4, 57.0, 57.0],
        &[50.2, 50.2, 50.2, 52.4, 54.9, 56.6, 59.4, 59.2, 59.2],
        &[66.2, 66.2, 66.2, 66.6, 67.0, 67.6, 68.2, 67.9, 67.9],
    ],
};

/// Returns the score, 0 best and 100 worst, of a picture with this quantizer and share of
/// the captured lines; linear between measurements. `None` for a codec that was not
/// measured.
#[must_use]
pub fn brisque(codec: Codec, quantizer: f64, share: f64) -> Option<f64> {
    match codec {
        Codec::Vp8 => Some(VP8.at(quantizer, share)),
        Codec::H264 => Some(H264.at(quantizer, share)),
        Codec::Vp9 | Codec::Av1 | Codec::Opus => None,
    }
}

impl Table {
    fn at(&self, quantizer: f64, share: f64) -> f64 {
        let below = SHARES.iter().position(|known| *known <= share);
        let below = below.unwrap_or(SHARES.len() - 1);
        let above = below.saturating_sub(1);
        let part = match SHARES[above] - SHARES[below] {
            0.0 => 0.0,
            wide => ((share - SHARES[below]) / wide).clamp(0.0, 1.0),
        };
        let of = |row: usize| {
            let scores = self.scores[row];
            let at = (quantizer / self.step).clamp(0.0, (scores.len() - 1) as f64);
            let (left, right) = (at.floor() as usize, at.ceil() as usize);
            scores[left] + (scores[right] - scores[left]) * at.fract()
        };
        of(below) + (of(above) - of(below)) * part
    }
}

#[cfg(test)]
mod tests {
    use super::{SHARES, Table};

    #[test]
    fn between_what_was_measured_lies_a_line() {
        const TABLE: Table = Table {
            step: 10.0,
            scores: [&[0.0, 10.0], &[10.0, 30.0], &[20.0, 50.0], &[40.0, 80.0]],
        };
        assert_eq!(TABLE.at(5.0, 1.0), 5.0);
        assert_eq!(TABLE.at(5.0, 0.75), 20.0);
        // Halfway between three quarters and all of the lines.
        assert_eq!(TABLE.at(5.0, 0.875), 12.5);
        assert_eq!(TABLE.at(10.0, 0.375), 65.0);
        // Beyond its ends, the table continues with its outermost values.
        assert_eq!(TABLE.at(99.0, 2.0), 10.0);
        assert_eq!(TABLE.at(-1.0, 0.1), 40.0);
        assert!(SHARES.is_sorted_by(|a, b| a > b));
    }
}
