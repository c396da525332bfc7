use super::Buffer;
use crate::clock::Clock;
use crate::histogram::Histogram;
use crate::report::{DirectionReport, Interval};
use crate::{Direction, LinkId};
use weft_links::{Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rng};

/// How finely a run's course is reported: fine enough for the reaction of a
/// controller (RFC 8867 section 3 asks for 20 to 200 ms).
const INTERVAL: Duration = Duration::from_millis(100);

/// One direction of a link with what it measures.
pub(crate) struct Pipe {
    pub link_id: LinkId,
    pub direction: Direction,
    pub link: Link<Box<Buffer>>,
    /// What an earlier epoch put on the way, with that epoch's clock.
    pub before: Option<(Clock, Link<Box<Buffer>>)>,
    spec: LinkSpec,
    rng: Rng,
    queueing: Histogram,
    intervals: Vec<Interval>,
}

impl Pipe {
    pub fn new(link_id: LinkId, direction: Direction, spec: LinkSpec, rng: Rng) -> Pipe {
        Pipe {
            link_id,
            direction,
            link: Link::new(&spec, rng.clone()),
            before: None,
            spec,
            rng,
            queueing: Histogram::default(),
            intervals: Vec::new(),
        }
    }

    /// Begins anew at time zero; what is on the way arrives all the same.
    pub fn begin(&mut self, old: Clock) {
        let fresh = Link::new(&self.spec, self.rng.clone());
        self.before = Some((old, std::mem::replace(&mut self.link, fresh)));
        self.queueing = Histogram::default();
        self.intervals.clear();
    }

    pub fn enqueue(&mut self, now: Instant, buffer: Box<Buffer>) {
        let info = PacketInfo {
            size: Bytes(buffer.length as u64),
            flow: buffer.header.flow(),
            ecn: buffer.header.ecn,
        };
        self.link.enqueue(now, info, buffer);
    }

    pub fn on_delivered(&mut self, at: Instant, size: Bytes, queued_for: Duration) {
        self.queueing.add(queued_for);
        let interval = self.interval(at);
        interval.packets += 1;
        interval.delivered += size;
        interval.queued_for += queued_for;
        interval.longest_queued_for = interval.longest_queued_for.max(queued_for);
    }

    pub fn on_dropped(&mut self, at: Instant) {
        self.interval(at).dropped += 1;
    }

    pub fn report(self) -> DirectionReport {
        DirectionReport {
            counters: *self.link.counters(),
            in_flight: self.link.in_flight(),
            queueing: self.queueing,
            interval: INTERVAL,
            intervals: self.intervals,
        }
    }

    fn interval(&mut self, at: Instant) -> &mut Interval {
        let index = (at.as_nanos() / INTERVAL.as_nanos()) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        &mut self.intervals[index]
    }
}
