//! Times and limits of medium access.

use super::rate::WifiStandard;
use super::spec::ATTEMPTS;
use crate::TrafficClass;
use weft_units::Duration;

/// Access timing of a standard.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    pub sifs: Duration,
    pub slot: Duration,
    /// Time from the end of a frame until an answer counts as missing
    /// (10.3.2.9): SIFS, a slot and the start of a reception.
    pub ack_timeout: Duration,
    /// Difference between EIFS and the IFS that it replaces: SIFS and an ACK at
    /// the lowest mandatory rate (10.3.2.3.7).
    pub eifs_extra: Duration,
    pub countdown: Countdown,
    /// Transmissions of a frame without an answer before it is dropped.
    pub attempts: u32,
    /// Bytes of a frame in addition to the packet.
    pub overhead: u64,
    pub aggregation: Option<Aggregation>,
    /// Access parameters by category, the most urgent one last; DCF has only one.
    pub access: Vec<Access>,
}

/// Rule for which slots count: with equal parameters, the only difference between DCF and
/// EDCA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Countdown {
    /// DCF counts a slot at its end (10.3.4.3), so it skips the one in which
    /// another station starts.
    Ends,
    /// EDCA counts a slot at its beginning (10.22.2.4).
    Begins,
}

/// Access parameters of one category.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// DIFS, or AIFS of the category.
    pub ifs: Duration,
    pub window_min: u32,
    pub window_max: u32,
    /// Longest exchange of frames; zero: one exchange of any length.
    pub txop: Duration,
}

/// Limits of an A-MPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// Most packets: the window of a BlockAck.
    pub packets: usize,
    /// Most bytes: those of an HT A-MPDU (9.7.1).
    pub bytes: u64,
    /// Longest airtime.
    pub time: Duration,
}

/// Size of an MPDU delimiter, and unit of padding of frames in an A-MPDU (9.7.1).
const DELIMITER: u64 = 4;
const PADDED_TO: u64 = 4;

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

impl Timing {
    pub fn of(standard: WifiStandard) -> Timing {
        match standard {
            WifiStandard::B => Timing::b(),
            WifiStandard::G => Timing::g(),
            WifiStandard::N => Timing::n(),
        }
    }

    /// Returns the timing of 802.11b (clause 16).
    fn b() -> Timing {
        let (sifs, slot) = (us(10), us(20));
        Timing {
            sifs,
            slot,
            // aRxPHYStartDelay: a long preamble and header.
            ack_timeout: sifs + slot + us(192),
            eifs_extra: sifs + us(304),
            countdown: Countdown::Ends,
            attempts: u32::from(ATTEMPTS),
            // MAC header, LLC and SNAP, FCS.
            overhead: 24 + 8 + 4,
            aggregation: None,
            access: vec![Access {
                ifs: sifs + slot * 2,
                window_min: 31,
                window_max: 1023,
                txop: Duration::ZERO,
            }],
        }
    }

    /// Returns the timing of 802.11g (clause 18) without stations of 802.11b, which means
    /// a short slot.
    fn g() -> Timing {
        let (sifs, slot) = (us(10), us(9));
        Timing {
            sifs,
            slot,
            ack_timeout: sifs + slot + us(20),
            eifs_extra: sifs + us(50),
            access: vec![Access {
                ifs: sifs + slot * 2,
                window_min: 15,
                window_max: 1023,
                txop: Duration::ZERO,
            }],
            ..Timing::b()
        }
    }

    /// Returns the timing of 802.11n (clause 19) with the EDCA parameters that an access
    /// point announces by default (table 9-137).
    fn n() -> Timing {
        let (sifs, slot) = (us(10), us(9));
        let access = |aifsn, window_min, window_max, txop| Access {
            ifs: sifs + slot * aifsn,
            window_min,
            window_max,
            txop: us(txop),
        };
        Timing {
            // Reception of an HT-mixed frame of one stream starts later.
            ack_timeout: sifs + slot + us(28),
            countdown: Countdown::Begins,
            // The MAC header has QoS control; CCMP adds 16 bytes, because HT
            // excludes older encryption.
            overhead: 26 + 8 + 4 + 16,
            aggregation: Some(Aggregation {
                packets: 64,
                bytes: 65_535,
                // Limit in drivers (ath9k); the standard's limit is that of the legacy
                // preamble, 5484 us.
                time: us(4_000),
            }),
            access: vec![
                access(7, 15, 1023, 0),
                access(3, 15, 1023, 0),
                access(2, 7, 15, 4_096),
                access(2, 3, 7, 2_080),
            ],
            ..Timing::g()
        }
    }

    /// Returns the category of a traffic class; DCF has one for all.
    pub fn category(&self, class: TrafficClass) -> usize {
        match self.access.len() {
            1 => 0,
            _ => class as usize,
        }
    }

    /// Returns the bytes of a packet's frame outside an aggregate.
    pub fn frame(&self, packet: u64) -> u64 {
        packet + self.overhead
    }

    /// Returns the bytes of a packet's frame within an A-MPDU.
    pub fn subframe(&self, packet: u64) -> u64 {
        (DELIMITER + self.frame(packet)).next_multiple_of(PADDED_TO)
    }
}
