//! What happens in a call, for the program that it is embedded in.

use std::fmt;
use std::time::Duration;

use weft_session::ReceivedFrame;
use weft_units::Instant;

use crate::caller::Track;
use crate::connect::ConnectError;
use crate::notice::Notice;
use crate::signalling::{Participant, SignallingError};

/// What happens in a call. As text it is one sentence for people, with what to
/// do where something is wrong; [`Event::is_for_people`] says for which that
/// is worth showing. Nothing here ends the call: what goes wrong is tried again.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The room has taken us in, for the first time or after the server was
    /// started again.
    Joined {
        /// What the room calls us.
        id: String,
    },
    /// Somebody came, or was there before.
    ParticipantCame(Participant),
    /// Somebody publishes something else than before.
    ParticipantChanged(Participant),
    /// Somebody went.
    ParticipantLeft(Participant),
    /// What we publish reaches the server.
    Publishing {
        /// Under this name.
        name: String,
    },
    /// The connection that publishes is lost; another one is made.
    PublishingFailed {
        /// Why.
        reason: String,
    },
    /// The server has ended what we publish; it is published again.
    PublicationEnded,
    /// A link of ours came to carry what we publish, or ceased to.
    Link {
        /// Its name.
        link: String,
        /// What happened.
        change: LinkChange,
    },
    /// A participant's pictures and sound are on their way.
    Playing(Participant),
    /// A participant cannot be played; it is tried again.
    CannotPlay {
        /// Their name.
        name: String,
        /// Why.
        error: ConnectError,
    },
    /// The connection that plays a participant is lost; another one is made.
    PlayingFailed {
        /// Their name.
        name: String,
        /// Why.
        reason: String,
    },
    /// A participant is not played any more.
    PlayingEnded {
        /// Their id.
        id: String,
    },
    /// A frame is due: pictures are encoded ([`ReceivedFrame::codec`]), sound is
    /// Opus.
    Frame(PlayedFrame),
    /// The server cannot be reached or does not do what it should; it is asked
    /// again. Told when it begins and when it becomes another fault.
    Fault(SignallingError),
    /// Nothing was heard of the room for a while; it is asked again.
    RoomSilent,
    /// The server answers again.
    FaultEnded {
        /// How long it did not.
        lasted: Duration,
    },
    /// Something about our own links, cameras or sound.
    Notice(Notice),
}

/// A frame of a participant that is due.
#[derive(Debug)]
pub struct PlayedFrame {
    /// The participant's id.
    pub from: String,
    /// Which of their streams.
    pub track: Track,
    /// When it came out, in the time of [`Call::clock`](crate::Call::clock).
    pub at: Instant,
    /// The frame.
    pub frame: ReceivedFrame,
    /// The links that brought it, each once.
    pub links: Vec<String>,
}

/// What happened to a link, as far as media knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// It leads to the server.
    Up,
    /// It leads there again.
    Again {
        /// After so long.
        down: Duration,
    },
    /// It leads there no more.
    Down,
    /// It leads there no more, and was the last one that did. The call waits
    /// and goes on by itself.
    AllDown,
}

impl Event {
    /// Whether its text is worth showing to whoever runs the program.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        !matches!(
            self,
            Event::Joined { .. }
                | Event::ParticipantCame(_)
                | Event::ParticipantChanged(_)
                | Event::ParticipantLeft(_)
                | Event::Playing(_)
                | Event::PlayingEnded { .. }
                | Event::Frame(_)
        )
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Joined { id } => write!(f, "in the room as {id}"),
            Event::ParticipantCame(who) => write!(f, "`{}` is in the room", who.name),
            Event::ParticipantChanged(who) => write!(f, "`{}` publishes something else", who.name),
            Event::ParticipantLeft(who) => write!(f, "`{}` has left the room", who.name),
            Event::Publishing { name } => write!(f, "connected, publishing as `{name}`"),
            Event::PublishingFailed { reason } => {
                write!(f, "publishing failed ({reason}); trying again")
            }
            Event::PublicationEnded => {
                f.write_str("the server has ended what we publish; publishing again")
            }
            Event::Link { link, change } => change.describe(link, f),
            Event::Playing(who) => write!(f, "receiving `{}`", who.name),
            Event::CannotPlay { name, error } => {
                write!(f, "cannot receive `{name}`: {error}; trying again")
            }
            Event::PlayingFailed { name, reason } => {
                write!(f, "receiving `{name}` failed ({reason}); trying again")
            }
            Event::PlayingEnded { id } => write!(f, "participant {id} is not received any more"),
            Event::Frame(frame) => write!(f, "a frame of {} from {}", frame.track, frame.from),
            Event::Fault(error) => write!(f, "{error}; trying again"),
            Event::RoomSilent => f.write_str("nothing heard of the room for a while; asking again"),
            Event::FaultEnded { lasted } => {
                let seconds = lasted.as_secs_f64();
                write!(f, "the server answers again after {seconds:.0} s")
            }
            Event::Notice(notice) => notice.fmt(f),
        }
    }
}

impl LinkChange {
    /// Whether the link leads to the server now.
    #[must_use]
    pub fn is_up(self) -> bool {
        matches!(self, LinkChange::Up | LinkChange::Again { .. })
    }

    fn describe(self, link: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkChange::Up => write!(f, "link `{link}` is up"),
            LinkChange::Again { down } => {
                let seconds = down.as_secs_f64();
                write!(f, "link `{link}` is up again after {seconds:.1} s")
            }
            LinkChange::Down => write!(f, "link `{link}` is down"),
            LinkChange::AllDown => write!(
                f,
                "link `{link}` is down, and no other leads to the server: the call waits and goes \
                 on by itself"
            ),
        }
    }
}
