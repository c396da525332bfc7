//! TURN servers of an endpoint, and the relays that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weft_ice::LinkId;
use weft_net::Attachment;
use weft_peer::PeerKey;
use weft_units::{Duration, Instant};

use super::following::Held;
use crate::turn::{MAX_SERVERS, TurnConnector, TurnNews, TurnRelay, TurnServer};

/// Pause after all servers have failed for a link: the initial one, and the maximum after
/// doubling. Chosen by us.
const RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Number of a relay; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RelayId(u64);

/// Access to TURN servers.
#[derive(Clone)]
pub(super) struct TurnAccess {
    pub connector: Arc<dyn TurnConnector>,
    /// Receives the news of relays, on their threads.
    pub tell: Arc<dyn Fn(RelayId, TurnNews) + Send + Sync>,
}

/// TURN servers, and the relays that use them.
#[derive(Default)]
pub(super) struct Relaying {
    /// `None` without TURN.
    pub access: Option<TurnAccess>,
    /// Servers configured by the user.
    pub configured: Vec<TurnServer>,
    /// Servers offered by a room or an endpoint.
    pub named: Vec<TurnServer>,
    pub relays: BTreeMap<RelayId, LinkRelay>,
    next_id: u64,
    pub pauses: BTreeMap<LinkId, Pause>,
    /// Failures that were reported: link, server and reason.
    pub told: BTreeSet<(LinkId, String, String)>,
}

/// Relay of a link for a peer, or an attempt to get one.
pub(super) struct LinkRelay {
    pub relay: TurnRelay,
    pub peer: PeerKey,
    pub link: LinkId,
    pub place: Attachment,
    pub server: TurnServer,
    /// Relayed address, once the relay is up.
    pub up: Option<Held>,
}

pub(super) struct Pause {
    pub until: Instant,
    next: Duration,
}

impl Relaying {
    /// Returns the next number of a relay.
    pub fn next_id(&mut self) -> RelayId {
        self.next_id += 1;
        RelayId(self.next_id)
    }

    pub fn servers(&self) -> Vec<TurnServer> {
        let all = self.configured.iter().chain(&self.named);
        all.take(MAX_SERVERS).cloned().collect()
    }

    pub fn of(&self, peer: PeerKey, link: LinkId) -> impl Iterator<Item = (&RelayId, &LinkRelay)> {
        let relays = self.relays.iter();
        relays.filter(move |(_, r)| r.peer == peer && r.link == link)
    }

    /// Returns the addresses of the relays.
    pub fn held(&self) -> impl Iterator<Item = Held> {
        self.relays.values().filter_map(|relay| relay.up)
    }

    /// Pauses after a failed attempt, longer each time.
    pub fn pause(&mut self, now: Instant, link: LinkId) {
        let next = self.pauses.get(&link).map_or(RETRY, |pause| pause.next);
        let pause = Pause {
            until: now + next,
            next: (next * 2).min(LONGEST_RETRY),
        };
        self.pauses.insert(link, pause);
    }
}
