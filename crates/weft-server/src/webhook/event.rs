use crate::secret::unguessable;
use serde::Serialize;
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use weft_record::TrackEntry;
use weft_rooms::ParticipantKind;

/// Event for the operator's programs. To add another one, add a variant here, and send it
/// with [`Webhooks::send`](crate::webhook::Webhooks::send).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "data")]
pub(crate) enum WebhookEvent {
    /// The server has started; all earlier rooms are closed.
    #[serde(rename = "server.started")]
    ServerStarted {},
    /// The first participant entered a room.
    #[serde(rename = "room.opened")]
    RoomOpened { room: String },
    /// The last participant left a room.
    #[serde(rename = "room.closed")]
    RoomClosed { room: String },
    /// A participant entered a room.
    #[serde(rename = "participant.joined")]
    Joined {
        room: String,
        id: String,
        name: String,
        kind: ParticipantKind,
    },
    /// A participant left a room.
    #[serde(rename = "participant.left")]
    Left {
        room: String,
        id: String,
        name: String,
    },
    /// A participant's first publication was established.
    #[serde(rename = "participant.published")]
    Published {
        room: String,
        id: String,
        name: String,
    },
    /// A participant's last publication has ended.
    #[serde(rename = "participant.unpublished")]
    Unpublished {
        room: String,
        id: String,
        name: String,
    },
    /// The files of a recording are complete.
    #[serde(rename = "recording.ready")]
    RecordingReady {
        room: String,
        /// Name of its folder, which is its id in the HTTP interface.
        id: String,
        /// Server of the cluster that has it.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        length_ms: Option<u64>,
        /// Reason why it ended early.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        tracks: Vec<TrackEntry>,
    },
    /// The film of a recording is complete, or cannot be composed.
    #[serde(rename = "recording.composed")]
    RecordingComposed {
        room: String,
        /// Name of the recording's folder.
        id: String,
        /// Server of the cluster that has it.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// Name of the film in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        film: Option<String>,
        /// Reason why there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// Event in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Queued {
    /// Id of the event, the same in all attempts.
    pub(super) id: String,
    pub(super) at: SystemTime,
    /// Body of the request.
    pub(super) body: String,
}

#[derive(Serialize)]
struct Payload<'a> {
    #[serde(flatten)]
    event: &'a WebhookEvent,
    timestamp: String,
}

impl Queued {
    pub(super) fn new(event: &WebhookEvent, at: SystemTime) -> Queued {
        // Fails only for years beyond 9999.
        let timestamp = OffsetDateTime::from(at).format(&Rfc3339);
        let payload = Payload {
            event,
            timestamp: timestamp.unwrap_or_default(),
        };
        Queued {
            id: format!("msg_{}", unguessable()),
            at,
            body: serde_json::to_string(&payload).unwrap_or_default(),
        }
    }
}
