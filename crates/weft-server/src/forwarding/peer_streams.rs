//! TCP connections of a plane's peers.

use crate::http_slots::HttpSlot;
use crate::media_plane::MediaStream;
use std::collections::BTreeMap;
use tokio::sync::oneshot::error::TryRecvError::Empty;
use weft_forwarding::Plane;
use weft_net::Network;
use weft_units::{Deadline, Duration, FiveTuple, Instant};

/// Time limit for an authenticated check. A browser's first one may arrive before its answer to
/// our offer, without which its user name is unknown. Chosen by us: several repetitions.
const ARRIVAL: Duration = Duration::from_secs(5);
/// Maximum silence: as long as consent (RFC 7675 section 5.1).
const SILENCE: Duration = Duration::from_secs(30);
/// Interval at which connections are checked. Chosen by us: a slot is free a second after
/// the end of its connection.
const LOOK: Duration = Duration::from_secs(1);

/// Open connections by their addresses.
#[derive(Default)]
pub(super) struct PeerStreams {
    all: BTreeMap<FiveTuple, PeerStream>,
    next_look: Option<Instant>,
}

struct PeerStream {
    since: Instant,
    /// Slot among the HTTP connections, which bounds the number of these.
    slot: HttpSlot,
}

impl PeerStreams {
    pub(super) fn take(&mut self, network: &mut Network<'_>, stream: MediaStream) {
        let since = network.clock.now();
        // If this fails, only the connection is affected, which is closed.
        if let Ok(tuple) = network.add_stream(stream.socket) {
            let slot = stream.slot;
            self.all.insert(tuple, PeerStream { since, slot });
            self.next_look.get_or_insert(since + LOOK);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Deadline> {
        let reason = "TCP connections";
        self.next_look.map(|at| Deadline { at, reason })
    }

    /// Closes the connections of strangers and of peers that have left.
    pub(super) fn handle_timeout(&mut self, network: &mut Network<'_>, plane: &Plane) {
        let now = network.clock.now();
        if self.next_look.is_none_or(|at| at > now) {
            return;
        }
        self.all.retain(|&tuple, stream| {
            let Some(heard) = network.stream_heard(tuple) else {
                return false;
            };
            let is_known = plane.is_known(tuple);
            if is_known {
                stream.slot.known.set();
            }
            let stays = (is_known || now.saturating_since(stream.since) < ARRIVAL)
                && now.saturating_since(heard) < SILENCE
                && stream.slot.ends.try_recv().is_err_and(|e| e == Empty);
            if !stays {
                network.remove_stream(tuple);
            }
            stays
        });
        self.next_look = (!self.all.is_empty()).then_some(now + LOOK);
    }
}
