//! Selection of the pair on which the peer sends.
//!
//! As the controlling side, exactly one pair's checks carry NOMINATION, whose
//! highest value wins in libwebrtc, and USE-CANDIDATE for other
//! implementations: on several pairs, either attribute makes the peer flip
//! between them (measured with Chromium 156: about 60 flips a second).

use super::pair::Pair;
use super::{Agent, Phase};
use crate::output::Event;
use crate::types::IceRole;
use crate::types::MAX_COST;
use weft_units::{Duration, Instant, PathId};

/// Difference in cost that outweighs everything else. Chosen by us: more than ten steps
/// between ordinary links of an endpoint, less than what a relayed, metered or backup link
/// adds. With a difference of zero, half of the calls to Chromium still change their pair:
/// its first check often comes over the second link.
pub(super) const MUCH_DEARER: u16 = 100;

/// Time for which a pair must have been valid before the selection returns to it in the
/// middle of a call. Chosen by us: two answers to regular checks and part of a third
/// interval; a link that flaps more often would interrupt the peer's media each time.
const STEADY: Duration = Duration::from_secs(5);

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
        let Some(best) = up.min_by_key(|&i| self.preference(i)) else {
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

    /// Nominates a pair that answered, or that the peer checked for the first time, if it
    /// is better than the selected one; returns whether it is.
    pub(super) fn nominate_better(&mut self, now: Instant, index: usize) -> bool {
        let selected = self.selection.path.and_then(|id| self.by_id(id));
        let is_better = |s: usize| self.is_better(now, &self.pairs[index], &self.pairs[s]);
        let is_better = self.role == IceRole::Controlling && selected.is_some_and(is_better);
        if is_better {
            self.nominate(now, index);
        }
        is_better
    }

    /// Whether a pair replaces the selected one:
    /// - It is much cheaper. The pair that is valid first may be metered, and a peer that
    ///   sends on one pair would send everything there.
    /// - Before media flow, the peer has checked it, but not the selected one. A peer sends
    ///   only where its own check was answered: until then, Chromium follows the media
    ///   from pair to pair (measured with Chromium 156: up to 31 changes).
    ///
    /// Chromium stops checking further pairs of one of its networks when one works, and does
    /// not follow a nomination to them. A peer that checks none (ICE lite) follows to any.
    fn is_better(&self, now: Instant, pair: &Pair, selected: &Pair) -> bool {
        let is_early = self.phase == Phase::Handshake;
        let is_steady = is_early || now.saturating_since(pair.since) >= STEADY;
        let is_cheaper = pair.link_cost.saturating_add(MUCH_DEARER) < selected.link_cost;
        let is_dearer = selected.link_cost.saturating_add(MUCH_DEARER) < pair.link_cost;
        let is_checked = is_early && pair.is_checked() && !selected.is_checked();
        let leaves_udp = pair.is_tcp() && !selected.is_tcp();
        let is_followed = pair.is_checked() || !self.pairs.iter().any(Pair::is_checked);
        pair.is_valid()
            && !leaves_udp
            && !self.is_moved(selected)
            && (is_cheaper && is_steady && is_followed || is_checked && !is_dearer)
    }

    /// Whether the selection moved to this pair's address, for a peer that would not leave
    /// it again.
    fn is_moved(&self, pair: &Pair) -> bool {
        let moving = &self.selection.moving;
        moving.priority(pair.path.tuple.local).is_some()
    }

    /// The cheapest link first, then the fastest path.
    fn preference(&self, index: usize) -> (u16, Option<Duration>, PathId) {
        let pair = &self.pairs[index];
        (pair.link_cost, pair.path.rtt, pair.path.id)
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
