//! Station with its queues: admission of packets, and the order of service.

use super::control::Attempt;
use super::lane::{Burst, Lane};
use super::spec::ApQueue;
use super::timing::Timing;
use crate::discipline::Discipline;
use crate::line::Line;
use crate::medium::port::Port;
use crate::{Aqm, LinkSpec, PacketInfo, Tally};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

/// Station or access point: a lane for each category of each of its receivers.
pub(super) struct Sender<P> {
    port: Port<P>,
    /// Lanes by receiver, then by category.
    lanes: Vec<Lane<P>>,
    categories: usize,
    limit: Bytes,
    /// Bytes that wait in all queues.
    backlog: Bytes,
    order: ApQueue,
    /// Receiver that was served last, by category.
    latest: Vec<usize>,
    /// Airtime credit in this round, in nanoseconds, by lane.
    credits: Vec<i64>,
}

/// Parameters of a sender.
pub(super) struct SenderSetup<'a> {
    /// Range of stations that it sends to.
    pub receivers: std::ops::Range<usize>,
    pub categories: usize,
    pub limit: Bytes,
    pub aqm: Aqm,
    pub order: ApQueue,
    /// Delay from the medium to the receiver.
    pub delay: Duration,
    pub rng: &'a Rng,
}

impl<P> Sender<P> {
    pub fn new(setup: &SenderSetup<'_>) -> Sender<P> {
        let line = LinkSpec::new(Rate::ZERO, setup.delay);
        let lane = |receiver: usize| {
            let rng = setup.rng.stream(&receiver.to_string());
            let queues = (0..setup.categories).map(move |category| {
                let rng = rng.stream(&category.to_string());
                Lane::new(receiver, Discipline::new(setup.aqm, &rng))
            });
            queues.collect::<Vec<_>>()
        };
        Sender {
            port: Port::new(Line::new(&line, setup.rng)),
            lanes: setup.receivers.clone().flat_map(lane).collect(),
            categories: setup.categories,
            limit: setup.limit,
            backlog: Bytes::ZERO,
            order: setup.order,
            latest: vec![0; setup.categories],
            credits: vec![0; setup.receivers.len() * setup.categories],
        }
    }

    pub fn port(&self) -> &Port<P> {
        &self.port
    }

    pub fn port_mut(&mut self) -> &mut Port<P> {
        &mut self.port
    }

    /// Adds a packet for this receiver to its queue, or rejects it.
    pub fn enqueue(
        &mut self,
        now: Instant,
        receiver: usize,
        category: usize,
        info: PacketInfo,
        packet: P,
    ) {
        let Some(item) = self.port.admit(now, info, packet) else {
            return;
        };
        let first = self.lanes[0].receiver;
        let index = (receiver - first) * self.categories + category;
        let queue = &mut self.lanes[index].queue;
        let elsewhere = self.backlog.saturating_sub(queue.backlog());
        let room = match self.order {
            ApQueue::Fifo => self.limit.saturating_sub(elsewhere),
            ApQueue::PerStation | ApQueue::Airtime => self.limit,
        };
        queue.push(item, room, self.port.exits());
        self.backlog = elsewhere + queue.backlog();
    }

    /// Whether the category has frames to transmit.
    pub fn has_work(&self, category: usize) -> bool {
        self.of(category).any(|lane| !lane.is_empty())
    }

    /// Chooses the next lane of this category.
    pub fn turn(&mut self, category: usize) -> Option<usize> {
        let index = self.next_lane(category)?;
        self.deal(index);
        self.latest[category] = index / self.categories;
        Some(index)
    }

    /// Takes the frames that this lane transmits from `now` on, if its
    /// discipline leaves any. `intact` has the same meaning as for
    /// [`Lane::transmit`].
    pub fn transmit(
        &mut self,
        lane: usize,
        now: Instant,
        timing: &Timing,
        attempt: &Attempt,
        txop: Duration,
        intact: impl FnMut(u64, u64) -> bool,
    ) -> Option<Burst> {
        let lane = &mut self.lanes[lane];
        let elsewhere = self.backlog.saturating_sub(lane.queue.backlog());
        let burst = lane.transmit(now, timing, attempt, txop, &mut self.port, intact);
        self.backlog = elsewhere + lane.queue.backlog();
        burst
    }

    pub fn lane(&self, index: usize) -> &Lane<P> {
        &self.lanes[index]
    }

    /// Handles the end of a transmission from this lane, answered or not, with its
    /// duration.
    pub fn conclude(
        &mut self,
        at: Instant,
        lane: usize,
        took: Duration,
        is_answered: bool,
        attempts: u32,
    ) {
        self.credits[lane] -= took.as_nanos() as i64;
        self.lanes[lane].conclude(at, is_answered, attempts, &mut self.port);
    }

    /// Switches the station off and drops all its packets.
    pub fn cut(&mut self, now: Instant) {
        let held = self.lanes.iter_mut().flat_map(Lane::clear);
        self.port.cut(now, held);
        self.backlog = Bytes::ZERO;
    }

    pub fn in_flight(&self) -> Tally {
        let queued = self.lanes.iter().map(|lane| Tally {
            packets: lane.queue.len() as u64,
            bytes: lane.queue.backlog(),
        });
        let held: Tally = self.lanes.iter().flat_map(Lane::held).collect();
        queued.fold(self.port.in_flight() + held, |all, one| all + one)
    }

    fn of(&self, category: usize) -> impl Iterator<Item = &Lane<P>> {
        self.lanes.iter().skip(category).step_by(self.categories)
    }

    /// Raises the credit of the next lane to zero and gives the same amount to
    /// all lanes of the category, up to zero: unused credit does not
    /// accumulate.
    fn deal(&mut self, lane: usize) {
        let missing = (-self.credits[lane]).max(0);
        let own = (lane % self.categories..self.credits.len()).step_by(self.categories);
        for index in own {
            self.credits[index] = (self.credits[index] + missing).min(0);
        }
    }

    fn next_lane(&self, category: usize) -> Option<usize> {
        let lanes = self.of(category).enumerate();
        let waiting = lanes.filter(|(_, lane)| !lane.is_empty());
        let receivers = self.lanes.len() / self.categories;
        let after = self.latest[category] + 1;
        let in_turn = |index: usize| (index + receivers - after % receivers) % receivers;
        let next = match self.order {
            ApQueue::Fifo => waiting.min_by_key(|(index, lane)| (lane.oldest(), *index)),
            ApQueue::PerStation => waiting.min_by_key(|(index, _)| in_turn(*index)),
            // Lanes with equal credit take turns.
            ApQueue::Airtime => waiting.max_by_key(|(index, _)| {
                let lane = index * self.categories + category;
                (self.credits[lane].min(0), receivers - in_turn(*index))
            }),
        };
        Some(next?.0 * self.categories + category)
    }
}
