//! Buffer status at the base station: a request, a small grant, and then
//! reports that are sent with the data (3GPP TS 36.321, 5.4.3 to 5.4.5).

use super::timing::{BEARERS, HARQ_ROUND_TRIP, TTI};
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Grants of one terminal. Bytes are counted from the run's epoch, so the
/// ungranted rest is the reported bytes minus the bytes sent since.
pub(super) struct Grants {
    period: Duration,
    /// Time of the first opportunity for a request.
    offset: Duration,
    reported: [u64; BEARERS],
    /// Reports in transmission, by the time at which their grants take effect.
    reports: VecDeque<(Instant, [u64; BEARERS])>,
    /// Time at which the requested small grant takes effect.
    requested: Option<Instant>,
}

/// Bytes that a base station grants to a terminal after a request, before its
/// first report; chosen by us.
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

    /// Returns the bytes that each bearer may send in this millisecond; `taken` is the
    /// total so far.
    pub fn granted(&mut self, at: Instant, taken: [u64; BEARERS]) -> [u64; BEARERS] {
        while let Some((from, reported)) = self.reports.front()
            && *from <= at
        {
            self.reported = *reported;
            self.reports.pop_front();
        }
        std::array::from_fn(|bearer| self.reported[bearer].saturating_sub(taken[bearer]))
    }

    /// Records a report sent with data: `until` is the total of taken and remaining
    /// bytes. The base station has the report after decoding the block; the grant takes
    /// the same time again.
    pub fn report(&mut self, at: Instant, attempts: u64, until: [u64; BEARERS]) {
        self.requested = None;
        let from = at + HARQ_ROUND_TRIP * attempts;
        let place = self.reports.partition_point(|(other, _)| *other <= from);
        // An older report that arrives later would grant less.
        self.reports.truncate(place);
        self.reports.push_back((from, until));
    }

    /// Returns the next time at which the terminal can send bytes that have no grant yet;
    /// requests a grant if none is in transmission.
    pub fn next(&mut self, now: Instant, taken: [u64; BEARERS]) -> Instant {
        let covers = |reported: &[u64; BEARERS]| (0..BEARERS).any(|b| reported[b] > taken[b]);
        if let Some((from, _)) = self.reports.iter().find(|(_, reported)| covers(reported)) {
            return *from;
        }
        *self.requested.get_or_insert_with(|| {
            let first = Instant::ZERO + self.offset;
            let since = now.saturating_since(first).as_nanos();
            let opportunity = first + self.period * since.div_ceil(self.period.as_nanos());
            // The grant comes 4 ms after the request, the data 4 ms after that.
            opportunity + HARQ_ROUND_TRIP
        })
    }

    /// Cancels all requests and reports.
    pub fn clear(&mut self) {
        self.requested = None;
        self.reports.clear();
    }

    /// Returns offset number `index` within a period.
    pub fn offset(period: Duration, index: u64) -> Duration {
        let slots = (period.as_nanos() / TTI.as_nanos()).max(1);
        TTI * (index % slots)
    }
}
