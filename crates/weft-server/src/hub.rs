//! Rooms, media connections and event streams, behind one lock that is never
//! held across an await.

mod resources;

use crate::auth::proof_of;
use crate::clock::Clock;
use crate::config::Limits;
use crate::media_plane::{Command, Event, MediaPlane, Negotiated, ResourceId};
use crate::problem::Problem;
pub(crate) use resources::Enabled;
use resources::{Resource, Resources, Role};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};
use weft_sfu::{
    Change, HoldError, Join, Joined, LinkReport, Participant, ParticipantKind, Publishing,
    Registry, RegistryLimits, RoomEvent,
};
use weft_units::{Deadline, Instant};

#[cfg(test)]
mod tests;

/// Events that wait for one slow reader before it is cut off; it comes back
/// and gets the whole state. Chosen by us: minutes of links' figures.
const FEED_LENGTH: usize = 256;

/// The state that all requests share.
pub(crate) struct Hub {
    state: Mutex<State>,
    media: Arc<dyn MediaPlane>,
    clock: Clock,
    limits: Limits,
    /// The next deadline may have changed.
    pub(crate) rescheduled: Notify,
}

struct State {
    registry: Registry,
    resources: Resources,
    feeds: Vec<Feed>,
    open: bool,
}

struct Feed {
    room: String,
    sender: mpsc::Sender<Message>,
}

/// One event for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

/// Who comes to a room, to be there or to publish.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) room: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) kind: ParticipantKind,
    /// Who they were before.
    pub(crate) id: Option<&'a str>,
    /// What the welcome gave to who they were.
    pub(crate) secret: Option<&'a str>,
}

/// What a resource's path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleOf {
    Publish,
    Play,
}

impl Hub {
    pub(crate) fn new(limits: Limits, media: Arc<dyn MediaPlane>, clock: Clock) -> Hub {
        let registry = Registry::new(RegistryLimits {
            rooms: limits.rooms,
            participants_per_room: limits.participants_per_room,
        });
        Hub {
            state: Mutex::new(State {
                registry,
                resources: Resources::default(),
                feeds: Vec::new(),
                open: true,
            }),
            media,
            clock,
            limits,
            rescheduled: Notify::new(),
        }
    }

    pub(crate) fn media(&self) -> &dyn MediaPlane {
        &*self.media
    }

    /// Joins a room and opens its event stream, whose first message is the
    /// welcome.
    pub(crate) fn join(
        &self,
        who: Arrival<'_>,
    ) -> Result<(String, mpsc::Receiver<Message>), Problem> {
        let mut state = self.lock();
        if !state.open {
            return Err(Problem::overloaded("anybody: it is about to stop"));
        }
        let (id, secret) = state.join(&who)?;
        self.tell(&mut state);
        let (sender, receiver) = mpsc::channel(FEED_LENGTH);
        let participants: Vec<&Participant> = state.registry.participants(who.room).collect();
        let welcome = json!({
            "id": id, "secret": secret, "room": who.room, "participants": participants
        });
        let _ = sender.try_send(message("welcome", &welcome));
        let room = who.room.to_owned();
        state.feeds.push(Feed { room, sender });
        Ok((id, receiver))
    }

    /// An event stream has ended.
    pub(crate) fn leave(&self, room: &str, id: &str) {
        let mut state = self.lock();
        state.registry.release(self.clock.now(), room, id);
        self.rescheduled.notify_one();
    }

    /// Somebody begins to publish: holds them in the room until
    /// [`Hub::close`].
    pub(crate) fn open_publication(
        &self,
        who: &Arrival<'_>,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        state.check_room_for_one(&self.limits)?;
        let proof = who.secret.map(proof_of);
        let held = who.id.map(|id| state.registry.hold(who.room, id, proof));
        let id = match (held, who.id) {
            (Some(Ok(())), Some(id)) => id.to_owned(),
            (Some(Err(HoldError::Unknown(unknown))), _) if who.name.is_none() => {
                return Err(unknown.into());
            }
            (Some(Err(stranger @ HoldError::Stranger { .. })), _) => return Err(stranger.into()),
            _ => state.join(who)?.0,
        };
        let resource = state.open(who.room, &id, Role::PUBLISH);
        self.tell(&mut state);
        Ok((resource, id))
    }

    /// Somebody begins to play; finds the publisher by id or name.
    pub(crate) fn open_playback(
        &self,
        room: &str,
        wanted: &str,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        state.check_room_for_one(&self.limits)?;
        let publisher = state.registry.find(room, wanted)?;
        if publisher.publishing == Publishing::default() {
            return Err(crate::media_plane::MediaError::NothingPublished.into());
        }
        let id = publisher.id.clone();
        let resource = state.open(room, &id, Role::Play);
        Ok((resource, id))
    }

    /// What was agreed on for a publication. An earlier one of the same
    /// participant goes on until this one is connected.
    pub(crate) fn negotiated(&self, resource: &ResourceId, agreed: &Negotiated) {
        let streams = agreed.streams.clone();
        self.lock().resources.set_negotiated(resource, streams);
    }

    /// Whether the resource is there, in this room and role.
    pub(crate) fn check(&self, room: &str, id: &ResourceId, role: RoleOf) -> Result<(), Problem> {
        let state = self.lock();
        let found = state.resources.find(id).filter(|r| r.room == room);
        match found.map(|r| (&r.role, role)) {
            Some((Role::Publish { .. }, RoleOf::Publish) | (Role::Play, RoleOf::Play)) => Ok(()),
            _ => Err(Problem::no_resource()),
        }
    }

    /// A connection ends on request, or since it could not be made.
    pub(crate) fn close(&self, id: &ResourceId) {
        self.media.send(Command::Close {
            resource: id.clone(),
        });
        let mut state = self.lock();
        if let Some(resource) = state.resources.take(id)
            && resource.role != Role::Play
        {
            let (room, participant) = (&resource.room, &resource.participant);
            state.show_publishing(room, participant);
            state.registry.finish(self.clock.now(), room, participant);
        }
        self.tell(&mut state);
    }

    /// The publisher switches pictures or sound off or on.
    pub(crate) fn set_enabled(&self, id: &ResourceId, wanted: Enabled) {
        let mut state = self.lock();
        if state.resources.set_enabled(id, wanted) {
            state.show_publishing_of(id);
        }
        self.tell(&mut state);
    }

    /// A sender's figures of its links.
    pub(crate) fn set_links(&self, id: &ResourceId, links: Vec<LinkReport>) -> Result<(), Problem> {
        let mut state = self.lock();
        let Some(Resource {
            room, participant, ..
        }) = state.resources.find(id).cloned()
        else {
            return Err(Problem::no_resource());
        };
        state.registry.set_links(&room, &participant, links)?;
        self.tell(&mut state);
        Ok(())
    }

    /// Somebody who is in a room as long as the server runs. Nobody is told
    /// their secret.
    pub(crate) fn add_resident(
        &self,
        who: &Arrival<'_>,
        publishing: Publishing,
    ) -> Result<String, Problem> {
        let mut state = self.lock();
        let (id, _) = state.join(who)?;
        state.registry.set_publishing(who.room, &id, publishing)?;
        self.tell(&mut state);
        Ok(id)
    }

    /// The media plane tells something.
    pub(crate) fn handle_media_event(&self, event: Event) {
        let mut state = self.lock();
        match event {
            Event::Connected { resource } => {
                for earlier in state.resources.connect(&resource) {
                    state.release_publisher_of(self.clock.now(), &resource);
                    self.media.send(Command::Close { resource: earlier });
                }
                state.show_publishing_of(&resource);
            }
            Event::Ended { resource, .. } => {
                if let Some(found) = state.resources.take(&resource)
                    && found.role != Role::Play
                {
                    state.show_publishing(&found.room, &found.participant);
                    let now = self.clock.now();
                    state.registry.release(now, &found.room, &found.participant);
                }
            }
        }
        self.tell(&mut state);
    }

    /// Lets those leave whose time is over.
    pub(crate) fn handle_timeout(&self, now: Instant) {
        let mut state = self.lock();
        state.registry.handle_timeout(now);
        self.tell(&mut state);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        self.lock().registry.poll_timeout()
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Rooms, participants, open event streams.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let state = self.lock();
        let (rooms, participants) = state.registry.count();
        (rooms, participants, state.feeds.len())
    }

    /// Ends all event streams, for the server's end.
    pub(crate) fn shut(&self) {
        let mut state = self.lock();
        state.open = false;
        state.feeds.clear();
    }

    /// Passes on what the registry has to tell.
    fn tell(&self, state: &mut State) {
        while let Some(RoomEvent { room, change }) = state.registry.poll_output() {
            if let Change::Left { id } = &change {
                for resource in state.resources.take_all_of(&room, id) {
                    self.media.send(Command::Close { resource });
                }
            }
            let message = change_message(&change);
            state
                .feeds
                .retain(|feed| feed.room != room || feed.sender.try_send(message.clone()).is_ok());
        }
        state.feeds.retain(|feed| !feed.sender.is_closed());
        self.rescheduled.notify_one();
    }

    /// Nothing in here panics while it holds the lock with the state half
    /// changed, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check_room_for_one(&self, limits: &Limits) -> Result<(), Problem> {
        if !self.open || self.resources.count() >= limits.media_connections {
            return Err(Problem::overloaded("another media connection"));
        }
        Ok(())
    }

    /// Joins the registry. Returns the id, and the secret that proves it.
    fn join(&mut self, who: &Arrival<'_>) -> Result<(String, String), Problem> {
        let fresh = unguessable();
        let joined = self.registry.join(Join {
            room: who.room,
            name: who.name.unwrap_or_default(),
            kind: who.kind,
            id: who.id,
            proof: who.secret.map(proof_of),
            fresh: proof_of(&fresh),
        })?;
        let secret = match (&joined, who.secret) {
            (Joined::Back(_), Some(shown)) => shown.to_owned(),
            _ => fresh,
        };
        Ok((joined.into_id(), secret))
    }

    fn open(&mut self, room: &str, participant: &str, role: Role) -> ResourceId {
        let id = ResourceId(unguessable());
        self.resources.open(id.clone(), room, participant, role);
        id
    }

    fn show_publishing_of(&mut self, id: &ResourceId) {
        let found = self.resources.find(id).filter(|r| r.role != Role::Play);
        if let Some(Resource {
            room, participant, ..
        }) = found.cloned()
        {
            self.show_publishing(&room, &participant);
        }
    }

    /// What the participant's connected publications show together.
    fn show_publishing(&mut self, room: &str, participant: &str) {
        let shown = self.resources.shown(room, participant);
        // Somebody who is gone publishes nothing: no error.
        let _ = self.registry.set_publishing(room, participant, shown);
    }

    /// The hold of a publication that another one of theirs replaces.
    fn release_publisher_of(&mut self, now: Instant, id: &ResourceId) {
        if let Some(found) = self.resources.find(id) {
            self.registry.release(now, &found.room, &found.participant);
        }
    }
}

fn message(event: &'static str, data: &Value) -> Message {
    Message {
        event,
        data: data.to_string().into(),
    }
}

fn change_message(change: &Change) -> Message {
    match change {
        Change::Joined(participant) => message("joined", &json!(participant)),
        Change::Changed(participant) => message("changed", &json!(participant)),
        Change::Links { id, links } => message("links", &json!({"id": id, "links": links})),
        Change::Left { id } => message("left", &json!({"id": id})),
    }
}

/// 128 random bits in hexadecimal: a token, a secret, a name that nobody finds.
///
/// # Panics
/// If the system's random generator fails.
#[must_use]
pub fn unguessable() -> String {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).expect("the system's random generator works");
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
