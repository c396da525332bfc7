use super::rates::Cqi;
use crate::Aqm;
use weft_units::{Bytes, Duration};

/// LTE cell, FDD: a base station that assigns resource blocks to terminals,
/// each millisecond and in each direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LteSpec {
    /// Default 10 MHz in each direction.
    pub bandwidth: LteBandwidth,
    /// Default proportional-fair.
    pub scheduler: LteScheduler,
    /// Share of transport blocks that fail at the first attempt on a channel with the
    /// reported quality. At zero, no block ever fails. Default 10 %, the definition of
    /// the CQIs (3GPP TS 36.213, 7.2.3).
    pub errors: f64,
    /// Default one bearer for all packets.
    pub bearers: LteBearers,
    /// Period of a terminal's opportunities to request a grant. Default 10 ms (chosen by
    /// us from the periods in 3GPP TS 36.213, table 10.1.5-1).
    pub request_period: Duration,
    /// Age of a CQI when it takes effect; a terminal reports every 5 ms.
    /// Default 4 ms (chosen by us).
    pub cqi_delay: Duration,
    /// DRX cycle: after 100 ms without data, terminals listen for only 10 ms of
    /// each cycle (3GPP TS 36.321, 5.7). Default none.
    pub drx: Option<Duration>,
    /// One-way delay between the base station and the rest of the network.
    /// Default 5 ms (chosen by us).
    pub delay: Duration,
    /// Queue limit at the base station for each terminal, on each bearer.
    /// Default 6 MB (chosen by us: the GCC thesis's downloads lose no packets).
    pub queue: Bytes,
    /// Discipline of these queues. Default drop-tail.
    pub aqm: Aqm,
    /// Terminals, at least one. Packets travel between a terminal and the base
    /// station.
    pub terminals: Vec<LteTerminal>,
}

/// Terminal of a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct LteTerminal {
    /// Signal of the terminal at the base station.
    pub up: LteSignal,
    /// Signal of the base station at the terminal.
    pub down: LteSignal,
    /// Queue limit at the terminal, on each bearer. Default 6 MB (chosen by us,
    /// equal to the base station's).
    pub queue: Bytes,
    /// Discipline of its queues. Default drop-tail.
    pub aqm: Aqm,
    /// Times of handovers to an identical cell: for 50 ms the terminal sends
    /// nothing, and no packet is lost (chosen by us). Default none.
    pub handovers: Vec<Duration>,
}

/// Signal of one end at the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LteSignal {
    /// Channel quality.
    pub quality: LteQuality,
    /// Number of parallel transport blocks, 1 or 2 (spatial multiplexing). Default 1.
    pub rank: u8,
}

/// Channel quality at one end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LteQuality {
    /// Constant channel quality indicator, 1 to 15.
    Cqi(u8),
    /// Fading signal.
    Fading {
        /// Mean above the noise, in dB.
        snr: f64,
        /// Motion that causes the fading.
        motion: LteMotion,
    },
}

weft_units::named! {
    /// Fading of a signal, by the speed of the terminal.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum LteMotion: "motion" {
        /// `still`: log-normal, 1.5 dB, within seconds (chosen by us).
        #[default]
        Still = "still",
        /// `walking`: Rayleigh at 5 Hz on two antennas, as EPA 5 of 3GPP TS 36.104, B.2,
        /// and shadowing of 8 dB over 50 m (TR 36.942) at 1.4 m/s.
        Walking = "walking",
        /// `driving`: Rayleigh at 70 Hz, as EVA 70, and the same shadowing at 12 m/s,
        /// which corresponds to 70 Hz at 1.8 GHz.
        Driving = "driving",
    }
}

weft_units::named! {
    /// Channel bandwidth of a cell in each direction (3GPP TS 36.101, 5.6).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum LteBandwidth: "LTE bandwidth" {
        /// 6 resource blocks.
        Mhz1_4 = "1.4MHz",
        /// 15 resource blocks.
        Mhz3 = "3MHz",
        /// 25 resource blocks.
        Mhz5 = "5MHz",
        /// 50 resource blocks.
        #[default]
        Mhz10 = "10MHz",
        /// 75 resource blocks.
        Mhz15 = "15MHz",
        /// 100 resource blocks.
        Mhz20 = "20MHz",
    }
}

weft_units::named! {
    /// Order in which terminals get resource blocks. Each terminal gets as many as it can
    /// fill; the next one gets the rest.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum LteScheduler: "LTE scheduler" {
        /// `proportional-fair`: highest current rate relative to the past throughput.
        #[default]
        ProportionalFair = "proportional-fair",
        /// `round-robin`: in turn.
        RoundRobin = "round-robin",
        /// `max-rate`: best channel first.
        MaxRate = "max-rate",
    }
}

weft_units::named! {
    /// Queues of a terminal's packets.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum LteBearers: "choice of LTE bearers" {
        /// `default`: one queue for all packets.
        #[default]
        Default = "default",
        /// `dedicated`: video and voice have their own queue, with priority over all
        /// others of the cell (QCI 2 next to QCI 9, 3GPP TS 23.203, table 6.1.7).
        Dedicated = "dedicated",
    }
}

/// Invalid cell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LteError {
    /// The cell has only a base station.
    #[error("a cell has a base station and at least one terminal: add one")]
    NoTerminal,
    /// The base station runs out of identifiers.
    #[error("a cell of {terminals} terminals: a base station has identifiers for {MOST_TERMINALS}")]
    TooManyTerminals {
        /// Number of terminals.
        terminals: usize,
    },
    /// Unknown channel quality indicator.
    #[error("CQI {0} does not exist: give 1 to 15")]
    NoSuchCqi(u8),
    /// More layers than two antennas provide, or none.
    #[error("rank {0} does not exist: give 1 or 2")]
    NoSuchRank(u8),
}

/// Highest number of terminals: C-RNTIs are 1 to 65523 (3GPP TS 36.321, 7.1); with this
/// limit, the base station has a station number as well.
const MOST_TERMINALS: usize = 65_523;
const QUEUE: Bytes = Bytes(6_000_000);
const ERRORS: f64 = 0.1;
const REQUEST_PERIOD: Duration = Duration::from_millis(10);
const CQI_DELAY: Duration = Duration::from_millis(4);
const CORE_DELAY: Duration = Duration::from_millis(5);

impl LteSpec {
    /// Creates a cell of these terminals, with default values otherwise.
    #[must_use]
    pub fn new(terminals: Vec<LteTerminal>) -> LteSpec {
        LteSpec {
            bandwidth: LteBandwidth::default(),
            scheduler: LteScheduler::default(),
            errors: ERRORS,
            bearers: LteBearers::default(),
            request_period: REQUEST_PERIOD,
            cqi_delay: CQI_DELAY,
            drx: None,
            delay: CORE_DELAY,
            queue: QUEUE,
            aqm: Aqm::DropTail,
            terminals,
        }
    }

    /// Checks that the cell is possible.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), LteError> {
        let terminals = self.terminals.len();
        if terminals == 0 {
            return Err(LteError::NoTerminal);
        }
        if terminals > MOST_TERMINALS {
            return Err(LteError::TooManyTerminals { terminals });
        }
        for signal in self.terminals.iter().flat_map(|t| [t.up, t.down]) {
            if !(1..=2).contains(&signal.rank) {
                return Err(LteError::NoSuchRank(signal.rank));
            }
            if let LteQuality::Cqi(cqi) = signal.quality
                && Cqi::new(cqi).is_none()
            {
                return Err(LteError::NoSuchCqi(cqi));
            }
        }
        Ok(())
    }
}

impl LteTerminal {
    /// Creates a terminal with these signals.
    #[must_use]
    pub fn new(up: LteSignal, down: LteSignal) -> LteTerminal {
        LteTerminal {
            up,
            down,
            queue: QUEUE,
            aqm: Aqm::DropTail,
            handovers: Vec::new(),
        }
    }
}

impl LteSignal {
    /// Creates a signal with a constant CQI, one block at a time.
    #[must_use]
    pub const fn of_cqi(cqi: u8) -> LteSignal {
        LteSignal {
            quality: LteQuality::Cqi(cqi),
            rank: 1,
        }
    }
}

impl LteBandwidth {
    /// Returns the number of resource blocks in each direction.
    #[must_use]
    pub const fn blocks(self) -> u16 {
        match self {
            LteBandwidth::Mhz1_4 => 6,
            LteBandwidth::Mhz3 => 15,
            LteBandwidth::Mhz5 => 25,
            LteBandwidth::Mhz10 => 50,
            LteBandwidth::Mhz15 => 75,
            LteBandwidth::Mhz20 => 100,
        }
    }

    /// Returns the number of resource blocks that the downlink assigns together (3GPP TS
    /// 36.213, table 7.1.6.1-1).
    pub(super) const fn group(self) -> u16 {
        match self {
            LteBandwidth::Mhz1_4 => 1,
            LteBandwidth::Mhz3 | LteBandwidth::Mhz5 => 2,
            LteBandwidth::Mhz10 => 3,
            LteBandwidth::Mhz15 | LteBandwidth::Mhz20 => 4,
        }
    }
}
