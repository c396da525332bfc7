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

/// Peers that share sockets: a datagram finds its peer by its addresses, or,
/// for the first check of a pair, by the ICE user name in it.
///
/// Order of calls: any input, then [`PeerSet::poll_output`] until `None`, then
/// [`PeerSet::poll_timeout`]. Time never goes back.
///
/// A panic in the handling of one peer ends that peer alone: it is taken out,
/// and fails with [`FailReason::Defect`].
#[derive(Default)]
pub struct PeerSet {
    peers: BTreeMap<PeerKey, Member>,
    /// Deadlines of the peers, with their reasons.
    deadlines: BTreeMap<(Instant, PeerKey), &'static str>,
    routes: Routes,
    names: BTreeMap<String, PeerKey>,
    next: u64,
    /// Peers that may have output, in the order in which they were driven; keys of
    /// removed ones are skipped.
    touched: VecDeque<PeerKey>,
    /// Outputs of the peer that was polled last, so that datagrams to one address
    /// leave in a row.
    ready: VecDeque<Output>,
    ready_of: Option<PeerKey>,
    /// Last outputs of closed peers.
    closing: VecDeque<(PeerKey, Output)>,
    /// Datagrams that belong to no peer.
    unroutable: u64,
    /// Datagrams that their peer could not use.
    discarded: u64,
}

struct Member {
    peer: Peer,
    /// As it stands in the set of all.
    due: Option<Deadline>,
    /// As they stand among all, and the revision that they are of.
    routes: Vec<Route>,
    revision: Option<u64>,
    /// Bound on its datagrams, if there is one.
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

    /// Calls the peer. Where that panics, the peer is broken and must be taken out.
    fn attempt<R>(&mut self, call: impl FnOnce(&mut Peer) -> R) -> std::thread::Result<R> {
        catch_unwind(AssertUnwindSafe(|| call(&mut self.peer)))
    }

    /// Tells the table of routes when the peer's pairs are others than before.
    fn follow_routes(&mut self, key: PeerKey, routes: &mut Routes) {
        let revision = Some(self.peer.association.routes_revision());
        if self.revision != revision {
            let after: Vec<Route> = self.peer.association.routes().collect();
            routes.update(key, &self.routes, &after);
            (self.routes, self.revision) = (after, revision);
        }
    }

    /// Notes the peer's next deadline among those of all.
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
    /// Takes a peer in.
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

    /// Bounds what a peer may send from now on, all datagrams together; without
    /// it nothing does. What comes beyond, and beyond a second's worth in a row, is dropped
    /// before it is looked at, and counted as discarded.
    pub fn limit_ingress(&mut self, key: PeerKey, rate: Rate) {
        if let Some(member) = self.peers.get_mut(&key) {
            match &mut member.ingress {
                Some(ingress) => ingress.set_rate(rate),
                None => member.ingress = Some(Ingress::new(rate)),
            }
        }
    }

    /// Returns the rate that a peer may send, where that is bounded.
    #[must_use]
    pub fn ingress_limit(&self, key: PeerKey) -> Option<Rate> {
        self.peers.get(&key)?.ingress.as_ref().map(Ingress::rate)
    }

    /// Ends a peer: it says goodbye as well as it can and is taken out.
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
        // Nothing is left to end if even this fails.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            peer.close(now);
            while let Some(output) = peer.poll_output() {
                if let Output::Transmit { .. } = output {
                    closing.push_back((key, output));
                }
            }
        }));
    }

    /// Takes a peer out.
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

    /// The peer of this key.
    #[must_use]
    pub fn get(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key).map(|m| &m.peer)
    }

    /// The peer of this key, to be driven.
    pub fn get_mut(&mut self, key: PeerKey) -> Option<&mut Peer> {
        let member = self.peers.get_mut(&key)?;
        member.touch(key, &mut self.touched);
        Some(&mut member.peer)
    }

    /// All peers in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (PeerKey, &Peer)> {
        self.peers.iter().map(|(k, m)| (*k, &m.peer))
    }

    /// Pairs of addresses by which datagrams find their peer.
    #[must_use]
    pub fn routes(&self) -> usize {
        self.routes.len()
    }

    /// Datagrams so far that belonged to no peer.
    #[must_use]
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Datagrams so far that their peer could not use ([`Peer::discarded`]), including
    /// those of peers that are gone.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// The peer that these addresses lead to, whatever comes by them.
    #[must_use]
    pub fn owner(&self, tuple: FiveTuple) -> Option<PeerKey> {
        self.routes.of(tuple).first().copied()
    }

    /// Restarts ICE of a peer with the credentials of its fragment and these of
    /// ours. Datagrams of the paths that it has still find it.
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

    /// Hands a datagram to its peer and says which one that was.
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
        // An answer to a check bears no name: whose it is, its keys say.
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

    /// Hands a datagram to this peer, if it may send more. True if it bore the peer's
    /// signature.
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

    /// Drives a peer. What it wants done is there to be polled. `None` if it is
    /// not there, or is not any more: it failed.
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

    /// Takes out a peer that is broken.
    fn fail(&mut self, key: PeerKey) {
        let broken = self.remove(key);
        // Its remains may panic once more.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(broken)));
        let reason = FailReason::Defect;
        let failed = Event::Association(AssociationEvent::Failed { reason });
        self.closing.push_back((key, Output::Event(failed)));
    }

    /// The next thing that one of the peers wants done; drain it to `None`
    /// after every call that drove one.
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
            // The answers to the checks that go out now have to find it.
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
        let ((at, _), reason) = self.deadlines.first_key_value()?;
        Some(Deadline { at: *at, reason })
    }

    /// Wakes the peers whose deadline has come; a spurious call does nothing.
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
