//! A virtual sender, bottleneck and receiver for any controller, in steps of a
//! millisecond: a link with rate, delay and a drop-tail queue that marks above a
//! threshold, a source that follows the target, and feedback every 50 ms.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::VecDeque;
use weft_cc::{
    Controller, ControllerKind, Limits, Pacer, PacketResult, ProbeCluster, SentPacket, build,
};
use weft_units::{Bytes, Duration, Ecn, Instant, Rate, Rng};

const STEP: Duration = Duration::from_millis(1);
const PACKET: Bytes = Bytes(1200);
const FRAME: Duration = Duration::from_millis(33);
const FEEDBACK: Duration = Duration::from_millis(50);
/// Offset of the receiver's clock.
const CLOCK_OFFSET: Duration = Duration::from_secs(1_000_000);

/// From RFC 8698's lowest rate to ten times the rate of the links here.
pub const LIMITS: Limits = Limits {
    min: Rate::from_kbps(150),
    start: Rate::from_kbps(300),
    max: Rate::from_mbps(10),
};

/// Bottleneck link.
pub struct Link {
    pub rate: Rate,
    /// One-way delay, equal in both directions.
    pub delay: Duration,
    pub queue: Bytes,
    pub loss: f64,
    pub jitter: Duration,
    /// Share of packets that are held back by 20 ms, so that others overtake them.
    pub reordering: f64,
    /// Queueing delay above which ECN-capable packets are marked.
    pub mark_above: Option<Duration>,
    rng: Rng,
    busy_until: Instant,
    latest: Instant,
}

impl Link {
    pub fn new(rate: Rate) -> Link {
        Link {
            rate,
            delay: Duration::from_millis(25),
            queue: rate * Duration::from_millis(300),
            loss: 0.0,
            jitter: Duration::ZERO,
            reordering: 0.0,
            mark_above: None,
            rng: Rng::new(1).stream("link"),
            busy_until: Instant::ZERO,
            latest: Instant::ZERO,
        }
    }

    pub fn set_rate(&mut self, now: Instant, rate: Rate) {
        let backlog = self.rate * self.waiting(now);
        self.rate = rate;
        self.busy_until = now + rate.time_for(backlog).unwrap_or(Duration::ZERO);
    }

    pub fn waiting(&self, now: Instant) -> Duration {
        self.busy_until.saturating_since(now)
    }

    /// Sends a packet; returns its arrival by the receiver's clock and its codepoint.
    fn send(&mut self, now: Instant, size: Bytes, ecn: Ecn) -> Option<(Instant, Ecn)> {
        let waiting = self.waiting(now);
        if self.rng.chance(self.loss) || self.rate * waiting + size > self.queue {
            return None;
        }
        let marked = ecn != Ecn::NotEct && self.mark_above.is_some_and(|above| waiting > above);
        self.busy_until = self.busy_until.max(now) + self.rate.time_for(size)?;
        let jitter = self.jitter.mul_f64(self.rng.unit());
        self.latest = self.latest.max(self.busy_until + self.delay + jitter);
        let late = match self.rng.chance(self.reordering) {
            true => Duration::from_millis(20),
            false => Duration::ZERO,
        };
        let ecn = if marked { Ecn::Ce } else { ecn };
        Some((self.latest + late + CLOCK_OFFSET, ecn))
    }
}

/// State at one millisecond.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub at: Instant,
    pub target: Rate,
    pub queue_ms: f64,
    /// Bytes that the link has delivered since the start.
    pub delivered: Bytes,
    pub lost: u64,
    pub state: &'static str,
}

/// Media source.
pub struct Source {
    /// Highest rate that the application would send.
    pub demand: Rate,
    /// Share of the target that the encoder really uses.
    pub usage: f64,
    unsent: VecDeque<Bytes>,
    next_frame: Instant,
}

/// Feedback path.
pub struct Feedback {
    /// Share of messages that are lost.
    pub loss: f64,
    /// Share of messages that are duplicated.
    pub twice: f64,
    next: Instant,
    rng: Rng,
}

/// One controller on one link.
pub struct Testbed {
    pub now: Instant,
    pub controller: Box<dyn Controller>,
    pub link: Link,
    /// Codepoint of sent packets.
    pub ecn: Ecn,
    pub source: Source,
    pub feedback: Feedback,
    /// Whether requested probes are sent.
    pub probing: bool,
    /// Requested probes.
    pub probes: Vec<(Instant, ProbeCluster)>,
    pub samples: Vec<Sample>,
    delivered: Bytes,
    lost: u64,
    pacer: Pacer,
    in_flight: VecDeque<PacketResult>,
    number: u64,
}

impl Source {
    fn waiting(&self) -> Bytes {
        self.unsent.iter().copied().sum()
    }

    /// Encodes a frame every 33 ms, in packets of at most the usual size.
    fn encode(&mut self, now: Instant, target: Rate) {
        if now < self.next_frame {
            return;
        }
        self.next_frame = now + FRAME;
        // The encoder skips frames instead of queueing for a second.
        if self.waiting() > target * Duration::from_millis(250) {
            return;
        }
        let mut left = target.mul_f64(self.usage).min(self.demand) * FRAME;
        while left > Bytes::ZERO {
            let size = left.min(PACKET);
            self.unsent.push_back(size);
            left = left.saturating_sub(size);
        }
    }
}

impl Testbed {
    pub fn new(kind: ControllerKind, link: Rate) -> Testbed {
        Testbed::with(build(kind, LIMITS, Instant::ZERO), link)
    }

    pub fn with(controller: Box<dyn Controller>, link: Rate) -> Testbed {
        let pacer = Pacer::new(controller.pacing_rate());
        Testbed {
            now: Instant::ZERO,
            controller,
            link: Link::new(link),
            ecn: Ecn::NotEct,
            source: Source {
                demand: LIMITS.max,
                usage: 1.0,
                unsent: VecDeque::new(),
                next_frame: Instant::ZERO,
            },
            feedback: Feedback {
                loss: 0.0,
                twice: 0.0,
                next: Instant::ZERO,
                rng: Rng::new(1).stream("feedback"),
            },
            probing: true,
            probes: Vec::new(),
            samples: Vec::new(),
            delivered: Bytes::ZERO,
            lost: 0,
            pacer,
            in_flight: VecDeque::new(),
            number: 0,
        }
    }

    /// Runs for this many seconds.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += STEP;
            self.source.encode(self.now, self.controller.target_rate());
            let due = self.controller.poll_timeout();
            if due.is_some_and(|deadline| deadline.at <= self.now) {
                self.controller.on_timeout(self.now);
            }
            while let Some(cluster) = self.controller.poll_probe(self.now) {
                if self.probing {
                    self.pacer.add_probe(self.now, &cluster);
                }
                self.probes.push((self.now, cluster));
            }
            self.controller.set_backlog(self.source.waiting());
            self.pacer.set_rate(self.now, self.controller.pacing_rate());
            self.transmit();
            self.feed_back();
            self.samples.push(Sample {
                at: self.now,
                target: self.controller.target_rate(),
                queue_ms: self.link.waiting(self.now).as_millis_f64(),
                delivered: self.delivered,
                lost: self.lost,
                state: self.controller.snapshot().state,
            });
        }
    }

    fn transmit(&mut self) {
        while self.pacer.next_send(self.now) <= self.now {
            let probe = self.pacer.probe();
            let padding = probe.map(|_| PACKET);
            let Some(size) = self.source.unsent.pop_front().or(padding) else {
                return;
            };
            let sent = SentPacket {
                number: self.number,
                sent_at: self.now,
                size,
                probe,
            };
            self.number += 1;
            self.pacer.on_sent(self.now, size);
            self.controller.on_packet_sent(&sent);
            let arrival = self.link.send(self.now, size, self.ecn);
            match arrival {
                Some(_) => self.delivered += size,
                None => self.lost += 1,
            }
            self.in_flight.push_back(PacketResult {
                sent,
                arrival: arrival.map(|(at, _)| at),
                ecn: arrival.map_or(Ecn::NotEct, |(_, ecn)| ecn),
                unmeasured_before: Bytes::ZERO,
            });
        }
    }

    /// Reports packets that had arrived one delay ago, and earlier losses.
    fn feed_back(&mut self) {
        if self.now < self.feedback.next {
            return;
        }
        self.feedback.next = self.now + FEEDBACK;
        let reported = self.now.saturating_sub(self.link.delay) + CLOCK_OFFSET;
        let is_reported = |r: &PacketResult| r.arrival.is_some_and(|at| at <= reported);
        let Some(last) = self.in_flight.iter().rposition(is_reported) else {
            return;
        };
        // Late packets wait for a later message.
        let passed: Vec<PacketResult> = self.in_flight.drain(..=last).collect();
        let (late, results): (Vec<_>, Vec<_>) = passed
            .into_iter()
            .partition(|r| r.arrival.is_some_and(|at| at > reported));
        for result in late.into_iter().rev() {
            self.in_flight.push_front(result);
        }
        if self.feedback.rng.chance(self.feedback.loss) {
            return;
        }
        let last = &results[results.len() - 1];
        let rtt = Some(self.now.saturating_since(last.sent.sent_at));
        self.controller.on_feedback(self.now, &results, rtt);
        if self.feedback.rng.chance(self.feedback.twice) {
            self.controller.on_feedback(self.now, &results, rtt);
        }
    }

    /// Returns the samples from `from` to `to` seconds.
    pub fn between(&self, from: f64, to: f64) -> &[Sample] {
        let index = |s: f64| ((s * 1e3) as usize).min(self.samples.len());
        &self.samples[index(from)..index(to)]
    }

    /// Returns the delivered rate from `from` to `to` seconds, in Mbps.
    pub fn delivered_mbps(&self, from: f64, to: f64) -> f64 {
        let samples = self.between(from, to);
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        let bytes = (last.delivered - first.delivered).0 as f64;
        bytes * 8e-6 / (last.at - first.at).as_secs_f64()
    }

    /// Counts packets lost among those sent from `from` to `to` seconds.
    pub fn lost(&self, from: f64, to: f64) -> u64 {
        let samples = self.between(from, to);
        samples[samples.len() - 1].lost - samples[0].lost
    }

    /// Returns mean and 95th percentile of the queueing delay in ms.
    pub fn queue_ms(&self, from: f64, to: f64) -> (f64, f64) {
        let mut delays: Vec<f64> = self.between(from, to).iter().map(|s| s.queue_ms).collect();
        delays.sort_by(f64::total_cmp);
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        (mean, delays[delays.len() * 95 / 100])
    }

    /// Returns lowest, mean and highest target in Mbps.
    pub fn targets_mbps(&self, from: f64, to: f64) -> (f64, f64, f64) {
        let samples = self.between(from, to);
        let rates = || samples.iter().map(|s| s.target.as_mbps());
        let mean = rates().sum::<f64>() / samples.len() as f64;
        (
            rates().fold(f64::MAX, f64::min),
            mean,
            rates().fold(0.0, f64::max),
        )
    }

    /// Returns the seconds from `from` until the target satisfies `good` for a second.
    pub fn settles(&self, from: f64, good: impl Fn(f64) -> bool) -> Option<f64> {
        const LASTING: usize = 1000;
        let samples = self.between(from, f64::MAX);
        let mut good_for = 0;
        for (index, sample) in samples.iter().enumerate() {
            good_for = if good(sample.target.as_mbps()) {
                good_for + 1
            } else {
                0
            };
            if good_for == LASTING {
                return Some((index + 1 - LASTING) as f64 / 1e3);
            }
        }
        None
    }

    /// Returns a trace for a failed assertion, one line per 500 ms.
    pub fn trace(&self) -> String {
        let lines = self.samples.iter().step_by(500).map(|s| {
            let (at, target) = (s.at.as_secs_f64(), s.target.as_mbps());
            format!(
                "{at:.1} s {target:.2} Mbps {:.0} ms {}\n",
                s.queue_ms, s.state
            )
        });
        lines.collect()
    }
}
