//! Somebody in a room, as others see them: in JSON, the same for who tells it
//! and who reads it.

use crate::seen::is_shown;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

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

/// Most links that a participant can report, and has. Chosen by us.
pub const MAX_LINKS: usize = 16;

/// What a participant sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Publishing {
    /// Pictures: the cameras in order.
    #[serde(default)]
    pub cameras: Vec<Camera>,
    /// Sound.
    pub audio: bool,
}

/// State of a participant's own upload. With [`Publishing`] it tells somebody who
/// has switched everything off from somebody whose upload broke.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upload {
    /// The participant's token allows watching only.
    NotAllowed,
    /// The participant has sent nothing so far, or ended the upload.
    #[default]
    None,
    /// A connection is up; it may carry nothing, if everything is switched off.
    Connected,
    /// The connection broke and was not replaced.
    Lost,
}

/// One stream of pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Camera {
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Camera {
    /// One that its owner calls so, as far as others can be shown that.
    #[must_use]
    pub fn called(name: &str) -> Camera {
        let name: String = name.chars().filter(|c| is_shown(*c)).collect();
        Camera {
            name: (!name.is_empty()).then_some(name),
        }
    }
}

impl Publishing {
    /// Whether there is something in it that the other has not.
    #[must_use]
    pub fn has_more_than(&self, other: &Publishing) -> bool {
        self.cameras.len() > other.cameras.len() || self.audio && !other.audio
    }

    /// Whether nothing is published.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Publishing::default()
    }
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
    /// No checks are answered on it.
    Down,
}

/// Why a link carries nothing (docs/use/links.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// The sender's machine has no route to the server over it.
    NoRoute,
    /// The sender's machine drops what comes in over it.
    RpFilter,
    /// TCP reaches the server over it; UDP does not come back.
    UdpBlocked,
    /// Something else answers in the server's place.
    CaptivePortal,
    /// Nothing comes back, for a reason that the sender cannot see.
    #[serde(other)]
    Silent,
}

impl TroubleKind {
    /// As it is written in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TroubleKind::NoRoute => "no_route",
            TroubleKind::RpFilter => "rp_filter",
            TroubleKind::UdpBlocked => "udp_blocked",
            TroubleKind::CaptivePortal => "captive_portal",
            TroubleKind::Silent => "silent",
        }
    }
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
    /// Why it carries nothing; none if it does, or nobody has found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<TroubleKind>,
}

/// Longest name of a link that others are told, in characters. Chosen by us.
const MAX_LINK_NAME: usize = 64;

impl LinkReport {
    /// Leaves of what its owner calls it as much as fits, and can be printed:
    /// whoever comes into the room is told of all links there.
    pub(crate) fn shorten(&mut self) {
        let fits = self.name.chars().count() <= MAX_LINK_NAME;
        if !fits || !self.name.chars().all(is_shown) {
            let shown = self.name.chars().filter(|c| is_shown(*c));
            self.name = shown.take(MAX_LINK_NAME).collect();
        }
    }
}

/// Somebody in a room.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Participant {
    /// Unique in the room.
    pub id: String,
    /// The name that they asked for, with a number where another one there has
    /// it: no two in a room have the same.
    pub name: String,
    /// What it runs.
    pub kind: ParticipantKind,
    /// What it sends.
    pub publishing: Publishing,
    /// State of the connection that it sends over.
    pub upload: Upload,
    /// Its links, if it reports them.
    pub links: Vec<LinkReport>,
}

#[cfg(test)]
mod tests;
