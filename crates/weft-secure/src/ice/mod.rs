//! An ICE agent that keeps every pair valid that works, instead of one.

mod exchange;
mod liveness;
mod nominate;
mod pair;
mod pairing;
mod schedule;
mod stun;
mod types;
mod ways;

pub(crate) use schedule::Phase;
pub use types::{
    Credentials, DownReason, IceRole, LinkId, LocalAddress, Path, PathState, RemoteCandidate,
    RemoteFilter,
};

use crate::counters::DropReason;
use crate::outbox::Outbox;
use liveness::Suspicion;
use nominate::Selection;
use pair::Pair;
use std::net::SocketAddr;
use stun_types::message::IntegrityKey;
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
        let selected = selected.map(|i| &self.pairs[i]).filter(|p| p.is_valid());
        let any = || self.pairs.iter().find(|p| p.is_valid());
        selected.or_else(any).map(Pair::addresses)
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
}
