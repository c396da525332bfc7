use crate::delay::VaryingDelay;
use crate::loss::Losses;
use crate::queue::Item;
use crate::{DropReason, LineStep, LinkSpec};
use std::collections::VecDeque;
use weft_units::{Duration, Instant, Rng};

/// Line from the transmitter to the other end: propagation, jitter, loss.
/// Packets leave it in the order in which they entered.
pub(crate) struct Line<P> {
    way: VaryingDelay,
    /// Shortest time that a packet sent from now on can take.
    shortest: Duration,
    losses: Losses,
    /// Future changes, the next one last.
    steps: Vec<LineStep>,
    packets: VecDeque<Travelling<P>>,
}

/// Transmitted packet that has not arrived yet.
pub(crate) struct Travelling<P> {
    pub at: Instant,
    /// Reason why it will not arrive, if it is lost.
    pub lost: Option<DropReason>,
    pub item: Item<P>,
    pub queued_for: Duration,
}

impl<P> Line<P> {
    pub fn new(spec: &LinkSpec, rng: &Rng) -> Line<P> {
        let mut steps = spec.line_steps.clone();
        steps.reverse();
        let mut line = Line {
            way: VaryingDelay::new(spec.delay, spec.jitter, rng.stream("jitter")),
            shortest: Duration::ZERO,
            losses: Losses::new(spec.loss, spec.burst_loss, rng),
            steps,
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
        self.packets.push_back(Travelling {
            at: self.way.arrival(sent),
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
        self.way.delay()
    }

    /// Returns the shortest time that a packet sent from now on can take.
    pub fn shortest(&self) -> Duration {
        self.shortest
    }

    /// Caches the shortest time, which every packet needs.
    fn note_shortest(&mut self) {
        let later = self.steps.iter().filter_map(|step| step.delay);
        let delay = later.fold(self.way.delay(), Duration::min);
        self.shortest = self.way.shortest(delay);
    }

    fn take_steps(&mut self, sent: Instant) {
        let has_begun = |step: &mut LineStep| Instant::ZERO + step.at <= sent;
        while let Some(step) = self.steps.pop_if(has_begun) {
            if let Some(delay) = step.delay {
                self.way.set_delay(delay);
            }
            if let Some(loss) = step.loss {
                self.losses.set_random(loss);
            }
            self.note_shortest();
        }
    }

    pub fn set_delay(&mut self, delay: Duration) {
        self.way.set_delay(delay);
        self.note_shortest();
    }

    pub fn set_jitter(&mut self, jitter: Duration) {
        self.way.set_jitter(jitter);
        self.note_shortest();
    }

    pub fn losses(&mut self) -> &mut Losses {
        &mut self.losses
    }
}
