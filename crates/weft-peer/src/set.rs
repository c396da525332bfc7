use std::collections::BTreeMap;
use std::net::SocketAddr;

use weft_units::{Deadline, Instant};

use crate::{Output, Peer};

/// A peer's place in its [`PeerSet`]; never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerKey(pub u64);

/// Peers that share sockets: a datagram finds its peer by its addresses, or,
/// for the first check of a pair, by the ICE user name in it.
#[derive(Default)]
pub struct PeerSet {
    peers: BTreeMap<PeerKey, Peer>,
    routes: BTreeMap<(SocketAddr, SocketAddr), PeerKey>,
    names: BTreeMap<String, PeerKey>,
    next: u64,
    /// Datagrams that belong to no peer.
    strays: u64,
}

impl PeerSet {
    /// Takes a peer in.
    pub fn insert(&mut self, peer: Peer) -> PeerKey {
        let key = PeerKey(self.next);
        self.next += 1;
        self.names
            .insert(peer.association.credentials().ufrag.clone(), key);
        self.peers.insert(key, peer);
        key
    }

    /// Takes a peer out.
    pub fn remove(&mut self, key: PeerKey) -> Option<Peer> {
        self.names.retain(|_, k| *k != key);
        self.routes.retain(|_, k| *k != key);
        self.peers.remove(&key)
    }

    /// The peer of this key.
    #[must_use]
    pub fn get(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key)
    }

    /// The peer of this key, to be driven.
    pub fn get_mut(&mut self, key: PeerKey) -> Option<&mut Peer> {
        self.peers.get_mut(&key)
    }

    /// All peers in order of their keys.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PeerKey, &mut Peer)> {
        self.peers.iter_mut().map(|(k, p)| (*k, p))
    }

    /// All peers in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (PeerKey, &Peer)> {
        self.peers.iter().map(|(k, p)| (*k, p))
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
        let peer = self.peers.get_mut(&key)?;
        let genuine = peer.handle_datagram(now, local, remote, datagram);
        // Names are no secret: only what is signed may move a route.
        if genuine && routed != Some(key) {
            self.routes.insert((local, remote), key);
        }
        Some(key)
    }

    /// The next thing that this peer wants done; drain it to `None` after
    /// every call that drove it.
    pub fn poll_output(&mut self, key: PeerKey) -> Option<Output> {
        let output = self.peers.get_mut(&key)?.poll_output();
        if let Some(Output::Transmit {
            local,
            remote,
            datagram,
        }) = &output
        {
            // An answer to a check bears no name: it is known by where the
            // check went.
            if datagram.first().is_some_and(|b| *b < 4) {
                self.routes.entry((*local, *remote)).or_insert(key);
            }
        }
        output
    }

    /// The earliest deadline of all peers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.peers
            .values()
            .fold(None, |next, p| Deadline::earlier(next, p.poll_timeout()))
    }

    /// Wakes the peers whose deadline has come and says which.
    pub fn handle_timeout(&mut self, now: Instant) -> Vec<PeerKey> {
        let mut woken = Vec::new();
        for (key, peer) in &mut self.peers {
            if peer.poll_timeout().is_some_and(|d| d.at <= now) {
                peer.handle_timeout(now);
                woken.push(*key);
            }
        }
        woken
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
