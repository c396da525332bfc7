//! Selection of the pair on which the peer sends.
//!
//! As the controlling side, exactly one pair's checks carry NOMINATION, whose
//! highest value wins in libwebrtc, and USE-CANDIDATE for other
//! implementations: on several pairs, either attribute makes the peer flip
//! between them (measured with Chromium 156: about 60 flips a second).

use super::Agent;
use crate::output::Event;
use crate::types::IceRole;
use crate::types::MAX_COST;
use weft_units::{Instant, PathId};

impl Agent {
    /// Selects another path if the selected one is not up: by the cheapest
    /// link, then the fastest. On the controlled side only until the peer
    /// decides otherwise.
    pub(super) fn reselect(&mut self, now: Instant) {
        if self.role == IceRole::Controlled {
            self.follow();
        }
        let selected = self.selection.path.and_then(|id| self.by_id(id));
        if selected.is_some_and(|i| self.pairs[i].is_valid()) {
            return;
        }
        let up = self.indices(|p| p.is_up());
        let best = up.min_by_key(|&i| {
            let pair = &self.pairs[i];
            (pair.link_cost, pair.path.rtt, pair.path.id)
        });
        let Some(best) = best else {
            // Keep a path that may recover, but not a removed one.
            self.selection.path = self.selection.path.filter(|_| selected.is_some());
            return;
        };
        match self.role {
            IceRole::Controlling => self.nominate(now, best),
            IceRole::Controlled => self.mark_selected(self.pairs[best].path.id),
        }
    }

    /// Announces the selected pair to the peer. The nomination has a cost above
    /// the other pairs'; otherwise Chromium prunes those as no better than the
    /// selected one, and refuses to switch to a pair that became more expensive
    /// later.
    pub(super) fn nominate(&mut self, now: Instant, index: usize) {
        let others = self.pairs.iter().enumerate().filter(|(i, _)| *i != index);
        let dearest = others.map(|(_, p)| p.wire_cost).max().unwrap_or(0);
        if dearest >= MAX_COST {
            self.pairs.iter_mut().for_each(|p| p.wire_cost = 0);
        }
        self.pairs[index].wire_cost = if dearest >= MAX_COST { 1 } else { dearest + 1 };
        self.selection.nomination += 1;
        self.selection.confirmed = false;
        self.mark_selected(self.pairs[index].path.id);
        self.send_check(now, index);
    }

    /// Nominates a pair that has become valid, if the selection is moving there, or
    /// from TCP to UDP.
    pub(super) fn nominate_successor(&mut self, now: Instant, index: usize) {
        let pair = self.pairs[index].path.tuple;
        let moves = self.selection.moving.end(pair) || self.leaves_tcp(index);
        if moves && self.role == IceRole::Controlling {
            self.nominate(now, index);
        }
    }

    /// Whether the selected pair is a TCP connection, and this one is not.
    fn leaves_tcp(&self, index: usize) -> bool {
        let selected = self.selection.path.and_then(|id| self.by_id(id));
        selected.is_some_and(|i| self.pairs[i].is_tcp()) && !self.pairs[index].is_tcp()
    }

    fn mark_selected(&mut self, path: PathId) {
        if self.selection.path != Some(path) {
            self.selection.path = Some(path);
            self.out.event(Event::Selected { path });
        }
    }

    pub(super) fn follow(&mut self) {
        let wanted = self.selection.wanted;
        let wanted = wanted.and_then(|(tuple, _)| self.find(tuple));
        if let Some(pair) = wanted.map(|i| &self.pairs[i]).filter(|p| p.is_valid()) {
            self.mark_selected(pair.path.id);
        }
    }

    pub(super) fn switch_role(&mut self, now: Instant, role: IceRole) {
        if self.role == role {
            return;
        }
        self.role = role;
        self.selection.wanted = None;
        let selected = self.selection.path.and_then(|id| self.by_id(id));
        if let (IceRole::Controlling, Some(index)) = (role, selected)
            && self.pairs[index].is_valid()
        {
            self.nominate(now, index);
        }
    }
}
