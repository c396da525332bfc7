use super::rates::Cqi;
use crate::Aqm;
use weft_units::{Bytes, Duration};

/// A cell of LTE, FDD: a base station that deals out resource blocks to
/// terminals, each millisecond and in each direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LteSpec {
    /// Default 10 MHz each way.
    pub bandwidth: LteBandwidth,
    /// Default proportional-fair.
    pub scheduler: LteScheduler,
    /// Share of the transport blocks that fail at the first attempt where the
    /// channel is as it was reported. With zero none ever fails. Default 10 %,
    /// what CQIs are defined by (3GPP TS 36.213, 7.2.3).
    pub errors: f64,
    /// Default one for all.
    pub bearers: LteBearers,
    /// How often a terminal may ask for a grant. Default 10 ms (chosen by us,
    /// of the periods in 3GPP TS 36.213, table 10.1.5-1).
    pub request_period: Duration,
    /// How old a CQI is when it begins to count; a terminal reports each 5 ms.
    /// Default 4 ms (chosen by us).
    pub cqi_delay: Duration,
    /// The cycle of terminals that listen only for 10 ms of it when nothing
    /// has come for 100 ms (3GPP TS 36.321, 5.7). Default none.
    pub drx: Option<Duration>,
    /// One way between the base station and the rest of the network. Default
    /// 5 ms (chosen by us).
    pub delay: Duration,
    /// What may wait at the base station for each terminal, on each bearer.
    /// Default 6 MB (chosen by us: the GCC thesis's downloads lose nothing).
    pub queue: Bytes,
    /// The discipline of these queues. Default drop-tail.
    pub aqm: Aqm,
    /// At least one. Packets go between one of them and the base station.
    pub terminals: Vec<LteTerminal>,
}

/// A terminal of a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct LteTerminal {
    /// What the base station hears of it.
    pub up: LteSignal,
    /// What it hears.
    pub down: LteSignal,
    /// What may wait at it, on each bearer. Default 6 MB (chosen by us, as the
    /// base station's).
    pub queue: Bytes,
    /// Its queues' discipline. Default drop-tail.
    pub aqm: Aqm,
    /// When it goes to another cell that is like this one: for 50 ms nothing
    /// is sent, and nothing is lost (chosen by us). Default never.
    pub handovers: Vec<Duration>,
}

/// How one end hears the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LteSignal {
    /// How well.
    pub quality: LteQuality,
    /// How many transport blocks go side by side, 1 or 2 (spatial
    /// multiplexing). Default 1.
    pub rank: u8,
}

/// How well one end hears the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LteQuality {
    /// Always this channel quality indicator, 1 to 15.
    Cqi(u8),
    /// A signal that changes.
    Fading {
        /// Its mean above the noise, in dB.
        snr: f64,
        /// How it changes.
        motion: LteMotion,
    },
}

/// How a signal changes, and so how fast a terminal moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LteMotion {
    /// `still`: log-normal, 1.5 dB, within seconds (chosen by us).
    #[default]
    Still,
    /// `walking`: Rayleigh at 5 Hz on two antennas, as EPA 5 of 3GPP TS
    /// 36.104, B.2, and shadows of 8 dB over 50 m (TR 36.942) at 1.4 m/s.
    Walking,
    /// `driving`: Rayleigh at 70 Hz, as EVA 70, and the same shadows at the
    /// 12 m/s that 70 Hz mean at 1.8 GHz.
    Driving,
}

/// What a cell has each way, as channel bandwidth (3GPP TS 36.101, 5.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LteBandwidth {
    /// 6 resource blocks.
    Mhz1_4,
    /// 15.
    Mhz3,
    /// 25.
    Mhz5,
    /// 50.
    #[default]
    Mhz10,
    /// 75.
    Mhz15,
    /// 100.
    Mhz20,
}

/// Who gets resource blocks first; each gets as many as it can fill, and what
/// is left goes on to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LteScheduler {
    /// `proportional-fair`: whose channel is best, over what it has had.
    #[default]
    ProportionalFair,
    /// `round-robin`: in turn.
    RoundRobin,
    /// `max-rate`: whose channel is best.
    MaxRate,
}

/// What a terminal's packets wait in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LteBearers {
    /// `default`: one queue for all.
    #[default]
    Default,
    /// `dedicated`: video and voice have a queue of their own, which goes
    /// before all others of the cell (QCI 2 beside QCI 9, 3GPP TS 23.203, table
    /// 6.1.7).
    Dedicated,
}

/// A cell that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LteError {
    /// Nobody is there but the base station.
    #[error("a cell has a base station and at least one terminal: add one")]
    NoTerminal,
    /// The base station runs out of identifiers.
    #[error("a cell of {terminals} terminals: a base station has identifiers for {MOST_TERMINALS}")]
    TooManyTerminals {
        /// How many there are.
        terminals: usize,
    },
    /// A channel quality indicator that there is not.
    #[error("there is no CQI {0}: there are 1 to 15")]
    NoSuchCqi(u8),
    /// More layers than two antennas have, or none.
    #[error("there is no rank {0}: there are 1 and 2")]
    NoSuchRank(u8),
}

/// C-RNTIs are 1 to 65523 (3GPP TS 36.321, 7.1); so many stations that there
/// is a number for the base station as well.
const MOST_TERMINALS: usize = 65_523;
const QUEUE: Bytes = Bytes(6_000_000);
const ERRORS: f64 = 0.1;
const REQUEST_PERIOD: Duration = Duration::from_millis(10);
const CQI_DELAY: Duration = Duration::from_millis(4);
const CORE_DELAY: Duration = Duration::from_millis(5);

impl LteSpec {
    /// A cell of these terminals, and all else by default.
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

    /// Whether there can be such a cell.
    ///
    /// # Errors
    /// The first thing that is wrong.
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
    /// One that hears and is heard like this.
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
    /// One block at a time, at a CQI that stays.
    #[must_use]
    pub const fn of_cqi(cqi: u8) -> LteSignal {
        LteSignal {
            quality: LteQuality::Cqi(cqi),
            rank: 1,
        }
    }
}

impl LteBandwidth {
    /// All, the narrowest first.
    pub const ALL: [LteBandwidth; 6] = [
        LteBandwidth::Mhz1_4,
        LteBandwidth::Mhz3,
        LteBandwidth::Mhz5,
        LteBandwidth::Mhz10,
        LteBandwidth::Mhz15,
        LteBandwidth::Mhz20,
    ];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LteBandwidth::Mhz1_4 => "1.4MHz",
            LteBandwidth::Mhz3 => "3MHz",
            LteBandwidth::Mhz5 => "5MHz",
            LteBandwidth::Mhz10 => "10MHz",
            LteBandwidth::Mhz15 => "15MHz",
            LteBandwidth::Mhz20 => "20MHz",
        }
    }

    /// Resource blocks each way.
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

    /// Resource blocks that the downlink deals out together (3GPP TS 36.213,
    /// table 7.1.6.1-1).
    pub(super) const fn group(self) -> u16 {
        match self {
            LteBandwidth::Mhz1_4 => 1,
            LteBandwidth::Mhz3 | LteBandwidth::Mhz5 => 2,
            LteBandwidth::Mhz10 => 3,
            LteBandwidth::Mhz15 | LteBandwidth::Mhz20 => 4,
        }
    }
}

impl LteScheduler {
    /// All, by their names.
    pub const ALL: [LteScheduler; 3] = [
        LteScheduler::ProportionalFair,
        LteScheduler::RoundRobin,
        LteScheduler::MaxRate,
    ];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LteScheduler::ProportionalFair => "proportional-fair",
            LteScheduler::RoundRobin => "round-robin",
            LteScheduler::MaxRate => "max-rate",
        }
    }
}

impl LteMotion {
    /// All, by their names.
    pub const ALL: [LteMotion; 3] = [LteMotion::Still, LteMotion::Walking, LteMotion::Driving];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LteMotion::Still => "still",
            LteMotion::Walking => "walking",
            LteMotion::Driving => "driving",
        }
    }
}

impl LteBearers {
    /// All, by their names.
    pub const ALL: [LteBearers; 2] = [LteBearers::Default, LteBearers::Dedicated];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LteBearers::Default => "default",
            LteBearers::Dedicated => "dedicated",
        }
    }
}
