//! Outstanding and lost segments: RACK (RFC 8985).

use std::collections::VecDeque;

use weft_units::{Duration, Instant};

use super::ranges::Ranges;
use super::rate::{Newest, SentState};
use crate::packet::tcp::Acknowledgement;

/// State of every segment between the first unacknowledged and the newest, at the sender.
pub(crate) struct Scoreboard {
    first: u32,
    segments: VecDeque<Sent>,
    /// Transmissions in order, including settled ones.
    transmissions: VecDeque<Transmission>,
    next_transmission: u64,
    selective: Ranges,
    lost: VecDeque<u32>,
    in_flight: u32,
    rack: Rack,
}

#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    transmission: u64,
    state: State,
    sent_again: bool,
    rate: SentState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    /// Segment that was acknowledged out of order.
    Delivered,
    /// Segment that waits for retransmission.
    Lost,
}

#[derive(Clone, Copy)]
struct Transmission {
    number: u64,
    segment: u32,
    at: Instant,
}

/// Newest transmission that was delivered (RFC 8985 section 5.2).
struct Rack {
    transmission: u64,
    rtt: Duration,
    /// Highest delivered segment plus one.
    highest: u32,
    reordering: Reordering,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reordering {
    NotSeen,
    Seen,
}

/// Result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Segments newly known to be delivered.
    pub delivered: u32,
    /// Segments by which the first unacknowledged one moved.
    pub advanced: u32,
    /// Newest of the delivered segments.
    pub newest: Option<Newest>,
    /// Round trip of the oldest delivered segment that was sent only once; it includes
    /// the delay of a delayed acknowledgement (RFC 7323 section 4.1).
    pub rtt: Option<Duration>,
    /// Round trip of the newest delivered segment.
    pub newest_rtt: Option<Duration>,
}

/// Segments found to be lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    pub count: u32,
    /// State when the newest lost segment was sent.
    pub newest: Option<SentState>,
    /// Time of the next check.
    pub due: Option<Instant>,
}

/// Number of later segments that show a gap (RFC 8985 section 6.2 step 4): the window is
/// a quarter of the shortest round trip, or zero after that many.
const GAP: u32 = 3;

impl Scoreboard {
    /// Creates a scoreboard without outstanding segments; the next segment will be
    /// `first`.
    pub fn new(first: u32) -> Scoreboard {
        Scoreboard {
            first,
            segments: VecDeque::new(),
            transmissions: VecDeque::new(),
            next_transmission: 1,
            selective: Ranges::default(),
            lost: VecDeque::new(),
            in_flight: 0,
            rack: Rack {
                transmission: 0,
                rtt: Duration::ZERO,
                highest: first,
                reordering: Reordering::NotSeen,
            },
        }
    }

    /// Returns the first segment not acknowledged in order.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the next segment that was never sent.
    pub fn next(&self) -> u32 {
        self.first + self.segments.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the segments in flight: sent, not delivered, not lost.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns the next segment to retransmit, if any is lost.
    pub fn next_lost(&mut self) -> Option<u32> {
        while let Some(&segment) = self.lost.front() {
            if self.get(segment).is_some_and(|s| s.state == State::Lost) {
                return Some(segment);
            }
            self.lost.pop_front();
        }
        None
    }

    /// Records a transmission of the next new segment, or of one sent before.
    pub fn on_sent(&mut self, now: Instant, segment: u32, rate: SentState) {
        let number = self.next_transmission;
        self.next_transmission += 1;
        self.transmissions.push_back(Transmission {
            number,
            segment,
            at: now,
        });
        let sent = Sent {
            at: now,
            transmission: number,
            state: State::InFlight,
            sent_again: segment != self.next(),
            rate,
        };
        if segment == self.next() {
            self.segments.push_back(sent);
            self.in_flight += 1;
        } else if let Some(old) = self.segments.get_mut((segment - self.first) as usize) {
            self.in_flight += u32::from(old.state != State::InFlight);
            *old = sent;
        }
    }

    /// Processes an acknowledgement.
    pub fn on_acknowledgement(
        &mut self,
        now: Instant,
        ack: &Acknowledgement,
        min_rtt: Option<Duration>,
    ) -> Progress {
        let mut progress = Progress::default();
        let limit = ack.next.min(self.next());
        let mut oldest = None;
        while self.first < limit {
            let Some(sent) = self.segments.pop_front() else {
                break;
            };
            let segment = self.first;
            self.first += 1;
            progress.advanced += 1;
            if sent.state != State::Delivered {
                self.in_flight -= u32::from(sent.state == State::InFlight);
                self.deliver(now, segment, &sent, min_rtt, &mut progress, &mut oldest);
            }
        }
        if progress.advanced > 0 {
            self.selective.remove_below(self.first);
        }
        let top = self.next();
        let mut selective = std::mem::take(&mut self.selective);
        for &(from, to) in &ack.blocks {
            let (from, to) = (from.max(self.first), to.min(top));
            selective.insert(from, to, |from, to| {
                for segment in from..to {
                    let index = (segment - self.first) as usize;
                    let sent = self.segments[index];
                    self.segments[index].state = State::Delivered;
                    self.in_flight -= u32::from(sent.state == State::InFlight);
                    self.deliver(now, segment, &sent, min_rtt, &mut progress, &mut oldest);
                }
            });
        }
        self.selective = selective;
        progress.rtt = oldest.map(|at| now.saturating_since(at));
        progress
    }

    /// Records the delivery of one segment.
    fn deliver(
        &mut self,
        now: Instant,
        segment: u32,
        sent: &Sent,
        min_rtt: Option<Duration>,
        progress: &mut Progress,
        oldest: &mut Option<Instant>,
    ) {
        progress.delivered += 1;
        let rtt = now.saturating_since(sent.at);
        if sent.sent_again {
            // The acknowledgement may be for the first transmission (section 6.2 step 2).
            if min_rtt.is_some_and(|min| rtt < min) {
                return;
            }
        } else {
            *oldest = Some(oldest.map_or(sent.at, |at| at.min(sent.at)));
            if segment < self.rack.highest {
                self.rack.reordering = Reordering::Seen;
            }
        }
        self.rack.highest = self.rack.highest.max(segment + 1);
        if sent.transmission > self.rack.transmission {
            self.rack.transmission = sent.transmission;
            self.rack.rtt = rtt;
        }
        if progress
            .newest
            .is_none_or(|n| (sent.at, sent.rate.delivered) >= (n.sent_at, n.state.delivered))
        {
            progress.newest = Some(Newest {
                sent_at: sent.at,
                state: sent.rate,
            });
            progress.newest_rtt = (!sent.sent_again).then_some(rtt);
        }
    }

    /// Marks segments as lost that were sent before the newest delivered transmission by
    /// more than the reordering window.
    pub fn detect_losses(&mut self, now: Instant, window: Duration) -> Losses {
        let mut losses = Losses::default();
        while let Some(&Transmission {
            number,
            segment,
            at,
        }) = self.transmissions.front()
        {
            let current = self
                .get(segment)
                .is_some_and(|s| s.transmission == number && s.state == State::InFlight);
            if current {
                if number >= self.rack.transmission {
                    break;
                }
                let due = at + self.rack.rtt + window;
                if window > Duration::ZERO && due > now {
                    losses.due = Some(due);
                    break;
                }
                losses.newest = Some(self.mark_lost(segment));
                losses.count += 1;
            }
            self.transmissions.pop_front();
        }
        losses
    }

    /// Returns the delay after its successor up to which a segment may arrive before it
    /// counts as lost.
    pub fn reordering_window(
        &self,
        recovering: bool,
        min_rtt: Option<Duration>,
        smoothed: Option<Duration>,
    ) -> Duration {
        if self.rack.reordering == Reordering::NotSeen
            && (recovering || self.selectively_delivered() >= GAP)
        {
            return Duration::ZERO;
        }
        let window = min_rtt.unwrap_or_default() / 4;
        window.min(smoothed.unwrap_or(window))
    }

    fn selectively_delivered(&self) -> u32 {
        self.selective.total()
    }

    /// Marks everything outstanding as lost after a timeout, oldest first. Returns the
    /// number of newly lost segments.
    pub fn lose_all(&mut self) -> u32 {
        self.lost.clear();
        self.transmissions.clear();
        let mut count = 0;
        for (segment, sent) in (self.first..).zip(self.segments.iter_mut()) {
            if sent.state == State::Delivered {
                continue;
            }
            count += u32::from(sent.state == State::InFlight);
            sent.state = State::Lost;
            self.lost.push_back(segment);
        }
        self.in_flight = 0;
        count
    }

    fn mark_lost(&mut self, segment: u32) -> SentState {
        let sent = &mut self.segments[(segment - self.first) as usize];
        sent.state = State::Lost;
        self.in_flight -= 1;
        self.lost.push_back(segment);
        sent.rate
    }

    fn get(&self, segment: u32) -> Option<&Sent> {
        self.segments.get(segment.checked_sub(self.first)? as usize)
    }
}

#[cfg(test)]
mod tests;
