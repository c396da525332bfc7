//! Self-clocked rate adaptation for multimedia, version 1: RFC 8298; section numbers and
//! names in capitals below are from the RFC.

mod media;
mod trend;
mod window;

use crate::measure::{
    BaseDelay, DeliveryRate, SILENCE_DROP, Silence, credible_delivery, credible_size,
};
use crate::scream::flight::Flight;
use crate::scream::queue_target::QueueTarget;
use crate::{Controller, Internal, Limits, PacketResult, SentPacket, Snapshot};
use media::MediaRate;
use trend::Trend;
use weft_units::{Bytes, Deadline, Duration, Ecn, Instant, Rate};
use window::{Acknowledged, Event, MSS, Window};

/// `QDELAY_TARGET_LO` in ms (section 4.1.1.1).
const QUEUE_TARGET_MS: f64 = 100.0;
/// `RATE_PACE_MIN` (ibid.).
const PACE_MIN: Rate = Rate::from_kbps(50);
/// Memory of the base delay, as in version 2.
const BASE_WINDOW: Duration = Duration::from_secs(30);
/// Gain of the smoothed round trip (RFC 6298 section 2).
const RTT_GAIN: f64 = 0.125;
/// Range of plausible round trips: chosen by us.
const RTT_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(10));
/// Window of the delivery rate, for the snapshot only.
const RATE_WINDOW: Duration = Duration::from_millis(500);
/// Largest plausible backlog; a larger one would overflow sums.
const MAX_BACKLOG: Bytes = Bytes(1 << 32);

/// SCReAM of RFC 8298: a LEDBAT-like congestion window around a target for the queueing
/// delay, and a media rate that monitors the sender's own queue.
#[derive(Debug)]
pub struct ScreamV1 {
    limits: Limits,
    rtt: Option<Duration>,
    base: BaseDelay,
    queue: QueueTarget,
    trend: Trend,
    flight: Flight,
    window: Window,
    media: MediaRate,
    /// Time of the last reaction to a loss or mark.
    reacted: Option<Instant>,
    delivered: DeliveryRate,
    loss: f64,
    silence: Silence,
}

impl ScreamV1 {
    /// Starts at the start rate.
    #[must_use]
    pub fn new(limits: Limits) -> ScreamV1 {
        let limits = limits.ordered();
        ScreamV1 {
            limits,
            rtt: None,
            base: BaseDelay::new(BASE_WINDOW),
            queue: QueueTarget::new(QUEUE_TARGET_MS),
            trend: Trend::default(),
            flight: Flight::default(),
            window: Window::new(0.0),
            media: MediaRate::new(limits),
            reacted: None,
            delivered: DeliveryRate::new(RATE_WINDOW),
            loss: 0.0,
            silence: Silence::default(),
        }
    }

    /// Updates RFC 6298's smoothed round trip, and sets the first window from it.
    fn measure_rtt(&mut self, now: Instant, sent: Instant) -> Duration {
        let (low, high) = RTT_RANGE;
        let sample = now.saturating_since(sent).clamp(low, high);
        let rtt = match self.rtt {
            Some(rtt) => rtt.mul_f64(1.0 - RTT_GAIN) + sample.mul_f64(RTT_GAIN),
            None => {
                self.window = Window::new((self.limits.start * sample).0 as f64);
                sample
            }
        };
        self.rtt = Some(rtt);
        rtt
    }

    /// Reacts at most once per round trip; returns true if it did.
    fn react(&mut self, now: Instant, rtt: Duration, event: Event) -> bool {
        let recent = |at| now.saturating_since(at) < rtt;
        if self.reacted.is_some_and(recent) {
            return false;
        }
        self.reacted = Some(now);
        self.window.shrink(event);
        self.media.shrink(event);
        true
    }

    /// Resets the window, because an outage says nothing about the path after it.
    fn resume(&mut self) {
        let start = self.media.target().max(self.limits.start);
        let limits = Limits {
            start,
            ..self.limits
        };
        *self = ScreamV1 {
            flight: std::mem::take(&mut self.flight),
            media: MediaRate::new(limits),
            ..ScreamV1::new(self.limits)
        };
    }
}

impl Controller for ScreamV1 {
    fn on_packet_sent(&mut self, packet: &SentPacket) {
        self.silence.on_sent(packet.sent_at);
        self.flight.on_sent(packet);
        self.media.on_sent(credible_size(packet.size));
        let in_flight = self.flight.bytes() as f64;
        self.window.on_flight(packet.sent_at, in_flight);
    }

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], _rtt: Option<Duration>) {
        if results.is_empty() {
            return;
        }
        if self.silence.on_feedback() {
            self.resume();
        }
        let (mut acked, mut lost, mut marked, mut newest) = (0, 0_u32, false, None);
        for result in results {
            let Some(arrival) = result.arrival else {
                lost += 1;
                continue;
            };
            acked += self.flight.on_acked(result.sent.number);
            marked |= result.ecn == Ecn::Ce;
            let size = credible_delivery(result);
            self.media.on_acked(size);
            self.delivered.on_packet(arrival, size);
            let sent = result.sent.sent_at;
            newest = Some((sent, self.base.queue_ms(now, sent, arrival)));
        }
        self.loss = f64::from(lost) / results.len() as f64;
        let Some((sent, queue_ms)) = newest else {
            return;
        };
        let rtt = self.measure_rtt(now, sent);
        self.queue.update(now, queue_ms, lost > 0, rtt);
        self.trend.update(now, queue_ms / self.queue.target_ms());
        let event = match (lost > 0, marked) {
            (true, _) => Some(Event::Loss),
            (false, true) => Some(Event::Mark),
            (false, false) => None,
        };
        if event.is_some_and(|event| self.react(now, rtt, event)) {
            return;
        }
        self.window.on_acknowledged(&Acknowledged {
            now,
            bytes: acked as f64,
            in_flight: self.flight.bytes() as f64,
            queue_ms,
            target_ms: self.queue.target_ms(),
            trend: self.trend.get(),
        });
        let (trend, memory) = (self.trend.get(), self.trend.memory());
        self.media.update(now, self.window.is_fast(), trend, memory);
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.media.target() > self.limits.min && self.silence.drops(now) {
            self.window.scale(SILENCE_DROP);
            self.media.scale(SILENCE_DROP);
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let lowers = self.media.target() > self.limits.min;
        self.silence.poll_timeout().filter(|_| lowers)
    }

    fn set_backlog(&mut self, waiting: Bytes) {
        self.media.set_backlog(waiting.min(MAX_BACKLOG));
    }

    fn on_path_restored(&mut self, _now: Instant) {
        *self = ScreamV1::new(self.limits);
    }

    /// Treats a mark like a loss with a weaker reaction (RFC 8298).
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn target_rate(&self) -> Rate {
        self.media.target()
    }

    /// Returns the rate by "Packet Pacing" (section 4.1.2.6); the lowest rate if the send
    /// window (4.1.2.5) is used up.
    fn pacing_rate(&self) -> Rate {
        let Some(rtt) = self.rtt else {
            return self.media.target().max(PACE_MIN);
        };
        let slack = match self.queue.queue_ms() <= self.queue.target_ms() {
            true => MSS,
            false => 0.0,
        };
        if self.flight.bytes() as f64 >= self.window.bytes() + slack {
            return PACE_MIN;
        }
        let bps = self.window.bytes() * 8.0 / rtt.as_secs_f64();
        Rate::from_bps(bps as u64).max(PACE_MIN)
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.window.is_fast() {
            _ if self.silence.is_active() => "silence",
            true => "fast increase",
            false => "steady",
        };
        Snapshot {
            target: self.media.target(),
            acked: self.delivered.rate(),
            loss: self.loss,
            state,
        }
    }

    fn internals(&self) -> Vec<Internal> {
        let mut all = vec![
            Internal::bytes("window", self.window.bytes()),
            Internal::bytes("in_flight", self.flight.bytes() as f64),
            Internal::ms("queue", self.queue.queue_ms()),
            Internal::ms("queue_target", self.queue.target_ms()),
        ];
        let delivered = self.delivered.rate();
        all.extend(delivered.map(|rate| Internal::rate("delivered", rate)));
        all.push(Internal::share("loss", self.loss));
        all.push(Internal::share("queue_trend", self.trend.get()));
        all
    }
}
