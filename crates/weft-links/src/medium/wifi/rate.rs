//! Rates of each standard, and the airtime of a frame at each.

use std::fmt;
use weft_units::Duration;

weft_units::named! {
    /// Amendment of IEEE 802.11 that all stations of a cell use, in the 2.4 GHz band.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum WifiStandard: "WiFi standard" {
        /// 802.11b, HR/DSSS (IEEE 802.11-2016 clause 16), with long preambles.
        B = "b",
        /// 802.11g, ERP-OFDM without stations of 802.11b (clause 18).
        G = "g",
        /// 802.11n, HT-mixed in 20 MHz (clause 19).
        #[default]
        N = "n",
    }
}

/// Guard interval of 802.11n.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GuardInterval {
    /// 800 ns.
    Long,
    /// 400 ns.
    #[default]
    Short,
}

/// Rate by its name in the standard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WifiRate {
    /// Rate of 802.11b or g, in units of 500 kbit/s, as in the standard's Supported Rates
    /// element (9.4.2.3).
    HalfMbit(u16),
    /// Rate of 802.11n: the modulation and coding scheme, 0 to 7 with one stream, 8 to 15
    /// with two.
    Mcs(u8),
}

/// Modulation of frames at a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Modulation {
    /// Time before the data: preamble and PHY header.
    pub preamble: Duration,
    /// Bits in addition to the frame's: SERVICE and tail.
    pub extra_bits: u64,
    /// Bits per symbol, in half bits: 802.11b has 5.5 per microsecond.
    pub half_bits: u64,
    /// Length of a symbol.
    pub symbol: Duration,
    /// Unit of time to which the symbols together are rounded up.
    pub granule: Duration,
    /// Silence after the frame that counts as part of it (18.3.2.4).
    pub extension: Duration,
    /// Duration of an ACK.
    pub ack: Duration,
    /// Duration of a BlockAck.
    pub block_ack: Duration,
}

const HALF_MBIT_B: [u16; 4] = [2, 4, 11, 22];
const HALF_MBIT_G: [u16; 8] = [12, 18, 24, 36, 48, 72, 96, 108];
const MCS: u8 = 16;
/// Data bits per symbol of MCS 0 to 7 (tables 19-27 ff.); two streams have
/// twice as many.
const MCS_BITS: [u64; 8] = [26, 52, 78, 104, 156, 208, 234, 260];

/// Length of an ACK (9.3.1.4), and of a BlockAck with a compressed bitmap
/// (9.3.1.9).
const ACK: u64 = 14;
const BLOCK_ACK: u64 = 32;

impl WifiStandard {
    /// Returns the rates of the standard, slowest first.
    #[must_use]
    pub fn rates(self) -> Vec<WifiRate> {
        match self {
            WifiStandard::B => HALF_MBIT_B.map(WifiRate::HalfMbit).to_vec(),
            WifiStandard::G => HALF_MBIT_G.map(WifiRate::HalfMbit).to_vec(),
            WifiStandard::N => (0..MCS).map(WifiRate::Mcs).collect(),
        }
    }

    /// Returns the rate with this name, `54mbit` or `mcs7`, if the standard has it.
    #[must_use]
    pub fn rate(self, name: &str) -> Option<WifiRate> {
        self.rates().into_iter().find(|r| r.to_string() == name)
    }
}

impl fmt::Display for WifiRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WifiRate::HalfMbit(n) if n % 2 == 1 => write!(f, "{}.5mbit", n / 2),
            WifiRate::HalfMbit(n) => write!(f, "{}mbit", n / 2),
            WifiRate::Mcs(n) => write!(f, "mcs{n}"),
        }
    }
}

impl Modulation {
    /// Returns the modulation of a rate of the standard.
    pub fn of(standard: WifiStandard, guard: GuardInterval, rate: WifiRate) -> Modulation {
        match rate {
            WifiRate::HalfMbit(half) if standard == WifiStandard::B => {
                // Basic rates are 1 and 2 Mbit/s.
                let ack = Modulation::dsss(half.min(4)).airtime(ACK);
                Modulation {
                    ack,
                    block_ack: ack,
                    ..Modulation::dsss(half)
                }
            }
            WifiRate::HalfMbit(half) => Modulation::ofdm(u64::from(half) * 2).answered(half),
            WifiRate::Mcs(mcs) => Modulation::ht(mcs, guard).answered(equivalent(mcs)),
        }
    }

    /// Returns the airtime of a frame of this length.
    pub fn airtime(&self, bytes: u64) -> Duration {
        let half_bits = 2 * (self.extra_bits + 8 * bytes);
        let symbols = half_bits.div_ceil(self.half_bits) * self.symbol.as_nanos();
        let granule = self.granule.as_nanos();
        let data = Duration::from_nanos(symbols.div_ceil(granule) * granule);
        self.preamble + data + self.extension
    }

    /// Returns the largest frame whose airtime fits in this time.
    pub fn bytes_within(&self, time: Duration) -> u64 {
        let data = time.saturating_sub(self.preamble + self.extension);
        let granule = self.granule.as_nanos();
        let symbols = data.as_nanos() / granule * granule / self.symbol.as_nanos();
        (symbols * self.half_bits / 2).saturating_sub(self.extra_bits) / 8
    }

    /// Returns the DSSS modulation (clause 16.2.2): a long preamble and header take 192
    /// us.
    fn dsss(half_mbit: u16) -> Modulation {
        Modulation {
            preamble: Duration::from_micros(192),
            extra_bits: 0,
            half_bits: u64::from(half_mbit),
            symbol: Duration::from_micros(1),
            granule: Duration::from_micros(1),
            extension: Duration::ZERO,
            ack: Duration::ZERO,
            block_ack: Duration::ZERO,
        }
    }

    /// Returns the OFDM modulation (clause 17.3.2): preamble 16 us, SIGNAL 4 us; in this
    /// band 6 us more (clause 18.3.2.4).
    fn ofdm(bits: u64) -> Modulation {
        Modulation {
            preamble: Duration::from_micros(20),
            extra_bits: 16 + 6,
            half_bits: 2 * bits,
            symbol: Duration::from_micros(4),
            granule: Duration::from_micros(4),
            extension: Duration::from_micros(6),
            ack: Duration::ZERO,
            block_ack: Duration::ZERO,
        }
    }

    /// Returns the HT modulation (clause 19.3.2): legacy preamble and SIGNAL 20 us,
    /// HT-SIG 8, HT-STF 4, and 4 for the HT-LTF of each stream. With a short guard
    /// interval, the end of the frame is rounded up to 4 us (19.4.3).
    fn ht(mcs: u8, guard: GuardInterval) -> Modulation {
        let streams = 1 + u64::from(mcs / 8);
        let symbol = match guard {
            GuardInterval::Long => Duration::from_micros(4),
            GuardInterval::Short => Duration::from_nanos(3_600),
        };
        Modulation {
            preamble: Duration::from_micros(32 + 4 * streams),
            symbol,
            ..Modulation::ofdm(MCS_BITS[usize::from(mcs % 8)] * streams)
        }
    }

    /// Sets the durations of answers: they use the highest of 6, 12 and 24
    /// Mbit/s that does not exceed this rate (10.7.6.5).
    fn answered(self, half_mbit: u16) -> Modulation {
        let basic = match half_mbit {
            48.. => 24,
            24..48 => 12,
            _ => 6,
        };
        let answer = Modulation::ofdm(basic * 4);
        Modulation {
            ack: answer.airtime(ACK),
            block_ack: answer.airtime(BLOCK_ACK),
            ..self
        }
    }
}

/// Returns the rate of 802.11g, in half Mbit/s, with the modulation of this MCS; it
/// determines the rate of answers (10.7.6.5.2).
fn equivalent(mcs: u8) -> u16 {
    [12, 24, 36, 48, 72, 96, 108, 108][usize::from(mcs % 8)]
}
