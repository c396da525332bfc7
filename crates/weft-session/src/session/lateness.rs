//! Treatment of late packets, according to the scheduler and the number of paths.

use weft_units::{Duration, Instant, PathId, Rate};

use super::Session;
use crate::path::{Path, PathState};
use crate::receive::Remedy;
use crate::schedule::Lateness;

impl Session {
    /// Returns the treatment of late packets, if the scheduler wants one.
    pub(super) fn lateness(&self) -> Option<&Lateness> {
        self.scheduling.behaviour.lateness.as_ref()
    }

    /// Returns the treatment of late packets if there is a choice of paths, so that their
    /// health matters.
    pub(super) fn watched(&self) -> Option<&Lateness> {
        self.lateness().filter(|_| self.paths.len() > 1)
    }

    /// Returns whether there is only one path, which is treated differently.
    pub(super) fn has_only_path(&self) -> bool {
        self.paths.len() == 1 && self.lateness().is_some_and(|l| l.spreads_on_only_path)
    }

    /// Returns whether degraded paths get no media, if there is a choice.
    pub(super) fn avoids_degraded_paths(&self) -> bool {
        self.watched().is_some_and(|l| l.avoids_degraded_paths)
    }

    /// Returns the remedy for late pictures: the peer is assumed to treat late packets as
    /// this end does.
    pub(super) fn remedy(&self) -> Remedy {
        match (self.has_only_path(), self.watched().is_some()) {
            (true, _) => Remedy::Waiting,
            (false, true) => Remedy::OtherPath,
            (false, false) => Remedy::Unknown,
        }
    }

    /// Returns the rate that is considered safe over all paths: the best path's, plus a
    /// share of the others', because the most doubtful path may fail now.
    pub(super) fn safe_rate(&self) -> Option<Rate> {
        let others = self.watched()?.others_count?;
        let safe = || self.paths.values().filter_map(|p| p.health.safe_rate());
        let (best, all) = (safe().max()?, safe().sum::<Rate>());
        Some(best + all.saturating_sub(best).mul_f64(others))
    }

    /// Returns whether any path was in danger so recently that pictures are sent twice.
    pub(super) fn is_endangered(&self, now: Instant) -> bool {
        self.any_in_danger(now, self.copies_for())
    }

    /// Returns the time for which pictures are sent twice after a danger.
    pub(super) fn copies_for(&self) -> Duration {
        self.lateness()
            .map_or(Duration::ZERO, |l| l.caution.copies_for)
    }

    /// Returns whether any path was in danger within this time.
    pub(super) fn any_in_danger(&self, now: Instant, within: Duration) -> bool {
        let mut paths = self.paths.values();
        paths.any(|path| path.health.was_in_danger(now, within))
    }

    /// Returns whether this path gets no media: it is degraded, and a healthy one exists.
    pub(super) fn avoids(&self, path: &Path) -> bool {
        self.avoids_degraded_paths()
            && path.health.is_degraded()
            && self.may_replace(path.id).next().is_some()
    }

    /// Returns the healthy paths that may replace this one, if their links' policies do
    /// not put them after it.
    pub(super) fn may_replace(&self, id: PathId) -> impl Iterator<Item = &Path> {
        let tier = |id| self.scheduling.policies.tier(id);
        let may = move |p: &&Path| {
            p.id != id
                && p.state == PathState::Up
                && !p.health.is_degraded()
                && tier(p.id) <= tier(id)
        };
        self.paths.values().filter(may)
    }
}
