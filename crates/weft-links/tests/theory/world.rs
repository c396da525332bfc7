//! Flows over one link in virtual time: constant rate, a Reno with only its window, and
//! scalable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weft_links::{Departure, Ecn, FlowId, Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

pub const PACKET: Bytes = Bytes(1500);

#[derive(Clone, Copy)]
pub enum Kind {
    /// A packet at fixed intervals, without reaction to losses.
    Constant(Rate),
    /// Halves its window once per round trip on a loss or mark, otherwise adds
    /// a packet per round trip.
    Reno,
    /// Reduces its window by half a packet on every mark (RFC 9332 section 1.2:
    /// two marks a round trip), otherwise adds a packet per round trip.
    Scalable,
}

#[derive(Clone, Copy)]
pub struct Source {
    pub kind: Kind,
    pub ecn: Ecn,
    /// Round trip without the queue.
    pub rtt: Duration,
}

#[derive(Default)]
pub struct Result {
    pub delivered: u64,
    pub dropped: u64,
    pub marked: u64,
    /// Waits of delivered packets.
    pub waits_ms: Vec<f64>,
}

struct Flow {
    source: Source,
    window: f64,
    threshold: f64,
    in_flight: u64,
    recover_until: Instant,
    result: Result,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Event {
    Send(usize),
    Acked(usize, Ecn),
    Lost(usize),
}

pub struct World {
    pub link: Link<usize>,
    flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    count: u64,
    measure_from: Instant,
}

impl World {
    /// Creates a world whose results are counted after `warm_up`.
    pub fn new(spec: &str, sources: &[Source], warm_up: Duration) -> World {
        let spec: LinkSpec = spec.parse().expect("a link specification");
        let flow = |source: &Source| Flow {
            source: *source,
            window: 10.0,
            threshold: f64::MAX,
            in_flight: 0,
            recover_until: Instant::ZERO,
            result: Result::default(),
        };
        let mut world = World {
            link: Link::new(&spec, Rng::new(1)),
            flows: sources.iter().map(flow).collect(),
            events: BinaryHeap::new(),
            count: 0,
            measure_from: Instant::ZERO + warm_up,
        };
        for flow in 0..sources.len() {
            // Flows start at different times.
            let at = Instant::ZERO + Duration::from_micros(1_700 * flow as u64);
            world.at(at, Event::Send(flow));
        }
        world
    }

    /// Runs for this span; returns one result per flow.
    pub fn run(mut self, span: Duration) -> Vec<Result> {
        let end = Instant::ZERO + span;
        loop {
            let event = self.events.peek().map(|e| e.0.0);
            let link = self.link.poll_timeout().map(|d| d.at);
            let Some(now) = event.into_iter().chain(link).min().filter(|at| *at < end) else {
                break;
            };
            while let Some(departure) = self.link.poll(now) {
                self.on_departure(departure);
            }
            if event == Some(now)
                && let Some(Reverse((_, _, event))) = self.events.pop()
            {
                self.handle(now, event);
            }
        }
        self.flows.into_iter().map(|f| f.result).collect()
    }

    fn at(&mut self, at: Instant, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    fn on_departure(&mut self, departure: Departure<usize>) {
        let measure_from = self.measure_from;
        match departure {
            Departure::Delivered {
                packet,
                at,
                queued_for,
                ecn,
            } => {
                let flow = &mut self.flows[packet];
                if at >= measure_from {
                    flow.result.delivered += 1;
                    flow.result.marked += u64::from(ecn == Ecn::Ce);
                    flow.result.waits_ms.push(queued_for.as_millis_f64());
                }
                let back = flow.source.rtt.saturating_sub(self.link.delay());
                self.at(at + back, Event::Acked(packet, ecn));
            }
            Departure::Dropped { packet, at, .. } => {
                let flow = &mut self.flows[packet];
                flow.result.dropped += u64::from(at >= measure_from);
                let rtt = flow.source.rtt;
                self.at(at + rtt, Event::Lost(packet));
            }
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Send(flow) => {
                if let Kind::Constant(rate) = self.flows[flow].source.kind {
                    self.send(now, flow);
                    let gap = rate.time_for(PACKET).expect("a rate above zero");
                    self.at(now + gap, Event::Send(flow));
                } else {
                    self.fill_window(now, flow);
                }
            }
            Event::Acked(number, ecn) => {
                let flow = &mut self.flows[number];
                flow.in_flight -= 1;
                match (flow.source.kind, ecn) {
                    (Kind::Reno, Ecn::Ce) => flow.halve(now),
                    (Kind::Scalable, Ecn::Ce) => {
                        flow.threshold = 0.0;
                        flow.window = (flow.window - 0.5).max(2.0);
                    }
                    _ if flow.window < flow.threshold => flow.window += 1.0,
                    _ => flow.window += 1.0 / flow.window,
                }
                self.fill_window(now, number);
            }
            Event::Lost(number) => {
                self.flows[number].in_flight -= 1;
                self.flows[number].halve(now);
                self.fill_window(now, number);
            }
        }
    }

    fn fill_window(&mut self, now: Instant, number: usize) {
        if matches!(self.flows[number].source.kind, Kind::Constant(_)) {
            return;
        }
        while (self.flows[number].in_flight as f64) < self.flows[number].window.floor() {
            self.send(now, number);
        }
    }

    fn send(&mut self, now: Instant, number: usize) {
        let flow = &mut self.flows[number];
        flow.in_flight += 1;
        let info = PacketInfo::new(PACKET).with_flow(FlowId(number as u64));
        self.link
            .enqueue(now, info.with_ecn(flow.source.ecn), number);
    }
}

impl Flow {
    fn halve(&mut self, now: Instant) {
        if now < self.recover_until {
            return;
        }
        self.window = (self.window / 2.0).max(2.0);
        self.threshold = self.window;
        // Packets now in flight carry no new information; the queue may add as much delay
        // as the path.
        self.recover_until = now + self.source.rtt * 2;
    }
}

impl Result {
    pub fn mean_wait_ms(&self) -> f64 {
        self.waits_ms.iter().sum::<f64>() / self.waits_ms.len() as f64
    }

    /// Returns the wait that this share of packets does not exceed.
    pub fn wait_ms_at(&self, share: f64) -> f64 {
        let mut waits = self.waits_ms.clone();
        waits.sort_by(f64::total_cmp);
        waits[(share * (waits.len() - 1) as f64) as usize]
    }

    /// Returns the goodput over this span.
    pub fn mbps(&self, span: Duration) -> f64 {
        (Bytes(self.delivered * PACKET.0) / span).as_mbps()
    }
}
