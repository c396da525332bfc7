//! Deadlines of the paths.

use weft_units::{Deadline, Instant};

use super::{PathsDue, Session};
use crate::ablation::Ablation;
use crate::config::Level;

impl Session {
    /// Updates what the paths have to do next. Every call that changes sending must end
    /// with this. Incoming packets, which are as many, do not change it.
    pub(super) fn refresh_paths_due(&mut self) {
        self.paths_due = self.find_paths_due();
    }

    pub(super) fn find_paths_due(&self) -> PathsDue {
        let mut next = PathsDue::default();
        let mut consider = |at: Option<Instant>, reason| {
            next.other = Deadline::earlier(next.other, at.map(|at| Deadline { at, reason }));
        };
        consider(self.scheduling.resumes_at, "migration");
        consider(self.unanswered_until(), "no answer");
        for path in self.paths.values() {
            if self.level != Level::Single && self.has(Ablation::PathDeath) {
                consider(path.silence_deadline(), "silence");
            }
            consider(path.controller.poll_timeout().map(|d| d.at), "controller");
            if !path.queue.is_empty() || self.can_pad(path) {
                let at = path.next_send(Instant::ZERO).max(self.turn_at(path));
                next.pacer = Some(next.pacer.map_or(at, |earliest| earliest.min(at)));
            }
            consider(self.keep_alive_due(path), "keep-alive");
        }
        next
    }

    /// Returns whether a timeout is only for packets that wait for their pacer, as most
    /// are: then nothing else has work to do.
    pub(super) fn only_pacers_are_due(&self, now: Instant) -> bool {
        let later = |at: Option<Instant>| at.is_none_or(|at| now < at);
        !self.rate.moved
            && now < self.feedback.next_report
            && later(self.feedback.next_feedback)
            && later(self.paths_due.other.map(|d| d.at))
            && later(self.streams.receivers.poll_timeout())
    }

    /// Returns whether anything is due apart from the receivers.
    pub(super) fn is_sending_due(&self, now: Instant) -> bool {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        debug_assert_eq!(self.paths_due, self.find_paths_due());
        self.rate.moved
            || self.feedback.next_report <= now
            || is_due(self.feedback.next_feedback)
            || is_due(self.paths_due.pacer)
            || is_due(self.paths_due.other.map(|deadline| deadline.at))
    }
}
