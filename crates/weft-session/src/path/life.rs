//! Judges from feedback and silence whether a path lives.

use weft_units::{Bytes, Duration, Instant};

use super::health::RECOVERED;
use super::{Carried, FEEDBACK_WAIT, Path, PathState, RoundTrip, Waiting};

/// Age at which a suspicion without a verdict from the association lapses: twice the time
/// that a verdict may take (200 ms at most, chosen by us).
const SUSPICION_LAPSES: Duration = Duration::from_millis(400);

/// Time that feedback may be late before a suspicion becomes a doubt. It is half of the
/// time between two reports if there is a choice of paths. Chosen by trial
/// (`docs/protocol/calm.md`): with 15 ms the first picture on a failing path waits
/// longer, and fewer such moments count as danger.
const DOUBT: Duration = Duration::from_millis(5);

/// Longest wait for a report before the peer's requests are trusted without one. Chosen
/// by us: libwebrtc reports every 50 to 100 ms, Janus every 200 ms, and a receiver's
/// jitter buffer bridges about as much.
const LONGEST_REPORT_WAIT: Duration = Duration::from_millis(120);

/// Highest share of the target rate that may arrive on a path that has room: the rate of
/// an encoder or forwarder without probes. Chosen by us: a server lets viewers' targets
/// grow to twice the published rate.
const ROOMY: f64 = 0.67;
/// Largest queue on a path that has room: scheduling of both ends. Chosen by us.
const ROOMY_QUEUE: Duration = Duration::from_millis(10);

impl Path {
    /// Returns whether the path can carry much more than it delivers now, according to
    /// feedback: a burst does not fill its queue.
    pub fn has_room(&self) -> bool {
        let most = self.controller.target_rate().mul_f64(ROOMY);
        let arrives = self.controller.snapshot().acked;
        self.life.late <= ROOMY_QUEUE && arrives.is_some_and(|rate| rate <= most)
    }

    /// Returns when feedback last named a packet for the first time.
    pub fn heard_at(&self) -> Option<Instant> {
        self.life.heard_at
    }

    /// Records feedback that names a packet for the first time; it left at `sent_at` and
    /// arrived at `arrival` in the peer's clock. If it arrived in time, the feedback was
    /// lost or late and not the packet: the next such silence is tolerated for longer,
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

    /// Returns whether reports are so rare that waiting for one costs a freeze. An outage
    /// of the return path delays single reports, not all of them.
    pub fn reports_rarely(&self) -> bool {
        let wait = self.life.answer.least().saturating_sub(self.rtt.least());
        wait > LONGEST_REPORT_WAIT
    }

    /// Returns the shortest round trip plus the queue at the last feedback on a packet.
    pub fn recent_round_trip(&self) -> Duration {
        self.rtt.least() + self.life.late
    }

    /// Returns when silence becomes suspicious.
    pub fn suspicion_due(&self) -> Option<Instant> {
        /// A suspicion, even a false one, costs only a few checks. A late one delays the
        /// verdict, which must come within 200 ms of a death. This is therefore half of
        /// RFC 6298's allowance for variation.
        const LEAST_VARIATION: Duration = Duration::from_millis(10);
        const CEILING: Duration = Duration::from_millis(500);
        /// While feedback keeps coming, a queue grows, but the path has not died.
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

    /// Marks the path suspect if its silence is overdue; returns true if this changed
    /// now.
    pub fn check_silence(&mut self, now: Instant) -> bool {
        if self
            .life
            .suspect_since
            .is_some_and(|since| now >= since + SUSPICION_LAPSES)
            && self.state == PathState::Suspect
        {
            // The checks were answered, or no verdict was possible: the path is in use
            // again, and watched again.
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

    /// Returns whether the path has been suspect for so long that the sender should no
    /// longer wait for the packets in flight.
    pub fn is_doubted(&self) -> bool {
        self.state == PathState::Suspect && self.life.doubted
    }

    /// Returns whether the path is not known to be dead and no suspicion has lasted.
    pub fn is_trusted(&self) -> bool {
        self.state != PathState::Down && !self.is_doubted()
    }

    /// Updates the doubt; returns true once, when it begins.
    pub fn check_doubt(&mut self, now: Instant) -> bool {
        let due = self.doubt_due().is_some_and(|at| at <= now);
        self.life.doubted |= due;
        due
    }

    fn doubt_due(&self) -> Option<Instant> {
        let waits = self.state == PathState::Suspect && !self.life.doubted;
        Some(self.life.suspect_since.filter(|_| waits)? + DOUBT)
    }

    /// Returns when [`Path::check_silence`] has something to do.
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

    /// Marks the path dead. Returns everything waiting and in flight, which must use
    /// other paths.
    pub fn on_down(&mut self, now: Instant) -> (Vec<Waiting>, Vec<(u64, Carried)>) {
        /// Rest of the 30 s since the last answer to a check (RFC 7675 section 5.1):
        /// while a path lives, checks are answered every few seconds.
        const CONSENT_LEFT: Duration = Duration::from_secs(20);
        self.state = PathState::Down;
        // A path that was silent for long is down because consent has expired.
        let left = if self.life.silent {
            Duration::ZERO
        } else {
            CONSENT_LEFT
        };
        self.life.consent_until = Some(now + left);
        (self.life.silent, self.life.unanswered) = (false, false);
        self.clear()
    }

    /// Marks the path silent, because no path answers. Waiting packets would be stale
    /// before they can leave, so they are returned.
    pub fn on_silent(&mut self) -> Vec<Waiting> {
        self.state = PathState::Suspect;
        self.life.silent = true;
        self.clear().0
    }

    /// Returns when the peer's consent to a path that was found dead may end.
    pub(super) fn consent_until(&self) -> Option<Instant> {
        self.life.consent_until
    }

    /// Returns whether reports may use this path. They may also use a path that was found
    /// dead, as long as the peer's consent lasts: it may be dead in the other direction
    /// only.
    pub fn may_report(&self, now: Instant) -> bool {
        let ends = self.life.consent_until;
        self.state != PathState::Down || ends.is_some_and(|at| now < at)
    }

    /// Lets packets use this silent path, as long as the peer's consent lasts.
    pub fn send_unanswered(&mut self, now: Instant) {
        self.life.unanswered = self.may_report(now);
    }

    /// Stops sending on this silent path, because another path answers.
    pub fn end_unanswered(&mut self) {
        if std::mem::take(&mut self.life.unanswered) {
            self.queue.drain();
        }
    }

    /// Returns whether packets may leave on this path.
    pub fn may_carry(&self, now: Instant) -> bool {
        self.is_usable() || (self.life.unanswered && self.may_report(now))
    }

    /// Returns whether packets sent here may arrive.
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

    /// Marks the path valid, for the first time or again. Measurements from before its
    /// death are discarded.
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
