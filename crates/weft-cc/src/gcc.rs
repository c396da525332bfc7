//! Google congestion control as libwebrtc deploys it (send side).

mod aimd;
mod alr;
mod behaviour;
mod delay_based;
mod inter_arrival;
mod loss;
mod loss_based;
mod loss_counts;
mod loss_model;
mod loss_thresholds;
mod overuse;
mod probe;
mod probe_estimator;
mod throughput;
mod trendline;

use crate::measure::{SILENCE_DROP, Silence, credible_delivery, credible_size};
use crate::pacer::PACING_FACTOR;
use crate::{Controller, Internal, Limits, PacketResult, ProbeCluster, SentPacket, Snapshot};
use aimd::Growth;
use alr::Alr;
pub use behaviour::Behaviour;
use delay_based::DelayBased;
use loss::{DelayBasedUpdate, Loss};
use overuse::Usage;
use probe::{ProbeController, Reason};
use probe_estimator::ProbeEstimator;
use throughput::Throughput;
use weft_units::{Bytes, Deadline, Duration, Instant, Rate};

/// Time after an application-limited phase in which a probe may follow a drop:
/// `kAlrEndedTimeout` (libwebrtc `probe_controller.cc`).
const ALR_GRACE: Duration = Duration::from_secs(3);

/// Periodic probes while the rate grows and no capacity is known: chosen by
/// us, `a_capacity_that_comes_back_is_found_again`.
const SEARCH_PERIOD: Duration = Duration::from_secs(2);

/// Factor above the target at which a probe invalidates older measurements: the step is
/// larger than a usual decrease.
const PROBE_RESTART: f64 = 1.2;

/// Google congestion control: the delay gradient sets the rate, loss limits it, and
/// probes raise it.
#[derive(Debug)]
pub struct Gcc {
    limits: Limits,
    behaviour: Behaviour,
    target: Rate,
    /// Rate derived from the target; read with every packet.
    pacing: Rate,
    delay: DelayBased,
    loss: Loss,
    throughput: Throughput,
    acked: Option<Rate>,
    probe_estimator: ProbeEstimator,
    probes: ProbeController,
    alr: Alr,
    silence: Silence,
}

impl Gcc {
    /// Starts at the start rate and probes immediately.
    #[must_use]
    pub fn new(behaviour: Behaviour, limits: Limits, now: Instant) -> Gcc {
        let limits = limits.ordered();
        Gcc {
            limits,
            behaviour,
            target: limits.start,
            pacing: limits.start.mul_f64(PACING_FACTOR),
            delay: DelayBased::new(&limits, behaviour),
            loss: Loss::new(behaviour, limits),
            throughput: Throughput::new(),
            acked: None,
            probe_estimator: ProbeEstimator::default(),
            probes: ProbeController::new(limits, now),
            alr: Alr::new(now, limits.start),
            silence: Silence::default(),
        }
    }

    fn take_result(&mut self, now: Instant, result: &PacketResult) {
        let sent = &result.sent;
        let size = credible_delivery(result);
        let lost = result.arrival.is_none();
        self.loss.on_packet(sent.number, sent.sent_at, size, lost);
        let Some(arrival) = result.arrival else {
            return;
        };
        self.throughput.on_packet(sent.sent_at, arrival, size);
        self.delay.on_packet(now, sent.sent_at, arrival);
        if let Some(id) = sent.probe {
            self.probe_estimator
                .on_packet(id, sent.sent_at, arrival, size);
        }
    }

    /// Returns the delivery rate, or the probe's rate until there is a new one.
    fn measure(&mut self, now: Instant, probe: Option<Rate>) {
        let much_more = probe.filter(|rate| *rate > self.target.mul_f64(PROBE_RESTART));
        if let Some(rate) = much_more
            && self.behaviour == Behaviour::Repaired
        {
            self.throughput.restart(now);
            self.acked = Some(rate);
        }
        self.acked = self.throughput.rate().or(self.acked);
        let arriving = self.throughput.arriving();
        self.delay.aimd_mut().set_arriving(arriving);
    }

    fn set_target(&mut self, now: Instant, target: Rate) {
        self.target = self.limits.clamp(target);
        self.pacing = self.target.mul_f64(PACING_FACTOR);
        self.alr.set_target(self.target);
        self.probes.set_estimate(now, self.target);
    }

    fn periodic_reason(&self) -> Reason {
        match self.alr.since() {
            Some(since) => Reason::ApplicationLimited(since),
            None if self.behaviour != Behaviour::Repaired || self.loss.is_limiting() => {
                Reason::None
            }
            None => match self.delay.aimd().growth() {
                Some(Growth::Searching) => Reason::Growing(SEARCH_PERIOD),
                Some(Growth::NearMax) | None => Reason::None,
            },
        }
    }

    /// Resumes after a long silence: losses during it say nothing about the current path.
    fn resume(&mut self, now: Instant) {
        let limits = Limits {
            start: self.target,
            ..self.limits
        };
        self.loss = Loss::new(self.behaviour, limits);
        self.throughput.restart(now);
        self.acked = None;
        let rate = self.target.max(self.limits.start);
        self.probes.start_from(now, rate);
    }

    fn drop_in_silence(&mut self, now: Instant) {
        if self.target > self.limits.min && self.silence.drops(now) {
            let rate = self.target.mul_f64(SILENCE_DROP);
            // libwebrtc lowers only the target: the next feedback restores the
            // delay-based rate from before the silence at once.
            if self.behaviour == Behaviour::Repaired {
                self.delay.aimd_mut().set_rate(now, rate);
            }
            self.set_target(now, rate);
        }
    }
}

impl Controller for Gcc {
    fn on_packet_sent(&mut self, packet: &SentPacket) {
        self.alr.on_sent(packet.sent_at, credible_size(packet.size));
        self.silence.on_sent(packet.sent_at);
    }

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        if results.is_empty() {
            return;
        }
        if let Some(rtt) = rtt {
            self.delay.aimd_mut().set_rtt(rtt);
        }
        let was_silent = self.silence.on_feedback();
        for result in results {
            self.take_result(now, result);
        }
        let probe = self.probe_estimator.take();
        self.measure(now, probe);
        let recovered = self.delay.update(now, self.acked, probe);
        let delay_based = self.delay.aimd().rate();
        self.loss.update(&DelayBasedUpdate {
            now,
            rate: delay_based,
            probed: probe.is_some(),
            rtt,
            acked: self.acked,
            in_alr: self.alr.since().is_some(),
        });
        self.set_target(now, self.loss.bound(delay_based));
        if recovered && self.alr.now_or_within(now, ALR_GRACE) {
            self.probes.on_recovered(now);
        }
        if was_silent && self.behaviour == Behaviour::Repaired {
            self.resume(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.alr.on_sent(now, Bytes::ZERO);
        self.drop_in_silence(now);
        let (reason, loss_limited) = (self.periodic_reason(), self.loss.is_limiting());
        self.probes.on_timeout(now, reason, loss_limited);
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let lowers = self.target > self.limits.min;
        let drop = self.silence.poll_timeout().filter(|_| lowers);
        Deadline::earlier(drop, self.probes.poll_timeout())
    }

    fn set_demand(&mut self, now: Instant, demand: Rate) {
        let in_alr = self.alr.since().is_some();
        self.probes.set_demand(now, demand, in_alr);
    }

    fn poll_probe(&mut self, _now: Instant) -> Option<ProbeCluster> {
        let cluster = self.probes.poll_probe()?;
        self.probe_estimator.expect(&cluster);
        Some(cluster)
    }

    fn on_path_restored(&mut self, now: Instant) {
        *self = Gcc {
            probes: self.probes.restarted(now),
            ..Gcc::new(self.behaviour, self.limits, now)
        };
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    fn pacing_rate(&self) -> Rate {
        self.pacing
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.delay.usage() {
            _ if self.silence.is_active() => "silence",
            Usage::Over => "overuse",
            _ if self.loss.is_limiting() => "loss",
            Usage::Under => "drain",
            Usage::Normal => self.delay.aimd().state(),
        };
        Snapshot {
            target: self.target,
            acked: self.acked,
            loss: self.loss.average_loss(),
            state,
        }
    }

    fn internals(&self) -> Vec<Internal> {
        let aimd = self.delay.aimd();
        let mut all = vec![
            Internal::ms("trend", self.delay.trend()),
            Internal::ms("threshold", self.delay.threshold()),
            Internal::rate("delay_based", aimd.rate()),
        ];
        if self.loss.is_limiting() {
            all.push(Internal::rate("loss_based", self.loss.result()));
        }
        all.extend(self.acked.map(|rate| Internal::rate("acked", rate)));
        let capacity = aimd.capacity();
        all.extend(capacity.map(|rate| Internal::rate("link_capacity", rate)));
        all.push(Internal::share("loss", self.loss.average_loss()));
        all
    }
}
