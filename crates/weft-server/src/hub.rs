//! Rooms, media connections and event streams, behind one lock that is never
//! held across an await.

mod admission;
mod bars;
mod changes;
mod cluster;
mod composer;
mod ending;
mod handover;
mod hearing;
mod moderation;
mod pace;
mod recorded;
mod recording;
mod resources;
mod state;
mod succession;
mod talk;
mod vacancies;

use crate::auth::Revoked;
use crate::clock::Clock;
use crate::config::Limits;
use crate::ids::Ids;
use crate::log::{Log, ServerEvent};
use crate::media_plane::{Destination, Event, MediaPlane, Negotiated, Request, ResourceId};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::refusals::Refusals;
use crate::secret::proof_of;
use crate::webhook::Webhooks;
pub(crate) use bars::Bar;
use bars::Bars;
pub(crate) use cluster::{ActionWanted, Cluster, ClusterEvent, ClusterNotice, RecordingsElsewhere};
pub(crate) use composer::follow_recordings;
pub(crate) use hearing::PullWanted;
use resources::{Resource, Resources, Role};
use serde_json::json;
use state::{AdmissionState, Feed, Paces, State, message, wanted_message};
pub(crate) use state::{Message, described};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, watch};
pub(crate) use vacancies::{Target, Vacancies, Vacancy, is_full};
use weft_rooms::{Enabled, LinkReport, ParticipantKind, Publishing, Registry, Upload};
use weft_units::{Deadline, Instant};

#[cfg(test)]
mod tests;

/// Events queued for a slow reader before its stream is closed; on reconnecting
/// it gets the whole state. Chosen by us: minutes of link statistics.
const FEED_LENGTH: usize = 256;

/// State shared by all requests.
pub(crate) struct Hub {
    state: Mutex<State>,
    media: Arc<dyn MediaPlane>,
    clock: Clock,
    ids: Ids,
    log: Log,
    refusals: Arc<Refusals>,
    /// Revoked tokens.
    revoked: Revoked,
    webhooks: Option<Webhooks>,
    /// `None` for a single server.
    cluster: Option<Cluster>,
    /// Number of participants.
    population: watch::Sender<usize>,
    /// Notified when the next deadline may have changed.
    pub(crate) rescheduled: Notify,
}

/// Participant who enters a room or publishes.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) room: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) kind: ParticipantKind,
    /// Id of an earlier visit.
    pub(crate) id: Option<&'a str>,
    /// Secret from the welcome of the earlier visit.
    pub(crate) secret: Option<&'a str>,
    /// Origin of the request.
    pub(crate) origin: &'a Origin,
}

/// Role of a resource, according to its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleOf {
    Publish,
    Play,
    Receive,
}

impl Hub {
    pub(crate) fn new(
        limits: Limits,
        media: Arc<dyn MediaPlane>,
        (clock, ids): (Clock, Ids),
        log: Log,
    ) -> Hub {
        Hub {
            state: Mutex::new(State {
                registry: Registry::new(limits.registry()),
                limits,
                resources: Resources::default(),
                feeds: Vec::new(),
                guests: BTreeMap::new(),
                talking: BTreeMap::new(),
                coming: Paces::default(),
                opening: Paces::default(),
                admission: AdmissionState::Open,
                bars: Bars::default(),
                records: media.recorder().is_some(),
                recorded: BTreeSet::new(),
            }),
            media,
            clock,
            ids,
            refusals: Arc::new(Refusals::new(log.clone())),
            log,
            revoked: Revoked::default(),
            webhooks: None,
            cluster: None,
            population: watch::Sender::new(0),
            rescheduled: Notify::new(),
        }
    }

    /// Refuses holders of these tokens.
    pub(crate) fn refusing(self, revoked: Revoked) -> Hub {
        Hub { revoked, ..self }
    }

    /// Sends the events of rooms to a target.
    pub(crate) fn telling(self, webhooks: Option<Webhooks>) -> Hub {
        Hub { webhooks, ..self }
    }

    pub(crate) fn webhooks(&self) -> Option<&Webhooks> {
        self.webhooks.as_ref()
    }

    pub(crate) fn media(&self) -> &(dyn MediaPlane + 'static) {
        &*self.media
    }

    /// Joins a room and opens its event stream, whose first message is the
    /// welcome. The chat after the message with the id `read` follows it.
    pub(crate) fn join(
        &self,
        who: Arrival<'_>,
        read: Option<&str>,
    ) -> Result<(String, mpsc::Receiver<Message>), Problem> {
        let mut state = self.lock();
        let (id, secret) = self.join_registry(&mut state, &who)?;
        state.registry.show(who.room, &id);
        self.publish_changes(&mut state);
        let (sender, receiver) = mpsc::channel(FEED_LENGTH);
        let place = (who.room, &*id, &*secret);
        let waits = state.registry.is_waiting(who.room, &id);
        match waits {
            true => {
                let waiting = json!({"id": id, "secret": secret, "room": who.room});
                let _ = sender.try_send(message("waiting", &waiting));
            }
            false => state.welcome(self.clock.now(), place, read, &sender),
        }
        if let Some(warning) = self.warning() {
            let _ = sender.try_send(warning);
        }
        state.registry.open_page(who.room, &id);
        state.open_feed(Feed {
            room: who.room.to_owned(),
            participant: id.clone(),
            origin: who.origin.clone(),
            sender,
            secret: waits.then_some(secret),
        });
        Ok((id, receiver))
    }

    /// Handles the end of an event stream.
    pub(crate) fn leave(&self, room: &str, id: &str) {
        let mut state = self.lock();
        state.registry.release(self.clock.now(), room, id);
        self.rescheduled.notify_one();
    }

    /// Handles a page that is being left or reloaded, or the end of a move to another
    /// server.
    pub(crate) fn part(&self, room: &str, id: &str, secret: Option<&str>) -> Result<(), Problem> {
        let proof = secret.map(proof_of);
        let mut state = self.lock();
        state.registry.part(self.clock.now(), room, id, proof)?;
        if !state.registry.knows(room, id, proof) {
            let is_theirs = |feed: &Feed| feed.room == room && feed.participant == id;
            state.feeds.retain(|feed| !is_theirs(feed));
        }
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Starts a publication and reserves a place in the room until
    /// [`Hub::close`]. The room learns of a new participant with
    /// [`Hub::negotiated`].
    pub(crate) fn open_publication(
        &self,
        who: &Arrival<'_>,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        let taken = self.take(&mut state, who, Role::PUBLISH)?;
        self.publish_changes(&mut state);
        Ok(taken)
    }

    /// Starts a playback, which reserves a place in the room while it lasts;
    /// finds the publisher by id or name. The room learns of a new participant
    /// with [`Hub::negotiated`].
    pub(crate) fn open_playback(
        &self,
        who: &Arrival<'_>,
        wanted: &str,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        let found = state.registry.find(who.room, wanted)?;
        if found.publishing.is_nothing() {
            return Err(crate::media_plane::MediaError::NothingPublished.into());
        }
        let publisher = found.id.clone();
        let role = Role::Play {
            publisher: publisher.clone(),
        };
        let (resource, _) = self.take(&mut state, who, role)?;
        self.publish_changes(&mut state);
        Ok((resource, publisher))
    }

    /// Starts a connection that carries the whole room to a present participant.
    pub(crate) fn open_reception(
        &self,
        who: &Arrival<'_>,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        let taken = self.take(&mut state, who, Role::Receive)?;
        self.publish_changes(&mut state);
        Ok(taken)
    }

    /// Records the negotiated connection, unless it has ended in the meantime, and
    /// announces a new participant to the room. An earlier publication of the same
    /// participant continues until this one is connected.
    pub(crate) fn negotiated(
        &self,
        resource: &ResourceId,
        agreed: &Negotiated,
    ) -> Result<(), Problem> {
        let mut state = self.lock();
        // Its owner was removed while the media side created the connection, before it
        // could be closed.
        if state.resources.find(resource).is_none() {
            self.media.close(resource.clone());
            return Err(Problem::ended());
        }
        let streams = agreed.streams.clone();
        state.resources.set_negotiated(resource, streams);
        if let Some(found) = state.resources.find(resource).cloned() {
            state.registry.show(&found.room, &found.participant);
        }
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Checks that the resource exists in this room with this role.
    pub(crate) fn check(&self, room: &str, id: &ResourceId, role: RoleOf) -> Result<(), Problem> {
        let state = self.lock();
        let found = state.resources.find(id).filter(|r| r.room == room);
        match found.map(|r| (&r.role, role)) {
            Some(
                (Role::Publish { .. }, RoleOf::Publish)
                | (Role::Play { .. }, RoleOf::Play)
                | (Role::Receive, RoleOf::Receive),
            ) => Ok(()),
            _ => Err(Problem::no_resource()),
        }
    }

    /// Checks the rate limit on candidates and answers for a connection.
    pub(crate) fn check_patch(&self, id: &ResourceId) -> Result<(), Problem> {
        let now = self.clock.now();
        match self.lock().resources.admits_patch(id, now) {
            true => Ok(()),
            false => Err(Problem::too_many("this connection", "changes")),
        }
    }

    /// Checks the rate limit on views of a reception.
    pub(crate) fn check_view(&self, id: &ResourceId) -> Result<(), Problem> {
        let now = self.clock.now();
        match self.lock().resources.admits_view(id, now) {
            true => Ok(()),
            false => Err(Problem::too_many("this connection", "views")),
        }
    }

    /// Closes a connection, on request or because it could not be established.
    pub(crate) fn close(&self, id: &ResourceId) {
        self.media.close(id.clone());
        let mut state = self.lock();
        if let Some(resource) = state.resources.take(id) {
            let (room, participant) = (&resource.room, &resource.participant);
            if resource.is_publication() {
                state.show_publishing(room, participant, Upload::None);
            }
            state.registry.finish(self.clock.now(), room, participant);
        }
        self.publish_changes(&mut state);
    }

    /// Switches a publication's video or sound off or on.
    pub(crate) fn set_enabled(&self, id: &ResourceId, wanted: Enabled) -> Result<(), Problem> {
        let mut state = self.lock();
        state.check_pace_of(id, self.clock.now())?;
        if state.resources.set_enabled(id, wanted) {
            state.show_publishing_of(id);
            let resource = id.clone();
            let request: Request = Box::new(move |media| {
                media.share_screen(&resource, wanted.screen);
            });
            self.media.send(Destination::Connection(id), request);
        }
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Records a sender's link statistics.
    pub(crate) fn set_links(&self, id: &ResourceId, links: Vec<LinkReport>) -> Result<(), Problem> {
        let mut state = self.lock();
        let now = self.clock.now();
        state.check_pace_of(id, now)?;
        let Some(Resource {
            room, participant, ..
        }) = state.resources.find(id).cloned()
        else {
            return Err(Problem::no_resource());
        };
        state.registry.set_links(now, &room, &participant, links)?;
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Adds a permanent participant of this process. Its secret is not given out.
    pub(crate) fn add_resident(
        &self,
        who: &Arrival<'_>,
        publishing: Publishing,
    ) -> Result<String, Problem> {
        let mut state = self.lock();
        let (id, _) = self.join_registry(&mut state, who)?;
        state.registry.show(who.room, &id);
        state.registry.set_publishing(who.room, &id, publishing)?;
        self.publish_changes(&mut state);
        Ok(id)
    }

    /// Handles an event of the media plane.
    pub(crate) fn handle_media_event(&self, event: Event) {
        let mut state = self.lock();
        match event {
            Event::Connected { resource } => {
                for earlier in state.resources.connect(&resource) {
                    state.release_publisher_of(self.clock.now(), &resource);
                    self.media.close(earlier);
                }
                state.show_publishing_of(&resource);
                if let Some(found) = state.resources.find(&resource) {
                    self.log.emit(|| ServerEvent::Connected {
                        room: found.room.clone(),
                        id: found.participant.clone(),
                        publishes: found.is_publication(),
                    });
                }
            }
            Event::Ended { resource, reason } => {
                self.media.forget(&resource);
                let ended = message("ended", &json!({"resource": resource.0}));
                state.notify_owner(&resource, &ended);
                if state.resources.find(&resource).is_none() {
                    self.notice_end(&resource);
                }
                if let Some(found) = state.resources.take(&resource) {
                    self.log.emit(|| ServerEvent::Ended {
                        room: found.room.clone(),
                        id: found.participant.clone(),
                        publishes: found.is_publication(),
                        reason,
                    });
                    if found.is_publication() {
                        state.show_publishing(&found.room, &found.participant, Upload::Lost);
                    }
                    let now = self.clock.now();
                    state.registry.release(now, &found.room, &found.participant);
                }
            }
            Event::LinesChanged { resource, lines } => {
                let data = json!({"resource": resource.0, "lines": described(&lines)});
                state.notify_owner(&resource, &message("reception", &data));
            }
            Event::Offered { resource, sdp } => {
                let data = json!({"resource": resource.0, "sdp": sdp});
                state.notify_owner(&resource, &message("offer", &data));
            }
            Event::WantedChanged { resource, cameras } => {
                state.notify_owner(&resource, &wanted_message(&resource, &cameras));
                state.resources.set_wanted(&resource, cameras);
            }
        }
        self.publish_changes(&mut state);
    }

    /// Removes participants whose time is over.
    pub(crate) fn handle_timeout(&self, now: Instant) {
        let mut state = self.lock();
        state.registry.handle_timeout(now);
        self.publish_changes(&mut state);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        self.lock().registry.poll_timeout()
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Number of rooms, participants and open event streams.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let state = self.lock();
        let (rooms, participants) = state.registry.count();
        (rooms, participants, state.feeds.len())
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn refusals(&self) -> &Arc<Refusals> {
        &self.refusals
    }

    /// Ignores poisoning: no code panics while it holds the lock with the state half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
