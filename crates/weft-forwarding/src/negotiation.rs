//! Requests of signalling, translated into descriptions and peers.

use crate::connection::{Connection, ResourceId, Role, Sender, State};
use crate::error::MediaError;
use crate::plane::Plane;
use crate::player::LEAST_MAX_RATE;
use crate::publication::shown;
use crate::publisher::Publisher;
use crate::settings::locals_at;
use std::net::SocketAddr;
use weft_ice::{Checks, IceRole};
use weft_peer::{
    AnswerPolicy, Entropy, NegotiationError, Offer, Outgoing, Peer, PeerConfig, PeerKey, Section,
    StreamDirection,
};
use weft_rooms::{Camera, MAX_CAMERAS, Publishing};
use weft_session::Delivery;
use weft_units::{Instant, MediaKind, Transport};
use weft_wire::payload::Form;

/// Our description, and the result of the negotiation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// Offer or answer to pass to the peer, as text (RFC 8866).
    pub sdp: String,
    /// Streams of the connection.
    pub streams: Publishing,
    /// Name of our side of the ICE session, which changes with each restart; `None` if it
    /// cannot be restarted.
    pub ice_session: Option<String>,
}

impl Plane {
    /// Accepts a publisher's offer; returns our answer. An existing publication of the
    /// participant continues until the new connection is established and replaces it.
    ///
    /// # Errors
    /// If the offer cannot be used.
    pub fn publish(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        offer: &str,
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        let config = self.publisher_config(&publisher, entropy);
        self.take_publication(now, resource, publisher, offer, config)
    }

    /// Accepts an offer of a publication from another server of the same operator, and publishes
    /// it here as its participant's. Both sides open the connection, because their addresses are
    /// those of servers, not of strangers. `locals` are separate local addresses: two connections
    /// between the same addresses would be indistinguishable.
    ///
    /// # Errors
    /// If the offer cannot be used.
    pub fn pull(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        (offer, locals): (&str, &[SocketAddr]),
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        let mut config = self.publisher_config(&publisher, entropy);
        config.association.ice.checks = Checks::All;
        config.locals = locals_at(Transport::Udp, locals);
        config.tcp.clear();
        self.take_publication(now, resource, publisher, offer, config)
    }

    fn publisher_config(&self, publisher: &Publisher, entropy: &Entropy) -> PeerConfig {
        let publications = self.published_in(&publisher.room);
        self.answering(publications, entropy)
    }

    /// Returns our configuration for a client that makes the offer: it may have data channels.
    fn answering(&self, publications: usize, entropy: &Entropy) -> PeerConfig {
        let role = IceRole::Controlled;
        let mut config = self
            .settings
            .peer(role, LEAST_MAX_RATE, publications, entropy);
        config.data_channels = true;
        config
    }

    fn take_publication(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        offer: &str,
        config: PeerConfig,
    ) -> Result<Negotiated, MediaError> {
        self.now = now;
        let ice_session = Some(name_of(&config));
        let policy = AnswerPolicy {
            receive: Some(Delivery::Packets),
            send: Vec::new(),
        };
        let (peer, sdp) = weft_peer::answer(now, config, offer, &policy)?;
        let published = shown(&peer, StreamDirection::Receive);
        let cameras = published.cameras.len();
        if cameras > MAX_CAMERAS {
            return Err(MediaError::TooManyCameras(cameras));
        }
        let sounds = peer.streams().iter();
        let sounds = sounds
            .filter(|s| s.codec().kind() == MediaKind::Audio)
            .count();
        if sounds > 1 {
            return Err(MediaError::TooManySounds(sounds));
        }
        let streams = peer.streams().iter().map(|s| s.stream).collect();
        let role = Role::Publish(Sender {
            streams,
            ..Sender::default()
        });
        self.add_peer(now, resource, publisher, role, peer);
        Ok(Negotiated {
            sdp,
            streams: published,
            ice_session,
        })
    }

    /// Plays a participant's publication. Returns our answer, or our offer if the player
    /// made none.
    ///
    /// # Errors
    /// If there is nothing to play, or the offer cannot be used.
    pub fn play(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        offer: Option<&str>,
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        self.now = now;
        let publications = self.published_in(&publisher.room);
        let Some(offer) = offer else {
            let checks = self.settings.checks();
            return self.offer_publication(now, resource, publisher, checks, entropy);
        };
        let (_, sections) = self.published(&publisher)?;
        let config = self.answering(publications, entropy);
        let ice_session = Some(name_of(&config));
        let outgoing = |section: &Section| Outgoing {
            kind: section.kind,
            form: section.form,
        };
        let policy = AnswerPolicy {
            receive: None,
            send: sections.iter().map(outgoing).collect(),
        };
        let answered = weft_peer::answer(now, config, offer, &policy);
        let (peer, sdp) = answered?;
        let streams = shown(&peer, StreamDirection::Send);
        self.add_peer(now, resource, publisher, Role::Play, peer);
        Ok(Negotiated {
            sdp,
            streams,
            ice_session,
        })
    }

    /// Offers a publication to another server of the same operator, which is a player
    /// here. The addresses in its answer are those of a server, not of a stranger.
    ///
    /// # Errors
    /// If nothing is published.
    pub fn share(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        self.now = now;
        self.offer_publication(now, resource, publisher, Checks::All, entropy)
    }

    fn offer_publication(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        checks: Checks,
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        let (streams, sections) = self.published(&publisher)?;
        let offered = (&sections[..], self.published_in(&publisher.room), checks);
        let agreed = self.offer(now, resource, publisher, Role::Play, offered, entropy);
        Ok(Negotiated { streams, ..agreed })
    }

    /// Returns the streams of a publication, and the sections that carry them to a player.
    fn published(&self, publisher: &Publisher) -> Result<(Publishing, Vec<Section>), MediaError> {
        let publication = self.publications.get(publisher);
        let forms: Vec<Form> = publication.into_iter().flat_map(|p| p.forms()).collect();
        let published = publication.and_then(|p| p.streams()).cloned();
        let published = published.ok_or(MediaError::NothingPublished)?;
        let sections = sections(&published, &forms);
        Ok((published, sections))
    }

    /// Offers sections over a new connection, in a room with `publications` publications
    /// that each may be played over a separate connection.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        resource: ResourceId,
        participant: Publisher,
        role: Role,
        (sections, publications, checks): (&[Section], usize, Checks),
        entropy: &Entropy,
    ) -> Negotiated {
        let mut config =
            self.settings
                .peer(IceRole::Controlling, LEAST_MAX_RATE, publications, entropy);
        config.association.ice.checks = checks;
        let ice_session = name_of(&config);
        let early = &mut self.handshakes.early;
        early.expect(ice_session.clone(), resource.clone());
        let offer = Offer::new(now, config, sections, Delivery::Packets);
        let negotiated = Negotiated {
            sdp: offer.sdp(),
            streams: Publishing::default(),
            ice_session: Some(ice_session),
        };
        let state = State::Offered(Box::new(offer));
        self.add_connection(now, resource, participant, role, state);
        negotiated
    }

    /// Accepts the answer to our offer. An unusable answer to the first offer ends the
    /// connection; an unusable answer to a later offer of a reception changes nothing.
    ///
    /// # Errors
    /// If no offer waits for it, or it cannot be used.
    pub fn accept(
        &mut self,
        now: Instant,
        resource: ResourceId,
        answer: &str,
    ) -> Result<(), MediaError> {
        self.now = now;
        let found = self.connections.remove(&resource);
        let connection = found.ok_or(MediaError::UnknownResource)?;
        let offer = match connection.state {
            State::Offered(offer) => offer,
            State::Peer(key) => {
                self.connections.insert(resource.clone(), connection);
                return self.accept_later(now, &resource, key, answer);
            }
        };
        let early = self.handshakes.early.take(&resource);
        match offer.accept(now, answer) {
            Ok(peer) => {
                let (participant, role) = (connection.participant, connection.role);
                self.add_peer(now, resource, participant, role, peer);
                for check in early {
                    self.take_datagram(now, check.tuple, check.ecn, &check.datagram);
                }
                Ok(())
            }
            Err(error) => {
                self.tell_ended(resource, error.to_string());
                let publication = self.publications.get(&connection.participant);
                let forms: Vec<Form> = publication.into_iter().flat_map(|p| p.forms()).collect();
                Err(refusal(error, &forms))
            }
        }
    }

    fn accept_later(
        &mut self,
        now: Instant,
        resource: &ResourceId,
        key: PeerKey,
        answer: &str,
    ) -> Result<(), MediaError> {
        let accepted = self.peers.drive(key, |peer| peer.accept(now, answer));
        match accepted {
            None => return Err(MediaError::UnknownResource),
            Some(Err(NegotiationError::NothingOffered | NegotiationError::NotOfferer)) => {
                return Err(MediaError::WrongState {
                    reason: "no offer waits for an answer".to_owned(),
                });
            }
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(())) => {}
        }
        let connection = self.connections.get_mut(resource);
        if let (Some(Role::Receive(reception)), Some(peer)) =
            (connection.map(|c| &mut c.role), self.peers.get(key))
        {
            reception.negotiated(peer.streams());
        }
        self.refresh_reception(now, resource);
        Ok(())
    }

    /// Number of publications in a room.
    fn published_in(&self, room: &str) -> usize {
        let rooms = self.publications.keys().map(|publisher| &publisher.room);
        rooms.filter(|name| *name == room).count()
    }

    fn add_peer(
        &mut self,
        now: Instant,
        resource: ResourceId,
        participant: Publisher,
        mut role: Role,
        mut peer: Peer,
    ) {
        if self.settings.captures() {
            peer.capture_packets();
        }
        if let Role::Receive(reception) = &mut role {
            reception.negotiated(peer.streams());
        }
        let key = self.peers.insert(peer);
        let most = match role {
            Role::Publish(_) => self.settings.most_of_a_publisher(),
            Role::Play | Role::Receive(_) => self.settings.most_of_a_player(),
        };
        if let Some(most) = most {
            self.peers.limit_ingress(key, most);
        }
        self.resources.insert(key, resource.clone());
        self.add_connection(now, resource, participant, role, State::Peer(key));
    }

    fn add_connection(
        &mut self,
        now: Instant,
        resource: ResourceId,
        participant: Publisher,
        role: Role,
        state: State,
    ) {
        let connection = Connection {
            participant,
            state,
            since: now,
            connected: false,
            pathless: None,
            role,
        };
        self.connections.insert(resource, connection);
        self.run_maintenance(now);
    }
}

/// Our user name fragment, which is also in the description.
pub(crate) fn name_of(config: &PeerConfig) -> String {
    config.association.ice.credentials.ufrag.clone()
}

/// Sections for the cameras in order, each in its form, then for sound.
fn sections(published: &Publishing, forms: &[Form]) -> Vec<Section> {
    let camera = |(place, camera): (usize, &Camera)| Section {
        title: camera.name.clone(),
        form: forms.get(place).copied(),
        ..Section::new(MediaKind::Video, StreamDirection::Send)
    };
    let sound = Section::new(MediaKind::Audio, StreamDirection::Send);
    let cameras = published.cameras.iter().enumerate().map(camera);
    cameras.chain(published.audio.then_some(sound)).collect()
}

/// Returns the reason why a player's answer to our offer is refused.
fn refusal(error: NegotiationError, forms: &[Form]) -> MediaError {
    match (error, forms.first()) {
        (NegotiationError::NothingAccepted(_), Some(form)) => MediaError::CodecNotTaken {
            kind: form.codec().kind(),
            sent: form.to_string(),
            listed: "rejected".to_owned(),
        },
        (error, _) => error.into(),
    }
}

impl From<NegotiationError> for MediaError {
    fn from(error: NegotiationError) -> MediaError {
        let words = error.to_string();
        match error {
            NegotiationError::NoCodec {
                direction: StreamDirection::Receive,
                kind,
                offered,
                wanted,
            } => MediaError::NoCodec {
                kind,
                offered,
                forwarded: wanted,
            },
            NegotiationError::NoCodec {
                direction: StreamDirection::Send,
                kind,
                offered,
                wanted,
            } => MediaError::CodecNotTaken {
                kind,
                sent: wanted,
                listed: offered,
            },
            NegotiationError::Direction { wanted, .. } => match wanted {
                StreamDirection::Receive => MediaError::SendsNothing(words),
                StreamDirection::Send => MediaError::ReceivesNothing(words),
            },
            NegotiationError::NothingToSend { offered } => MediaError::KindNotSent(offered),
            NegotiationError::NotBundled => MediaError::NotBundled,
            NegotiationError::NoRtcpMux => MediaError::NoRtcpMux,
            _ => MediaError::BadDescription { reason: words },
        }
    }
}
