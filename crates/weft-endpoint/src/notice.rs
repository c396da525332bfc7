//! What an endpoint says of its links, cameras and sound while it runs.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use weft_media::CameraError;
use weft_net::{LinkError, WatchError};

use crate::sources::sound::SoundError;
use crate::sources::video::Load;

/// What happens to an endpoint's own links, cameras and sound. As text it is
/// one sentence for people, with what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// A link that was named is not there; it joins the call when it comes.
    LinkAwaited {
        /// As it was chosen, or as its interface is called.
        link: String,
        /// Why it is not there.
        error: LinkError,
    },
    /// There is no right to tie a link's sockets to its interface: only the
    /// source address is fixed, and the system's routes decide the rest.
    LinkUntied {
        /// As it was chosen, or as its interface is called.
        link: String,
    },
    /// A link came.
    LinkArrived {
        /// As it was chosen, or as its interface is called.
        link: String,
        /// Those that calls use from now on.
        addresses: Vec<IpAddr>,
    },
    /// A link went.
    LinkLeft {
        /// As it was chosen, or as its interface is called.
        link: String,
    },
    /// A link has used up its budget and carries nothing more.
    BudgetSpent {
        /// As it was chosen, or as its interface is called.
        link: String,
    },
    /// The system does not tell when links come and go.
    LinksUnwatched(WatchError),
    /// A camera gives no more pictures.
    CameraEnded(CameraError),
    /// The microphone gives no more sound.
    SoundEnded(SoundError),
    /// There is a file already where a recording is to begin; it is left alone.
    RecordingElsewhere {
        /// The path that was asked for.
        taken: PathBuf,
        /// Where it is recorded instead.
        path: PathBuf,
    },
    /// A recording has as many files as it may; newcomers are not recorded.
    RecordingFull {
        /// Its files.
        files: usize,
    },
    /// Who is recorded sends H.264, which WebM cannot hold.
    RecordingOfSound {
        /// The file, which gets the sound.
        path: PathBuf,
    },
    /// A recording has ended for which nobody sent anything.
    NothingRecorded {
        /// The file that there is not.
        path: PathBuf,
    },
    /// A file cannot be written any more; the call goes on.
    RecordingFailed(
        /// What the system says.
        String,
    ),
    /// An encoder does not keep up with its camera.
    TooSlow {
        /// Share of the pictures that were not encoded, 0 to 1.
        missed: f64,
    },
    /// An encoder that was too slow keeps up with its camera again.
    FastEnough,
}

/// The load of an encoder.
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
                    "link `{link}`: {}; it joins the call when it comes",
                    absence(error)
                )
            }
            Notice::LinkUntied { link } => write!(
                f,
                "link `{link}`: no right to tie sockets to the interface; only the source address \
                 is fixed (run as root, or `setcap cap_net_raw+ep` on the binary, or add `ip rule \
                 add from ADDRESS`)"
            ),
            Notice::LinkArrived { link, addresses } => {
                let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
                write!(f, "link `{link}` is here: {}", addresses.join(", "))
            }
            Notice::LinkLeft { link } => write!(f, "link `{link}` has gone"),
            Notice::BudgetSpent { link } => write!(
                f,
                "link `{link}` has used up its budget; it carries nothing more"
            ),
            Notice::LinksUnwatched(error) => error.fmt(f),
            Notice::CameraEnded(error) => error.fmt(f),
            Notice::SoundEnded(error) => error.fmt(f),
            Notice::RecordingElsewhere { taken, path } => write!(
                f,
                "{} is there already; recording to {}",
                taken.display(),
                path.display()
            ),
            Notice::RecordingFull { files } => write!(
                f,
                "the recording has {files} files; participants and cameras that come now are not \
                 recorded"
            ),
            Notice::RecordingOfSound { path } => write!(
                f,
                "{}: they send H.264, which WebM cannot hold; only their sound is recorded (their \
                 pictures are if they send VP8)",
                path.display()
            ),
            Notice::NothingRecorded { path } => write!(
                f,
                "{}: nobody sent anything, so there is no recording",
                path.display()
            ),
            Notice::RecordingFailed(error) => {
                write!(f, "{error}; this recording has ended, the call goes on")
            }
            Notice::TooSlow { missed } => write!(
                f,
                "this machine is too slow for its cameras: {:.0} % of the pictures of one were \
                 not encoded; end other programs, or choose smaller pictures",
                100.0 * missed
            ),
            Notice::FastEnough => f.write_str("this machine is fast enough for its cameras again"),
        }
    }
}

fn absence(error: &LinkError) -> String {
    match error {
        LinkError::UnknownInterface { present, .. } => {
            format!("there is no such interface now (there are: {present})")
        }
        LinkError::NoAddress(_) => "its interface has no address yet".to_owned(),
        _ => "no interface has this address now".to_owned(),
    }
}

/// Who is told of notices. Clones tell the same. It is called on any of the
/// endpoint's threads, the network's too, and must not block.
#[derive(Clone)]
pub struct Notices(Arc<dyn Fn(Notice) + Send + Sync>);

impl Notices {
    /// Tells this function.
    pub fn new(tell: impl Fn(Notice) + Send + Sync + 'static) -> Notices {
        Notices(Arc::new(tell))
    }

    /// Drops every notice, for who has no use for them.
    #[must_use]
    pub fn ignored() -> Notices {
        Notices::new(drop)
    }

    /// Tells of one.
    pub fn tell(&self, notice: Notice) {
        (self.0)(notice);
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notices")
    }
}
