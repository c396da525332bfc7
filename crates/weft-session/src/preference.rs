use std::fmt;
use std::str::FromStr;

use weft_units::{Duration, Rate};

/// What a call is to be spared first, where its links cannot give everything:
/// still pictures or coarse ones.
///
/// For schedulers that look after late packets
/// ([`SchedulerKind::Weft`](crate::SchedulerKind::Weft)) on several paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preference {
    /// As few still pictures as possible, at a rate that the best link alone
    /// has carried without danger on this call.
    Calm,
    /// A rate that the links have carried without danger lately, and copies
    /// for a while after one was in danger.
    #[default]
    Balanced,
    /// All that the links carry now, and no copies.
    Pixels,
}

impl Preference {
    /// All of them, for help texts.
    pub const ALL: [Preference; 3] = [Preference::Calm, Preference::Balanced, Preference::Pixels];

    /// The name on the command line and in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Preference::Calm => "calm",
            Preference::Balanced => "balanced",
            Preference::Pixels => "pixels",
        }
    }

    pub(crate) fn caution(self) -> Caution {
        let balanced = Caution {
            danger: Duration::from_millis(100),
            trusts_rate: true,
            copies_for: Duration::from_secs(10),
            cap: Some(Cap {
                others: 0.5,
                start: Rate::from_mbps(3),
                after_first: Rate::from_mbps(10_000),
                least: Rate::from_mbps(1),
                fall: 0.7,
                growth: 0.03,
                early_growth: 0.5,
                calm_after: None,
            }),
        };
        match self {
            Preference::Balanced => balanced,
            Preference::Pixels => Caution {
                copies_for: Duration::ZERO,
                cap: None,
                ..balanced
            },
            Preference::Calm => Caution {
                danger: Duration::from_millis(80),
                trusts_rate: false,
                copies_for: Duration::from_secs(30),
                cap: Some(Cap {
                    others: 0.0,
                    start: Rate::from_mbps(10),
                    after_first: Rate::from_kbps(1500),
                    least: Rate::from_kbps(700),
                    fall: 0.6,
                    growth: 0.008,
                    early_growth: 0.1,
                    calm_after: Some(Duration::from_secs(30)),
                }),
            },
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such preference.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be preferred; write calm, balanced or pixels")]
pub struct UnknownPreference(String);

impl FromStr for Preference {
    type Err = UnknownPreference;
    fn from_str(s: &str) -> Result<Preference, UnknownPreference> {
        let found = Preference::ALL.into_iter().find(|p| p.name() == s);
        found.ok_or_else(|| UnknownPreference(s.to_owned()))
    }
}

/// How a preference takes danger. The figures were found by trial on generated
/// and measured traces; `docs/protocol/calm.md` has what each gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caution {
    /// A delay over that of the empty path from which a path is in danger.
    pub danger: Duration,
    /// Whether there is none while the link carries what was thought safe.
    pub trusts_rate: bool,
    /// Frames go over a second path as well for so long after a danger.
    pub copies_for: Duration,
    /// What is learnt of rates, if anything is.
    pub cap: Option<Cap>,
}

/// How what was safe is learnt, path by path, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    /// The part that counts of all paths but the best.
    pub others: f64,
    /// What is thought safe at the beginning.
    pub start: Rate,
    /// The most that is thought safe when the first danger has come.
    pub after_first: Rate,
    /// What is always thought safe.
    pub least: Rate,
    /// A danger leaves this part.
    pub fall: f64,
    /// Without danger it grows by this part a second.
    pub growth: f64,
    /// The same while there was none yet, and after `calm_after`.
    pub early_growth: f64,
    /// When a danger is forgotten.
    pub calm_after: Option<Duration>,
}

#[cfg(test)]
mod tests;
