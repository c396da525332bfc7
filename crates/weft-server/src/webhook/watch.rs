use super::event::WebhookEvent;
use std::collections::BTreeMap;
use weft_rooms::{Change, Participant, Upload};

/// Rooms as their events have described them.
#[derive(Default)]
pub(super) struct RoomWatch(BTreeMap<String, BTreeMap<String, Known>>);

struct Known {
    name: String,
    is_publishing: bool,
}

impl RoomWatch {
    /// Events of a change in a room, in their order.
    pub(super) fn events(&mut self, room: &str, change: &Change) -> Vec<WebhookEvent> {
        match change {
            Change::Joined(who) => self.joined(room, who),
            Change::Changed(who) => self.changed(room, who),
            Change::Left { id } => self.left(room, id),
            _ => Vec::new(),
        }
    }

    fn joined(&mut self, room: &str, who: &Participant) -> Vec<WebhookEvent> {
        let mut events = Vec::new();
        let known = self.0.entry(room.to_owned()).or_default();
        if known.is_empty() {
            events.push(WebhookEvent::RoomOpened {
                room: room.to_owned(),
            });
        }
        let newcomer = Known {
            name: who.name.clone(),
            is_publishing: false,
        };
        known.insert(who.id.clone(), newcomer);
        events.push(WebhookEvent::Joined {
            room: room.to_owned(),
            id: who.id.clone(),
            name: who.name.clone(),
            kind: who.kind,
        });
        events.extend(self.changed(room, who));
        events
    }

    fn changed(&mut self, room: &str, who: &Participant) -> Vec<WebhookEvent> {
        let known = self.0.get_mut(room);
        let Some(known) = known.and_then(|known| known.get_mut(&who.id)) else {
            return Vec::new();
        };
        known.name.clone_from(&who.name);
        let before = known.is_publishing;
        known.is_publishing = who.upload == Upload::Connected;
        match (before, known.is_publishing) {
            (false, true) => vec![WebhookEvent::Published {
                room: room.to_owned(),
                id: who.id.clone(),
                name: who.name.clone(),
            }],
            (true, false) => vec![unpublished(room, &who.id, &who.name)],
            _ => Vec::new(),
        }
    }

    fn left(&mut self, room: &str, id: &str) -> Vec<WebhookEvent> {
        let Some(known) = self.0.get_mut(room) else {
            return Vec::new();
        };
        let Some(Known {
            name,
            is_publishing,
        }) = known.remove(id)
        else {
            return Vec::new();
        };
        let mut events = Vec::new();
        if is_publishing {
            events.push(unpublished(room, id, &name));
        }
        events.push(WebhookEvent::Left {
            room: room.to_owned(),
            id: id.to_owned(),
            name,
        });
        if known.is_empty() {
            self.0.remove(room);
            events.push(WebhookEvent::RoomClosed {
                room: room.to_owned(),
            });
        }
        events
    }
}

fn unpublished(room: &str, id: &str, name: &str) -> WebhookEvent {
    WebhookEvent::Unpublished {
        room: room.to_owned(),
        id: id.to_owned(),
        name: name.to_owned(),
    }
}
