use super::buffer::Buffer;
use super::usage::{StationTotals, Usage};
use crate::clock::Clock;

use crate::report::{Interval, LinkReport, StationReport};
use weft_links::{ChannelId, Departure, Medium, MediumSpec, PacketInfo, StationId};
use weft_units::{Bytes, Duration, Histogram, Instant, Rng};

/// Interval of the reported time series: short enough for the reaction of a controller
/// (RFC 8867 section 3 asks for 20 to 200 ms).
const INTERVAL: Duration = Duration::from_millis(100);

/// The medium of a link, with the measurements of its stations.
pub(crate) struct Segment {
    medium: Medium<Box<Buffer>>,
    /// Packets in flight from an earlier epoch, with its clock.
    before: Option<(Clock, Medium<Box<Buffer>>)>,
    spec: MediumSpec,
    rng: Rng,
    stations: Vec<Measured>,
    usage: Usage,
    /// Part of the run covered by `usage`.
    counted: Span,
}

/// Start and end of a part of the run, from time zero; without an end, until the end of
/// the run.
pub(crate) type Span = (Duration, Option<Duration>);

/// Counters of a station.
#[derive(Default)]
struct Measured {
    queueing: Histogram,
    intervals: Vec<Interval>,
}

impl Segment {
    /// Creates a medium with the random streams of `rng`; its usage is counted in this
    /// part of the run.
    pub fn new(spec: MediumSpec, rng: Rng, counted: Span) -> Segment {
        Segment {
            medium: Medium::new(&spec, &rng),
            before: None,
            stations: spec.stations().map(|_| Measured::default()).collect(),
            spec,
            rng,
            usage: Usage::of(counted),
            counted,
        }
    }

    pub fn spec(&self) -> &MediumSpec {
        &self.spec
    }

    /// Restarts at time zero; packets in flight still arrive.
    pub fn begin(&mut self, old: Clock) {
        let fresh = Medium::new(&self.spec, &self.rng);
        self.before = Some((old, std::mem::replace(&mut self.medium, fresh)));
        self.stations.fill_with(Measured::default);
        self.usage = Usage::of(self.counted);
    }

    pub fn enqueue(&mut self, now: Instant, from: StationId, to: StationId, buffer: Box<Buffer>) {
        let info = PacketInfo::new(Bytes(buffer.length as u64))
            .with_flow(buffer.header.flow())
            .with_class(buffer.class)
            .with_ecn(buffer.header.ecn);
        self.advance(now);
        self.medium.enqueue(now, from, to, info, buffer);
    }

    /// Iterates over the channels, which have their own deadlines.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + use<> {
        self.medium.channels()
    }

    /// Returns the next packet that has ended by `now`, and measures it.
    pub fn poll(
        &mut self,
        now: Instant,
        channel: ChannelId,
    ) -> Option<(StationId, Departure<Box<Buffer>>)> {
        self.advance(now);
        let (id, departure) = self.medium.poll(now, channel)?;
        let station = &mut self.stations[usize::from(id.0)];
        match &departure {
            Departure::Delivered {
                packet,
                at,
                queued_for,
                ..
            } => station.on_delivered(*at, packet.size(), *queued_for),
            Departure::Dropped { at, .. } => station.interval(*at).dropped += 1,
        }
        Some((id, departure))
    }

    /// Returns the next arrived packet of the earlier epoch, without measuring it.
    pub fn poll_earlier(&mut self) -> Option<Box<Buffer>> {
        let (clock, medium) = self.before.as_mut()?;
        for channel in medium.channels() {
            while let Some((_, departure)) = medium.poll(clock.now(), channel) {
                if let Departure::Delivered { packet, .. } = departure {
                    return Some(packet);
                }
            }
        }
        if deadline(medium).is_none() {
            self.before = None;
        }
        None
    }

    /// Returns the time of the next event, by the present clock.
    pub fn poll_timeout(&self, clock: Clock) -> Option<Instant> {
        let earlier = self.before.as_ref();
        let earlier =
            earlier.and_then(|(old, medium)| Some(clock.convert(*old, deadline(medium)?)));
        [deadline(&self.medium), earlier]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns the measurements until `now`, under the link's name.
    pub fn report(mut self, name: &str, now: Instant) -> LinkReport {
        let medium = &mut self.medium;
        let totals = self.usage.finish(now, medium, self.stations.len());
        let report =
            |((station, measured), used): ((StationId, Measured), StationTotals)| StationReport {
                counters: *medium.counters(station),
                in_flight: medium.in_flight(station),
                service: used.service,
                carried_to: used.carried_to,
                radio: used.radio,
                queueing: measured.queueing,
                interval: INTERVAL,
                intervals: measured.intervals,
            };
        let stations = (0..).map(StationId).zip(self.stations);
        LinkReport {
            name: name.to_owned(),
            stations: stations.zip(totals.stations).map(report).collect(),
            channels: totals.channels,
        }
    }

    fn advance(&mut self, now: Instant) {
        let stations = self.stations.len();
        self.usage.advance(now, &mut self.medium, stations);
    }
}

/// Returns the earliest deadline of the channels.
fn deadline(medium: &Medium<Box<Buffer>>) -> Option<Instant> {
    let deadlines = medium.channels().filter_map(|c| medium.poll_timeout(c));
    deadlines.map(|deadline| deadline.at).min()
}

impl Measured {
    fn on_delivered(&mut self, at: Instant, size: Bytes, queued_for: Duration) {
        self.queueing.add(queued_for);
        let interval = self.interval(at);
        interval.packets += 1;
        interval.delivered += size;
        interval.queued_for += queued_for;
        interval.longest_queued_for = interval.longest_queued_for.max(queued_for);
    }

    fn interval(&mut self, at: Instant) -> &mut Interval {
        let index = (at.as_nanos() / INTERVAL.as_nanos()) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        &mut self.intervals[index]
    }
}
