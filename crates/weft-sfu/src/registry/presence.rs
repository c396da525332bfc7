//! Who is in a room, what changes there, and why somebody may not come in.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

/// What a participant runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantKind {
    /// The page.
    Browser,
    /// A weft endpoint.
    Native,
    /// Another WHIP client.
    Whip,
}

/// Most cameras of one participant: each is a stream to everybody else. One
/// more than the Converge paper evaluates.
pub const MAX_CAMERAS: usize = 4;

/// What a participant sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publishing {
    /// Pictures: the cameras in order.
    pub cameras: Vec<Camera>,
    /// Sound.
    pub audio: bool,
}

/// One stream of pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Camera {
    /// What its owner calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// `video` says whether there is a camera, for readers who show one only.
impl Serialize for Publishing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Publishing", 3)?;
        fields.serialize_field("video", &!self.cameras.is_empty())?;
        fields.serialize_field("audio", &self.audio)?;
        fields.serialize_field("cameras", &self.cameras)?;
        fields.end()
    }
}

/// The state of a link as its owner sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// Carries packets.
    Up,
    /// Silent; checks are on their way.
    Suspect,
    /// Dead.
    Down,
}

/// One link of a sender, by its own figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkReport {
    /// As the sender named it.
    pub name: String,
    /// Whether it works.
    pub state: LinkState,
    /// Round-trip time in milliseconds.
    #[serde(default)]
    pub rtt_ms: f64,
    /// Sent, in Mbit/s.
    #[serde(default)]
    pub sent_mbps: f64,
    /// What the controller would send, in Mbit/s.
    #[serde(default)]
    pub target_mbps: f64,
    /// Share of packets lost, 0 to 1.
    #[serde(default)]
    pub loss: f64,
    /// Costs money.
    #[serde(default)]
    pub metered: bool,
    /// Carries nothing while another link does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backup: bool,
    /// What is left of its budget, in megabytes, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_left_mb: Option<f64>,
}

/// Somebody in a room.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Participant {
    /// Unique in the registry.
    pub id: String,
    /// As given.
    pub name: String,
    /// What it runs.
    pub kind: ParticipantKind,
    /// What it sends.
    pub publishing: Publishing,
    /// Its links, if it reports them.
    pub links: Vec<LinkReport>,
}

/// A change in a room, to be told to all in it.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomEvent {
    /// The room's name.
    pub room: String,
    /// What changed.
    pub change: Change,
}

/// What changed in a room.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Somebody came.
    Joined(Participant),
    /// Somebody publishes more or less than before, or has another kind or
    /// name.
    Changed(Participant),
    /// Somebody's links have new figures.
    Links {
        /// Whose.
        id: String,
        /// The figures.
        links: Vec<LinkReport>,
    },
    /// Somebody went.
    Left {
        /// The public id of whoever went.
        id: String,
    },
}

/// What proves that somebody is the participant they say: a hash of a secret
/// that only they were told. Hashing is for the caller to do, and to make the
/// secret unguessable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof(pub [u8; 32]);

/// A wish to be in a room.
#[derive(Debug, Clone, Copy)]
pub struct Join<'a> {
    /// The room, made if new.
    pub room: &'a str,
    /// The name to show.
    pub name: &'a str,
    /// What the participant runs.
    pub kind: ParticipantKind,
    /// The id of somebody who comes back.
    pub id: Option<&'a str>,
    /// Shown by somebody who comes back.
    pub proof: Option<Proof>,
    /// Will prove who they are if they are somebody new.
    pub fresh: Proof,
}

/// Who came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// Somebody new, with this id.
    New(String),
    /// Somebody who was there already.
    Back(String),
}

impl Joined {
    /// The participant's id.
    #[must_use]
    pub fn into_id(self) -> String {
        let (Joined::New(id) | Joined::Back(id)) = self;
        id
    }
}

/// Why somebody cannot join.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JoinError {
    /// The room's name is no name.
    #[error("a room's name has 1 to 64 letters, digits, '-', '_' or '.', and is not only dots")]
    BadRoomName,
    /// The participant's name is no name.
    #[error("a participant's name has 1 to 64 printable characters")]
    BadName,
    /// Too many are in the room.
    #[error("the room is full")]
    RoomFull,
    /// Too many rooms are open.
    #[error("too many rooms are open")]
    TooManyRooms,
}

/// Nobody of that id is in that room.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no participant '{id}' in room '{room}'")]
pub struct UnknownParticipant {
    /// The room that was asked for.
    pub room: String,
    /// The id that was asked for.
    pub id: String,
}

/// Why somebody may not act as a participant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HoldError {
    /// There is no such participant.
    #[error(transparent)]
    Unknown(#[from] UnknownParticipant),
    /// There is, and it is somebody else.
    #[error("participant '{id}' in room '{room}' is somebody else")]
    Stranger {
        /// The room that was asked for.
        room: String,
        /// The id that was asked for.
        id: String,
    },
}
