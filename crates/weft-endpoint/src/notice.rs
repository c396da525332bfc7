//! Reports of an endpoint about its links, cameras and sound.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use weft_media::{CameraError, SpeakerError};
use weft_net::{LinkError, WatchError};

use crate::sources::sound::SoundError;
use crate::sources::video::Load;

/// Report about an endpoint's own links, cameras and sound. Its text is a sentence for
/// users, with the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// A configured link is missing; it joins the call when it appears.
    LinkAwaited {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Reason why it is missing.
        error: LinkError,
    },
    /// Permission to bind a link's sockets to its interface is missing. Only the source
    /// address is fixed; the system's routes decide the rest.
    LinkUntied {
        /// Configured name of the link, or name of its interface.
        link: String,
    },
    /// A link appeared.
    LinkArrived {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Addresses that calls use from now on.
        addresses: Vec<IpAddr>,
    },
    /// A link disappeared.
    LinkLeft {
        /// Configured name of the link, or name of its interface.
        link: String,
    },
    /// A link has used up its budget and carries no more packets.
    BudgetSpent {
        /// Configured name of the link, or name of its interface.
        link: String,
    },
    /// No UDP packets return on a link, so a TURN server relays for it.
    LinkRelayed {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Address of the server, and the transport of messages to it.
        server: String,
    },
    /// UDP packets return again on a link with a relay; the relay has ended.
    LinkDirect {
        /// Configured name of the link, or name of its interface.
        link: String,
    },
    /// A TURN server does not relay for a link. The endpoint retries later.
    RelayFailed {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Address of the server, and the transport of messages to it.
        server: String,
        /// Reason and remedy: a sentence without its subject, the server.
        reason: String,
    },
    /// The system does not report link changes.
    LinksUnwatched(WatchError),
    /// A camera stopped.
    CameraEnded(CameraError),
    /// The microphone stopped.
    SoundEnded(SoundError),
    /// The loudspeaker failed. It is reopened as soon as possible.
    SpeakerLost(SpeakerError),
    /// The loudspeaker plays again.
    SpeakerBack,
    /// The recording's file already exists and is not overwritten.
    RecordingElsewhere {
        /// Path as requested.
        taken: PathBuf,
        /// Path used instead.
        path: PathBuf,
    },
    /// The recording has reached its maximum number of files; newcomers are not recorded.
    RecordingFull {
        /// Number of files.
        files: usize,
    },
    /// The recorded participant sends H.264, which WebM cannot contain.
    RecordingOfSound {
        /// File that gets only the sound.
        path: PathBuf,
    },
    /// A recording ended without any media.
    NothingRecorded {
        /// File that was not created.
        path: PathBuf,
    },
    /// Writing a file failed; the call continues.
    RecordingFailed(
        /// Message of the system.
        String,
    ),
    /// An encoder is slower than its camera.
    TooSlow {
        /// Share of the pictures that were not encoded, 0 to 1.
        missed: f64,
    },
    /// An encoder keeps up with its camera again.
    FastEnough,
}

/// Conversion of an encoder's load.
impl From<Load> for Notice {
    fn from(load: Load) -> Notice {
        match load {
            Load::TooHigh(missed) => Notice::TooSlow { missed },
            Load::Fine => Notice::FastEnough,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::LinkAwaited { link, error } => {
                write!(
                    f,
                    "link `{link}`: {}; it joins the call when it appears",
                    absence(error)
                )
            }
            Notice::LinkUntied { link } => write!(
                f,
                "link `{link}`: no permission to bind sockets to the interface; only the source \
                 address is fixed (run as root, or `setcap cap_net_raw+ep` on the binary, or add `ip rule \
                 add from ADDRESS`)"
            ),
            Notice::LinkArrived { link, addresses } => {
                let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
                write!(f, "link `{link}` appeared: {}", addresses.join(", "))
            }
            Notice::LinkLeft { link } => write!(f, "link `{link}` disappeared"),
            Notice::BudgetSpent { link } => write!(
                f,
                "link `{link}` has used up its budget and carries no more traffic"
            ),
            Notice::LinkRelayed { link, server } => write!(
                f,
                "link `{link}`: nothing comes back over UDP; using the TURN server {server}"
            ),
            Notice::LinkDirect { link } => write!(
                f,
                "link `{link}`: UDP comes back; no TURN server is needed any more"
            ),
            Notice::RelayFailed {
                link,
                server,
                reason,
            } => write!(
                f,
                "link `{link}`: the TURN server {server} {reason}; trying again"
            ),
            Notice::LinksUnwatched(error) => error.fmt(f),
            Notice::CameraEnded(error) => error.fmt(f),
            Notice::SoundEnded(error) => error.fmt(f),
            Notice::SpeakerLost(error) => {
                write!(f, "{error}; trying again while the call continues")
            }
            Notice::SpeakerBack => f.write_str("the speaker plays again"),
            Notice::RecordingElsewhere { taken, path } => write!(
                f,
                "{} already exists; recording to {}",
                taken.display(),
                path.display()
            ),
            Notice::RecordingFull { files } => write!(
                f,
                "the recording has reached its limit of {files} files; new participants and \
                 cameras are not recorded"
            ),
            Notice::RecordingOfSound { path } => write!(
                f,
                "{}: the sender uses H.264, which WebM cannot hold; only the sound is recorded \
                 (pictures need a sender with VP8)",
                path.display()
            ),
            Notice::NothingRecorded { path } => write!(
                f,
                "{}: no media was received, so no recording was written",
                path.display()
            ),
            Notice::RecordingFailed(error) => {
                write!(f, "{error}; this recording has ended, the call continues")
            }
            Notice::TooSlow { missed } => write!(
                f,
                "this machine is too slow for its cameras: {:.0} % of one camera's pictures \
                 were not encoded; stop other programs, or choose smaller pictures",
                100.0 * missed
            ),
            Notice::FastEnough => f.write_str("this machine is fast enough for its cameras again"),
        }
    }
}

fn absence(error: &LinkError) -> String {
    match error {
        LinkError::UnknownInterface { present, .. } => {
            format!("the interface does not exist now (existing interfaces: {present})")
        }
        LinkError::NoAddress(_) => "its interface has no address yet".to_owned(),
        _ => "no interface has this address now".to_owned(),
    }
}

/// Callback for notices; clones share it. Called on any thread of the endpoint,
/// including the network thread; must not block.
#[derive(Clone)]
pub struct Notices(Arc<dyn Fn(Notice) + Send + Sync>);

impl Notices {
    /// Creates notices that call this function.
    pub fn new(tell: impl Fn(Notice) + Send + Sync + 'static) -> Notices {
        Notices(Arc::new(tell))
    }

    /// Drops every notice.
    #[must_use]
    pub fn ignored() -> Notices {
        Notices::new(drop)
    }

    /// Reports a notice.
    pub fn send(&self, notice: Notice) {
        (self.0)(notice);
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notices")
    }
}
