use super::droptail::fits;
use super::marking::EcnMarking;
use crate::DropReason;
use crate::queue::{Exits, Fifo, Item};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Target delay, QDELAY_REF (RFC 8033 section 4.2).
const TARGET: Duration = Duration::from_millis(15);
/// T_UPDATE (RFC 8033 section 4.2).
const UPDATE: Duration = Duration::from_millis(15);
/// Longest burst that passes before the first drop (RFC 8033 section 4.4).
const MAX_BURST: Duration = Duration::from_millis(150);
/// Weights of the deviation and of its trend, per second (RFC 8033 section
/// 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Factor on the controller's step below each of these probabilities (RFC 8033
/// section 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 1.0 / 2048.0),
    (0.000_01, 1.0 / 512.0),
    (0.000_1, 1.0 / 128.0),
    (0.001, 1.0 / 32.0),
    (0.01, 1.0 / 8.0),
    (0.1, 1.0 / 2.0),
];
/// Largest single increase of a probability above the last scale (RFC 8033 section 5.5).
const MOST_RISE: f64 = 0.02;
/// Decay of the probability per update without delay (RFC 8033 section 4.2).
const DECAY: f64 = 0.98;
/// Bytes that may always wait, two packets of MEAN_PKTSIZE; and the probability below
/// which half the target delay may always wait (RFC 8033 section 4.1 and appendix A).
const FREE_BYTES: Bytes = Bytes(2 * 1024);
const FREE_PROBABILITY: f64 = 0.2;
/// Sums of probabilities: below the first, no packet is dropped; at the second, a packet
/// is always dropped (RFC 8033 section 5.4).
const FIRST_CHANCE: f64 = 0.85;
const LAST_CHANCE: f64 = 8.5;
/// Probability above which ECN-capable packets are also dropped (RFC 8033 section 5.1).
const MOST_MARKING: f64 = 0.1;

/// Queue under PIE (RFC 8033). Active from the first waiting packet on; its
/// delay is the age of the first packet.
pub(crate) struct Pie<P> {
    pub fifo: Fifo<P>,
    marking: EcnMarking,
    rng: Rng,
    /// Time of the next controller update, while it is active.
    next_update: Option<Instant>,
    probability: f64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    old_delay: Duration,
    burst_left: Duration,
}

#[derive(PartialEq, Eq)]
enum Verdict {
    Take,
    Mark,
    Drop,
}

impl<P> Pie<P> {
    pub fn new(marking: EcnMarking, rng: &Rng) -> Pie<P> {
        Pie {
            fifo: Fifo::new(),
            marking,
            rng: rng.stream("pie"),
            next_update: None,
            probability: 0.0,
            accumulated: 0.0,
            old_delay: Duration::ZERO,
            burst_left: MAX_BURST,
        }
    }

    pub fn push(&mut self, mut item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        let now = item.enqueued;
        self.update(now);
        if !fits(self.fifo.bytes(), item.info.size, limit) {
            exits.drop(now, item, DropReason::QueueFull);
            return;
        }
        match self.judge(item.info.ecn.is_capable()) {
            Verdict::Drop => exits.drop(now, item, DropReason::Aqm),
            verdict => {
                if verdict == Verdict::Mark {
                    exits.mark(&mut item);
                }
                self.fifo.push(item);
                self.next_update.get_or_insert(now + UPDATE);
            }
        }
    }

    pub fn pop(&mut self, now: Instant) -> Option<Item<P>> {
        self.update(now);
        self.fifo.pop()
    }

    fn judge(&mut self, capable: bool) -> Verdict {
        let short = self.old_delay < TARGET / 2 && self.probability < FREE_PROBABILITY;
        if self.burst_left > Duration::ZERO || short || self.fifo.bytes() <= FREE_BYTES {
            return Verdict::Take;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let hit = self.accumulated >= FIRST_CHANCE
            && (self.accumulated >= LAST_CHANCE || self.rng.chance(self.probability));
        if !hit {
            return Verdict::Take;
        }
        self.accumulated = 0.0;
        match self.marking {
            EcnMarking::On if capable && self.probability <= MOST_MARKING => Verdict::Mark,
            _ => Verdict::Drop,
        }
    }

    /// Applies all controller updates that are due until `now`. The queue does
    /// not change between two calls.
    fn update(&mut self, now: Instant) {
        while let Some(at) = self.next_update.filter(|at| *at <= now) {
            let delay = self.fifo.age(at);
            self.move_probability(delay);
            let quiet =
                self.probability == 0.0 && delay < TARGET / 2 && self.old_delay < TARGET / 2;
            self.burst_left = match quiet {
                true => MAX_BURST,
                false => self.burst_left.saturating_sub(UPDATE),
            };
            let rest = quiet && self.fifo.is_empty();
            self.old_delay = if rest { Duration::ZERO } else { delay };
            self.next_update = (!rest).then(|| at + UPDATE);
        }
    }

    fn move_probability(&mut self, delay: Duration) {
        let [delay_s, old_s, target_s] = [delay, self.old_delay, TARGET].map(Duration::as_secs_f64);
        let step = ALPHA * (delay_s - target_s) + BETA * (delay_s - old_s);
        let scale = SCALES.iter().find(|(below, _)| self.probability < *below);
        let step = match scale {
            Some((_, part)) => step * part,
            None => step.min(MOST_RISE),
        };
        self.probability += step;
        if delay == Duration::ZERO && self.old_delay == Duration::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
    }
}
