//! Agent: its state and its public methods.

mod checks;
mod exchange;
mod liveness;
mod lookup;
mod moving;
mod network_pairs;
mod nominate;
mod pair;
mod pairing;
mod permission;
mod probes;
mod restart;
mod schedule;
mod sent;
#[cfg(test)]
mod tests;
mod waiting;

pub use schedule::Phase;

use crate::counters::{Counters, DropReason};
use crate::output::{Outbox, Output};
use crate::stun;
use crate::types::{
    Checks, Config, Credentials, IceRole, LocalAddress, Path, RemoteCandidate, RemoteFilter, Route,
    is_answerable,
};
use moving::Moving;
use pair::Pair;
use probes::Probes;
use std::net::SocketAddr;
use stun_types::message::IntegrityKey;
use waiting::Waiting;
use weft_units::{Deadline, FiveTuple, Instant, PathId, Rng, Transport};

/// Limits on the state that a peer or a caller can create. RFC 8445 section
/// 6.1.2.5 suggests at most 100 pairs.
const MAX_LOCALS: usize = 16;
const MAX_REMOTES: usize = 32;
const MAX_PAIRS: usize = 64;

/// Maximum length of a user name fragment (RFC 8839 section 5.4).
const MAX_UFRAG: usize = 256;

/// ICE session that keeps many pairs valid.
///
/// Order of calls: [`Agent::add_local`] and [`Agent::set_remote`] in any order,
/// then any input, followed by [`Agent::poll_output`] until `None`, followed by
/// [`Agent::poll_timeout`]. Time must not decrease between calls.
/// [`Agent::handle_timeout`] does nothing before the deadline.
pub struct Agent {
    role: IceRole,
    local: Identities,
    remote: Option<Peer>,
    locals: Vec<LocalAddress>,
    remotes: Vec<RemoteCandidate>,
    pairs: Vec<Pair>,
    /// Incremented whenever a pair is added, removed or becomes valid.
    routes_revision: u64,
    waiting: Waiting,
    pacing: Pacing,
    suspicion: Option<Suspicion>,
    selection: Selection,
    phase: Phase,
    next_id: u8,
    rng: Rng,
    out: Outbox,
}

/// Permission and timing of checks.
struct Pacing {
    checks: Checks,
    probes: Probes,
    /// Earliest time of a new pair's first check.
    next_first: Instant,
}

/// Suspicion that some path has been dead since `since`.
struct Suspicion {
    since: Instant,
    next_round: Instant,
}

/// Present selection.
#[derive(Default)]
struct Selection {
    /// Selected path; may be down.
    path: Option<PathId>,
    /// Value of our latest nomination.
    nomination: u32,
    /// Whether the peer answered a check with it.
    confirmed: bool,
    moving: Moving,
    /// Controlled side: the peer's selection, with its value.
    wanted: Option<(FiveTuple, u32)>,
}

/// Our identities in the ICE session.
struct Identities {
    current: Identity,
    /// Identity before the last restart, until the peer uses the new one.
    previous: Option<Identity>,
}

struct Identity {
    /// Tie breaker for a role conflict (RFC 8445 section 7.3.1.1).
    tie_breaker: u64,
    credentials: Credentials,
    key: IntegrityKey,
}

struct Peer {
    credentials: Credentials,
    key: IntegrityKey,
    /// User name of our checks.
    username: String,
}

impl Agent {
    /// Creates an agent without addresses and without a peer, in
    /// [`Phase::Handshake`].
    #[must_use]
    pub fn new(config: Config) -> Agent {
        Agent {
            role: config.role,
            local: Identities {
                current: Identity {
                    tie_breaker: config.tie_breaker,
                    key: stun::key(&config.credentials.pwd),
                    credentials: config.credentials,
                },
                previous: None,
            },
            remote: None,
            locals: Vec::new(),
            remotes: Vec::new(),
            pairs: Vec::new(),
            routes_revision: 0,
            waiting: Waiting::default(),
            pacing: Pacing {
                checks: config.checks,
                probes: Probes::default(),
                next_first: Instant::ZERO,
            },
            suspicion: None,
            selection: Selection::default(),
            phase: Phase::Handshake,
            next_id: 0,
            rng: config.rng,
            out: Outbox::default(),
        }
    }

    /// Our credentials, for our session description.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.local.current.credentials
    }

    /// Whether this side nominates.
    #[must_use]
    pub fn role(&self) -> IceRole {
        self.role
    }

    /// Sets the purpose of the paths. It applies from each path's next check
    /// on.
    pub fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Sets the peer's credentials and candidates. Checks start, and earlier
    /// checks of the peer are answered. Only the first call has an effect.
    pub fn set_remote(
        &mut self,
        now: Instant,
        credentials: &Credentials,
        candidates: &[RemoteCandidate],
    ) {
        if self.remote.is_some() {
            return;
        }
        let ours = &self.local.current.credentials.ufrag;
        let theirs: String = credentials.ufrag.chars().take(MAX_UFRAG).collect();
        self.remote = Some(Peer {
            credentials: credentials.clone(),
            key: stun::key(&credentials.pwd),
            username: format!("{theirs}:{ours}"),
        });
        let mut candidates = candidates.to_vec();
        candidates.sort_by_key(|c| std::cmp::Reverse(c.priority));
        for candidate in candidates {
            self.add_remote(now, candidate);
        }
        self.answer_waiting(now);
        self.handle_timeout(now);
    }

    /// Adds a local address; paths to the known remote addresses are tried. An
    /// existing address gets the new link, cost and filter. Addresses beyond
    /// the limit are refused and counted.
    pub fn add_local(&mut self, now: Instant, local: LocalAddress) {
        match self.locals.iter().position(|l| l.is_same(&local)) {
            Some(i) => {
                let excluded = |p: &Pair| {
                    local.has(p.path.tuple) && !local.remotes.allows(p.path.tuple.remote)
                };
                self.remove_pairs(now, excluded);
                for pair in &mut self.pairs {
                    if local.has(pair.path.tuple) {
                        pair.link_cost = local.cost;
                        pair.path.link = local.link;
                    }
                }
                self.locals[i] = local;
            }
            None if self.locals.len() == MAX_LOCALS => self.out.counters.pairs_refused += 1,
            None => self.locals.push(local),
        }
        self.make_pairs(now);
        self.handle_timeout(now);
    }

    /// Moves the selection to a new local address: pairs it with the remote address
    /// of the selected path, and nominates that pair once it is valid. Its checks
    /// have a higher priority than any other pair's, so peers that
    /// ignore a second nomination otherwise follow this one.
    ///
    /// The address must be new to the agent and on the selected path's link. Only
    /// the controlling side can move the selection; otherwise, and without a
    /// selected path, the address is added like any other.
    pub fn move_selection(&mut self, now: Instant, local: LocalAddress) {
        let selected = self.selection.path.and_then(|id| self.path(id));
        let (Some(path), IceRole::Controlling) = (selected, self.role) else {
            return self.add_local(now, local);
        };
        let remote = path.tuple.remote;
        self.selection
            .moving
            .begin(FiveTuple::udp(local.addr, remote));
        let remotes = RemoteFilter::Only(vec![remote]);
        self.add_local(now, LocalAddress { remotes, ..local });
    }

    /// Removes a local UDP address; its paths go down for good.
    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr) {
        let is_its = |tuple: FiveTuple| (tuple.transport, tuple.local) == (Transport::Udp, addr);
        self.locals
            .retain(|l| (l.transport, l.addr) != (Transport::Udp, addr));
        self.waiting.retain(|tuple| !is_its(tuple));
        self.selection.moving.remove(addr);
        self.remove_pairs(now, |p| is_its(p.path.tuple));
        self.handle_timeout(now);
    }

    /// Handles a STUN message that arrived between these addresses.
    ///
    /// # Errors
    /// The reason of the drop, which is counted.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        datagram: &[u8],
    ) -> Result<(), DropReason> {
        let handled = self.handle_stun(now, tuple, datagram);
        handled.inspect_err(|reason| self.out.counters.count_drop(*reason))
    }

    /// Handles the passing of time.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.watch(now);
        if self.answers_due().is_some_and(|due| due.at <= now) {
            self.answer_waiting(now);
        }
        let due: Vec<usize> = self
            .indices(|p| p.next_check <= now && self.is_scheduled(p))
            .collect();
        for index in due {
            self.send_check(now, index);
        }
    }

    /// Deadline of the next [`Agent::handle_timeout`]; `None` without any pair
    /// to check.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let scheduled = self.pairs.iter().filter(|p| self.is_scheduled(p));
        let next = scheduled.map(|p| p.next_check).min();
        let check = next.map(|at| Deadline {
            at,
            reason: "connectivity check",
        });
        let next = Deadline::earlier(check, self.answers_due());
        Deadline::earlier(next, self.liveness_deadline())
    }

    /// Returns the next datagram or event.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop()
    }

    /// Path by its number.
    #[must_use]
    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.by_id(id).map(|i| &self.pairs[i].path)
    }

    /// Every path that was ever valid or delivered media, in any state.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let numbered = self.pairs.iter().filter(|p| p.numbered);
        numbered.map(|p| &p.path)
    }

    /// Addresses of all pairs, which identify packets for this agent; bounded
    /// by the limit on pairs.
    pub fn routes(&self) -> impl Iterator<Item = Route> {
        self.pairs.iter().map(|pair| Route {
            tuple: pair.path.tuple,
            is_valid: pair.is_valid(),
        })
    }

    /// Changes whenever [`Agent::routes`] grows or shrinks, or one of them
    /// becomes valid.
    #[must_use]
    pub fn routes_revision(&self) -> u64 {
        self.routes_revision
    }

    /// Whether these addresses are a pair, valid or not. Only checks create
    /// pairs: with the peer's candidates, or from an address that knows our
    /// password.
    #[must_use]
    pub fn is_pair(&self, tuple: FiveTuple) -> bool {
        self.find(tuple).is_some()
    }

    /// Path of a packet other than STUN: the number of its pair, which is
    /// assigned if it has none yet. `None` if the addresses are not a pair.
    pub fn path_of(&mut self, tuple: FiveTuple) -> Option<PathId> {
        let index = self.find(tuple)?;
        Some(self.number(index))
    }

    /// Selected path; it may be down if all paths are.
    #[must_use]
    pub fn selected(&self) -> Option<PathId> {
        self.selection.path
    }

    /// Addresses of the pairs with answered checks: first
    /// the selected one, then others that are up, then spares.
    #[must_use]
    pub fn valid_routes(&self) -> Vec<FiveTuple> {
        let selected = |p: &Pair| self.selection.path.is_some_and(|id| p.has_id(id));
        let mut valid: Vec<&Pair> = self.pairs.iter().filter(|p| p.is_valid()).collect();
        valid.sort_by_key(|p| (!selected(p), !p.is_up()));
        valid.into_iter().map(|pair| pair.path.tuple).collect()
    }

    /// Whether a pair has been answered, and not failed since.
    #[must_use]
    pub fn has_valid_route(&self) -> bool {
        self.pairs.iter().any(Pair::is_valid)
    }

    /// Counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.out.counters
    }

    fn handle_stun(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        datagram: &[u8],
    ) -> Result<(), DropReason> {
        match stun::parse(datagram)? {
            stun::Incoming::Indication => Err(DropReason::Indication),
            stun::Incoming::Request(message) => {
                let (request, key) = self.read_request(&message)?;
                if !is_answerable(tuple.remote) {
                    return Err(DropReason::Unanswerable);
                }
                if self.remote.is_some() {
                    self.on_request(now, tuple, &request, &key)
                } else {
                    self.waiting.keep(tuple, request)
                }
            }
            stun::Incoming::Response(response) => self.on_response(now, tuple, &response),
        }
    }

    /// Nominates a valid path: the peer sends there from now on. Does nothing
    /// on the controlled side, or for other paths.
    pub fn select(&mut self, now: Instant, path: PathId) {
        let index = self.by_id(path).filter(|&i| self.pairs[i].is_valid());
        if let (Some(index), IceRole::Controlling) = (index, self.role)
            && self.selection.path != Some(path)
        {
            self.nominate(now, index);
            self.settle(now);
        }
    }
}
