use crate::output::{Event, Outbox};
use crate::types::{DownReason, IceRole, LocalAddress, Path, PathState};
use std::collections::VecDeque;
use std::net::SocketAddr;
use weft_units::{Duration, Instant, PathId};

/// Checks in flight that a pair remembers: a second and a half of the fastest
/// schedule.
const MAX_SENT: usize = 64;

/// Checks in flight that a pair forgets: no answer takes longer. The last
/// retransmission timeout of STUN over UDP is 39.5 s with its defaults
/// (RFC 8489 section 6.2.1); libwebrtc forgets after 10 s
/// (p2p/base/connection.cc, CONNECTION_RESPONSE_TIMEOUT 5 s at minimum).
const FORGET: Duration = Duration::from_secs(10);

/// A pair of addresses and what its checks said.
pub(super) struct Pair {
    /// Its public face; the number counts once `numbered`.
    pub path: Path,
    pub numbered: bool,
    /// The peer's number of its network, from its checks.
    pub network: Option<u16>,
    /// Whether the owner was told that it is up, and not of its end.
    pub told: bool,
    /// Cost of our address's link.
    pub link_cost: u16,
    /// Cost last told to the peer, see `nominate`.
    pub wire_cost: u16,
    /// When the next check leaves by the schedule.
    pub next_check: Instant,
    /// Start of the present attempt to make it valid.
    pub probing_since: Instant,
    /// Whether the peer's last check carried USE-CANDIDATE.
    pub use_candidate: bool,
    /// When the first check was sent that was answered since the suspicion
    /// began.
    pub cleared: Option<Instant>,
    /// Since when it has been under suspicion, if later than the others.
    pub doubted: Instant,
    /// Fell silent together with every other path.
    pub silent: bool,
    /// Round trip of media when last told, queues included.
    pub media_rtt: Duration,
    sent: VecDeque<Sent>,
    heard_at: Option<Instant>,
    answered: Option<Instant>,
}

/// A check in flight.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub transaction: u128,
    pub at: Instant,
    pub role: IceRole,
    pub nomination: Option<u32>,
}

impl Pair {
    pub fn new(now: Instant, local: &LocalAddress, remote: SocketAddr) -> Pair {
        Pair {
            path: Path {
                id: PathId(0),
                local: local.addr,
                remote,
                link: local.link,
                state: PathState::Probing,
                rtt: None,
            },
            numbered: false,
            network: None,
            told: false,
            link_cost: local.cost,
            wire_cost: 0,
            next_check: now,
            probing_since: now,
            use_candidate: false,
            cleared: None,
            doubted: Instant::ZERO,
            silent: false,
            media_rtt: Duration::ZERO,
            sent: VecDeque::new(),
            heard_at: None,
            answered: None,
        }
    }

    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        (self.path.local, self.path.remote)
    }

    pub fn is(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.path.remote == remote && self.path.local == local
    }

    /// Whether its checks are answered.
    pub fn is_valid(&self) -> bool {
        self.path.state.is_valid()
    }

    /// Whether media may leave on it.
    pub fn is_up(&self) -> bool {
        self.path.state == PathState::Up
    }

    pub fn has_id(&self, id: PathId) -> bool {
        self.numbered && self.path.id == id
    }

    pub fn on_sent(&mut self, sent: Sent) {
        while self
            .sent
            .front()
            .is_some_and(|s| sent.at.saturating_since(s.at) > FORGET)
        {
            self.sent.pop_front();
        }
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
    }

    pub fn in_flight(&self, transaction: u128) -> Option<&Sent> {
        self.sent.iter().find(|s| s.transaction == transaction)
    }

    pub fn take(&mut self, transaction: u128) -> Option<Sent> {
        let at = self.sent.iter().position(|s| s.transaction == transaction);
        at.and_then(|at| self.sent.remove(at))
    }

    /// A check was answered: the round-trip time is smoothed as in RFC 6298
    /// section 2 (one eighth of the new value).
    pub fn on_answer(&mut self, now: Instant, sent_at: Instant) {
        let sample = now.saturating_since(sent_at);
        self.path.rtt = Some(match self.path.rtt {
            None => sample,
            Some(rtt) => rtt - rtt / 8 + sample / 8,
        });
        self.heard_at = Some(now);
        self.answered = self.answered.max(Some(sent_at));
    }

    /// That the path answers, for the first time or again.
    pub fn up_event(&self) -> Event {
        let path = &self.path;
        Event::PathUp {
            path: path.id,
            link: path.link,
            local: path.local,
            remote: path.remote,
            rtt: path.rtt.unwrap_or_default(),
        }
    }

    /// Tells the owner that it is not up any more, if that was told.
    pub fn tell_end(&mut self, reason: DownReason, out: &mut Outbox) {
        if std::mem::take(&mut self.told) {
            let path = self.path.id;
            out.event(Event::PathDown { path, reason });
        }
    }

    pub fn last_sent(&self) -> Option<Instant> {
        self.sent.back().map(|s| s.at)
    }

    /// When the last answer came.
    pub fn heard_at(&self) -> Option<Instant> {
        self.heard_at
    }

    /// When the oldest check left that is younger than the last answered one.
    pub fn unanswered_since(&self) -> Option<Instant> {
        let newer = |s: &&Sent| self.answered.is_none_or(|a| s.at > a);
        self.sent.iter().find(newer).map(|s| s.at)
    }

    /// When the first unanswered check left, not counting those before `from`.
    pub fn unanswered_from(&self, from: Instant) -> Option<Instant> {
        self.sent.iter().find(|s| s.at >= from).map(|s| s.at)
    }
}
