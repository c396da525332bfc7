use super::Behaviour;
use super::loss_based::LossBased;
use super::loss_thresholds::LossThresholds;
use crate::Limits;
use weft_units::{Bytes, Duration, Instant, Rate};

/// The loss-based half, by revision of libwebrtc.
#[derive(Debug)]
pub(super) enum Loss {
    /// Version 2.
    Model(Box<LossBased>),
    /// What was before it.
    Thresholds(LossThresholds),
}

/// What the other half has found out at a feedback.
pub(super) struct DelayBasedUpdate {
    pub now: Instant,
    pub rate: Rate,
    /// The rate is that of a probe.
    pub probed: bool,
    pub rtt: Option<Duration>,
    /// What arrives.
    pub acked: Option<Rate>,
    /// The application sends less than it may.
    pub in_alr: bool,
}

impl Loss {
    pub(super) fn new(behaviour: Behaviour, limits: Limits) -> Loss {
        match behaviour {
            Behaviour::Deployed2022 => Loss::Thresholds(LossThresholds::new(limits)),
            Behaviour::Deployed | Behaviour::Repaired => {
                let model = LossBased::new(limits.start, limits.min, limits.max);
                Loss::Model(Box::new(model))
            }
        }
    }

    /// A packet was reported.
    pub(super) fn on_packet(&mut self, number: u64, sent: Instant, size: Bytes, lost: bool) {
        match self {
            Loss::Model(model) => model.on_packet(number, sent, size, lost),
            Loss::Thresholds(thresholds) => thresholds.on_packet(number, size, lost),
        }
    }

    /// All packets of a feedback were given.
    pub(super) fn update(&mut self, update: &DelayBasedUpdate) {
        match self {
            Loss::Model(model) => model.update(update.rate, update.acked, update.in_alr),
            Loss::Thresholds(thresholds) => {
                if update.probed {
                    thresholds.on_probe(update.rate);
                }
                let rtt = update.rtt.unwrap_or_default();
                thresholds.update(update.now, update.rate, rtt);
            }
        }
    }

    /// The bound on the delay-based rate; it is that rate where loss does not
    /// limit.
    pub(super) fn bound(&self, delay_based: Rate) -> Rate {
        match self {
            Loss::Model(model) => model.bound(delay_based),
            Loss::Thresholds(thresholds) => thresholds.target().min(delay_based),
        }
    }

    /// What loss alone would allow, once it is asked.
    pub(super) fn result(&self) -> Rate {
        match self {
            Loss::Model(model) => model.result(),
            Loss::Thresholds(thresholds) => thresholds.target(),
        }
    }

    /// Whether losses have lowered the rate, or keep it where it is.
    pub(super) fn is_limiting(&self) -> bool {
        match self {
            Loss::Model(model) => model.is_limiting(),
            Loss::Thresholds(thresholds) => thresholds.holds(),
        }
    }

    /// The share of packets lost lately.
    pub(super) fn average_loss(&self) -> f64 {
        match self {
            Loss::Model(model) => model.average_loss(),
            Loss::Thresholds(thresholds) => thresholds.share(),
        }
    }
}
