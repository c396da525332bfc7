use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use weft_session::{Metering, Policy, PolicyError, Standing};
use weft_units::Bytes;

/// A link as the user names it: `[NAME=]INTERFACE` or `[NAME=]ADDRESS`, and
/// after commas what it may be used for: `metered`, `budget=2GB`, `weight=0.5`,
/// `backup`.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkChoice {
    /// What people call it: the given name, or the interface or address.
    pub name: String,
    /// What its sockets are bound to.
    pub target: Target,
    /// The one address at which every peer is reached over this link, if the
    /// link is a tunnel or a relay.
    pub via: Option<SocketAddr>,
    /// How it may be used.
    pub policy: Policy,
    /// All that it may carry, in both directions; then it is not used any more.
    pub budget: Option<Bytes>,
}

/// Where a link is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A network interface, with all its addresses.
    Interface(String),
    /// One local address.
    Address(IpAddr),
}

/// A link specification that cannot be meant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LinkChoiceError {
    /// Neither an interface name nor an address.
    #[error("link `{0}` is neither an interface name nor an IP address; try `weft doctor`")]
    Empty(String),
    /// Longer than an interface's name can be.
    #[error(
        "link `{0}`: interface names have at most 15 characters; `weft doctor` lists the interfaces of this machine"
    )]
    TooLong(String),
    /// An option that there is not.
    #[error(
        "link `{link}`: unknown option `{option}`; the options are: metered, budget=2GB, weight=0.5, backup"
    )]
    UnknownOption {
        /// What the user calls it.
        link: String,
        /// What stands there.
        option: String,
    },
    /// An option twice.
    #[error("link `{link}`: the option `{option}` is given twice; remove one")]
    Twice {
        /// What the user calls it.
        link: String,
        /// Its name, without the value.
        option: String,
    },
    /// No weight.
    #[error(
        "link `{link}`: `{value}` is not a weight; write a number above 0 and at most 1, like weight=0.5, or `backup` for a link that is used only while no other one works"
    )]
    Weight {
        /// What the user calls it.
        link: String,
        /// What stands there.
        value: String,
    },
    /// No size.
    #[error("link `{link}`: `{value}` is not a budget; write it like budget=2GB or budget=500MB")]
    Budget {
        /// What the user calls it.
        link: String,
        /// What stands there.
        value: String,
    },
}

impl LinkChoice {
    /// A link without conditions.
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

    /// Whether it carries whatever there is, from the start.
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
                // Who counts bytes pays for them.
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

/// Decimal units, as data plans are sold in.
fn size(text: &str) -> Option<Bytes> {
    let lower = text.to_ascii_lowercase();
    let units = [("gb", 1e9), ("mb", 1e6), ("kb", 1e3)];
    let bytes = units.into_iter().find_map(|(unit, factor)| {
        let number: f64 = lower.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor)
    })?;
    // An exabyte is more than anybody means.
    (1.0..=1e18).contains(&bytes).then_some(Bytes(bytes as u64))
}

impl FromStr for LinkChoice {
    type Err = LinkChoiceError;
    fn from_str(s: &str) -> Result<LinkChoice, LinkChoiceError> {
        /// linux/if.h, IFNAMSIZ, the end's zero off.
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
