use std::fmt;
use std::time::Duration;

/// Change of a link, as observed by media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// The link reaches the server.
    Up,
    /// The link reaches the server again.
    Again {
        /// Duration of the outage.
        down: Duration,
    },
    /// The link is silent. Checks are running; within about 200 ms it becomes
    /// [`Trusted`](LinkChange::Trusted) or down.
    Suspect,
    /// The suspect link works again.
    Trusted,
    /// The link no longer reaches the server.
    Down,
    /// The last working link went down. The call waits and continues once a link returns.
    AllDown,
}

impl LinkChange {
    /// Whether the link reaches the server, as far as known.
    #[must_use]
    pub fn is_up(self) -> bool {
        !matches!(self, LinkChange::Down | LinkChange::AllDown)
    }

    pub(crate) fn describe(self, link: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkChange::Up => write!(f, "link `{link}` is up"),
            LinkChange::Again { down } => {
                let seconds = down.as_secs_f64();
                write!(f, "link `{link}` is up again after {seconds:.1} s")
            }
            LinkChange::Suspect => write!(f, "link `{link}` is silent; checking it"),
            LinkChange::Trusted => write!(f, "link `{link}` answers again"),
            LinkChange::Down => write!(f, "link `{link}` is down"),
            LinkChange::AllDown => write!(
                f,
                "link `{link}` is down, and no other link works: the call waits and \
                 continues by itself"
            ),
        }
    }
}
