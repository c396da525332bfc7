use crate::queue::Item;
use std::collections::VecDeque;
use weft_units::{Duration, Instant, Rng};

/// Jitter is drawn within this many standard deviations (RFC 8868: delay
/// variation without reordering, Gaussian, truncated).
const JITTER_SIGMAS: f64 = 3.0;

/// The way from the transmitter to the other end: propagation, jitter, loss.
/// What comes out is in the order of what went in.
pub(crate) struct Line<P> {
    delay: Duration,
    jitter: Duration,
    loss: f64,
    jitter_rng: Rng,
    loss_rng: Rng,
    latest: Instant,
    packets: VecDeque<Travelling<P>>,
}

/// A transmitted packet on its way.
pub(crate) struct Travelling<P> {
    pub at: Instant,
    pub fate: Fate,
    pub item: Item<P>,
    pub queued_for: Duration,
}

/// What becomes of a travelling packet at its arrival time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    IsLost,
}

impl<P> Line<P> {
    pub fn new(delay: Duration, jitter: Duration, loss: f64, rng: &Rng) -> Line<P> {
        Line {
            delay,
            jitter,
            loss,
            jitter_rng: rng.stream("jitter"),
            loss_rng: rng.stream("loss"),
            latest: Instant::ZERO,
            packets: VecDeque::new(),
        }
    }

    /// Takes a packet whose last bit left the transmitter at `sent`.
    pub fn send(&mut self, sent: Instant, item: Item<P>, queued_for: Duration) {
        let fate = if self.loss_rng.chance(self.loss) {
            Fate::IsLost
        } else {
            Fate::Arrives
        };
        let way = self.draw_delay();
        self.latest = self.latest.max(sent + way);
        self.packets.push_back(Travelling {
            at: self.latest,
            fate,
            item,
            queued_for,
        });
    }

    pub fn front(&self) -> Option<&Travelling<P>> {
        self.packets.front()
    }

    pub fn pop(&mut self) -> Option<Travelling<P>> {
        self.packets.pop_front()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Travelling<P>> {
        self.packets.iter()
    }

    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The shortest time that a packet sent from now on can take.
    pub fn shortest(&self) -> Duration {
        self.delay
            .saturating_sub(self.jitter.mul_f64(JITTER_SIGMAS))
    }

    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    pub fn set_jitter(&mut self, jitter: Duration) {
        self.jitter = jitter;
    }

    pub fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
    }

    fn draw_delay(&mut self) -> Duration {
        if self.jitter == Duration::ZERO {
            return self.delay;
        }
        let sigmas = loop {
            let z = self.jitter_rng.normal();
            if z.abs() <= JITTER_SIGMAS {
                break z;
            }
        };
        if sigmas < 0.0 {
            self.delay.saturating_sub(self.jitter.mul_f64(-sigmas))
        } else {
            self.delay + self.jitter.mul_f64(sigmas)
        }
    }
}
