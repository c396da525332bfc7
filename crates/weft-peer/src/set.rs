use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use weft_units::{Deadline, Ecn, Instant};

use crate::{Output, Peer};

/// A peer's place in its [`PeerSet`]; never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerKey(pub u64);

/// Peers that share sockets: a datagram finds its peer by its addresses, or,
/// for the first check of a pair, by the ICE user name in it.
///
/// Order of calls: any input, then [`PeerSet::poll_output`] until `None`, then
/// [`PeerSet::poll_timeout`]. Time never goes back.
#[derive(Default)]
pub struct PeerSet {
    peers: BTreeMap<PeerKey, Member>,
    deadlines: BTreeSet<(Instant, PeerKey)>,
    routes: BTreeMap<(SocketAddr, SocketAddr), PeerKey>,
    names: BTreeMap<String, PeerKey>,
    next: u64,
    /// Peers that may have output.
    touched: BTreeSet<PeerKey>,
    /// The one whose output is being taken: what goes to one place goes in a
    /// row.
    drained: Option<PeerKey>,
    /// What those that were closed still had to send.
    farewells: VecDeque<(PeerKey, Output)>,
    /// Datagrams that belong to no peer.
    strays: u64,
}

struct Member {
    peer: Peer,
    /// As it stands in the set of all.
    due: Option<Instant>,
}

impl PeerSet {
    /// Takes a peer in.
    pub fn insert(&mut self, peer: Peer) -> PeerKey {
        let key = PeerKey(self.next);
        self.next += 1;
        self.names
            .insert(peer.association.credentials().ufrag.clone(), key);
        self.peers.insert(key, Member { peer, due: None });
        self.touched.insert(key);
        key
    }

    /// Ends a peer: it says goodbye as well as it can and is taken out.
    pub fn close(&mut self, now: Instant, key: PeerKey) {
        let Some(mut peer) = self.remove(key) else {
            return;
        };
        peer.close(now);
        while let Some(output) = peer.poll_output() {
            if let Output::Transmit { .. } = output {
                self.farewells.push_back((key, output));
            }
        }
    }

    /// Takes a peer out.
    pub fn remove(&mut self, key: PeerKey) -> Option<Peer> {
        self.names.retain(|_, k| *k != key);
        self.routes.retain(|_, k| *k != key);
        self.touched.remove(&key);
        let member = self.peers.remove(&key)?;
        if let Some(at) = member.due {
            self.deadlines.remove(&(at, key));
        }
        Some(member.peer)
    }

    /// The peer of this key.
    #[must_use]
    pub fn get(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key).map(|m| &m.peer)
    }

    /// The peer of this key, to be driven.
    pub fn get_mut(&mut self, key: PeerKey) -> Option<&mut Peer> {
        let member = self.peers.get_mut(&key)?;
        self.touched.insert(key);
        Some(&mut member.peer)
    }

    /// All peers in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (PeerKey, &Peer)> {
        self.peers.iter().map(|(k, m)| (*k, &m.peer))
    }

    /// Datagrams so far that belonged to no peer.
    #[must_use]
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// Hands a datagram to its peer and says which one that was.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        ecn: Ecn,
        datagram: &[u8],
    ) -> Option<PeerKey> {
        let named = || {
            stun_username(datagram)
                .and_then(|ufrag| self.names.get(ufrag))
                .copied()
        };
        let routed = self.routes.get(&(local, remote)).copied();
        // A name overrules a route: a browser may reuse its port for a new call.
        let Some(key) = named().or(routed) else {
            self.strays += 1;
            return None;
        };
        let peer = self.get_mut(key)?;
        let genuine = peer.handle_datagram(now, local, remote, ecn, datagram);
        // Names are no secret: only what is signed may move a route.
        if genuine && routed != Some(key) {
            self.routes.insert((local, remote), key);
        }
        Some(key)
    }

    /// The next thing that one of the peers wants done; drain it to `None`
    /// after every call that drove one.
    pub fn poll_output(&mut self) -> Option<(PeerKey, Output)> {
        if let Some(farewell) = self.farewells.pop_front() {
            return Some(farewell);
        }
        loop {
            let key = match self.drained {
                Some(key) => key,
                None => self.touched.pop_first()?,
            };
            self.drained = Some(key);
            let member = self.peers.get_mut(&key);
            if let Some(output) = member.and_then(|m| m.peer.poll_output()) {
                self.learn_route(key, &output);
                return Some((key, output));
            }
            self.drained = None;
            self.reschedule(key);
        }
    }

    /// An answer to a check bears no name: it is known by where the check
    /// went.
    fn learn_route(&mut self, key: PeerKey, output: &Output) {
        if let Output::Transmit {
            local,
            remote,
            datagram,
            ..
        } = output
            && datagram.first().is_some_and(|b| *b < 4)
        {
            self.routes.entry((*local, *remote)).or_insert(key);
        }
    }

    /// Takes back the memory of a datagram that this peer sent, for its next
    /// one. Who does not call this pays an allocation for each.
    pub fn recycle(&mut self, key: PeerKey, datagram: Vec<u8>) {
        if let Some(member) = self.peers.get_mut(&key) {
            member.peer.recycle(datagram);
        }
    }

    /// The earliest deadline of all peers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let (at, key) = *self.deadlines.first()?;
        let deadline = self.get(key).and_then(Peer::poll_timeout);
        let reason = deadline.map_or("peer", |d| d.reason);
        Some(Deadline { at, reason })
    }

    /// Wakes the peers whose deadline has come; a spurious call does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        for key in due.map(|(_, key)| *key).collect::<Vec<_>>() {
            if let Some(peer) = self.get_mut(key) {
                peer.handle_timeout(now);
            }
        }
    }

    /// Takes down when the peer wants to be woken.
    fn reschedule(&mut self, key: PeerKey) {
        let Some(member) = self.peers.get_mut(&key) else {
            return;
        };
        let due = member.peer.poll_timeout().map(|d| d.at);
        if due == member.due {
            return;
        }
        if let Some(at) = member.due {
            self.deadlines.remove(&(at, key));
        }
        if let Some(at) = due {
            self.deadlines.insert((at, key));
        }
        member.due = due;
    }
}

/// The receiver's part of the USERNAME of a STUN binding request (RFC 8445
/// section 7.2.2: `receiver:sender`).
fn stun_username(datagram: &[u8]) -> Option<&str> {
    const BINDING_REQUEST: [u8; 2] = [0x00, 0x01];
    const HEADER: usize = 20;
    const USERNAME: u16 = 0x0006;
    if datagram.len() < HEADER || datagram[..2] != BINDING_REQUEST {
        return None;
    }
    let mut attributes = &datagram[HEADER..];
    while let [t0, t1, l0, l1, rest @ ..] = attributes {
        let (kind, len) = (
            u16::from_be_bytes([*t0, *t1]),
            u16::from_be_bytes([*l0, *l1]),
        );
        let value = rest.get(..usize::from(len))?;
        if kind == USERNAME {
            return std::str::from_utf8(value).ok()?.split(':').next();
        }
        attributes = rest.get(usize::from(len).next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests;
