//! Treatment of late packets, by the scheduler's wish and the number of paths.

use weft_units::{Duration, Instant, PathId, Rate};

use super::Session;
use crate::path::{Path, PathState};
use crate::receive::Remedy;
use crate::schedule::Lateness;

impl Session {
    /// Treatment of late packets, if the session treats them.
    pub(super) fn lateness(&self) -> Option<&Lateness> {
        self.scheduling.behaviour.lateness.as_ref()
    }

    /// Treatment of late packets where there is a choice of paths: their health
    /// matters.
    pub(super) fn watched(&self) -> Option<&Lateness> {
        self.lateness().filter(|_| self.paths.len() > 1)
    }

    /// Whether one path carries everything, for good and all, and is treated in
    /// its own way.
    pub(super) fn has_only_path(&self) -> bool {
        self.paths.len() == 1 && self.lateness().is_some_and(|l| l.spreads_on_only_path)
    }

    /// Whether degraded paths get no media, where there is a choice.
    pub(super) fn avoids_degraded_paths(&self) -> bool {
        self.watched().is_some_and(|l| l.avoids_degraded_paths)
    }

    /// Remedy for late pictures: the peer is thought to treat late packets as
    /// this end does.
    pub(super) fn remedy(&self) -> Remedy {
        match (self.has_only_path(), self.watched().is_some()) {
            (true, _) => Remedy::Waiting,
            (false, true) => Remedy::OtherPath,
            (false, false) => Remedy::Unknown,
        }
    }

    /// Rate that is thought safe over all paths: the best one's, and a part of
    /// the others', since the most doubtful one may fail now.
    pub(super) fn safe_rate(&self) -> Option<Rate> {
        let others = self.watched()?.others_count?;
        let safe = || self.paths.values().filter_map(|p| p.health.safe_rate());
        let (best, all) = (safe().max()?, safe().sum::<Rate>());
        Some(best + all.saturating_sub(best).mul_f64(others))
    }

    /// Whether any path was in danger so lately that pictures go twice.
    pub(super) fn is_endangered(&self, now: Instant) -> bool {
        self.any_in_danger(now, self.copies_for())
    }

    /// Time for which pictures go twice after a danger.
    pub(super) fn copies_for(&self) -> Duration {
        self.lateness()
            .map_or(Duration::ZERO, |l| l.caution.copies_for)
    }

    /// Whether any path was in danger within this time.
    pub(super) fn any_in_danger(&self, now: Instant, within: Duration) -> bool {
        let mut paths = self.paths.values();
        paths.any(|path| path.health.was_in_danger(now, within))
    }

    /// Whether this path gets no media: it is degraded, and a healthy one exists.
    pub(super) fn avoids(&self, path: &Path) -> bool {
        self.avoids_degraded_paths()
            && path.health.is_degraded()
            && self.may_replace(path.id).next().is_some()
    }

    /// Returns the healthy paths that may replace this one; their links' policies spare
    /// them no longer than this one.
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
