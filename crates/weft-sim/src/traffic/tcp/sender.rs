//! Sending side: transmissions, losses and retries.

mod prr;

use weft_units::{Bytes, Duration, Instant};

use super::congestion::{AckSample, CongestionControl, LostSample, Phase, RecoveryWindow};
use super::rate::{DeliveryRate, RateSample};
use super::rtt::Rtt;
use super::scoreboard::{Losses, Progress, Scoreboard};
use crate::packet::tcp::{Acknowledgement, HEADERS, PAYLOAD, Segment};
use prr::Proportional;

/// Largest delay of a lone segment's acknowledgement (RFC 8985 section 7.2); Linux uses
/// its smallest retransmission timeout.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// Factor on the smoothed round trip (RFC 8985 section 7.2).
const PROBE_AFTER: u64 = 2;

/// Smallest and largest burst: `tcp_min_tso_segs`, and 64 KB.
const LEAST_BURST: u32 = 2;
const MOST_OFFLOADED: u32 = 45;

pub(crate) struct Sender {
    board: Scoreboard,
    rtt: Rtt,
    rate: DeliveryRate,
    congestion: Box<dyn CongestionControl>,
    phase: Phase,
    /// End of the recovery: everything below must be acknowledged. The segment with this
    /// number informs the receiver of the reduction, so an echo is new only after it is
    /// acknowledged.
    recovery_point: u32,
    proportional: Proportional,
    /// End of the available data, as a segment number.
    end: u32,
    /// Segments that the receiver accepts beyond the acknowledged ones.
    receive_window: u32,
    probe: Probe,
    timers: Timers,
    pacing: Pacing,
    /// Whether the next new segment announces a reduction of the window, for any reason
    /// (CWR, RFC 3168 section 6.1.2).
    tell_reduced: bool,
    window_was_full: bool,
    pub counters: SenderCounters,
}

#[derive(Default)]
struct Pacing {
    /// Time of the next burst.
    until: Instant,
    /// Remaining segments of the current burst.
    burst_left: u32,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct SenderCounters {
    pub retransmissions: u64,
    pub timeouts: u64,
    pub reductions: u64,
}

impl SenderCounters {
    pub fn plus(self, other: SenderCounters) -> SenderCounters {
        SenderCounters {
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
            reductions: self.reductions + other.reductions,
        }
    }
}

/// Tail loss probe (RFC 8985 section 7).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Probe {
    None,
    /// It is sent at the next request for a segment.
    Wanted,
    /// It was sent while this many segments were outstanding.
    Sent {
        below: u32,
        again: bool,
    },
}

#[derive(Default)]
struct Timers {
    retransmission: Option<Instant>,
    probe: Option<Instant>,
    reordering: Option<Instant>,
    /// Time at which the pacer allows the next segment, if there is a segment.
    pacing: Option<Instant>,
}

impl Sender {
    /// Creates a sender of segments `first` up to `end`, with the round trip of the
    /// handshake.
    pub fn new(
        now: Instant,
        congestion: Box<dyn CongestionControl>,
        first: u32,
        end: u32,
        receive_window: u32,
        handshake: Duration,
    ) -> Sender {
        let mut rtt = Rtt::new();
        rtt.on_sample(now, handshake);
        Sender {
            board: Scoreboard::new(first),
            rtt,
            rate: DeliveryRate::new(),
            congestion,
            phase: Phase::Open,
            recovery_point: first,
            proportional: Proportional::default(),
            end,
            receive_window,
            probe: Probe::None,
            timers: Timers::default(),
            pacing: Pacing::default(),
            tell_reduced: false,
            window_was_full: false,
            counters: SenderCounters::default(),
        }
    }

    /// Stops data after the sent segments.
    pub fn stop(&mut self) {
        self.end = self.end.min(self.board.next());
    }

    /// Returns whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.first() >= self.end
    }

    pub fn window(&self) -> u32 {
        match (self.phase, self.congestion.recovery()) {
            (Phase::Recovery | Phase::Reduced, RecoveryWindow::Proportional) => {
                self.proportional.window()
            }
            _ => self.congestion.window(),
        }
    }

    pub fn smoothed_rtt(&self) -> Duration {
        self.rtt.smoothed().unwrap_or_default()
    }

    /// Returns the next segment to send now, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let in_flight = self.board.in_flight();
        self.timers.pacing = None;
        if self.probe == Probe::Wanted {
            return self.send_probe(now);
        }
        if in_flight >= self.window() {
            self.window_was_full = true;
            self.pacing.burst_left = 0;
            return None;
        }
        let lost = self.board.next_lost();
        let number = lost.unwrap_or(self.board.next());
        if lost.is_none() && number >= self.limit() {
            self.window_was_full = false;
            self.pacing.burst_left = 0;
            self.rate.on_application_limited(in_flight);
            return None;
        }
        if self.pacing.burst_left == 0 {
            if now < self.pacing.until {
                self.timers.pacing = Some(self.pacing.until);
                return None;
            }
            self.pacing.burst_left = self.congestion.burst();
        }
        self.pacing.burst_left -= 1;
        Some(self.transmit(now, number))
    }

    /// Records that the host's own queue accepts nothing for now. This is not a lack of
    /// data, and the window counts as full only if that much is in flight.
    pub fn hold_back(&mut self) {
        self.window_was_full = self.board.in_flight() >= self.window();
        self.timers.pacing = None;
        self.pacing.burst_left = 0;
    }

    /// Returns the segments that leave the socket together: the data of this time at the
    /// pacing rate, at least two and at most 64 KB (`tcp_tso_autosize`). Without pacing,
    /// the rate is twice the window per round trip, as up to Linux 4.2; later versions
    /// use 1.2 times after slow start.
    pub fn burst(&self, time: Duration) -> u32 {
        let paced = self.congestion.pacing_rate().map(|rate| {
            let size = f64::from(HEADERS + PAYLOAD);
            (rate * time).0 as f64 / size
        });
        let segments = paced.unwrap_or_else(|| {
            let round_trip = self.smoothed_rtt().as_secs_f64();
            2.0 * f64::from(self.window()) * time.as_secs_f64() / round_trip
        });
        (segments as u32).clamp(LEAST_BURST, MOST_OFFLOADED)
    }

    /// Returns the first segment without data or without room in the window.
    fn limit(&self) -> u32 {
        let room = self.board.first().saturating_add(self.receive_window);
        self.end.min(room)
    }

    fn transmit(&mut self, now: Instant, number: u32) -> Segment {
        let again = number < self.board.next();
        let state = self.rate.on_sent(now, self.board.in_flight());
        self.board.on_sent(now, number, state);
        self.proportional.on_sent();
        self.counters.retransmissions += u64::from(again);
        if let Some(rate) = self.congestion.pacing_rate() {
            let size = Bytes(u64::from(HEADERS + PAYLOAD));
            let gap = rate.time_for(size).unwrap_or(Duration::from_secs(1));
            self.pacing.until = self.pacing.until.max(now) + gap;
        }
        if self.timers.retransmission.is_none() {
            self.arm(now);
        }
        let reduced = !again && std::mem::take(&mut self.tell_reduced);
        Segment { number, reduced }
    }

    /// Sends new data, or otherwise the newest segment again (section 7.3).
    fn send_probe(&mut self, now: Instant) -> Option<Segment> {
        self.probe = Probe::None;
        if self.board.is_empty() {
            return None;
        }
        let next = self.board.next();
        let again = next >= self.limit();
        let number = if again { next - 1 } else { next };
        let below = next.max(number + 1);
        self.probe = Probe::Sent { below, again };
        let segment = self.transmit(now, number);
        self.timers.probe = None;
        self.timers.retransmission = Some(now + self.rtt.timeout());
        Some(segment)
    }

    /// Processes an acknowledgement.
    pub fn on_acknowledgement(&mut self, now: Instant, ack: &Acknowledgement) {
        let before = self.board.in_flight();
        let min_rtt = self.rtt.min();
        let progress = self.board.on_acknowledgement(now, ack, min_rtt);
        if let Some(rtt) = progress.rtt {
            self.rtt.on_sample(now, rtt);
        }
        let rate = progress.newest.map(|newest| {
            self.rate
                .on_delivered(now, progress.delivered, &newest, min_rtt)
        });
        let losses = self.find_losses(now);
        let lost = losses.count;
        self.settle_probe(now, ack, before);
        self.change_phase(now, ack, lost, before);
        self.inform(now, &progress, &losses, rate);
        if self.phase == Phase::Recovery || self.phase == Phase::Reduced {
            let safe = progress.advanced > 0 && lost == 0;
            let (flight, goal) = (self.board.in_flight(), self.congestion.window());
            self.proportional
                .on_ack(progress.delivered, flight, goal, safe);
        }
        if progress.advanced > 0 {
            self.rtt.on_progress();
        }
        if progress.delivered > 0 {
            self.arm(now);
        }
    }

    fn find_losses(&mut self, now: Instant) -> Losses {
        let recovering = matches!(self.phase, Phase::Recovery | Phase::Timeout);
        let (min, smoothed) = (self.rtt.min(), self.rtt.smoothed());
        let window = self.board.reordering_window(recovering, min, smoothed);
        let losses = self.board.detect_losses(now, window);
        self.rate.lost += u64::from(losses.count);
        self.timers.reordering = losses.due;
        losses
    }

    /// Handles the acknowledgement of a probe (section 7.4): a retransmitted probe that
    /// is acknowledged without D-SACK has repaired a loss, which requires a reduction.
    fn settle_probe(&mut self, now: Instant, ack: &Acknowledgement, in_flight: u32) {
        let Probe::Sent { below, again } = self.probe else {
            return;
        };
        if ack.duplicate {
            self.probe = Probe::None;
        } else if ack.next >= below {
            self.probe = Probe::None;
            if again && self.phase == Phase::Open {
                self.reduce(now, Phase::Reduced, in_flight);
            }
        }
    }

    fn change_phase(&mut self, now: Instant, ack: &Acknowledgement, lost: u32, in_flight: u32) {
        if self.phase != Phase::Open && self.board.first() >= self.recovery_point {
            self.phase = Phase::Open;
            self.congestion.on_recovered(now);
        }
        match self.phase {
            Phase::Open if lost > 0 => self.reduce(now, Phase::Recovery, in_flight),
            // The window was already reduced in this round trip.
            Phase::Reduced if lost > 0 => self.phase = Phase::Recovery,
            Phase::Open if ack.echo && self.board.first() > self.recovery_point => {
                self.reduce(now, Phase::Reduced, in_flight);
            }
            _ => {}
        }
    }

    fn reduce(&mut self, now: Instant, phase: Phase, in_flight: u32) {
        self.counters.reductions += 1;
        self.phase = phase;
        self.recovery_point = self.board.next();
        self.tell_reduced = true;
        self.congestion.on_congestion(now, in_flight);
        self.proportional.begin(in_flight, self.board.in_flight());
        self.timers.probe = None;
    }

    fn inform(
        &mut self,
        now: Instant,
        progress: &Progress,
        losses: &Losses,
        rate: Option<RateSample>,
    ) {
        self.congestion.on_ack(&AckSample {
            now,
            delivered: progress.delivered,
            lost: losses.count,
            total_delivered: self.rate.delivered,
            total_lost: self.rate.lost,
            in_flight: self.board.in_flight(),
            rtt: progress.newest_rtt,
            min_rtt: self.rtt.min(),
            rate,
            lost_sample: losses.newest.map(|state| LostSample {
                sent_in_flight: state.in_flight,
                lost: self.rate.lost - state.lost,
            }),
            phase: self.phase,
            window_was_full: self.window_was_full,
        });
        if self.congestion.is_probing_rtt() {
            self.rate.on_application_limited(self.board.in_flight());
        }
    }

    /// Sets the time of the next retransmission, and of a probe before it if no loss is
    /// known.
    fn arm(&mut self, now: Instant) {
        self.timers.retransmission = None;
        self.timers.probe = None;
        if self.board.is_empty() {
            return;
        }
        let timeout = now + self.rtt.timeout();
        self.timers.retransmission = Some(timeout);
        if self.phase == Phase::Open && self.probe == Probe::None {
            let mut patience = self.rtt.smoothed().unwrap_or(MAX_ACK_DELAY) * PROBE_AFTER;
            if self.board.in_flight() <= 1 {
                patience += MAX_ACK_DELAY;
            }
            self.timers.probe = Some(now + patience).filter(|at| *at < timeout);
        }
    }

    /// Returns the next time for [`Sender::on_timer`].
    pub fn due(&self) -> Option<Instant> {
        let timers = [
            self.timers.retransmission,
            self.timers.probe,
            self.timers.reordering,
            self.timers.pacing,
        ];
        timers.into_iter().flatten().min()
    }

    /// Runs the due timers; poll for segments afterwards.
    pub fn on_timer(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.timers.reordering) {
            let before = self.board.in_flight();
            let lost = self.find_losses(now).count;
            if lost > 0 && matches!(self.phase, Phase::Open) {
                self.reduce(now, Phase::Recovery, before);
                self.proportional
                    .on_ack(0, self.board.in_flight(), self.congestion.window(), true);
            }
        }
        if due(self.timers.probe) {
            self.timers.probe = None;
            self.probe = Probe::Wanted;
        }
        if due(self.timers.retransmission) {
            self.on_timeout(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.rtt.on_timeout();
        let before = self.board.in_flight();
        self.rate.lost += u64::from(self.board.lose_all());
        self.probe = Probe::None;
        self.timers.reordering = None;
        if self.phase != Phase::Timeout {
            self.counters.reductions += 1;
            self.congestion.on_timeout(now, before);
        }
        self.phase = Phase::Timeout;
        self.recovery_point = self.board.next();
        self.tell_reduced = true;
        self.arm(now);
    }
}

#[cfg(test)]
mod tests;
