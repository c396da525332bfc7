//! What a call is to be.

use std::collections::BTreeSet;

use weft_cc::ControllerKind;
use weft_media::{Camera, Microphone, MicrophoneSpec};
use weft_net::LinkChoice;
use weft_publish::Degradation;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_units::{Codec, Rate};

use crate::signalling::Server;
use crate::sources::cameras::NamedCamera;

/// A call: with whom, over what, and what is sent. [`CallConfig::new`] has the
/// defaults; the fields may be changed before [`Call::start`].
///
/// [`Call::start`]: crate::Call::start
pub struct CallConfig {
    /// The server, what it asks of who comes, and whom to trust.
    pub server: Server,
    /// The room: 1 to 64 letters, digits, `-`, `_` or `.`; made if it is new.
    pub room: String,
    /// Who is received. Default: everybody.
    pub receiving: Receiving,
    /// What is sent, and over what.
    pub send: SendConfig,
}

/// What an endpoint sends, how, and over which links. [`SendConfig::default`]
/// has the defaults.
pub struct SendConfig {
    /// What the others see: 1 to 64 printable characters. Default: `weft`.
    pub name: String,
    /// The links, in the forms that [`LinkChoice`] reads: `wlan0`, an address,
    /// `5G=wwan0,metered,budget=2GB`. Default: none, which means every
    /// interface that has an address and those to come, or for a server on this
    /// machine the loopback address at which it is.
    pub links: Vec<LinkChoice>,
    /// Cameras that this crate opens, at most [`weft_rooms::MAX_CAMERAS`] with
    /// those of `own`. Default: none.
    pub cameras: Vec<NamedCamera>,
    /// A microphone that this crate opens. Default: none.
    pub microphone: Option<MicrophoneSpec>,
    /// Pictures and sound that this program makes itself. Default: none.
    pub own: OwnSources,
    /// Of all cameras. Default: VP8, of which a server can leave out temporal
    /// layers for slow receivers.
    pub codec: Codec,
    /// What gives way when the rate is low. Default: the size of the pictures.
    pub degradation: Degradation,
    /// Which packets go over which path. Default: `weft`.
    pub scheduler: SchedulerKind,
    /// What the call is spared first where its links cannot give everything.
    /// Default: balanced.
    pub preference: Preference,
    /// How many repair packets there are, towards peers that know them.
    /// Default: `weft`, as many as each path loses, and more while one is in doubt.
    pub protection: ProtectionKind,
    /// Of every path. Default: GCC.
    pub controller: ControllerKind,
    /// Bound on everything that is sent over all links together, with copies,
    /// repair, retransmissions and the headers of IP and UDP
    /// ([`weft_session::Config::send_limit`]). Default: [`SendConfig::MAX_RATE`].
    pub max_rate: Rate,
}

/// Pictures and sound that the embedding program makes itself. Both are asked
/// for on threads of their own and may block.
#[derive(Default)]
pub struct OwnSources {
    /// Cameras behind those that are named, each with what the others read at
    /// its picture.
    pub cameras: Vec<(Option<String>, Box<dyn Camera>)>,
    /// In place of a named microphone.
    pub microphone: Option<Box<dyn Microphone>>,
}

/// Whose pictures and sound a call receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Receiving {
    /// Everybody who publishes.
    #[default]
    Everybody,
    /// Those with one of these names.
    Named(BTreeSet<String>),
    /// Nobody: a call that publishes only.
    Nobody,
}

impl Receiving {
    /// Whether a participant of this name is received.
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
    /// A call in this room of the server at `url`, such as
    /// `https://HOST:PORT`, that publishes nothing yet.
    pub fn new(url: impl Into<String>, room: impl Into<String>) -> CallConfig {
        CallConfig {
            server: Server {
                url: url.into(),
                ..Server::default()
            },
            room: room.into(),
            receiving: Receiving::default(),
            send: SendConfig::default(),
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
            max_rate: SendConfig::MAX_RATE,
        }
    }
}

impl SendConfig {
    /// Most that is sent unless told: what 720p of a moving scene takes with
    /// some room. Chosen by us.
    pub const MAX_RATE: Rate = Rate::from_mbps(4);

    /// Whether there is something to send.
    #[must_use]
    pub fn publishes(&self) -> bool {
        let own = &self.own;
        let cameras = !self.cameras.is_empty() || !own.cameras.is_empty();
        cameras || self.microphone.is_some() || own.microphone.is_some()
    }
}
