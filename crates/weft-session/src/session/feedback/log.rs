//! Record of arrived packets, for the feedback to the sender.

use std::collections::VecDeque;

use weft_units::{Duration, Ecn, Instant};
use weft_wire::sequence;

use crate::arrival::Arrival;

/// Contents of a report.
#[derive(Debug)]
pub(crate) struct Report {
    /// First number of the report.
    pub first: u64,
    /// Arrivals, ascending by number.
    pub arrivals: Vec<(u64, Instant)>,
    /// ECN field of each arrival; empty if all were Not-ECT.
    pub marks: Vec<Ecn>,
}

/// Arrivals of one numbering (one path's, or the transport-wide one) that must still be
/// reported or repeated.
#[derive(Default, Debug)]
pub(crate) struct ReceiveLog {
    /// Ascending by number.
    arrivals: VecDeque<(u64, Arrival)>,
    highest: Option<u64>,
    last_arrival: Instant,
    /// Arrivals since the last report.
    fresh: usize,
    /// Number from which the next report repeats arrivals, so that one lost report loses
    /// no information.
    repeat_from: u64,
    reported_to: u64,
    /// Packets of which a copy has arrived on another path, but the packet itself not on
    /// this one; with the copy's time, oldest first.
    awaited: VecDeque<(u16, Instant)>,
}

/// Most arrivals kept; older ones are forgotten without a report: a second at 4,000
/// packets/s.
const MAX_ARRIVALS: usize = 4096;
/// Time after which a packet whose copy has arrived counts as lost: the sender has
/// forgotten it by then, too.
const PATIENCE: Duration = Duration::from_secs(3);
/// Distance behind the newest packet from which an arrival is not reported, because the
/// sender sent it again long ago.
const MAX_LATENESS: u64 = 1000;

impl ReceiveLog {
    /// Records an arrival. Of several copies, the first arrival counts, and a mark on any
    /// of them (RFC 8888 section 3.1).
    pub fn on_packet(&mut self, number: u16, arrival: Arrival) {
        self.last_arrival = arrival.at;
        let number = sequence::extend(self.highest, number);
        let in_order = self.highest < Some(number);
        self.highest = self.highest.max(Some(number));
        let place = if in_order {
            Err(self.arrivals.len())
        } else {
            self.place(number)
        };
        match place {
            Ok(place) => {
                if arrival.ecn == Ecn::Ce {
                    self.arrivals[place].1.ecn = Ecn::Ce;
                }
            }
            Err(place) => {
                self.arrivals.insert(place, (number, arrival));
                self.fresh += 1;
            }
        }
        // After a late arrival, the next report starts with its number.
        let news = self
            .highest
            .is_none_or(|highest| number + MAX_LATENESS > highest);
        if self.repeat_from == 0 || (news && number < self.repeat_from) {
            self.repeat_from = number;
        }
        while self.arrivals.len() > MAX_ARRIVALS {
            self.arrivals.pop_front();
        }
    }

    /// Records that a copy of this packet arrived first on another path.
    pub fn on_copy(&mut self, number: u16, at: Instant) {
        self.give_up(at);
        if self.awaited.len() == MAX_ARRIVALS {
            self.awaited.pop_front();
        }
        self.awaited.push_back((number, at));
    }

    /// Records that a packet whose copy arrived before has arrived on this path. Returns
    /// false and records nothing if it is not awaited: it is a duplicate or a replay.
    pub fn on_awaited(&mut self, number: u16, arrival: Arrival) -> bool {
        self.give_up(arrival.at);
        let place = self.awaited.iter().position(|(n, _)| *n == number);
        let is_awaited = place.and_then(|place| self.awaited.remove(place)).is_some();
        if is_awaited {
            self.on_packet(number, arrival);
        }
        is_awaited
    }

    fn give_up(&mut self, now: Instant) {
        let over = |(_, at): &(u16, Instant)| now.saturating_since(*at) > PATIENCE;
        while self.awaited.front().is_some_and(over) {
            self.awaited.pop_front();
        }
    }

    /// Returns the arrival of the last packet on its own path.
    pub fn last_arrival(&self) -> Instant {
        self.last_arrival
    }

    pub fn has_fresh(&self) -> bool {
        self.fresh > 0
    }

    /// Returns the contents of the next report.
    pub fn take_report(&mut self) -> Report {
        self.fresh = 0;
        let from = self.repeat_from;
        let begin = self.place(from).unwrap_or_else(|place| place);
        let reported = self.arrivals.range(begin..);
        let arrivals = reported.clone().map(|(n, a)| (*n, a.at)).collect();
        let marks = match reported.clone().all(|(_, a)| a.ecn == Ecn::NotEct) {
            true => Vec::new(),
            false => reported.map(|(_, a)| a.ecn).collect(),
        };
        self.repeat_from = self.reported_to.max(from);
        self.reported_to = self.highest.map_or(0, |h| h + 1);
        let forgotten = self.place(self.repeat_from).unwrap_or_else(|place| place);
        self.arrivals.drain(..forgotten);
        Report {
            first: from,
            arrivals,
            marks,
        }
    }

    /// Returns the index of this number's arrival, or where to insert it.
    fn place(&self, number: u64) -> Result<usize, usize> {
        self.arrivals.binary_search_by_key(&number, |(n, _)| *n)
    }
}

#[cfg(test)]
mod tests;
