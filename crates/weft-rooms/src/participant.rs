//! Participant as others see it; its JSON form is the same for the server and
//! its clients.

use crate::seen::is_shown;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// Kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantKind {
    /// The web page.
    Browser,
    /// A native weft endpoint.
    Native,
    /// Another WHIP client.
    Whip,
}

/// Maximum number of cameras of one participant; each is a stream for everybody
/// else. One more than the Converge paper evaluates.
pub const MAX_CAMERAS: usize = 4;

/// Maximum number of links of a participant. Chosen by us.
pub const MAX_LINKS: usize = 16;

/// Published tracks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Publishing {
    /// Cameras, in order.
    #[serde(default)]
    pub cameras: Vec<Camera>,
    /// Sound.
    pub audio: bool,
}

/// State of a participant's own upload. Together with [`Publishing`], it
/// distinguishes a participant who has switched everything off from one whose
/// upload broke.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upload {
    /// The participant's token allows watching only.
    NotAllowed,
    /// The participant has sent nothing so far, or ended the upload.
    #[default]
    None,
    /// The connection is established; it may carry nothing, if everything is
    /// switched off.
    Connected,
    /// The connection broke and was not replaced.
    Lost,
}

/// Video stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Camera {
    /// Caption chosen by the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is a shared screen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub screen: bool,
    /// Whether it sends nothing at present. It keeps its place among the cameras.
    #[serde(default, skip_serializing_if = "is_false")]
    pub off: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Media that a publisher has not switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Enabled {
    /// All cameras.
    pub video: bool,
    /// Sound.
    pub audio: bool,
    /// Shared screens.
    #[serde(default)]
    pub screen: bool,
}

impl Enabled {
    /// State of a new publication: a screen is off until its owner switches it on,
    /// because clients negotiate it in advance.
    pub const AT_FIRST: Enabled = Enabled {
        video: true,
        audio: true,
        screen: false,
    };
}

impl Camera {
    /// Camera with this caption, reduced to displayable characters.
    #[must_use]
    pub fn called(name: &str) -> Camera {
        let name: String = name.chars().filter(|c| is_shown(*c)).collect();
        Camera {
            name: (!name.is_empty()).then_some(name),
            ..Camera::default()
        }
    }
}

impl Publishing {
    /// Whether it has a track that `other` lacks.
    #[must_use]
    pub fn has_more_than(&self, other: &Publishing) -> bool {
        self.cameras.len() > other.cameras.len() || self.audio && !other.audio
    }

    /// The tracks that are switched on. A camera that is off keeps its place before one
    /// that is on.
    #[must_use]
    pub fn enabled(&self, enabled: Enabled) -> Publishing {
        let mut shown = self.clone();
        for camera in &mut shown.cameras {
            camera.off = !if camera.screen {
                enabled.screen
            } else {
                enabled.video
            };
        }
        let on = shown.cameras.iter().rposition(|camera| !camera.off);
        shown.cameras.truncate(on.map_or(0, |place| place + 1));
        shown.audio &= enabled.audio;
        shown
    }

    /// Whether it has no track.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Publishing::default()
    }
}

/// The field `video` says whether there is a camera, for readers that show only
/// one.
impl Serialize for Publishing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Publishing", 3)?;
        fields.serialize_field("video", &self.cameras.iter().any(|camera| !camera.off))?;
        fields.serialize_field("audio", &self.audio)?;
        fields.serialize_field("cameras", &self.cameras)?;
        fields.end()
    }
}

/// State of a link, as reported by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// The link carries packets.
    Up,
    /// The link is silent; checks are running.
    Suspect,
    /// No check on the link is answered.
    Down,
}

/// Reason why a link carries nothing (docs/use/links.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// The sender's machine has no route to the server over the link.
    NoRoute,
    /// The sender's machine drops packets that arrive over the link.
    RpFilter,
    /// TCP reaches the server over the link; UDP gets no answer.
    UdpBlocked,
    /// A captive portal answers instead of the server.
    CaptivePortal,
    /// Nothing is answered, for a reason that the sender cannot determine.
    #[serde(other)]
    Silent,
}

impl TroubleKind {
    /// Name in JSON.
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

/// Link of a sender, with its own statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkReport {
    /// Name chosen by the sender.
    pub name: String,
    /// State of the link.
    pub state: LinkState,
    /// Round-trip time in milliseconds.
    #[serde(default)]
    pub rtt_ms: f64,
    /// Sending rate in Mbit/s.
    #[serde(default)]
    pub sent_mbps: f64,
    /// Target rate of the controller, in Mbit/s.
    #[serde(default)]
    pub target_mbps: f64,
    /// Share of packets lost, 0 to 1.
    #[serde(default)]
    pub loss: f64,
    /// Whether traffic costs money.
    #[serde(default)]
    pub metered: bool,
    /// Whether it is used only while no other link works.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backup: bool,
    /// Remaining budget in megabytes, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_left_mb: Option<f64>,
    /// Reason why it carries nothing; `None` if it works, or the reason is
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<TroubleKind>,
}

/// Maximum length of a link's name in reports, in characters. Chosen by us.
const MAX_LINK_NAME: usize = 64;

impl LinkReport {
    /// Shortens the link's name and removes unprintable characters: every
    /// newcomer in the room gets all link reports.
    pub(crate) fn shorten(&mut self) {
        let fits = self.name.chars().count() <= MAX_LINK_NAME;
        if !fits || !self.name.chars().all(is_shown) {
            let shown = self.name.chars().filter(|c| is_shown(*c));
            self.name = shown.take(MAX_LINK_NAME).collect();
        }
    }
}

/// Participant of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Participant {
    /// Unique id in the room.
    pub id: String,
    /// Requested name, with a number if another participant of the room has it:
    /// names are unique in a room.
    pub name: String,
    /// Kind of client.
    pub kind: ParticipantKind,
    /// Published tracks.
    pub publishing: Publishing,
    /// State of the uploading connection.
    pub upload: Upload,
    /// Link reports, if the client sends them.
    pub links: Vec<LinkReport>,
    /// Whether a moderator has muted the participant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Whether the participant may moderate the room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moderator: bool,
    /// Place in the order of raised hands, the smallest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand: Option<u64>,
    /// Id of the same person on the server of the cluster that they have moved from. They
    /// are in the room twice until they have left that server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<String>,
}

#[cfg(test)]
mod tests;
