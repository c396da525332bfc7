use super::pace::{PATCHED, Pace, VIEWED};
use crate::auth::{Grant, TokenId};
use crate::config::MediaLimits;
use crate::connection_limit::AddressPrefix;
use crate::media_plane::ResourceId;
use crate::origin::Origin;
use crate::problem::Problem;
use std::collections::BTreeMap;
use weft_rooms::{Enabled, Publishing, Standing};
use weft_units::Instant;

#[cfg(test)]
mod tests;

/// Media connections that HTTP has created.
#[derive(Default)]
pub(super) struct Resources {
    all: BTreeMap<ResourceId, Resource>,
    opened: u64,
}

/// Media connection.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) room: String,
    /// Participant who publishes or plays; the resource holds them in the room.
    pub(super) participant: String,
    pub(super) role: Role,
    /// Whether the connection is established.
    connected: bool,
    origin: Origin,
    /// Number of connections opened before it.
    number: u64,
    patched: Pace,
    viewed: Pace,
    /// Encodings of each camera that its publisher should send; empty for all.
    wanted: Vec<Vec<bool>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Publish {
        negotiated: Publishing,
        enabled: Enabled,
    },
    /// Plays this participant's publication.
    Play { publisher: String },
    /// Receives what all others in the room publish.
    Receive,
}

impl Role {
    /// Role of a publication before negotiation.
    pub(super) const PUBLISH: Role = Role::Publish {
        negotiated: Publishing {
            cameras: Vec::new(),
            audio: false,
        },
        enabled: Enabled::AT_FIRST,
    };
}

/// Whether a client that requests a media connection is already in the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Inside,
    Newcomer,
}

impl Resources {
    /// Checks the limits on another connection in this room from this origin. A
    /// tenth is reserved for participants in the room, who play new
    /// publications; two tenths are not available to guests, so that their host
    /// can enter. Chosen by us.
    pub(super) fn check(
        &self,
        limits: &MediaLimits,
        (room, claim): (&str, Claim),
        origin: &Origin,
    ) -> Result<(), Problem> {
        const WHAT: &str = "media connections";
        let tenths = match (claim, origin.standing == Standing::Guest) {
            (Claim::Inside, false) => 0,
            (Claim::Newcomer, false) => 1,
            (Claim::Inside, true) => 2,
            (Claim::Newcomer, true) => 3,
        };
        let open = |most: usize| most - most / 10 * tenths;
        let count = |which: &dyn Fn(&Resource) -> bool| {
            self.all.values().filter(|resource| which(resource)).count()
        };
        let there = count(&|r| r.room == room);
        if self.all.len() >= open(limits.all) || there >= open(limits.per_room) {
            return Err(Problem::overloaded("another media connection"));
        }
        for (prefix, times) in origin.network.into_iter().flat_map(AddressPrefix::of) {
            let same = |r: &Resource| r.origin.network.is_some_and(|ip| prefix.has(ip));
            if count(&same) >= times * limits.per_address
                || count(&|r| same(r) && !r.connected) >= times * limits.coming_per_address
            {
                return Err(Problem::too_many("your address", WHAT));
            }
        }
        for id in origin.grant.iter().flat_map(Grant::line) {
            let same = |r: &Resource| r.origin.grant.iter().any(|g| g.descends_from(id));
            if count(&same) >= limits.per_token {
                return Err(Problem::too_many("your token", WHAT));
            }
        }
        Ok(())
    }

    /// All connections.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ResourceId, &Resource)> {
        self.all.iter()
    }

    /// Whether a server with these limits has a connection for a newcomer.
    pub(super) fn has_place(&self, limits: &MediaLimits) -> bool {
        self.all.len() < limits.all - limits.all / 10
    }

    /// Checks the limit on another connection of a participant.
    pub(super) fn check_participant(
        &self,
        limits: &MediaLimits,
        room: &str,
        participant: &str,
    ) -> Result<(), Problem> {
        let own = |r: &&Resource| r.room == room && r.participant == participant;
        match self.all.values().filter(own).count() < limits.per_participant {
            true => Ok(()),
            false => Err(Problem::too_many("this participant", "media connections")),
        }
    }

    pub(super) fn open(
        &mut self,
        id: ResourceId,
        (room, participant): (&str, &str),
        role: Role,
        origin: Origin,
    ) {
        let resource = Resource {
            room: room.to_owned(),
            participant: participant.to_owned(),
            role,
            connected: false,
            origin,
            number: self.opened,
            patched: Pace::default(),
            viewed: Pace::default(),
            wanted: Vec::new(),
        };
        self.opened += 1;
        self.all.insert(id, resource);
    }

    pub(super) fn find(&self, id: &ResourceId) -> Option<&Resource> {
        self.all.get(id)
    }

    /// Records the encodings of each camera that a publisher should send.
    pub(super) fn set_wanted(&mut self, id: &ResourceId, cameras: Vec<Vec<bool>>) {
        if let Some(found) = self.all.get_mut(id) {
            found.wanted = cameras;
        }
    }

    /// Returns the publications of a participant that should not send all their
    /// encodings, and the encodings that they should send.
    pub(super) fn wanted_of(
        &self,
        room: &str,
        participant: &str,
    ) -> impl Iterator<Item = (&ResourceId, &Vec<Vec<bool>>)> {
        let own = self
            .all
            .iter()
            .filter(move |(_, r)| r.publishes_as(room, participant));
        let told = own.filter(|(_, resource)| !resource.wanted.is_empty());
        told.map(|(id, resource)| (id, &resource.wanted))
    }

    /// Whether another change of a connection is within its rate limit. Changes
    /// of unknown connections have none.
    pub(super) fn admits_patch(&mut self, id: &ResourceId, now: Instant) -> bool {
        let found = self.all.get_mut(id);
        found.is_none_or(|resource| resource.patched.admits(now, PATCHED))
    }

    /// Whether another view of a reception is within its rate limit.
    pub(super) fn admits_view(&mut self, id: &ResourceId, now: Instant) -> bool {
        let found = self.all.get_mut(id);
        found.is_none_or(|resource| resource.viewed.admits(now, VIEWED))
    }

    pub(super) fn take(&mut self, id: &ResourceId) -> Option<Resource> {
        self.all.remove(id)
    }

    /// Records the negotiated tracks of a publication.
    pub(super) fn set_negotiated(&mut self, id: &ResourceId, agreed: Publishing) {
        if let Some(Role::Publish { negotiated, .. }) = self.role_mut(id) {
            *negotiated = agreed;
        }
    }

    /// Records the enabled media; returns whether it is a publication.
    pub(super) fn set_enabled(&mut self, id: &ResourceId, wanted: Enabled) -> bool {
        let Some(Role::Publish { enabled, .. }) = self.role_mut(id) else {
            return false;
        };
        *enabled = wanted;
        true
    }

    /// Marks a publication as established: removes and returns the earlier ones
    /// of the same participant. A later one that is still connecting stays and
    /// replaces it in turn.
    pub(super) fn connect(&mut self, id: &ResourceId) -> Vec<ResourceId> {
        if let Some(resource) = self.all.get_mut(id) {
            resource.connected = true;
        }
        let Some(new) = self.all.get(id).filter(|r| r.is_publication()).cloned() else {
            return Vec::new();
        };
        let earlier = self.take_all(|old| {
            old.number < new.number && old.publishes_as(&new.room, &new.participant)
        });
        earlier.into_iter().map(|(id, _)| id).collect()
    }

    /// Tracks of all connected publications of the participant.
    pub(super) fn shown(&self, room: &str, participant: &str) -> Publishing {
        let mut shown = Publishing::default();
        for resource in self.all.values() {
            if let Role::Publish {
                negotiated,
                enabled,
            } = &resource.role
                && resource.connected
                && resource.publishes_as(room, participant)
            {
                let enabled = negotiated.enabled(*enabled);
                if !enabled.cameras.is_empty() {
                    shown.cameras = enabled.cameras;
                }
                shown.audio |= enabled.audio;
            }
        }
        shown
    }

    /// Whether a publication of the participant is connected, with or without
    /// tracks.
    pub(super) fn is_publishing(&self, room: &str, participant: &str) -> bool {
        let mut all = self.all.values();
        all.any(|r| r.connected && r.publishes_as(room, participant))
    }

    /// Rooms of connections that play, and the publisher that each plays; `None` for one
    /// that plays the whole room.
    pub(super) fn played(&self) -> impl Iterator<Item = (&str, Option<&String>)> {
        self.all
            .values()
            .filter_map(|resource| match &resource.role {
                Role::Play { publisher } => Some((&*resource.room, Some(publisher))),
                Role::Receive => Some((&*resource.room, None)),
                Role::Publish { .. } => None,
            })
    }

    /// Removes all publications and playbacks of the participant, and all
    /// playbacks of them.
    pub(super) fn take_all_of(
        &mut self,
        room: &str,
        participant: &str,
    ) -> Vec<(ResourceId, Resource)> {
        self.take_all(|r| r.room == room && (r.participant == participant || r.plays(participant)))
    }

    /// Removes all connections that a token or its descendants opened.
    pub(super) fn take_all_by(&mut self, token: &TokenId) -> Vec<(ResourceId, Resource)> {
        self.take_all(|r| r.origin.grant.iter().any(|g| g.descends_from(token)))
    }

    fn take_all(&mut self, which: impl Fn(&Resource) -> bool) -> Vec<(ResourceId, Resource)> {
        let all = std::mem::take(&mut self.all).into_iter();
        let (gone, kept): (Vec<_>, Vec<_>) = all.partition(|(_, r)| which(r));
        self.all = kept.into_iter().collect();
        gone
    }

    fn role_mut(&mut self, id: &ResourceId) -> Option<&mut Role> {
        self.all.get_mut(id).map(|r| &mut r.role)
    }
}

impl Resource {
    pub(super) fn is_publication(&self) -> bool {
        matches!(self.role, Role::Publish { .. })
    }

    fn plays(&self, who: &str) -> bool {
        matches!(&self.role, Role::Play { publisher } if publisher == who)
    }

    fn publishes_as(&self, room: &str, participant: &str) -> bool {
        self.is_publication() && self.room == room && self.participant == participant
    }
}
