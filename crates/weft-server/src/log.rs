//! What happens on a server, for its operator. Tokens, secrets and session
//! descriptions are not among the fields, so they cannot be written.

use serde::Serialize;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use weft_rooms::ParticipantKind;

/// How much an operator wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What keeps the server from doing its work.
    Error,
    /// Who comes and goes, and who is refused.
    Info,
    /// Each media connection.
    Debug,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happened {
    /// Somebody came into a room.
    Joined {
        /// By the name in its address.
        room: String,
        /// Theirs in the room.
        id: String,
        /// What they are called.
        name: String,
        /// What they run.
        kind: ParticipantKind,
    },
    /// Somebody left.
    Left {
        /// By the name in its address.
        room: String,
        /// Theirs in the room.
        id: String,
    },
    /// A media connection is up.
    Connected {
        /// By the name in its address.
        room: String,
        /// Whose it is.
        id: String,
        /// Whether it publishes; else it plays.
        publishes: bool,
    },
    /// A media connection ended by itself.
    Ended {
        /// By the name in its address.
        room: String,
        /// Whose it was.
        id: String,
        /// Whether it published; else it played.
        publishes: bool,
        /// What ended it, in words.
        reason: String,
    },
    /// A request was refused.
    Refused {
        /// HTTP status.
        status: u16,
        /// Why, as whoever asked was told.
        error: String,
        /// From where; none from this machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<IpAddr>,
    },
    /// Nobody new is let in any more: the server is about to stop.
    Draining {
        /// How long it waits for those there, in seconds.
        seconds: u64,
    },
    /// The media side ended by itself.
    MediaEnded,
}

impl Happened {
    /// Who wants to read it.
    #[must_use]
    pub fn level(&self) -> Level {
        match self {
            Happened::MediaEnded => Level::Error,
            Happened::Refused { status, .. } if *status >= 500 => Level::Error,
            Happened::Connected { .. } => Level::Debug,
            _ => Level::Info,
        }
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = |publishes: &bool| if *publishes { "publishing" } else { "playing" };
        match self {
            Happened::Joined { room, id, name, .. } => write!(f, "{room}: {id} joined as {name:?}"),
            Happened::Left { room, id } => write!(f, "{room}: {id} left"),
            Happened::Connected {
                room,
                id,
                publishes,
            } => write!(f, "{room}: {id} began {}", does(publishes)),
            Happened::Ended {
                room,
                id,
                publishes,
                reason,
            } => write!(f, "{room}: {id} ended {}: {reason}", does(publishes)),
            Happened::Refused {
                status,
                error,
                from,
            } => {
                write!(f, "refused with {status}")?;
                if let Some(from) = from {
                    write!(f, " to {from}")?;
                }
                write!(f, ": {error}")
            }
            Happened::Draining { seconds } => {
                write!(
                    f,
                    "nobody new comes in; waiting {seconds} s for those there"
                )
            }
            Happened::MediaEnded => f.write_str("the media side ended by a defect"),
        }
    }
}

/// Takes what happens, on whatever thread it does; must not block for long.
/// Default: nobody.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Take>>);

type Take = dyn Fn(&Happened) + Send + Sync;

impl Log {
    /// Tells `take`.
    pub fn new(take: impl Fn(&Happened) + Send + Sync + 'static) -> Log {
        Log(Some(Arc::new(take)))
    }

    pub(crate) fn tell(&self, happened: impl FnOnce() -> Happened) {
        if let Some(take) = &self.0 {
            take(&happened());
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
