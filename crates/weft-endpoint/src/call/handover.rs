//! Move to another server of the cluster. The call publishes and receives there before it
//! leaves the present server, so that nobody sees a gap.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::inbox::Ticket;
use super::publication::Publication;
use super::reception::{ReceivedLine, Reception};
use crate::caller::Track;
use crate::connect::Connection;
use crate::signalling::{Identity, Participant, Room, RoomEvent, Wanted};

/// Time for which we keep publishing at the former server after everything works at the new
/// one; meanwhile the others' servers fetch the new publication. Chosen by us: twice several
/// round trips between servers.
const OVERLAP: Duration = Duration::from_secs(2);
/// Time limit for the others' first pictures from the new server, since some participants
/// may send none. Chosen by us: enough for a keyframe that must be requested twice.
const PICTURES: Duration = Duration::from_secs(3);

/// Progress of a move.
#[derive(Default)]
pub(super) enum Handover {
    #[default]
    None,
    /// The other server was asked over the present event stream; `stream` is the number of
    /// the former server's stream.
    Asked { to: Room, stream: u32 },
    /// We are at the new server, and still connected to the former one.
    Leaving(Box<Former>),
}

/// Former server, and our connections to it.
pub(super) struct Former {
    pub room: Room,
    pub own: Identity,
    /// Number of its event stream.
    stream: u32,
    publication: Publication,
    reception: Reception,
    /// Participants whose pictures now come from the new server.
    switched: BTreeSet<String>,
    /// Viewers of our publication at the new server, kept while the former one has
    /// viewers.
    pub wanted: Option<Wanted>,
    is_published: bool,
    /// Time at which the reception from the new server was connected.
    receives: Option<Instant>,
    /// Time after which the former server is not needed.
    complete: Option<Instant>,
}

/// Source of a frame during a move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Present,
    Former,
}

/// Kinds of connections that a call needs.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub publishes: bool,
    pub receives: bool,
}

impl Former {
    /// Returns the connections to the former server.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        let reception = self.reception.made().map(|made| &made.connection);
        self.publication.connection().into_iter().chain(reception)
    }
}

impl Handover {
    fn former(&self) -> Option<&Former> {
        match self {
            Handover::Leaving(former) => Some(former),
            Handover::None | Handover::Asked { .. } => None,
        }
    }

    fn former_mut(&mut self) -> Option<&mut Former> {
        match self {
            Handover::Leaving(former) => Some(former),
            Handover::None | Handover::Asked { .. } => None,
        }
    }

    /// Whether this id is our own participant on the former server.
    pub fn is_ours(&self, id: &str) -> bool {
        self.former().is_some_and(|former| former.own.id == id)
    }

    pub fn forget_ourselves(&self, all: &mut BTreeMap<String, Participant>) {
        all.retain(|id, _| !self.is_ours(id));
    }

    /// Keeps the wishes of the new server's viewers until the former server has none;
    /// returns whether it still has some.
    pub fn defers(&mut self, wanted: &Wanted) -> bool {
        let former = self.former_mut();
        former.is_some_and(|former| {
            former.wanted = Some(wanted.clone());
            true
        })
    }

    pub fn on_published(&mut self) {
        if let Some(former) = self.former_mut() {
            former.is_published = true;
        }
    }

    pub fn reception_mut(&mut self) -> Option<&mut Reception> {
        Some(&mut self.former_mut()?.reception)
    }

    /// Returns the lines of the former server.
    pub fn lines(&self) -> impl Iterator<Item = &ReceivedLine> {
        let made = self.former().and_then(|former| former.reception.made());
        made.into_iter().flat_map(|made| made.lines.values())
    }

    /// Whether to play a frame that both servers may send. A participant's frames are
    /// taken from the new server starting with the first picture there.
    pub fn plays(&mut self, side: Side, from: &str, track: Track) -> bool {
        let films = self
            .lines()
            .any(|line| line.participant == from && line.track != Track::Sound);
        let Some(former) = self.former_mut() else {
            return true;
        };
        match side {
            Side::Former => !former.switched.contains(from),
            Side::Present => {
                if track != Track::Sound || !films {
                    former.switched.insert(from.to_owned());
                }
                former.switched.contains(from)
            }
        }
    }

    /// Cancels a move that the other server has not answered; returns whether there was
    /// one.
    pub fn cancel(&mut self) -> bool {
        let was_asked = matches!(self, Handover::Asked { .. });
        if was_asked {
            *self = Handover::None;
        }
        was_asked
    }

    /// Keeps our connections to the former server, which knows us as `own`, under this
    /// number of its event stream.
    pub fn leave(
        &mut self,
        own: Identity,
        (room, stream): (Room, u32),
        (publication, reception): (Publication, Reception),
    ) {
        *self = Handover::Leaving(Box::new(Former {
            room,
            own,
            stream,
            publication,
            reception,
            switched: BTreeSet::new(),
            wanted: None,
            is_published: false,
            receives: None,
            complete: None,
        }));
    }

    /// Handles an event of the former server's stream; returns whether it continues.
    pub fn on_event(&mut self, stream: u32, event: RoomEvent) -> bool {
        let former = match self {
            Handover::Leaving(former) if former.stream == stream => former,
            Handover::Asked { stream: own, .. } => return *own == stream,
            Handover::None | Handover::Leaving(_) => return false,
        };
        if let (RoomEvent::Reception(resource, viewing), Some(made)) =
            (event, former.reception.made_mut())
            && made.connection.is_resource(&resource)
            && let Some(lines) = viewing.lines
        {
            made.set_lines(lines);
        }
        true
    }

    /// Whether the ticket belongs to the reception from the former server.
    pub fn receives(&self, ticket: Ticket) -> bool {
        self.former()
            .is_some_and(|former| former.reception.has(ticket))
    }

    /// Whether the former server is no longer needed. `is_connected` says whether the
    /// reception from the new server is connected; `own` is our id there.
    pub fn is_over(
        &mut self,
        now: Instant,
        needs: Needs,
        (is_connected, own): (bool, Option<&str>),
    ) -> bool {
        let Some(former) = self.former_mut() else {
            return false;
        };
        if is_connected {
            former.receives.get_or_insert(now);
        }
        let made = former.reception.made();
        let lines = made.into_iter().flat_map(|made| made.lines.values());
        // The former server lists ourselves, because we publish at the new one.
        let mut expected = lines.filter(|line| own != Some(&line.participant));
        let all_seen = expected.all(|line| former.switched.contains(&line.participant));
        let in_time = |at: Instant| now.saturating_duration_since(at) < PICTURES;
        let is_received = former.receives.is_some_and(|at| all_seen || !in_time(at));
        let is_complete =
            (former.is_published || !needs.publishes) && (is_received || !needs.receives);
        if is_complete {
            former.complete.get_or_insert(now);
        }
        let complete = former.complete.filter(|_| is_complete);
        complete.is_some_and(|at| now.saturating_duration_since(at) >= OVERLAP)
    }

    /// Returns the former server, which we are leaving now.
    pub fn take(&mut self) -> Option<Box<Former>> {
        match std::mem::take(self) {
            Handover::Leaving(former) => Some(former),
            Handover::None | Handover::Asked { .. } => None,
        }
    }
}
