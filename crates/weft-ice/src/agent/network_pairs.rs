//! Choice of the active pair between the same two networks. Several addresses
//! make several pairs with one bottleneck: with media on each, as many
//! congestion controllers would compete. The other pairs are kept valid and
//! replace the active one when it ends; packets that arrive on them are
//! accepted as usual.

use super::Agent;
use super::pair::Pair;
use crate::types::{DownReason, LinkId, PathState};
use std::net::IpAddr;
use weft_units::{Duration, Instant, PathId};

/// Connection from network to network.
#[derive(Clone, Copy, PartialEq, Eq)]
struct NetworkPair(LinkId, Far);

/// Network of the peer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Far {
    /// Network number assigned by the peer.
    Network(u16),
    /// Without a number, each address may belong to a different network.
    Address(IpAddr),
}

impl NetworkPair {
    fn of(pair: &Pair) -> NetworkPair {
        let address = Far::Address(pair.path.tuple.remote.ip());
        NetworkPair(pair.path.link, pair.network.map_or(address, Far::Network))
    }
}

/// Whether only one of two pairs is up: they connect the same networks, or one is a TCP
/// connection and the other is not.
fn are_alternatives(a: &Pair, b: &Pair) -> bool {
    NetworkPair::of(a) == NetworkPair::of(b) || a.is_tcp() != b.is_tcp()
}

impl Agent {
    /// Records the peer's network at the far end of a pair.
    pub(super) fn set_network(&mut self, now: Instant, index: usize, network: Option<u16>) {
        let pair = &mut self.pairs[index];
        if pair.network != network {
            pair.network = network;
            self.settle(now);
        }
    }

    /// Call this when a pair has become valid or ended, or its networks are
    /// known better: activates one pair for each pair of networks, and selects
    /// one.
    pub(super) fn settle(&mut self, now: Instant) {
        self.fill_network_pairs();
        self.reselect(now);
    }

    /// Activates one pair for each pair of networks, over UDP if there is one. Reports the
    /// new one first: it takes over the packets of the previous one.
    pub(super) fn fill_network_pairs(&mut self) {
        let surplus = |i: &usize| self.pairs[*i].is_up() && self.is_surplus(*i);
        let surplus: Vec<usize> = (0..self.pairs.len()).filter(surplus).collect();
        for &index in &surplus {
            self.pairs[index].path.state = PathState::Spare;
            self.pairs[index].silent = false;
        }
        for index in 0..self.pairs.len() {
            if self.pairs[index].is_valid() && self.up_of(index).is_none() {
                self.promote(index);
            }
        }
        for index in surplus {
            self.pairs[index].tell_end(DownReason::Spare, &mut self.out);
        }
    }

    /// Active pair of which this one is an alternative.
    fn up_of(&self, index: usize) -> Option<usize> {
        let pair = &self.pairs[index];
        self.indices(|p| p.is_up() && are_alternatives(p, pair))
            .next()
    }

    /// Whether an alternative is up and has priority, or could be up and is the
    /// selected one.
    fn is_surplus(&self, index: usize) -> bool {
        let pair = &self.pairs[index];
        let comes_first = |p: &Pair| self.rank(p) < self.rank(pair);
        let instead = |p: &Pair| p.is_up() || self.is_selected(p) && self.may_rise(p);
        let mut others =
            self.indices(|p| are_alternatives(p, pair) && instead(p) && comes_first(p));
        others.next().is_some()
    }

    /// Priority: the selected pair first, then UDP, then the fastest.
    fn rank(&self, pair: &Pair) -> (bool, bool, Option<Duration>, PathId) {
        let path = &pair.path;
        (!self.is_selected(pair), pair.is_tcp(), path.rtt, path.id)
    }

    /// Whether the pair may become active. Under suspicion, only if it has
    /// answered since: others may be as dead as the one that ended.
    fn may_rise(&self, pair: &Pair) -> bool {
        pair.is_valid() && (!self.is_suspicious() || pair.cleared.is_some())
    }

    /// Activates the best of this pair and its alternatives.
    fn promote(&mut self, index: usize) {
        let pair = &self.pairs[index];
        let candidates = self.indices(|p| are_alternatives(p, pair) && self.may_rise(p));
        if let Some(best) = candidates.min_by_key(|&i| self.rank(&self.pairs[i])) {
            let pair = &mut self.pairs[best];
            pair.path.state = PathState::Up;
            pair.tell_up(&mut self.out);
        }
    }
}
