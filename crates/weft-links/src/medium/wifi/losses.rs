//! Frame losses from noise, as a function of the signal.

use super::rate::WifiRate;

/// Frame loss of one rate as a function of the signal: AWGN and the standard's
/// convolutional code, from a link-to-system table (Patidar et al. 2017).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Losses {
    /// Signal above the noise in dB at each loss of [`LEVELS`].
    thresholds: [f64; 5],
    /// Signal above which the loss is below one in a million.
    enough: f64,
}

/// Losses of frames of [`LENGTH`] bytes.
const LEVELS: [f64; 5] = [0.9, 0.5, 0.1, 0.01, 0.001];
const LENGTH: f64 = 1458.0;
/// Thresholds of MCS 0 to 7.
const THRESHOLDS: [[f64; 5]; 8] = [
    [-0.2, 0.3, 0.9, 1.5, 2.1],
    [2.7, 3.3, 3.9, 4.5, 5.1],
    [5.2, 5.8, 6.4, 7.1, 7.7],
    [8.3, 8.9, 9.6, 10.5, 11.2],
    [11.5, 12.0, 12.7, 13.5, 14.3],
    [15.6, 16.2, 17.0, 18.0, 18.8],
    [16.9, 17.5, 18.3, 19.2, 20.1],
    [18.2, 18.8, 19.6, 20.5, 21.3],
];
/// Additional signal for two streams, in dB: they share the power and interfere with each
/// other; chosen by us.
const SECOND_STREAM: f64 = 5.0;
/// Gain in dB of BPSK, which has half the bits of QPSK per symbol and needs half the
/// power.
const HALF: f64 = 3.0;
/// Decades from the last level to one in a million.
const DECADES_LEFT: f64 = 3.0;

impl Losses {
    /// Returns the losses of a rate; 802.11b is not in the table.
    pub fn of(rate: WifiRate) -> Option<Losses> {
        let (mcs, shift) = match rate {
            WifiRate::Mcs(mcs @ 0..8) => (mcs, 0.0),
            WifiRate::Mcs(mcs) => (mcs % 8, SECOND_STREAM),
            // Modulations and codes of 802.11g (clause 17.3.5.2).
            WifiRate::HalfMbit(12) => (0, 0.0),
            WifiRate::HalfMbit(18) => (2, -HALF),
            WifiRate::HalfMbit(24) => (1, 0.0),
            WifiRate::HalfMbit(36) => (2, 0.0),
            WifiRate::HalfMbit(48) => (3, 0.0),
            WifiRate::HalfMbit(72) => (4, 0.0),
            WifiRate::HalfMbit(96) => (5, 0.0),
            WifiRate::HalfMbit(108) => (6, 0.0),
            WifiRate::HalfMbit(_) => return None,
        };
        let thresholds = THRESHOLDS[usize::from(mcs)].map(|snr| snr + shift);
        let [.., before, last] = thresholds;
        Some(Losses {
            thresholds,
            enough: last + DECADES_LEFT * (last - before),
        })
    }

    /// Returns the probability that a frame of this length is lost at this signal.
    pub fn at(&self, snr: f64, bytes: u64) -> f64 {
        if snr >= self.enough {
            return 0.0;
        }
        let of_table = self.of_table(snr);
        // Each byte survives independently.
        1.0 - (1.0 - of_table).powf(bytes as f64 / LENGTH)
    }

    /// Returns the loss of a frame of the table's length. The logarithm is linear in the
    /// signal between levels and beyond them.
    fn of_table(&self, snr: f64) -> f64 {
        let upper = self.thresholds.partition_point(|at| *at <= snr);
        let upper = upper.clamp(1, LEVELS.len() - 1);
        let (low, high) = (self.thresholds[upper - 1], self.thresholds[upper]);
        let (before, after) = (LEVELS[upper - 1].ln(), LEVELS[upper].ln());
        let share = (snr - low) / (high - low);
        (before + (after - before) * share).exp().min(1.0)
    }
}
