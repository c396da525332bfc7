//! Reasons why connections end, as text for a log.

use std::fmt::Display;
use weft_peer::{PeerKey, PeerSet};

/// Whether no check with our password has arrived on any path.
pub(crate) fn is_unheard(peers: &PeerSet, key: Option<PeerKey>) -> bool {
    let peer = key.and_then(|key| peers.get(key));
    peer.is_some_and(|peer| peer.association().routes().next().is_none())
}

/// Returns the reason why a connection was not established in time.
pub(crate) fn unestablished(peers: &PeerSet, key: Option<PeerKey>) -> String {
    let Some(peer) = key.and_then(|key| peers.get(key)) else {
        return not_established("the peer did not answer our offer");
    };
    if let Some(reason) = peer.association().obstacle() {
        not_established(reason)
    } else if is_unheard(peers, key) {
        not_established(
            "no ICE check of the peer arrived: a firewall drops UDP, or the address in our \
             description is wrong",
        )
    } else {
        not_established(
            "the peer's ICE checks arrive, and it answers none of ours: a firewall lets UDP \
             through in one direction only",
        )
    }
}

/// Returns this reason for a connection that was never established.
pub(crate) fn not_established(reason: impl Display) -> String {
    format!("the connection was not established: {reason}")
}
