//! Whether a path lives, as far as the silence on it tells.

use weft_units::{Bytes, Duration, Instant};

use super::health::RECOVERED;
use super::{Carried, FEEDBACK_WAIT, Path, PathState, RoundTrip, Waiting};

/// How long after the association last raised no verdict a suspicion lapses:
/// twice the time that a verdict may take (200 ms at most, chosen by us).
const SUSPICION_LAPSES: Duration = Duration::from_millis(400);

/// Feedback that is late by less ends a suspicion; only after it is a path
/// doubted. Half of the time between two reports where there is a choice of
/// paths. Chosen by trial (`docs/protocol/calm.md`): with 15 ms the first picture
/// on a path that fails waits longer, and fewer such moments are known as danger.
const DOUBT: Duration = Duration::from_millis(5);

/// Longest wait for a report before requests of the peer are taken at their word. Chosen
/// by us: libwebrtc reports every 50 to 100 ms, Janus every 200 ms, and a receiver's
/// jitter buffer bears about as much.
const LONGEST_REPORT_WAIT: Duration = Duration::from_millis(120);

/// Part of the target rate that may arrive on a path with room: an encoder's or a
/// forwarder's rate without probes. Chosen by us: a server lets viewers' targets grow to
/// twice the rate that is published.
const ROOMY: f64 = 0.67;
/// Queue that a path with room may show: scheduling of both ends. Chosen by us.
const ROOMY_QUEUE: Duration = Duration::from_millis(10);

impl Path {
    /// Whether the path carries much more than what arrives on it now, as far as feedback
    /// tells: a burst does not fill its queue.
    pub fn has_room(&self) -> bool {
        let most = self.controller.target_rate().mul_f64(ROOMY);
        let arrives = self.controller.snapshot().acked;
        self.life.late <= ROOMY_QUEUE && arrives.is_some_and(|rate| rate <= most)
    }

    /// When feedback last named a packet for the first time.
    pub fn heard_at(&self) -> Option<Instant> {
        self.life.heard_at
    }

    /// Feedback names for the first time what left at `sent_at` and arrived then,
    /// in the peer's clock. If that was in time, the silence before was the
    /// feedback's, which was lost or late: the next such silence is borne longer,
    /// and the path is as safe as before.
    pub(super) fn on_news(&mut self, now: Instant, sent_at: Instant, arrival: Instant) {
        let answer = now.saturating_since(sent_at);
        let late = arrival.signed_nanos_since(sent_at) - self.forecast.floor().unwrap_or(0);
        let late = Duration::from_nanos(late.max(0).unsigned_abs());
        self.life.late = late;
        let usual = self.life.answer.smoothed() + late;
        let excused = answer.saturating_sub(usual);
        self.life.excused.on_sample(now, excused);
        self.life.answer.on_sample(answer);
        self.life.heard_at = Some(now);
        if self.is_doubted() && late <= RECOVERED {
            self.health.excuse();
        }
    }

    /// Whether reports are so rare that waiting for one costs a freeze. An outage of the
    /// way back makes single reports late, not all of them.
    pub fn reports_rarely(&self) -> bool {
        let wait = self.life.answer.least().saturating_sub(self.rtt.least());
        wait > LONGEST_REPORT_WAIT
    }

    /// Shortest round trip, and the queue that stood when feedback last named a packet.
    pub fn recent_round_trip(&self) -> Duration {
        self.rtt.least() + self.life.late
    }

    /// When silence becomes suspicious.
    pub fn suspicion_due(&self) -> Option<Instant> {
        /// Suspicion costs a few checks, a false one no more than that; a late
        /// one delays the verdict, which must fall within 200 ms of a death.
        /// Hence half of RFC 6298's allowance for variation.
        const LEAST_VARIATION: Duration = Duration::from_millis(10);
        const CEILING: Duration = Duration::from_millis(500);
        /// While feedback keeps coming, a queue grows, and nothing has died.
        const QUIET: Duration = Duration::from_millis(30);
        if self.state != PathState::Up {
            return None;
        }
        let waiting_since = self.life.waiting_since?;
        let variation = (self.life.answer.variation() * 2).max(LEAST_VARIATION);
        let variation = variation.max(self.life.excused.longest());
        let expected = (self.life.answer.smoothed() + variation).min(CEILING);
        let overdue = self.history.unheard_since()? + expected;
        Some(overdue.max(waiting_since + QUIET))
    }

    /// Marks the path suspect if its silence is overdue; true when it became
    /// so now.
    pub fn check_silence(&mut self, now: Instant) -> bool {
        if self
            .life
            .suspect_since
            .is_some_and(|since| now >= since + SUSPICION_LAPSES)
            && self.state == PathState::Suspect
        {
            // The checks were answered, or no verdict was possible: back in
            // use, and watched again.
            self.marking.doubt();
            self.state = PathState::Up;
            self.life.suspect_since = None;
            self.life.waiting_since = (self.history.in_flight() > Bytes::ZERO).then_some(now);
        }
        if self.suspicion_due().is_none_or(|due| now < due) {
            return false;
        }
        self.state = PathState::Suspect;
        self.life.suspect_since = Some(now);
        self.life.doubted = false;
        true
    }

    /// Whether the path has been suspect for so long that what is in flight
    /// should not be waited for.
    pub fn is_doubted(&self) -> bool {
        self.state == PathState::Suspect && self.life.doubted
    }

    /// Whether it lives, as far as is known, and no suspicion has lasted.
    pub fn is_trusted(&self) -> bool {
        self.state != PathState::Down && !self.is_doubted()
    }

    /// True once, when that becomes so.
    pub fn check_doubt(&mut self, now: Instant) -> bool {
        let due = self.doubt_due().is_some_and(|at| at <= now);
        self.life.doubted |= due;
        due
    }

    fn doubt_due(&self) -> Option<Instant> {
        let waits = self.state == PathState::Suspect && !self.life.doubted;
        Some(self.life.suspect_since.filter(|_| waits)? + DOUBT)
    }

    /// When [`Path::check_silence`] has something to do.
    pub fn silence_deadline(&self) -> Option<Instant> {
        match self.state {
            PathState::Up => self.suspicion_due(),
            PathState::Suspect => {
                let lapses = self
                    .life
                    .suspect_since
                    .map(|since| since + SUSPICION_LAPSES);
                self.doubt_due().or(lapses)
            }
            PathState::Down => None,
        }
    }

    /// The path is dead: everything waiting and in flight must go elsewhere.
    pub fn on_down(&mut self, now: Instant) -> (Vec<Waiting>, Vec<(u64, Carried)>) {
        /// Time that is left of the 30 s from the last answer to a check (RFC
        /// 7675 section 5.1): while a path lives, checks are answered every few
        /// seconds.
        const CONSENT_LEFT: Duration = Duration::from_secs(20);
        self.state = PathState::Down;
        // Silent for long, it is down because there is no consent.
        let left = if self.life.silent {
            Duration::ZERO
        } else {
            CONSENT_LEFT
        };
        self.life.consent_until = Some(now + left);
        (self.life.silent, self.life.unanswered) = (false, false);
        self.clear()
    }

    /// The path is as good as dead, and so are all others: what waits is stale
    /// before it can leave. Returns that.
    pub fn on_silent(&mut self) -> Vec<Waiting> {
        self.state = PathState::Suspect;
        self.life.silent = true;
        self.clear().0
    }

    /// When the peer's consent to a path that was found dead may have ended.
    pub(super) fn consent_until(&self) -> Option<Instant> {
        self.life.consent_until
    }

    /// Whether reports may go here: also on a path that was found dead, which it
    /// may be in the other direction only, as long as the peer's consent lasts.
    pub fn may_report(&self, now: Instant) -> bool {
        let ends = self.life.consent_until;
        self.state != PathState::Down || ends.is_some_and(|at| now < at)
    }

    /// Something is to go here, as long as the peer's consent lasts.
    pub fn send_unanswered(&mut self, now: Instant) {
        self.life.unanswered = self.may_report(now);
    }

    /// A path answers: nothing goes to those that do not.
    pub fn end_unanswered(&mut self) {
        if std::mem::take(&mut self.life.unanswered) {
            self.queue.drain();
        }
    }

    /// Whether packets leave here.
    pub fn may_carry(&self, now: Instant) -> bool {
        self.is_usable() || (self.life.unanswered && self.may_report(now))
    }

    /// Whether what is sent here may arrive.
    pub fn is_usable(&self) -> bool {
        self.state != PathState::Down && !self.life.silent
    }

    fn clear(&mut self) -> (Vec<Waiting>, Vec<(u64, Carried)>) {
        self.life.waiting_since = None;
        self.life.suspect_since = None;
        self.sending.pacer.reset();
        self.one_way.clear();
        self.forecast.clear();
        (self.queue.drain(), self.history.abandon())
    }

    /// The path is valid (again). What was known of it before it died is old.
    pub fn on_up(&mut self, now: Instant, rtt: Duration) {
        if !self.is_usable() {
            self.controller.on_path_restored(now);
            self.marking.restart();
            self.rtt = RoundTrip::assumed(rtt);
            self.life.answer = RoundTrip::assumed(rtt + FEEDBACK_WAIT);
        }
        self.state = PathState::Up;
        (self.life.silent, self.life.unanswered) = (false, false);
        self.life.suspect_since = None;
    }
}
