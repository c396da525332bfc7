//! What HTTP asks for, as descriptions and peers.

use super::connection::{Connection, Role, Sender, State};
use super::plane::Plane;
use super::publication::{Publication, Publisher, shown};
use super::traffic::LEAST_MAX_RATE;
use crate::media_plane::{MediaError, Negotiated, ResourceId};
use weft_net::Context;
use weft_peer::{AnswerPolicy, Direction, NegotiationError, Offer, Peer, Section};
use weft_secure::IceRole;
use weft_session::{Delivery, MediaKind};
use weft_sfu::{Camera, MAX_CAMERAS, Publishing};
use weft_units::VideoCodec;

impl Plane {
    pub(super) fn publish(
        &mut self,
        context: &mut Context<'_>,
        resource: ResourceId,
        publisher: Publisher,
        offer: &str,
    ) -> Result<Negotiated, MediaError> {
        let config = self.settings.peer(IceRole::Controlled, LEAST_MAX_RATE)?;
        let policy = AnswerPolicy {
            receive: Some(Delivery::Packets),
            send: Vec::new(),
        };
        let (peer, sdp) = weft_peer::answer(context.now, config, offer, &policy)?;
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
        self.add_peer(context, resource, publisher, role, peer);
        Ok(Negotiated {
            sdp,
            streams: published,
        })
    }

    pub(super) fn play(
        &mut self,
        context: &mut Context<'_>,
        resource: ResourceId,
        publisher: Publisher,
        offer: Option<&str>,
    ) -> Result<Negotiated, MediaError> {
        let publication = self.publications.get(&publisher);
        let codec = publication.and_then(Publication::codec);
        let published = publication.and_then(|p| p.streams()).cloned();
        let published = published.ok_or(MediaError::NothingPublished)?;
        let sections = sections(&published);
        if let Some(offer) = offer {
            let mut config = self.settings.peer(IceRole::Controlled, LEAST_MAX_RATE)?;
            config.video = codec.into_iter().collect();
            let policy = AnswerPolicy {
                receive: None,
                send: sections.into_iter().map(|s| s.kind).collect(),
            };
            let answered = weft_peer::answer(context.now, config, offer, &policy);
            let (peer, sdp) = answered.map_err(|error| refusal(error, codec))?;
            let streams = shown(&peer, Direction::Send);
            self.add_peer(context, resource, publisher, Role::Play, peer);
            return Ok(Negotiated { sdp, streams });
        }
        let mut config = self.settings.peer(IceRole::Controlling, LEAST_MAX_RATE)?;
        config.video = codec.into_iter().collect();
        let offer = Offer::new(context.now, config, &sections, Delivery::Packets);
        let negotiated = Negotiated {
            sdp: offer.sdp(),
            streams: published,
        };
        let connection = Connection {
            publisher,
            state: State::Offered(Box::new(offer)),
            since: context.now,
            connected: false,
            pathless: None,
            role: Role::Play,
        };
        self.connections.insert(resource, connection);
        Ok(negotiated)
    }

    /// The player's answer to our offer. One that cannot be used ends the
    /// connection: an offer is good for one answer.
    pub(super) fn accept(
        &mut self,
        context: &mut Context<'_>,
        resource: ResourceId,
        answer: &str,
    ) -> Result<(), MediaError> {
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
        match offer.accept(context.now, answer) {
            Ok(peer) => {
                let (publisher, role) = (connection.publisher, connection.role);
                self.add_peer(context, resource, publisher, role, peer);
                Ok(())
            }
            Err(error) => {
                self.tell_ended(resource, error.to_string());
                let publication = self.publications.get(&connection.publisher);
                Err(refusal(error, publication.and_then(Publication::codec)))
            }
        }
    }

    pub(super) fn add_candidates(
        &mut self,
        context: &mut Context<'_>,
        resource: &ResourceId,
        fragment: &str,
    ) -> Result<(), MediaError> {
        let found = self.connections.get(resource);
        let connection = found.ok_or(MediaError::UnknownResource)?;
        let key = connection.peer().ok_or_else(|| MediaError::WrongState {
            reason: "the answer to the offer comes first".to_owned(),
        })?;
        let candidates = weft_peer::fragment_candidates(fragment)?;
        let now = context.now;
        if let Some(peer) = context.peer(key) {
            for candidate in candidates {
                peer.add_remote_candidate(now, candidate);
            }
        }
        Ok(())
    }

    fn add_peer(
        &mut self,
        context: &mut Context<'_>,
        resource: ResourceId,
        publisher: Publisher,
        role: Role,
        peer: Peer,
    ) {
        let key = context.insert(peer);
        self.resources.insert(key, resource.clone());
        let connection = Connection {
            publisher,
            state: State::Peer(key),
            since: context.now,
            connected: false,
            pathless: None,
            role,
        };
        self.connections.insert(resource, connection);
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
fn refusal(error: NegotiationError, codec: Option<VideoCodec>) -> MediaError {
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
