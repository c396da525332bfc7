use std::fmt;
use std::str::FromStr;

/// Fault that a call avoids first where its links cannot give everything:
/// freezes or coarse pictures.
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

#[cfg(test)]
mod tests;
