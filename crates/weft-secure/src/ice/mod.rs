//! An ICE agent that keeps every pair valid that works, instead of one.

mod liveness;
mod nominate;
mod pair;
mod schedule;
mod stun;
mod types;

pub(crate) use schedule::Phase;
pub use types::{
    Credentials, DownReason, IceRole, LinkId, LocalAddress, Path, PathState, RemoteCandidate,
    RemoteFilter,
};

use crate::Event;
use crate::counters::DropReason;
use crate::outbox::Outbox;
use liveness::Suspicion;
use nominate::Selection;
use pair::{Pair, Sent};
use std::net::SocketAddr;
use stun_types::message::IntegrityKey;
use types::can_pair;
use weft_units::{Deadline, Instant, PathId, Rng};

/// Bounds of what a peer or a caller can make an association remember. RFC
/// 8445 section 6.1.2.5 suggests at most 100 pairs.
const MAX_LOCALS: usize = 16;
const MAX_REMOTES: usize = 32;
const MAX_PAIRS: usize = 64;
const MAX_EARLY: usize = 16;

/// RFC 8839 section 5.4.
const MAX_UFRAG: usize = 256;

pub(crate) struct Agent {
    role: IceRole,
    tie_breaker: u64,
    local: Identity,
    remote: Option<Peer>,
    locals: Vec<LocalAddress>,
    remotes: Vec<RemoteCandidate>,
    pairs: Vec<Pair>,
    /// The latest check of each pair of addresses that came before the remote
    /// description. It may not be answered yet; answered later, it saves the
    /// peer a repetition.
    early: Vec<(SocketAddr, SocketAddr, stun::Request)>,
    suspicion: Option<Suspicion>,
    selection: Selection,
    phase: Phase,
    next_first_check: Instant,
    next_id: u8,
    rng: Rng,
}

struct Identity {
    credentials: Credentials,
    key: IntegrityKey,
}

struct Peer {
    key: IntegrityKey,
    /// User name of our checks.
    username: String,
}

impl Agent {
    pub fn new(role: IceRole, tie_breaker: u64, credentials: Credentials, rng: Rng) -> Agent {
        Agent {
            role,
            tie_breaker,
            local: Identity {
                key: stun::key(&credentials.pwd),
                credentials,
            },
            remote: None,
            locals: Vec::new(),
            remotes: Vec::new(),
            pairs: Vec::new(),
            early: Vec::new(),
            suspicion: None,
            selection: Selection::default(),
            phase: Phase::Handshake,
            next_first_check: Instant::ZERO,
            next_id: 0,
            rng,
        }
    }

    pub fn credentials(&self) -> &Credentials {
        &self.local.credentials
    }

    pub fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    pub fn set_remote(
        &mut self,
        now: Instant,
        credentials: &Credentials,
        candidates: &[RemoteCandidate],
        out: &mut Outbox,
    ) {
        let ours = &self.local.credentials.ufrag;
        let theirs: String = credentials.ufrag.chars().take(MAX_UFRAG).collect();
        self.remote = Some(Peer {
            key: stun::key(&credentials.pwd),
            username: format!("{theirs}:{ours}"),
        });
        let mut candidates = candidates.to_vec();
        candidates.sort_by_key(|c| std::cmp::Reverse(c.priority));
        for candidate in candidates {
            self.add_remote(now, candidate, out);
        }
        for (local, remote, request) in std::mem::take(&mut self.early) {
            if let Err(reason) = self.on_request(now, local, remote, &request, out) {
                out.counters.count_drop(reason);
            }
        }
        self.handle_timeout(now, out);
    }

    pub fn add_remote(&mut self, now: Instant, candidate: RemoteCandidate, out: &mut Outbox) {
        if self.remotes.iter().any(|r| r.addr == candidate.addr) {
            return;
        }
        if self.remotes.len() == MAX_REMOTES {
            out.counters.pairs_refused += 1;
            return;
        }
        self.remotes.push(candidate);
        self.make_pairs(now, out);
    }

    pub fn add_local(&mut self, now: Instant, local: LocalAddress, out: &mut Outbox) {
        match self.locals.iter().position(|l| l.addr == local.addr) {
            Some(i) => {
                let excluded =
                    |p: &Pair| p.path.local == local.addr && !local.remotes.allows(p.path.remote);
                self.remove_pairs(now, excluded, out);
                for pair in &mut self.pairs {
                    if pair.path.local == local.addr {
                        pair.link_cost = local.cost;
                        pair.path.link = local.link;
                    }
                }
                self.locals[i] = local;
            }
            None if self.locals.len() == MAX_LOCALS => out.counters.pairs_refused += 1,
            None => self.locals.push(local),
        }
        self.make_pairs(now, out);
        self.handle_timeout(now, out);
    }

    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr, out: &mut Outbox) {
        self.locals.retain(|l| l.addr != addr);
        self.early.retain(|(local, ..)| *local != addr);
        self.remove_pairs(now, |p| p.path.local == addr, out);
        self.handle_timeout(now, out);
    }

    /// Takes a datagram that looks like STUN.
    pub fn handle_stun(
        &mut self,
        now: Instant,
        (local, remote): (SocketAddr, SocketAddr),
        datagram: &[u8],
        out: &mut Outbox,
    ) -> Result<(), DropReason> {
        match stun::parse(datagram)? {
            stun::Incoming::Indication => Ok(()),
            stun::Incoming::Request(message) => {
                let Identity { credentials, key } = &self.local;
                let request = stun::Request::read(&message, &credentials.ufrag, key)?;
                if self.remote.is_some() {
                    self.on_request(now, local, remote, &request, out)
                } else {
                    self.keep_for_later(local, remote, request)
                }
            }
            stun::Incoming::Response(response) => {
                self.on_response(now, (local, remote), &response, out)
            }
        }
    }

    pub fn handle_timeout(&mut self, now: Instant, out: &mut Outbox) {
        self.watch(now, out);
        let due: Vec<usize> = self.indices(|p| p.next_check <= now).collect();
        for index in due {
            self.send_check(now, index, out);
        }
    }

    pub fn deadline(&self) -> Option<Deadline> {
        let next = self.pairs.iter().map(|p| p.next_check).min();
        let check = next.map(|at| Deadline {
            at,
            reason: "connectivity check",
        });
        Deadline::earlier(check, self.liveness_deadline())
    }

    pub fn find(&self, local: SocketAddr, remote: SocketAddr) -> Option<usize> {
        self.pairs.iter().position(|p| p.is(local, remote))
    }

    /// Gives the pair a number if it has none yet. A number is used again
    /// only when all 256 were, so that late packets are not taken for a new
    /// path's.
    pub fn number(&mut self, index: usize) -> PathId {
        if !self.pairs[index].numbered {
            let taken = |id| self.pairs.iter().any(|p| p.has_id(id));
            let mut id = self.next_id;
            while taken(PathId(id)) {
                id = id.wrapping_add(1);
            }
            self.next_id = id.wrapping_add(1);
            let pair = &mut self.pairs[index];
            pair.path.id = PathId(id);
            pair.numbered = true;
        }
        self.pairs[index].path.id
    }

    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.by_id(id).map(|i| &self.pairs[i].path)
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let numbered = self.pairs.iter().filter(|p| p.numbered);
        numbered.map(|p| &p.path)
    }

    pub fn selected(&self) -> Option<PathId> {
        self.selection.path
    }

    /// Where DTLS goes: the selected path, or any that is up.
    pub fn route(&self) -> Option<(SocketAddr, SocketAddr)> {
        let selected = self.selection.path.and_then(|id| self.by_id(id));
        let selected = selected.map(|i| &self.pairs[i]).filter(|p| p.is_up());
        let any = || self.pairs.iter().find(|p| p.is_up());
        selected.or_else(any).map(Pair::addresses)
    }

    fn by_id(&self, id: PathId) -> Option<usize> {
        self.pairs.iter().position(|p| p.has_id(id))
    }

    fn indices(&self, which: impl Fn(&Pair) -> bool) -> impl Iterator<Item = usize> {
        let pairs = self.pairs.iter().enumerate();
        pairs.filter(move |(_, p)| which(p)).map(|(i, _)| i)
    }

    fn keep_for_later(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        request: stun::Request,
    ) -> Result<(), DropReason> {
        let mut early = self.early.iter_mut();
        if let Some(kept) = early.find(|(l, r, _)| (*l, *r) == (local, remote)) {
            kept.2 = request;
        } else if self.early.len() < MAX_EARLY {
            self.early.push((local, remote, request));
        } else {
            return Err(DropReason::TooManyPairs);
        }
        Ok(())
    }

    /// Pairs all addresses that may be and are not paired yet.
    fn make_pairs(&mut self, now: Instant, out: &mut Outbox) {
        if self.remote.is_none() {
            return;
        }
        for remote in 0..self.remotes.len() {
            for local in 0..self.locals.len() {
                let remote = self.remotes[remote].addr;
                let address = &self.locals[local];
                let may = can_pair(address.addr, remote) && address.remotes.allows(remote);
                if may && self.find(address.addr, remote).is_none() {
                    self.make_pair(now, local, remote, out);
                }
            }
        }
    }

    fn make_pair(&mut self, now: Instant, local: usize, remote: SocketAddr, out: &mut Outbox) {
        if self.pairs.len() == MAX_PAIRS {
            let Some(hopeless) = self.indices(|p| schedule::is_hopeless(now, p)).next() else {
                out.counters.pairs_refused += 1;
                return;
            };
            self.pairs.remove(hopeless);
        }
        let mut pair = Pair::new(now, &self.locals[local], remote);
        pair.next_check = self.next_first_check.max(now);
        self.next_first_check = pair.next_check + schedule::STAGGER;
        self.pairs.push(pair);
    }

    fn remove_pairs(&mut self, now: Instant, which: impl Fn(&Pair) -> bool, out: &mut Outbox) {
        let before = self.pairs.len();
        self.pairs.retain(|pair| {
            let remove = which(pair);
            if remove && pair.path.state != PathState::Probing {
                out.event(Event::PathDown {
                    path: pair.path.id,
                    reason: DownReason::Removed,
                });
            }
            !remove
        });
        if self.pairs.len() < before {
            self.reselect(now, out);
        }
    }

    fn send_check(&mut self, now: Instant, index: usize, out: &mut Outbox) {
        let Some(peer) = &self.remote else { return };
        let random = u128::from(self.rng.next_u64()) << 32 | u128::from(self.rng.next_u32());
        let nomination = self.nomination(index);
        let pair = &self.pairs[index];
        let cost = match self.role {
            IceRole::Controlling => pair.wire_cost,
            IceRole::Controlled => pair.link_cost,
        };
        let check = stun::Check {
            transaction: random,
            username: &peer.username,
            priority: priority(pair.link_cost),
            role: self.role,
            tie_breaker: self.tie_breaker,
            network: (u16::from(pair.path.link.0) + 1, cost),
            nomination,
        };
        out.transmit(pair.addresses(), check.write(&peer.key));
        out.counters.checks_sent += 1;
        let unconfirmed = nomination.is_some() && !self.selection.confirmed;
        let (phase, role) = (self.phase, self.role);
        let pair = &mut self.pairs[index];
        pair.next_check = now + schedule::interval(now, pair, phase, unconfirmed);
        pair.on_sent(Sent {
            transaction: random,
            at: now,
            role,
            nomination,
        });
    }

    fn on_request(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        request: &stun::Request,
        out: &mut Outbox,
    ) -> Result<(), DropReason> {
        let at = self.locals.iter().position(|l| l.addr == local);
        let at = at.ok_or(DropReason::UnknownPath)?;
        if !self.locals[at].remotes.allows(remote) {
            return Err(DropReason::StunFiltered);
        }
        if let Some((role, tie_breaker)) = request.role.filter(|(role, _)| *role == self.role) {
            if self.keeps_role(role, tie_breaker) {
                let refusal = stun::role_conflict(request.transaction, &self.local.key);
                out.transmit((local, remote), refusal);
                return Ok(());
            }
            self.switch_role(now, other(role), out);
        }
        if self.find(local, remote).is_none() {
            self.make_pair(now, at, remote, out);
            // Peer reflexive: our other addresses may reach it, too.
            let priority = request.priority;
            self.add_remote(
                now,
                RemoteCandidate {
                    addr: remote,
                    priority,
                },
                out,
            );
        }
        let index = self.find(local, remote).ok_or(DropReason::TooManyPairs)?;
        let answer = stun::success(request.transaction, remote, &self.local.key);
        out.transmit((local, remote), answer);
        self.on_use_candidate(index, request, out);
        let pair = &mut self.pairs[index];
        let gap = |at: Instant| now.saturating_since(at) >= schedule::TRIGGERED_GAP;
        if !pair.is_up() && pair.last_sent().is_none_or(gap) {
            pair.probing_since = now;
            self.send_check(now, index, out);
        }
        Ok(())
    }

    /// Who claims the same role decides by the tie breaker (RFC 8445
    /// section 7.3.1.1).
    fn keeps_role(&self, role: IceRole, theirs: u64) -> bool {
        let higher = self.tie_breaker >= theirs;
        match role {
            IceRole::Controlling => higher,
            IceRole::Controlled => !higher,
        }
    }

    fn on_response(
        &mut self,
        now: Instant,
        (local, remote): (SocketAddr, SocketAddr),
        response: &stun::Response<'_>,
        out: &mut Outbox,
    ) -> Result<(), DropReason> {
        let (Some(index), Some(peer)) = (self.find(local, remote), &self.remote) else {
            return Err(DropReason::StunUnexpected);
        };
        let transaction = response.transaction;
        if self.pairs[index].in_flight(transaction).is_none() {
            return Err(DropReason::StunUnexpected);
        }
        if !response.is_signed(&peer.key) {
            return Err(DropReason::StunIntegrity);
        }
        let sent = self.pairs[index].take(transaction);
        let sent = sent.ok_or(DropReason::StunUnexpected)?;
        match response.error {
            None => self.on_answer(now, index, sent, out),
            Some(stun::ROLE_CONFLICT) if sent.role == self.role => {
                self.switch_role(now, other(self.role), out);
                self.send_check(now, index, out);
            }
            // Refused for another reason: the schedule goes on.
            Some(_) => {}
        }
        Ok(())
    }

    fn on_answer(&mut self, now: Instant, index: usize, sent: Sent, out: &mut Outbox) {
        out.counters.checks_answered += 1;
        if sent.nomination == Some(self.selection.nomination) {
            self.selection.confirmed = true;
        }
        let path = self.number(index);
        let (phase, pair) = (self.phase, &mut self.pairs[index]);
        pair.on_answer(now, sent.at);
        if !pair.is_up() {
            pair.path.state = PathState::Up;
            pair.next_check = now + schedule::interval(now, pair, phase, false);
            let Path {
                link,
                local,
                remote,
                rtt,
                ..
            } = pair.path;
            out.event(Event::PathUp {
                path,
                link,
                local,
                remote,
                rtt: rtt.unwrap_or_default(),
            });
            self.reselect(now, out);
        }
        self.clear(now, index, sent.at, out);
    }
}

fn other(role: IceRole) -> IceRole {
    match role {
        IceRole::Controlling => IceRole::Controlled,
        IceRole::Controlled => IceRole::Controlling,
    }
}

/// Priority of the peer-reflexive candidate that a check may reveal, component
/// 1 (RFC 8445 sections 5.1.2 and 7.1.1); a cheaper link is preferred.
fn priority(link_cost: u16) -> u32 {
    const PEER_REFLEXIVE: u32 = 110;
    PEER_REFLEXIVE << 24 | u32::from(u16::MAX - link_cost) << 8 | 255
}
