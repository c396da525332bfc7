//! What the lock is around.

use super::bars::{Bar, Bars};
use super::pace::{Allowance, COMING, OPENED, OPENED_FROM, Pace, TOLD};
use super::resources::{Resource, Resources};
use crate::auth::Grant;
use crate::crowd::Holder;
use crate::media_plane::ResourceId;
use crate::origin::Origin;
use crate::problem::Problem;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use weft_rooms::{Change, Registry, Upload};
use weft_units::Instant;

/// Streams of events of one participant. Chosen by us: a page has one, and a
/// few more that have broken without a word.
const MOST_FEEDS: usize = 8;

/// What all requests share.
pub struct State {
    pub registry: Registry,
    pub resources: Resources,
    pub feeds: Vec<Feed>,
    /// The participants, by room and id.
    pub guests: BTreeMap<(String, String), Guest>,
    /// How many came lately, by whose their address may be.
    pub coming: Paces,
    /// Requests for media connections lately, by the same.
    pub opening: Paces,
    pub door: Door,
    pub bars: Bars,
}

/// What is known of a participant beside what the room is told.
pub struct Guest {
    /// Where they came from, and with which token.
    pub origin: Origin,
    /// Time of their arrival.
    pub since: Instant,
    /// How much they told the room lately.
    told: Pace,
    /// Requests for media connections lately.
    opened: Pace,
}

/// Recent use of an allowance by each address.
#[derive(Default)]
pub struct Paces(BTreeMap<Holder, Pace>);

impl Paces {
    /// Whether one more is allowed from there, which is then counted.
    fn admit(&mut self, origin: &Origin, now: Instant, allowed: Allowance) -> bool {
        self.0.retain(|_, pace| !pace.is_over(now));
        let holders = || origin.network.into_iter().flat_map(Holder::of);
        let fits = |(holder, times): (Holder, usize)| {
            let pace = self.0.get(&holder);
            pace.is_none_or(|pace| pace.fits(now, allowed, times as u64))
        };
        let fit = holders().all(fits);
        for (holder, times) in holders().filter(|_| fit) {
            let pace = self.0.entry(holder).or_default();
            pace.count(now, allowed, times as u64);
        }
        fit
    }
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
    pub participant: String,
    pub origin: Origin,
    pub sender: mpsc::Sender<Message>,
}

/// One event for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

impl Guest {
    pub fn from(origin: Origin, since: Instant) -> Guest {
        Guest {
            origin,
            since,
            told: Pace::default(),
            opened: Pace::default(),
        }
    }

    /// Returns the rule that keeps the same person out as a newcomer; none on this
    /// machine without a signed token.
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
    /// Whether the room may be told one more change of this participant.
    pub fn check_pace(&mut self, room: &str, id: &str, now: Instant) -> Result<(), Problem> {
        let who = (room.to_owned(), id.to_owned());
        let guest = self.guests.get_mut(&who);
        match guest.is_none_or(|guest| guest.told.admits(now, TOLD)) {
            true => Ok(()),
            false => Err(Problem::too_many("this participant", "changes")),
        }
    }

    /// Whether the room may be told one more change by this resource.
    pub fn check_pace_of(&mut self, id: &ResourceId, now: Instant) -> Result<(), Problem> {
        match self.resources.find(id).cloned() {
            Some(found) => self.check_pace(&found.room, &found.participant, now),
            None => Ok(()),
        }
    }

    /// Whether one more may come of this address now.
    pub fn check_coming(&mut self, origin: &Origin, now: Instant) -> Result<(), Problem> {
        match self.coming.admit(origin, now, COMING) {
            true => Ok(()),
            false => Err(Problem::too_many("your address", "newcomers a second")),
        }
    }

    /// Whether this participant may ask for one more media connection now.
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

    /// A stream of events for a participant. Of so many the oldest ends: each
    /// may have a welcome that nobody reads.
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
        let mut holders = origin.network.into_iter().flat_map(Holder::of);
        let homes = || self.guests.values().filter_map(|g| g.origin.network);
        let count = |holder: &Holder| homes().filter(|ip| holder.has(*ip)).count();
        match holders.any(|(holder, times)| count(&holder) >= times * most) {
            true => Err(Problem::too_many("your address", "participants")),
            false => Ok(()),
        }
    }

    /// Whether one more may come with this token. Its guests' tokens count as
    /// it does: else an invitation would be a way round.
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

    /// Tells the room what the participant's connected publications show together;
    /// `otherwise` is the state where none is connected.
    pub fn show_publishing(&mut self, room: &str, participant: &str, otherwise: Upload) {
        let shown = self.resources.shown(room, participant);
        let upload = match self.resources.is_publishing(room, participant) {
            true => Upload::Connected,
            false => otherwise,
        };
        // Somebody who is gone publishes nothing: no error.
        let _ = self.registry.set_upload(room, participant, shown, upload);
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

/// `None` for what nobody in the room hears of.
pub fn change_message(change: &Change) -> Option<Message> {
    Some(match change {
        Change::Joined(participant) => message("joined", &json!(participant)),
        Change::Changed(participant) => message("changed", &json!(participant)),
        Change::Links { id, links } => message("links", &json!({"id": id, "links": links})),
        Change::Left { id } => message("left", &json!({"id": id})),
        Change::Withdrawn { .. } => return None,
    })
}
