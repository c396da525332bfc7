//! What is given up: offers that nobody answers, peers that no path leads to.

use weft_net::Context;
use weft_peer::{AWAY, Peer};
use weft_session::Level;
use weft_units::{Duration, Instant};

use super::{Caller, News, OfferId};

/// How long an offer waits for its answer and a peer for a path: as long as
/// consent lasts (RFC 7675 section 5.1), and as the server waits.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// After so long without any path the owner hears of it: several round trips of
/// the slowest networks. Chosen by us.
const TOLD_AFTER: Duration = Duration::from_secs(5);

/// Since when something has been waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience(Instant);

impl Patience {
    /// A wait that begins now.
    #[must_use]
    pub fn from(now: Instant) -> Patience {
        Patience(now)
    }

    /// What was waited for is there: the next wait begins at the earliest now.
    pub fn renew(&mut self, now: Instant) {
        self.0 = now;
    }

    /// Whether it has lasted for long enough.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        self.waited(now) >= PATIENCE
    }

    /// The same of a peer that was there before, if it waits as well.
    #[must_use]
    pub fn is_over_for(&self, now: Instant, peer: &Peer) -> bool {
        let waits = peer.is_connected() && peer.session().level() == Level::Full;
        match waits {
            true => self.waited(now) >= AWAY,
            false => self.is_over(now),
        }
    }

    /// How long it lasts.
    #[must_use]
    pub fn waited(&self, now: Instant) -> Duration {
        now.saturating_since(self.0)
    }
}

impl Caller {
    /// Lets nothing wait for ever.
    pub(super) fn give_up(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let overdue = self.offers.iter().filter(|(_, o)| o.patience.is_over(now));
        for id in overdue.map(|(id, _)| *id).collect::<Vec<OfferId>>() {
            self.withdraw(context, id);
        }
        for (key, counterpart) in &mut self.peers {
            let Some(peer) = context.peers().get(*key) else {
                continue;
            };
            let mut paths = peer.association().paths();
            let has_path = paths.any(|p| p.state.is_valid());
            if peer.is_connected() && has_path {
                counterpart.patience.renew(now);
            } else if counterpart.patience.is_over_for(now, peer) && !counterpart.failed {
                counterpart.failed = true;
                self.publisher.handle_left(key);
                let words = match (peer.is_connected(), peer.association().obstacle()) {
                    (true, _) => "no link leads there any more".to_owned(),
                    (false, Some(reason)) => reason.to_string(),
                    (false, None) => {
                        "no link led there over UDP; does a firewall keep it off?".to_owned()
                    }
                };
                counterpart.news.tell(News::Failed(words));
            } else if !has_path
                && !peer.is_connected()
                && counterpart.patience.waited(now) >= TOLD_AFTER
                && !counterpart.unanswered
            {
                counterpart.unanswered = true;
                counterpart.news.tell(News::Unanswered);
            }
        }
        self.allow();
    }
}
