//! What the lock is around.

use super::resources::{Resource, Resources};
use crate::media_plane::ResourceId;
use crate::origin::Origin;
use crate::problem::Problem;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::mpsc;
use weft_rooms::{Change, Registry};
use weft_units::Instant;

/// What all requests share.
pub struct State {
    pub registry: Registry,
    pub resources: Resources,
    pub feeds: Vec<Feed>,
    /// Where participants came from, by room and id.
    pub homes: BTreeMap<(String, String), IpAddr>,
    pub door: Door,
}

/// Who may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Everybody.
    Open,
    /// Those who are in a room already: the server is about to stop.
    Draining,
    /// Nobody.
    Shut,
}

pub struct Feed {
    pub room: String,
    pub sender: mpsc::Sender<Message>,
}

/// One event for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

impl State {
    /// Whether the room may be told one more change of this resource.
    pub fn check_pace(&mut self, id: &ResourceId, now: Instant) -> Result<(), Problem> {
        match self
            .resources
            .find_mut(id)
            .is_none_or(|r| r.told.admits(now))
        {
            true => Ok(()),
            false => Err(Problem::too_many("this connection", "changes")),
        }
    }

    pub fn check_home(&self, origin: &Origin, most: usize) -> Result<(), Problem> {
        let Some(home) = origin.network else {
            return Ok(());
        };
        match self.homes.values().filter(|from| **from == home).count() < most {
            true => Ok(()),
            false => Err(Problem::too_many("your address", "participants")),
        }
    }

    pub fn show_publishing_of(&mut self, id: &ResourceId) {
        let found = self.resources.find(id).filter(|r| r.is_publication());
        if let Some(Resource {
            room, participant, ..
        }) = found.cloned()
        {
            self.show_publishing(&room, &participant);
        }
    }

    /// What the participant's connected publications show together.
    pub fn show_publishing(&mut self, room: &str, participant: &str) {
        let shown = self.resources.shown(room, participant);
        // Somebody who is gone publishes nothing: no error.
        let _ = self.registry.set_publishing(room, participant, shown);
    }

    /// The hold of a publication that another one of theirs replaces.
    pub fn release_publisher_of(&mut self, now: Instant, id: &ResourceId) {
        if let Some(found) = self.resources.find(id) {
            self.registry.release(now, &found.room, &found.participant);
        }
    }
}

pub fn message(event: &'static str, data: &Value) -> Message {
    Message {
        event,
        data: data.to_string().into(),
    }
}

pub fn change_message(change: &Change) -> Message {
    match change {
        Change::Joined(participant) => message("joined", &json!(participant)),
        Change::Changed(participant) => message("changed", &json!(participant)),
        Change::Links { id, links } => message("links", &json!({"id": id, "links": links})),
        Change::Left { id } => message("left", &json!({"id": id})),
    }
}
