//! Creation and numbering of pairs.

use super::pair::Pair;
use super::{Agent, Checks, MAX_PAIRS, MAX_REMOTES, liveness, schedule};
use crate::types::{DownReason, PathState, RemoteCandidate, can_pair, is_answerable};
use weft_units::{FiveTuple, Instant, PathId, Transport};

impl Agent {
    /// Assigns a number to the pair if it has none yet. A number is reused only
    /// after all 256, so that late packets are not mistaken for a new path's.
    pub(super) fn number(&mut self, index: usize) -> PathId {
        if !self.pairs[index].numbered {
            let taken = |id| self.pairs.iter().any(|p| p.has_id(id));
            let mut id = self.next_id;
            while taken(PathId(id)) {
                id = id.wrapping_add(1);
            }
            self.next_id = id.wrapping_add(1);
            let pair = &mut self.pairs[index];
            pair.path.id = PathId(id);
            pair.numbered = true;
        }
        self.pairs[index].path.id
    }

    /// Creates all missing pairs of compatible addresses.
    pub(super) fn make_pairs(&mut self, now: Instant) {
        if self.remote.is_none() || self.pacing.checks == Checks::Answering {
            return;
        }
        for remote in 0..self.remotes.len() {
            for local in 0..self.locals.len() {
                let remote = self.remotes[remote].addr;
                let address = &self.locals[local];
                // The peer opens TCP connections, and its candidates are for UDP.
                let may = address.transport != Transport::Tcp
                    && can_pair(address.addr, remote)
                    && address.remotes.allows(remote);
                let tuple = FiveTuple::udp(address.addr, remote);
                if may && self.find(tuple).is_none() {
                    self.make_pair(now, local, tuple);
                }
            }
        }
    }

    pub(super) fn make_pair(&mut self, now: Instant, local: usize, tuple: FiveTuple) {
        if self.pairs.len() == MAX_PAIRS {
            let Some(least_useful) = self.least_useful(now) else {
                self.out.counters.pairs_refused += 1;
                return;
            };
            let mut least_useful = self.pairs.remove(least_useful);
            least_useful.end_number(&mut self.out);
        }
        let mut pair = Pair::new(now, &self.locals[local], tuple);
        pair.next_check = self.pacing.next_first.max(now);
        self.pacing.next_first = pair.next_check + schedule::STAGGER;
        self.pairs.push(pair);
        self.routes_revision += 1;
    }

    /// Least useful pair: one that never worked, or else the one that has been down for
    /// longest. A moving peer leaves many of the latter.
    fn least_useful(&self, now: Instant) -> Option<usize> {
        let hopeless = self.indices(|p| schedule::is_hopeless(now, p)).next();
        let dead =
            self.indices(|p| p.path.state == PathState::Down && liveness::is_expired(now, p));
        hopeless.or_else(|| dead.min_by_key(|&i| self.pairs[i].sent.heard_at))
    }

    pub(super) fn remove_pairs(&mut self, now: Instant, which: impl FnMut(&Pair) -> bool) {
        let pairs = std::mem::take(&mut self.pairs);
        let (mut gone, kept): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(which);
        self.pairs = kept;
        if gone.is_empty() {
            return;
        }
        self.routes_revision += 1;
        self.fill_network_pairs();
        for pair in &mut gone {
            pair.tell_end(DownReason::Removed, &mut self.out);
            pair.end_number(&mut self.out);
        }
        self.reselect(now);
    }

    /// Adds a remote address that arrived before or after the description. Addresses
    /// beyond the limit and unanswerable ones are refused and counted.
    pub fn add_remote(&mut self, now: Instant, candidate: RemoteCandidate) {
        if self.remotes.iter().any(|r| r.addr == candidate.addr) {
            return;
        }
        if self.remotes.len() == MAX_REMOTES || !is_answerable(candidate.addr) {
            self.out.counters.pairs_refused += 1;
            return;
        }
        self.remotes.push(candidate);
        self.make_pairs(now);
    }
}
