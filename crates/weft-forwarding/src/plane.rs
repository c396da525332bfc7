use crate::connection::{Connected, Connection, Purpose, ResourceId, Role, SETUP, Sender, UNHEARD};
use crate::ended;
use crate::event::{Event, Output};
use crate::handshakes::Handshakes;
use crate::publication::{Origin, Publication, places_of};
use crate::publisher::{Places, Publisher};
use crate::settings::Settings;
use crate::steering::Steering;
use crate::taps::Recordings;
use crate::topics::Topics;
use crate::traffic::Traffic;
use crate::waiting::Waiting;
use crate::wanted::Wanted;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_ice::Event as IceEvent;
use weft_peer::{Event as PeerEvent, Output as PeerOutput, PeerKey, PeerSet, RECONNECT_GRACE};
use weft_secure::{Event as AssociationEvent, FailReason};
use weft_session::{Event as SessionEvent, Level};
use weft_units::{Deadline, Duration, Ecn, FiveTuple, Instant, StreamId};

/// Interval at which connections are checked for their end, and rates are adapted to the
/// publications.
const HOUSEKEEPING: Duration = Duration::from_millis(250);

/// Reason for the end of a connection from which nothing arrives any longer.
const NO_PATH: &str = "no path is left";

/// Reason for the end of a player's connection, which must request the publication again.
const CODEC_CHANGED: &str = "the publisher has changed its video codec";

/// Connections, publications, and the traffic between them.
///
/// Order of calls: any input, then [`Plane::poll_output`] until `None`, then
/// [`Plane::poll_timeout`]. Time must not decrease.
pub struct Plane {
    pub(crate) settings: Settings,
    pub(crate) peers: PeerSet,
    pub(crate) connections: BTreeMap<ResourceId, Connection>,
    pub(crate) resources: BTreeMap<PeerKey, ResourceId>,
    pub(crate) publications: BTreeMap<Publisher, Publication>,
    pub(crate) traffic: Traffic,
    /// Established connections.
    pub(crate) connected: Connected,
    pub(crate) handshakes: Handshakes,
    pub(crate) steering: Steering,
    /// Participants whose sound is not forwarded.
    pub(crate) muted: BTreeSet<Publisher>,
    pub(crate) recordings: Recordings,
    /// Open data channels.
    pub(crate) topics: Topics,
    pub(crate) events: VecDeque<Event>,
    /// Time of the last input.
    pub(crate) now: Instant,
    next_housekeeping: Option<Instant>,
}

impl Plane {
    /// Creates a plane without connections.
    #[must_use]
    pub fn new(settings: Settings) -> Plane {
        Plane {
            traffic: Traffic::default().allocating(settings.allocator()),
            settings,
            peers: PeerSet::default(),
            connections: BTreeMap::new(),
            resources: BTreeMap::new(),
            publications: BTreeMap::new(),
            connected: Connected::default(),
            handshakes: Handshakes::default(),
            steering: Steering::default(),
            muted: BTreeSet::new(),
            recordings: Recordings::default(),
            topics: Topics::default(),
            events: VecDeque::new(),
            now: Instant::ZERO,
            next_housekeeping: None,
        }
    }

    /// Passes a datagram to its peer.
    pub(crate) fn take_datagram(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) {
        let admitted = match Handshakes::concern(datagram) {
            true => {
                let owner = self.peers.owner(tuple);
                owner.is_none_or(|owner| self.handshakes.admits(owner, tuple, ecn, datagram))
            }
            false => !self.handshakes.early.keep(tuple, ecn, datagram),
        };
        if admitted {
            self.peers.handle_datagram(now, tuple, ecn, datagram);
        }
    }

    /// Closes a connection; sends its peer a goodbye without a guarantee of delivery.
    /// Unknown connections are ignored, and no [`Event::Ended`] follows.
    pub fn close(&mut self, now: Instant, resource: &ResourceId) {
        self.now = now;
        let Some(connection) = self.connections.remove(resource) else {
            return;
        };
        self.handshakes.early.take(resource);
        if connection.connected {
            *self.connected.of(&connection.role) -= 1;
        }
        let Some(key) = connection.peer() else {
            return;
        };
        self.resources.remove(&key);
        self.topics.remove(key);
        self.peers.close(now, key);
        let participant = &connection.participant;
        let publication = self.publications.get_mut(participant);
        match (&connection.role, publication) {
            (Role::Publish(_), Some(publication)) => {
                publication.drop_source(Origin::Peer(key));
                self.traffic.remove_source(key);
            }
            (Role::Play, Some(publication)) => {
                publication.remove_player(key);
                self.traffic.remove_player(key);
            }
            (Role::Receive(_), _) => self.traffic.remove_player(key),
            (Role::Publish(_) | Role::Play, None) => {}
        }
        if matches!(connection.role, Role::Publish(_)) {
            self.announce(participant);
        }
        self.remove_if_over(participant);
        if matches!(connection.role, Role::Publish(_)) {
            self.refresh_receptions(now, &participant.room);
        }
    }

    /// Returns the participant of a peer, and the purpose of its connection.
    #[must_use]
    pub fn owner(&self, peer: PeerKey) -> Option<(&Publisher, Purpose)> {
        let connection = self.connections.get(self.resources.get(&peer)?)?;
        Some((&connection.participant, connection.role.purpose()))
    }

    /// Whether the connection exists.
    #[must_use]
    pub fn has(&self, resource: &ResourceId) -> bool {
        self.connections.contains_key(resource)
    }

    /// Simulates a defect in the handling of a connection.
    #[cfg(feature = "testing")]
    pub fn fail(&mut self, now: Instant, resource: &ResourceId) {
        self.now = now;
        let connection = self.connections.get(resource);
        if let Some(key) = connection.and_then(Connection::peer) {
            self.peers.drive(key, |_| panic!("as a defect would"));
        }
    }

    /// Whether a peer has sent an authenticated check between these addresses.
    #[must_use]
    pub fn is_known(&self, tuple: FiveTuple) -> bool {
        self.peers.owner(tuple).is_some()
    }

    /// Closes all connections.
    pub fn close_all(&mut self, now: Instant) {
        for resource in self.connections.keys().cloned().collect::<Vec<_>>() {
            self.close(now, &resource);
        }
    }

    /// Returns the next output; call it until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            // Relays come first, so that a receiver of an event finds its effect on every plane.
            if let Some((to, message)) = self.traffic.relays.poll() {
                return Some(Output::Relay { to, message });
            }
            if let Some(recorded) = self.traffic.taps.poll() {
                return Some(Output::Record(recorded));
            }
            if let Some(event) = self.events.pop_front() {
                return Some(Output::Event(event));
            }
            match self.peers.poll_output()? {
                (
                    peer,
                    PeerOutput::Transmit {
                        tuple,
                        ecn,
                        datagram,
                    },
                ) => {
                    return Some(Output::Transmit {
                        peer,
                        tuple,
                        ecn,
                        datagram,
                    });
                }
                (peer, PeerOutput::Event(PeerEvent::Packet(packet))) => {
                    return Some(Output::Captured { peer, packet });
                }
                (peer, PeerOutput::Event(event)) => self.on_event(self.now, peer, event),
            }
        }
    }

    /// Returns the buffer of a sent datagram for reuse.
    pub fn recycle(&mut self, peer: PeerKey, datagram: Vec<u8>) {
        self.peers.recycle(peer, datagram);
    }

    /// Deadline of the next [`Plane::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let housekeeping = self.next_housekeeping.map(|at| Deadline {
            at,
            reason: "housekeeping",
        });
        let waiting = (!self.handshakes.is_empty()).then_some(Deadline {
            at: self.now,
            reason: "handshakes",
        });
        let own = Deadline::earlier(housekeeping, self.traffic.poll_timeout());
        let own = Deadline::earlier(waiting, own);
        Deadline::earlier(own, self.peers.poll_timeout())
    }

    /// Handles the deadline; a spurious call does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        for next in self.handshakes.next_turn() {
            let Waiting {
                tuple,
                ecn,
                datagram,
            } = next;
            self.peers.handle_datagram(now, tuple, ecn, &datagram);
        }
        self.peers.handle_timeout(now);
        if self.next_housekeeping.is_some_and(|at| at <= now) {
            self.end_those_over(now);
            let egress = self.settings.egress();
            self.traffic.adapt_rates(now, &mut self.peers, egress);
            self.tell_paused();
            self.traffic.choose_recorded(now, &mut self.peers);
            self.tell_wanted(now);
            self.limit_publishers(now);
            let has_claims = self.keep_links(now);
            let goes_on = has_claims || !self.connections.is_empty();
            self.next_housekeeping = goes_on.then_some(now + HOUSEKEEPING);
        }
        self.traffic.on_timeout(now, &mut self.peers);
    }

    /// All peers, read-only.
    #[must_use]
    pub fn peers(&self) -> &PeerSet {
        &self.peers
    }

    /// Starts the periodic checks of connections.
    pub(crate) fn run_maintenance(&mut self, now: Instant) {
        self.next_housekeeping.get_or_insert(now + HOUSEKEEPING);
    }

    fn tell(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(crate) fn tell_ended(&mut self, resource: ResourceId, reason: String) {
        self.tell(Event::Ended { resource, reason });
    }

    fn on_connected(&mut self, now: Instant, key: PeerKey) {
        let Some(resource) = self.resources.get(&key) else {
            return;
        };
        let Some(connection) = self.connections.get_mut(resource) else {
            return;
        };
        if !std::mem::replace(&mut connection.connected, true) {
            *self.connected.of(&connection.role) += 1;
        }
        let publisher = connection.participant.clone();
        if let (Role::Publish(_), Some(peer)) = (&connection.role, self.peers.get(key)) {
            let (places, _) = places_of(peer);
            self.end_players_of_another_codec(now, &publisher, &places);
        }
        let resource = self.resources[&key].clone();
        self.tell(Event::Connected {
            resource: resource.clone(),
        });
        let Some(connection) = self.connections.get_mut(&resource) else {
            return;
        };
        match connection.role {
            Role::Publish(Sender { screen, .. }) => {
                let room = publisher.room.clone();
                let publication = self.publications.entry(publisher.clone()).or_default();
                self.traffic
                    .connect_source(now, &mut self.peers, publication, key);
                publication.share_screen(key, screen);
                self.apply_mute(now, &publisher);
                self.enter_sound(&publisher);
                self.announce(&publisher);
                self.refresh_receptions(now, &room);
            }
            Role::Play => {
                let publication = self.publications.entry(publisher).or_default();
                publication.add_player(key);
                self.traffic
                    .connect_player(now, &mut self.peers, publication, key);
            }
            Role::Receive(_) => {
                self.traffic.connect_reception(now, key);
                self.refresh_reception(now, &resource);
            }
        }
    }

    /// Ends players that negotiated another codec for a camera: if the publisher returns
    /// with a new codec, they must request it again.
    pub(crate) fn end_players_of_another_codec(
        &mut self,
        now: Instant,
        publisher: &Publisher,
        places: &Places,
    ) {
        let Some(publication) = self.publications.get_mut(publisher) else {
            return;
        };
        if !publication.changes_codec(places) {
            return;
        }
        self.traffic.end_pictures(publication);
        for player in publication.players().collect::<Vec<_>>() {
            self.end(now, player, CODEC_CHANGED.to_owned());
        }
    }

    /// Handles the end of a connection by itself.
    fn end(&mut self, now: Instant, key: PeerKey, reason: String) {
        if let Some(resource) = self.resources.get(&key).cloned() {
            self.close(now, &resource);
            self.tell_ended(resource, reason);
        }
    }

    fn on_failure(&mut self, now: Instant, key: PeerKey, reason: &FailReason) {
        let resource = self.resources.get(&key);
        let connection = resource.and_then(|resource| self.connections.get(resource));
        let was_up = connection.is_some_and(|connection| connection.connected);
        let reason = match was_up {
            true => reason.to_string(),
            false => ended::not_established(reason),
        };
        self.end(now, key, reason);
    }

    fn on_goodbye(&mut self, now: Instant, key: PeerKey, stream: StreamId) {
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
            publishing.on_goodbye(now, stream, packets);
        }
    }

    /// Ends connections that were not established in time, and publishers that said goodbye.
    fn end_those_over(&mut self, now: Instant) {
        let mut over = Vec::new();
        for (resource, connection) in &mut self.connections {
            let key = connection.peer();
            let age = now.saturating_since(connection.since);
            if !connection.connected
                && (age >= SETUP || age >= UNHEARD && ended::is_unheard(&self.peers, key))
            {
                over.push((resource.clone(), ended::unestablished(&self.peers, key)));
            }
            if let Some(key) = key.filter(|_| connection.connected) {
                let has_path = has_path(&self.peers, key);
                if connection.is_lost(now, has_path, patience(&self.peers, key)) {
                    over.push((resource.clone(), NO_PATH.to_owned()));
                }
            }
            if let (Role::Publish(publishing), Some(key)) = (&mut connection.role, key) {
                let packets = self.traffic.packets_of(key, &publishing.streams);
                // A browser also says goodbye on an encoding that it pauses.
                let wanted = self.publications.get(&connection.participant);
                let pauses = wanted
                    .and_then(|p| p.wanted())
                    .is_some_and(Wanted::pauses_any);
                if publishing.is_over(now, packets) && !pauses {
                    over.push((resource.clone(), "the publisher said goodbye".to_owned()));
                }
            }
        }
        for (resource, reason) in over {
            self.close(now, &resource);
            self.tell_ended(resource, reason);
        }
    }

    fn on_event(&mut self, now: Instant, key: PeerKey, event: PeerEvent) {
        match event {
            PeerEvent::Session(event) => match event {
                SessionEvent::PacketReceived { stream, packet } => {
                    self.traffic
                        .on_packet(now, &mut self.peers, key, stream, packet);
                }
                SessionEvent::TargetRateChanged { rate } => {
                    self.traffic.on_target_rate(now, &mut self.peers, key, rate);
                }
                SessionEvent::KeyframeRequested { stream } => {
                    self.traffic
                        .on_keyframe_request(now, &mut self.peers, key, stream);
                }
                SessionEvent::StreamEnded { stream } => self.on_goodbye(now, key, stream),
                SessionEvent::FrameReceived { .. } | SessionEvent::PathStateChanged { .. } => {}
            },
            PeerEvent::Data(event) => self.on_data(now, key, event),
            // A server has only one address.
            PeerEvent::AddressWanted { .. } | PeerEvent::Packet(_) => {}
            PeerEvent::Association(event) => match event {
                AssociationEvent::Connected { .. } => self.on_connected(now, key),
                AssociationEvent::Failed { reason } => self.on_failure(now, key, &reason),
                // The last path goes down if nothing arrived on it for as long as consent
                // lasts (RFC 7675 section 5.1).
                AssociationEvent::Ice(IceEvent::PathDown { .. })
                    if !has_path(&self.peers, key)
                        && patience(&self.peers, key) == Duration::ZERO =>
                {
                    self.end(now, key, NO_PATH.to_owned());
                }
                _ => {}
            },
        }
    }
}

pub(crate) fn has_path(peers: &PeerSet, key: PeerKey) -> bool {
    let peer = peers.get(key);
    peer.is_some_and(|p| p.association().paths().any(|p| p.state.is_valid()))
}

/// Returns the time for which a connection without a path is kept. A connection with a
/// weft peer resumes when a path is back; a browser has given up by itself.
fn patience(peers: &PeerSet, key: PeerKey) -> Duration {
    let peer = peers.get(key);
    match peer.map(|p| p.session().level()) {
        Some(Level::Full) => RECONNECT_GRACE,
        _ => Duration::ZERO,
    }
}
