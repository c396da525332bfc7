//! Which of the pairs between the same two networks carries. With IPv4 and
//! IPv6, or several addresses, there are several, and one bottleneck: with
//! media on each, as many congestion controllers would compete there. The
//! others are kept valid and step in when it ends.

use super::Agent;
use super::pair::Pair;
use crate::ice::{DownReason, LinkId, PathState};
use crate::outbox::Outbox;
use std::net::IpAddr;
use weft_units::Instant;

/// From network to network.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way(LinkId, Far);

/// A network of the peer's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Far {
    /// By the number that the peer gives it.
    Network(u16),
    /// The peer tells none: each address may be another network's.
    Address(IpAddr),
}

impl Way {
    fn of(pair: &Pair) -> Way {
        let address = Far::Address(pair.path.remote.ip());
        Way(pair.path.link, pair.network.map_or(address, Far::Network))
    }
}

impl Agent {
    /// Takes note of the peer's network at the far end of a pair.
    pub(super) fn set_network(
        &mut self,
        now: Instant,
        index: usize,
        network: Option<u16>,
        out: &mut Outbox,
    ) {
        let pair = &mut self.pairs[index];
        if pair.network != network {
            pair.network = network;
            self.settle(now, out);
        }
    }

    /// To be called when a pair has become valid or ended, or its ends are
    /// known better: one pair of each way is up, and one is selected.
    pub(super) fn settle(&mut self, now: Instant, out: &mut Outbox) {
        for index in 0..self.pairs.len() {
            if self.pairs[index].is_up() && self.is_surplus(index) {
                self.pairs[index].path.state = PathState::Spare;
                self.pairs[index].tell_end(DownReason::Spare, out);
            }
        }
        for index in 0..self.pairs.len() {
            if self.pairs[index].is_valid() && self.up_of(index).is_none() {
                self.promote(index, out);
            }
        }
        self.reselect(now, out);
    }

    /// A peer that moves has a new address in an old network: where a pair
    /// comes second, the first one may be dead.
    pub(super) fn question_the_other(&mut self, now: Instant, index: usize, out: &mut Outbox) {
        if self.pairs[index].path.state == PathState::Spare {
            self.raise_suspicion(now, out);
        }
    }

    /// The pair of its way that is up.
    fn up_of(&self, index: usize) -> Option<usize> {
        let way = Way::of(&self.pairs[index]);
        self.indices(|p| p.is_up() && Way::of(p) == way).next()
    }

    /// Whether another pair of its way is up and comes first: the selected
    /// one, or the older one.
    fn is_surplus(&self, index: usize) -> bool {
        let pair = &self.pairs[index];
        let is_selected = |p: &Pair| self.selection.path.is_some_and(|id| p.has_id(id));
        let rank = |i: usize| (!is_selected(&self.pairs[i]), i);
        let way = Way::of(pair);
        let mut others = self.indices(|p| p.is_up() && Way::of(p) == way);
        others.any(|i| rank(i) < rank(index))
    }

    /// Raises the best pair of this one's way: the selected one, then the
    /// fastest. Under suspicion only one that has answered since: others may
    /// be as dead as the one that ended.
    fn promote(&mut self, index: usize, out: &mut Outbox) {
        let way = Way::of(&self.pairs[index]);
        let may = |p: &Pair| {
            p.is_valid() && Way::of(p) == way && (!self.is_suspicious() || p.cleared.is_some())
        };
        let best = self.indices(may).min_by_key(|&i| {
            let pair = &self.pairs[i];
            let selected = self.selection.path.is_some_and(|id| pair.has_id(id));
            (!selected, pair.path.rtt, pair.path.id)
        });
        if let Some(best) = best {
            let pair = &mut self.pairs[best];
            pair.path.state = PathState::Up;
            pair.told = true;
            out.event(pair.up_event());
        }
    }
}
