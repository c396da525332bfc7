use std::collections::{BTreeMap, VecDeque};

use weft_units::{Deadline, Duration, Instant};

use crate::figures::Figures;
use crate::join::unknown;
use crate::limits::RegistryLimits;
use crate::name::{self, is_room_name, participant_name};
use crate::room::{Member, Room};
use crate::{
    Change, HoldError, Join, JoinError, Joined, LinkReport, MAX_LINKS, Participant,
    ParticipantKind, Proof, Publishing, RoomEvent, Standing, UnknownParticipant, Upload,
};

#[cfg(test)]
mod tests;

/// Grace period of a participant whose connection broke, for a change of
/// network. The HTTP interface promises it.
const GRACE: Duration = Duration::from_secs(10);
/// Grace period of a participant whose page was left: it may be reloading. The
/// HTTP interface promises it; chosen by us, so that the room sees a departure
/// within two seconds.
const RELOAD: Duration = Duration::from_millis(1500);

/// Participants of all rooms.
///
/// A participant stays while an event stream or a publication holds it. After
/// the last hold is released, it stays for a grace period and then leaves. A
/// room exists while it has participants.
#[derive(Debug, Default)]
pub struct Registry {
    limits: RegistryLimits,
    pub(crate) rooms: BTreeMap<String, Room>,
    events: VecDeque<RoomEvent>,
    /// Link statistics that are waiting to be announced.
    figures: Figures,
    arrivals: u64,
}

impl Registry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new(limits: RegistryLimits) -> Registry {
        Registry {
            limits,
            ..Registry::default()
        }
    }

    /// Replaces the limits for newcomers. Present participants stay.
    pub fn set_limits(&mut self, limits: RegistryLimits) {
        self.limits = limits;
    }

    /// Joins a room, or returns to it, with one hold.
    ///
    /// Returning requires the id and its proof, and may change the name.
    /// Without them, or after the grace period, the participant is new and gets
    /// a new id: a freely chosen id could be another participant's.
    ///
    /// # Errors
    /// See [`JoinError`].
    pub fn join(&mut self, join: Join<'_>) -> Result<Joined, JoinError> {
        let room = join.room;
        let joined = self.reserve(join)?;
        if let Joined::New(id) = &joined {
            self.show(room, id);
        }
        Ok(joined)
    }

    /// Reserves a place like [`Registry::join`], but the room sees a newcomer only after
    /// [`Registry::show`]. A newcomer who leaves before that was never visible.
    ///
    /// # Errors
    /// See [`JoinError`].
    pub fn reserve(&mut self, join: Join<'_>) -> Result<Joined, JoinError> {
        if !is_room_name(join.room) {
            return Err(JoinError::BadRoomName);
        }
        let name = participant_name(join.name)?;
        if let Some(id) = join.id
            && self.hold(join.room, id, join.proof).is_ok()
        {
            self.rename(join.room, id, &name);
            return Ok(Joined::Back(id.to_owned()));
        }
        let settings = self.settings(join.room);
        let room = self.rooms.get(join.room);
        let earlier = room.and_then(|room| room.predecessor(join.id, join.proof));
        let earlier = earlier.map(|m| (m.participant.clone(), m.waits));
        let is_host = join.standing == Standing::Host;
        if settings.locked && !is_host && earlier.is_none() {
            return Err(JoinError::Locked);
        }
        let is_open = self.rooms.get(join.room).is_some_and(Room::is_here);
        if !is_open && self.count().0 >= self.limits.rooms {
            return Err(JoinError::TooManyRooms);
        }
        let members = self.rooms.get(join.room);
        let members = members.map_or(0, |room| room.members.len());
        // A participant who moves here frees their place on the other server.
        let members = members - usize::from(earlier.is_some());
        let kept = match join.standing {
            Standing::Host | Standing::Equal => 0,
            Standing::Guest => self.limits.kept_for_hosts,
        };
        if members + kept >= self.limits.participants_per_room {
            return Err(JoinError::RoomFull);
        }
        let id = self.free_id(join.room, join.fresh_id);
        let before = earlier.as_ref().map(|(before, _)| before);
        let participant = Participant {
            id: id.clone(),
            name: name::unique(&name, &self.names(join.room, before.map(|p| &*p.id))),
            kind: join.kind,
            publishing: Publishing::default(),
            upload: Upload::None,
            links: Vec::new(),
            muted: before.is_some_and(|before| before.muted),
            moderator: join.standing != Standing::Guest,
            hand: before.and_then(|before| before.hand),
            succeeds: before.map(|before| before.id.clone()),
        };
        let was_inside = earlier.as_ref().is_some_and(|(_, waits)| !waits);
        let member = Member {
            participant,
            is_shown: false,
            waits: settings.waiting_room && !is_host && !was_inside,
            asked: name,
            arrival: self.next_arrival(),
            proof: Some(join.fresh),
            server: None,
            holds: 1,
            has_page: false,
            parts: false,
            leaves_at: None,
        };
        let room = self.rooms.entry(join.room.to_owned());
        let room = room.or_insert_with(|| Room::new(join.fresh_id));
        let waits = member.waits;
        room.members.insert(id.clone(), member);
        if waits {
            self.tell(join.room, Change::Waiting);
        }
        Ok(Joined::New(id))
    }

    /// Announces a participant with a reserved place to the room. Later calls
    /// do nothing.
    pub fn show(&mut self, room: &str, id: &str) {
        if let Some(member) = self.member_mut(room, id)
            && !member.waits
            && !std::mem::replace(&mut member.is_shown, true)
        {
            let participant = member.participant.clone();
            self.tell(room, Change::Joined(participant));
        }
    }

    /// Adds a hold to the participant, if the proof matches.
    ///
    /// # Errors
    /// See [`HoldError`].
    pub fn hold(&mut self, room: &str, id: &str, proof: Option<Proof>) -> Result<(), HoldError> {
        self.proven(room, id, proof)?;
        let member = self.known(room, id)?;
        member.holds += 1;
        member.parts = false;
        member.leaves_at = None;
        Ok(())
    }

    /// Records that the participant has a page with an event stream.
    pub fn open_page(&mut self, room: &str, id: &str) {
        if let Some(member) = self.member_mut(room, id) {
            member.has_page = true;
        }
    }

    /// Records that the participant's page was left: after the last hold is
    /// released, the participant stays for the time that a page takes to
    /// reload. A participant who has moved to another server leaves at once.
    ///
    /// # Errors
    /// See [`HoldError`].
    pub fn part(
        &mut self,
        now: Instant,
        room: &str,
        id: &str,
        proof: Option<Proof>,
    ) -> Result<(), HoldError> {
        self.proven(room, id, proof)?;
        if self.has_moved(room, id) {
            self.leave(room, id);
            return Ok(());
        }
        let member = self.known(room, id)?;
        member.parts = true;
        let soon = now + RELOAD;
        member.leaves_at = member.leaves_at.map(|at| at.min(soon));
        Ok(())
    }

    /// Removes a hold; after the last one, the grace period starts. A participant who has
    /// moved to another server has no grace period.
    pub fn release(&mut self, now: Instant, room: &str, id: &str) {
        let has_moved = self.has_moved(room, id);
        if let Some(member) = self.member_mut(room, id) {
            member.holds = member.holds.saturating_sub(1);
            if member.holds == 0 {
                let grace = if member.parts { RELOAD } else { GRACE };
                let grace = if has_moved { Duration::ZERO } else { grace };
                member.leaves_at = Some(now + grace);
            }
        }
    }

    /// Removes a hold intentionally: after the last one, the participant leaves at once,
    /// unless it has a page that may be reloading.
    pub fn finish(&mut self, now: Instant, room: &str, id: &str) {
        self.release(now, room, id);
        let has_moved = self.has_moved(room, id);
        let done = self.member_mut(room, id).is_some_and(|member| {
            let may_load_again =
                member.has_page && member.participant.kind == ParticipantKind::Browser;
            member.holds == 0 && (has_moved || !may_load_again)
        });
        if done {
            self.leave(room, id);
        }
    }

    /// Removes the participant at once.
    pub fn leave(&mut self, room: &str, id: &str) {
        let Some(Room { members, .. }) = self.rooms.get_mut(room) else {
            return;
        };
        let Some(member) = members.remove(id) else {
            return;
        };
        if members.is_empty() {
            self.rooms.remove(room);
        }
        if member.waits {
            self.tell(room, Change::Waiting);
        }
        let id = id.to_owned();
        self.tell(
            room,
            match member.is_shown {
                true => Change::Left { id },
                false => Change::Withdrawn { id },
            },
        );
    }

    /// Sets the published tracks; the connection counts as established unless
    /// there are no tracks.
    ///
    /// # Errors
    /// If the participant does not exist.
    pub fn set_publishing(
        &mut self,
        room: &str,
        id: &str,
        publishing: Publishing,
    ) -> Result<(), UnknownParticipant> {
        let upload = match publishing.is_nothing() {
            true => Upload::None,
            false => Upload::Connected,
        };
        self.set_upload(room, id, publishing, upload)
    }

    /// Sets the published tracks, and the state of the connection.
    ///
    /// # Errors
    /// If the participant does not exist.
    pub fn set_upload(
        &mut self,
        room: &str,
        id: &str,
        publishing: Publishing,
        upload: Upload,
    ) -> Result<(), UnknownParticipant> {
        let participant = &mut self.known(room, id)?.participant;
        if participant.publishing != publishing || participant.upload != upload {
            participant.publishing = publishing;
            participant.upload = upload;
            let changed = participant.clone();
            self.tell(room, Change::Changed(changed));
        }
        Ok(())
    }

    /// Sets the participant's own link statistics; only native endpoints have
    /// them. The room gets the latest ones of each participant, at a rate that
    /// all its participants share.
    ///
    /// # Errors
    /// If the participant does not exist.
    pub fn set_links(
        &mut self,
        now: Instant,
        room: &str,
        id: &str,
        mut links: Vec<LinkReport>,
    ) -> Result<(), UnknownParticipant> {
        links.truncate(MAX_LINKS);
        links.iter_mut().for_each(LinkReport::shorten);
        let participant = &mut self.known(room, id)?.participant;
        participant.links = links;
        if participant.kind == ParticipantKind::Whip {
            participant.kind = ParticipantKind::Native;
            let changed = participant.clone();
            self.tell(room, Change::Changed(changed));
        }
        self.figures.add(room, id);
        self.tell_figures(now);
        Ok(())
    }

    /// Announces the statistics that the rate of each room allows.
    fn tell_figures(&mut self, now: Instant) {
        while let Some((room, id)) = self.figures.poll(now) {
            // A participant who has left has no statistics.
            if let Some(member) = self.member_mut(&room, &id) {
                let links = member.participant.links.clone();
                self.figures.spend(now, &room, &links);
                self.tell(&room, Change::Links { id, links });
            }
        }
    }

    /// Removes participants whose grace period has ended, and announces delayed
    /// statistics.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.tell_figures(now);
        let mut gone = Vec::new();
        for (room, Room { members, .. }) in &self.rooms {
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

    /// Time at which [`handle_timeout`](Registry::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let members = self.rooms.values().flat_map(|room| room.members.values());
        let grace = members.filter_map(|m| m.leaves_at).min();
        let grace = grace.map(|at| Deadline {
            at,
            reason: "presence grace",
        });
        Deadline::earlier(grace, self.figures.poll_timeout())
    }

    /// Returns the next change to announce.
    pub fn poll_output(&mut self) -> Option<RoomEvent> {
        self.events.pop_front()
    }

    pub(crate) fn tell(&mut self, room: &str, change: Change) {
        let room = room.to_owned();
        self.events.push_back(RoomEvent { room, change });
    }

    pub(crate) fn rename(&mut self, room: &str, id: &str, name: &str) {
        if let Some(member) = self.member_mut(room, id)
            && member.asked != name
        {
            name.clone_into(&mut member.asked);
            self.renumber(room, id);
        }
    }

    /// Shows the requested name of a participant, with a number if another one has it.
    pub(crate) fn renumber(&mut self, room: &str, id: &str) {
        let others = self.names(room, Some(id));
        let Some(member) = self.member_mut(room, id) else {
            return;
        };
        member.participant.name = name::unique(&member.asked, &others);
        let changed = member.participant.clone();
        self.tell(room, Change::Changed(changed));
    }

    pub(crate) fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Returns the wanted id, extended until it is free.
    fn free_id(&mut self, room: &str, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        while self.member_mut(room, &id).is_some() {
            id.push('x');
        }
        id
    }

    fn member_mut(&mut self, room: &str, id: &str) -> Option<&mut Member> {
        self.rooms.get_mut(room)?.members.get_mut(id)
    }

    fn known(&mut self, room: &str, id: &str) -> Result<&mut Member, UnknownParticipant> {
        self.member_mut(room, id).ok_or_else(|| unknown(room, id))
    }
}
