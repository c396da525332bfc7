use std::fmt;
use std::str::FromStr;

use super::Scheduler;
use super::converge::Converge;
use super::custom::CustomScheduler;
use super::duplicate::Duplicate;
use super::migrate::Migrate;
use super::min_rtt::MinRtt;
use super::mprtp::Mprtp;
use super::single::Single;
use super::throughput::Throughput;
use super::weft::Weft;
use crate::ablation::{Ablation, Ablations};
use weft_units::{UnknownName, is_same_name};

/// Built-in schedulers, by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SchedulerKind {
    /// Our own scheduler: sends each frame over the path where it arrives first.
    #[default]
    Weft,
    /// Scheduler of Converge, section 4, with all parts.
    Converge,
    /// Uses one path, and the next one when that dies.
    Single,
    /// Uses one path, and another one when its connection has failed for long.
    Migrate,
    /// Uses the lowest round trip first, as MPTCP and MPQUIC do.
    MinRtt,
    /// Shares packets in proportion to throughput, as `MuSher` does.
    Throughput,
    /// Shares packets in proportion to a loss-based rate, as MPRTP does.
    Mprtp,
    /// Sends each packet on every path.
    Duplicate,
    /// Scheduler that the embedding program defines. Not parsed from a name here.
    Custom(&'static CustomScheduler),
}

impl SchedulerKind {
    /// All built-in schedulers, for help texts.
    pub const ALL: [SchedulerKind; 8] = [
        SchedulerKind::Weft,
        SchedulerKind::Converge,
        SchedulerKind::Single,
        SchedulerKind::Migrate,
        SchedulerKind::MinRtt,
        SchedulerKind::Throughput,
        SchedulerKind::Mprtp,
        SchedulerKind::Duplicate,
    ];

    /// Returns the name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SchedulerKind::Weft => "weft",
            SchedulerKind::Converge => "converge",
            SchedulerKind::Single => "single",
            SchedulerKind::Migrate => "migrate",
            SchedulerKind::MinRtt => "min_rtt",
            SchedulerKind::Throughput => "throughput",
            SchedulerKind::Mprtp => "mprtp",
            SchedulerKind::Duplicate => "duplicate",
            SchedulerKind::Custom(custom) => custom.name(),
        }
    }

    /// Returns the only scheduler that has this part; `None` if every session has it.
    #[must_use]
    pub fn owner(part: Ablation) -> Option<SchedulerKind> {
        match part {
            Ablation::Feedback | Ablation::Priorities => Some(SchedulerKind::Converge),
            Ablation::DegradedPaths
            | Ablation::FreshStart
            | Ablation::FrameBudget
            | Ablation::Caution
            | Ablation::Copies
            | Ablation::OnlyPath => Some(SchedulerKind::Weft),
            Ablation::PathRepair
            | Ablation::PathDeath
            | Ablation::InFlight
            | Ablation::QuickFeedback
            | Ablation::Budgets => None,
        }
    }

    pub(crate) fn build(self, without: Ablations) -> Box<dyn Scheduler> {
        match self {
            SchedulerKind::Weft => Box::new(Weft::new(without)),
            SchedulerKind::Converge => Box::new(Converge::new(without)),
            SchedulerKind::Single => Box::<Single>::default(),
            SchedulerKind::Migrate => Box::<Migrate>::default(),
            SchedulerKind::MinRtt => Box::new(MinRtt),
            SchedulerKind::Throughput => Box::<Throughput>::default(),
            SchedulerKind::Mprtp => Box::<Mprtp>::default(),
            SchedulerKind::Duplicate => Box::<Duplicate>::default(),
            SchedulerKind::Custom(custom) => custom.build(),
        }
    }
}

impl fmt::Display for SchedulerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SchedulerKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<SchedulerKind, UnknownName> {
        let mut all = SchedulerKind::ALL.into_iter();
        let found = all.find(|kind| is_same_name(kind.name(), text));
        let names = || SchedulerKind::ALL.map(SchedulerKind::name);
        found.ok_or_else(|| UnknownName::new("scheduler", text, names()))
    }
}
