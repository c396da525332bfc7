//! RTCP of a capture: round-trip times and losses from unencrypted reports.

use std::collections::{BTreeMap, VecDeque};

use weft_trace::pcapng::Direction;
use weft_wire::rtcp::{self, Packet, ReportBlock};

use crate::recording::streams::MAX_STREAMS;

/// Maximum number of sender reports that wait for their answer. Chosen by us.
const MAX_WAITING: usize = 1_024;
/// Maximum number of stored round-trip times. Chosen by us: ten reports a second for a
/// day.
const MAX_ROUND_TRIPS: usize = 1_000_000;
/// Maximum number of sources with a stored loss.
const MAX_SOURCES: usize = MAX_STREAMS;
/// Unit of the delay in a report block, seconds (RFC 3550 section 6.4.1).
const DELAY_UNIT_S: f64 = 1.0 / 65_536.0;

/// Reports of both ends.
#[derive(Default)]
pub struct Reports {
    plain: u64,
    unreadable: u64,
    /// Sender reports that this end sent: the middle of their NTP time, and the sending
    /// time.
    waiting: VecDeque<(u32, f64)>,
    /// Time in seconds and round-trip time in milliseconds.
    round_trips: Vec<(f64, f64)>,
    /// Packets lost and expected for each source of this end, from the last report.
    lost: BTreeMap<u32, (f64, f64)>,
    /// Lost packets and sequence number of the first report, by source.
    first: BTreeMap<u32, (i32, u32)>,
}

impl Reports {
    /// Reads a datagram.
    pub fn add(&mut self, direction: Direction, at: f64, content: &[u8]) {
        let Ok(packets) = rtcp::parse_compound(content, &mut { rtcp::MAX_ENTRIES }) else {
            self.unreadable += 1;
            return;
        };
        self.plain += 1;
        for packet in packets {
            match (direction, packet) {
                (Direction::Outbound, Packet::SenderReport(report)) => {
                    if self.waiting.len() == MAX_WAITING {
                        self.waiting.pop_front();
                    }
                    self.waiting.push_back(((report.ntp >> 16) as u32, at));
                }
                (Direction::Inbound, Packet::SenderReport(report)) => {
                    report
                        .reports
                        .iter()
                        .for_each(|block| self.block(at, block));
                }
                (Direction::Inbound, Packet::ReceiverReport(report)) => {
                    report
                        .reports
                        .iter()
                        .for_each(|block| self.block(at, block));
                }
                _ => {}
            }
        }
    }

    /// Reads the other end's report on a stream that this end sends.
    fn block(&mut self, at: f64, block: &ReportBlock) {
        let sent = self.waiting.iter().rev();
        let sent = sent
            .filter(|(ntp, _)| block.last_sender_report != 0 && *ntp == block.last_sender_report);
        if let Some((_, left)) = sent.copied().next() {
            let trip = at - left - f64::from(block.delay_since_last) * DELAY_UNIT_S;
            // A negative value is an error due to the delay's unit.
            if self.round_trips.len() < MAX_ROUND_TRIPS {
                self.round_trips.push((at, trip.max(0.0) * 1e3));
            }
        }
        if self.lost.len() == MAX_SOURCES && !self.lost.contains_key(&block.ssrc.0) {
            return;
        }
        let now = (block.cumulative_lost, block.highest_sequence);
        let (lost, highest) = *self.first.entry(block.ssrc.0).or_insert(now);
        let expected = f64::from(block.highest_sequence.wrapping_sub(highest));
        let lost = f64::from(block.cumulative_lost.saturating_sub(lost).max(0));
        self.lost.insert(block.ssrc.0, (lost, expected));
    }

    /// Returns time and length of each round trip, in order.
    pub fn round_trips(&self) -> &[(f64, f64)] {
        &self.round_trips
    }

    /// Returns the loss of the streams that this end sent, from the last report of each.
    pub fn loss(&self) -> Option<f64> {
        let sums = self.lost.values();
        let (lost, expected) = sums.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (expected > 0.0).then(|| (lost / expected).min(1.0))
    }

    /// Returns a note if the reports cannot be read.
    pub fn note(&self) -> Option<String> {
        let text = "RTCP is encrypted, or was not captured whole, so there are no round-trip times and \
                    no reports of the other end; a capture of `weft join --pcap` has it without \
                    encryption";
        (self.unreadable > self.plain).then(|| text.to_owned())
    }
}
