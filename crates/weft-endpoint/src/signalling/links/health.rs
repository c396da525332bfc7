//! Order of links for requests: those without recent faults come first.

use std::fmt;
use std::time::{Duration, Instant};

/// Time for which a link is avoided after its first failure; doubled after each further
/// one. Chosen by us: the time limit of a request, so that each attempt uses another
/// link.
const FIRST_PAUSE: Duration = Duration::from_secs(10);

/// Maximum time for which a link is avoided. Chosen by us: a link is retried within a
/// minute after the login at a captive portal.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Reason why requests fail over a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// A captive portal or transparent proxy answers instead of the server.
    Portal {
        /// Its answer, as the continuation of "it answers".
        answer: String,
    },
    /// Connections open, but answers do not arrive: large packets are lost (a
    /// path MTU black hole), or the link has just gone down.
    Stalled,
    /// Connections are refused or reset.
    Broken(
        /// Message of the system.
        String,
    ),
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkFault::Portal { answer } => write!(
                f,
                "a captive portal seems to answer instead of the server, {answer}; log in to this \
                 network"
            ),
            LinkFault::Stalled => f.write_str(
                "connections to the server open, but no answer arrives; if large packets are lost, \
                 lower its MTU, for example to 1280",
            ),
            LinkFault::Broken(error) => write!(f, "connections to the server fail: {error}"),
        }
    }
}

/// State of one link for requests.
#[derive(Default)]
pub(super) struct Health {
    /// Down, as observed by media.
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

    /// Records a successful request.
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
