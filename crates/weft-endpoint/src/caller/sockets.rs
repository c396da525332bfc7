//! The sockets of each peer, as links come and go.

use weft_ice::LinkId;
use weft_net::{Attachment, Context};
use weft_units::{Duration, Instant};

use super::following::Held;
use super::{Caller, Counterpart};
use crate::links::Links;

/// Who only receives tries the reserves when the regular links have brought
/// nothing about for so long: ICE's first checks are over then. Chosen by us.
const RESERVES_AFTER: Duration = Duration::from_secs(3);

impl Caller {
    /// Every peer gets a socket at each new place of a link; the paths of
    /// those that went away end at once, and what they held goes out on the
    /// others.
    pub(super) fn follow_links(&mut self, context: &mut Context<'_>) {
        let held = self.peers.values().flat_map(|c| &c.locals);
        let held = held.chain(self.offers.values().flat_map(|o| &o.locals));
        for held in held.copied().collect::<Vec<Held>>() {
            self.following.count(context, held);
        }
        let present = self.following.links.present();
        self.following.tell_changes(&present);
        let keys: Vec<_> = self.peers.keys().copied().collect();
        for key in keys {
            let connected = context.peers().get(key).is_some_and(|p| p.is_connected());
            let Some(counterpart) = self.peers.get_mut(&key) else {
                continue;
            };
            let links = &self.following.links;
            let reserves = counterpart.wants_reserves(context.now, links, &present, connected);
            let wanted = |(link, _): &&(LinkId, Attachment)| reserves || links.is_regular(*link);
            let wanted: Vec<(LinkId, Attachment)> =
                present.iter().filter(wanted).copied().collect();
            let gone = |held: &Held| !wanted.contains(&(held.link, held.place));
            let gone: Vec<Held> = counterpart.locals.extract_if(.., |l| gone(l)).collect();
            let now = context.now;
            for held in gone {
                if let Some(peer) = context.peer(key) {
                    peer.remove_local(now, held.addr);
                }
                self.following.close(context, held);
            }
            for place in wanted {
                let used = |held: &Held| (held.link, held.place) == place;
                if counterpart.locals.iter().any(used) {
                    continue;
                }
                let Some((held, local)) = self.following.open(context, place) else {
                    continue;
                };
                counterpart.locals.push(held);
                if let Some(peer) = context.peer(key) {
                    peer.add_local(now, local);
                }
            }
        }
        self.following.schedule(context.now);
    }
}

impl Counterpart {
    /// Whether metered links and backups are opened to this peer. Where we
    /// send, the session's scheduler sees to it that they carry what they may;
    /// what the other side sends is the other side's to schedule, so who only
    /// receives opens them when no regular link brings anything.
    fn wants_reserves(
        &self,
        now: Instant,
        links: &Links,
        present: &[(LinkId, Attachment)],
        connected: bool,
    ) -> bool {
        let sends = !self.cameras.is_empty() || self.microphone.is_some();
        if sends || !present.iter().any(|(link, _)| links.is_regular(*link)) {
            return true;
        }
        let served = self.live.values().any(|link| links.is_regular(*link));
        !served && (connected || self.patience.waited(now) >= RESERVES_AFTER)
    }
}
