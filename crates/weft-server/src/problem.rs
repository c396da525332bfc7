use crate::media_plane::MediaError;
use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use weft_rooms::{ChatError, HoldError, JoinError, UnknownParticipant};
use weft_units::Duration;

/// Seconds after which to retry a request that was refused for lack of room.
/// Chosen by us: abandoned connections are gone by then.
const RETRY_SECONDS: u64 = 10;

/// Refusal as JSON: `{"error": .., "remedy": .., "kind": ..}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// Problem, a sentence.
    pub error: String,
    /// Remedy, a sentence.
    pub remedy: String,
    /// Word for programs, if the status is not specific enough.
    pub kind: Option<&'static str>,
    /// Seconds after which to retry, if they are known.
    pub retry: Option<u64>,
}

/// Refusal for the operator's log: it stays with the response inside the
/// server.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) error: String,
    pub(crate) kind: &'static str,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    remedy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
}

impl Problem {
    /// Refusal with this status.
    #[must_use]
    pub fn new(status: StatusCode, error: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem {
            status,
            error: error.into(),
            remedy: remedy.into(),
            kind: None,
            retry: None,
        }
    }

    /// Adds a word for programs.
    #[must_use]
    pub fn of_kind(self, kind: &'static str) -> Problem {
        let kind = Some(kind);
        Problem { kind, ..self }
    }

    pub(crate) fn no_resource() -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            "This connection does not exist, or has ended.",
            "Publish or play again.",
        )
    }

    pub(crate) fn ended() -> Problem {
        Problem::new(
            StatusCode::FORBIDDEN,
            "The connection was ended before it was made: its participant left or was removed.",
            "Join the room again.",
        )
        .of_kind("ended")
    }

    pub(crate) fn waiting() -> Problem {
        Problem::new(
            StatusCode::FORBIDDEN,
            "You are in the waiting room.",
            "Join with the page or the room's event stream, and wait until a moderator lets you in.",
        )
        .of_kind("waiting")
    }

    pub(crate) fn no_path(path: &str) -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            format!("There is nothing at {path}."),
            "Check the address; the start page is at /.",
        )
    }

    pub(crate) fn bad_body(expected: &str) -> Problem {
        Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("The request's body is not {expected}."),
            format!("Send the header `Content-Type: {expected}`."),
        )
    }

    pub(crate) fn overloaded(what: &str) -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("The server has no room for {what}."),
            "Try again later, or ask the server's operator to raise its limits.",
        )
    }
}

impl Problem {
    /// Refusal for a message or reaction that was sent too soon.
    pub(crate) fn too_fast(sends: &str, wait: Duration) -> Problem {
        let seconds = wait.as_millis().div_ceil(1000);
        Problem {
            retry: Some(seconds),
            ..Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{sends} messages and reactions too fast."),
                format!("Wait {seconds} s, and send it again."),
            )
        }
    }

    /// Refusal for a reached limit.
    pub(crate) fn too_many(of: &str, what: &str) -> Problem {
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            format!("There are too many {what} of {of}."),
            "End some of them, or ask the server's operator to raise its limits.",
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = Json(Body {
            error: &self.error,
            remedy: &self.remedy,
            kind: self.kind,
        });
        let mut response = (self.status, body).into_response();
        let refusal = Refusal {
            error: self.error.clone(),
            kind: self.kind.unwrap_or_default(),
        };
        response.extensions_mut().insert(refusal);
        if matches!(
            self.status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        ) {
            let seconds = self.retry.unwrap_or(RETRY_SECONDS);
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Problem {
        let (status, remedy) = match error {
            JoinError::BadRoomName => {
                (StatusCode::BAD_REQUEST, "Choose another name for the room.")
            }
            JoinError::BadName => (StatusCode::BAD_REQUEST, "Choose another name."),
            JoinError::Locked => {
                return Problem::new(
                    StatusCode::FORBIDDEN,
                    "The room is locked.",
                    "Ask somebody inside to unlock it.",
                )
                .of_kind("room_locked");
            }
            JoinError::RoomFull => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Wait until a participant leaves.",
            ),
            JoinError::TooManyRooms => (StatusCode::SERVICE_UNAVAILABLE, "Try again later."),
        };
        Problem::new(status, sentence(&error.to_string()), remedy)
    }
}

impl From<ChatError> for Problem {
    fn from(error: ChatError) -> Problem {
        let remedy = match error {
            ChatError::Empty => "Write something that can be seen.",
            ChatError::TooLong => "Send it in parts.",
            ChatError::BadKey => "Choose a shorter one.",
        };
        Problem::new(
            StatusCode::BAD_REQUEST,
            sentence(&error.to_string()),
            remedy,
        )
    }
}

impl From<UnknownParticipant> for Problem {
    fn from(error: UnknownParticipant) -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            sentence(&error.to_string()),
            "Check the room and the participant: `weft rooms list` on the server and the room's event stream list them.",
        )
    }
}

impl From<HoldError> for Problem {
    fn from(error: HoldError) -> Problem {
        match error {
            HoldError::Unknown(unknown) => unknown.into(),
            HoldError::Waiting { .. } => Problem::waiting(),
            HoldError::Stranger { .. } => Problem::new(
                StatusCode::FORBIDDEN,
                sentence(&error.to_string()),
                format!(
                    "Send the secret from the welcome of the room's event stream in the header `{}`, or publish with ?name= as a new participant.",
                    crate::secret::SECRET
                ),
            ),
        }
    }
}

impl From<MediaError> for Problem {
    fn from(error: MediaError) -> Problem {
        let (status, remedy) = match &error {
            MediaError::BadDescription { .. } => (
                StatusCode::BAD_REQUEST,
                "Send the session description as the client library makes it.",
            ),
            MediaError::NoCodec { .. } => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Set the encoder to a codec that weft forwards.",
            ),
            MediaError::CodecNotTaken { .. } => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Watch with a player that has this codec, offer the other kind of media alone, or let them send another codec (`weft join --codec`).",
            ),
            MediaError::KindNotSent(_) => (
                StatusCode::CONFLICT,
                "Wait until they do, or offer a section for the media that they send.",
            ),
            MediaError::SendsNothing(_) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Offer media with the direction sendonly to publish; to play, use /whep/ROOM/PARTICIPANT.",
            ),
            MediaError::ReceivesNothing(_) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Offer media with the direction recvonly to play; to publish, use /whip/ROOM.",
            ),
            MediaError::NotBundled => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Let the client bundle all media sections: bundlePolicy \"max-bundle\" in browsers, the property bundle-policy=max-bundle of GStreamer's webrtcbin.",
            ),
            MediaError::NoRtcpMux => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Let the client offer RTCP on the port of the media (a=rtcp-mux).",
            ),
            MediaError::TooManySounds(_) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Mix the sounds, or publish the others as another participant.",
            ),
            MediaError::TooManyCameras(_) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Publish the others as another participant.",
            ),
            MediaError::NothingPublished => (StatusCode::CONFLICT, "Wait until they publish."),
            MediaError::UnknownResource => return Problem::no_resource(),
            MediaError::WrongState { .. } => (StatusCode::CONFLICT, "Publish or play again."),
            MediaError::OtherIceSession => (
                StatusCode::PRECONDITION_FAILED,
                "Send the ETag of the last answer, or `If-Match: *` to restart ICE.",
            ),
            MediaError::RestartUnsaid => (
                StatusCode::PRECONDITION_REQUIRED,
                "Send `If-Match: *` to restart ICE.",
            ),
            MediaError::NoRestart => (StatusCode::UNPROCESSABLE_ENTITY, "Publish or play again."),
            MediaError::Busy => return Problem::overloaded("another media connection"),
            MediaError::Gone => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Ask the server's operator to restart it.",
            ),
        };
        Problem::new(status, sentence(&error.to_string()), remedy)
    }
}

/// Text with a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first: String = characters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}
