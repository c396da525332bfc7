//! Configuration of a call.

use std::collections::BTreeSet;
use std::net::IpAddr;

use weft_cc::ControllerKind;
use weft_media::{Camera, Microphone, MicrophoneSpec, Speaker, SpeakerError};
use weft_net::LinkChoice;
use weft_peer::data::ChannelConfig;
use weft_publish::Degradation;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_trace::live::Tracer;
use weft_units::{Codec, Rate};

use crate::caller::Sending;
use crate::signalling::Server;
use crate::sources::cameras::NamedCamera;
use crate::turn::TurnServer;

/// Configuration of a call: server, links and sources. [`CallConfig::new`] sets the
/// defaults; you can change the fields before [`Call::start`].
///
/// [`Call::start`]: crate::Call::start
pub struct CallConfig {
    /// Server, its access token and the certificates to trust.
    pub server: Server,
    /// Room: 1 to 64 letters, digits, `-`, `_` or `.`; created if it does not
    /// exist.
    pub room: String,
    /// Participants to receive. Default: all.
    pub receiving: Receiving,
    /// Sources, links and sending parameters.
    pub send: SendConfig,
    /// Data channels to the room, at most [`weft_peer::data::MAX_CHANNELS`]. Messages go to
    /// and come from all participants with the same label. They use the publishing
    /// connection, so a source is required. Default: none.
    pub channels: Vec<ChannelConfig>,
    /// Opens the loudspeaker that plays all received participants; called again while it
    /// fails during the call. Default: none.
    pub speaker: Option<OpenSpeaker>,
    /// Echo cancellation between loudspeaker and microphone. Default: on.
    pub echo: EchoCancellation,
}

/// Configuration of a sender with direct viewers. [`DirectConfig::new`] sets the
/// defaults.
pub struct DirectConfig {
    /// Sources, links and sending parameters.
    pub send: SendConfig,
    /// Address of this machine to use if viewers connect only to it. Without configured
    /// links, the call uses only this address. Default: none, which means every interface.
    pub here: Option<IpAddr>,
    /// Opens the loudspeaker that plays all viewers, mixed; called again while it fails
    /// during the call. Default: none; offers then accept no sound.
    pub speaker: Option<OpenSpeaker>,
    /// Echo cancellation between loudspeaker and microphone. Default: on.
    pub echo: EchoCancellation,
    /// Whether the offers accept pictures. Default: they do not.
    pub viewer_cameras: ViewerCameras,
}

/// Whether viewers may send pictures of a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewerCameras {
    /// Not accepted.
    #[default]
    Refused,
    /// Each viewer may send one camera, in the codec of the sender's cameras:
    /// [`DirectEvent::Frame`](crate::DirectEvent::Frame).
    Received,
}

/// Opens the loudspeaker, initially and after a failure.
pub type OpenSpeaker = Box<dyn FnMut() -> Result<Box<dyn Speaker>, SpeakerError> + Send>;

/// Removal of the loudspeaker's sound from the microphone's sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EchoCancellation {
    /// Active if there are both. The transmitted sound is then mono.
    #[default]
    On,
    /// Inactive, for headphones and devices with their own echo cancellation.
    Off,
}

/// Sources, sending parameters and links of an endpoint. [`SendConfig::default`] sets the
/// defaults.
pub struct SendConfig {
    /// Name that the others see: 1 to 64 printable characters. Default: `weft`.
    pub name: String,
    /// Links, in the forms that [`LinkChoice`] reads: `wlan0`, an address,
    /// `5G=wwan0,metered,budget=2GB`. Default: none, which means every
    /// interface that has an address, now or later; for a server on this
    /// machine, its loopback address.
    pub links: Vec<LinkChoice>,
    /// Cameras that this crate opens, at most [`weft_rooms::MAX_CAMERAS`]
    /// including those of `own`. Default: none.
    pub cameras: Vec<NamedCamera>,
    /// Microphone that this crate opens. Default: none.
    pub microphone: Option<MicrophoneSpec>,
    /// Pictures and sound from the embedding program. Default: none.
    pub own: OwnSources,
    /// Codec of all cameras. Default: VP8, whose temporal layers a server can
    /// drop for slow receivers.
    pub codec: Codec,
    /// Quality to reduce at low rates. Default: picture size.
    pub degradation: Degradation,
    /// Scheduler: chooses the path of each packet. Default: `weft`.
    pub scheduler: SchedulerKind,
    /// Quality to protect first if the links cannot carry everything. Default: balanced.
    pub preference: Preference,
    /// Protection: amount of repair packets, for peers that support them. Default:
    /// `weft`, which matches the loss of each path and adds more while a path is suspect.
    pub protection: ProtectionKind,
    /// Congestion controller of every path. Default: GCC.
    pub controller: ControllerKind,
    /// TURN servers for links over which UDP does not reach the other side, in addition
    /// to those that the server offers. Default: none.
    pub turn_servers: Vec<TurnServer>,
    /// Limit on everything sent over all links together, with copies, repair
    /// packets, retransmissions and the headers of IP and UDP
    /// ([`weft_session::Config::send_limit`]). Default:
    /// [`SendConfig::MAX_RATE`].
    pub max_rate: Rate,
    /// Tracer of packets and events. Default: none.
    pub tracer: Option<Tracer>,
}

/// Pictures and sound from the embedding program. Each source runs on its own
/// thread and may block.
#[derive(Default)]
pub struct OwnSources {
    /// Cameras after the named ones, each with a caption for the others.
    pub cameras: Vec<(Option<String>, Box<dyn Camera>)>,
    /// Microphone used instead of a named one.
    pub microphone: Option<Box<dyn Microphone>>,
}

/// Participants whose media a call receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Receiving {
    /// All participants who publish.
    #[default]
    Everybody,
    /// Participants with one of these names.
    Named(BTreeSet<String>),
    /// No participants: the call only publishes.
    Nobody,
}

impl Receiving {
    /// Whether a participant with this name is received.
    #[must_use]
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Receiving::Everybody => true,
            Receiving::Named(names) => names.contains(name),
            Receiving::Nobody => false,
        }
    }
}

impl CallConfig {
    /// Creates the configuration of a call in this room of the server at `url`, such as
    /// `https://HOST:PORT`; it publishes nothing yet.
    pub fn new(url: impl Into<String>, room: impl Into<String>) -> CallConfig {
        CallConfig {
            server: Server {
                url: url.into(),
                ..Server::default()
            },
            room: room.into(),
            receiving: Receiving::default(),
            send: SendConfig::default(),
            channels: Vec::new(),
            speaker: None,
            echo: EchoCancellation::default(),
        }
    }
}

impl DirectConfig {
    /// Creates a sender of these sources that receives nothing from its viewers.
    #[must_use]
    pub fn new(send: SendConfig) -> DirectConfig {
        DirectConfig {
            send,
            here: None,
            speaker: None,
            echo: EchoCancellation::default(),
            viewer_cameras: ViewerCameras::default(),
        }
    }
}

impl Default for SendConfig {
    fn default() -> SendConfig {
        SendConfig {
            name: "weft".to_owned(),
            links: Vec::new(),
            cameras: Vec::new(),
            microphone: None,
            own: OwnSources::default(),
            codec: Codec::Vp8,
            degradation: Degradation::default(),
            scheduler: SchedulerKind::default(),
            preference: Preference::default(),
            protection: ProtectionKind::default(),
            controller: ControllerKind::Gcc,
            turn_servers: Vec::new(),
            max_rate: SendConfig::MAX_RATE,
            tracer: None,
        }
    }
}

impl SendConfig {
    /// Default limit of the sending rate: 720p of a moving scene with some
    /// headroom. Chosen by us.
    pub const MAX_RATE: Rate = Rate::from_mbps(4);

    /// Whether there is a source to publish.
    #[must_use]
    pub fn publishes(&self) -> bool {
        let own = &self.own;
        let cameras = !self.cameras.is_empty() || !own.cameras.is_empty();
        cameras || self.microphone.is_some() || own.microphone.is_some()
    }
}

impl From<&SendConfig> for Sending {
    fn from(config: &SendConfig) -> Sending {
        Sending {
            scheduler: config.scheduler,
            preference: config.preference,
            protection: config.protection,
            controller: config.controller,
            codec: config.codec,
            max_rate: config.max_rate,
            cname: config.name.clone(),
        }
    }
}
