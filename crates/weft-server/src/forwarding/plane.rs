use super::connection::{Connection, Role, SETUP};
use super::publication::{Publication, Publisher, codec_of};
use super::settings::Settings;
use super::traffic::Traffic;
use crate::media_plane::{Command, Event, EventSender, ResourceId, Stats};
use std::collections::BTreeMap;
use weft_net::{Application, Context};
use weft_peer::{AWAY, Event as PeerEvent, Peer, PeerKey};
use weft_secure::{DropReason, Event as AssociationEvent, FailReason};
use weft_session::{Event as SessionEvent, Level};
use weft_units::{Deadline, Duration, Instant};

/// How often connections are looked at whether they are over, and rates
/// whether they fit what is published.
const HOUSEKEEPING: Duration = Duration::from_millis(500);

/// Why a connection is over that nothing comes from any more.
const NO_PATH: &str = "no path is left";

/// Why a player has to ask again.
const CODEC_CHANGED: &str = "the publisher has changed its video codec";

/// What other threads ask of the plane.
pub(super) enum Order {
    Command(Command),
    Stop,
}

/// The application on the driver: who is connected, what is published, and
/// the traffic between.
pub(super) struct Plane {
    pub(super) settings: Settings,
    pub(super) connections: BTreeMap<ResourceId, Connection>,
    pub(super) resources: BTreeMap<PeerKey, ResourceId>,
    pub(super) publications: BTreeMap<Publisher, Publication>,
    traffic: Traffic,
    events: EventSender,
    next_housekeeping: Option<Instant>,
    /// Datagrams that connections dropped which are over.
    dropped: u64,
}

impl Plane {
    pub(super) fn new(settings: Settings, events: EventSender) -> Plane {
        Plane {
            settings,
            connections: BTreeMap::new(),
            resources: BTreeMap::new(),
            publications: BTreeMap::new(),
            traffic: Traffic::default(),
            events,
            next_housekeeping: None,
            dropped: 0,
        }
    }

    /// Nobody may be there to hear it: the server is ending then.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    pub(super) fn tell_ended(&self, resource: ResourceId, reason: String) {
        self.tell(Event::Ended { resource, reason });
    }

    fn on_connected(&mut self, context: &mut Context<'_>, key: PeerKey) {
        let Some(resource) = self.resources.get(&key) else {
            return;
        };
        let Some(connection) = self.connections.get_mut(resource) else {
            return;
        };
        connection.connected = true;
        let publisher = connection.publisher.clone();
        if matches!(connection.role, Role::Publish(_)) {
            self.end_players_of_another_codec(context, &publisher, key);
        }
        let resource = &self.resources[&key].clone();
        let Some(connection) = self.connections.get_mut(resource) else {
            return;
        };
        let publication = self.publications.entry(publisher).or_default();
        match connection.role {
            Role::Publish(_) => self.traffic.connect_source(context, publication, key),
            Role::Play => {
                publication.add_player(key);
                self.traffic.connect_player(context, publication, key);
            }
        }
        self.tell(Event::Connected {
            resource: resource.clone(),
        });
    }

    /// What players agreed on is one codec: when a publisher comes back with
    /// another one, they have to ask again.
    fn end_players_of_another_codec(
        &mut self,
        context: &mut Context<'_>,
        publisher: &Publisher,
        source: PeerKey,
    ) {
        let Some(publication) = self.publications.get_mut(publisher) else {
            return;
        };
        let now = context.peers().get(source).and_then(codec_of);
        let before = publication.codec();
        if before.is_none() || now.is_none() || before == now {
            return;
        }
        self.traffic.end_pictures(publication);
        for player in publication.players().collect::<Vec<_>>() {
            self.end(context, player, CODEC_CHANGED.to_owned());
        }
    }

    /// Takes a connection down; its peer is told, if it can hear.
    fn remove(&mut self, context: &mut Context<'_>, resource: &ResourceId) {
        let Some(connection) = self.connections.remove(resource) else {
            return;
        };
        let Some(key) = connection.peer() else {
            return;
        };
        self.resources.remove(&key);
        self.dropped += context.peers().get(key).map_or(0, dropped_by);
        context.remove(key);
        if let Some(publication) = self.publications.get_mut(&connection.publisher) {
            match connection.role {
                Role::Publish(_) => {
                    publication.drop_source(key);
                    self.traffic.remove_source(key);
                }
                Role::Play => {
                    publication.remove_player(key);
                    self.traffic.remove_player(key);
                }
            }
            if publication.is_over() {
                self.traffic.remove_publication(publication);
                self.publications.remove(&connection.publisher);
            }
        }
    }

    /// A connection is over by itself.
    fn end(&mut self, context: &mut Context<'_>, key: PeerKey, reason: String) {
        if let Some(resource) = self.resources.get(&key).cloned() {
            self.remove(context, &resource);
            self.tell_ended(resource, reason);
        }
    }

    fn on_goodbye(&mut self, context: &Context<'_>, key: PeerKey, stream: weft_units::StreamId) {
        let connection = self
            .resources
            .get(&key)
            .and_then(|resource| self.connections.get_mut(resource));
        if let Some(Connection {
            role: Role::Publish(publishing),
            ..
        }) = connection
        {
            let packets = self.traffic.packets_of(key, &publishing.streams);
            publishing.on_goodbye(context.now, stream, packets);
        }
    }

    /// Ends what never came up, and publishers that said goodbye.
    fn end_those_over(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let mut over = Vec::new();
        for (resource, connection) in &mut self.connections {
            if !connection.connected && now.saturating_since(connection.since) >= SETUP {
                over.push((resource.clone(), "no connection came about"));
            }
            let key = connection.peer();
            if let Some(key) = key.filter(|_| connection.connected) {
                let has_path = has_path(context, key);
                if connection.is_lost(now, has_path, patience(context, key)) {
                    over.push((resource.clone(), NO_PATH));
                }
            }
            if let (Role::Publish(publishing), Some(key)) = (&mut connection.role, key) {
                let packets = self.traffic.packets_of(key, &publishing.streams);
                if publishing.is_over(now, packets) {
                    over.push((resource.clone(), "the publisher said goodbye"));
                }
            }
        }
        for (resource, reason) in over {
            self.remove(context, &resource);
            self.tell_ended(resource, reason.to_owned());
        }
    }

    fn stats(&self, context: &Context<'_>) -> Stats {
        let totals = self.traffic.totals();
        let live = context.peers();
        let mut stats = Stats {
            packets_received: totals.received,
            packets_forwarded: totals.forwarded,
            packets_thinned: self.traffic.total_thinned(),
            keyframe_requests: totals.keyframe_requests,
            datagrams_dropped: self.dropped
                + live.strays()
                + live.iter().map(|(_, peer)| dropped_by(peer)).sum::<u64>(),
            datagrams_unsent: context.unsent(),
            ..Stats::default()
        };
        for connection in self.connections.values().filter(|c| c.connected) {
            match connection.role {
                Role::Publish(_) => stats.publications += 1,
                Role::Play => stats.playbacks += 1,
            }
        }
        stats
    }

    /// An answer that nobody waits for any more is no error, but its
    /// connection ends: HTTP sends a `Close` for it.
    fn on_media_command(&mut self, context: &mut Context<'_>, command: Command) {
        match command {
            Command::Publish {
                resource,
                room,
                participant,
                offer,
                reply,
            } => {
                let publisher = Publisher { room, participant };
                let _ = reply.send(self.publish(context, resource, publisher, &offer));
            }
            Command::Play {
                resource,
                room,
                publisher: participant,
                offer,
                reply,
            } => {
                let publisher = Publisher { room, participant };
                let _ = reply.send(self.play(context, resource, publisher, offer.as_deref()));
            }
            Command::Answer {
                resource,
                sdp,
                reply,
            } => {
                let _ = reply.send(self.accept(context, resource, &sdp));
            }
            Command::Candidates {
                resource,
                fragment,
                reply,
            } => {
                let _ = reply.send(self.add_candidates(context, &resource, &fragment));
            }
            Command::Close { resource } => self.remove(context, &resource),
            Command::Stats { reply } => {
                let _ = reply.send(Ok(self.stats(context)));
            }
        }
        if !self.connections.is_empty() {
            self.next_housekeeping
                .get_or_insert(context.now + HOUSEKEEPING);
        }
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        for resource in self.connections.keys().cloned().collect::<Vec<_>>() {
            self.remove(context, &resource);
        }
        context.stop();
    }
}

impl Application for Plane {
    type Command = Order;

    fn on_command(&mut self, context: &mut Context<'_>, order: Order) {
        match order {
            Order::Command(command) => self.on_media_command(context, command),
            Order::Stop => self.stop(context),
        }
    }

    fn on_event(&mut self, context: &mut Context<'_>, key: PeerKey, event: PeerEvent) {
        match event {
            PeerEvent::Session(event) => match event {
                SessionEvent::PacketReceived { stream, packet } => {
                    self.traffic.on_packet(context, key, stream, packet);
                }
                SessionEvent::TargetRateChanged { rate } => {
                    self.traffic.on_target_rate(context, key, rate);
                }
                SessionEvent::KeyframeRequested { stream } => {
                    self.traffic.on_keyframe_request(context, key, stream);
                }
                SessionEvent::StreamEnded { stream } => self.on_goodbye(context, key, stream),
                SessionEvent::FrameReceived { .. } | SessionEvent::PathStateChanged { .. } => {}
            },
            PeerEvent::Association(event) => match event {
                AssociationEvent::Connected { .. } => self.on_connected(context, key),
                AssociationEvent::Failed { reason } => self.end(context, key, words(&reason)),
                // The last path goes down when nothing came by it for as long
                // as consent lasts (RFC 7675 section 5.1).
                AssociationEvent::PathDown { .. }
                    if !has_path(context, key) && patience(context, key) == Duration::ZERO =>
                {
                    self.end(context, key, NO_PATH.to_owned());
                }
                _ => {}
            },
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let housekeeping = self.next_housekeeping.map(|at| Deadline {
            at,
            reason: "housekeeping",
        });
        Deadline::earlier(housekeeping, self.traffic.poll_timeout())
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.next_housekeeping.is_some_and(|at| at <= now) {
            self.end_those_over(context);
            self.traffic.adapt_rates(context);
            self.next_housekeeping = (!self.connections.is_empty()).then_some(now + HOUSEKEEPING);
        }
        self.traffic.on_timeout(context);
    }
}

fn has_path(context: &Context<'_>, key: PeerKey) -> bool {
    let peer = context.peers().get(key);
    peer.is_some_and(|p| p.association().paths().any(|p| p.state.is_valid()))
}

/// How long a connection is kept without a path. One of ours goes on where it
/// was when a path leads there again; a browser has given up by itself.
fn patience(context: &Context<'_>, key: PeerKey) -> Duration {
    let peer = context.peers().get(key);
    match peer.map(|p| p.session().level()) {
        Some(Level::Full) => AWAY,
        _ => Duration::ZERO,
    }
}

fn dropped_by(peer: &Peer) -> u64 {
    let drops = peer.association().counters().drops();
    // A report comes twice, by two paths.
    let useless = drops.filter(|(reason, _)| *reason != DropReason::Replayed);
    let session = peer.session().stats().drops;
    useless.map(|(_, count)| count).sum::<u64>() + session.malformed
}

fn words(reason: &FailReason) -> String {
    match reason {
        FailReason::Fingerprint => "the certificate is not the announced one".to_owned(),
        FailReason::Handshake(words) => format!("the handshake failed: {words}"),
        FailReason::Profile => "no way to protect media in common".to_owned(),
        FailReason::Closed => "the peer closed it".to_owned(),
    }
}
