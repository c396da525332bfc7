//! Policies for links, applied around any scheduler: which live paths the scheduler sees,
//! with which rates, and which copies it may make.

use std::collections::BTreeMap;

use weft_units::{PathId, Rate};

use super::{Assignment, PathView};

/// Permitted use of a path's link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Policy {
    /// Share relative to the others.
    pub weight: Weight,
    /// Whether it is used from the start.
    pub standing: Standing,
    /// Whether its bytes cost money.
    pub metering: Metering,
}

/// Whether a path carries media along with others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Standing {
    /// It carries media.
    #[default]
    Regular,
    /// It carries media only while no other path lives, or the others cannot carry
    /// [`MINIMUM`].
    Backup,
}

/// Whether the bytes of a path cost money.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Metering {
    /// They are free.
    #[default]
    Free,
    /// They cost money: the path carries only the rate that the free paths cannot,
    /// without duplicates and probes.
    Metered,
}

/// Error for an invalid option of a link's policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyError {
    /// The option does not exist.
    NoSuchOption,
    /// The value must be a number above 0 and at most 1.
    BadWeight,
}

impl Policy {
    /// Options as users write them, each at most once: `metered`, `backup`, `weight=0.5`.
    pub const OPTIONS: [&str; 3] = ["metered", "backup", "weight"];

    /// Sets one option; `value` is empty if the option has none.
    ///
    /// # Errors
    /// If the option or its value is invalid.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), PolicyError> {
        match (option, value) {
            ("metered", "") => self.metering = Metering::Metered,
            ("backup", "") => self.standing = Standing::Backup,
            ("weight", value) => {
                let weight = value.parse().ok().and_then(Weight::new);
                self.weight = weight.ok_or(PolicyError::BadWeight)?;
            }
            _ => return Err(PolicyError::NoSuchOption),
        }
        Ok(())
    }
}

/// Factor on a path's rate, relative to the highest weight of the paths in use: above 0,
/// at most 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Weight(f64);

impl Weight {
    /// Returns `None` if the value is not above 0 and at most 1.
    #[must_use]
    pub fn new(value: f64) -> Option<Weight> {
        (value > 0.0 && value <= 1.0).then_some(Weight(value))
    }

    /// Returns the value: above 0, at most 1.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Weight {
        Weight(1.0)
    }
}

/// Rate of one stream of sound: Opus at 32 kbps (libwebrtc's `kOpusBitrateFbBps`), plus
/// 20 bytes of RTP header and extension for each of 50 packets a second.
pub(crate) const SOUND: Rate = Rate::from_kbps(40);
/// Total rate below which backup paths help: the lowest at which libwebrtc sends 640x360
/// (media/config/simulcast.cc, 150 kbps), plus sound.
pub const MINIMUM: Rate = Rate::from_kbps(150 + 40);
/// Factor on [`MINIMUM`] that the others must carry before a helping backup stops.
const RELIEF: f64 = 1.5;
/// Smallest missing rate for which a metered path is used: the default lowest rate of a
/// path's controller.
const LEAST: Rate = Rate::from_kbps(50);

/// Policies of a session's paths.
#[derive(Default)]
pub(crate) struct Policies {
    /// Policies of the paths that have another than the default.
    of: BTreeMap<PathId, Policy>,
    /// Whether backups carry media, with others or alone.
    helping: bool,
}

/// Order in which paths are used.
const TIERS: [(Standing, Metering); 4] = [
    (Standing::Regular, Metering::Free),
    (Standing::Regular, Metering::Metered),
    (Standing::Backup, Metering::Free),
    (Standing::Backup, Metering::Metered),
];

impl Policies {
    pub fn set(&mut self, path: PathId, policy: Policy) {
        match policy == Policy::default() {
            true => self.of.remove(&path),
            false => self.of.insert(path, policy),
        };
    }

    /// Forgets a removed path.
    pub fn remove(&mut self, path: PathId) {
        self.of.remove(&path);
    }

    pub fn of(&self, path: PathId) -> Policy {
        self.of.get(&path).copied().unwrap_or_default()
    }

    /// Returns the position of a path in the order in which paths are used.
    pub fn tier(&self, path: PathId) -> usize {
        let policy = self.of(path);
        let tier = (policy.standing, policy.metering);
        TIERS.iter().position(|t| *t == tier).unwrap_or(TIERS.len())
    }

    /// Returns whether all paths have the default policy.
    pub fn are_none(&self) -> bool {
        self.of.is_empty()
    }

    /// Returns the live paths that may carry media, in the same order, with the rate that
    /// counts for each; `wanted` is the rate that the application would send. The result
    /// is not empty if any path lives.
    pub fn admit(&self, live: &[PathView], wanted: Rate) -> Vec<(PathId, Rate)> {
        let mut admitted: Vec<(PathId, Rate)> = Vec::new();
        for (standing, metering) in TIERS {
            let in_tier = |p: &&PathView| {
                let policy = self.of(p.id);
                (policy.standing, policy.metering) == (standing, metering)
            };
            let members: Vec<&PathView> = live.iter().filter(in_tier).collect();
            let carried: Rate = admitted.iter().map(|(_, rate)| *rate).sum();
            let short = wanted.saturating_sub(carried);
            let alone = admitted.is_empty();
            let needed = match (standing, metering) {
                (Standing::Regular, Metering::Free) => true,
                (Standing::Regular, Metering::Metered) => short >= LEAST,
                (Standing::Backup, _) => carried < self.minimum(wanted),
            };
            if !(alone || needed) {
                continue;
            }
            let together: Rate = members.iter().map(|p| p.rate).sum();
            // A metered path carries only the missing rate.
            let part = match metering {
                Metering::Metered if short < together && short > Rate::ZERO => {
                    short.as_bps() as f64 / together.as_bps() as f64
                }
                _ => 1.0,
            };
            admitted.extend(members.iter().map(|p| (p.id, p.rate.mul_f64(part))));
        }
        self.weigh(&mut admitted);
        admitted.sort_by_key(|(id, _)| *id);
        admitted
    }

    fn weigh(&self, admitted: &mut [(PathId, Rate)]) {
        let weights = admitted.iter().map(|(id, _)| self.of(*id).weight.value());
        let greatest = weights.fold(0.0, f64::max);
        for (id, rate) in admitted {
            let weight = self.of(*id).weight.value() / greatest;
            if weight < 1.0 {
                *rate = rate.mul_f64(weight);
            }
        }
    }

    /// Records whether backups help now, so that they do not switch on and off with every
    /// estimate.
    pub fn settle(&mut self, live: &[PathView], wanted: Rate) {
        if self.are_none() {
            self.helping = false;
            return;
        }
        let is_backup = |id| self.of(id).standing == Standing::Backup;
        let admitted = self.admit(live, wanted);
        self.helping = admitted.iter().any(|(id, _)| is_backup(*id));
    }

    fn minimum(&self, wanted: Rate) -> Rate {
        let minimum = match self.helping {
            true => MINIMUM.mul_f64(RELIEF),
            false => MINIMUM,
        };
        minimum.min(wanted)
    }

    /// Removes copies from metered paths; a packet that also uses a free path uses only
    /// that.
    pub fn spare(&self, assignments: &mut [Assignment]) {
        let metered = |id: PathId| self.of(id).metering == Metering::Metered;
        for assignment in assignments {
            assignment.copies.retain(|id| !metered(*id));
            if !assignment.copies.is_empty() && metered(assignment.path) {
                assignment.path = assignment.copies.remove(0);
            }
        }
    }

    /// Returns whether probes of a path's rate may be filled with duplicates: not if
    /// bytes cost money, nor if the path carries no media.
    pub fn may_pad(&self, path: PathId) -> bool {
        let policy = self.of(path);
        let is_used = policy.standing == Standing::Regular || self.helping;
        policy.metering == Metering::Free && is_used
    }

    /// Returns whether an idle path gets a duplicate from time to time, so that its delay
    /// is known when it is needed.
    pub fn may_be_measured(&self, path: PathId) -> bool {
        self.of(path).metering == Metering::Free
    }
}

#[cfg(test)]
mod tests;
