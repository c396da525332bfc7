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

/// The built-in schedulers, by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SchedulerKind {
    /// Our own: each frame where it arrives first.
    #[default]
    Weft,
    /// Converge, section 4, whole.
    Converge,
    /// One path; the next one when it dies.
    Single,
    /// One path; another one when its connection has failed for long.
    Migrate,
    /// The lowest round trip first, as MPTCP and MPQUIC.
    MinRtt,
    /// In proportion to throughput, as `MuSher`.
    Throughput,
    /// In proportion to a loss-based rate, as MPRTP.
    Mprtp,
    /// Sends each packet on every path.
    Duplicate,
    /// Defined by the embedding program. Not parsed from a name here.
    Custom(&'static CustomScheduler),
}

impl SchedulerKind {
    /// All of them, for help texts.
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

    /// The name on the command line and in reports.
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
