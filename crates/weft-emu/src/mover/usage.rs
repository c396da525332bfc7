use weft_links::{Medium, RadioCounters, ServiceTime, StationId};
use weft_units::{Duration, Instant};

/// Usage of a medium during a part of the run, sampled exactly at its beginning and end,
/// even if the machine is late.
#[derive(Default)]
pub(crate) struct Usage {
    from: Instant,
    /// Absent: the end of the run.
    until: Option<Instant>,
    before: Option<Totals>,
    after: Option<Totals>,
}

/// Usage from the beginning of the run until some time.
#[derive(Clone, Default)]
pub(crate) struct Totals {
    pub channels: Vec<ServiceTime>,
    /// In the order of the medium's stations.
    pub stations: Vec<StationTotals>,
}

/// One station's part of the usage.
#[derive(Clone, Copy, Default)]
pub(crate) struct StationTotals {
    pub service: ServiceTime,
    pub carried_to: Option<Duration>,
    pub radio: Option<RadioCounters>,
}

impl Usage {
    /// Creates a counter for a part of the run; times are relative to time zero.
    pub fn of((from, until): (Duration, Option<Duration>)) -> Usage {
        Usage {
            from: Instant::ZERO + from,
            until: until.map(|until| Instant::ZERO + until),
            ..Usage::default()
        }
    }

    /// Call this before any event at `now`.
    #[inline]
    pub fn advance<P>(&mut self, now: Instant, medium: &mut Medium<P>, stations: usize) {
        if self.before.is_none() && self.from <= now {
            self.before = Some(Totals::until(self.from, medium, stations));
        }
        if self.after.is_none()
            && let Some(until) = self.until.filter(|until| *until <= now)
        {
            self.after = Some(Totals::until(until, medium, stations));
        }
    }

    /// Returns the usage, until `end` if that comes first.
    pub fn finish<P>(&mut self, end: Instant, medium: &mut Medium<P>, stations: usize) -> Totals {
        self.advance(end, medium, stations);
        let after = self.after.take();
        let after = after.unwrap_or_else(|| Totals::until(end, medium, stations));
        let before = self.before.take().unwrap_or_else(|| after.clone());
        after.since(&before)
    }
}

impl Totals {
    fn until<P>(at: Instant, medium: &mut Medium<P>, stations: usize) -> Totals {
        let station = |id| StationTotals {
            service: medium.service_time(at, id),
            carried_to: medium.carried_to(at, id),
            radio: medium.radio(id),
        };
        let stations = (0..).map(StationId).take(stations).map(station).collect();
        let channels = medium.channels();
        let times = channels.filter_map(|channel| medium.channel_time(at, channel));
        Totals {
            channels: times.collect(),
            stations,
        }
    }

    fn since(&self, earlier: &Totals) -> Totals {
        let channels = self.channels.iter().zip(&earlier.channels);
        let stations = self.stations.iter().zip(&earlier.stations);
        Totals {
            channels: channels.map(|(now, before)| now.since(before)).collect(),
            stations: stations.map(|(now, before)| now.since(before)).collect(),
        }
    }
}

impl StationTotals {
    fn since(&self, earlier: &StationTotals) -> StationTotals {
        let carried = self.carried_to.zip(earlier.carried_to);
        let radio = self.radio.zip(earlier.radio);
        StationTotals {
            service: self.service.since(&earlier.service),
            carried_to: carried.map(|(now, before)| now - before),
            radio: radio.map(|(now, before)| now.since(&before)),
        }
    }
}
