//! Feedback by path, at the full level: arrivals under each path's own numbers.

use weft_units::{Instant, PathId, Ssrc};
use weft_wire::rtcp::{Allowance, Packet, PathFeedback, split_arrivals};
use weft_wire::sequence;

use super::super::Session;
use super::log::Report;
use crate::arrival::Arrival;
use crate::event::Event;
use crate::path::PathState;

impl Session {
    pub(super) fn on_path_feedback(&mut self, now: Instant, feedback: &PathFeedback) {
        let id = feedback.path;
        let Some(path) = self.paths.get(&id) else {
            self.drops.stale_feedback += 1;
            return;
        };
        let next = path.history.next_number();
        // A base beyond the next number is invalid.
        let extended = sequence::extend(Some(next + (1 << 16)), feedback.base_sequence);
        let Some(base) = extended.checked_sub(1 << 16).filter(|b| *b <= next) else {
            self.drops.stale_feedback += 1;
            return;
        };
        let mut marks = feedback.marks.iter().copied();
        let arrivals = feedback.arrivals.iter().map(|arrival| {
            arrival.map(|at| Arrival {
                at,
                ecn: marks.next().unwrap_or_default(),
            })
        });
        self.on_path_reports(now, id, (base..).zip(arrivals));
    }

    pub(in crate::session) fn on_path_reports(
        &mut self,
        now: Instant,
        id: PathId,
        reports: impl Iterator<Item = (u64, Option<Arrival>)>,
    ) {
        let was_unheard = self.is_unheard(now);
        let Some(path) = self.paths.get_mut(&id) else {
            // The path was removed after these packets had left.
            self.drops.stale_feedback += reports.count() as u64;
            return;
        };
        let before = path.state;
        let outcome = path.on_feedback(now, reports);
        if path.state != before {
            let state = path.state;
            self.event(Event::PathStateChanged { path: id, state });
        }
        let arrived = outcome.acknowledged.len();
        if was_unheard && outcome.newest.is_some() {
            self.end_unheard(now);
        }
        // No repair packet would have survived the outage, and protection against it
        // would halve the rate of the call after it.
        let missing = match before {
            PathState::Suspect => 0,
            PathState::Up | PathState::Down => outcome.lost.len(),
        };
        let protection = &mut self.protecting.protection;
        protection.on_feedback(now, id, arrived as u64, missing as u64);
        for (_, carried) in &outcome.acknowledged {
            self.on_acknowledged(id, *carried);
        }
        for (number, carried) in &outcome.lost {
            self.on_lost(now, id, *number, *carried);
        }
        if let Some(path) = self.paths.get_mut(&id) {
            path.history.recycle(outcome);
        }
        self.examine_paths(now);
        self.rescue(now, id);
        self.rescue_suspects(now);
    }
}

/// Splits one path's report into messages of at most `max_len` bytes, within the
/// allowance.
pub(in crate::session) fn messages(
    sender: Ssrc,
    path: PathId,
    report: Report,
    max_len: usize,
    left: &mut Allowance,
) -> impl Iterator<Item = Packet> {
    let room = match report.marks.is_empty() {
        true => max_len,
        false => PathFeedback::room_beside_marks(max_len),
    };
    let mut marks = report.marks.into_iter();
    let blocks = split_arrivals(report.first, &report.arrivals, room, left);
    blocks.into_iter().map(move |block| {
        let count = block.arrivals.iter().flatten().count();
        let mut feedback = block.into_path_feedback(sender, path);
        feedback.marks.extend(marks.by_ref().take(count));
        Packet::PathFeedback(feedback)
    })
}
