//! State of the connection that receives the other participants.

use std::collections::BTreeMap;
use std::time::Instant;

use weft_session::ReceivedFrame;
use weft_units::{Duration, PathId};
use weft_wire::rtp::Mid;

use super::fault::OngoingFault;
use super::inbox::Ticket;
use crate::caller::Track;
use crate::connect::Connection;
use crate::links::PathLinks;
use crate::signalling::{Line, ViewedCamera};

/// Pause between two requests for the keyframe that a line needs at its start. Chosen by
/// us: several round trips of the slowest networks.
const KEYFRAME_AGAIN: Duration = Duration::from_secs(1);

/// Connection that receives the room, or an attempt at one.
#[derive(Default)]
pub(super) struct Reception {
    pub state: ReceptionState,
    /// Earliest time of the next attempt, as for a publication.
    pub again: Option<Instant>,
    pub fault: OngoingFault,
    /// Whether media can flow.
    pub connected: bool,
    links: PathLinks,
}

/// Progress of the connection.
#[derive(Default)]
pub(super) enum ReceptionState {
    #[default]
    Missing,
    Asked(Ticket),
    Made(Box<Receiving>),
}

/// Connection whose first offer has been answered.
pub(super) struct Receiving {
    pub ticket: Ticket,
    pub connection: Connection,
    pub lines: BTreeMap<Mid, ReceivedLine>,
    pub view: View,
    pub offers: Offers,
}

/// Cameras that we requested from the server.
#[derive(Default)]
pub(super) struct View {
    /// View that the server has; `None` if it must be sent again in any case.
    pub told: Option<Vec<ViewedCamera>>,
    /// Whether a request is in progress.
    pub sending: bool,
    /// Whether an event changed the lines during the request.
    pub overtaken: bool,
    /// Earliest time of the next request.
    pub again: Option<Instant>,
}

/// Offers of the server after the first one.
#[derive(Default)]
pub(super) struct Offers {
    /// Latest offer, unless its answer failed.
    pub latest: Option<String>,
    /// Offer to answer next.
    pub waiting: Option<String>,
    /// Whether an answer is in progress.
    pub answering: bool,
}

/// Track carried by a line.
#[derive(Debug)]
pub(super) struct ReceivedLine {
    pub participant: String,
    pub track: Track,
    /// Whether pictures are dropped until a keyframe, because earlier ones may belong to
    /// the previous track of the line.
    pub begins: bool,
    /// Time of the last request for that keyframe.
    asked: Option<weft_units::Instant>,
}

/// Treatment of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameUse {
    Play,
    Drop,
    /// Drop it, and request a keyframe.
    Request,
}

impl Reception {
    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, ReceptionState::Missing) && self.again.is_none_or(|at| now >= at)
    }

    /// Whether the ticket belongs to this connection.
    pub fn has(&self, ticket: Ticket) -> bool {
        match &self.state {
            ReceptionState::Missing => false,
            ReceptionState::Asked(own) => *own == ticket,
            ReceptionState::Made(made) => made.ticket == ticket,
        }
    }

    /// Waits for the connection of this ticket.
    pub fn ask(&mut self, ticket: Ticket) {
        self.state = ReceptionState::Asked(ticket);
        self.connected = false;
        self.links.clear();
    }

    pub fn on_path(&mut self, path: PathId, link: String) {
        self.links.insert(path, &link);
    }

    /// Returns the links that delivered the frame, without duplicates.
    pub fn links_of(&self, frame: &ReceivedFrame) -> Vec<String> {
        self.links.of(frame)
    }

    pub fn made(&self) -> Option<&Receiving> {
        match &self.state {
            ReceptionState::Made(made) => Some(made),
            ReceptionState::Missing | ReceptionState::Asked(_) => None,
        }
    }

    pub fn made_mut(&mut self) -> Option<&mut Receiving> {
        match &mut self.state {
            ReceptionState::Made(made) => Some(made),
            ReceptionState::Missing | ReceptionState::Asked(_) => None,
        }
    }
}

impl Receiving {
    pub fn new(ticket: Ticket, connection: Connection) -> Receiving {
        Receiving {
            ticket,
            connection,
            lines: BTreeMap::new(),
            view: View::default(),
            offers: Offers::default(),
        }
    }

    /// Sets the lines that carry a track.
    pub fn set_lines(&mut self, lines: Vec<Line>) {
        let mut before = std::mem::take(&mut self.lines);
        for line in lines {
            let same =
                |old: &ReceivedLine| old.participant == line.participant && old.track == line.track;
            let kept = before.remove(&line.section).filter(same);
            let kept = kept.unwrap_or(ReceivedLine {
                begins: line.track != Track::Sound,
                participant: line.participant,
                track: line.track,
                asked: None,
            });
            self.lines.insert(line.section, kept);
        }
    }

    /// Whether these lines are the present ones.
    pub fn has_lines(&self, lines: &[Line]) -> bool {
        let same = |line: &Line| {
            let present = self.lines.get(&line.section);
            present.is_some_and(|p| p.participant == line.participant && p.track == line.track)
        };
        lines.len() == self.lines.len() && lines.iter().all(same)
    }

    /// Starts the pictures of a participant at a keyframe.
    pub fn begin(&mut self, participant: &str) {
        let lines = self.lines.values_mut();
        for line in lines.filter(|line| line.participant == participant) {
            line.begins = line.track != Track::Sound;
        }
    }
}

impl ReceivedLine {
    /// Handles a frame that is released now.
    pub fn on_frame(&mut self, now: weft_units::Instant, keyframe: bool) -> FrameUse {
        self.begins &= !keyframe;
        if !self.begins {
            return FrameUse::Play;
        }
        let soon = |at| now.saturating_since(at) < KEYFRAME_AGAIN;
        if self.asked.is_some_and(soon) {
            return FrameUse::Drop;
        }
        self.asked = Some(now);
        FrameUse::Request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_peer::PeerKey;

    fn receiving() -> Receiving {
        let connection = Connection {
            peer: PeerKey(1),
            location: String::new(),
        };
        Receiving::new(Ticket(1), connection)
    }

    fn line(mid: &str, participant: &str, track: Track) -> Line {
        Line {
            section: Mid::new(mid).expect("a mid"),
            participant: participant.to_owned(),
            track,
        }
    }

    #[test]
    fn a_line_that_changes_its_participant_begins_with_a_keyframe() {
        let at = |ms| weft_units::Instant::ZERO + Duration::from_millis(ms);
        let mut receiving = receiving();
        let section = Mid::new("1").expect("a mid");
        let mut on_frame = |participant, ms, keyframe| {
            receiving.set_lines(vec![line("1", participant, Track::Camera(0))]);
            let line = receiving.lines.get_mut(&section).expect("the line");
            line.on_frame(at(ms), keyframe)
        };
        assert_eq!(on_frame("a", 0, true), FrameUse::Play);
        assert_eq!(on_frame("a", 30, false), FrameUse::Play);
        // Late pictures of the previous participant, and one request per second.
        assert_eq!(on_frame("b", 60, false), FrameUse::Request);
        assert_eq!(on_frame("b", 90, false), FrameUse::Drop);
        assert_eq!(on_frame("b", 1_060, false), FrameUse::Request);
        assert_eq!(on_frame("b", 1_090, true), FrameUse::Play);
        assert_eq!(on_frame("b", 1_120, false), FrameUse::Play);
    }

    #[test]
    fn sound_begins_at_once() {
        let mut receiving = receiving();
        receiving.set_lines(vec![line("0", "a", Track::Sound)]);
        let line = receiving.lines.values_mut().next().expect("the line");
        let played = line.on_frame(weft_units::Instant::ZERO, false);
        assert_eq!(played, FrameUse::Play);
    }

    #[test]
    fn a_list_of_lines_replaces_the_one_before() {
        let mut receiving = receiving();
        let (a, b) = (line("0", "a", Track::Sound), line("1", "b", Track::Sound));
        receiving.set_lines(vec![a.clone(), b.clone()]);
        assert!(receiving.has_lines(&[b.clone(), a]));
        receiving.set_lines(vec![b.clone()]);
        assert!(receiving.has_lines(&[b]));
        assert!(!receiving.has_lines(&[]));
    }
}
