use super::aimd::Aimd;
use super::behaviour::Behaviour;
use super::inter_arrival::InterArrival;
use super::overuse::{OveruseDetector, Usage};
use super::trendline::Trendline;
use crate::Limits;
use weft_units::{Duration, Instant, Rate};

/// Silence after which old delays say nothing about new ones: `kStreamTimeOut` (libwebrtc
/// `delay_based_bwe.cc`).
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);

/// A probe below the estimate lowers it at most to this share of the delivery rate:
/// `kProbeDropThroughputFraction` (libwebrtc `goog_cc_network_control.cc`).
const PROBE_DROP: f64 = 0.85;

/// Delay-based half of the controller: from arrival times to a rate.
#[derive(Debug)]
pub(super) struct DelayBased {
    inter_arrival: InterArrival,
    trendline: Trendline,
    detector: OveruseDetector,
    aimd: Aimd,
    last_packet: Option<Instant>,
    recovered: bool,
}

impl DelayBased {
    pub(super) fn new(limits: &Limits, behaviour: Behaviour) -> DelayBased {
        DelayBased {
            inter_arrival: InterArrival::default(),
            trendline: Trendline::new(),
            detector: OveruseDetector::new(),
            aimd: Aimd::new(limits.start, limits.min, limits.max, behaviour),
            last_packet: None,
            recovered: false,
        }
    }

    /// Records a packet that was reported as delivered.
    pub(super) fn on_packet(&mut self, now: Instant, sent: Instant, arrival: Instant) {
        let last = self.last_packet.replace(now);
        if last.is_some_and(|at| now.saturating_since(at) > STREAM_TIMEOUT) {
            self.inter_arrival = InterArrival::default();
            self.trendline = Trendline::new();
            self.detector = OveruseDetector::new();
        }
        let Some(delta) = self.inter_arrival.on_packet(now, sent, arrival) else {
            return;
        };
        let before = self.detector.usage();
        self.trendline.update(&delta);
        let (trend, deltas) = (self.trendline.modified(), self.trendline.deltas());
        self.detector
            .update(trend, deltas, delta.send_ms, delta.arrival);
        self.recovered |= before == Usage::Under && self.detector.usage() == Usage::Normal;
    }

    /// Adapts the rate after all packets of a feedback message. Returns true if an
    /// existing queue has drained.
    pub(super) fn update(
        &mut self,
        now: Instant,
        throughput: Option<Rate>,
        probe: Option<Rate>,
    ) -> bool {
        let recovered = std::mem::take(&mut self.recovered);
        let usage = self.detector.usage();
        match (usage, throughput, probe) {
            (Usage::Over, Some(rate), _) => {
                if self.aimd.may_reduce(now, rate) {
                    self.aimd.update(now, usage, throughput);
                }
                false
            }
            // Before the first measurement: halve, at most every 200 ms.
            (Usage::Over, None, _) => {
                let half = self.aimd.rate().mul_f64(0.5);
                if self.aimd.may_reduce(now, half) {
                    self.aimd.set_rate(now, half);
                }
                false
            }
            (_, _, Some(probe)) => {
                let floor = throughput.map_or(Rate::ZERO, |rate| {
                    self.aimd.rate().min(rate.mul_f64(PROBE_DROP))
                });
                self.aimd.set_rate(now, probe.max(floor));
                false
            }
            (_, _, None) => {
                self.aimd.update(now, usage, throughput);
                recovered
            }
        }
    }

    pub(super) fn aimd(&self) -> &Aimd {
        &self.aimd
    }

    pub(super) fn aimd_mut(&mut self) -> &mut Aimd {
        &mut self.aimd
    }

    pub(super) fn usage(&self) -> Usage {
        self.detector.usage()
    }

    pub(super) fn trend(&self) -> f64 {
        self.trendline.modified()
    }

    pub(super) fn threshold(&self) -> f64 {
        self.detector.threshold()
    }
}
