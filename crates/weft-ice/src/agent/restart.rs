//! ICE restart (RFC 8445 section 9).

use super::{Agent, Credentials, Identity, RemoteCandidate};
use crate::stun;
use weft_units::Instant;

impl Agent {
    /// Starts another session: both sides have new credentials, and the peer
    /// may have new addresses. Valid paths stay until new ones exist or their
    /// checks fail, so media continues. Does nothing before
    /// [`Agent::set_remote`].
    pub fn restart(
        &mut self,
        now: Instant,
        ours: Credentials,
        theirs: &Credentials,
        candidates: &[RemoteCandidate],
    ) {
        if self.remote.take().is_none() {
            return;
        }
        let identity = Identity {
            tie_breaker: self.local.current.tie_breaker,
            key: stun::key(&ours.pwd),
            credentials: ours,
        };
        self.local.previous = Some(std::mem::replace(&mut self.local.current, identity));
        // A new session restarts its nomination values.
        self.selection.wanted = None;
        self.selection.confirmed = false;
        self.remotes.clear();
        self.remove_pairs(now, |pair| !pair.is_valid());
        self.set_remote(now, theirs, candidates);
    }

    /// Credentials of the peer, once they are known.
    #[must_use]
    pub fn remote_credentials(&self) -> Option<&Credentials> {
        self.remote.as_ref().map(|peer| &peer.credentials)
    }
}
