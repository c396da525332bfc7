//! Sockets of each peer while links appear and disappear.

use std::net::SocketAddr;

use weft_ice::LinkId;
use weft_net::{Attachment, Context};
use weft_peer::PeerKey;
use weft_units::{Duration, Instant};

use super::following::Held;
use super::{Caller, RemotePeer};
use crate::links::{LinkUse, Links};

/// Time after which a receive-only connection tries metered links and backups, if the
/// regular links have reached nothing: ICE's first checks are complete by then. Chosen by
/// us.
const RESERVES_AFTER: Duration = Duration::from_secs(3);

impl Caller {
    /// Gives every peer a socket at each new address of a link. Paths of links
    /// that disappeared end at once, and their packets in flight move to other
    /// paths.
    pub(super) fn follow_links(&mut self, context: &mut Context<'_>) {
        let held = self.peers.values().flat_map(|c| &c.locals);
        let held = held.chain(self.offers.values().flat_map(|o| &o.locals));
        let held = held.copied().chain(self.relaying.held());
        for held in held.collect::<Vec<Held>>() {
            self.following.count(context, held);
        }
        let present = self.following.links.present();
        self.following.tell_changes(&present);
        let keys: Vec<_> = self.peers.keys().copied().collect();
        for key in keys {
            let connected = context.peers().get(key).is_some_and(|p| p.is_connected());
            let Some(remote_peer) = self.peers.get_mut(&key) else {
                continue;
            };
            let links = &self.following.links;
            let reserves = remote_peer.wants_reserves(context.now, links, &present, connected);
            let wanted = |(link, _): &&(LinkId, Attachment)| reserves || links.is_regular(*link);
            let wanted: Vec<(LinkId, Attachment)> =
                present.iter().filter(wanted).copied().collect();
            let gone = |held: &Held| !wanted.contains(&(held.link, held.place));
            let gone: Vec<Held> = remote_peer.locals.extract_if(.., |l| gone(l)).collect();
            let now = context.now;
            for held in gone {
                if let Some(peer) = context.peer(key) {
                    peer.remove_local(now, held.addr);
                }
                self.following.close(context, held);
            }
            for place in wanted {
                let used = |held: &Held| (held.link, held.place) == place;
                if remote_peer.locals.iter().any(used) {
                    continue;
                }
                let Some((held, local)) = self.following.open(context, place) else {
                    continue;
                };
                remote_peer.locals.push(held);
                if let Some(peer) = context.peer(key) {
                    peer.add_local(now, local);
                }
            }
        }
        let relay = self.relay_links(context, &present);
        self.following.schedule(context.now, relay);
    }

    /// Changes the use of a link: its paths get the new policy, or end if the link is
    /// switched off.
    pub(super) fn use_link(&mut self, context: &mut Context<'_>, name: &str, usage: LinkUse) {
        let Some(link) = self.following.links.set_use(name, usage) else {
            return;
        };
        self.following.expect(link, usage);
        let policy = self.following.links.policy(link);
        let now = context.now;
        for (key, remote_peer) in &self.peers {
            let Some(peer) = context.peer(*key) else {
                continue;
            };
            let paths = remote_peer.live.iter().filter(|(_, of)| **of == link);
            for (path, _) in paths {
                peer.set_path_policy(now, *path, policy);
            }
        }
        self.follow_links(context);
    }

    /// Opens an additional socket beside this one, and moves the peer's sending to it.
    /// Each place keeps at most one additional socket.
    pub(super) fn add_address(
        &mut self,
        context: &mut Context<'_>,
        key: PeerKey,
        beside: SocketAddr,
    ) {
        let Some(counterpart) = self.peers.get_mut(&key) else {
            return;
        };
        let place = counterpart.locals.iter().find(|held| held.addr == beside);
        let Some((link, place)) = place.map(|held| (held.link, held.place)) else {
            return;
        };
        let Some((held, local)) = self.following.open(context, (link, place)) else {
            return;
        };
        let now = context.now;
        if let Some(peer) = context.peer(key) {
            peer.move_selection(now, local);
        }
        // The first socket remains, because the peer knows it from the description.
        let here = |held: &&Held| (held.link, held.place) == (link, place);
        let more = counterpart.locals.iter().filter(here).skip(1);
        let more: Vec<SocketAddr> = more.map(|held| held.addr).collect();
        let earlier = counterpart
            .locals
            .extract_if(.., |held| more.contains(&held.addr));
        let earlier: Vec<Held> = earlier.collect();
        counterpart.locals.push(held);
        for held in earlier {
            if let Some(peer) = context.peer(key) {
                peer.remove_local(now, held.addr);
            }
            self.following.close(context, held);
        }
    }
}

impl RemotePeer {
    /// Whether this peer gets sockets on metered links and backups. For
    /// outgoing media, the session's scheduler limits their use. The other side
    /// schedules incoming media, so a receive-only connection opens them only
    /// when no regular link works.
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
        !served && (connected || self.wait.waited(now) >= RESERVES_AFTER)
    }
}
