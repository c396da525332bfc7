use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use weft_session::{Metering, Policy, PolicyError, Standing};
use weft_units::Bytes;

/// Link specification of the user: `[NAME=]INTERFACE` or `[NAME=]ADDRESS`,
/// followed by options after commas: `metered`, `budget=2GB`, `weight=0.5`,
/// `backup`.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkChoice {
    /// Name for people: the given name, or the interface or address.
    pub name: String,
    /// Interface or address to bind its sockets to.
    pub target: Target,
    /// Fixed address that represents every peer on this link, if it is a tunnel
    /// or a relay.
    pub via: Option<SocketAddr>,
    /// Policy of its use.
    pub policy: Policy,
    /// Limit on its traffic in both directions, after which the link is no longer used.
    pub budget: Option<Bytes>,
}

/// Target of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Network interface, with all its addresses.
    Interface(String),
    /// Single local address.
    Address(IpAddr),
}

/// Invalid link specification.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LinkChoiceError {
    /// Neither an interface name nor an address.
    #[error("link `{0}` is neither an interface name nor an IP address; try `weft doctor`")]
    Empty(String),
    /// Longer than any interface name.
    #[error(
        "link `{0}`: interface names have at most 15 characters; `weft doctor` lists the interfaces of this machine"
    )]
    TooLong(String),
    /// Unknown option.
    #[error(
        "link `{link}`: unknown option `{option}`; the options are: metered, budget=2GB, weight=0.5, backup"
    )]
    UnknownOption {
        /// Name given by the user.
        link: String,
        /// Option as written.
        option: String,
    },
    /// Repeated option.
    #[error("link `{link}`: the option `{option}` is given twice; remove one")]
    Twice {
        /// Name given by the user.
        link: String,
        /// Name of the option, without its value.
        option: String,
    },
    /// Invalid weight.
    #[error(
        "link `{link}`: `{value}` is not a weight; write a number above 0 and at most 1, like weight=0.5, or `backup` for a link that is used only while no other one works"
    )]
    Weight {
        /// Name given by the user.
        link: String,
        /// Value as written.
        value: String,
    },
    /// Invalid budget.
    #[error("link `{link}`: `{value}` is not a budget; write it like budget=2GB or budget=500MB")]
    Budget {
        /// Name given by the user.
        link: String,
        /// Value as written.
        value: String,
    },
}

impl LinkChoice {
    /// Link without conditions.
    #[must_use]
    pub fn new(name: impl Into<String>, target: Target) -> LinkChoice {
        LinkChoice {
            name: name.into(),
            target,
            via: None,
            policy: Policy::default(),
            budget: None,
        }
    }

    /// Whether it carries any traffic from the start.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.policy.standing == Standing::Regular && self.policy.metering == Metering::Free
    }

    fn set(&mut self, option: &str) -> Result<(), LinkChoiceError> {
        let link = || self.name.clone();
        match option.split_once('=').unwrap_or((option, "")) {
            ("budget", value) => {
                let budget = size(value).ok_or_else(|| LinkChoiceError::Budget {
                    link: link(),
                    value: value.to_owned(),
                })?;
                // A budget implies that traffic costs money.
                self.policy.metering = Metering::Metered;
                self.budget = Some(budget);
            }
            (name, value) => {
                let set = self.policy.set(name, value);
                set.map_err(|error| match error {
                    PolicyError::BadWeight => LinkChoiceError::Weight {
                        link: link(),
                        value: value.to_owned(),
                    },
                    PolicyError::NoSuchOption => LinkChoiceError::UnknownOption {
                        link: link(),
                        option: option.to_owned(),
                    },
                })?;
            }
        }
        Ok(())
    }
}

/// Size in decimal units, as in data plans.
fn size(text: &str) -> Option<Bytes> {
    let lower = text.to_ascii_lowercase();
    let units = [("gb", 1e9), ("mb", 1e6), ("kb", 1e3)];
    let bytes = units.into_iter().find_map(|(unit, factor)| {
        let number: f64 = lower.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor)
    })?;
    // An exabyte is above any sensible value.
    (1.0..=1e18).contains(&bytes).then_some(Bytes(bytes as u64))
}

impl FromStr for LinkChoice {
    type Err = LinkChoiceError;
    fn from_str(s: &str) -> Result<LinkChoice, LinkChoiceError> {
        /// IFNAMSIZ of linux/if.h, minus the terminating zero.
        const LONGEST_NAME: usize = 15;
        let (link, options) = s.split_once(',').map_or((s, None), |(l, o)| (l, Some(o)));
        let (name, place) = link.split_once('=').unwrap_or((link, link));
        let valid = |c: char| c.is_ascii_graphic() && !"/=".contains(c);
        if place.is_empty() || name.is_empty() || !place.chars().all(valid) {
            return Err(LinkChoiceError::Empty(s.to_owned()));
        }
        let target = match place.parse() {
            Ok(address) => Target::Address(address),
            Err(_) if place.len() > LONGEST_NAME => {
                return Err(LinkChoiceError::TooLong(place.to_owned()));
            }
            Err(_) => Target::Interface(place.to_owned()),
        };
        let mut spec = LinkChoice::new(name, target);
        let mut seen: Vec<&str> = Vec::new();
        for option in options.into_iter().flat_map(|o| o.split(',')) {
            let kind = option.split('=').next().unwrap_or(option);
            if seen.contains(&kind) {
                return Err(LinkChoiceError::Twice {
                    link: spec.name,
                    option: kind.to_owned(),
                });
            }
            seen.push(kind);
            spec.set(option)?;
        }
        Ok(spec)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Interface(name) => f.write_str(name),
            Target::Address(address) => address.fmt(f),
        }
    }
}
