//! One path as the session sees it: its controller, pacer, queue and memory.

mod ecn;
mod estimate;
mod forecast;
mod history;
mod queue;

use weft_cc::{Controller, Pacer, PacketResult, SentPacket};
use weft_units::{Bytes, Duration, Ecn, Instant, PathId, Ssrc};
use weft_wire::rtcp::unwrap_arrival;

pub use ecn::EcnState;
pub(crate) use ecn::Marking;
pub(crate) use estimate::{OneWay, RoundTrip};
pub(crate) use forecast::Forecast;
pub(crate) use history::{Carried, Content, History, Outcome};
pub(crate) use queue::{PathQueue, Purpose, Waiting};

use crate::schedule::PathView;
use crate::session::Arrival;
use crate::stats::PathQualityStats;

/// Whether a path carries packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// Feedback comes, or nothing is waited for.
    Up,
    /// Feedback is overdue; new packets avoid the path until the association's
    /// checks have spoken.
    Suspect,
    /// Found dead by the association.
    Down,
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

/// How long after the association last raised no verdict a suspicion lapses:
/// twice the time that a verdict may take (200 ms at most, chosen by us).
const SUSPICION_LAPSES: Duration = Duration::from_millis(400);

/// Most suspicions end within this, by feedback that was late: only after it is
/// a path doubted. Chosen by us: `demo/ride`.
const DOUBT: Duration = Duration::from_millis(15);

/// How long a peer may collect before it reports, until measured: libwebrtc
/// sends feedback every 50 to 250 ms.
const FEEDBACK_WAIT: Duration = Duration::from_millis(100);

/// Of what was sent during so long a time nothing arrived: the path was gone.
/// Congestion loses some packets, and no queue overflows without a break for
/// ten frames. Chosen by us: `a_short_outage_is_no_congestion`.
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
    pub sending: Sending,
    life: Life,
    arrivals: Arrivals,
}

/// What was sent over a path, and when the next packet may leave.
pub(crate) struct Sending {
    pub last_sent: Option<Instant>,
    /// The same of packets that feedback names: nothing else tells how the
    /// path is.
    pub last_measured: Option<Instant>,
    pacer: Pacer,
    /// The first packet that this controller sent: of earlier ones it is told
    /// nothing.
    controlled_from: u64,
    /// Next per-path sequence number of each SSRC.
    stream_sequences: Vec<(Ssrc, u16)>,
    /// Copies sent here that no feedback will mention.
    unmeasured: Bytes,
}

/// What feedback, or its silence, says of a path's life.
struct Life {
    /// Since when something is in flight and nothing was acknowledged.
    waiting_since: Option<Instant>,
    suspect_since: Option<Instant>,
    /// The suspicion has lasted: what is in flight is looked after.
    doubted: bool,
    /// Suspect as all paths are, and for so long that sending is in vain.
    silent: bool,
    /// From sending a packet to the feedback that names it, the peer's wait for
    /// more to report included.
    answer: RoundTrip,
    heard_at: Option<Instant>,
}

/// What arrived of what was sent.
#[derive(Default)]
struct Arrivals {
    /// When the newest packet left that has arrived.
    delivered: Option<Instant>,
    /// When the last packet left that arrived before the last outage, and the
    /// first one that arrived after.
    outage: Option<(Instant, Instant)>,
    /// In the peer's clock.
    last_arrival: Option<Instant>,
}

impl Path {
    /// `ecn`: what its packets are to bear.
    pub fn new(id: PathId, controller: Box<dyn Controller>, ecn: Ecn, rtt: Duration) -> Path {
        let pacer = Pacer::new(controller.pacing_rate());
        Path {
            id,
            state: PathState::Up,
            controller,
            queue: PathQueue::default(),
            history: History::new(),
            rtt: RoundTrip::assumed(rtt),
            one_way: OneWay::default(),
            forecast: Forecast::default(),
            counters: PathCounters::default(),
            quality: PathQualityStats::default(),
            marking: Marking::new(ecn),
            sending: Sending {
                last_sent: None,
                last_measured: None,
                pacer,
                controlled_from: 0,
                stream_sequences: Vec::new(),
                unmeasured: Bytes::ZERO,
            },
            life: Life {
                waiting_since: None,
                suspect_since: None,
                doubted: false,
                silent: false,
                answer: RoundTrip::assumed(rtt + FEEDBACK_WAIT),
                heard_at: None,
            },
            arrivals: Arrivals::default(),
        }
    }

    /// Another controller takes over, and begins anew.
    pub fn set_controller(&mut self, controller: Box<dyn Controller>, ecn: Ecn) {
        self.sending.pacer = Pacer::new(controller.pacing_rate());
        self.sending.controlled_from = self.history.next_number();
        self.controller = controller;
        self.marking.want(ecn);
    }

    /// One-way delay of what is sent now, in the forecast's clock; `None`
    /// before anything is measured.
    pub fn expected_delay(&self, now: Instant) -> Option<i64> {
        let rate = self.controller.target_rate();
        self.forecast.delay(now, self.history.ahead(), rate)
    }

    /// How much longer than over the empty path what is sent now takes.
    pub fn excess_delay(&self, now: Instant) -> Option<Duration> {
        let excess = self.expected_delay(now)? - self.forecast.floor()?;
        Some(Duration::from_nanos(excess.max(0).unsigned_abs()))
    }

    /// What schedulers see; `delay` and `reach` are over those of the quickest
    /// path.
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
        }
    }

    /// When the pacer lets the next packet go.
    pub fn next_send(&self, now: Instant) -> Instant {
        self.sending.pacer.next_send(now)
    }

    /// Sets the pacer for what waits: the controller's rate, and never so slow
    /// that the queue stands for long. Takes new probes.
    pub fn refresh_pacing(&mut self, now: Instant) {
        /// An encoder overshoots its target for a few frames; what it made
        /// leaves within this time. Chosen by us: the start rate's queue on a
        /// dying path must not outlive the skew cap by much.
        const DRAIN: Duration = Duration::from_millis(250);
        self.controller.set_backlog(self.queue.bytes());
        while let Some(cluster) = self.controller.poll_probe(now) {
            self.sending.pacer.add_probe(now, &cluster);
        }
        let needed = self.queue.bytes() / DRAIN;
        self.sending
            .pacer
            .set_rate(now, self.controller.pacing_rate().max(needed));
    }

    /// Whether a probe wants packets, padding if there is nothing else.
    pub fn wants_padding(&self) -> bool {
        self.state == PathState::Up && self.sending.pacer.probe().is_some()
    }

    /// The per-path number of the next packet of this SSRC.
    pub fn next_stream_sequence(&mut self, ssrc: Ssrc) -> u16 {
        if let Some((_, next)) = self
            .sending
            .stream_sequences
            .iter_mut()
            .find(|(s, _)| *s == ssrc)
        {
            let sequence = *next;
            *next = next.wrapping_add(1);
            return sequence;
        }
        self.sending.stream_sequences.push((ssrc, 1));
        0
    }

    /// A packet with feedback of its own leaves under the next path number,
    /// with this ECN field.
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
        self.account(now, size);
        self.sending.last_measured = Some(now);
        if self.life.waiting_since.is_none() {
            self.life.waiting_since = Some(now);
        }
        ecn
    }

    /// A packet leaves that no feedback will name, with this ECN field.
    pub fn on_unreported_sent(&mut self, now: Instant, size: Bytes) -> Ecn {
        self.controller.on_unreported_sent(now);
        self.on_copy_sent(now, size);
        Ecn::NotEct
    }

    /// A copy of another path's packet leaves here.
    pub fn on_copy_sent(&mut self, now: Instant, size: Bytes) {
        self.sending.unmeasured += size;
        self.account(now, size);
    }

    fn account(&mut self, now: Instant, size: Bytes) {
        self.sending.pacer.on_sent(now, size);
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += size;
        self.sending.last_sent = Some(now);
    }

    /// Path numbers with their arrivals as the wire has them: in the peer's
    /// clock, which wraps.
    pub fn on_feedback(
        &mut self,
        now: Instant,
        mut reports: Vec<(u64, Option<Arrival>)>,
    ) -> Outcome {
        for arrival in reports
            .iter_mut()
            .filter_map(|(_, arrival)| arrival.as_mut())
        {
            let previous = *self.arrivals.last_arrival.get_or_insert(arrival.at);
            arrival.at = unwrap_arrival(previous, arrival.at);
            self.arrivals.last_arrival = Some(arrival.at);
        }
        let mut outcome = self.history.on_feedback(&reports);
        self.counters.acknowledged_packets += outcome.acknowledged.len() as u64;
        self.counters.lost_packets += outcome.lost.len() as u64;
        for (left, arrived) in &outcome.fields {
            self.marking.on_arrival(*left, *arrived);
        }
        if let Some(sent_at) = outcome.oldest_news {
            self.life.answer.on_sample(now.saturating_since(sent_at));
            self.life.heard_at = Some(now);
        }
        self.forecast.on_feedback(now, &outcome.results);
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

    /// Takes out what was lost in an outage. `results` are in send order.
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

    /// When feedback last named a packet for the first time.
    pub fn heard_at(&self) -> Option<Instant> {
        self.life.heard_at
    }

    /// When silence becomes suspicious.
    pub fn suspicion_due(&self) -> Option<Instant> {
        /// Suspicion costs a few checks, a false one no more than that; a late
        /// one delays the verdict, which must fall within 200 ms of a death.
        /// Hence half of RFC 6298's allowance for variation.
        const LEAST_VARIATION: Duration = Duration::from_millis(10);
        const CEILING: Duration = Duration::from_millis(500);
        /// While feedback keeps coming, a queue grows, and nothing has died.
        const QUIET: Duration = Duration::from_millis(30);
        if self.state != PathState::Up {
            return None;
        }
        let waiting_since = self.life.waiting_since?;
        let variation = (self.life.answer.variation() * 2).max(LEAST_VARIATION);
        let expected = (self.life.answer.smoothed() + variation).min(CEILING);
        let overdue = self.history.unheard_since()? + expected;
        Some(overdue.max(waiting_since + QUIET))
    }

    /// Marks the path suspect if its silence is overdue; true when it became
    /// so now.
    pub fn check_silence(&mut self, now: Instant) -> bool {
        if self
            .life
            .suspect_since
            .is_some_and(|since| now >= since + SUSPICION_LAPSES)
            && self.state == PathState::Suspect
        {
            // The checks were answered, or no verdict was possible: back in
            // use, and watched anew.
            self.marking.doubt();
            self.state = PathState::Up;
            self.life.suspect_since = None;
            self.life.waiting_since = (self.history.in_flight() > Bytes::ZERO).then_some(now);
        }
        if self.suspicion_due().is_none_or(|due| now < due) {
            return false;
        }
        self.state = PathState::Suspect;
        self.life.suspect_since = Some(now);
        self.life.doubted = false;
        true
    }

    /// Whether the path has been suspect for so long that what is in flight
    /// should not be waited for.
    pub fn is_doubted(&self) -> bool {
        self.state == PathState::Suspect && self.life.doubted
    }

    /// True once, when that becomes so.
    pub fn check_doubt(&mut self, now: Instant) -> bool {
        let due = self.doubt_due().is_some_and(|at| at <= now);
        self.life.doubted |= due;
        due
    }

    fn doubt_due(&self) -> Option<Instant> {
        let waits = self.state == PathState::Suspect && !self.life.doubted;
        Some(self.life.suspect_since.filter(|_| waits)? + DOUBT)
    }

    /// When [`Path::check_silence`] has something to do.
    pub fn silence_deadline(&self) -> Option<Instant> {
        match self.state {
            PathState::Up => self.suspicion_due(),
            PathState::Suspect => {
                let lapses = self
                    .life
                    .suspect_since
                    .map(|since| since + SUSPICION_LAPSES);
                self.doubt_due().or(lapses)
            }
            PathState::Down => None,
        }
    }

    /// The path is dead: everything waiting and in flight must go elsewhere.
    pub fn on_down(&mut self) -> (Vec<Waiting>, Vec<(u64, Carried)>) {
        self.state = PathState::Down;
        self.life.silent = false;
        self.clear()
    }

    /// The path is as good as dead, and so are all others: what waits is stale
    /// before it can leave. Returns that.
    pub fn on_silent(&mut self) -> Vec<Waiting> {
        self.state = PathState::Suspect;
        self.life.silent = true;
        self.clear().0
    }

    /// Whether what is sent here may arrive.
    pub fn is_usable(&self) -> bool {
        self.state != PathState::Down && !self.life.silent
    }

    fn clear(&mut self) -> (Vec<Waiting>, Vec<(u64, Carried)>) {
        self.life.waiting_since = None;
        self.life.suspect_since = None;
        self.sending.pacer.reset();
        self.one_way.clear();
        self.forecast.clear();
        (self.queue.drain(), self.history.abandon())
    }

    /// The path is valid (again). What was known of it before it died is old.
    pub fn on_up(&mut self, now: Instant, rtt: Duration) {
        if !self.is_usable() {
            self.controller.on_path_restored(now);
            self.marking.restart();
            self.rtt = RoundTrip::assumed(rtt);
            self.life.answer = RoundTrip::assumed(rtt + FEEDBACK_WAIT);
        }
        self.state = PathState::Up;
        self.life.silent = false;
        self.life.suspect_since = None;
    }
}
