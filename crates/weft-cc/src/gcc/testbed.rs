//! A virtual sender, bottleneck and receiver in one, in steps of a
//! millisecond.

use crate::{Behaviour, Controller, Gcc, Limits, Pacer, PacketResult, ProbeCluster, SentPacket};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Ecn, Instant, Rate, Rng};

const STEP: Duration = Duration::from_millis(1);
const PACKET: Bytes = Bytes(1200);
/// The receiver's clock is elsewhere.
const CLOCK_OFFSET: Duration = Duration::from_secs(1_000_000);

/// A link with a drop-tail queue in bytes, and what crosses it.
pub(super) struct Testbed {
    pub(super) now: Instant,
    pub(super) gcc: Gcc,
    pub(super) link: Link,
    /// What the application would send at most.
    pub(super) demand: Rate,
    /// Share of the target that the encoder really uses.
    pub(super) usage: f64,
    /// Whether probes are really sent.
    pub(super) probing: bool,
    pub(super) probes: Vec<(Instant, ProbeCluster)>,
    pub(super) samples: Vec<Sample>,
    pacer: Pacer,
    unsent: VecDeque<Bytes>,
    in_flight: VecDeque<PacketResult>,
    number: u64,
    feedback_at: Instant,
    frame_at: Instant,
}

pub(super) struct Link {
    pub(super) rate: Rate,
    pub(super) delay: Duration,
    pub(super) queue: Bytes,
    pub(super) loss: f64,
    pub(super) jitter: Duration,
    pub(super) rng: Rng,
    busy_until: Instant,
    latest: Instant,
}

/// The state at one millisecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) target: Rate,
    pub(super) queue_ms: f64,
}

impl Link {
    fn new(rate: Rate) -> Link {
        Link {
            rate,
            delay: Duration::from_millis(25),
            queue: rate * Duration::from_millis(300),
            loss: 0.0,
            jitter: Duration::ZERO,
            rng: Rng::new(1).stream("link"),
            busy_until: Instant::ZERO,
            latest: Instant::ZERO,
        }
    }

    pub(super) fn set_rate(&mut self, now: Instant, rate: Rate) {
        let backlog = self.rate * self.busy_until.saturating_since(now);
        self.rate = rate;
        self.busy_until = now + rate.time_for(backlog).unwrap_or(Duration::ZERO);
    }

    /// When the packet arrives, by the receiver's clock.
    fn send(&mut self, now: Instant, size: Bytes) -> Option<Instant> {
        let backlog = self.rate * self.busy_until.saturating_since(now);
        if self.rng.chance(self.loss) || backlog + size > self.queue {
            return None;
        }
        self.busy_until = self.busy_until.max(now) + self.rate.time_for(size)?;
        let jitter = self.jitter.mul_f64(self.rng.unit());
        self.latest = self.latest.max(self.busy_until + self.delay + jitter);
        Some(self.latest + CLOCK_OFFSET)
    }
}

impl Testbed {
    pub(super) fn new(link: Rate) -> Testbed {
        Testbed::with(Behaviour::Repaired, link)
    }

    pub(super) fn with(behaviour: Behaviour, link: Rate) -> Testbed {
        let limits = Limits {
            min: Rate::from_kbps(50),
            start: Rate::from_kbps(300),
            max: Rate::from_mbps(20),
        };
        Testbed {
            now: Instant::ZERO,
            gcc: Gcc::new(behaviour, limits, Instant::ZERO),
            link: Link::new(link),
            demand: Rate::from_mbps(20),
            usage: 1.0,
            probing: true,
            probes: Vec::new(),
            samples: Vec::new(),
            pacer: Pacer::new(limits.start),
            unsent: VecDeque::new(),
            in_flight: VecDeque::new(),
            number: 0,
            feedback_at: Instant::ZERO,
            frame_at: Instant::ZERO,
        }
    }

    pub(super) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.now += STEP;
            self.encode();
            if self.gcc.poll_timeout().is_some_and(|d| d.at <= self.now) {
                self.gcc.on_timeout(self.now);
            }
            while let Some(cluster) = self.gcc.poll_probe(self.now) {
                if self.probing {
                    self.pacer.add_probe(self.now, &cluster);
                }
                self.probes.push((self.now, cluster));
            }
            self.pacer.set_rate(self.now, self.gcc.pacing_rate());
            self.transmit();
            self.feed_back();
            self.samples.push(Sample {
                at: self.now,
                target: self.gcc.target_rate(),
                queue_ms: self
                    .link
                    .busy_until
                    .saturating_since(self.now)
                    .as_millis_f64(),
            });
        }
    }

    /// A frame every 33 ms, in packets of at most the usual size.
    fn encode(&mut self) {
        if self.now < self.frame_at {
            return;
        }
        let interval = Duration::from_millis(33);
        self.frame_at = self.now + interval;
        let rate = self.gcc.target_rate().mul_f64(self.usage).min(self.demand);
        let mut left = rate * interval;
        while left > Bytes::ZERO {
            let size = left.min(PACKET);
            self.unsent.push_back(size);
            left = left.saturating_sub(size);
        }
    }

    fn transmit(&mut self) {
        while self.pacer.next_send(self.now) <= self.now {
            let probe = self.pacer.probe();
            let padding = probe.map(|_| PACKET);
            let Some(size) = self.unsent.pop_front().or(padding) else {
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
            self.gcc.on_packet_sent(&sent);
            self.in_flight.push_back(PacketResult {
                sent,
                arrival: self.link.send(self.now, size),
                ecn: Ecn::NotEct,
                unmeasured_before: Bytes::ZERO,
            });
        }
    }

    /// Every 50 ms: what had arrived one delay ago, and what was lost before.
    fn feed_back(&mut self) {
        if self.now < self.feedback_at {
            return;
        }
        self.feedback_at = self.now + Duration::from_millis(50);
        let reported = self.now.saturating_sub(self.link.delay) + CLOCK_OFFSET;
        let is_reported = |r: &PacketResult| r.arrival.is_some_and(|at| at <= reported);
        let Some(last) = self.in_flight.iter().rposition(is_reported) else {
            return;
        };
        let results: Vec<PacketResult> = self.in_flight.drain(..=last).collect();
        let last = &results[results.len() - 1];
        let rtt = self.now.saturating_since(last.sent.sent_at);
        self.gcc.on_feedback(self.now, &results, Some(rtt));
    }

    /// The samples from `from` to `to` seconds.
    pub(super) fn between(&self, from: f64, to: f64) -> &[Sample] {
        let index = |s: f64| ((s * 1e3) as usize).min(self.samples.len());
        &self.samples[index(from)..index(to)]
    }

    /// Lowest, mean and highest target in Mbps from `from` to `to` seconds.
    pub(super) fn targets(&self, from: f64, to: f64) -> (f64, f64, f64) {
        let rates = self.between(from, to).iter().map(|s| s.target.as_mbps());
        let (mut low, mut sum, mut high, mut n) = (f64::MAX, 0.0, 0.0_f64, 0);
        for rate in rates {
            (low, sum, high, n) = (low.min(rate), sum + rate, high.max(rate), n + 1);
        }
        (low, sum / f64::from(n), high)
    }

    /// Mean and 95th percentile of the queueing delay in ms.
    pub(super) fn queue(&self, from: f64, to: f64) -> (f64, f64) {
        let mut delays: Vec<f64> = self.between(from, to).iter().map(|s| s.queue_ms).collect();
        delays.sort_by(f64::total_cmp);
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        (mean, delays[delays.len() * 95 / 100])
    }

    /// A trace of the run for a failed assertion, one line per 200 ms.
    pub(super) fn trace(&self) -> String {
        let lines = self.samples.iter().step_by(200).map(|s| {
            format!(
                "{:?} {:.2} Mbps {:.0} ms\n",
                s.at,
                s.target.as_mbps(),
                s.queue_ms
            )
        });
        lines.collect()
    }
}
