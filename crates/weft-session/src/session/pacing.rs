//! Sending of the packets that the paths' pacers release.

use weft_units::{Instant, PathId};

use super::Session;
use super::limit::Turn;
use crate::config::Backlog;
use crate::path::{Path, Purpose, Spacing, Waiting};

impl Session {
    /// Sends the packets that the pacers release now.
    pub(super) fn transmit_due(&mut self, now: Instant) {
        let mut place = 0;
        while let Some(id) = self.paths.id_at(place) {
            self.transmit_path(now, id);
            place += 1;
        }
    }

    pub(super) fn transmit_path(&mut self, now: Instant, id: PathId) {
        let treatment = |path| (self.spacing_of(path), self.backlog_of(path));
        let Some((spacing, backlog)) = self.paths.get(&id).map(treatment) else {
            return;
        };
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        path.refresh_pacing(now, spacing, backlog);
        loop {
            let Some(path) = self.paths.get_mut(&id) else {
                return;
            };
            if !path.may_carry(now) || path.next_send(now) > now {
                return;
            }
            if let Some(waiting) = self.take_turn(now, id) {
                self.transmit(now, id, waiting);
            } else if self.paths.get(&id).is_some_and(|p| !p.queue.is_empty()) {
                return;
            } else if self.paths.get(&id).is_some_and(|p| self.can_pad(p)) {
                if !self.send_padding(now, id) {
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Returns the spacing of a path's packets. A forwarder's publisher has already paced
    /// its pictures, so the forwarder spreads them only if the path is not known to have
    /// room.
    fn spacing_of(&self, path: &Path) -> Spacing {
        let forwards = matches!(self.config.backlog, Backlog::Waits { .. });
        match self.has_only_path() {
            _ if forwards && path.has_room() => Spacing::Together,
            true => Spacing::Spread,
            false => Spacing::Controller,
        }
    }

    /// Returns the next packet of a path, if the limit on all paths allows it.
    pub(super) fn take_turn(&mut self, now: Instant, id: PathId) -> Option<Waiting> {
        loop {
            let turn = self.turn(now, self.paths.get(&id)?);
            let waiting = match turn {
                Turn::At(_) => return None,
                Turn::Now | Turn::Never => self.paths.get_mut(&id)?.queue.pop()?,
            };
            if turn == Turn::Now {
                return Some(waiting);
            }
            self.leave_out(now, &waiting);
            if waiting.purpose == Purpose::Repair {
                self.give_up_repair(now, waiting.stream, waiting.sequence);
            }
        }
    }
}
