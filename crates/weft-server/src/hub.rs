//! Rooms, media connections and event streams, behind one lock that is never
//! held across an await.

use crate::clock::Clock;
use crate::config::Limits;
use crate::media_plane::{Command, Event, MediaPlane, Negotiated, ResourceId};
use crate::problem::Problem;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};
use weft_sfu::{
    Change, Join, LinkReport, Participant, ParticipantKind, Publishing, Registry, RegistryLimits,
    RoomEvent,
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
    resources: BTreeMap<ResourceId, Resource>,
    feeds: Vec<Feed>,
    open: bool,
}

struct Feed {
    room: String,
    sender: mpsc::Sender<Message>,
}

/// One media connection, as HTTP knows it.
#[derive(Debug, Clone)]
struct Resource {
    room: String,
    /// Who publishes: also for one that plays.
    participant: String,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Publish {
        negotiated: Publishing,
        /// What the publisher has not switched off.
        enabled: Publishing,
        connected: bool,
    },
    Play,
}

/// One event for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

/// Who wants to publish.
pub(crate) struct Publisher<'a> {
    pub(crate) room: &'a str,
    pub(crate) participant: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) kind: ParticipantKind,
}

/// What a resource's path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleOf {
    Publish,
    Play,
}

const EVERYTHING: Publishing = Publishing {
    video: true,
    audio: true,
};

impl Hub {
    pub(crate) fn new(limits: Limits, media: Arc<dyn MediaPlane>, clock: Clock) -> Hub {
        let registry = Registry::new(RegistryLimits {
            rooms: limits.rooms,
            participants_per_room: limits.participants_per_room,
        });
        Hub {
            state: Mutex::new(State {
                registry,
                resources: BTreeMap::new(),
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
        join: Join<'_>,
    ) -> Result<(String, mpsc::Receiver<Message>), Problem> {
        let mut state = self.lock();
        if !state.open {
            return Err(Problem::overloaded("anybody: it is about to stop"));
        }
        let id = state.registry.join(join)?;
        self.tell(&mut state);
        let (sender, receiver) = mpsc::channel(FEED_LENGTH);
        let participants: Vec<&Participant> = state.registry.participants(join.room).collect();
        let welcome = json!({"id": id, "room": join.room, "participants": participants});
        let _ = sender.try_send(message("welcome", &welcome));
        let room = join.room.to_owned();
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
        who: &Publisher<'_>,
    ) -> Result<(ResourceId, String), Problem> {
        let mut state = self.lock();
        state.check_room_for_one(&self.limits)?;
        let known = who.participant.map(|id| state.registry.hold(who.room, id));
        let id = match (known, who.participant, who.name) {
            (Some(Ok(())), Some(id), _) => id.to_owned(),
            (Some(Err(unknown)), _, None) => return Err(unknown.into()),
            (_, id, name) => state.registry.join(Join {
                room: who.room,
                name: name.unwrap_or_default(),
                kind: who.kind,
                id,
            })?,
        };
        let role = Role::Publish {
            negotiated: Publishing::default(),
            enabled: EVERYTHING,
            connected: false,
        };
        let resource = state.add(who.room, &id, role);
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
        let resource = state.add(room, &id, Role::Play);
        Ok((resource, id))
    }

    /// What was agreed on for a publication. An earlier one of the same
    /// participant ends.
    pub(crate) fn negotiated(&self, resource: &ResourceId, agreed: &Negotiated) {
        let mut state = self.lock();
        let Some(Resource {
            room, participant, ..
        }) = state.resources.get(resource).cloned()
        else {
            return;
        };
        if let Some(found) = state.resources.get_mut(resource)
            && let Role::Publish { negotiated, .. } = &mut found.role
        {
            *negotiated = Publishing {
                video: agreed.video,
                audio: agreed.audio,
            };
        }
        let earlier: Vec<ResourceId> = state
            .resources
            .iter()
            .filter(|(id, r)| *id != resource && r.is_publication_of(&room, &participant))
            .map(|(id, _)| id.clone())
            .collect();
        for id in earlier {
            state.resources.remove(&id);
            state
                .registry
                .release(self.clock.now(), &room, &participant);
            self.media.send(Command::Close { resource: id });
        }
        self.tell(&mut state);
    }

    /// Whether the resource is there, in this room and role.
    pub(crate) fn check(&self, room: &str, id: &ResourceId, role: RoleOf) -> Result<(), Problem> {
        let state = self.lock();
        let found = state.resources.get(id).filter(|r| r.room == room);
        match found.map(|r| (r.role, role)) {
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
        if let Some(resource) = state.resources.remove(id)
            && resource.role != Role::Play
        {
            let (room, participant) = (&resource.room, &resource.participant);
            state.show_publishing(room, participant);
            state.registry.finish(self.clock.now(), room, participant);
        }
        self.tell(&mut state);
    }

    /// The publisher switches pictures or sound off or on.
    pub(crate) fn set_enabled(&self, id: &ResourceId, wanted: Publishing) {
        let mut state = self.lock();
        if let Some(resource) = state.resources.get_mut(id)
            && let Role::Publish { enabled, .. } = &mut resource.role
        {
            *enabled = wanted;
            let (room, participant) = (resource.room.clone(), resource.participant.clone());
            state.show_publishing(&room, &participant);
        }
        self.tell(&mut state);
    }

    /// A sender's figures of its links.
    pub(crate) fn set_links(&self, id: &ResourceId, links: Vec<LinkReport>) -> Result<(), Problem> {
        let mut state = self.lock();
        let resource = state.resources.get(id).ok_or_else(Problem::no_resource)?;
        let (room, participant) = (resource.room.clone(), resource.participant.clone());
        state.registry.set_links(&room, &participant, links)?;
        self.tell(&mut state);
        Ok(())
    }

    /// Somebody who is in a room as long as the server runs.
    pub(crate) fn add_resident(
        &self,
        join: Join<'_>,
        publishing: Publishing,
    ) -> Result<String, Problem> {
        let mut state = self.lock();
        let id = state.registry.join(join)?;
        state.registry.set_publishing(join.room, &id, publishing)?;
        self.tell(&mut state);
        Ok(id)
    }

    /// The media plane tells something.
    pub(crate) fn handle_media_event(&self, event: Event) {
        let mut state = self.lock();
        match event {
            Event::Connected { resource } => {
                if let Some(found) = state.resources.get_mut(&resource)
                    && let Role::Publish { connected, .. } = &mut found.role
                {
                    *connected = true;
                    let (room, participant) = (found.room.clone(), found.participant.clone());
                    state.show_publishing(&room, &participant);
                }
            }
            Event::Ended { resource, .. } => {
                if let Some(found) = state.resources.remove(&resource)
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
                for resource in state.take_resources_of(&room, id) {
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
        if !self.open || self.resources.len() >= limits.media_connections {
            return Err(Problem::overloaded("another media connection"));
        }
        Ok(())
    }

    fn add(&mut self, room: &str, participant: &str, role: Role) -> ResourceId {
        let id = unguessable();
        let resource = Resource {
            room: room.to_owned(),
            participant: participant.to_owned(),
            role,
        };
        self.resources.insert(id.clone(), resource);
        id
    }

    /// What the participant's connected publications show together.
    fn show_publishing(&mut self, room: &str, participant: &str) {
        let mut shown = Publishing::default();
        for resource in self.resources.values() {
            if let Role::Publish {
                negotiated,
                enabled,
                connected: true,
            } = resource.role
                && resource.is_publication_of(room, participant)
            {
                shown.video |= negotiated.video && enabled.video;
                shown.audio |= negotiated.audio && enabled.audio;
            }
        }
        // Somebody who is gone publishes nothing: no error.
        let _ = self.registry.set_publishing(room, participant, shown);
    }

    fn take_resources_of(&mut self, room: &str, participant: &str) -> Vec<ResourceId> {
        let of = |r: &Resource| r.room == room && r.participant == participant;
        let gone = self.resources.iter().filter(|(_, r)| of(r));
        let gone: Vec<ResourceId> = gone.map(|(id, _)| id.clone()).collect();
        self.resources.retain(|_, r| !of(r));
        gone
    }
}

impl Resource {
    fn is_publication_of(&self, room: &str, participant: &str) -> bool {
        self.role != Role::Play && self.room == room && self.participant == participant
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

/// 128 random bits in hexadecimal.
fn unguessable() -> ResourceId {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).expect("the system's random generator works");
    ResourceId(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
