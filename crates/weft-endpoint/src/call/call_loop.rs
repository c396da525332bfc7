//! State of a call that the files of this folder share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_net::Remote;
use weft_peer::Section;
use weft_rooms::Publishing;

use super::event_sender::CallEventSender;
use super::fault::OngoingFault;
use super::handover::Handover;
use super::inbox::{Mailbox, Ticket};
use super::listening::Listening;
use super::publication::Publication;
use super::reception::Reception;
use super::request_queue::RequestQueue;
use super::statistics::Statistics;
use super::troubles::Diagnosis;
use crate::caller::{Command, PeerReport, ask};
use crate::config::Receiving;
use crate::connect::Connection;
use crate::event::Event;
use crate::playout::Playout;
use crate::received::Received;
use crate::signalling::{Identity, Participant, Room, SignallingError};
use crate::switches::Switches;

/// Pause between attempts to reach the server.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of waiting requests. Chosen by us: each connection makes a few at a
/// time.
const MAX_REQUESTS: usize = 16;

/// Local participant.
pub struct LocalParticipant {
    pub name: String,
    /// Tracks to publish.
    pub sections: Vec<Section>,
    pub receiving: Receiving,
    pub identity: Option<Identity>,
    /// Whether we wait for admission.
    pub waits: bool,
    /// Whether a moderator has muted us.
    pub muted: bool,
    /// Sources that the user has switched off.
    pub switches: Switches,
}

impl LocalParticipant {
    /// Returns our identity, if we are in the room.
    pub fn inside(&self) -> Option<Identity> {
        self.identity.clone().filter(|_| !self.waits)
    }
}

/// Whether any packet has come back over UDP on any connection.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Answer {
    #[default]
    Awaited,
    /// None for so long that it was reported.
    Missed,
    Had,
}

/// Request queues of the server's room.
pub(super) struct RequestQueues {
    pub room: Room,
    pub connections: RequestQueue,
    /// Departures from former servers, which may answer late or never.
    pub farewells: RequestQueue,
    /// Holds at most one set of figures; a newer set replaces an unsent one.
    pub figures: RequestQueue,
}

/// Receivers of the call's output.
pub struct Outlets {
    /// Embedding program.
    pub events: Arc<CallEventSender>,
    /// Loudspeaker.
    pub playout: Option<Playout>,
}

/// State of a call, owned by its main loop. More than fifteen fields: each is
/// maintained by its own file in this folder.
pub struct CallLoop {
    pub(super) queues: RequestQueues,
    pub(super) remote: Remote<Command>,
    pub(super) mailbox: Mailbox,
    pub(super) own: LocalParticipant,
    pub(super) outlets: Outlets,
    pub(super) listening: Listening,
    pub(super) publication: Publication,
    pub(super) reception: Reception,
    pub(super) handover: Handover,
    /// Received participants, with their tracks at the start of the reception.
    pub(super) playing: BTreeMap<String, Publishing>,
    /// Whether the call has reported that some cameras are not received.
    pub(super) crowded: bool,
    pub(super) others: BTreeMap<String, Participant>,
    /// Totals per participant, for a limited number of participants.
    pub(super) received: BTreeMap<String, Received>,
    /// Fault of the server.
    pub(super) fault: OngoingFault,
    pub(super) answer: Answer,
    pub(super) diagnosis: Diagnosis,
    next_ticket: u64,
    started: Instant,
}

impl CallLoop {
    pub fn new(
        room: Room,
        remote: Remote<Command>,
        mailbox: Mailbox,
        own: LocalParticipant,
        outlets: Outlets,
    ) -> CallLoop {
        CallLoop {
            queues: RequestQueues {
                room,
                connections: RequestQueue::start(MAX_REQUESTS),
                farewells: RequestQueue::start(MAX_REQUESTS),
                figures: RequestQueue::start(1),
            },
            remote,
            mailbox,
            own,
            outlets,
            listening: Listening::default(),
            publication: Publication::default(),
            reception: Reception::default(),
            handover: Handover::default(),
            playing: BTreeMap::new(),
            crowded: false,
            others: BTreeMap::new(),
            received: BTreeMap::new(),
            fault: OngoingFault::default(),
            answer: Answer::default(),
            diagnosis: Diagnosis::default(),
            next_ticket: 0,
            started: Instant::now(),
        }
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    /// Closes a connection locally and queues the request to the server. If the
    /// request is lost, the server times the connection out.
    pub(super) fn end(&mut self, connection: Connection) {
        self.remote.send(Command::Close(connection.peer));
        let room = self.queues.room.clone();
        let location = connection.location;
        self.queues.connections.push(move || {
            let _ = room.delete(&location);
        });
    }

    /// Sends an event to the embedding program.
    pub(super) fn emit(&self, event: Event) {
        let bytes = match &event {
            Event::Frame(played) => Some(played.frame.data.len()),
            _ => None,
        };
        if let (false, Some(bytes)) = (self.outlets.events.send(event), bytes) {
            self.mailbox.frames().drop_one(bytes);
        }
    }

    /// Reports that the server cannot be reached.
    pub(super) fn on_fault(&mut self, error: SignallingError) {
        let error = match self.diagnosis.media_flows {
            true => error.while_media_flows(),
            false => error,
        };
        if self.fault.begins(Instant::now(), &error.kind()) {
            self.emit(Event::Fault(error));
        }
    }

    /// Reports missing UDP answers once, and only before the first connection;
    /// after that, the connection itself reports its failure.
    pub(super) fn on_unanswered(&mut self) {
        if self.answer == Answer::Awaited {
            self.answer = Answer::Missed;
            self.emit(Event::Unanswered);
        }
    }

    pub(super) fn on_answer(&mut self) {
        if let Some(lasted) = self.fault.ends(Instant::now()) {
            self.emit(Event::FaultEnded { lasted });
        }
    }

    /// Returns all statistics; `None` after the network thread has ended.
    pub(super) fn figures(&self, dropped_frames: u64) -> Option<Statistics> {
        let mut peers = ask(&self.remote, Command::Report).ok()?;
        for report in &mut peers {
            self.name_received(report);
        }
        Some(Statistics {
            elapsed: self.started.elapsed(),
            peers,
            publication: self.publication.connection().map(|c| c.peer),
            reception: self.reception.made().map(|made| made.connection.peer),
            participants: self.others.values().cloned().collect(),
            received: self.received.clone(),
            troubles: self.diagnosis.troubles().clone(),
            muted: self.own.muted,
            switches: self.own.switches,
            dropped_frames,
            refused_requests: self.queues.connections.refused() + self.queues.figures.refused(),
        })
    }

    /// Adds the tracks of the lines of our reception to its peer's report.
    fn name_received(&self, report: &mut PeerReport) {
        let made = self.reception.made();
        let Some(made) = made.filter(|made| made.connection.peer == report.peer) else {
            return;
        };
        for (stream, (section, _)) in &report.sections {
            if let Some(line) = made.lines.get(section) {
                report.tracks.insert(*stream, line.track);
            }
        }
    }
}
