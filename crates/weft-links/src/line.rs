use crate::loss::Losses;
use crate::queue::Item;
use crate::{DropReason, LineStep, LinkSpec};
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
    /// The shortest time that a packet sent from now on can take.
    shortest: Duration,
    losses: Losses,
    /// Changes that are still to come, the next one last.
    steps: Vec<LineStep>,
    jitter_rng: Rng,
    latest: Instant,
    packets: VecDeque<Travelling<P>>,
}

/// A transmitted packet on its way.
pub(crate) struct Travelling<P> {
    pub at: Instant,
    /// Why it will not arrive, if it will not.
    pub lost: Option<DropReason>,
    pub item: Item<P>,
    pub queued_for: Duration,
}

impl<P> Line<P> {
    pub fn new(spec: &LinkSpec, rng: &Rng) -> Line<P> {
        let mut steps = spec.line_steps.clone();
        steps.reverse();
        let mut line = Line {
            delay: spec.delay,
            jitter: spec.jitter,
            shortest: Duration::ZERO,
            losses: Losses::new(spec.loss, spec.burst_loss, rng),
            steps,
            jitter_rng: rng.stream("jitter"),
            latest: Instant::ZERO,
            packets: VecDeque::new(),
        };
        line.note_shortest();
        line
    }

    /// Takes a packet whose last bit left the transmitter at `sent`.
    #[inline]
    pub fn send(&mut self, sent: Instant, item: Item<P>, queued_for: Duration) {
        self.take_steps(sent);
        let lost = self.losses.judge();
        let way = self.draw_delay();
        self.latest = self.latest.max(sent + way);
        self.packets.push_back(Travelling {
            at: self.latest,
            lost,
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
        self.shortest
    }

    /// Asked for with every packet, so found out when something changes.
    fn note_shortest(&mut self) {
        let later = self.steps.iter().filter_map(|step| step.delay);
        let delay = later.fold(self.delay, Duration::min);
        self.shortest = delay.saturating_sub(self.jitter.mul_f64(JITTER_SIGMAS));
    }

    fn take_steps(&mut self, sent: Instant) {
        let has_begun = |step: &mut LineStep| Instant::ZERO + step.at <= sent;
        while let Some(step) = self.steps.pop_if(has_begun) {
            self.delay = step.delay.unwrap_or(self.delay);
            if let Some(loss) = step.loss {
                self.losses.set_random(loss);
            }
            self.note_shortest();
        }
    }

    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
        self.note_shortest();
    }

    pub fn set_jitter(&mut self, jitter: Duration) {
        self.jitter = jitter;
        self.note_shortest();
    }

    pub fn losses(&mut self) -> &mut Losses {
        &mut self.losses
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
