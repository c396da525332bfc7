use std::fmt;

use weft_net::RouteFault;
use weft_rooms::TroubleKind;

/// Reason why a link carries no packets. Its text is a clause for display, with the
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTrouble {
    /// Routing on this machine blocks outgoing packets, or drops the answers.
    Route(RouteFault),
    /// TCP reaches the server over the link; UDP packets do not return.
    UdpBlocked,
    /// A captive portal answers instead of the server.
    CaptivePortal {
        /// Its answer, as the continuation of "it answers".
        answer: String,
    },
    /// No packets return over the link, for a reason that this machine cannot determine.
    Silent,
}

impl LinkTrouble {
    /// Returns the kind of trouble for the room and for programs.
    #[must_use]
    pub fn kind(&self) -> TroubleKind {
        match self {
            LinkTrouble::Route(RouteFault::NoRoute { .. }) => TroubleKind::NoRoute,
            LinkTrouble::Route(RouteFault::ReversePathFilter { .. }) => TroubleKind::RpFilter,
            LinkTrouble::UdpBlocked => TroubleKind::UdpBlocked,
            LinkTrouble::CaptivePortal { .. } => TroubleKind::CaptivePortal,
            LinkTrouble::Silent => TroubleKind::Silent,
        }
    }
}

impl fmt::Display for LinkTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkTrouble::Route(fault) => write!(f, "{fault}; {}", fault.remedy()),
            LinkTrouble::UdpBlocked => f.write_str(
                "TCP reaches the server over it, but nothing comes back over UDP; a firewall or \
                 the carrier blocks UDP; a TURN server can relay over TCP",
            ),
            LinkTrouble::CaptivePortal { answer } => write!(
                f,
                "a captive portal seems to answer instead of the server, {answer}; log in to that \
                 network"
            ),
            LinkTrouble::Silent => {
                f.write_str("nothing comes back from the server, over neither UDP nor TCP")
            }
        }
    }
}
