//! What signalling asks for, as descriptions and peers.

use crate::connection::{Connection, ResourceId, Role, Sender, State};
use crate::error::MediaError;
use crate::plane::Plane;
use crate::publication::{Publication, Publisher, shown};
use crate::traffic::LEAST_MAX_RATE;
use weft_ice::IceRole;
use weft_peer::{AnswerPolicy, Direction, Entropy, NegotiationError, Offer, Peer, Section};
use weft_session::Delivery;
use weft_sfu::{Camera, MAX_CAMERAS, Publishing};
use weft_units::{Codec, Instant, MediaKind};

/// A description of ours, and what was agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// The offer or answer to hand to the peer, as text (RFC 8866).
    pub sdp: String,
    /// The streams of the connection.
    pub streams: Publishing,
}

impl Plane {
    /// Somebody wants to publish; our answer goes back. What they publish
    /// already goes on until the new connection is up, and is replaced by it.
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
        self.now = now;
        let config = self
            .settings
            .peer(IceRole::Controlled, LEAST_MAX_RATE, entropy);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Packets),
            send: Vec::new(),
        };
        let (peer, sdp) = weft_peer::answer(now, config, offer, &policy)?;
        let published = shown(&peer, Direction::Receive);
        let cameras = published.cameras.len();
        if cameras > MAX_CAMERAS {
            return Err(MediaError::TooManyCameras(cameras));
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
        })
    }

    /// Somebody wants to play what a participant publishes. Our answer goes
    /// back, or our offer if they made none.
    ///
    /// # Errors
    /// If there is nothing to play or their offer cannot be used.
    pub fn play(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        offer: Option<&str>,
        entropy: &Entropy,
    ) -> Result<Negotiated, MediaError> {
        self.now = now;
        let publication = self.publications.get(&publisher);
        let codec = publication.and_then(Publication::codec);
        let published = publication.and_then(|p| p.streams()).cloned();
        let published = published.ok_or(MediaError::NothingPublished)?;
        let sections = sections(&published);
        if let Some(offer) = offer {
            let mut config = self
                .settings
                .peer(IceRole::Controlled, LEAST_MAX_RATE, entropy);
            config.limit_video_to(codec);
            let policy = AnswerPolicy {
                receive: None,
                send: sections.into_iter().map(|s| s.kind).collect(),
            };
            let answered = weft_peer::answer(now, config, offer, &policy);
            let (peer, sdp) = answered.map_err(|error| refusal(error, codec))?;
            let streams = shown(&peer, Direction::Send);
            self.add_peer(now, resource, publisher, Role::Play, peer);
            return Ok(Negotiated { sdp, streams });
        }
        let mut config = self
            .settings
            .peer(IceRole::Controlling, LEAST_MAX_RATE, entropy);
        config.limit_video_to(codec);
        let offer = Offer::new(now, config, &sections, Delivery::Packets);
        let negotiated = Negotiated {
            sdp: offer.sdp(),
            streams: published,
        };
        let state = State::Offered(Box::new(offer));
        self.add_connection(now, resource, publisher, Role::Play, state);
        Ok(negotiated)
    }

    /// The player's answer to our offer. One that cannot be used ends the
    /// connection: an offer is good for one answer.
    ///
    /// # Errors
    /// If no offer waits for it or it cannot be used.
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
            State::Peer(_) => {
                self.connections.insert(resource, connection);
                return Err(MediaError::WrongState {
                    reason: "it has its answer already".to_owned(),
                });
            }
        };
        match offer.accept(now, answer) {
            Ok(peer) => {
                let (publisher, role) = (connection.publisher, connection.role);
                self.add_peer(now, resource, publisher, role, peer);
                Ok(())
            }
            Err(error) => {
                self.tell_ended(resource, error.to_string());
                let publication = self.publications.get(&connection.publisher);
                Err(refusal(error, publication.and_then(Publication::codec)))
            }
        }
    }

    /// Candidates of the peer (RFC 8840 fragment).
    ///
    /// # Errors
    /// If the connection cannot take them or they cannot be read.
    pub fn add_candidates(
        &mut self,
        now: Instant,
        resource: &ResourceId,
        fragment: &str,
    ) -> Result<(), MediaError> {
        self.now = now;
        let found = self.connections.get(resource);
        let connection = found.ok_or(MediaError::UnknownResource)?;
        let key = connection.peer().ok_or_else(|| MediaError::WrongState {
            reason: "the answer to the offer comes first".to_owned(),
        })?;
        let candidates = weft_peer::fragment_candidates(fragment)?;
        if let Some(peer) = self.peers.get_mut(key) {
            for candidate in candidates {
                peer.add_remote_candidate(now, candidate);
            }
        }
        Ok(())
    }

    fn add_peer(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        role: Role,
        peer: Peer,
    ) {
        let key = self.peers.insert(peer);
        self.resources.insert(key, resource.clone());
        self.add_connection(now, resource, publisher, role, State::Peer(key));
    }

    fn add_connection(
        &mut self,
        now: Instant,
        resource: ResourceId,
        publisher: Publisher,
        role: Role,
        state: State,
    ) {
        let connection = Connection {
            publisher,
            state,
            since: now,
            connected: false,
            pathless: None,
            role,
        };
        self.connections.insert(resource, connection);
        self.keep_house(now);
    }
}

/// Cameras in order, then sound.
fn sections(published: &Publishing) -> Vec<Section> {
    let camera = |camera: &Camera| Section {
        title: camera.name.clone(),
        ..Section::new(MediaKind::Video, Direction::Send)
    };
    let sound = Section::new(MediaKind::Audio, Direction::Send);
    let cameras = published.cameras.iter().map(camera);
    cameras.chain(published.audio.then_some(sound)).collect()
}

/// Why somebody cannot play what is published with this codec.
fn refusal(error: NegotiationError, codec: Option<Codec>) -> MediaError {
    match (error, codec) {
        (NegotiationError::NoCommonCodec, Some(codec)) => MediaError::CodecNotTaken { codec },
        (error, _) => error.into(),
    }
}

impl From<NegotiationError> for MediaError {
    fn from(error: NegotiationError) -> MediaError {
        match error {
            NegotiationError::NoCommonCodec => MediaError::NoCodec,
            other => MediaError::BadDescription {
                reason: other.to_string(),
            },
        }
    }
}
