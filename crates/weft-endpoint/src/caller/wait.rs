//! Timeouts: offers without an answer, peers without a path.

use weft_net::Context;
use weft_peer::{Peer, RECONNECT_GRACE};
use weft_session::Level;
use weft_units::{Duration, Instant};

use super::{Caller, News, OfferId};

/// Time for which an offer waits for its answer and a peer for a path: the duration of
/// consent (RFC 7675 section 5.1), and the same as on the server.
pub const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// Time without any path after which the owner is notified: several round trips
/// of the slowest networks. Chosen by us.
const NOTICE_AFTER: Duration = Duration::from_secs(5);

/// Start of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait(Instant);

impl Wait {
    /// Starts a wait now.
    #[must_use]
    pub fn from(now: Instant) -> Wait {
        Wait(now)
    }

    /// Restarts the wait.
    pub fn renew(&mut self, now: Instant) {
        self.0 = now;
    }

    /// Whether the wait has reached its limit.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        self.waited(now) >= WAIT_LIMIT
    }

    /// Whether the wait for a peer has reached its limit, which is longer for a
    /// peer that was connected and keeps its state for a reconnect.
    #[must_use]
    pub fn is_over_for(&self, now: Instant, peer: &Peer) -> bool {
        let waits = peer.is_connected() && peer.session().level() == Level::Full;
        match waits {
            true => self.waited(now) >= RECONNECT_GRACE,
            false => self.is_over(now),
        }
    }

    /// Returns the duration of the wait so far.
    #[must_use]
    pub fn waited(&self, now: Instant) -> Duration {
        now.saturating_since(self.0)
    }
}

impl Caller {
    /// Ends offers and peers whose wait has reached its limit.
    pub(super) fn give_up(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let overdue = self.offers.iter().filter(|(_, o)| o.wait.is_over(now));
        for id in overdue.map(|(id, _)| *id).collect::<Vec<OfferId>>() {
            self.withdraw(context, id);
        }
        for (key, remote_peer) in &mut self.peers {
            let Some(peer) = context.peers().get(*key) else {
                continue;
            };
            let mut paths = peer.association().paths();
            let has_path = paths.any(|p| p.state.is_valid());
            if peer.is_connected() && has_path {
                remote_peer.wait.renew(now);
            } else if remote_peer.wait.is_over_for(now, peer) && !remote_peer.failed {
                remote_peer.failed = true;
                self.publisher.handle_left(key);
                let words = match (peer.is_connected(), peer.association().obstacle()) {
                    (true, _) => "no link reaches it now".to_owned(),
                    (false, Some(reason)) => reason.to_string(),
                    (false, None) => {
                        "no link reached it over UDP; does a firewall block it? a TURN server can relay"
                            .to_owned()
                    }
                };
                remote_peer.news.send(News::Failed(words));
            } else if !has_path
                && !peer.is_connected()
                && remote_peer.wait.waited(now) >= NOTICE_AFTER
                && !remote_peer.unanswered
            {
                remote_peer.unanswered = true;
                remote_peer.news.send(News::Unanswered);
            }
        }
        self.allow();
    }
}
