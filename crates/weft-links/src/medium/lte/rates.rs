//! Bytes in the resource blocks of a millisecond, by channel quality.

use super::blocks::BLOCKS;

/// Channel quality indicator, 1 to 15 (3GPP TS 36.213, table 7.2.3-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cqi(u8);

/// Signal above the noise, in dB, at which one block in ten of each CQI fails:
/// usual values of link-level simulations for one antenna and AWGN.
const SNR_AT_TARGET: [f64; 15] = [
    -6.7, -4.7, -2.3, 0.2, 2.4, 4.3, 5.9, 8.1, 10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7,
];

/// I_TBS of each CQI: the MCS is twice the CQI minus two, which has its efficiency (3GPP
/// R1-081483), and its I_TBS is that of TS 36.213, table 7.1.7.1-1. The uplink has the
/// same indices (table 8.6.1-1), so it uses the same choice.
const INDEX: [u8; 15] = [0, 2, 4, 6, 8, 9, 11, 13, 15, 16, 18, 20, 22, 24, 26];

impl Cqi {
    pub const BEST: u8 = INDEX.len() as u8;

    /// Returns the CQI with this number, if it exists.
    pub fn new(number: u8) -> Option<Cqi> {
        (1..=Cqi::BEST).contains(&number).then_some(Cqi(number))
    }

    /// Returns the highest CQI with at most one error in ten at this SNR in dB, if there
    /// is one.
    pub fn of_snr(snr: f64) -> Option<Cqi> {
        let number = SNR_AT_TARGET.partition_point(|threshold| *threshold <= snr);
        Cqi::new(number as u8)
    }

    /// Returns the SNR in dB at which one block in ten fails.
    pub fn threshold(self) -> f64 {
        SNR_AT_TARGET[self.place()]
    }

    /// Returns the bytes that this many resource blocks carry in a millisecond, on one
    /// layer.
    pub fn block(self, prbs: u16) -> u64 {
        let sizes = usize::from(prbs).checked_sub(1).map(|row| BLOCKS[row]);
        sizes.map_or(0, |sizes| u64::from(sizes[self.index()]))
    }

    /// Returns the smallest number of resource blocks, up to `most`, that carries these
    /// bytes; `most` if none does.
    pub fn blocks_for(self, bytes: u64, most: u16) -> u16 {
        let rows = &BLOCKS[..usize::from(most)];
        let index = self.index();
        let short = rows.partition_point(|sizes| u64::from(sizes[index]) < bytes);
        (short as u16 + 1).min(most)
    }

    fn index(self) -> usize {
        usize::from(INDEX[self.place()])
    }

    fn place(self) -> usize {
        usize::from(self.0) - 1
    }
}
