//! Table from pairs of addresses to peers.

use std::collections::BTreeMap;
use weft_units::FiveTuple;

use weft_ice::Route;

use super::key::PeerKey;

/// The pairs of all peers, and nothing else: what a peer may claim is bounded
/// by its agent.
#[derive(Default, Debug)]
pub(super) struct Routes {
    /// Claimants of each pair. The owner comes first: the peer that proved last to be there,
    /// or else the first that claimed it.
    claims: BTreeMap<FiveTuple, Vec<PeerKey>>,
}

impl Routes {
    /// Returns the peers that claim these addresses, their owner first.
    pub fn of(&self, tuple: FiveTuple) -> &[PeerKey] {
        self.claims.get(&tuple).map_or(&[], Vec::as_slice)
    }

    /// A peer's pairs are others than before. One that has become valid is its
    /// own, even if another peer had it: a check that bears its keys was answered from
    /// there, as when a browser uses a port again for a new call. To be heard
    /// from there is not enough: sources can be forged.
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

    /// How many claims there are.
    pub fn len(&self) -> usize {
        self.claims.values().map(Vec::len).sum()
    }
}
