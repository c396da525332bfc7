//! Table from pairs of addresses to peers.

use std::collections::BTreeMap;
use weft_units::FiveTuple;

use weft_ice::Route;

use super::key::PeerKey;

/// Pairs of all current peers; each peer's agent bounds the number of its claims.
#[derive(Default, Debug)]
pub(super) struct Routes {
    /// Claimants of each pair, the owner first: the peer that most recently proved its
    /// presence there, or else the first claimant.
    claims: BTreeMap<FiveTuple, Vec<PeerKey>>,
}

impl Routes {
    /// Returns the peers that claim these addresses, the owner first.
    pub fn of(&self, tuple: FiveTuple) -> &[PeerKey] {
        self.claims.get(&tuple).map_or(&[], Vec::as_slice)
    }

    /// Updates the pairs of a peer. It takes ownership of a pair that has become valid, even from
    /// another peer: a check with its keys was answered from there, as when a browser reuses a
    /// port for a new call. A datagram from there is not enough, because sources can be forged.
    pub fn update(&mut self, key: PeerKey, before: &[Route], after: &[Route]) {
        for route in before {
            if !after.iter().any(|r| r.tuple == route.tuple) {
                self.release(key, route);
            }
        }
        for route in after {
            let known = before.iter().find(|r| r.tuple == route.tuple);
            let is_proved = route.is_valid && !known.is_some_and(|r| r.is_valid);
            if known.is_some() && !is_proved {
                continue;
            }
            let claimants = self.claims.entry(route.tuple).or_default();
            claimants.retain(|k| *k != key);
            let place = if is_proved { 0 } else { claimants.len() };
            claimants.insert(place, key);
        }
    }

    fn release(&mut self, key: PeerKey, route: &Route) {
        if let Some(claimants) = self.claims.get_mut(&route.tuple) {
            claimants.retain(|k| *k != key);
            if claimants.is_empty() {
                self.claims.remove(&route.tuple);
            }
        }
    }

    /// Number of claims.
    pub fn len(&self) -> usize {
        self.claims.values().map(Vec::len).sum()
    }
}
