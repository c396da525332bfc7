use std::fmt;

use weft_net::RouteFault;
use weft_rooms::TroubleKind;

/// Why a link carries nothing. As text it is a clause for people, with the
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTrouble {
    /// This machine keeps its packets, or drops what comes back.
    Route(RouteFault),
    /// TCP reaches the server over it; UDP does not come back.
    UdpBlocked,
    /// Something else answers in the server's place.
    CaptivePortal {
        /// How it answers, as the continuation of "it answers".
        answer: String,
    },
    /// Nothing comes back over it, for a reason that this machine cannot see.
    Silent,
}

impl LinkTrouble {
    /// The kind alone, as the room and programs read it.
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
                 the carrier blocks UDP",
            ),
            LinkTrouble::CaptivePortal { answer } => write!(
                f,
                "a captive portal seems to answer in the server's place, {answer}; log in to that \
                 network"
            ),
            LinkTrouble::Silent => {
                f.write_str("nothing comes back from the server, over neither UDP nor TCP")
            }
        }
    }
}
