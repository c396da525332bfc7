use crate::DropReason;
use std::fmt;
use weft_units::Rng;

/// Losses in bursts: a link is in a good or a bad state, and each packet is
/// lost with the probability of that state (Gilbert 1960, Elliott 1963). The
/// state may change after each transmitted packet, regardless of the time until
/// the next one. All fields are probabilities, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Transition from good to bad, after a packet.
    pub to_bad: f64,
    /// Transition from bad to good, after a packet.
    pub to_good: f64,
    /// Loss in the bad state.
    pub bad_loss: f64,
    /// Loss in the good state.
    pub good_loss: f64,
}

impl GilbertElliott {
    /// Returns the model that loses this share of all packets, 0 to 1, in bursts of this
    /// mean length, at least one: every packet in the bad state and none in the good one.
    /// `None` if the bursts are too short for so many losses, because the good state
    /// would have to end more often than after each packet.
    #[must_use]
    pub fn of_bursts(share: f64, mean_length: f64) -> Option<GilbertElliott> {
        let to_good = 1.0 / mean_length;
        let to_bad = to_good * share / (1.0 - share);
        let possible = (0.0..=1.0).contains(&to_good) && (0.0..=1.0).contains(&to_bad);
        possible.then_some(GilbertElliott {
            to_bad,
            to_good,
            bad_loss: 1.0,
            good_loss: 0.0,
        })
    }

    /// Returns the long-term share of packets in the bad state. A link that never changes
    /// its state is in the good state.
    #[must_use]
    pub fn bad_share(&self) -> f64 {
        let moves = self.to_bad + self.to_good;
        if moves > 0.0 {
            self.to_bad / moves
        } else {
            0.0
        }
    }

    /// Returns the long-term share of lost packets.
    #[must_use]
    pub fn mean_loss(&self) -> f64 {
        let bad = self.bad_share();
        bad * self.bad_loss + (1.0 - bad) * self.good_loss
    }
}

/// Loss process of one link.
pub(crate) struct Losses {
    random: f64,
    random_rng: Rng,
    /// Packets that drew no random number, because none of them could be lost.
    undrawn: u64,
    bursts: Option<GilbertElliott>,
    burst_rng: Rng,
    state: LossState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LossState {
    Good,
    Bad,
}

impl Losses {
    pub fn new(random: f64, bursts: Option<GilbertElliott>, rng: &Rng) -> Losses {
        let mut losses = Losses {
            random,
            random_rng: rng.stream("loss"),
            undrawn: 0,
            bursts: None,
            burst_rng: rng.stream("burst loss"),
            state: LossState::Good,
        };
        losses.set_bursts(bursts);
        losses
    }

    /// Sets the probability of random loss. The fate of a packet depends on the number of
    /// packets before it, not on the number of those that could be lost.
    pub fn set_random(&mut self, random: f64) {
        self.random = random;
        if random > 0.0 {
            let undrawn = 0..std::mem::take(&mut self.undrawn);
            undrawn.for_each(|_| _ = self.random_rng.chance(random));
        }
    }

    /// Starts in the steady state of a link that has been running forever.
    pub fn set_bursts(&mut self, bursts: Option<GilbertElliott>) {
        self.bursts = bursts;
        let bad = bursts.is_some_and(|m| self.burst_rng.chance(m.bad_share()));
        self.state = if bad { LossState::Bad } else { LossState::Good };
    }

    /// Returns the reason for the loss of the next packet, if it is lost.
    pub fn judge(&mut self) -> Option<DropReason> {
        let in_burst = self.bursts.is_some_and(|model| {
            let (loss, change, other) = match self.state {
                LossState::Good => (model.good_loss, model.to_bad, LossState::Bad),
                LossState::Bad => (model.bad_loss, model.to_good, LossState::Good),
            };
            let lost = self.burst_rng.chance(loss);
            if self.burst_rng.chance(change) {
                self.state = other;
            }
            lost
        });
        let at_random = if self.random > 0.0 {
            self.random_rng.chance(self.random)
        } else {
            self.undrawn += 1;
            false
        };
        match (in_burst, at_random) {
            (true, _) => Some(DropReason::BurstLoss),
            (false, true) => Some(DropReason::RandomLoss),
            (false, false) => None,
        }
    }
}

/// Writes the form of a link specification with all probabilities.
impl fmt::Display for GilbertElliott {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [self.to_bad, self.to_good, self.bad_loss, self.good_loss];
        let [to_bad, to_good, bad_loss, good_loss] = all.map(|p| p * 100.0);
        write!(f, "{to_bad}%/{to_good}%/{bad_loss}%/{good_loss}%")
    }
}

#[cfg(test)]
mod tests;
