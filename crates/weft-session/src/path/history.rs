//! Packets sent on one path, and their fate.

use std::collections::VecDeque;

use weft_cc::{PacketResult, SentPacket};
use weft_units::{Bytes, Duration, Ecn, Instant, StreamId};

use crate::arrival::Arrival;

/// The media packet that a transmission carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carried {
    pub stream: StreamId,
    /// Extended sequence number of the media packet, also for its
    /// retransmissions.
    pub sequence: u64,
    pub content: Content,
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Content {
    /// A media packet under its own number.
    Media,
    /// A media packet as RTX.
    Again,
    /// A packet from which others can be recovered; `sequence` is its own.
    Repair,
}

/// A packet of which nothing was heard, nor of any later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    pub number: u64,
    pub sent_at: Instant,
    /// With the copies that left before it.
    pub size: Bytes,
    pub carried: Carried,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    /// The peer said that it has not come: provisional until a later packet of
    /// the path has.
    Missing,
    Lost,
    /// The path died under it, or it was sent again under the same number. If
    /// it has arrived after all, it stood in a queue meanwhile, or came by
    /// another path: that says nothing of the path as it is.
    Abandoned,
    Acknowledged,
}

#[derive(Debug)]
struct Record {
    sent: SentPacket,
    /// The ECN field that it left with.
    ecn: Ecn,
    carried: Carried,
    unmeasured_before: Bytes,
    fate: Fate,
}

/// Changes by one feedback message.
#[derive(Default, Debug)]
pub(crate) struct Outcome {
    /// For the controller, in send order.
    pub results: Vec<PacketResult>,
    /// Media packets whose transmission arrived.
    pub acknowledged: Vec<(u64, Carried)>,
    /// Media packets whose transmission is lost.
    pub lost: Vec<(u64, Carried)>,
    /// The ECN fields that packets left and arrived with.
    pub fields: Vec<(Ecn, Ecn)>,
    /// When the newest acknowledged packet was sent, and when it arrived in
    /// the peer's clock.
    pub newest: Option<(Instant, Instant)>,
    /// When the oldest of those left that no feedback had reached before, and when
    /// it arrived in the peer's clock.
    pub oldest_news: Option<(Instant, Instant)>,
}

/// Transmissions of one path by path number, oldest first.
#[derive(Debug)]
pub(crate) struct History {
    records: VecDeque<Record>,
    /// Path number of the first record.
    first: u64,
    highest_acknowledged: Option<u64>,
    /// Packets that were reported missing and are not settled yet; may name
    /// some that are by now.
    missing: Vec<u64>,
    /// Nothing was heard of packets from here on.
    unheard_from: u64,
    /// A packet is lost when one sent this many later has arrived. One on a
    /// path that keeps order; grows with every spurious loss, as RFC 8985
    /// section 6.2 adapts its window.
    reordering: u64,
    in_flight: Bytes,
    /// Bytes of [`History::outstanding`].
    ahead: Bytes,
    /// An empty one, for its lists' memory.
    spare: Outcome,
}

/// Records older than this are given up: feedback reports late arrivals for
/// up to 3 s (measured with Chromium 156).
const MEMORY: Duration = Duration::from_secs(3);
const MAX_REORDERING: u64 = 32;
/// Packets that a development build may walk at every look.
const FEW: usize = 256;

impl History {
    /// An empty history; its first packet gets this number.
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

    /// Takes back what [`History::on_feedback`] gave, for its memory.
    pub fn recycle(&mut self, outcome: Outcome) {
        self.spare = outcome;
        self.spare.results.clear();
        self.spare.acknowledged.clear();
        self.spare.lost.clear();
        self.spare.fields.clear();
        (self.spare.newest, self.spare.oldest_news) = (None, None);
    }

    /// The number of the next packet.
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

    /// How many packets are remembered: those of the last three seconds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// When the first packet left of which, and after which, nothing was heard.
    pub fn unheard_since(&self) -> Option<Instant> {
        let index = self.unheard_from.saturating_sub(self.first);
        self.records.get(index as usize).map(|r| r.sent.sent_at)
    }

    /// Packets that left after the newest one that has arrived, in that order.
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

    /// Bytes that left after the newest packet that has arrived, itself not
    /// included, with the copies between them.
    pub fn ahead(&self) -> Bytes {
        debug_assert!(self.len() > FEW || self.ahead == self.find_ahead());
        self.ahead
    }

    fn find_ahead(&self) -> Bytes {
        self.outstanding().map(|o| o.size).sum()
    }

    /// Whether a packet sent later on this path has arrived.
    pub fn overtaken(&self, number: u64) -> bool {
        self.highest_acknowledged
            .is_some_and(|h| h >= number + self.reordering)
    }

    /// Takes in one feedback message: path numbers in any order, each with its
    /// arrival in the peer's clock or none.
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
                // Spurious: the controller has counted it, the application has
                // sent it again; only the threshold learns.
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

    /// Settles a missing packet if it was sent before `end`.
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

    /// Forgets what is settled or too old to be heard of again.
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

    /// The packet with this number is sent again as it is: feedback on the
    /// number may be of either transmission (Karn's rule, RFC 6298 section 3).
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

    /// Gives up everything in flight (the path died): newest first.
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
