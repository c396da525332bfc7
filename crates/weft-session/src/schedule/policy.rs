//! Policies of the owner of a link, applied around any scheduler: which of the live paths
//! it gets to see, with which rate, and which copies it may make.

use std::collections::BTreeMap;

use weft_units::{PathId, Rate};

use super::{Assignment, PathView};

/// How a path's link may be used.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Policy {
    /// Its part beside the others.
    pub weight: Weight,
    /// Whether it takes part from the start.
    pub standing: Standing,
    /// Whether its bytes cost.
    pub metering: Metering,
}

/// Whether a path carries media beside others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Standing {
    /// It does.
    #[default]
    Regular,
    /// Only while no other path lives, or the others cannot carry
    /// [`MINIMUM`].
    Backup,
}

/// Whether the bytes of a path cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Metering {
    /// They do not.
    #[default]
    Free,
    /// They do: it carries what the free paths cannot, no duplicates and no
    /// probes.
    Metered,
}

/// An option that says nothing of a link's policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyError {
    /// There is none of this name.
    NoSuchOption,
    /// The value is not a number above 0 and at most 1.
    BadWeight,
}

impl Policy {
    /// Options that people write, each once: `metered`, `backup`, `weight=0.5`.
    pub const OPTIONS: [&str; 3] = ["metered", "backup", "weight"];

    /// Takes one option over, the value empty where it has none.
    ///
    /// # Errors
    /// When it says nothing of a policy.
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

/// A path's rate counts this much, beside the greatest weight of the paths in
/// use: above 0, at most 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Weight(f64);

impl Weight {
    /// Nothing if it is not above 0 and at most 1.
    #[must_use]
    pub fn new(value: f64) -> Option<Weight> {
        (value > 0.0 && value <= 1.0).then_some(Weight(value))
    }

    /// Above 0, at most 1.
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

/// Rate of a sound: Opus of 32 kbps (libwebrtc's `kOpusBitrateFbBps`), and 20
/// bytes of RTP's header and extension for each of 50 packets a second.
pub(crate) const SOUND: Rate = Rate::from_kbps(40);
/// Paths that carry less together are helped by a backup: the least at which
/// libwebrtc sends 640x360 (media/config/simulcast.cc, 150 kbps) and a sound.
pub const MINIMUM: Rate = Rate::from_kbps(150 + 40);
/// A backup that helps continues until the others carry this much more.
const RELIEF: f64 = 1.5;
/// A metered path is not begun for less: the least rate of a path's controller
/// by default.
const LEAST: Rate = Rate::from_kbps(50);

/// The policies of a session's paths.
#[derive(Default)]
pub(crate) struct Policies {
    of: BTreeMap<PathId, Policy>,
    /// Backups carry media, beside others or alone.
    helping: bool,
}

/// In the order in which paths are taken.
const TIERS: [(Standing, Metering); 4] = [
    (Standing::Regular, Metering::Free),
    (Standing::Regular, Metering::Metered),
    (Standing::Backup, Metering::Free),
    (Standing::Backup, Metering::Metered),
];

impl Policies {
    pub fn set(&mut self, path: PathId, policy: Policy) {
        self.of.insert(path, policy);
    }

    /// Forgets a path that has left.
    pub fn remove(&mut self, path: PathId) {
        self.of.remove(&path);
    }

    pub fn of(&self, path: PathId) -> Policy {
        self.of.get(&path).copied().unwrap_or_default()
    }

    /// The place of a path in the order in which paths are taken.
    pub fn tier(&self, path: PathId) -> usize {
        let policy = self.of(path);
        let tier = (policy.standing, policy.metering);
        TIERS.iter().position(|t| *t == tier).unwrap_or(TIERS.len())
    }

    /// Whether all paths are used as they come.
    pub fn are_none(&self) -> bool {
        self.of.values().all(|p| *p == Policy::default())
    }

    /// The paths that may carry media, of those that live, in the same order,
    /// and the rate that each counts with; `wanted` is what the application
    /// would send. Some if some live.
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
            // What a metered path carries is what is missing, no more.
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

    /// Takes down whether backups help now, so that they do not come and go
    /// with every estimate.
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

    /// Takes copies off metered paths; what goes over a free path anyway goes
    /// over that alone.
    pub fn spare(&self, assignments: &mut [Assignment]) {
        let metered = |id: PathId| self.of(id).metering == Metering::Metered;
        for assignment in assignments {
            assignment.copies.retain(|id| !metered(*id));
            if metered(assignment.path) && !assignment.copies.is_empty() {
                assignment.path = assignment.copies.remove(0);
            }
        }
    }

    /// Whether probes of a path's rate may be filled with duplicates: not
    /// where bytes cost, nor where nothing is to be sent.
    pub fn may_pad(&self, path: PathId) -> bool {
        let policy = self.of(path);
        let is_used = policy.standing == Standing::Regular || self.helping;
        policy.metering == Metering::Free && is_used
    }

    /// Whether a path that stands idle gets a duplicate now and then, so that
    /// its delay is known when it is needed.
    pub fn may_be_measured(&self, path: PathId) -> bool {
        self.of(path).metering == Metering::Free
    }
}

#[cfg(test)]
mod tests;
