//! Controllers and schedulers of the program that embeds the lab.

use weft_cc::{ControllerKind, CustomController};
use weft_session::SchedulerKind;
use weft_session::schedule::CustomScheduler;

/// Controllers and schedulers that systems may use besides the built-in ones. A built-in
/// name takes precedence.
#[derive(Clone, Default, Debug)]
pub struct Custom {
    /// Controllers.
    pub controllers: Vec<&'static CustomController>,
    /// Schedulers.
    pub schedulers: Vec<&'static CustomScheduler>,
}

impl Custom {
    /// Returns the controller of this name.
    pub(super) fn controller(&self, name: &str) -> Option<ControllerKind> {
        let mut all = self.controllers.iter().copied();
        let found = all.find(|each| each.name() == name);
        found.map(ControllerKind::Custom)
    }

    /// Returns the scheduler of this name.
    pub(super) fn scheduler(&self, name: &str) -> Option<SchedulerKind> {
        let mut all = self.schedulers.iter().copied();
        let found = all.find(|each| each.name() == name);
        found.map(SchedulerKind::Custom)
    }

    /// Iterates over the names of the schedulers.
    pub(super) fn scheduler_names<'a>(&self) -> impl Iterator<Item = &'a str> {
        let all = self.schedulers.iter().copied();
        all.map(|each| -> &'a str { each.name() })
    }
}
