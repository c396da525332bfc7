//! State behind the hub's lock.

use super::bars::{Bar, Bars};
use super::pace::{Allowance, COMING, OPENED, OPENED_FROM, Pace, SAID, SAID_IN_ROOM, TOLD};
use super::resources::{Resource, Resources};
use crate::auth::Grant;
use crate::config::Limits;
use crate::connection_limit::AddressPrefix;
use crate::media_plane::{Line, LineContent, ResourceId, Sound};
use crate::origin::Origin;
use crate::problem::Problem;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::mpsc;
use weft_rooms::{Change, ChatMessage, Registry, Upload};
use weft_units::Instant;

/// Maximum number of event streams of one participant. Chosen by us: a page has
/// one, and possibly a few more that broke silently.
const MOST_FEEDS: usize = 8;

/// State shared by all requests.
pub struct State {
    pub registry: Registry,
    pub limits: Limits,
    pub resources: Resources,
    pub feeds: Vec<Feed>,
    /// Participants, by room and id.
    pub guests: BTreeMap<(String, String), Guest>,
    /// Recent messages and reactions, by room.
    pub talking: BTreeMap<String, Pace>,
    /// Recent arrivals, by prefix of the address.
    pub coming: Paces,
    /// Recent requests for media connections, by prefix of the address.
    pub opening: Paces,
    pub admission: AdmissionState,
    pub bars: Bars,
    /// Whether rooms can be recorded.
    pub records: bool,
    /// Rooms whose recording is running or about to begin.
    pub recorded: BTreeSet<String>,
}

/// Private data of a participant, which the room does not see.
pub struct Guest {
    /// Address and token of the arrival.
    pub origin: Origin,
    /// Time of the arrival.
    pub since: Instant,
    /// State of the participant's sound on the media side.
    pub sound: Sound,
    /// Recent announcements to the room.
    told: Pace,
    /// Recent messages and reactions.
    said: Pace,
    /// Recent requests for media connections.
    opened: Pace,
}

/// Recent use of an allowance by each prefix.
#[derive(Default)]
pub struct Paces(BTreeMap<AddressPrefix, Pace>);

impl Paces {
    /// Counts one more from this origin if it is allowed; returns whether it
    /// is.
    fn admit(&mut self, origin: &Origin, now: Instant, allowed: Allowance) -> bool {
        self.0.retain(|_, pace| !pace.is_over(now));
        let prefixes = || origin.network.into_iter().flat_map(AddressPrefix::of);
        let fits = |(prefix, times): (AddressPrefix, usize)| {
            let pace = self.0.get(&prefix);
            pace.is_none_or(|pace| pace.fits(now, allowed, times as u64))
        };
        let fit = prefixes().all(fits);
        for (prefix, times) in prefixes().filter(|_| fit) {
            let pace = self.0.entry(prefix).or_default();
            pace.count(now, allowed, times as u64);
        }
        fit
    }
}

/// Admission state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmissionState {
    /// Admits everybody.
    Open,
    /// Admits only participants who are already in a room: the server is about
    /// to stop.
    Draining,
    /// Admits nobody.
    Shut,
}

pub struct Feed {
    pub room: String,
    pub participant: String,
    pub origin: Origin,
    pub sender: mpsc::Sender<Message>,
    /// Secret for the welcome of a participant who waits to be admitted.
    pub secret: Option<String>,
}

/// Event for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Id of the latest message of the chat that the event has.
    pub(crate) id: Option<Arc<str>>,
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

impl Guest {
    pub fn from(origin: Origin, since: Instant) -> Guest {
        Guest {
            origin,
            since,
            sound: Sound::Forwarded,
            told: Pace::default(),
            said: Pace::default(),
            opened: Pace::default(),
        }
    }

    /// Returns the rule that keeps the same person out as a newcomer; `None` for a client
    /// on this machine without a signed token.
    pub fn bar(&self) -> Option<Bar> {
        let token = self
            .origin
            .grant
            .as_ref()
            .map(|grant| Bar::Token(grant.id().clone()));
        token.or_else(|| self.origin.network.map(Bar::Address))
    }
}

impl State {
    /// Checks the participant's rate limit on announcements.
    pub fn check_pace(&mut self, room: &str, id: &str, now: Instant) -> Result<(), Problem> {
        let who = (room.to_owned(), id.to_owned());
        let guest = self.guests.get_mut(&who);
        match guest.is_none_or(|guest| guest.told.admits(now, TOLD)) {
            true => Ok(()),
            false => Err(Problem::too_many("this participant", "changes")),
        }
    }

    /// Checks the rate limits on messages and reactions of the participant and
    /// of all in the room.
    pub fn check_talk(&mut self, room: &str, id: &str, now: Instant) -> Result<(), Problem> {
        self.talking.retain(|_, pace| !pace.is_over(now));
        let Some(guest) = self.guests.get_mut(&(room.to_owned(), id.to_owned())) else {
            return Ok(());
        };
        if let Some(wait) = guest.said.wait(now, SAID) {
            return Err(Problem::too_fast("You send", wait));
        }
        let together = self.talking.entry(room.to_owned()).or_default();
        if let Some(wait) = together.wait(now, SAID_IN_ROOM) {
            return Err(Problem::too_fast("The room sends", wait));
        }
        guest.said.count(now, SAID, 1);
        together.count(now, SAID_IN_ROOM, 1);
        Ok(())
    }

    /// Checks the rate limit on announcements of this resource's participant.
    pub fn check_pace_of(&mut self, id: &ResourceId, now: Instant) -> Result<(), Problem> {
        match self.resources.find(id).cloned() {
            Some(found) => self.check_pace(&found.room, &found.participant, now),
            None => Ok(()),
        }
    }

    /// Checks the rate limit on arrivals from this address.
    pub fn check_coming(&mut self, origin: &Origin, now: Instant) -> Result<(), Problem> {
        match self.coming.admit(origin, now, COMING) {
            true => Ok(()),
            false => Err(Problem::too_many("your address", "newcomers a second")),
        }
    }

    /// Checks the participant's rate limit on requests for media connections.
    pub fn check_opening(
        &mut self,
        (room, id): (&str, &str),
        origin: &Origin,
        now: Instant,
    ) -> Result<(), Problem> {
        const WHAT: &str = "new media connections a second";
        let guest = self.guests.get_mut(&(room.to_owned(), id.to_owned()));
        if guest.is_some_and(|guest| !guest.opened.admits(now, OPENED)) {
            return Err(Problem::too_many("this participant", WHAT));
        }
        match self.opening.admit(origin, now, OPENED_FROM) {
            true => Ok(()),
            false => Err(Problem::too_many("your address", WHAT)),
        }
    }

    /// Opens an event stream for a participant. At the limit the oldest one is
    /// closed: each may have an unread welcome.
    pub fn open_feed(&mut self, feed: Feed) {
        let of = |f: &Feed| f.room == feed.room && f.participant == feed.participant;
        if self.feeds.iter().filter(|f| of(f)).count() >= MOST_FEEDS
            && let Some(oldest) = self.feeds.iter().position(of)
        {
            self.feeds.remove(oldest);
        }
        self.feeds.push(feed);
    }

    pub fn check_home(&self, origin: &Origin, most: usize) -> Result<(), Problem> {
        let mut prefixes = origin.network.into_iter().flat_map(AddressPrefix::of);
        let homes = || self.guests.values().filter_map(|g| g.origin.network);
        let count = |prefix: &AddressPrefix| homes().filter(|ip| prefix.has(*ip)).count();
        match prefixes.any(|(prefix, times)| count(&prefix) >= times * most) {
            true => Err(Problem::too_many("your address", "participants")),
            false => Ok(()),
        }
    }

    /// Checks the limit on participants of this token. Its guests' tokens count
    /// towards it; otherwise invitations would circumvent the limit.
    pub fn check_token(&self, origin: &Origin, most: usize) -> Result<(), Problem> {
        let mut line = origin.grant.iter().flat_map(Grant::line);
        let grants = || self.guests.values().filter_map(|g| g.origin.grant.as_ref());
        let count = |id| grants().filter(|grant| grant.descends_from(id)).count();
        match line.any(|id| count(id) >= most) {
            true => Err(Problem::too_many("your token", "participants")),
            false => Ok(()),
        }
    }

    pub fn show_publishing_of(&mut self, id: &ResourceId) {
        let found = self.resources.find(id).filter(|r| r.is_publication());
        if let Some(Resource {
            room, participant, ..
        }) = found.cloned()
        {
            self.show_publishing(&room, &participant, Upload::None);
        }
    }

    /// Announces the tracks of the participant's connected publications to the
    /// room; `otherwise` is the state if none is connected.
    pub fn show_publishing(&mut self, room: &str, participant: &str, otherwise: Upload) {
        let mut shown = self.resources.shown(room, participant);
        shown.audio &= !self.registry.is_muted(room, participant);
        let upload = match self.resources.is_publishing(room, participant) {
            true => Upload::Connected,
            false => otherwise,
        };
        // A participant who has left publishes nothing; this is not an error.
        let _ = self.registry.set_upload(room, participant, shown, upload);
    }

    /// Sends the state of the room to the event stream of a participant.
    pub fn welcome(
        &mut self,
        now: Instant,
        (room, id, secret): (&str, &str, &str),
        read: Option<&str>,
        sender: &mpsc::Sender<Message>,
    ) {
        let welcome = json!({
            "id": id, "secret": secret, "room": room,
            "participants": self.registry.participants(room),
            "settings": self.registry.settings(room),
            "recordable": self.records,
        });
        let _ = sender.try_send(message("welcome", &welcome));
        if self.registry.is_moderator(room, id) && !self.registry.waiting(room).is_empty() {
            let _ = sender.try_send(queue_message(&self.registry, room));
        }
        for (resource, cameras) in self.resources.wanted_of(room, id) {
            let _ = sender.try_send(wanted_message(resource, cameras));
        }
        let chat = self.registry.chat(now, room, read);
        if let Some(history) = history_message(&chat) {
            let _ = sender.try_send(history);
        }
    }

    /// Welcomes a participant who has waited, on all event streams.
    pub fn welcome_admitted(&mut self, now: Instant, room: &str, id: &str) {
        let own = |feed: &&mut Feed| feed.room == room && feed.participant == id;
        let feeds = self.feeds.iter_mut().filter(own);
        let feeds = feeds.filter_map(|feed| Some((feed.secret.take()?, feed.sender.clone())));
        for (secret, sender) in feeds.collect::<Vec<_>>() {
            self.welcome(now, (room, id, &secret), None, &sender);
        }
    }

    /// Sends a message to the event streams of everybody inside a room.
    pub fn notify_room(&mut self, room: &str, message: &Message) {
        let registry = &self.registry;
        self.feeds.retain(|feed| {
            feed.room != room
                || registry.is_waiting(room, &feed.participant)
                || feed.sender.try_send(message.clone()).is_ok()
        });
    }

    /// Informs the moderators of a room who waits to be admitted.
    pub fn notify_moderators(&mut self, room: &str) {
        let message = queue_message(&self.registry, room);
        self.notify_moderators_of(room, &message);
    }

    /// Sends a message to the event streams of a room's moderators.
    pub fn notify_moderators_of(&mut self, room: &str, message: &Message) {
        let registry = &self.registry;
        self.feeds.retain(|feed| {
            feed.room != room
                || !registry.is_moderator(room, &feed.participant)
                || feed.sender.try_send(message.clone()).is_ok()
        });
    }

    /// Sends a message to the event streams of a connection's participant only.
    pub fn notify_owner(&mut self, id: &ResourceId, message: &Message) {
        let Some(Resource {
            room, participant, ..
        }) = self.resources.find(id)
        else {
            return;
        };
        let owns = |feed: &Feed| feed.room == *room && feed.participant == *participant;
        let mut feeds = std::mem::take(&mut self.feeds);
        feeds.retain(|feed| !owns(feed) || feed.sender.try_send(message.clone()).is_ok());
        self.feeds = feeds;
    }

    /// Releases the hold of a publication that another one of the participant
    /// replaces.
    pub fn release_publisher_of(&mut self, now: Instant, id: &ResourceId) {
        if let Some(found) = self.resources.find(id) {
            self.registry.release(now, &found.room, &found.participant);
        }
    }
}

/// Tells a publisher which encodings of each camera to send.
pub fn wanted_message(resource: &ResourceId, cameras: &[Vec<bool>]) -> Message {
    message(
        "wanted",
        &json!({"resource": resource.0, "cameras": cameras}),
    )
}

pub fn message(event: &'static str, data: &Value) -> Message {
    Message {
        id: None,
        event,
        data: data.to_string().into(),
    }
}

/// Event with messages of the chat; `None` without any.
pub fn history_message(chat: &[&ChatMessage]) -> Option<Message> {
    let last = chat.last()?;
    Some(Message {
        id: Some(last.id.as_str().into()),
        ..message("history", &json!({ "messages": chat }))
    })
}

/// Event with the participants who wait to be admitted.
pub fn queue_message(registry: &Registry, room: &str) -> Message {
    let waiting = registry.waiting(room).into_iter();
    let waiting = waiting.map(|who| json!({"id": who.id, "name": who.name}));
    message("queue", &json!({"waiting": waiting.collect::<Value>()}))
}

/// Message for the room; `None` for changes that it does not see.
pub fn change_message(change: &Change) -> Option<Message> {
    Some(match change {
        Change::Joined(participant) => message("joined", &json!(participant)),
        Change::Changed(participant) => message("changed", &json!(participant)),
        Change::Links { id, links } => message("links", &json!({"id": id, "links": links})),
        Change::Said(said) => Message {
            id: Some(said.id.as_str().into()),
            ..message("chat", &json!(said))
        },
        Change::Reacted { id, reaction } => {
            message("reaction", &json!({"id": id, "reaction": reaction}))
        }
        Change::Left { id } => message("left", &json!({"id": id})),
        Change::Settings(settings) => message("settings", &json!(settings)),
        Change::Withdrawn { .. } | Change::Waiting | Change::Admitted { .. } => return None,
    })
}

/// Describes lines in the form that the page reads.
pub(crate) fn described(lines: &[Line]) -> Value {
    let describe = |line: &Line| match line.content {
        LineContent::Camera(camera) => json!({
            "mid": line.mid, "participant": line.participant, "kind": "video", "camera": camera,
            "paused": line.paused
        }),
        LineContent::Sound => json!({
            "mid": line.mid, "participant": line.participant, "kind": "audio"
        }),
    };
    lines.iter().map(describe).collect()
}
