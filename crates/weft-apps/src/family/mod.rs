//! Behaviour of applications: a file for each family of controllers, with the parameters
//! that its applications set.

mod delay_based;
mod ladder;
mod prober;
mod robust;
mod slow_recovery;

use std::fmt::Debug;

use weft_units::{Bytes, Duration, Instant, Rate};

use crate::report_history::ReportHistory;

pub(crate) use delay_based::DelayBased;
pub(crate) use ladder::Ladder;
pub(crate) use prober::{AtLowest, Overshoot, Prober};
pub(crate) use robust::Robust;
pub(crate) use slow_recovery::SlowRecovery;

/// Model of an application.
#[derive(Clone, PartialEq, Debug)]
pub enum Family {
    /// A call of a WebRTC implementation within the application's limits.
    Webrtc(WebrtcLimits),
    /// A model of this crate.
    Model(Model),
}

/// Limits that a WebRTC application sets on its implementation; the application's file
/// gives their sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WebrtcLimits {
    /// Highest rate of all media together.
    pub highest: Rate,
    /// Lowest rate of the congestion controller.
    pub lowest: Rate,
    /// First rate of the congestion controller.
    pub start: Rate,
    /// Rate of sound, part of `highest`.
    pub sound: Rate,
    /// Whether forward error correction protects the pictures.
    pub protected: bool,
}

/// A closed application: its limits and the parameters of its family.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// Highest rate on a free network, including sound, headers and redundancy.
    pub highest: Rate,
    /// Lowest rate while its pictures are on.
    pub lowest: Rate,
    /// Interval of its receiver's reports.
    pub report_every: Duration,
    pub(crate) behaviour: Behaviour,
    /// Deviation of picture sizes: the standard deviation as a share of the mean, and the
    /// time for which a deviation lasts.
    pub(crate) swing: (f64, Duration),
}

/// Parameters of a family.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Behaviour {
    Robust(Robust),
    Prober(Prober),
    DelayBased(DelayBased),
    SlowRecovery(SlowRecovery),
    Ladder(Ladder),
}

/// Controller of the sending rate.
pub(crate) trait Controller: Debug + Send {
    /// Processes a report, which is the newest in `history`.
    fn on_report(&mut self, now: Instant, history: &ReportHistory);

    /// Returns the present sending plan. `now` never decreases.
    fn plan(&mut self, now: Instant) -> Plan;
}

/// Rates to send at present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Plan {
    /// Packets of equal size and spacing; zero for none.
    pub sound: Rate,
    /// Pictures.
    pub video: Rate,
    /// Redundancy sent behind each picture.
    pub redundancy: Rate,
    pub pattern: Pattern,
    /// Bytes to send at once, back to back; the controller requests them once.
    pub burst: Bytes,
    /// Whether the call is over.
    pub hung_up: bool,
}

/// Division of pictures into packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Pattern {
    /// Pictures per second. The packets of each picture are sent back to back; none
    /// exceeds `largest` on the link.
    Frames { per_second: f64, largest: Bytes },
    /// Packets of this size on the link, equally spaced.
    Paced { size: Bytes },
}

/// Largest packet on the link: the studied applications send packets that fit every
/// network. Chosen by us.
pub(crate) const FULL_PACKET: Bytes = Bytes(1200);

impl Pattern {
    /// Creates a pattern of pictures in packets of the usual size.
    pub fn frames(per_second: f64) -> Pattern {
        Pattern::Frames {
            per_second,
            largest: FULL_PACKET,
        }
    }
}

impl Plan {
    /// Returns the sum of the rates, without a burst.
    pub fn rate(&self) -> Rate {
        self.sound + self.video + self.redundancy
    }
}

/// Error: the highest rate is below the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this application sends at least {lowest:?}: give it a higher limit")]
pub struct LimitError {
    /// Lowest rate of the application.
    pub lowest: Rate,
}

impl WebrtcLimits {
    /// Sets another highest rate.
    ///
    /// # Errors
    /// If the limit is below [`WebrtcLimits::lowest`] plus its sound.
    pub fn with_highest(self, highest: Rate) -> Result<WebrtcLimits, LimitError> {
        let lowest = self.lowest + self.sound;
        if highest < lowest {
            return Err(LimitError { lowest });
        }
        Ok(WebrtcLimits { highest, ..self })
    }
}

impl Model {
    /// Sets another highest rate; the model's parameters between the highest and the
    /// lowest rate are scaled in proportion.
    ///
    /// # Errors
    /// If the limit is below [`Model::lowest`].
    pub fn with_highest(self, highest: Rate) -> Result<Model, LimitError> {
        if highest < self.lowest {
            return Err(LimitError {
                lowest: self.lowest,
            });
        }
        Ok(Model { highest, ..self })
    }

    pub(crate) fn controller(&self, start: Instant) -> Box<dyn Controller> {
        let (highest, lowest) = (self.highest, self.lowest);
        match self.behaviour.clone() {
            Behaviour::Robust(p) => Box::new(robust::Control::new(p, highest, lowest)),
            Behaviour::Prober(p) => Box::new(prober::Control::new(p, highest, lowest, start)),
            Behaviour::DelayBased(p) => Box::new(delay_based::Control::new(p, highest, start)),
            Behaviour::SlowRecovery(p) => Box::new(slow_recovery::Control::new(p, highest, lowest)),
            Behaviour::Ladder(p) => Box::new(ladder::Control::new(p, highest, lowest)),
        }
    }
}
