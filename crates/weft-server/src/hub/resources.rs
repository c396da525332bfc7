use crate::media_plane::ResourceId;
use serde::Deserialize;
use std::collections::BTreeMap;
use weft_sfu::Publishing;

#[cfg(test)]
mod tests;

/// The media connections, as HTTP knows them.
#[derive(Default)]
pub(super) struct Resources {
    all: BTreeMap<ResourceId, Resource>,
    opened: u64,
}

/// One media connection.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) room: String,
    /// Who publishes: also for one that plays.
    pub(super) participant: String,
    pub(super) role: Role,
    /// How many were opened before it.
    number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Publish {
        negotiated: Publishing,
        enabled: Enabled,
        connected: bool,
    },
    Play,
}

/// What a publisher has not switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Enabled {
    /// All cameras.
    pub(crate) video: bool,
    pub(crate) audio: bool,
}

impl Role {
    /// To publish, before anything is agreed on.
    pub(super) const PUBLISH: Role = Role::Publish {
        negotiated: Publishing {
            cameras: Vec::new(),
            audio: false,
        },
        enabled: Enabled {
            video: true,
            audio: true,
        },
        connected: false,
    };
}

impl Resources {
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn open(&mut self, id: ResourceId, room: &str, participant: &str, role: Role) {
        let resource = Resource {
            room: room.to_owned(),
            participant: participant.to_owned(),
            role,
            number: self.opened,
        };
        self.opened += 1;
        self.all.insert(id, resource);
    }

    pub(super) fn find(&self, id: &ResourceId) -> Option<&Resource> {
        self.all.get(id)
    }

    pub(super) fn take(&mut self, id: &ResourceId) -> Option<Resource> {
        self.all.remove(id)
    }

    /// What was agreed on for a publication.
    pub(super) fn set_negotiated(&mut self, id: &ResourceId, agreed: Publishing) {
        if let Some(Role::Publish { negotiated, .. }) = self.role_mut(id) {
            *negotiated = agreed;
        }
    }

    /// What the publisher sends of it. Whether it is a publication.
    pub(super) fn set_enabled(&mut self, id: &ResourceId, wanted: Enabled) -> bool {
        let Some(Role::Publish { enabled, .. }) = self.role_mut(id) else {
            return false;
        };
        *enabled = wanted;
        true
    }

    /// A publication is up: it takes over from the same participant's earlier
    /// ones, which are taken away and returned. A later one that is on its
    /// way stays, and takes over in its turn.
    pub(super) fn connect(&mut self, id: &ResourceId) -> Vec<ResourceId> {
        if let Some(Role::Publish { connected, .. }) = self.role_mut(id) {
            *connected = true;
        }
        let Some(new) = self.all.get(id).filter(|r| r.role != Role::Play).cloned() else {
            return Vec::new();
        };
        self.take_all(|old| {
            old.number < new.number && old.publishes_as(&new.room, &new.participant)
        })
    }

    /// What the participant's connected publications show together.
    pub(super) fn shown(&self, room: &str, participant: &str) -> Publishing {
        let mut shown = Publishing::default();
        for resource in self.all.values() {
            if let Role::Publish {
                negotiated,
                enabled,
                connected: true,
            } = &resource.role
                && resource.publishes_as(room, participant)
            {
                if enabled.video && !negotiated.cameras.is_empty() {
                    shown.cameras.clone_from(&negotiated.cameras);
                }
                shown.audio |= negotiated.audio && enabled.audio;
            }
        }
        shown
    }

    /// Takes away what the participant publishes and what others play of it.
    pub(super) fn take_all_of(&mut self, room: &str, participant: &str) -> Vec<ResourceId> {
        self.take_all(|r| r.room == room && r.participant == participant)
    }

    fn take_all(&mut self, which: impl Fn(&Resource) -> bool) -> Vec<ResourceId> {
        let gone = self.all.iter().filter(|(_, r)| which(r));
        let gone: Vec<ResourceId> = gone.map(|(id, _)| id.clone()).collect();
        self.all.retain(|_, r| !which(r));
        gone
    }

    fn role_mut(&mut self, id: &ResourceId) -> Option<&mut Role> {
        self.all.get_mut(id).map(|r| &mut r.role)
    }
}

impl Resource {
    fn publishes_as(&self, room: &str, participant: &str) -> bool {
        self.role != Role::Play && self.room == room && self.participant == participant
    }
}
