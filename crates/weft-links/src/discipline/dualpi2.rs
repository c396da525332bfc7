use super::droptail::fits;
use crate::queue::{Exits, Fifo, Item};
use crate::{DropReason, Ecn};
use weft_units::{Bytes, Duration, Instant};

// Names as in RFC 9332 appendix A.1, figure 2.

/// Coupling factor k: the marking probability of a scalable flow is k times the
/// square root of the drop probability of a classic one.
const COUPLING: f64 = 2.0;
/// Target delay of the classic queue.
const TARGET: Duration = Duration::from_millis(15);
/// Tupdate: the smaller of the target and a third of the longest round trip.
const UPDATE: Duration = Duration::from_millis(15);
const RTT_MAX_S: f64 = 0.1;
/// Integral and proportional gain per second of delay.
const ALPHA: f64 = 0.1 * 0.015 / (RTT_MAX_S * RTT_MAX_S);
const BETA: f64 = 0.3 / RTT_MAX_S;
/// Highest base probability p'. At 1 / k, classic packets are dropped with probability 1
/// / k squared and every scalable packet is marked.
const MAX_BASE: f64 = 1.0 / COUPLING;
/// Ramp of the scalable queue's own marking: start and length.
const RAMP_FROM: Duration = Duration::from_micros(800);
const RAMP_RANGE: Duration = Duration::from_micros(400);
/// Th_len: with at most this many packets, the scalable queue's own ramp marks
/// nothing.
const RAMP_FREE_PACKETS: usize = 1;

// The weights of the two queues while both have packets, as deployed (Linux
// 6.17, sch_dualpi2: 10 % for the classic queue).
const CLASSIC_WEIGHT: i64 = 10;
const SCALABLE_WEIGHT: i64 = 90;

/// Two queues, one for scalable flows (L4S) with very little delay and one for
/// classic flows, coupled so that flows of both kinds get equal rates (RFC
/// 9332). Both share the limit.
pub(crate) struct DualPi2<P> {
    scalable: Fifo<P>,
    classic: Fifo<P>,
    /// p', the output of the controller.
    base: f64,
    old_delay: Duration,
    /// Time of the next controller update, while it is active.
    next_update: Option<Instant>,
    /// Credit of the classic queue; if it is positive, that queue is next.
    classic_credit: i64,
    scalable_sum: Sum,
    classic_sum: Sum,
}

/// Sum of probabilities, which spreads marks evenly: it marks when it passes one.
#[derive(Default)]
struct Sum(f64);

impl<P> DualPi2<P> {
    pub fn new() -> DualPi2<P> {
        DualPi2 {
            scalable: Fifo::new(),
            classic: Fifo::new(),
            base: 0.0,
            old_delay: Duration::ZERO,
            next_update: None,
            classic_credit: 0,
            scalable_sum: Sum::default(),
            classic_sum: Sum::default(),
        }
    }

    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        let now = item.enqueued;
        self.update(now);
        if !fits(self.bytes(), item.info.size, limit) {
            exits.drop(now, item, DropReason::QueueFull);
            return;
        }
        self.next_update.get_or_insert(now + UPDATE);
        match item.info.ecn {
            Ecn::Ect1 | Ecn::Ce => self.scalable.push(item),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(item),
        }
    }

    pub fn pop(&mut self, now: Instant, exits: &mut Exits<P>) -> Option<Item<P>> {
        self.update(now);
        loop {
            let (item, reason) = if self.is_turn_of_scalable() {
                let item = self.scalable.pop()?;
                self.classic_credit += CLASSIC_WEIGHT * item.info.size.0 as i64;
                self.judge_scalable(item, now, exits)
            } else {
                let item = self.classic.pop()?;
                self.classic_credit -= SCALABLE_WEIGHT * item.info.size.0 as i64;
                self.judge_classic(item, exits)
            };
            if self.scalable.is_empty() || self.classic.is_empty() {
                self.classic_credit = 0;
            }
            match reason {
                None => return Some(item),
                Some(reason) => exits.drop(now, item, reason),
            }
        }
    }

    pub fn remove(&mut self) -> Option<Item<P>> {
        self.scalable.pop().or_else(|| self.classic.pop())
    }

    pub fn oldest(&self) -> Option<Instant> {
        let fifos = [&self.scalable, &self.classic];
        fifos.into_iter().filter_map(Fifo::oldest).min()
    }

    pub fn bytes(&self) -> Bytes {
        self.scalable.bytes() + self.classic.bytes()
    }

    pub fn len(&self) -> usize {
        self.scalable.len() + self.classic.len()
    }

    fn is_turn_of_scalable(&self) -> bool {
        !self.scalable.is_empty() && (self.classic.is_empty() || self.classic_credit <= 0)
    }

    fn judge_scalable(
        &mut self,
        mut item: Item<P>,
        now: Instant,
        exits: &mut Exits<P>,
    ) -> (Item<P>, Option<DropReason>) {
        let coupled = (COUPLING * self.base).min(1.0);
        // Marking everything was not enough: drop scalable packets with the same
        // probability as classic ones (RFC 9332 appendix A.2).
        if coupled >= 1.0 && self.scalable_sum.passes(self.classic_probability()) {
            return (item, Some(DropReason::Aqm));
        }
        let own = match self.scalable.len() {
            0..RAMP_FREE_PACKETS => 0.0,
            _ => ramp(item.age(now)),
        };
        if self.scalable_sum.passes(own.max(coupled)) {
            exits.mark(&mut item);
        }
        (item, None)
    }

    fn judge_classic(
        &mut self,
        mut item: Item<P>,
        exits: &mut Exits<P>,
    ) -> (Item<P>, Option<DropReason>) {
        if !self.classic_sum.passes(self.classic_probability()) {
            return (item, None);
        }
        if !item.info.ecn.is_capable() || self.base >= MAX_BASE {
            return (item, Some(DropReason::Aqm));
        }
        exits.mark(&mut item);
        (item, None)
    }

    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// Applies all controller updates that are due until `now`. The queues do not change
    /// between two calls.
    fn update(&mut self, now: Instant) {
        while let Some(at) = self.next_update.filter(|at| *at <= now) {
            let delay = self.classic.age(at).max(self.scalable.age(at));
            let [delay_s, old_s, target_s] =
                [delay, self.old_delay, TARGET].map(Duration::as_secs_f64);
            let step = ALPHA * (delay_s - target_s) + BETA * (delay_s - old_s);
            self.base = (self.base + step).clamp(0.0, MAX_BASE);
            self.old_delay = delay;
            let rest = self.base == 0.0 && delay == Duration::ZERO;
            self.next_update = (!rest).then(|| at + UPDATE);
        }
    }
}

impl Sum {
    fn passes(&mut self, probability: f64) -> bool {
        self.0 += probability;
        let passed = self.0 > 1.0;
        if passed {
            self.0 -= 1.0;
        }
        passed
    }
}

/// Returns the marking probability at this delay.
fn ramp(delay: Duration) -> f64 {
    let over = delay.saturating_sub(RAMP_FROM);
    (over.as_secs_f64() / RAMP_RANGE.as_secs_f64()).min(1.0)
}
