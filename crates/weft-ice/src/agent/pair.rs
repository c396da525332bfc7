use super::sent::SentChecks;
use crate::output::{Event, Outbox};
use crate::types::{DownReason, LocalAddress, Path, PathState};
use weft_units::{Duration, FiveTuple, Instant, PathId, Transport};

/// Last event that the owner got of a pair's number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    Up,
    Down,
}

/// Pair of addresses with the results of its checks.
pub(super) struct Pair {
    /// Public view; the number is valid once `numbered`.
    pub path: Path,
    pub numbered: bool,
    /// Peer's number of its network, from its checks.
    pub network: Option<u16>,
    /// Last event that the owner got of its number.
    pub told: Told,
    /// Cost of the local address's link.
    pub link_cost: u16,
    /// Cost last sent to the peer, see `nominate`.
    pub wire_cost: u16,
    /// Time of the next scheduled check.
    pub next_check: Instant,
    /// Checks earned by the peer's own, before its first answer.
    pub owed: u8,
    /// Start of its present state: of the attempt to make it valid, or of its validity.
    pub since: Instant,
    /// Whether the peer's last check carried USE-CANDIDATE; `None` before its first one.
    pub use_candidate: Option<bool>,
    /// Send time of the first check answered since the suspicion began.
    pub cleared: Option<Instant>,
    /// Start of its suspicion, if later than that of the others.
    pub doubted: Instant,
    /// Whether it fell silent together with every other path.
    pub silent: bool,
    /// Latest round trip reported by media, including queueing.
    pub media_rtt: Duration,
    /// Checks in flight or answered.
    pub sent: SentChecks,
}

impl Pair {
    pub fn new(now: Instant, local: &LocalAddress, tuple: FiveTuple) -> Pair {
        Pair {
            path: Path {
                id: PathId(0),
                tuple,
                link: local.link,
                state: PathState::Probing,
                rtt: None,
            },
            numbered: false,
            network: None,
            told: Told::Nothing,
            link_cost: local.cost,
            wire_cost: 0,
            next_check: now,
            owed: 0,
            since: now,
            use_candidate: None,
            cleared: None,
            doubted: Instant::ZERO,
            silent: false,
            media_rtt: Duration::ZERO,
            sent: SentChecks::default(),
        }
    }

    /// Whether its checks are answered.
    pub fn is_valid(&self) -> bool {
        self.path.state.is_valid()
    }

    /// Whether the peer has checked it.
    pub fn is_checked(&self) -> bool {
        self.use_candidate.is_some()
    }

    /// Whether it may carry media.
    pub fn is_up(&self) -> bool {
        self.path.state == PathState::Up
    }

    /// Whether it is a TCP connection.
    pub fn is_tcp(&self) -> bool {
        self.path.tuple.transport == Transport::Tcp
    }

    pub fn has_id(&self, id: PathId) -> bool {
        self.numbered && self.path.id == id
    }

    /// Records an answered check: the round-trip time is smoothed as in RFC
    /// 6298 section 2 (one eighth of the new value).
    pub fn on_answer(&mut self, now: Instant, sent_at: Instant) {
        let sample = now.saturating_since(sent_at);
        self.path.rtt = Some(match self.path.rtt {
            None => sample,
            Some(rtt) => rtt - rtt / 8 + sample / 8,
        });
        self.sent.on_answer(now, sent_at);
    }

    /// Event that the path answers, for the first time or again.
    pub fn up_event(&self) -> Event {
        let path = &self.path;
        Event::PathUp {
            path: path.id,
            link: path.link,
            tuple: path.tuple,
            rtt: path.rtt.unwrap_or_default(),
        }
    }

    /// Tells the owner that the path is up.
    pub fn tell_up(&mut self, out: &mut Outbox) {
        self.told = Told::Up;
        out.event(self.up_event());
    }

    /// Tells the owner that its number has ended. If the pair returns, it gets
    /// another one.
    pub fn end_number(&mut self, out: &mut Outbox) {
        self.told = Told::Nothing;
        if std::mem::take(&mut self.numbered) {
            let path = self.path.id;
            out.event(Event::PathRemoved { path });
        }
    }

    /// Reports that the path is no longer up, if the owner knew it as up.
    pub fn tell_end(&mut self, reason: DownReason, out: &mut Outbox) {
        if self.told == Told::Up {
            self.told = Told::Down;
            let path = self.path.id;
            out.event(Event::PathDown { path, reason });
        }
    }
}
