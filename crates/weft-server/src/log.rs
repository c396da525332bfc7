//! Events of a server, for its operator. Tokens, secrets and session
//! descriptions are not among the fields, so they cannot appear in a log.

mod cluster;
mod level;
mod text;

pub use cluster::ClusterChange;
pub use level::Level;
use serde::Serialize;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use weft_rooms::ParticipantKind;

/// Event of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ServerEvent {
    /// A participant entered a room.
    Joined {
        /// Name of the room as in its URL.
        room: String,
        /// Id of the participant in the room.
        id: String,
        /// Name of the participant.
        name: String,
        /// Kind of client.
        kind: ParticipantKind,
    },
    /// A participant left.
    Left {
        /// Name of the room as in its URL.
        room: String,
        /// Id of the participant in the room.
        id: String,
    },
    /// A media connection was established.
    Connected {
        /// Name of the room as in its URL.
        room: String,
        /// Id of its participant.
        id: String,
        /// Whether it publishes; otherwise it plays.
        publishes: bool,
    },
    /// A media connection ended by itself.
    Ended {
        /// Name of the room as in its URL.
        room: String,
        /// Id of its participant.
        id: String,
        /// Whether it published; otherwise it played.
        publishes: bool,
        /// Reason as text.
        reason: String,
    },
    /// A request was refused.
    Refused {
        /// HTTP status.
        status: u16,
        /// Error in the response.
        error: String,
        /// Address of the client; `None` on this machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<IpAddr>,
    },
    /// Further requests were refused and only counted.
    RefusedMore {
        /// HTTP status.
        status: u16,
        /// Kind of refusal, if the status is not specific enough.
        #[serde(skip_serializing_if = "str::is_empty")]
        kind: &'static str,
        /// Number of refusals.
        times: u64,
        /// Length of the interval in seconds.
        seconds: u64,
    },
    /// HTTP connections were not accepted.
    NotAccepted {
        /// Reason.
        reason: NotAccepted,
        /// Number of connections in the interval.
        times: u64,
        /// Length of the interval in seconds; zero for the first one.
        seconds: u64,
    },
    /// The operator removed a participant.
    Removed {
        /// Name of the room as in its URL.
        room: String,
        /// Id of the participant in the room.
        id: String,
    },
    /// The operator muted a participant.
    Muted {
        /// Name of the room as in its URL.
        room: String,
        /// Id of the participant in the room.
        id: String,
    },
    /// The operator closed a room.
    Closed {
        /// Name of the room as in its URL.
        room: String,
    },
    /// The operator opened a closed room.
    Opened {
        /// Name of the room as in its URL.
        room: String,
    },
    /// The operator revoked a token.
    Revoked {
        /// Id of the token.
        token: String,
    },
    /// `weft rooms` cannot reach this server.
    NoAdmin {
        /// Message of the system.
        error: String,
    },
    /// The certificate was reloaded.
    CertificateRead {
        /// SHA-256 fingerprint, as browsers show it.
        fingerprint: String,
    },
    /// The certificate could not be reloaded; the previous one stays in use.
    CertificateNotRead {
        /// Reason as text.
        error: String,
    },
    /// The configuration was read again.
    ConfigurationRead {
        /// Options whose new value is in effect.
        changed: Vec<String>,
        /// Options whose new value needs a restart.
        restart: Vec<String>,
    },
    /// The configuration could not be read again; the previous one stays in
    /// effect.
    ConfigurationNotRead {
        /// Reason as text.
        error: String,
    },
    /// The recording of a room started.
    RecordingStarted {
        /// Name of the room as in its URL.
        room: String,
        /// Folder of its files.
        folder: String,
    },
    /// The recording of a room ended regularly.
    RecordingStopped {
        /// Name of the room as in its URL.
        room: String,
    },
    /// The recording of a room could not start, or ended early; the recorded part is kept.
    RecordingFailed {
        /// Name of the room as in its URL.
        room: String,
        /// Reason as text.
        error: String,
    },
    /// A participant's video has a codec that cannot be recorded.
    NotRecorded {
        /// Name of the room as in its URL.
        room: String,
        /// Name of the codec.
        codec: &'static str,
    },
    /// The disk was too slow: packets are missing in the recording of a room.
    RecordingSlow {
        /// Name of the room as in its URL.
        room: String,
        /// Number of packets since the last such event.
        packets: u64,
    },
    /// A recording has a film, or cannot be composed.
    RecordingComposed {
        /// Name of the room as in its URL.
        room: String,
        /// Path of the film.
        film: Option<String>,
        /// Reason why there is none, as text.
        error: Option<String>,
    },
    /// The target of the webhooks fails. Logged once until it accepts an event.
    WebhookFailed {
        /// Reason as text.
        error: String,
    },
    /// Events for the target of the webhooks are lost. Logged once until it accepts one.
    WebhookDropped {
        /// Reason as text.
        error: String,
    },
    /// Newcomers are no longer admitted: the server is about to stop.
    Draining {
        /// Time to wait for the present participants, in seconds.
        seconds: u64,
    },
    /// Participants of a room were asked to move to another server of the cluster.
    HandedOver {
        /// Name of the room as in its URL.
        room: String,
        /// Name of the other server.
        node: String,
        /// Number of participants.
        participants: usize,
    },
    /// The media side failed.
    MediaEnded,
    /// The servers of the cluster changed.
    Cluster {
        /// Change of the cluster.
        change: ClusterChange,
    },
}

/// Reason why an HTTP connection is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAccepted {
    /// The process has no file descriptor left.
    Descriptors,
    /// The total limit is reached; further connections wait.
    Limit,
    /// Its address has reached its limit.
    Address,
    /// A silent connection without a token was closed to make room.
    Replaced,
}

impl NotAccepted {
    /// Reason in a word, for metrics.
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

impl ServerEvent {
    /// Verbosity from which it is logged.
    #[must_use]
    pub fn level(&self) -> Level {
        match self {
            ServerEvent::Cluster { change } => change.level(),
            ServerEvent::MediaEnded
            | ServerEvent::RecordingFailed { .. }
            | ServerEvent::RecordingSlow { .. }
            | ServerEvent::NotRecorded { .. }
            | ServerEvent::RecordingComposed { film: None, .. }
            | ServerEvent::NoAdmin { .. }
            | ServerEvent::ConfigurationNotRead { .. }
            | ServerEvent::WebhookDropped { .. }
            | ServerEvent::CertificateNotRead { .. } => Level::Error,
            ServerEvent::NotAccepted { reason, .. } if *reason != NotAccepted::Address => {
                Level::Error
            }
            ServerEvent::ConfigurationRead { restart, .. } if !restart.is_empty() => Level::Error,
            ServerEvent::RefusedMore { status, .. } if *status >= 500 => Level::Error,
            ServerEvent::Refused { status, .. } if *status >= 500 => Level::Error,
            ServerEvent::Connected { .. } => Level::Debug,
            _ => Level::Info,
        }
    }
}

/// Receiver of events, called on any thread; must not block for long. Default:
/// none.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Take>>);

type Take = dyn Fn(&ServerEvent) + Send + Sync;

impl Log {
    /// Passes events to `take`.
    pub fn new(take: impl Fn(&ServerEvent) + Send + Sync + 'static) -> Log {
        Log(Some(Arc::new(take)))
    }

    /// Passes an event on.
    pub fn emit(&self, event: impl FnOnce() -> ServerEvent) {
        if let Some(take) = &self.0 {
            take(&event());
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
