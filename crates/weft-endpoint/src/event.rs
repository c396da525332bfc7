//! What happens in a call, for the program that it is embedded in.

use std::fmt;
use std::time::Duration;

use weft_session::ReceivedFrame;
use weft_units::Instant;

use crate::caller::Track;
use crate::connect::ConnectError;
use crate::links::{LinkChange, LinkTrouble};
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
    /// Somebody is not in the room any more.
    ParticipantLeft(Participant),
    /// What we publish reaches the server.
    Publishing {
        /// Under this name.
        name: String,
    },
    /// The server answers requests, but for some seconds nothing has come back
    /// over UDP on any link. It is gone on trying; told once, and only before the
    /// first connection. A call that ends then ends with
    /// [`ConnectError::Unanswered`].
    Unanswered,
    /// The connection that publishes is lost; another one is made.
    PublishingFailed {
        /// A sentence without its end, for people.
        reason: String,
    },
    /// The server has ended what we publish; it is published again.
    PublicationEnded,
    /// A link of ours came to carry what we publish, ceased to, or fell silent.
    Link {
        /// As it was chosen, or as its interface is called.
        link: String,
        /// What it became to the connection that publishes.
        change: LinkChange,
    },
    /// A link of ours carries nothing, for some seconds or since a captive portal
    /// was found on it. Told once each time.
    LinkTrouble {
        /// As it was chosen, or as its interface is called.
        link: String,
        /// Why, and what to do.
        trouble: LinkTrouble,
    },
    /// A participant's pictures and sound are on their way.
    Playing(Participant),
    /// A participant cannot be played; it is tried again.
    CannotPlay {
        /// What people call them; several may have the same.
        name: String,
        /// What the server or this endpoint refused.
        error: ConnectError,
    },
    /// More participants publish than are received at once. Told once.
    Crowded {
        /// Those who are received.
        played: usize,
    },
    /// The connection that plays a participant is lost; another one is made.
    PlayingFailed {
        /// What people call them; several may have the same.
        name: String,
        /// A sentence without its end, for people.
        reason: String,
    },
    /// A participant is not played any more.
    PlayingEnded {
        /// Theirs in the room, which nobody else has.
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
    /// Other events were not told, since too many waited for
    /// [`Call::next_event`](crate::Call::next_event). What they would have said
    /// of people and links has [`Call::statistics`](crate::Call::statistics).
    Missed {
        /// Those since the last one that was told.
        events: u64,
    },
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
    /// Encoded, whole, in the order of decoding.
    pub frame: ReceivedFrame,
    /// The links that brought it, each once.
    pub links: Vec<String>,
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
                | Event::Link {
                    change: LinkChange::Suspect | LinkChange::Trusted,
                    ..
                }
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
            Event::Unanswered => f.write_str(
                "the server takes the call, but nothing comes back over UDP on any link; still \
                 trying (does a firewall keep UDP off, here or there?)",
            ),
            Event::PublishingFailed { reason } => {
                write!(f, "publishing failed ({reason}); trying again")
            }
            Event::PublicationEnded => {
                f.write_str("the server has ended what we publish; publishing again")
            }
            Event::Link { link, change } => change.describe(link, f),
            Event::LinkTrouble { link, trouble } => {
                write!(f, "link `{link}` carries nothing: {trouble}")
            }
            Event::Playing(who) => write!(f, "receiving `{}`", who.name),
            Event::CannotPlay { name, error } => {
                write!(f, "cannot receive `{name}`: {error}; trying again")
            }
            Event::Crowded { played } => write!(
                f,
                "more participants publish than are received at once, which are {played}"
            ),
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
            Event::Missed { events } => write!(f, "{events} events were not taken in time"),
        }
    }
}
