use super::Behaviour;
use super::loss_based::LossBased;
use super::loss_thresholds::LossThresholds;
use crate::Limits;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Loss-based half, by revision of libwebrtc.
#[derive(Debug)]
pub(super) enum Loss {
    /// Version 2.
    Model(Box<LossBased>),
    /// Two thresholds: the algorithm before version 2.
    Thresholds(LossThresholds),
}

/// Results of the delay-based half for one feedback message.
pub(super) struct DelayBasedUpdate {
    pub now: Instant,
    pub rate: Rate,
    /// Whether the rate comes from a probe.
    pub probed: bool,
    pub rtt: Option<Duration>,
    /// Rate at which packets arrive.
    pub acked: Option<Rate>,
    /// Whether the application sends less than it may.
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

    /// Records a reported packet.
    pub(super) fn on_packet(&mut self, number: u64, sent: Instant, size: Bytes, lost: bool) {
        match self {
            Loss::Model(model) => model.on_packet(number, sent, size, lost),
            Loss::Thresholds(thresholds) => thresholds.on_packet(number, size, lost),
        }
    }

    /// Updates the estimate after all packets of a feedback message.
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

    /// Returns the bound on the delay-based rate; equal to that rate if loss does not
    /// limit it.
    pub(super) fn bound(&self, delay_based: Rate) -> Rate {
        match self {
            Loss::Model(model) => model.bound(delay_based),
            Loss::Thresholds(thresholds) => thresholds.target().min(delay_based),
        }
    }

    /// Returns the rate that loss alone would allow, once it has been computed.
    pub(super) fn result(&self) -> Rate {
        match self {
            Loss::Model(model) => model.result(),
            Loss::Thresholds(thresholds) => thresholds.target(),
        }
    }

    /// Returns whether losses have lowered the rate, or prevent its growth.
    pub(super) fn is_limiting(&self) -> bool {
        match self {
            Loss::Model(model) => model.is_limiting(),
            Loss::Thresholds(thresholds) => thresholds.holds(),
        }
    }

    /// Returns the share of packets lost recently.
    pub(super) fn average_loss(&self) -> f64 {
        match self {
            Loss::Model(model) => model.average_loss(),
            Loss::Thresholds(thresholds) => thresholds.share(),
        }
    }
}
