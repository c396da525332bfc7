use std::fmt;
use std::time::Duration;

/// What happened to a link, as far as media knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// It leads to the server.
    Up,
    /// It leads there again.
    Again {
        /// After so long.
        down: Duration,
    },
    /// Nothing is heard over it for the moment. Checks are on their way: some
    /// 200 ms later it is [`Trusted`](LinkChange::Trusted) or down.
    Suspect,
    /// It was suspect, and something is heard over it.
    Trusted,
    /// It leads there no more.
    Down,
    /// It leads there no more, and was the last one that did. The call waits
    /// and goes on by itself.
    AllDown,
}

impl LinkChange {
    /// Whether the link leads to the server now, as far as is known.
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
            LinkChange::Suspect => write!(f, "link `{link}` is silent; it is being checked"),
            LinkChange::Trusted => write!(f, "link `{link}` answers again"),
            LinkChange::Down => write!(f, "link `{link}` is down"),
            LinkChange::AllDown => write!(
                f,
                "link `{link}` is down, and no other leads to the server: the call waits and goes \
                 on by itself"
            ),
        }
    }
}
