use weft_units::Instant;

use super::rescue::budget::Budget;
use super::unanswered::room::Unanswered;
use crate::config::Config;
use crate::schedule::{Behaviour, Policies, Scheduler, SchedulerKind};

/// Assignment of packets to paths.
pub(super) struct Scheduling {
    pub scheduler: Box<dyn Scheduler>,
    pub kind: SchedulerKind,
    /// Tasks of the session for the scheduler.
    pub behaviour: Behaviour,
    pub policies: Policies,
    /// End of a migration to another path.
    pub resumes_at: Option<Instant>,
    pub rescue_budget: Budget,
    /// State while no path answers.
    pub unanswered: Option<Unanswered>,
}

impl Scheduling {
    pub fn new(kind: SchedulerKind, config: &Config) -> Scheduling {
        let scheduler = kind.build(config.ablations);
        Scheduling {
            behaviour: scheduler.behaviour(config.preference),
            scheduler,
            kind,
            policies: Policies::default(),
            resumes_at: None,
            rescue_budget: Budget::new(),
            unanswered: None,
        }
    }

    pub fn set_scheduler(&mut self, kind: SchedulerKind, config: &Config) {
        (self.scheduler, self.kind) = (kind.build(config.ablations), kind);
        self.resumes_at = None;
        self.resolve(config);
    }

    /// Updates the behaviour. Call this after a change of anything that it depends on.
    pub fn resolve(&mut self, config: &Config) {
        self.behaviour = self.scheduler.behaviour(config.preference);
    }
}
