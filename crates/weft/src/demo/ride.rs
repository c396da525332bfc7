//! Ride of the demo: the state of its two links as a pure function of time. [`Ride::at`]
//! returns the state, and the caller applies it to its relays.

use std::fmt;
use std::str::FromStr;
use weft_links::{LinkSpec, QueueLimit};
use weft_units::{Duration, Rate};

/// Length of the ride, which then repeats. Equal to the length of the demo's measured
/// run, so that the run covers every phase once.
pub const PERIOD: Duration = Duration::from_secs(60);

/// Queue of both links: that of a modem with a well-chosen buffer (RFC 8868
/// tests with 70 ms and up). Chosen by us.
const QUEUE: QueueLimit = QueueLimit::Time(Duration::from_millis(200));

// Links that resemble home WiFi and LTE in a moving car, chosen by us. A good link
// carries the call alone, and the call needs only one.
const WIFI_GOOD: LinkState = link(Condition::Good, 7_000, 15, 0.0);
const WIFI_FADED: LinkState = link(Condition::Fading, 300, 40, 0.08);
const LTE_GOOD: LinkState = link(Condition::Good, 4_500, 35, 0.0);
const LTE_CONGESTED: LinkState = link(Condition::Congested, 1_200, 60, 0.01);

/// Link of the demo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkName {
    /// WiFi: fast, with a short delay; fails first.
    Wifi,
    /// LTE: slower, with a longer delay.
    Lte,
}

/// Control of a link's switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Override {
    /// By the script.
    #[default]
    Auto,
    /// By a person: the link is off.
    Cut,
    /// By a person: the link is on, and good while the script has it off. Ends when the
    /// script turns it on too ([`Ride::settle`]).
    Up,
}

/// Named condition of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Good,
    Fading,
    Congested,
    /// Switched off by the script.
    Dead,
    /// Switched off by a person.
    Cut,
}

/// State of one link, in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkState {
    pub condition: Condition,
    /// Whether it carries packets.
    pub up: bool,
    /// Capacity; zero while the link is off.
    pub capacity: Rate,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Loss probability, 0 to 1.
    pub loss: f64,
}

/// State of both links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RideState {
    /// Link "wifi".
    pub wifi: LinkState,
    /// Link "lte".
    pub lte: LinkState,
}

/// Script, with the changes made by people.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ride {
    wifi: Override,
    lte: Override,
}

/// Unknown name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{given}' is not known here: write {expected}")]
pub struct UnknownName {
    pub given: String,
    /// Valid names.
    pub expected: String,
}

/// Phase of the script.
struct Phase {
    seconds: u64,
    wifi: Course,
    lte: Course,
}

/// Course of a link during a phase.
enum Course {
    Stays(LinkState),
    /// Linear change from one state to the other.
    Fades(LinkState, LinkState),
    Dead,
}

const SCRIPT: [Phase; 6] = [
    Phase {
        seconds: 8,
        wifi: Course::Stays(WIFI_GOOD),
        lte: Course::Stays(LTE_GOOD),
    },
    Phase {
        seconds: 4,
        wifi: Course::Fades(WIFI_GOOD, WIFI_FADED),
        lte: Course::Stays(LTE_GOOD),
    },
    Phase {
        seconds: 12,
        wifi: Course::Dead,
        lte: Course::Stays(LTE_GOOD),
    },
    Phase {
        seconds: 12,
        wifi: Course::Stays(WIFI_GOOD),
        lte: Course::Stays(LTE_CONGESTED),
    },
    Phase {
        seconds: 8,
        wifi: Course::Stays(WIFI_GOOD),
        lte: Course::Dead,
    },
    Phase {
        seconds: 16,
        wifi: Course::Stays(WIFI_GOOD),
        lte: Course::Stays(LTE_GOOD),
    },
];

impl Ride {
    /// State of the links at this time after the start of the ride.
    #[must_use]
    pub fn at(&self, time: Duration) -> RideState {
        let scripted = scripted(time);
        RideState {
            wifi: self.wifi.of(scripted.wifi, WIFI_GOOD),
            lte: self.lte.of(scripted.lte, LTE_GOOD),
        }
    }

    /// Puts a link under the control of a person or the script.
    pub fn set(&mut self, link: LinkName, to: Override) {
        match link {
            LinkName::Wifi => self.wifi = to,
            LinkName::Lte => self.lte = to,
        }
    }

    /// Returns a link that a person switched on to the control of the script, once the
    /// script turns it on too.
    pub fn settle(&mut self, time: Duration) {
        let scripted = scripted(time);
        for link in LinkName::ALL {
            if self.forced(link) == Override::Up && scripted.link(link).up {
                self.set(link, Override::Auto);
            }
        }
    }

    /// Control of a link.
    #[must_use]
    pub fn forced(&self, link: LinkName) -> Override {
        match link {
            LinkName::Wifi => self.wifi,
            LinkName::Lte => self.lte,
        }
    }
}

impl RideState {
    /// Short description of both links.
    #[must_use]
    pub fn headline(&self) -> String {
        let of = |name: LinkName| {
            let words = self.link(name).condition.words()?;
            Some(format!("{} {words}", name.title()))
        };
        match (of(LinkName::Wifi), of(LinkName::Lte)) {
            (None, None) => "Both links are good".to_owned(),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(_), Some(_)) if self.wifi.condition == self.lte.condition => {
                "Both links are cut by hand".to_owned()
            }
            (Some(wifi), Some(lte)) => format!("{wifi}, {lte}"),
        }
    }

    /// State of a link by name.
    #[must_use]
    pub fn link(&self, name: LinkName) -> LinkState {
        match name {
            LinkName::Wifi => self.wifi,
            LinkName::Lte => self.lte,
        }
    }
}

impl LinkState {
    const DEAD: LinkState = LinkState {
        condition: Condition::Dead,
        up: false,
        capacity: Rate::ZERO,
        delay: Duration::ZERO,
        loss: 0.0,
    };

    const CUT: LinkState = LinkState {
        condition: Condition::Cut,
        ..LinkState::DEAD
    };

    /// State at `share`, 0 to 1, between this state and `other`, with the
    /// condition of `other` from the start.
    fn towards(self, other: LinkState, share: f64) -> LinkState {
        let stay = 1.0 - share;
        LinkState {
            condition: other.condition,
            up: self.up,
            capacity: self.capacity.mul_f64(stay) + other.capacity.mul_f64(share),
            delay: self.delay.mul_f64(stay) + other.delay.mul_f64(share),
            loss: self.loss * stay + other.loss * share,
        }
    }
}

impl Course {
    fn at(&self, share: f64) -> LinkState {
        match self {
            Course::Stays(state) => *state,
            Course::Fades(from, to) => from.towards(*to, share),
            Course::Dead => LinkState::DEAD,
        }
    }
}

impl Override {
    fn of(self, scripted: LinkState, good: LinkState) -> LinkState {
        match self {
            Override::Cut => LinkState::CUT,
            Override::Up if !scripted.up => good,
            Override::Auto | Override::Up => scripted,
        }
    }

    /// Name in the demo's HTTP API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Override::Auto => "auto",
            Override::Cut => "cut",
            Override::Up => "up",
        }
    }
}

impl Condition {
    /// Words for the headline; `None` for a good link.
    const fn words(self) -> Option<&'static str> {
        match self {
            Condition::Good => None,
            Condition::Fading => Some("fades"),
            Condition::Congested => Some("is congested"),
            Condition::Dead => Some("is dead"),
            Condition::Cut => Some("is cut by hand"),
        }
    }
}

impl LinkName {
    /// Both links in display order.
    pub const ALL: [LinkName; 2] = [LinkName::Wifi, LinkName::Lte];

    /// Name in the demo's HTTP API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LinkName::Wifi => "wifi",
            LinkName::Lte => "lte",
        }
    }

    /// Display name.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            LinkName::Wifi => "WiFi",
            LinkName::Lte => "LTE",
        }
    }

    /// Specification of the good link in each direction, to start a relay.
    #[must_use]
    pub fn spec(self) -> LinkSpec {
        let good = match self {
            LinkName::Wifi => WIFI_GOOD,
            LinkName::Lte => LTE_GOOD,
        };
        LinkSpec {
            loss: good.loss,
            queue: QUEUE,
            ..LinkSpec::new(good.capacity, good.delay)
        }
    }
}

impl fmt::Display for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LinkName {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<LinkName, UnknownName> {
        let found = LinkName::ALL.into_iter().find(|l| l.as_str() == text);
        found.ok_or_else(|| UnknownName {
            given: text.into(),
            expected: "wifi or lte".into(),
        })
    }
}

impl FromStr for Override {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Override, UnknownName> {
        let all = [Override::Auto, Override::Cut, Override::Up];
        let found = all.into_iter().find(|o| o.as_str() == text);
        found.ok_or_else(|| UnknownName {
            given: text.into(),
            expected: "cut, up or auto".into(),
        })
    }
}

fn scripted(time: Duration) -> RideState {
    let mut left = time.as_nanos() % PERIOD.as_nanos();
    for phase in &SCRIPT {
        let length = Duration::from_secs(phase.seconds).as_nanos();
        if left < length {
            let share = left as f64 / length as f64;
            return RideState {
                wifi: phase.wifi.at(share),
                lte: phase.lte.at(share),
            };
        }
        left -= length;
    }
    unreachable!("the phases fill the period")
}

const fn link(condition: Condition, kbps: u64, delay_ms: u64, loss: f64) -> LinkState {
    LinkState {
        condition,
        up: true,
        capacity: Rate::from_kbps(kbps),
        delay: Duration::from_millis(delay_ms),
        loss,
    }
}

#[cfg(test)]
mod tests;
