//! Published rules by which other servers choose layers, as rivals of the product's own
//! division ([`allocation`](crate::allocation)).
//!
//! Only the choice is modelled: which encoding and which temporal layers of each camera a
//! viewer gets, and which cameras are paused. Everything else is the same for all: the
//! estimate of the rate, with its probes; the pacer, and what happens while packets wait in
//! it; keyframes, loss repair and the choice of the loudest sounds. Both servers send
//! packets without a pacer and have estimators and probes of their own, so their choices in
//! production differ from these where the estimate does.

mod choice;
mod jitsi;
mod livekit;
#[cfg(test)]
mod samples;

use crate::routing::TrackId;
use std::collections::BTreeMap;
use weft_units::{Instant, StreamId};

pub(crate) use choice::{Camera, Choice, Down, Estimate, Layer, Layers};
use jitsi::Jitsi;
use livekit::LiveKit;

weft_units::named! {
    /// Rules by which a server chooses the layers that each viewer gets.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum AllocatorKind: "allocator" {
        /// The product's own: sound first, the smallest encodings of all cameras, then larger
        /// ones for larger tiles.
        #[default]
        Weft = "weft",
        /// LiveKit 1.13.5, with its default settings.
        LivekitRules = "livekit-rules",
        /// Jitsi Videobridge (August 2026), with its default settings.
        JitsiRules = "jitsi-rules",
    }
}

/// State of a server's rules for one viewer.
#[derive(Debug, Clone)]
pub(crate) enum Rules {
    LiveKit(LiveKit),
    Jitsi(Jitsi),
}

impl Rules {
    /// Returns the rules for a new viewer; none where the product's own division applies.
    pub(crate) fn new(kind: AllocatorKind) -> Option<Rules> {
        match kind {
            AllocatorKind::Weft => None,
            AllocatorKind::LivekitRules => Some(Rules::LiveKit(LiveKit::default())),
            AllocatorKind::JitsiRules => Some(Rules::Jitsi(Jitsi::default())),
        }
    }

    /// Returns the encoding, of those that arrive, of a camera that has just come.
    pub(crate) fn first(&self, arriving: &[TrackId]) -> Option<TrackId> {
        match self {
            Rules::LiveKit(rules) if !rules.is_deficient() => arriving.last().copied(),
            Rules::LiveKit(_) | Rules::Jitsi(_) => arriving.first().copied(),
        }
    }

    /// Returns the present choice for each camera; those of which nothing arrives have none.
    pub(crate) fn choose(
        &mut self,
        now: Instant,
        estimate: Estimate,
        cameras: &[Camera],
    ) -> &BTreeMap<StreamId, Choice> {
        match self {
            Rules::LiveKit(rules) => rules.choose(now, estimate, cameras),
            Rules::Jitsi(rules) => rules.choose(now, estimate, cameras),
        }
    }
}
