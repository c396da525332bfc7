//! Links that come and go during a call.

use std::net::{IpAddr, SocketAddr};

use weft_net::Context;

use super::Caller;

impl Caller {
    /// Interfaces get and lose addresses during a call: every peer gets a
    /// socket on each new one, and paths of those that went away end.
    pub(super) fn follow_links(&mut self, context: &mut Context<'_>) {
        let present = self.links.present();
        for (key, counterpart) in &mut self.peers {
            let now = context.now;
            let used: Vec<IpAddr> = counterpart.locals.iter().map(SocketAddr::ip).collect();
            if present.iter().all(|ip| used.contains(ip)) && used.len() == present.len() {
                continue;
            }
            let gone = |l: &SocketAddr| !present.contains(&l.ip());
            for address in counterpart.locals.extract_if(.., |l| gone(l)) {
                if let Some(peer) = context.peer(*key) {
                    peer.remove_local(now, address);
                }
                context.remove_socket(address);
            }
            for access in self.links.open(&used) {
                if context.add_socket(access.socket).is_err() {
                    continue;
                }
                counterpart.locals.push(access.local.addr);
                if let Some(peer) = context.peer(*key) {
                    peer.add_local(now, access.local);
                }
            }
        }
    }
}
