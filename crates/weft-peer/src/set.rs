mod ingress;
mod key;
mod routes;

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use weft_ice::{Credentials, Route};
use weft_secure::{Event as AssociationEvent, FailReason};
use weft_units::{Deadline, Ecn, FiveTuple, Instant, Rate};

use crate::{Event, Fragment, Output, Peer};
use ingress::Ingress;
pub use key::PeerKey;
use routes::Routes;

/// Peers that share sockets. The addresses of a datagram identify its peer; for the first
/// check of a pair, the ICE user name does.
///
/// Order of calls: any input, then [`PeerSet::poll_output`] until `None`, then
/// [`PeerSet::poll_timeout`]. Time must not decrease.
///
/// If handling one peer panics, only that peer ends: it is removed and fails with
/// [`FailReason::Defect`].
#[derive(Default)]
pub struct PeerSet {
    peers: BTreeMap<PeerKey, Member>,
    /// Deadlines of the peers, with their reasons.
    deadlines: BTreeMap<(Instant, PeerKey), &'static str>,
    routes: Routes,
    names: BTreeMap<String, PeerKey>,
    next: u64,
    /// Peers that may have output, in the order in which they were driven; keys of
    /// removed peers are skipped.
    touched: VecDeque<PeerKey>,
    /// Outputs of the peer that was polled last, so that datagrams to one address are
    /// sent consecutively.
    ready: VecDeque<Output>,
    ready_of: Option<PeerKey>,
    /// Remaining outputs of closed peers.
    closing: VecDeque<(PeerKey, Output)>,
    /// Datagrams that belong to no peer.
    unroutable: u64,
    /// Datagrams that their peers could not use.
    discarded: u64,
}

struct Member {
    peer: Peer,
    /// Deadline as recorded in the set.
    due: Option<Deadline>,
    /// Routes as recorded in the set, and their revision.
    routes: Vec<Route>,
    revision: Option<u64>,
    /// Bound on its datagrams, if any.
    ingress: Option<Ingress>,
    /// Whether it is among the peers that may have output.
    touched: bool,
}

impl Member {
    /// Adds it to the peers that may have output.
    fn touch(&mut self, key: PeerKey, touched: &mut VecDeque<PeerKey>) {
        if !std::mem::replace(&mut self.touched, true) {
            touched.push_back(key);
        }
    }

    /// Calls the peer. If that panics, the peer is broken and must be removed.
    fn attempt<R>(&mut self, call: impl FnOnce(&mut Peer) -> R) -> std::thread::Result<R> {
        catch_unwind(AssertUnwindSafe(|| call(&mut self.peer)))
    }

    /// Updates the routing table if the peer's pairs have changed.
    fn follow_routes(&mut self, key: PeerKey, routes: &mut Routes) {
        let revision = Some(self.peer.association.routes_revision());
        if self.revision != revision {
            let after: Vec<Route> = self.peer.association.routes().collect();
            routes.update(key, &self.routes, &after);
            (self.routes, self.revision) = (after, revision);
        }
    }

    /// Records the peer's next deadline among those of all peers.
    fn reschedule(
        &mut self,
        key: PeerKey,
        due: Option<Deadline>,
        deadlines: &mut BTreeMap<(Instant, PeerKey), &'static str>,
    ) {
        if self.due == due {
            return;
        }
        if let Some(before) = self.due {
            deadlines.remove(&(before.at, key));
        }
        if let Some(due) = due {
            deadlines.insert((due.at, key), due.reason);
        }
        self.due = due;
    }
}

impl PeerSet {
    /// Adds a peer.
    pub fn insert(&mut self, peer: Peer) -> PeerKey {
        let key = PeerKey(self.next);
        self.next += 1;
        self.names
            .insert(peer.association.credentials().ufrag.clone(), key);
        let mut member = Member {
            peer,
            due: None,
            routes: Vec::new(),
            revision: None,
            ingress: None,
            touched: true,
        };
        member.follow_routes(key, &mut self.routes);
        self.peers.insert(key, member);
        self.touched.push_back(key);
        key
    }

    /// Bounds the total rate of a peer's datagrams from now on; the default is no bound.
    /// Datagrams beyond the rate and a burst of one second are dropped unread and counted
    /// as discarded.
    pub fn limit_ingress(&mut self, key: PeerKey, rate: Rate) {
        if let Some(member) = self.peers.get_mut(&key) {
            match &mut member.ingress {
                Some(ingress) => ingress.set_rate(rate),
                None => member.ingress = Some(Ingress::new(rate)),
            }
        }
    }

    /// Returns the bound on a peer's incoming rate, if there is one.
    #[must_use]
    pub fn ingress_limit(&self, key: PeerKey) -> Option<Rate> {
        self.peers.get(&key)?.ingress.as_ref().map(Ingress::rate)
    }

    /// Ends a peer: sends its goodbye, without a guarantee of delivery, and removes it.
    pub fn close(&mut self, now: Instant, key: PeerKey) {
        let mut ready = match self.ready_of == Some(key) {
            true => std::mem::take(&mut self.ready),
            false => VecDeque::new(),
        };
        let Some(mut peer) = self.remove(key) else {
            return;
        };
        let closing = &mut self.closing;
        ready.retain(|output| matches!(output, Output::Transmit { .. }));
        closing.extend(ready.into_iter().map(|output| (key, output)));
        // If even this fails, there is nothing more to end.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            peer.close(now);
            while let Some(output) = peer.poll_output() {
                if let Output::Transmit { .. } = output {
                    closing.push_back((key, output));
                }
            }
        }));
    }

    /// Removes a peer.
    pub fn remove(&mut self, key: PeerKey) -> Option<Peer> {
        if self.ready_of == Some(key) {
            self.ready.clear();
        }
        let member = self.peers.remove(&key)?;
        self.routes.update(key, &member.routes, &[]);
        let name = &member.peer.association.credentials().ufrag;
        if self.names.get(name) == Some(&key) {
            self.names.remove(name);
        }
        if let Some(due) = member.due {
            self.deadlines.remove(&(due.at, key));
        }
        Some(member.peer)
    }

    /// Peer with this key.
    #[must_use]
    pub fn get(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key).map(|m| &m.peer)
    }

    /// Peer with this key, mutable.
    pub fn get_mut(&mut self, key: PeerKey) -> Option<&mut Peer> {
        let member = self.peers.get_mut(&key)?;
        member.touch(key, &mut self.touched);
        Some(&mut member.peer)
    }

    /// All peers in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (PeerKey, &Peer)> {
        self.peers.iter().map(|(k, m)| (*k, &m.peer))
    }

    /// Number of address pairs that lead to a peer.
    #[must_use]
    pub fn routes(&self) -> usize {
        self.routes.len()
    }

    /// Number of datagrams so far that belonged to no peer.
    #[must_use]
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Number of datagrams so far that their peer could not use ([`Peer::discarded`]),
    /// including those of removed peers.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Peer that owns these addresses, for any datagram.
    #[must_use]
    pub fn owner(&self, tuple: FiveTuple) -> Option<PeerKey> {
        self.routes.of(tuple).first().copied()
    }

    /// Restarts ICE of a peer with its new credentials in the fragment and these new ones
    /// of ours. Datagrams on its existing paths still reach it.
    pub fn restart(&mut self, now: Instant, key: PeerKey, ours: Credentials, fragment: &Fragment) {
        let Some(member) = self.peers.get(&key) else {
            return;
        };
        let before = member.peer.association.credentials().ufrag.clone();
        if self.names.get(&before) == Some(&key) {
            self.names.remove(&before);
        }
        self.names.insert(ours.ufrag.clone(), key);
        if let Some(theirs) = &fragment.credentials {
            let candidates = &fragment.candidates;
            self.drive(key, |peer| peer.restart(now, ours, theirs, candidates));
        }
        if let Some(member) = self.peers.get_mut(&key) {
            member.follow_routes(key, &mut self.routes);
        }
    }

    /// Passes a datagram to its peer and returns the peer's key.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) -> Option<PeerKey> {
        let named = stun_user_name(datagram).and_then(|ufrag| self.names.get(ufrag));
        // A name overrules a route: a browser may reuse its port for a new call.
        let claimants = match named {
            Some(key) => std::slice::from_ref(key),
            None => self.routes.of(tuple),
        };
        let Some(&owner) = claimants.first() else {
            self.unroutable += 1;
            return None;
        };
        // An answer to a check has no name; the keys show which peer it belongs to.
        let others = match is_stun(datagram) && claimants.len() > 1 {
            true => claimants[1..].to_vec(),
            false => Vec::new(),
        };
        for key in std::iter::once(owner).chain(others) {
            if self.handle_datagram_of(now, key, tuple, ecn, datagram) {
                return Some(key);
            }
        }
        Some(owner)
    }

    /// Passes a datagram to this peer, unless it exceeds its bound. Returns true if the
    /// datagram had the peer's signature.
    fn handle_datagram_of(
        &mut self,
        now: Instant,
        key: PeerKey,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) -> bool {
        let Some(member) = self.peers.get_mut(&key) else {
            self.discarded += 1;
            return false;
        };
        if member.ingress.is_some_and(|i| i.is_exhausted(now)) {
            self.discarded += 1;
            return false;
        }
        member.touch(key, &mut self.touched);
        let handled = member.attempt(|peer| {
            let before = peer.discarded();
            let genuine = peer.handle_datagram(now, tuple, ecn, datagram);
            (genuine, peer.discarded() - before)
        });
        let Ok((genuine, discarded)) = handled else {
            self.discarded += 1;
            self.fail(key);
            return false;
        };
        self.discarded += discarded;
        member.follow_routes(key, &mut self.routes);
        if let (true, Some(ingress)) = (genuine, &mut member.ingress) {
            ingress.count(now, datagram.len());
        }
        genuine
    }

    /// Drives a peer; poll its outputs afterwards. Returns `None` if the peer does not
    /// exist or has just failed.
    pub fn drive<R>(&mut self, key: PeerKey, call: impl FnOnce(&mut Peer) -> R) -> Option<R> {
        let member = self.peers.get_mut(&key)?;
        member.touch(key, &mut self.touched);
        match member.attempt(call) {
            Ok(done) => Some(done),
            Err(_) => {
                self.fail(key);
                None
            }
        }
    }

    /// Removes a broken peer.
    fn fail(&mut self, key: PeerKey) {
        let broken = self.remove(key);
        // Dropping it may panic again.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(broken)));
        let reason = FailReason::Defect;
        let failed = Event::Association(AssociationEvent::Failed { reason });
        self.closing.push_back((key, Output::Event(failed)));
    }

    /// Returns the next output of any peer; call it until `None` after every call that drove one.
    pub fn poll_output(&mut self) -> Option<(PeerKey, Output)> {
        loop {
            if let Some(output) = self.closing.pop_front() {
                return Some(output);
            }
            if let Some(output) = self.ready.pop_front() {
                return Some((self.ready_of?, output));
            }
            let key = self.touched.pop_front()?;
            let Some(member) = self.peers.get_mut(&key) else {
                continue;
            };
            member.touched = false;
            // Answers to the checks that are sent now must find this peer.
            member.follow_routes(key, &mut self.routes);
            self.ready_of = Some(key);
            let due = member.attempt(|peer| {
                peer.swap_outputs(&mut self.ready);
                peer.poll_timeout()
            });
            match due {
                Ok(due) => member.reschedule(key, due, &mut self.deadlines),
                Err(_) => self.fail(key),
            }
        }
    }

    /// Returns the buffer of a datagram that this peer sent, for reuse. Without this
    /// call, each datagram costs an allocation.
    pub fn recycle(&mut self, key: PeerKey, datagram: Vec<u8>) {
        if let Some(member) = self.peers.get_mut(&key) {
            member.peer.recycle(datagram);
        }
    }

    /// The earliest deadline of all peers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let ((at, _), reason) = self.deadlines.first_key_value()?;
        Some(Deadline { at: *at, reason })
    }

    /// Handles the timeouts of all peers that are due; a spurious call does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = self.deadlines.keys().take_while(|(at, _)| *at <= now);
        for key in due.map(|(_, key)| *key).collect::<Vec<_>>() {
            self.drive(key, |peer| peer.handle_timeout(now));
        }
    }
}

/// Whether a datagram is STUN, by its first byte (RFC 7983 section 7).
#[must_use]
pub fn is_stun(datagram: &[u8]) -> bool {
    matches!(datagram, [0..=3, ..])
}

/// Returns the receiver's part of the USERNAME of a STUN binding request (RFC 8445
/// section 7.2.2: `receiver:sender`). The check may be forged.
#[must_use]
pub fn stun_user_name(datagram: &[u8]) -> Option<&str> {
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
