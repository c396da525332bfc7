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
    /// More requests were refused, which were only counted.
    RefusedMore {
        /// HTTP status.
        status: u16,
        /// Kind of refusal, where the status says too little.
        #[serde(skip_serializing_if = "str::is_empty")]
        kind: &'static str,
        /// Their number.
        times: u64,
        /// Seconds in which they were.
        seconds: u64,
    },
    /// HTTP connections were not accepted.
    NotAccepted {
        /// Reason.
        reason: NotAccepted,
        /// Their number in the seconds before.
        times: u64,
        /// Seconds in which they were; zero for the first one.
        seconds: u64,
    },
    /// The operator removed somebody.
    Removed {
        /// By the name in its address.
        room: String,
        /// Theirs in the room.
        id: String,
    },
    /// The operator closed a room, or opened a closed one.
    Closed {
        /// By the name in its address.
        room: String,
    },
    /// The operator revoked a token.
    Revoked {
        /// Its id.
        token: String,
    },
    /// `weft rooms` does not reach this server.
    NoAdmin {
        /// Message of the system.
        error: String,
    },
    /// The certificate was read again.
    CertificateRead {
        /// SHA-256, as browsers show it.
        fingerprint: String,
    },
    /// The certificate could not be read again; the one before stays.
    CertificateNotRead {
        /// Reason in words.
        error: String,
    },
    /// Nobody new is let in any more: the server is about to stop.
    Draining {
        /// How long it waits for those there, in seconds.
        seconds: u64,
    },
    /// The media side ended by itself.
    MediaEnded,
}

/// Reason for which an HTTP connection is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAccepted {
    /// The process may open no more files.
    Descriptors,
    /// There are as many as there may be; the others wait.
    Limit,
    /// Its address has as many as it may have.
    Address,
    /// A silent one without a token was closed for it.
    Replaced,
}

impl NotAccepted {
    /// The reason in a word, for figures.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            NotAccepted::Descriptors => "descriptors",
            NotAccepted::Limit => "limit",
            NotAccepted::Address => "address",
            NotAccepted::Replaced => "replaced",
        }
    }
}

impl Happened {
    /// Who wants to read it.
    #[must_use]
    pub fn level(&self) -> Level {
        match self {
            Happened::MediaEnded
            | Happened::NoAdmin { .. }
            | Happened::CertificateNotRead { .. } => Level::Error,
            Happened::NotAccepted { reason, .. } if *reason != NotAccepted::Address => Level::Error,
            Happened::RefusedMore { status, .. } if *status >= 500 => Level::Error,
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
            Happened::RefusedMore {
                status,
                kind,
                times,
                seconds,
            } => {
                write!(f, "refused with {status} ")?;
                if !kind.is_empty() {
                    write!(f, "({kind}) ")?;
                }
                write!(f, "{times} more times in {seconds} s")
            }
            Happened::NotAccepted {
                reason,
                times,
                seconds,
            } => {
                match reason {
                    NotAccepted::Descriptors => f.write_str(
                        "no HTTP connection is accepted: this process may open no more files \
                         (raise `ulimit -n` or LimitNOFILE=)",
                    ),
                    NotAccepted::Limit => f.write_str(
                        "there are as many HTTP connections as there may be: more have to wait",
                    ),
                    NotAccepted::Address => f.write_str(
                        "an HTTP connection was closed: its address has as many as it may have",
                    ),
                    NotAccepted::Replaced => f.write_str(
                        "there are as many HTTP connections as there may be: silent ones without \
                         a token are closed for others",
                    ),
                }?;
                match seconds {
                    0 => Ok(()),
                    _ => write!(f, "; {times} more times in {seconds} s"),
                }
            }
            Happened::Removed { room, id } => write!(f, "{room}: the operator removed {id}"),
            Happened::Closed { room } => write!(f, "{room}: the operator closed or opened it"),
            Happened::Revoked { token } => write!(f, "the operator revoked token {token}"),
            Happened::NoAdmin { error } => {
                write!(f, "`weft rooms` does not reach this server: {error}")
            }
            Happened::CertificateRead { fingerprint } => {
                write!(f, "read the certificate again; SHA-256 {fingerprint}")
            }
            Happened::CertificateNotRead { error } => {
                write!(
                    f,
                    "the new certificate cannot be used, so the old one stays: {error}"
                )
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
