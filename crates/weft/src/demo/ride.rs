//! The ride of the demo: what happens to its two links, as a function of
//! time. Pure: [`Ride::at`] says what the links are like, the caller brings
//! its relays there.

use std::fmt;
use std::str::FromStr;
use weft_links::{LinkSpec, QueueLimit};
use weft_units::{Duration, Rate};

/// After this the ride begins again. Chosen with the demo's measured run of
/// the same length in mind, so that it meets every phase once.
pub const PERIOD: Duration = Duration::from_secs(60);

/// Waiting room of both links: what an access network's modem has where its
/// maker cared (RFC 8868 tests with 70 ms and up). Chosen by us.
const QUEUE: QueueLimit = QueueLimit::Time(Duration::from_millis(200));

// The links, chosen by us to look like a home's WiFi and a moving car's LTE:
// each alone carries the call when it is good, and the call needs no more
// than one.
const WIFI_GOOD: LinkState = link(Condition::Good, 7_000, 15, 0.0);
const WIFI_FADED: LinkState = link(Condition::Fading, 300, 40, 0.08);
const LTE_GOOD: LinkState = link(Condition::Good, 4_500, 35, 0.0);
const LTE_CONGESTED: LinkState = link(Condition::Congested, 1_200, 60, 0.01);

/// The two links of the demo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkName {
    /// Fast and near, dies first.
    Wifi,
    /// Slower and farther.
    Lte,
}

/// Who decides about a link's switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Override {
    /// The script.
    #[default]
    Auto,
    /// A person: the link is off.
    Cut,
    /// A person: the link is on; while the script has it off, it is good.
    /// Ends as soon as the script has it on as well ([`Ride::settle`]).
    Up,
}

/// How people call the state that a link is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Good,
    Fading,
    Congested,
    /// The script has it off.
    Dead,
    /// A person has it off.
    Cut,
}

/// What one link is like at a time, in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkState {
    pub condition: Condition,
    /// Whether it carries anything.
    pub up: bool,
    /// Capacity; zero while it is off.
    pub capacity: Rate,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Loss probability, 0 to 1.
    pub loss: f64,
}

/// What the ride is like at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RideState {
    /// The link "wifi".
    pub wifi: LinkState,
    /// The link "lte".
    pub lte: LinkState,
}

/// The script and what people have changed by hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ride {
    wifi: Override,
    lte: Override,
}

/// A name that is not in the demo.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{given}' is not known here: write {expected}")]
pub struct UnknownName {
    pub given: String,
    /// What would have been.
    pub expected: String,
}

/// A stretch of the script.
struct Phase {
    seconds: u64,
    wifi: Course,
    lte: Course,
}

/// What a link does during a phase.
enum Course {
    Stays(LinkState),
    /// Moves evenly from one state to the other.
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
    /// The links at this time after the beginning of the ride.
    #[must_use]
    pub fn at(&self, time: Duration) -> RideState {
        let scripted = scripted(time);
        RideState {
            wifi: self.wifi.of(scripted.wifi, WIFI_GOOD),
            lte: self.lte.of(scripted.lte, LTE_GOOD),
        }
    }

    /// Lets a person or the script decide about a link.
    pub fn set(&mut self, link: LinkName, to: Override) {
        match link {
            LinkName::Wifi => self.wifi = to,
            LinkName::Lte => self.lte = to,
        }
    }

    /// Gives a link that a person has switched on back to the script, once
    /// that has it on as well.
    pub fn settle(&mut self, time: Duration) {
        let scripted = scripted(time);
        for link in LinkName::ALL {
            if self.forced(link) == Override::Up && scripted.link(link).up {
                self.set(link, Override::Auto);
            }
        }
    }

    /// Who decides about a link.
    #[must_use]
    pub fn forced(&self, link: LinkName) -> Override {
        match link {
            LinkName::Wifi => self.wifi,
            LinkName::Lte => self.lte,
        }
    }
}

impl RideState {
    /// The state of both links in a few words.
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

    /// The state of the link of this name.
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

    /// The state at `share`, 0 to 1, of the way to `other`, by whose name it
    /// goes from the beginning.
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

    /// As in the demo's HTTP API.
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
    /// What is said of a link in it; nothing of a good one.
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
    /// Both, in the order in which they are shown.
    pub const ALL: [LinkName; 2] = [LinkName::Wifi, LinkName::Lte];

    /// As in the demo's HTTP API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LinkName::Wifi => "wifi",
            LinkName::Lte => "lte",
        }
    }

    /// As people write it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            LinkName::Wifi => "WiFi",
            LinkName::Lte => "LTE",
        }
    }

    /// The link when it is good, in each direction: what to start a relay
    /// with.
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
