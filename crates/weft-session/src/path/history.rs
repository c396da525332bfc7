//! Packets sent on one path, and whether they arrived.

use std::collections::VecDeque;

use weft_cc::{PacketResult, SentPacket};
use weft_units::{Bytes, Duration, Ecn, Instant, StreamId};

use crate::arrival::Arrival;

/// Media packet that a transmission carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carried {
    pub stream: StreamId,
    /// Extended sequence number of the media packet, including for its retransmissions.
    pub sequence: u64,
    pub content: Content,
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Content {
    /// Media packet under its own number.
    Media,
    /// Media packet as RTX.
    Again,
    /// Repair packet, from which others can be recovered; `sequence` is its own number.
    Repair,
}

/// Packet without feedback, neither on itself nor on any later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    pub number: u64,
    pub sent_at: Instant,
    /// Size including the copies that left before it.
    pub size: Bytes,
    pub carried: Carried,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    /// Reported missing by the peer: provisional until a later packet of the path has
    /// arrived.
    Missing,
    Lost,
    /// The path died while it was in flight, or it was sent again under the same number.
    /// If it arrives after all, it waited in a queue or took another path, so it says
    /// nothing about the path now.
    Abandoned,
    Acknowledged,
}

#[derive(Debug)]
struct Record {
    sent: SentPacket,
    /// ECN field with which it left.
    ecn: Ecn,
    carried: Carried,
    unmeasured_before: Bytes,
    fate: Fate,
}

/// Changes by one feedback message.
#[derive(Default, Debug)]
pub(crate) struct Outcome {
    /// Results for the controller, in sending order.
    pub results: Vec<PacketResult>,
    /// Media packets for which a transmission arrived.
    pub acknowledged: Vec<(u64, Carried)>,
    /// Media packets for which a transmission is lost.
    pub lost: Vec<(u64, Carried)>,
    /// ECN fields of packets, at departure and at arrival.
    pub fields: Vec<(Ecn, Ecn)>,
    /// Departure of the newest acknowledged packet, and its arrival in the peer's clock.
    pub newest: Option<(Instant, Instant)>,
    /// Departure of the oldest packet that feedback names for the first time, and its
    /// arrival in the peer's clock.
    pub oldest_news: Option<(Instant, Instant)>,
}

/// Transmissions on one path by path number, oldest first.
#[derive(Debug)]
pub(crate) struct History {
    records: VecDeque<Record>,
    /// Path number of the first record.
    first: u64,
    highest_acknowledged: Option<u64>,
    /// Packets that were reported missing and are not settled; it may still name some
    /// that are settled by now.
    missing: Vec<u64>,
    /// Path number from which on no feedback has arrived.
    unheard_from: u64,
    /// Number of later packets that must arrive before a packet counts as lost. One on a
    /// path that keeps order; grows with every spurious loss, as RFC 8985 section 6.2
    /// adapts its window.
    reordering: u64,
    in_flight: Bytes,
    /// Sum of the bytes of [`History::outstanding`].
    ahead: Bytes,
    /// Empty outcome whose lists are reused.
    spare: Outcome,
}

/// Age after which records are dropped: feedback reports late arrivals for up to 3 s
/// (measured with Chromium 156).
const MEMORY: Duration = Duration::from_secs(3);
const MAX_REORDERING: u64 = 32;
/// Most packets that a debug build checks on every query.
const FEW: usize = 256;

impl History {
    /// Creates an empty history in which the first packet gets this number.
    pub fn beginning_at(first: u64) -> History {
        History {
            records: VecDeque::new(),
            first,
            highest_acknowledged: None,
            missing: Vec::new(),
            unheard_from: 0,
            reordering: 1,
            in_flight: Bytes::ZERO,
            ahead: Bytes::ZERO,
            spare: Outcome::default(),
        }
    }

    /// Takes back the result of [`History::on_feedback`] to reuse its memory.
    pub fn recycle(&mut self, outcome: Outcome) {
        self.spare = outcome;
        self.spare.results.clear();
        self.spare.acknowledged.clear();
        self.spare.lost.clear();
        self.spare.fields.clear();
        (self.spare.newest, self.spare.oldest_news) = (None, None);
    }

    /// Returns the number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    pub fn push(&mut self, sent: SentPacket, ecn: Ecn, carried: Carried, unmeasured_before: Bytes) {
        debug_assert_eq!(sent.number, self.next_number());
        self.in_flight += sent.size;
        self.ahead += sent.size + unmeasured_before;
        self.records.push_back(Record {
            sent,
            ecn,
            carried,
            unmeasured_before,
            fate: Fate::InFlight,
        });
    }

    /// Returns the number of remembered packets: those of the last three seconds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// Returns the departure of the first packet for which neither it nor any later
    /// packet has had feedback.
    pub fn unheard_since(&self) -> Option<Instant> {
        let index = self.unheard_from.saturating_sub(self.first);
        self.records.get(index as usize).map(|r| r.sent.sent_at)
    }

    /// Returns the packets sent after the newest one that has arrived, in sending order.
    pub fn outstanding(&self) -> impl DoubleEndedIterator<Item = Outstanding> {
        let from = self.highest_acknowledged.map_or(0, |highest| highest + 1);
        let from = from.saturating_sub(self.first) as usize;
        let records = self.records.range(from.min(self.records.len())..);
        let waits = |r: &&Record| matches!(r.fate, Fate::InFlight | Fate::Missing);
        records.filter(waits).map(|r| Outstanding {
            number: r.sent.number,
            sent_at: r.sent.sent_at,
            size: r.sent.size + r.unmeasured_before,
            carried: r.carried,
        })
    }

    /// Returns the bytes sent after the newest packet that has arrived, including copies
    /// sent meanwhile.
    pub fn ahead(&self) -> Bytes {
        debug_assert!(self.len() > FEW || self.ahead == self.find_ahead());
        self.ahead
    }

    fn find_ahead(&self) -> Bytes {
        self.outstanding().map(|o| o.size).sum()
    }

    /// Returns whether enough later packets of this path have arrived.
    pub fn overtaken(&self, number: u64) -> bool {
        self.highest_acknowledged
            .is_some_and(|h| h >= number + self.reordering)
    }

    /// Takes in one feedback message: path numbers in any order, each with its arrival in
    /// the peer's clock or none.
    pub fn on_feedback(
        &mut self,
        reports: impl IntoIterator<Item = (u64, Option<Arrival>)>,
    ) -> Outcome {
        let mut out = std::mem::take(&mut self.spare);
        for (number, arrival) in reports {
            self.on_report(number, arrival, &mut out);
        }
        self.find_losses(&mut out);
        self.unheard_from = self
            .highest_acknowledged
            .map_or(0, |h| h + 1)
            .max(self.unheard_from);
        out.results.sort_unstable_by_key(|r| r.sent.number);
        self.ahead = self.find_ahead();
        out
    }

    fn on_report(&mut self, number: u64, arrival: Option<Arrival>, out: &mut Outcome) {
        let Some(index) = number.checked_sub(self.first) else {
            return;
        };
        let Some(record) = self.records.get_mut(index as usize) else {
            return;
        };
        let Some(arrival) = arrival else {
            if record.fate == Fate::InFlight {
                record.fate = Fate::Missing;
                self.missing.push(number);
            }
            return;
        };
        let ecn = match record.ecn.is_capable() {
            true => arrival.ecn,
            false => Ecn::NotEct,
        };
        match record.fate {
            Fate::Acknowledged => return,
            Fate::Abandoned => {
                record.fate = Fate::Acknowledged;
                out.acknowledged.push((number, record.carried));
                return;
            }
            Fate::Lost => {
                // Spurious loss: the controller has counted it and the application has
                // sent the packet again, so only the threshold adapts.
                self.reordering = (self.reordering * 2).min(MAX_REORDERING);
            }
            Fate::InFlight | Fate::Missing => {
                self.in_flight -= record.sent.size;
                if record.ecn.is_capable() {
                    out.fields.push((record.ecn, ecn));
                }
                out.results.push(PacketResult {
                    sent: record.sent,
                    arrival: Some(arrival.at),
                    ecn,
                    unmeasured_before: record.unmeasured_before,
                });
            }
        }
        record.fate = Fate::Acknowledged;
        out.acknowledged.push((number, record.carried));
        if number >= self.unheard_from {
            let sent_at = record.sent.sent_at;
            if out.oldest_news.is_none_or(|(at, _)| sent_at < at) {
                out.oldest_news = Some((sent_at, arrival.at));
            }
        }
        if out
            .newest
            .is_none_or(|(sent_at, _)| sent_at < record.sent.sent_at)
        {
            out.newest = Some((record.sent.sent_at, arrival.at));
        }
        self.highest_acknowledged = self.highest_acknowledged.max(Some(number));
    }

    fn find_losses(&mut self, out: &mut Outcome) {
        let Some(highest) = self.highest_acknowledged else {
            return;
        };
        let end = (highest + 1).saturating_sub(self.reordering);
        let mut missing = std::mem::take(&mut self.missing);
        missing.sort_unstable();
        missing.retain(|&number| self.is_still_missing(number, end, out));
        self.missing = missing;
    }

    /// Settles a missing packet if it was sent before `end`. Returns whether it is still
    /// missing.
    fn is_still_missing(&mut self, number: u64, end: u64, out: &mut Outcome) -> bool {
        let index = number.checked_sub(self.first);
        let record = index.and_then(|i| self.records.get_mut(i as usize));
        let Some(record) = record.filter(|r| r.fate == Fate::Missing) else {
            return false;
        };
        if number >= end {
            return true;
        }
        record.fate = Fate::Lost;
        self.in_flight -= record.sent.size;
        out.lost.push((number, record.carried));
        out.results.push(PacketResult {
            sent: record.sent,
            arrival: None,
            ecn: Ecn::NotEct,
            unmeasured_before: record.unmeasured_before,
        });
        false
    }

    /// Drops records that are too old for feedback.
    pub fn prune(&mut self, now: Instant) {
        let mut was_outstanding = false;
        while let Some(record) = self.records.front() {
            let old = now.saturating_since(record.sent.sent_at) > MEMORY;
            if !old {
                break;
            }
            if matches!(record.fate, Fate::InFlight | Fate::Missing) {
                self.in_flight -= record.sent.size;
                was_outstanding = true;
            }
            self.records.pop_front();
            self.first += 1;
        }
        if was_outstanding {
            self.ahead = self.find_ahead();
        }
    }

    /// Records that the packet with this number is sent again unchanged: feedback on the
    /// number may be for either transmission (Karn's rule, RFC 6298 section 3).
    pub fn on_repeated(&mut self, number: u64) {
        let index = number.checked_sub(self.first);
        let record = index.and_then(|i| self.records.get_mut(i as usize));
        let Some(record) = record else { return };
        match record.fate {
            Fate::InFlight | Fate::Missing => self.in_flight -= record.sent.size,
            Fate::Lost => {}
            Fate::Abandoned | Fate::Acknowledged => return,
        }
        record.fate = Fate::Abandoned;
        self.ahead = self.find_ahead();
    }

    /// Gives up everything in flight because the path died, and returns it newest first.
    pub fn abandon(&mut self) -> Vec<(u64, Carried)> {
        let mut lost = Vec::new();
        self.unheard_from = self.next_number();
        for record in self.records.iter_mut().rev() {
            if matches!(record.fate, Fate::InFlight | Fate::Missing) {
                record.fate = Fate::Abandoned;
                self.in_flight -= record.sent.size;
                lost.push((record.sent.number, record.carried));
            }
        }
        self.ahead = self.find_ahead();
        lost
    }
}

#[cfg(test)]
mod tests;
