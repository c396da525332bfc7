//! Table from pairs of addresses to peers.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use weft_ice::Route;

use super::key::PeerKey;

/// The pairs of all peers, and nothing else: what a peer may claim is bounded
/// by its agent.
#[derive(Default, Debug)]
pub(super) struct Routes {
    /// Claimants by remote and local address, which is the same for most. The owner comes
    /// first: the peer that proved last to be there, or else the first that claimed it.
    claims: BTreeMap<(SocketAddr, SocketAddr), Vec<PeerKey>>,
}

impl Routes {
    /// Returns the peers that claim these addresses, their owner first.
    pub fn of(&self, local: SocketAddr, remote: SocketAddr) -> &[PeerKey] {
        self.claims.get(&(remote, local)).map_or(&[], Vec::as_slice)
    }

    /// A peer's pairs are others than before. One that has become valid is its
    /// own, even if another peer had it: a check that bears its keys was answered from
    /// there, as when a browser uses a port again for a new call. To be heard
    /// from there is not enough: sources can be forged.
    pub fn update(&mut self, key: PeerKey, before: &[Route], after: &[Route]) {
        for route in before {
            if !after.iter().any(|r| r.is_same(route)) {
                self.release(key, route);
            }
        }
        for route in after {
            let known = before.iter().find(|r| r.is_same(route));
            let is_proved = route.is_valid && !known.is_some_and(|r| r.is_valid);
            if known.is_some() && !is_proved {
                continue;
            }
            let claimants = self.claims.entry(key_of(route)).or_default();
            claimants.retain(|k| *k != key);
            let place = if is_proved { 0 } else { claimants.len() };
            claimants.insert(place, key);
        }
    }

    fn release(&mut self, key: PeerKey, route: &Route) {
        let addresses = key_of(route);
        if let Some(claimants) = self.claims.get_mut(&addresses) {
            claimants.retain(|k| *k != key);
            if claimants.is_empty() {
                self.claims.remove(&addresses);
            }
        }
    }

    /// How many claims there are.
    pub fn len(&self) -> usize {
        self.claims.values().map(Vec::len).sum()
    }
}

fn key_of(route: &Route) -> (SocketAddr, SocketAddr) {
    let (local, remote) = route.addresses();
    (remote, local)
}
