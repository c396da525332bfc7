//! State of one path in the session: its controller, pacer, queue and history.

mod ecn;
mod estimate;
mod forecast;
mod health;
mod history;
mod life;
mod numbering;
mod paths;
mod quality;
mod queue;

use weft_cc::{Controller, Pacer, PacketResult, SentPacket};
use weft_units::{Bytes, Duration, Ecn, Instant, PathId, Ssrc};
use weft_wire::rtcp::unwrap_arrival;

pub use ecn::EcnState;
pub(crate) use ecn::Marking;
pub(crate) use estimate::{OneWay, Recent, RoundTrip};
pub(crate) use forecast::Forecast;
pub(crate) use health::{Health, Signs};
pub(crate) use history::{Carried, Content, History, Outcome};
pub(crate) use numbering::Numbering;
pub(crate) use paths::Paths;
pub use quality::PathQualityStats;
pub(crate) use queue::{PathQueue, Purpose, Waiting};

use crate::arrival::Arrival;
use crate::config::Backlog;
use crate::schedule::{LATEST_REPAIR, PathView};

weft_units::named! {
    /// Whether a path carries packets, the best state first.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum PathState: "path state" {
        /// Feedback arrives, or none is due.
        Up = "up",
        /// Feedback is overdue; new packets avoid the path until the association's checks
        /// give a result.
        Suspect = "suspect",
        /// Found dead by the association.
        Down = "down",
    }
}

/// Spacing between the packets of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spacing {
    /// As the controller paces them.
    Controller,
    /// Spread over the time until the next picture.
    Spread,
    /// Together, up to [`TOGETHER`].
    Together,
}

#[derive(Default, Clone, Copy, Debug)]
pub(crate) struct PathCounters {
    pub sent_packets: u64,
    pub sent_bytes: Bytes,
    pub lost_packets: u64,
    pub acknowledged_packets: u64,
    pub received_packets: u64,
    pub received_bytes: Bytes,
}

/// Assumed time between a peer's reports, until it is measured: libwebrtc sends feedback
/// every 50 to 250 ms.
const FEEDBACK_WAIT: Duration = Duration::from_millis(100);

/// Largest burst on a path with room, as a time at the pacing rate and as bytes:
/// libwebrtc's pacer allows as much. A keyframe of 720p fits.
const TOGETHER: (Duration, Bytes) = (Duration::from_millis(40), Bytes(63_000));

/// Time without any arrival that counts as an outage of the path. Congestion loses some
/// packets, but no queue overflows without a break for ten frames. Chosen by us:
/// `a_short_outage_is_not_congestion`.
const OUTAGE: Duration = Duration::from_millis(300);

pub(crate) struct Path {
    pub id: PathId,
    pub state: PathState,
    pub controller: Box<dyn Controller>,
    pub queue: PathQueue,
    pub history: History,
    pub rtt: RoundTrip,
    pub one_way: OneWay,
    pub forecast: Forecast,
    pub counters: PathCounters,
    pub quality: PathQualityStats,
    pub marking: Marking,
    pub health: Health,
    pub sending: Sending,
    life: Life,
    arrivals: Arrivals,
}

/// Sending on a path: the packets that left, and when the next may leave.
pub(crate) struct Sending {
    pub last_sent: Option<Instant>,
    /// Departure of the last packet that feedback will name: only such packets show the
    /// state of the path.
    pub last_measured: Option<Instant>,
    pacer: Pacer,
    /// Number of the first packet that this controller sent: it gets no results of
    /// earlier ones.
    controlled_from: u64,
    numbering: Numbering,
    /// Bytes of copies sent here, which no feedback names.
    unmeasured: Bytes,
}

/// Signs of whether a path lives, from feedback or its absence.
struct Life {
    /// Time since which something is in flight without an acknowledgement.
    waiting_since: Option<Instant>,
    suspect_since: Option<Instant>,
    /// Time when the peer's consent to a path that was found dead may end.
    consent_until: Option<Instant>,
    /// Whether the suspicion has lasted, so that packets in flight are sent elsewhere.
    doubted: bool,
    /// Whether all paths have been suspect for so long that sending is useless.
    silent: bool,
    /// Whether packets are sent on this path although it is silent.
    unanswered: bool,
    /// Time from sending a packet to the feedback that names it, including the time that
    /// the peer collects for a report.
    answer: RoundTrip,
    /// Longest recent delay of feedback that was not the path's fault.
    excused: Recent,
    /// Queueing delay of the newest reported packet.
    late: Duration,
    heard_at: Option<Instant>,
}

/// Arrivals of the packets that were sent.
#[derive(Default)]
struct Arrivals {
    /// Departure of the newest packet that has arrived.
    delivered: Option<Instant>,
    /// Departures of the last packet that arrived before the last outage, and of the
    /// first one that arrived after it.
    outage: Option<(Instant, Instant)>,
    /// Newest arrival in the peer's clock.
    last_arrival: Option<Instant>,
}

impl Path {
    /// Creates a path whose packets carry `ecn` and continue `numbering`; `rtt` is the
    /// round-trip time of its checks.
    pub fn new(
        id: PathId,
        (controller, ecn): (Box<dyn Controller>, Ecn),
        rtt: Duration,
        numbering: Numbering,
    ) -> Path {
        let pacer = Pacer::new(controller.pacing_rate());
        Path {
            id,
            state: PathState::Up,
            controller,
            queue: PathQueue::default(),
            history: History::beginning_at(numbering.packet),
            rtt: RoundTrip::assumed(rtt),
            one_way: OneWay::default(),
            forecast: Forecast::default(),
            counters: PathCounters::default(),
            quality: PathQualityStats::default(),
            marking: Marking::new(ecn),
            health: Health::new(),
            sending: Sending {
                last_sent: None,
                last_measured: None,
                pacer,
                controlled_from: numbering.packet,
                numbering,
                unmeasured: Bytes::ZERO,
            },
            life: Life {
                waiting_since: None,
                suspect_since: None,
                consent_until: None,
                doubted: false,
                silent: false,
                unanswered: false,
                answer: RoundTrip::assumed(rtt + FEEDBACK_WAIT),
                excused: Recent::default(),
                late: Duration::ZERO,
                heard_at: None,
            },
            arrivals: Arrivals::default(),
        }
    }

    /// Replaces the controller; the new one starts from scratch.
    pub fn set_controller(&mut self, controller: Box<dyn Controller>, ecn: Ecn) {
        self.sending.pacer = Pacer::new(controller.pacing_rate());
        self.sending.controlled_from = self.history.next_number();
        self.controller = controller;
        self.marking.want(ecn);
    }

    /// Returns the one-way delay of a packet sent now, in the forecast's clock; `None`
    /// before the first measurement.
    pub fn expected_delay(&self, now: Instant) -> Option<i64> {
        let rate = self.controller.target_rate();
        self.forecast.delay(now, self.history.ahead(), rate)
    }

    /// Returns the additional delay of a packet sent now, compared with the empty path.
    pub fn excess_delay(&self, now: Instant) -> Option<Duration> {
        let excess = self.expected_delay(now)? - self.forecast.floor()?;
        Some(Duration::from_nanos(excess.max(0).unsigned_abs()))
    }

    /// Returns the additional delay of a packet sent now, compared with the lowest recent
    /// delay.
    pub fn recent_excess(&self, now: Instant) -> Option<Duration> {
        let excess = self.expected_delay(now)? - self.forecast.recent_floor()?;
        Some(Duration::from_nanos(excess.max(0).unsigned_abs()))
    }

    /// Returns the path as schedulers see it; `delay` and `reach` are relative to the
    /// quickest path.
    pub fn view(&self, delay: Duration, reach: Duration) -> PathView {
        let controller = self.controller.snapshot();
        PathView {
            id: self.id,
            rate: self.controller.target_rate(),
            delay,
            reach,
            queued: self.queue.bytes(),
            srtt: self.rtt.smoothed(),
            loss: controller.loss,
            delivered: controller.acked,
            in_flight: self.history.in_flight(),
            endangered: false,
            repairs_late: self.repairs_late(),
        }
    }

    /// Returns whether retransmission on this path is too late even with an empty queue:
    /// a queue drains, but a long round trip or late feedback stays.
    pub fn repairs_late(&self) -> bool {
        self.rtt.smoothed().saturating_sub(self.life.late) > LATEST_REPAIR
    }

    /// Returns when the pacer allows the next packet.
    pub fn next_send(&self, now: Instant) -> Instant {
        self.sending.pacer.next_send(now)
    }

    /// Sets the pacer for the waiting packets: to the controller's rate, but fast enough
    /// that the queue does not last. Takes new probes.
    pub fn refresh_pacing(&mut self, now: Instant, spacing: Spacing, backlog: Backlog) {
        /// Time in which an encoder's overshoot over a few frames must leave. Chosen by
        /// us: the queue at the start rate on a dying path must not outlive the skew cap
        /// by much.
        const DRAIN: Duration = Duration::from_millis(250);
        /// A spread-out picture takes two thirds of the time until the next one. Sent
        /// faster, it would wait in the bottleneck's queue instead, where active queue
        /// management drops packets and short queues overflow. Chosen by trial
        /// (`docs/protocol/calm.md`): at 2 more is lost.
        const SPREAD: f64 = 1.5;
        /// Longest backlog of a forwarder that leaves at the faster pace; a longer one
        /// leaves at the target rate, because it would otherwise fill the bottleneck's
        /// queue for as long as it lasts. Chosen by trial: 600 kbit/s for two players.
        const SHORT: Duration = Duration::from_millis(150);
        self.controller.set_backlog(self.queue.bytes());
        while let Some(cluster) = self.controller.poll_probe(now) {
            self.sending.pacer.add_probe(now, &cluster);
        }
        let pacing = match spacing {
            Spacing::Controller | Spacing::Together => self.controller.pacing_rate(),
            Spacing::Spread => {
                let spread = self.controller.target_rate().mul_f64(SPREAD);
                self.controller.pacing_rate().min(spread)
            }
        };
        let pacing = match backlog {
            Backlog::LeavesSoon => pacing.max(self.queue.bytes() / DRAIN),
            Backlog::Waits { known } => {
                let rate = self.controller.target_rate().max(known);
                match self.queue.bytes() > rate * SHORT {
                    true => rate,
                    false => pacing,
                }
            }
        };
        let burst = match spacing {
            Spacing::Together => {
                let most = pacing.time_for(TOGETHER.1).unwrap_or_default();
                most.min(TOGETHER.0).max(Pacer::BURST)
            }
            Spacing::Controller | Spacing::Spread => Pacer::BURST,
        };
        self.sending.pacer.set_burst(burst);
        self.sending.pacer.set_rate(now, pacing);
    }

    /// Returns whether a probe needs packets; padding serves if there is nothing else.
    pub fn wants_padding(&self) -> bool {
        self.state == PathState::Up && self.sending.pacer.probe().is_some()
    }

    /// Returns the per-path number of the next packet of this SSRC.
    pub fn next_stream_sequence(&mut self, ssrc: Ssrc) -> u16 {
        self.sending.numbering.next_of_stream(ssrc)
    }

    /// Records a packet with its own feedback under the next path number. Returns its ECN
    /// field.
    pub fn on_sent(&mut self, now: Instant, size: Bytes, carried: Carried) -> Ecn {
        let number = self.history.next_number();
        let sent = SentPacket {
            number,
            sent_at: now,
            size,
            probe: self.sending.pacer.probe(),
        };
        self.controller.on_packet_sent(&sent);
        let unmeasured = std::mem::take(&mut self.sending.unmeasured);
        let ecn = self.marking.next();
        self.history.push(sent, ecn, carried, unmeasured);
        self.sending.pacer.on_sent(now, size);
        self.account(now, size);
        self.sending.last_measured = Some(now);
        if self.life.waiting_since.is_none() {
            self.life.waiting_since = Some(now);
        }
        ecn
    }

    /// Records a packet that no feedback will name. Returns its ECN field.
    pub fn on_unreported_sent(&mut self, now: Instant, size: Bytes) -> Ecn {
        self.controller.on_unreported_sent(now);
        self.on_copy_sent(now, size);
        Ecn::NotEct
    }

    /// Records a copy of another path's packet that leaves here.
    pub fn on_copy_sent(&mut self, now: Instant, size: Bytes) {
        self.sending.unmeasured += size;
        self.sending.pacer.on_unreported(now, size);
        self.account(now, size);
    }

    fn account(&mut self, now: Instant, size: Bytes) {
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += size;
        self.sending.last_sent = Some(now);
    }

    /// Takes in path numbers with their arrivals as on the wire: in the peer's clock,
    /// which wraps.
    pub fn on_feedback(
        &mut self,
        now: Instant,
        reports: impl Iterator<Item = (u64, Option<Arrival>)>,
    ) -> Outcome {
        let last = &mut self.arrivals.last_arrival;
        let mut unwrapped = |arrival: Arrival| {
            let at = unwrap_arrival(last.unwrap_or(arrival.at), arrival.at);
            *last = Some(at);
            Arrival { at, ..arrival }
        };
        let reports = reports.map(|(number, arrival)| (number, arrival.map(&mut unwrapped)));
        let mut outcome = self.history.on_feedback(reports);
        self.counters.acknowledged_packets += outcome.acknowledged.len() as u64;
        self.counters.lost_packets += outcome.lost.len() as u64;
        for (left, arrived) in &outcome.fields {
            self.marking.on_arrival(*left, *arrived);
        }
        self.forecast.on_feedback(now, &outcome.results);
        if let Some((sent_at, arrival)) = outcome.oldest_news {
            self.on_news(now, sent_at, arrival);
        }
        if !outcome.lost.is_empty() && self.repairs_late() {
            self.health.on_late_repair(now);
        }
        self.forgive_outage(&mut outcome.results);
        let mut sample = None;
        if let Some((sent_at, arrival)) = outcome.newest {
            let rtt = now.saturating_since(sent_at);
            self.rtt.on_sample(rtt);
            self.one_way.on_sample(now, sent_at, arrival);
            sample = Some(self.rtt.smoothed());
            self.life.suspect_since = None;
            if self.state == PathState::Suspect && !self.life.silent {
                self.state = PathState::Up;
            }
            self.life.waiting_since = (self.history.in_flight() > Bytes::ZERO).then_some(now);
        }
        let first = self.sending.controlled_from;
        outcome.results.retain(|r| r.sent.number >= first);
        if !outcome.results.is_empty() {
            self.controller.on_feedback(now, &outcome.results, sample);
        }
        self.history.prune(now);
        outcome
    }

    /// Removes the packets that were lost in an outage. `results` are in sending order.
    fn forgive_outage(&mut self, results: &mut Vec<PacketResult>) {
        for arrived in results.iter().filter(|r| r.arrival.is_some()) {
            let sent_at = arrived.sent.sent_at;
            let before = self.arrivals.delivered.unwrap_or(sent_at);
            if sent_at.saturating_since(before) > OUTAGE {
                self.arrivals.outage = Some((before, sent_at));
            }
            self.arrivals.delivered = Some(before.max(sent_at));
        }
        if let Some((from, until)) = self.arrivals.outage {
            let in_outage = |at: Instant| from < at && at < until;
            results.retain(|r| r.arrival.is_some() || !in_outage(r.sent.sent_at));
        }
    }
}
