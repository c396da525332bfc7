//! Order in which requests try the links: those without recent trouble first.

use std::fmt;
use std::time::{Duration, Instant};

/// How long a link is avoided after its first failure; twice as long after
/// each further one. Chosen by us.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// Longest that a link is avoided. Chosen by us: a minute after a captive portal
/// has let us in, its link is tried.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why requests fail over a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// Something else answers in the server's place: a captive portal, or a
    /// proxy that the network forces on its users.
    Portal {
        /// Its answer, as the continuation of "it answers".
        answer: String,
    },
    /// Connections open, and then answers do not come: large packets are lost
    /// (a path MTU black hole), or the link has just died.
    Stalled,
    /// Connections are refused or break.
    Broken(
        /// The system's words.
        String,
    ),
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkFault::Portal { answer } => write!(
                f,
                "a captive portal seems to answer in the server's place, {answer}; log in to this \
                 network"
            ),
            LinkFault::Stalled => f.write_str(
                "connections to the server open, but answers do not come (are large packets lost \
                 there?)",
            ),
            LinkFault::Broken(error) => write!(f, "connections to the server fail: {error}"),
        }
    }
}

/// State of one link, as far as requests are concerned.
#[derive(Default)]
pub(super) struct Health {
    /// Media says that it does not lead to the server.
    pub down: bool,
    pub fault: Option<LinkFault>,
    failures: u32,
    avoided_until: Option<Instant>,
}

impl Health {
    pub fn fail(&mut self, now: Instant, fault: LinkFault) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(8));
        self.failures += 1;
        self.avoided_until = Some(now + pause.min(LONGEST_PAUSE));
        self.fault = Some(fault);
    }

    /// A request was answered over it.
    pub fn succeed(&mut self) {
        let down = self.down;
        *self = Health {
            down,
            ..Health::default()
        };
    }

    /// Whether other links are tried first.
    pub fn is_avoided(&self, now: Instant) -> bool {
        self.down || self.avoided_until.is_some_and(|until| now < until)
    }
}
