//! Relays for links over which no UDP packets return: TURN servers forward their packets.
//! For a peer, a relayed address is another local address of the link.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use weft_ice::LinkId;
use weft_net::{Attachment, Context, Remote};
use weft_peer::PeerKey;
use weft_units::{Duration, Instant};

use super::following::Held;
use super::relaying::{LinkRelay, RelayId, TurnAccess};
use super::{Caller, Command, RemotePeer};
use crate::notice::Notice;
use crate::turn::{TurnConnector, TurnNews, TurnRelay, TurnRoute, TurnServer};

/// Time for a link to get a direct path before a relay is tried. Chosen by us: several round
/// trips of the slowest networks, and short enough that a call behind a firewall connects
/// within 3 s.
const RELAY_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of reported failures. Chosen by us: a server could word each one
/// differently.
const MAX_TOLD: usize = 50;

impl Caller {
    /// Uses TURN servers from now on, including the configured ones.
    pub(super) fn use_turn(
        &mut self,
        now: Instant,
        servers: Vec<TurnServer>,
        (connector, remote): (Arc<dyn TurnConnector>, Remote<Command>),
    ) {
        let tell = Arc::new(move |id: RelayId, news: TurnNews| {
            remote.send(Command::Relayed(id, news));
        });
        self.relaying.configured = servers;
        self.relaying.access = Some(TurnAccess { connector, tell });
        self.following.look_soon(now);
    }

    pub(super) fn name_turn_servers(&mut self, now: Instant, servers: Vec<TurnServer>) {
        self.relaying.named = servers;
        self.following.look_soon(now);
    }

    /// Starts relays for links that have had no path for a while, and ends those of links
    /// that have disappeared or have a direct path again. Returns the time of the next
    /// start.
    pub(super) fn relay_links(
        &mut self,
        context: &mut Context<'_>,
        present: &[(LinkId, Attachment)],
    ) -> Option<Instant> {
        let gone = self.relaying.relays.iter().filter(|(_, relay)| {
            !self.peers.contains_key(&relay.peer) || !present.contains(&(relay.link, relay.place))
        });
        for id in gone.map(|(id, _)| *id).collect::<Vec<RelayId>>() {
            self.end_relay(context, id);
        }
        self.end_spare_relays(context);
        let servers = self.relaying.servers();
        let mut next: Option<Instant> = None;
        let mut due = Vec::new();
        for (key, peer) in self.peers.iter().filter(|_| !servers.is_empty()) {
            let mut oldest: BTreeMap<LinkId, &Held> = BTreeMap::new();
            for held in peer
                .locals
                .iter()
                .filter(|held| self.following.links.may_relay(held.link))
            {
                oldest.entry(held.link).or_insert(held);
            }
            for (link, held) in oldest {
                let has_path = peer.live.values().any(|live| *live == link);
                if has_path || peer.failed || self.relaying.of(*key, link).next().is_some() {
                    continue;
                }
                let paused = self.relaying.pauses.get(&link).map(|pause| pause.until);
                let lost = peer.lost.get(&link).copied().unwrap_or(peer.made);
                let start = held.since.max(lost) + RELAY_AFTER;
                let start = start.max(paused.unwrap_or(start));
                match start <= context.now {
                    true => due.push((*key, link, held.place)),
                    false => next = Some(next.map_or(start, |next| next.min(start))),
                }
            }
        }
        for (key, link, place) in due {
            for server in &servers {
                self.start_relay(context, (key, link, place), server);
            }
        }
        next
    }

    fn start_relay(
        &mut self,
        context: &Context<'_>,
        (peer, link, place): (PeerKey, LinkId, Attachment),
        server: &TurnServer,
    ) {
        let relaying = &mut self.relaying;
        let (Some(TurnAccess { connector, tell }), Some(choice)) =
            (relaying.access.clone(), self.following.links.choice(link))
        else {
            return;
        };
        let id = relaying.next_id();
        let route = TurnRoute {
            link: choice.clone(),
            server: server.clone(),
            connector,
        };
        let tell = move |news| tell(id, news);
        // Without a thread or a readiness queue, the link gets no relay.
        let Ok(relay) = TurnRelay::start(context.clock, route, tell) else {
            return relaying.pause(context.now, link);
        };
        let relay = LinkRelay {
            relay,
            peer,
            link,
            place,
            server: server.clone(),
            up: None,
        };
        relaying.relays.insert(id, relay);
    }

    pub(super) fn on_relay_news(&mut self, context: &mut Context<'_>, id: RelayId, news: TurnNews) {
        match news {
            TurnNews::Up(address) => self.on_relay_up(context, id, address),
            TurnNews::Datagram(from, datagram) => {
                let Some(relay) = self.relaying.relays.get(&id) else {
                    return;
                };
                relay.relay.on_taken();
                if let Some(held) = relay.up {
                    context.handle_relayed(held.addr, from, &datagram);
                }
            }
            TurnNews::Failed(reason) => self.on_relay_failed(context, id, reason),
        }
    }

    /// Gives the relayed address to the peer, unless the link has another path by then.
    fn on_relay_up(&mut self, context: &mut Context<'_>, id: RelayId, address: SocketAddr) {
        let Some(relay) = self.relaying.relays.get(&id) else {
            return;
        };
        let (key, link, place) = (relay.peer, relay.link, relay.place);
        let has_path = |peer: &RemotePeer| peer.live.values().any(|live| *live == link);
        let is_needed = self.peers.get(&key).is_some_and(|peer| !has_path(peer));
        let is_first = self
            .relaying
            .of(key, link)
            .all(|(_, other)| other.up.is_none());
        let entrance = relay.relay.entrance();
        let send = move |to: SocketAddr, datagram: &[u8]| entrance.send(to, datagram);
        if !is_needed || !is_first || !context.add_relayed(address, send) {
            return self.end_relay(context, id);
        }
        let now = context.now;
        let local = self.following.links.relayed(link, address);
        if let Some(peer) = context.peer(key) {
            peer.add_local(now, local);
        }
        let held = Held {
            addr: address,
            link,
            place,
            since: now,
        };
        if let Some(relay) = self.relaying.relays.get_mut(&id) {
            relay.up = Some(held);
            let server = relay.server.to_string();
            let link = self.following.links.name(link).to_owned();
            self.following.tell(Notice::LinkRelayed { link, server });
        }
        self.relaying.pauses.remove(&link);
        let others = self.relaying.of(key, link).map(|(other, _)| *other);
        for other in others
            .filter(|other| *other != id)
            .collect::<Vec<RelayId>>()
        {
            self.end_relay(context, other);
        }
    }

    fn on_relay_failed(&mut self, context: &mut Context<'_>, id: RelayId, reason: String) {
        let Some(relay) = self.relaying.relays.get(&id) else {
            return;
        };
        let (key, link, server) = (relay.peer, relay.link, relay.server.to_string());
        self.end_relay(context, id);
        let told = (link, server.clone(), reason.clone());
        let is_bounded = self.relaying.told.len() < MAX_TOLD;
        if is_bounded && self.relaying.told.insert(told) {
            let link = self.following.links.name(link).to_owned();
            self.following.tell(Notice::RelayFailed {
                link,
                server,
                reason,
            });
        }
        if self.relaying.of(key, link).next().is_none() {
            self.relaying.pause(context.now, link);
            self.following.look_soon(context.now);
        }
    }

    /// Ends relays beside a direct path of their link, because the ICE agent would keep
    /// using the relay.
    fn end_spare_relays(&mut self, context: &mut Context<'_>) {
        let is_spare = |relay: &LinkRelay, address: SocketAddr| {
            let peer = context.peers().get(relay.peer);
            let mut paths = peer.into_iter().flat_map(|peer| peer.association().paths());
            paths.any(|p| p.link == relay.link && p.tuple.local != address && p.state.is_valid())
        };
        let relays = self.relaying.relays.iter();
        let spare = relays.filter(|(_, r)| r.up.is_some_and(|held| is_spare(r, held.addr)));
        let spare = spare.map(|(id, relay)| (*id, relay.link));
        for (id, link) in spare.collect::<Vec<(RelayId, LinkId)>>() {
            let link = self.following.links.name(link).to_owned();
            self.following.tell(Notice::LinkDirect { link });
            self.end_relay(context, id);
        }
    }

    /// Ends the relays of a peer.
    pub(super) fn end_relays(&mut self, context: &mut Context<'_>, key: PeerKey) {
        let own = self.relaying.relays.iter().filter(|(_, r)| r.peer == key);
        for id in own.map(|(id, _)| *id).collect::<Vec<RelayId>>() {
            self.end_relay(context, id);
        }
    }

    fn end_relay(&mut self, context: &mut Context<'_>, id: RelayId) {
        let Some(relay) = self.relaying.relays.remove(&id) else {
            return;
        };
        let Some(held) = relay.up else {
            return;
        };
        let now = context.now;
        if let Some(peer) = context.peer(relay.peer) {
            peer.remove_local(now, held.addr);
        }
        self.following.close(context, held);
    }
}
