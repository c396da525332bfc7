//! Paths as the scheduler sees them.

use smallvec::smallvec;
use weft_units::Duration;

use super::Session;
use crate::path::{Path, PathState};
use crate::schedule::{PathList, PathView};

impl Session {
    /// Returns the paths that may carry packets, as the scheduler sees them: the live
    /// paths that the links' policies admit.
    pub(super) fn path_views(&self) -> PathList<PathView> {
        let live = self.live_paths();
        if self.scheduling.policies.are_none() {
            return self.views(&live);
        }
        let admitted = self
            .scheduling
            .policies
            .admit(&self.views(&live), self.wanted_rate());
        let rate_of = |id| admitted.iter().find(|(path, _)| *path == id);
        let used = live.into_iter().filter(|p| rate_of(p.id).is_some());
        let mut views = self.views(&used.collect::<PathList<&Path>>());
        for view in &mut views {
            view.rate = rate_of(view.id).map_or(view.rate, |(_, rate)| *rate);
        }
        views
    }

    /// Returns paths as the scheduler sees them, with delays relative to the quickest.
    pub(super) fn views(&self, paths: &[&Path]) -> PathList<PathView> {
        if let [path] = paths {
            return smallvec![self.view(path, Duration::ZERO, Duration::ZERO)];
        }
        let measured = paths.iter().all(|p| p.one_way.recent().is_some());
        let delay = |p: &Path| {
            let measured = p.one_way.recent().filter(|_| measured);
            measured.unwrap_or_else(|| (p.rtt.smoothed() / 2).as_nanos() as i64)
        };
        let each = paths.iter().map(|p| (*p, delay(p), self.reach(p)));
        let each: PathList<(&Path, i64, i64)> = each.collect();
        let least = each.iter().map(|(_, delay, _)| *delay).min().unwrap_or(0);
        let quickest = each.iter().map(|(.., reach)| *reach).min().unwrap_or(0);
        let over = |value: i64, least: i64| Duration::from_nanos(value.abs_diff(least));
        let view = |(path, delay, reach): &(&Path, i64, i64)| {
            self.view(path, over(*delay, least), over(*reach, quickest))
        };
        each.iter().map(view).collect()
    }

    fn view(&self, path: &Path, delay: Duration, reach: Duration) -> PathView {
        let unanswered = self.scheduling.unanswered.is_some();
        PathView {
            endangered: unanswered || path.health.was_in_danger(self.now, self.copies_for()),
            ..path.view(delay, reach)
        }
    }

    /// Returns the one-way delay of a packet sent on this path now, plus a constant that
    /// all paths share; half a round trip before any feedback.
    pub(super) fn reach(&self, path: &Path) -> i64 {
        path.expected_delay(self.now).unwrap_or_else(|| {
            let offsets = self.paths.values().filter_map(|p| p.forecast.offset());
            offsets.min().unwrap_or(0) + (path.rtt.smoothed() / 2).as_nanos() as i64
        })
    }

    /// Returns the paths that are up, without degraded ones while others are healthy;
    /// otherwise the suspect ones, otherwise all that do not answer. If the scheduler
    /// keeps to one path and that is usable, returns only that one.
    pub(super) fn live_paths(&self) -> PathList<&Path> {
        if let Some(only) = self.paths.only() {
            // There is no other path, usable or not.
            return match only.may_carry(self.now) {
                true => smallvec![only],
                false => PathList::new(),
            };
        }
        let kept = self.scheduling.scheduler.keeps_to();
        let kept = kept.and_then(|id| self.paths.get(&id));
        if let Some(path) = kept.filter(|p| p.is_usable()) {
            return smallvec![path];
        }
        let in_state = |s| {
            let paths = self.paths.values();
            paths.filter(move |p| p.state == s && p.is_usable())
        };
        let mut live: PathList<&Path> = in_state(PathState::Up).collect();
        live.retain(|path| !self.avoids(path));
        if live.is_empty() {
            live = in_state(PathState::Suspect).collect();
            if self.lateness().is_some() {
                // The path that was heard last is the most likely to live.
                let last = live.iter().map(|p| p.heard_at()).max();
                live.retain(|p| Some(p.heard_at()) == last);
            }
        }
        if live.is_empty() {
            live = self
                .paths
                .values()
                .filter(|p| p.may_carry(self.now))
                .collect();
        }
        live
    }
}
