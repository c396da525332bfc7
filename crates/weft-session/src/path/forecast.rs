//! Predicts when a packet sent on a path arrives, from the delay in feedback and the
//! bytes sent since.

use std::collections::VecDeque;

use weft_cc::PacketResult;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Delay of one path according to its feedback.
///
/// A one-way delay is the arrival in the peer's clock minus the departure in ours. It
/// contains an unknown constant, which is the same for all paths.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Departure and delay of the most recently sent packet that has arrived.
    newest: Option<(Instant, i64)>,
    /// Lowest delay and round trip of each second, the oldest first.
    floors: VecDeque<(u64, i64, Duration)>,
    /// Packets that arrived recently, in sending order.
    arrived: VecDeque<Arrived>,
    /// Results computed from the two fields above: they change with feedback only, but
    /// are needed for every scheduled packet.
    shown: Shown,
}

/// Results after the newest feedback.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    floor: Option<i64>,
    recent_floor: Option<i64>,
    offset: Option<i64>,
    busy_rate: Option<Rate>,
}

#[derive(Clone, Copy, Debug)]
struct Arrived {
    delay: i64,
    /// In the peer's clock.
    at: Instant,
    size: Bytes,
}

/// Seconds over which the lowest delay is taken: the jitter buffer's memory is as long.
const FLOOR_SECONDS: u64 = 10;
/// Seconds, including the current one, after which a queue that persists although
/// pictures were made to fit must come from other traffic. Chosen by trial
/// (`docs/protocol/calm.md`).
const RECENT_SECONDS: usize = 2;
/// Queueing delay in nanoseconds above which the link was busy; chosen by us: a few
/// packets at 2 Mbps.
const BUSY: i64 = 10_000_000;
/// Time over which a busy link's rate is measured: `kDefaultRateWindow` of libwebrtc's
/// `bitrate_estimator.cc` is 150 ms; this must react faster.
const RATE_WINDOW: Duration = Duration::from_millis(100);
/// Shortest time that gives a usable rate; chosen by us.
const RATE_LEAST: Duration = Duration::from_millis(30);
const MAX_ARRIVED: usize = 256;

impl Forecast {
    /// Takes in feedback; `results` are in sending order.
    pub fn on_feedback(&mut self, now: Instant, results: &[PacketResult]) {
        for result in results {
            let Some(at) = result.arrival else { continue };
            let sent_at = result.sent.sent_at;
            let delay = at.signed_nanos_since(sent_at);
            let rtt = now.saturating_since(sent_at);
            self.lower_floor(now, delay, rtt);
            if self.newest.is_none_or(|(newest, _)| newest <= sent_at) {
                self.newest = Some((sent_at, delay));
            }
            if self.arrived.len() == MAX_ARRIVED {
                self.arrived.pop_front();
            }
            let size = result.sent.size + result.unmeasured_before;
            self.arrived.push_back(Arrived { delay, at, size });
        }
        self.show();
    }

    fn lower_floor(&mut self, now: Instant, delay: i64, rtt: Duration) {
        let second = now.as_nanos() / 1_000_000_000;
        match self.floors.back_mut() {
            Some((last, least, round)) if *last == second => {
                *least = (*least).min(delay);
                *round = (*round).min(rtt);
            }
            _ => self.floors.push_back((second, delay, rtt)),
        }
        while self
            .floors
            .front()
            .is_some_and(|(first, ..)| first + FLOOR_SECONDS <= second)
        {
            self.floors.pop_front();
        }
    }

    fn show(&mut self) {
        let floor = self.floors.iter().map(|(_, delay, _)| *delay).min();
        let newest = self.floors.iter().rev().take(RECENT_SECONDS);
        let rtt = self.floors.iter().map(|(.., rtt)| *rtt).min();
        let offset = floor.zip(rtt);
        self.shown = Shown {
            floor,
            recent_floor: newest.map(|(_, delay, _)| *delay).min(),
            offset: offset.map(|(floor, rtt)| floor - (rtt / 2).as_nanos() as i64),
            busy_rate: floor.and_then(|floor| self.find_busy_rate(floor)),
        };
    }

    /// Returns the lowest delay of the last seconds, which is that of the empty path.
    pub fn floor(&self) -> Option<i64> {
        self.shown.floor
    }

    /// Returns the lowest delay of the last one to two seconds: a queue that did not
    /// drain in that time comes from other traffic.
    pub fn recent_floor(&self) -> Option<i64> {
        self.shown.recent_floor
    }

    /// Returns the nanoseconds to add to half a round trip for a one-way delay.
    pub fn offset(&self) -> Option<i64> {
        self.shown.offset
    }

    /// Returns the rate at which packets leave the link while a queue stands; `None` if
    /// there is no queue.
    pub fn busy_rate(&self) -> Option<Rate> {
        self.shown.busy_rate
    }

    fn find_busy_rate(&self, floor: i64) -> Option<Rate> {
        let last = self.arrived.back()?.at;
        let mut bytes = Bytes::ZERO;
        let mut span = Duration::ZERO;
        let mut behind = Bytes::ZERO;
        for packet in self.arrived.iter().rev() {
            if packet.delay < floor + BUSY {
                break;
            }
            // Bytes that arrived in the interval, without its first packet.
            bytes += behind;
            behind = packet.size;
            span = last.saturating_since(packet.at);
            if span >= RATE_WINDOW {
                break;
            }
        }
        (span >= RATE_LEAST).then(|| bytes / span)
    }

    /// Returns the one-way delay of a packet sent at `at`. `ahead` is the bytes sent
    /// since the newest packet that is known to have arrived, including the new packet.
    /// `rate` is the assumed capacity of the path.
    pub fn delay(&self, at: Instant, ahead: Bytes, rate: Rate) -> Option<i64> {
        let (newest, delay) = self.newest?;
        let floor = self.floor()?;
        let rate = self.busy_rate().map_or(rate, |busy| busy.min(rate));
        let added = rate.time_for(ahead).unwrap_or(Duration::from_secs(10));
        let drained = at.saturating_since(newest).as_nanos() as i64;
        Some(floor.max(delay - drained + added.as_nanos() as i64))
    }

    pub fn clear(&mut self) {
        *self = Forecast::default();
    }
}

#[cfg(test)]
mod tests;
