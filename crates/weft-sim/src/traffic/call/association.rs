//! Which paths are alive, as `weft-secure` finds out: suspicion starts checks
//! on every path, and their answers decide.

use weft_units::{Duration, Instant, PathId};

/// Between checks of a live path, and of a dead one.
const KEEP: Duration = Duration::from_millis(2000);
const REVIVE: Duration = Duration::from_millis(400);
/// Between rounds of checks under suspicion: the first three, up to `URGENT`,
/// and then.
const FIRST_ROUND: Duration = Duration::from_millis(10);
const ROUND: Duration = Duration::from_millis(25);
const ROUND_SLOW: Duration = Duration::from_millis(100);
const URGENT: Duration = Duration::from_secs(1);
/// The session's suspicion asks paths that are down too, but not more often
/// than this.
const ASK_DEAD: Duration = Duration::from_millis(50);
/// From a check to the verdict if it stays unanswered: at least this, else a
/// round trip, a quarter more, and some jitter.
const VERDICT_MIN: Duration = Duration::from_millis(60);
const VERDICT_JITTER: Duration = Duration::from_millis(10);
/// A check of a live path that is unanswered for so long, or three round
/// trips, raises suspicion by itself.
const OVERDUE: Duration = Duration::from_millis(500);

/// Of one path; the first one and the newest ones are kept. Chosen by us:
/// more than a verdict looks back.
const MOST_UNANSWERED: usize = 64;

/// One end's view of the paths.
pub(super) struct Association {
    paths: Vec<Path>,
    suspicion: Option<Suspicion>,
    outputs: Vec<Verdict>,
    /// What [`Association::due`] answered, until something changes.
    due: Option<Option<Instant>>,
}

struct Path {
    state: Liveness,
    rtt: Duration,
    /// Round trip of media, queues included.
    media_rtt: Duration,
    next_check: Instant,
    /// Sending times of checks that are not answered, in order; those before
    /// an answered one are of no use.
    unanswered: Vec<Instant>,
    /// Under suspicion: when what proved it alive was sent.
    cleared: Option<Instant>,
    /// Under suspicion: since when, if later than the others.
    doubted: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Liveness {
    Up,
    Down,
}

struct Suspicion {
    since: Instant,
    next_round: Instant,
}

/// What the association wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    SendCheck(PathId),
    Up(PathId, Duration),
    Down(PathId),
}

impl Association {
    /// All paths are up; `rtts` are the round trips of their first checks.
    pub fn new(now: Instant, rtts: &[Duration]) -> Association {
        let path = |(index, &rtt): (usize, &Duration)| Path {
            state: Liveness::Up,
            rtt,
            media_rtt: rtt,
            // Not all at once.
            next_check: now + KEEP + Duration::from_millis(5) * index as u64,
            unanswered: Vec::new(),
            cleared: None,
            doubted: Instant::ZERO,
        };
        Association {
            paths: rtts.iter().enumerate().map(path).collect(),
            suspicion: None,
            outputs: Vec::new(),
            due: None,
        }
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Verdict> {
        (!self.outputs.is_empty()).then(|| self.outputs.remove(0))
    }

    /// The session suspects a path.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        self.due = None;
        if self.paths[usize::from(path.0)].state == Liveness::Up {
            self.raise_suspicion(now);
            self.doubt_again(now, usize::from(path.0));
            self.ask_the_dead(now);
        }
    }

    /// What media says of a path: its round trip, and when feedback last named
    /// a packet for the first time.
    pub fn on_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        self.due = None;
        let path = &mut self.paths[usize::from(path.0)];
        path.media_rtt = rtt;
        if let (Some(suspicion), Some(at)) = (&self.suspicion, heard_at)
            && at > suspicion.since.max(path.doubted)
        {
            let sent = suspicion.since.max(at.saturating_sub(rtt));
            path.cleared.get_or_insert(sent);
        }
    }

    pub fn is_suspicious(&self) -> bool {
        self.suspicion.is_some()
    }

    /// A check that left at `sent_at` was answered.
    pub fn on_answer(&mut self, now: Instant, id: PathId, sent_at: Instant) {
        self.due = None;
        let path = &mut self.paths[usize::from(id.0)];
        path.rtt = now.saturating_since(sent_at);
        path.unanswered.retain(|at| *at > sent_at);
        if path.state == Liveness::Down {
            path.state = Liveness::Up;
            path.media_rtt = path.rtt;
            path.next_check = now + KEEP;
            self.outputs.push(Verdict::Up(id, path.rtt));
        }
        let doubted = self.paths[usize::from(id.0)].doubted;
        let since = self.suspicion.as_ref().map(|s| s.since.max(doubted));
        if since.is_some_and(|since| sent_at >= since) {
            self.paths[usize::from(id.0)].cleared.get_or_insert(sent_at);
            self.conclude(now);
        }
    }

    /// Runs what is due.
    pub fn on_time(&mut self, now: Instant) {
        self.due = None;
        if self.suspicion.is_none() && self.overdue().is_some_and(|at| at <= now) {
            self.raise_suspicion(now);
        }
        self.conclude(now);
        self.send_round(now);
        for index in 0..self.paths.len() {
            if self.paths[index].next_check <= now {
                self.send_check(now, index);
            }
        }
    }

    /// When [`Association::on_time`] has something to do.
    pub fn due(&mut self) -> Option<Instant> {
        if let Some(known) = self.due {
            return known;
        }
        let due = self.find_due();
        self.due = Some(due);
        due
    }

    fn find_due(&self) -> Option<Instant> {
        let checks = self.paths.iter().map(|p| p.next_check);
        let suspicion = match &self.suspicion {
            None => self.overdue(),
            Some(suspicion) => {
                let verdicts = self.paths.iter().filter_map(|p| self.verdict_at(p));
                verdicts.chain([suspicion.next_round]).min()
            }
        };
        checks.chain(suspicion).min()
    }

    fn raise_suspicion(&mut self, now: Instant) {
        if self.suspicion.is_some() {
            return;
        }
        self.paths.iter_mut().for_each(|p| p.cleared = None);
        self.suspicion = Some(Suspicion {
            since: now,
            next_round: now,
        });
        self.send_round(now);
    }

    /// The path was cleared since the suspicion began, by what had been sent
    /// before it died.
    fn doubt_again(&mut self, now: Instant, index: usize) {
        let path = &mut self.paths[index];
        if let (Some(suspicion), Some(_)) = (&mut self.suspicion, path.cleared.take()) {
            path.doubted = now;
            suspicion.next_round = now;
            self.send_round(now);
        }
    }

    /// When a live path is in doubt, a dead one may have come back.
    fn ask_the_dead(&mut self, now: Instant) {
        for index in 0..self.paths.len() {
            let path = &self.paths[index];
            let asked = path.next_check.saturating_sub(REVIVE);
            if path.state == Liveness::Down && now.saturating_since(asked) >= ASK_DEAD {
                self.send_check(now, index);
            }
        }
    }

    fn send_round(&mut self, now: Instant) {
        let Some(suspicion) = self.suspicion.as_mut().filter(|s| s.next_round <= now) else {
            return;
        };
        let age = now.saturating_since(suspicion.since);
        suspicion.next_round = now
            + if age < FIRST_ROUND * 2 {
                FIRST_ROUND
            } else if age < URGENT {
                ROUND
            } else {
                ROUND_SLOW
            };
        for index in 0..self.paths.len() {
            let path = &self.paths[index];
            if path.state == Liveness::Up && path.cleared.is_none() {
                self.send_check(now, index);
            }
        }
    }

    fn send_check(&mut self, now: Instant, index: usize) {
        let path = &mut self.paths[index];
        path.next_check = now
            + match path.state {
                Liveness::Up => KEEP,
                Liveness::Down => REVIVE,
            };
        if path.state == Liveness::Up {
            if path.unanswered.len() == MOST_UNANSWERED {
                path.unanswered.remove(1);
            }
            path.unanswered.push(now);
        }
        self.outputs.push(Verdict::SendCheck(PathId(index as u8)));
    }

    /// Takes down the paths whose checks went unanswered while another's were
    /// answered, so one always stays.
    fn conclude(&mut self, now: Instant) {
        if self.suspicion.is_none() {
            return;
        }
        let dead = |p: &Path| self.verdict_at(p).is_some_and(|at| at <= now);
        let dead: Vec<usize> = (0..self.paths.len())
            .filter(|i| dead(&self.paths[*i]))
            .collect();
        for index in dead {
            let path = &mut self.paths[index];
            path.state = Liveness::Down;
            path.unanswered.clear();
            path.next_check = now + REVIVE;
            self.outputs.push(Verdict::Down(PathId(index as u8)));
        }
        let settled = |p: &Path| p.state == Liveness::Down || p.cleared.is_some();
        if self.paths.iter().all(settled) {
            self.suspicion = None;
        }
    }

    /// When the path is to be taken down if it does not answer: counted from
    /// the first check that another path answered.
    fn verdict_at(&self, path: &Path) -> Option<Instant> {
        if path.state == Liveness::Down || path.cleared.is_some() {
            return None;
        }
        let up = self.paths.iter().filter(|p| p.state == Liveness::Up);
        let alive_since = up.filter_map(|p| p.cleared).min()?;
        let unanswered = path.unanswered.iter().copied();
        let alive_since = alive_since.max(path.doubted);
        let from = unanswered.filter(|at| *at >= alive_since).min()?;
        let patience = (path.rtt + path.rtt / 4).max(path.media_rtt) + VERDICT_JITTER;
        Some(from + patience.max(VERDICT_MIN))
    }

    fn overdue(&self) -> Option<Instant> {
        let up = self.paths.iter().filter(|p| p.state == Liveness::Up);
        let due = up.filter_map(|p| {
            let first = *p.unanswered.first()?;
            Some(first + OVERDUE.max(p.rtt.max(p.media_rtt) * 3))
        });
        due.min()
    }
}

#[cfg(test)]
mod tests;
