//! How the base station comes to know what a terminal wants to send: a
//! request, a small grant, and then reports that go with the data (3GPP TS
//! 36.321, 5.4.3 to 5.4.5).

use super::timing::{BEARERS, HARQ_ROUND_TRIP, TTI};
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Of one terminal. Bytes are counted from the run's epoch on, so that what is
/// left to grant is what was reported less what was sent since.
pub(super) struct Grants {
    period: Duration,
    /// Of the first opportunity for a request.
    offset: Duration,
    reported: [u64; BEARERS],
    /// On their way, by the time at which their grants take effect.
    reports: VecDeque<(Instant, [u64; BEARERS])>,
    /// When the small grant takes effect that was asked for.
    requested: Option<Instant>,
}

/// What a base station grants to somebody of whom it knows only that there is
/// something; chosen by us.
pub(super) const FIRST_GRANT: u64 = 100;

impl Grants {
    pub fn new(period: Duration, offset: Duration) -> Grants {
        Grants {
            period,
            offset,
            reported: [0; BEARERS],
            reports: VecDeque::new(),
            requested: None,
        }
    }

    /// Bytes of each bearer that may be sent in this millisecond, `taken` being
    /// all that ever was.
    pub fn granted(&mut self, at: Instant, taken: [u64; BEARERS]) -> [u64; BEARERS] {
        while let Some((from, reported)) = self.reports.front()
            && *from <= at
        {
            self.reported = *reported;
            self.reports.pop_front();
        }
        std::array::from_fn(|bearer| self.reported[bearer].saturating_sub(taken[bearer]))
    }

    /// The terminal sends, and tells what it has: `until` is all that was
    /// taken and is left. The base station has the report when it has decoded
    /// the block, and the grant takes as long once more.
    pub fn report(&mut self, at: Instant, attempts: u64, until: [u64; BEARERS]) {
        self.requested = None;
        let from = at + HARQ_ROUND_TRIP * attempts;
        let place = self.reports.partition_point(|(other, _)| *other <= from);
        // An older one that comes later would say less.
        self.reports.truncate(place);
        self.reports.push_back((from, until));
    }

    /// When the terminal can send next that has bytes for which there is no
    /// grant yet; asks for one, if none is on its way.
    pub fn next(&mut self, now: Instant, taken: [u64; BEARERS]) -> Instant {
        let covers = |reported: &[u64; BEARERS]| (0..BEARERS).any(|b| reported[b] > taken[b]);
        if let Some((from, _)) = self.reports.iter().find(|(_, reported)| covers(reported)) {
            return *from;
        }
        *self.requested.get_or_insert_with(|| {
            let first = Instant::ZERO + self.offset;
            let since = now.saturating_since(first).as_nanos();
            let opportunity = first + self.period * since.div_ceil(self.period.as_nanos());
            // The grant 4 ms after the request, the data 4 ms after that.
            opportunity + HARQ_ROUND_TRIP
        })
    }

    /// Nothing is asked for any more.
    pub fn clear(&mut self) {
        self.requested = None;
        self.reports.clear();
    }

    /// The offset number `index` of those within a period.
    pub fn offset(period: Duration, index: u64) -> Duration {
        let slots = (period.as_nanos() / TTI.as_nanos()).max(1);
        TTI * (index % slots)
    }
}
