use weft_units::{Deadline, Duration, Instant};

/// Time without feedback for sent packets after which the rate decreases, by this factor
/// per interval: `kDefaultRttLimit`, `drop_fraction` and `drop_interval` of libwebrtc
/// `RttBasedBackoff` (`send_side_bandwidth_estimation.cc`). The drafts and RFCs leave the
/// case to a circuit breaker (RFC 8083).
const SILENCE: Duration = Duration::from_secs(3);
pub(crate) const SILENCE_DROP: f64 = 0.8;
pub(crate) const SILENCE_INTERVAL: Duration = Duration::from_secs(1);

/// Packets sent since the last feedback.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Times of the first and the last packet sent since then.
    sent: Option<(Instant, Instant)>,
    /// Time of the last decrease because of silence.
    dropped: Option<Instant>,
}

impl Silence {
    pub(crate) fn on_sent(&mut self, at: Instant) {
        let (first, last) = self.sent.unwrap_or((at, at));
        self.sent = Some((first, last.max(at)));
    }

    /// Ends the silence; returns true if it has lowered the rate.
    pub(crate) fn on_feedback(&mut self) -> bool {
        std::mem::take(self).dropped.is_some()
    }

    /// Returns true if a decrease is due.
    pub(crate) fn drops(&mut self, now: Instant) -> bool {
        let due = self.next_drop().is_some_and(|at| now >= at);
        if due {
            self.dropped = Some(now);
        }
        due
    }

    pub(crate) fn is_active(&self) -> bool {
        self.dropped.is_some()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        self.next_drop().map(|at| Deadline {
            at,
            reason: "no feedback",
        })
    }

    /// Returns the time of the next decrease; `None` while no packet awaits feedback.
    fn next_drop(&self) -> Option<Instant> {
        let (first, last) = self.sent?;
        let next = match self.dropped {
            Some(at) => at + SILENCE_INTERVAL,
            None => first + SILENCE,
        };
        let unanswered = self.dropped.unwrap_or(next);
        (last >= unanswered).then_some(next)
    }
}
