use weft_units::Rng;
use weft_wire::sdp::{Media, SessionDescription, Setup};

use super::describe::bundle;
use super::plan::AnswerPolicy;
use crate::config::PeerConfig;

/// Answers that this side has given over one connection.
pub(crate) struct Answered {
    pub(crate) config: PeerConfig,
    pub(crate) policy: AnswerPolicy,
    pub(crate) setup: Setup,
    /// Whether header extensions of both forms may be sent (RFC 8285 section 6).
    pub(crate) allows_mixed: bool,
    /// Sections, as answered.
    pub(crate) media: Vec<Media>,
    pub(crate) session_id: u64,
    pub(crate) version: u64,
    pub(crate) rng: Rng,
}

impl Answered {
    /// Returns the answer to an offer, whose sections must all have been answered.
    pub(crate) fn description(&self, offer: &SessionDescription) -> SessionDescription {
        let accepted = self.media.iter().filter(|m| !m.is_rejected());
        let accepted: Vec<_> = accepted.filter_map(|m| m.mid).collect();
        let group = offer.bundle.iter().filter(|mid| accepted.contains(mid));
        let group = group.copied().collect();
        let session = (self.session_id, self.version);
        bundle(session, group, self.media.clone(), self.allows_mixed)
    }
}
