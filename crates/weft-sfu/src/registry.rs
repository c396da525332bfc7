use std::collections::{BTreeMap, VecDeque};

use weft_units::{Deadline, Duration, Instant};

mod presence;
#[cfg(test)]
mod tests;

pub use presence::{
    Camera, Change, HoldError, Join, JoinError, Joined, LinkReport, LinkState, MAX_CAMERAS,
    Participant, ParticipantKind, Proof, Publishing, RoomEvent, UnknownParticipant,
};

/// How long somebody whose connection broke stays in the room: a reload of
/// the page, a change of network. The HTTP interface promises it.
const GRACE: Duration = Duration::from_secs(10);
/// Longest name of a room or a participant, in characters. Chosen by us.
const MAX_NAME: usize = 64;
/// Most links that a participant can report, and has. Chosen by us.
pub const MAX_LINKS: usize = 16;

/// Bounds of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryLimits {
    /// Most rooms with somebody in them.
    pub rooms: usize,
    /// Most participants in one room.
    pub participants_per_room: usize,
}

impl Default for RegistryLimits {
    fn default() -> RegistryLimits {
        RegistryLimits {
            rooms: 1000,
            participants_per_room: 100,
        }
    }
}

/// Who is in which room.
///
/// A participant stays while something holds it: its event stream, its
/// publication. When the last hold is released, it stays for a grace time
/// and then leaves. A room exists while somebody is in it.
#[derive(Debug, Default)]
pub struct Registry {
    limits: RegistryLimits,
    rooms: BTreeMap<String, BTreeMap<String, Member>>,
    events: VecDeque<RoomEvent>,
    next_id: u64,
}

#[derive(Debug)]
struct Member {
    participant: Participant,
    proof: Proof,
    holds: u32,
    leaves_at: Option<Instant>,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new(limits: RegistryLimits) -> Registry {
        Registry {
            limits,
            ..Registry::default()
        }
    }

    /// Joins a room, or comes back to it, with one hold.
    ///
    /// Coming back needs the id and its proof, and may bring another name;
    /// without them, or after the grace time, one is somebody new with a new
    /// id: one that could be chosen could be another's name.
    ///
    /// # Errors
    /// See [`JoinError`].
    pub fn join(&mut self, join: Join<'_>) -> Result<Joined, JoinError> {
        if !is_room_name(join.room) {
            return Err(JoinError::BadRoomName);
        }
        let name = join.name.trim();
        if !is_name(name) {
            return Err(JoinError::BadName);
        }
        if let Some(id) = join.id
            && self.hold(join.room, id, join.proof).is_ok()
        {
            self.rename(join.room, id, name);
            return Ok(Joined::Back(id.to_owned()));
        }
        if !self.rooms.contains_key(join.room) && self.rooms.len() >= self.limits.rooms {
            return Err(JoinError::TooManyRooms);
        }
        let members = self.rooms.get(join.room).map_or(0, BTreeMap::len);
        if members >= self.limits.participants_per_room {
            return Err(JoinError::RoomFull);
        }
        let id = self.fresh_id(join.room);
        let participant = Participant {
            id: id.clone(),
            name: name.to_owned(),
            kind: join.kind,
            publishing: Publishing::default(),
            links: Vec::new(),
        };
        let member = Member {
            participant: participant.clone(),
            proof: join.fresh,
            holds: 1,
            leaves_at: None,
        };
        let room = self.rooms.entry(join.room.to_owned()).or_default();
        room.insert(id.clone(), member);
        self.tell(join.room, Change::Joined(participant));
        Ok(Joined::New(id))
    }

    /// One more thing holds the participant, for who proves to be it.
    ///
    /// # Errors
    /// See [`HoldError`].
    pub fn hold(&mut self, room: &str, id: &str, proof: Option<Proof>) -> Result<(), HoldError> {
        let member = self.known(room, id)?;
        if proof != Some(member.proof) {
            let (room, id) = (room.to_owned(), id.to_owned());
            return Err(HoldError::Stranger { room, id });
        }
        member.holds += 1;
        member.leaves_at = None;
        Ok(())
    }

    /// One thing less holds the participant; after the last one the grace
    /// time runs.
    pub fn release(&mut self, now: Instant, room: &str, id: &str) {
        if let Some(member) = self.member_mut(room, id) {
            member.holds = member.holds.saturating_sub(1);
            if member.holds == 0 {
                member.leaves_at = Some(now + GRACE);
            }
        }
    }

    /// One thing less holds the participant, on purpose: after the last one
    /// it leaves at once, unless it has a page that may be loading again.
    pub fn finish(&mut self, now: Instant, room: &str, id: &str) {
        self.release(now, room, id);
        let done = self.member_mut(room, id).is_some_and(|member| {
            member.holds == 0 && member.participant.kind != ParticipantKind::Browser
        });
        if done {
            self.leave(room, id);
        }
    }

    /// The participant leaves at once.
    pub fn leave(&mut self, room: &str, id: &str) {
        let Some(members) = self.rooms.get_mut(room) else {
            return;
        };
        if members.remove(id).is_none() {
            return;
        }
        if members.is_empty() {
            self.rooms.remove(room);
        }
        self.tell(room, Change::Left { id: id.to_owned() });
    }

    /// What the participant sends now.
    ///
    /// # Errors
    /// If there is no such participant.
    pub fn set_publishing(
        &mut self,
        room: &str,
        id: &str,
        publishing: Publishing,
    ) -> Result<(), UnknownParticipant> {
        let participant = &mut self.known(room, id)?.participant;
        if participant.publishing != publishing {
            participant.publishing = publishing;
            let changed = participant.clone();
            self.tell(room, Change::Changed(changed));
        }
        Ok(())
    }

    /// The participant's own figures of its links; only a weft endpoint has
    /// them.
    ///
    /// # Errors
    /// If there is no such participant.
    pub fn set_links(
        &mut self,
        room: &str,
        id: &str,
        mut links: Vec<LinkReport>,
    ) -> Result<(), UnknownParticipant> {
        links.truncate(MAX_LINKS);
        let participant = &mut self.known(room, id)?.participant;
        participant.links.clone_from(&links);
        if participant.kind == ParticipantKind::Whip {
            participant.kind = ParticipantKind::Native;
            let changed = participant.clone();
            self.tell(room, Change::Changed(changed));
        }
        let id = id.to_owned();
        self.tell(room, Change::Links { id, links });
        Ok(())
    }

    /// All in a room, none if there is no such room.
    pub fn participants(&self, room: &str) -> impl Iterator<Item = &Participant> {
        let members = self.rooms.get(room).into_iter();
        members.flat_map(|members| members.values().map(|m| &m.participant))
    }

    /// Finds by id, or by name where only one has it.
    ///
    /// # Errors
    /// If there is no such participant, or several of that name.
    pub fn find(&self, room: &str, wanted: &str) -> Result<&Participant, UnknownParticipant> {
        let by_id = self.rooms.get(room).and_then(|members| members.get(wanted));
        if let Some(member) = by_id {
            return Ok(&member.participant);
        }
        let mut named = self.participants(room).filter(|p| p.name == wanted);
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(unknown(room, wanted)),
        }
    }

    /// How many rooms and participants there are.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let participants = self.rooms.values().map(BTreeMap::len).sum();
        (self.rooms.len(), participants)
    }

    /// Lets those leave whose grace time is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        let mut gone = Vec::new();
        for (room, members) in &self.rooms {
            for (id, member) in members {
                if member.leaves_at.is_some_and(|at| at <= now) {
                    gone.push((room.clone(), id.clone()));
                }
            }
        }
        for (room, id) in gone {
            self.leave(&room, &id);
        }
    }

    /// When [`handle_timeout`](Registry::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let members = self.rooms.values().flat_map(BTreeMap::values);
        let at = members.filter_map(|m| m.leaves_at).min()?;
        Some(Deadline {
            at,
            reason: "presence grace",
        })
    }

    /// The next change to tell.
    pub fn poll_output(&mut self) -> Option<RoomEvent> {
        self.events.pop_front()
    }

    fn tell(&mut self, room: &str, change: Change) {
        let room = room.to_owned();
        self.events.push_back(RoomEvent { room, change });
    }

    fn rename(&mut self, room: &str, id: &str, name: &str) {
        let Some(member) = self.member_mut(room, id) else {
            return;
        };
        if member.participant.name != name {
            name.clone_into(&mut member.participant.name);
            let changed = member.participant.clone();
            self.tell(room, Change::Changed(changed));
        }
    }

    fn fresh_id(&mut self, room: &str) -> String {
        loop {
            self.next_id += 1;
            let id = format!("p{}", self.next_id);
            if self.member_mut(room, &id).is_none() {
                return id;
            }
        }
    }

    fn member_mut(&mut self, room: &str, id: &str) -> Option<&mut Member> {
        self.rooms.get_mut(room)?.get_mut(id)
    }

    fn known(&mut self, room: &str, id: &str) -> Result<&mut Member, UnknownParticipant> {
        self.member_mut(room, id).ok_or_else(|| unknown(room, id))
    }
}

fn unknown(room: &str, id: &str) -> UnknownParticipant {
    UnknownParticipant {
        room: room.to_owned(),
        id: id.to_owned(),
    }
}

/// Names that stand in an address as they are; dots alone would be taken for
/// folders.
fn is_room_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let length = name.chars().count();
    (1..=MAX_NAME).contains(&length) && name.chars().all(plain) && name.chars().any(|c| c != '.')
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}
