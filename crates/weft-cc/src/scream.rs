//! Self-clocked rate adaptation for multimedia, version 2:
//! draft-johansson-ccwg-rfc8298bis-screamv2 in the editors' text of 21 October 2025, the
//! last one with a fixed `REF_WND_OVERHEAD`. Names in capitals and headings in quotes
//! below are from that text.

pub(crate) mod flight;
mod marks;
pub(crate) mod queue_target;
mod window;

use crate::measure::{BaseDelay, DeliveryRate, SILENCE_DROP, Silence, credible_delivery};
use crate::{Controller, Internal, Limits, PacketResult, SentPacket, Snapshot};
use flight::Flight;
use marks::Marks;
use queue_target::QueueTarget;
use weft_units::{Deadline, Duration, Ecn, Instant, Rate};
use window::{MIN_WINDOW, MSS, Update, Window};

/// `QDELAY_TARGET_LO` in ms.
const QUEUE_TARGET_MS: f64 = 60.0;
/// `REF_WND_OVERHEAD`: factor by which the bytes in flight may exceed the window.
const OVERHEAD: f64 = 5.0;
/// `RATE_PACE_MIN` and `PACKET_PACING_HEADROOM`.
const PACE_MIN: Rate = Rate::from_kbps(50);
const PACE_HEADROOM: f64 = 1.5;
/// `BYTES_IN_FLIGHT_LIMIT` and `BYTES_IN_FLIGHT_LIMIT_COMPENSATION`, applied
/// when the queue exceeds this share of its target ("Media Rate Control").
const FLIGHT_LIMIT: f64 = 0.9;
const FLIGHT_COMPENSATION: f64 = 1.5;
const QUEUED: f64 = 0.25;
/// Effect of a window of few segments on the rate (ibid.).
const SMALL_RATIO: f64 = 0.1;
const SMALL_MOST: f64 = 0.2;
/// `PACKET_OVERHEAD` in bytes.
const PACKET_OVERHEAD: f64 = 20.0;
/// Memory of the base delay. RFC 6817, which the draft cites, remembers ten minutes, and
/// would treat a longer route as a queue for that time: chosen by us,
/// `a_longer_route_is_not_taken_for_a_queue_for_ever`.
const BASE_WINDOW: Duration = Duration::from_secs(30);
/// Gain of the smoothed round trip (RFC 6298 section 2).
const RTT_GAIN: f64 = 0.125;
/// Range of plausible round trips: chosen by us.
const RTT_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(10));
/// Window of the delivery rate, for the snapshot only.
const RATE_WINDOW: Duration = Duration::from_millis(500);
/// Number of round trips after a reduction for which the snapshot reports it.
const REDUCED_RTTS: u64 = 4;

/// SCReAM version 2: a window for the bytes in flight, which shrinks after losses, marks
/// (classic and L4S) and queueing delay, and a rate that follows from window and round
/// trip.
///
/// L4S is active while our packets arrive as ECT(1). The draft's value from frame sizes
/// (`rel_framesize_high`) is 1, because a controller sees packets and not frames.
#[derive(Debug)]
pub struct Scream {
    limits: Limits,
    target: Rate,
    rtt: Option<Duration>,
    base: BaseDelay,
    queue: QueueTarget,
    flight: Flight,
    marks: Marks,
    window: Window,
    delivered: DeliveryRate,
    loss: f64,
    /// Whether the last feedback reduced the window, for the snapshot.
    reduced: bool,
    silence: Silence,
}

/// Contents of one feedback message.
#[derive(Default)]
struct Digest {
    acked_bytes: u64,
    packets: u32,
    marked: u32,
    lost: u32,
    /// Sending time and queueing delay of the newest packet that arrived.
    newest: Option<(Instant, f64)>,
}

impl Scream {
    /// Starts at the start rate.
    #[must_use]
    pub fn new(limits: Limits) -> Scream {
        let limits = limits.ordered();
        Scream {
            limits,
            target: limits.start,
            rtt: None,
            base: BaseDelay::new(BASE_WINDOW),
            queue: QueueTarget::new(QUEUE_TARGET_MS),
            flight: Flight::default(),
            marks: Marks::default(),
            window: Window::new(),
            delivered: DeliveryRate::new(RATE_WINDOW),
            loss: 0.0,
            reduced: false,
            silence: Silence::default(),
        }
    }

    fn digest(&mut self, now: Instant, results: &[PacketResult]) -> Digest {
        let mut digest = Digest::default();
        for result in results {
            let Some(arrival) = result.arrival else {
                digest.lost += 1;
                continue;
            };
            digest.acked_bytes += self.flight.on_acked(result.sent.number);
            digest.packets += 1;
            digest.marked += u32::from(result.ecn == Ecn::Ce);
            self.marks.on_packet(result.ecn);
            self.delivered.on_packet(arrival, credible_delivery(result));
            let sent = result.sent.sent_at;
            digest.newest = Some((sent, self.base.queue_ms(now, sent, arrival)));
        }
        digest
    }

    /// Updates RFC 6298's smoothed round trip, and sets the first window from it.
    fn measure_rtt(&mut self, now: Instant, sent: Instant) -> Duration {
        let (low, high) = RTT_RANGE;
        let sample = now.saturating_since(sent).clamp(low, high);
        let rtt = match self.rtt {
            Some(rtt) => rtt.mul_f64(1.0 - RTT_GAIN) + sample.mul_f64(RTT_GAIN),
            None => {
                self.window.set_bytes((self.limits.start * sample).0 as f64);
                sample
            }
        };
        self.rtt = Some(rtt);
        rtt
    }

    /// Sets the target by "Media Rate Control".
    fn set_target(&mut self, rtt: Duration) {
        let in_flight = self.flight.bytes() as f64 / self.window.bytes();
        let mut scale = 1.0;
        if self.queue.queue_ms() > QUEUED * self.queue.target_ms() && in_flight > FLIGHT_LIMIT {
            scale /= (in_flight / FLIGHT_LIMIT).min(FLIGHT_COMPENSATION);
        }
        scale *= 1.0 - (self.window.ratio() - SMALL_RATIO).clamp(0.0, SMALL_MOST);
        scale *= MSS / (MSS + PACKET_OVERHEAD);
        let bps = scale * 8.0 * self.window.bytes() / rtt.as_secs_f64();
        self.target = self.limits.clamp(Rate::from_bps(bps as u64));
    }

    /// Resets the window, because an outage says nothing about the path after it.
    fn resume(&mut self) {
        *self = Scream {
            flight: std::mem::take(&mut self.flight),
            target: self.target.max(self.limits.start),
            ..Scream::new(self.limits)
        };
    }
}

impl Controller for Scream {
    fn on_packet_sent(&mut self, packet: &SentPacket) {
        self.silence.on_sent(packet.sent_at);
        self.flight.on_sent(packet);
    }

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], _rtt: Option<Duration>) {
        if results.is_empty() {
            return;
        }
        if self.silence.on_feedback() {
            self.resume();
            self.digest(now, results);
            return;
        }
        let digest = self.digest(now, results);
        self.loss = f64::from(digest.lost) / results.len() as f64;
        let rtt = match (digest.newest, self.rtt) {
            (Some((sent, _)), _) => self.measure_rtt(now, sent),
            (None, Some(rtt)) => rtt,
            (None, None) => return,
        };
        let queue_ms = digest
            .newest
            .map_or(self.queue.queue_ms(), |(_, queue_ms)| queue_ms);
        self.queue.update(now, queue_ms, digest.lost > 0, rtt);
        self.marks.update(now, rtt);
        self.flight.turn(now, rtt);
        let unmarked = 1.0 - f64::from(digest.marked) / f64::from(digest.packets.max(1));
        self.window.update(&Update {
            now,
            rtt,
            unmarked_bytes: digest.acked_bytes as f64 * unmarked,
            lost: digest.lost > 0,
            marked: digest.marked > 0,
            marking: self.marks.marking(),
            mark_share: self.marks.share(),
            queue_ms,
            average_ms: self.queue.average_ms(),
            target_ms: self.queue.target_ms(),
            flight_before: self.flight.max_before() as f64,
            flight: self.flight.max() as f64,
            at_limit: self.target >= self.limits.max,
            target_bps: self.target.as_bps() as f64,
        });
        self.reduced = self.window.reacted_within(now, rtt * REDUCED_RTTS);
        self.set_target(rtt);
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.target > self.limits.min && self.silence.drops(now) {
            self.window.set_bytes(self.window.bytes() * SILENCE_DROP);
            self.target = self.limits.clamp(self.target.mul_f64(SILENCE_DROP));
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let lowers = self.target > self.limits.min;
        self.silence.poll_timeout().filter(|_| lowers)
    }

    fn on_path_restored(&mut self, _now: Instant) {
        *self = Scream::new(self.limits);
    }

    /// Returns ECT(1) for L4S (RFC 9331).
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    /// Returns the rate by "Packet Pacing"; the lowest rate if the send window is used
    /// up.
    fn pacing_rate(&self) -> Rate {
        if self.flight.bytes() as f64 > self.window.bytes().max(MIN_WINDOW) * OVERHEAD {
            return PACE_MIN;
        }
        self.target.max(PACE_MIN).mul_f64(PACE_HEADROOM)
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.reduced {
            _ if self.silence.is_active() => "silence",
            true => "reduced",
            false => "increase",
        };
        Snapshot {
            target: self.target,
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
            Internal::ms("queue_average", self.queue.average_ms()),
            Internal::ms("queue_target", self.queue.target_ms()),
        ];
        let delivered = self.delivered.rate();
        all.extend(delivered.map(|rate| Internal::rate("delivered", rate)));
        all.push(Internal::share("loss", self.loss));
        all.push(Internal::share("marks", self.marks.share()));
        all
    }
}
