//! When what is sent on a path arrives: the delay that feedback shows, and
//! what was sent since.

use std::collections::VecDeque;

use weft_cc::PacketResult;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Delay of one path, as its feedback shows it.
///
/// One-way delays are arrivals in the peer's clock less departures in ours, so
/// an unknown constant is in them, the same one for all paths.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// When the newest packet that arrived had left, and its delay.
    newest: Option<(Instant, i64)>,
    /// Least delay and round trip of each second, the oldest first.
    floors: VecDeque<(u64, i64, Duration)>,
    /// Packets that arrived lately, in the order of sending.
    arrived: VecDeque<Arrived>,
    /// Results of the two above: feedback changes them, every packet that is
    /// scheduled asks.
    shown: Shown,
}

/// Results of the newest feedback.
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

/// The least delay is that of so many seconds: as long as the jitter buffer's
/// memory.
const FLOOR_SECONDS: u64 = 10;
/// A queue that stands for so many seconds, the present one included, though
/// pictures were made to fit, is not of this call's making. Chosen by trial
/// (`docs/protocol/calm.md`).
const RECENT_SECONDS: usize = 2;
/// Packets that stand behind others in a queue for longer than this came out
/// of a busy link; chosen by us: a few packets at 2 Mbps.
const BUSY: i64 = 10_000_000;
/// A busy link's rate is that of so many milliseconds: `kDefaultRateWindow`
/// of libwebrtc's `bitrate_estimator.cc` is 150 ms; this must be quicker.
const RATE_WINDOW: Duration = Duration::from_millis(100);
/// Less says nothing; chosen by us.
const RATE_LEAST: Duration = Duration::from_millis(30);
const MAX_ARRIVED: usize = 256;

impl Forecast {
    /// Feedback came; `results` are in send order.
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

    /// The least delay of the last seconds: that of the empty path.
    pub fn floor(&self) -> Option<i64> {
        self.shown.floor
    }

    /// The least delay of the last one to two seconds: a queue that did not
    /// drain in them is that of others.
    pub fn recent_floor(&self) -> Option<i64> {
        self.shown.recent_floor
    }

    /// Nanoseconds to be added to half a round trip for a one-way delay.
    pub fn offset(&self) -> Option<i64> {
        self.shown.offset
    }

    /// The rate at which packets come out of the link while a queue stands;
    /// `None` if none does.
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
            // What came in the interval, without the packet that begins it.
            bytes += behind;
            behind = packet.size;
            span = last.saturating_since(packet.at);
            if span >= RATE_WINDOW {
                break;
            }
        }
        (span >= RATE_LEAST).then(|| bytes / span)
    }

    /// One-way delay of a packet that leaves at `at`, when `ahead` bytes have
    /// left since the newest one that is known to have arrived, itself
    /// included. `rate` is what the path is thought to carry.
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
