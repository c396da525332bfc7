//! How applications behave: a file for each family of controllers, with the
//! parameters that its applications fill in.

mod creeper;
mod follower;
mod ladder;
mod prober;
mod robust;

use std::fmt::Debug;

use weft_units::{Bytes, Duration, Instant, Rate};

use crate::seen::Seen;

pub(crate) use creeper::Creeper;
pub(crate) use follower::Follower;
pub(crate) use ladder::Ladder;
pub(crate) use prober::{AtLowest, Overshoot, Prober};
pub(crate) use robust::Robust;

/// What stands for an application.
#[derive(Clone, PartialEq, Debug)]
pub enum Family {
    /// A call of a WebRTC implementation within the application's limits.
    Webrtc(WebrtcLimits),
    /// A model of this crate.
    Model(Model),
}

/// The limits that a WebRTC application sets its implementation, with their
/// sources in the application's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WebrtcLimits {
    /// Of all media together.
    pub highest: Rate,
    /// The congestion controller goes no lower.
    pub lowest: Rate,
    /// The congestion controller's first rate.
    pub start: Rate,
    /// Of sound, within `highest`.
    pub sound: Rate,
    /// Whether pictures are protected by forward error correction.
    pub protected: bool,
}

/// A closed application: its limits and its family's parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// What it sends at most where nothing hinders it, sound, headers and
    /// redundancy included.
    pub highest: Rate,
    /// What it sends at least while its pictures are on.
    pub lowest: Rate,
    /// Between two reports of its receiver.
    pub report_every: Duration,
    pub(crate) behaviour: Behaviour,
    /// How sizes of pictures differ from the mean: standard deviation as a
    /// share of it, and how long a deviation lasts.
    pub(crate) swing: (f64, Duration),
}

/// The parameters of a family.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Behaviour {
    Robust(Robust),
    Prober(Prober),
    Follower(Follower),
    Creeper(Creeper),
    Ladder(Ladder),
}

/// What decides how much is sent.
pub(crate) trait Controller: Debug {
    /// A report came, and is the newest in `seen`.
    fn on_report(&mut self, now: Instant, seen: &Seen);

    /// What is to be sent now. `now` never goes back.
    fn plan(&mut self, now: Instant) -> Plan;
}

/// What is to be sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Plan {
    /// Packets of the same size and time between them; zero for none.
    pub sound: Rate,
    /// Pictures.
    pub video: Rate,
    /// Sent behind each picture.
    pub redundancy: Rate,
    pub pattern: Pattern,
    /// To be sent at once, back to back; a controller asks for it once.
    pub burst: Bytes,
    /// The call is over.
    pub hung_up: bool,
}

/// How pictures become packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Pattern {
    /// So many pictures a second, the packets of each back to back, none larger
    /// than this on the link.
    Frames { per_second: f64, largest: Bytes },
    /// Packets of this size on the link, the same time apart.
    Paced { size: Bytes },
}

/// The largest packet on the link: what the studied applications send fits
/// every network. Chosen by us.
pub(crate) const FULL_PACKET: Bytes = Bytes(1200);

impl Pattern {
    /// So many pictures a second in packets of the usual size.
    pub fn frames(per_second: f64) -> Pattern {
        Pattern::Frames {
            per_second,
            largest: FULL_PACKET,
        }
    }
}

impl Plan {
    /// All of it, but a burst.
    pub fn rate(&self) -> Rate {
        self.sound + self.video + self.redundancy
    }
}

/// A highest rate below the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this application sends at least {lowest:?}: give it a higher limit")]
pub struct LimitError {
    /// What it sends at least.
    pub lowest: Rate,
}

impl WebrtcLimits {
    /// The same with another highest rate.
    ///
    /// # Errors
    /// A limit below [`WebrtcLimits::lowest`] and its sound.
    pub fn with_highest(self, highest: Rate) -> Result<WebrtcLimits, LimitError> {
        let lowest = self.lowest + self.sound;
        if highest < lowest {
            return Err(LimitError { lowest });
        }
        Ok(WebrtcLimits { highest, ..self })
    }
}

impl Model {
    /// The same with another highest rate; what the application has between
    /// its highest and its lowest moves in proportion.
    ///
    /// # Errors
    /// A limit below [`Model::lowest`].
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
            Behaviour::Follower(p) => Box::new(follower::Control::new(p, highest, start)),
            Behaviour::Creeper(p) => Box::new(creeper::Control::new(p, highest, lowest)),
            Behaviour::Ladder(p) => Box::new(ladder::Control::new(p, highest, lowest)),
        }
    }
}
