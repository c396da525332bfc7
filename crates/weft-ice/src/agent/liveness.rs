//! Liveness of paths. Missing feedback may accuse the wrong path, because the
//! feedback dies with the path that carries it. So suspicion only starts checks
//! on every valid path, and the answers decide.

use super::pair::{Pair, Told};
use super::{Agent, Suspicion};
use crate::output::Event;
use crate::types::{DownReason, PathState};
use weft_units::{Deadline, Duration, Instant, PathId};

/// Intervals of checks under suspicion: of the first three, so that a single
/// lost check decides nothing, then up to [`URGENT`], then without any answer
/// at all. Packets sent that long ago are too late to be retransmitted.
const FIRST_ROUND: Duration = Duration::from_millis(10);
const ROUND: Duration = Duration::from_millis(25);
const ROUND_SLOW: Duration = Duration::from_millis(100);
const URGENT: Duration = Duration::from_secs(1);

/// Minimum interval at which the session's suspicion also checks paths that are
/// down. Chosen by us: `demo/ride`.
const ASK_DEAD: Duration = Duration::from_millis(50);

/// Time from a check to the verdict without an answer: the round trip, a
/// quarter more, and some jitter; at least enough for three checks. Measured
/// between Chromium and a native sender: verdicts after 40 to 60 ms on an idle
/// path without loss.
const VERDICT_MIN: Duration = Duration::from_millis(60);
const VERDICT_JITTER: Duration = Duration::from_millis(10);

/// Time after which an unanswered scheduled check raises suspicion by itself,
/// or three round trips if that is longer.
const OVERDUE: Duration = Duration::from_millis(500);

/// Time after which consent expires without an answer (RFC 7675 section 5.1).
const CONSENT: Duration = Duration::from_secs(30);

impl Agent {
    /// Reports that a path looks dead, because packets sent there were not
    /// acknowledged. Every valid path is checked at once, including dead ones
    /// that were not checked just now. Paths that do not answer while another
    /// one does go down, but never the last one. Does nothing for a path that
    /// is not valid.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        if let Some(index) = self.by_id(path).filter(|i| self.pairs[*i].is_valid()) {
            self.raise_suspicion(now);
            self.doubt_again(now, index);
            self.ask_the_dead(now);
        }
    }

    /// Suspects a path again that was cleared since the suspicion began, by
    /// answers to packets sent before it died.
    fn doubt_again(&mut self, now: Instant, index: usize) {
        let pair = &mut self.pairs[index];
        if let (Some(suspicion), Some(_)) = (&mut self.suspicion, pair.cleared.take()) {
            pair.doubted = now;
            suspicion.next_round = now;
            self.send_round(now);
        }
    }

    /// Checks dead paths when a live one is in doubt, because they may have
    /// recovered.
    fn ask_the_dead(&mut self, now: Instant) {
        let interval = |p: &Pair| super::schedule::interval(now, p, self.phase, false);
        let asked = |p: &Pair| p.next_check.saturating_sub(interval(p));
        let due = |p: &Pair| {
            p.path.state == PathState::Down && now.saturating_since(asked(p)) >= ASK_DEAD
        };
        for index in self.indices(due).collect::<Vec<_>>() {
            self.send_check(now, index);
        }
    }

    /// Sets a path's round trip as measured by media, which includes queueing
    /// delays of the checks, and the time of its latest feedback with news. A
    /// path with news since the suspicion began stays up.
    pub fn set_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        let Some(index) = self.by_id(path) else {
            return;
        };
        let pair = &mut self.pairs[index];
        pair.media_rtt = rtt;
        let since = self.suspicion.as_ref().map(|s| s.since);
        if let (Some(since), Some(at)) = (since, heard_at)
            && at > since.max(pair.doubted)
        {
            // The acknowledged packet left a round trip earlier.
            pair.cleared
                .get_or_insert(since.max(at.saturating_sub(rtt)));
        }
    }

    pub(super) fn raise_suspicion(&mut self, now: Instant) {
        if self.suspicion.is_some() {
            return;
        }
        for pair in &mut self.pairs {
            pair.cleared = None;
        }
        self.suspicion = Some(Suspicion {
            since: now,
            next_round: now,
        });
        self.send_round(now);
    }

    pub(super) fn watch(&mut self, now: Instant) {
        // Paths that go down now keep their numbers until the owner has received the event.
        self.end_forsaken(now);
        let expired = |p: &Pair| p.is_valid() && is_expired(now, p);
        let expired: Vec<usize> = self.indices(expired).collect();
        self.take_down(now, &expired, DownReason::Expired);
        if self.suspicion.is_none()
            && self
                .pairs
                .iter()
                .any(|p| overdue(p).is_some_and(|t| t <= now))
        {
            self.raise_suspicion(now);
        }
        self.conclude(now);
        self.fall_silent(now);
        self.send_round(now);
    }

    /// Ends the numbers of dead paths to which nothing may be sent any longer. The
    /// selected one keeps its number until another path takes over.
    fn end_forsaken(&mut self, now: Instant) {
        let forsaken = |p: &Pair| {
            let is_dead = p.path.state == PathState::Down && is_expired(now, p);
            p.told == Told::Down && is_dead && !self.is_selected(p)
        };
        for index in self.indices(forsaken).collect::<Vec<_>>() {
            self.pairs[index].end_number(&mut self.out);
        }
    }

    /// Marks all paths as silent after a long time without any answer. None is
    /// taken down, because no better one exists, but packets sent now are lost.
    fn fall_silent(&mut self, now: Instant) {
        let since = self.suspicion.as_ref().map(|s| s.since);
        let is_long = since.is_some_and(|at| now.saturating_since(at) >= URGENT);
        let up = || self.pairs.iter().filter(|p| p.is_up());
        if !is_long || up().any(|p| p.cleared.is_some()) {
            return;
        }
        for pair in self.pairs.iter_mut().filter(|p| p.is_up() && !p.silent) {
            pair.silent = true;
            self.out.event(Event::PathSilent { path: pair.path.id });
        }
    }

    /// Clears the silence of paths that answer again.
    fn end_silence(&mut self) {
        let answers = |p: &&mut Pair| p.is_up() && p.silent && p.cleared.is_some();
        for pair in self.pairs.iter_mut().filter(answers) {
            pair.silent = false;
            self.out.event(pair.up_event());
        }
    }

    /// Records that a path answered a check sent at `sent_at`.
    pub(super) fn clear(&mut self, now: Instant, index: usize, sent_at: Instant) {
        let Some(suspicion) = &self.suspicion else {
            return;
        };
        if sent_at >= suspicion.since.max(self.pairs[index].doubted) {
            self.pairs[index].cleared.get_or_insert(sent_at);
            self.conclude(now);
            // It may have waited for this answer to replace another pair.
            self.settle(now);
        }
    }

    /// Takes down the paths whose checks stayed unanswered while another path's
    /// were answered, counted from the first answered check: after an outage of
    /// all paths, each gets the same chance. So one path always remains.
    fn conclude(&mut self, now: Instant) {
        if self.suspicion.is_none() {
            return;
        }
        let dead = |p: &Pair| self.verdict_at(p).is_some_and(|at| at <= now);
        let dead: Vec<usize> = self.indices(dead).collect();
        self.take_down(now, &dead, DownReason::Unanswered);
        self.end_silence();
        if self
            .pairs
            .iter()
            .all(|p| !p.is_valid() || p.cleared.is_some())
        {
            self.suspicion = None;
            self.settle(now);
        }
    }

    fn send_round(&mut self, now: Instant) {
        let Some(suspicion) = &mut self.suspicion else {
            return;
        };
        if suspicion.next_round > now {
            return;
        }
        let age = now.saturating_since(suspicion.since);
        let pause = if age < FIRST_ROUND * 2 {
            FIRST_ROUND
        } else if age < URGENT {
            ROUND
        } else {
            ROUND_SLOW
        };
        suspicion.next_round = now + pause;
        let suspects: Vec<usize> = self
            .indices(|p| p.is_valid() && p.cleared.is_none())
            .collect();
        for index in suspects {
            self.send_check(now, index);
        }
    }

    /// Time at which the path goes down without an answer.
    fn verdict_at(&self, pair: &Pair) -> Option<Instant> {
        if !pair.is_valid() || pair.cleared.is_some() {
            return None;
        }
        let up = self.pairs.iter().filter(|p| p.is_valid());
        let alive_since = up.filter_map(|p| p.cleared).min()?;
        Some(pair.sent.unanswered_from(alive_since.max(pair.doubted))? + patience(pair))
    }

    fn take_down(&mut self, now: Instant, indices: &[usize], reason: DownReason) {
        if indices.is_empty() {
            return;
        }
        for &index in indices {
            let unconfirmed = false;
            let pair = &mut self.pairs[index];
            pair.path.state = PathState::Down;
            pair.silent = false;
            pair.next_check = now + super::schedule::interval(now, pair, self.phase, unconfirmed);
        }
        self.fill_network_pairs();
        for &index in indices {
            self.pairs[index].tell_end(reason, &mut self.out);
        }
        self.reselect(now);
    }

    pub(super) fn liveness_deadline(&self) -> Option<Deadline> {
        let deadline = |at, reason| Some(Deadline { at, reason });
        let up = || self.pairs.iter().filter(|p| p.is_valid());
        let mut next = up()
            .filter_map(expiry)
            .min()
            .and_then(|at| deadline(at, "consent"));
        let Some(suspicion) = &self.suspicion else {
            let overdue = up().filter_map(overdue).min();
            return Deadline::earlier(next, overdue.and_then(|at| deadline(at, "check overdue")));
        };
        next = Deadline::earlier(next, deadline(suspicion.next_round, "suspicion round"));
        let verdict = up().filter_map(|p| self.verdict_at(p)).min();
        Deadline::earlier(next, verdict.and_then(|at| deadline(at, "path verdict")))
    }
}

/// Whether the latest answer is so old that consent has expired.
pub(super) fn is_expired(now: Instant, pair: &Pair) -> bool {
    expiry(pair).is_some_and(|at| at <= now)
}

fn expiry(pair: &Pair) -> Option<Instant> {
    pair.sent.heard_at.map(|at| at + CONSENT)
}

fn overdue(pair: &Pair) -> Option<Instant> {
    if !pair.is_valid() {
        return None;
    }
    let rtt = pair.path.rtt.unwrap_or_default().max(pair.media_rtt);
    pair.sent
        .unanswered_since()
        .map(|at| at + OVERDUE.max(rtt * 3))
}

fn patience(pair: &Pair) -> Duration {
    let rtt = pair.path.rtt.unwrap_or_default();
    ((rtt + rtt / 4).max(pair.media_rtt) + VERDICT_JITTER).max(VERDICT_MIN)
}
