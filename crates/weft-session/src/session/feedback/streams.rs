//! Feedback by each stream's own sequence numbers (RFC 8888), in both directions.

use std::collections::BTreeMap;

use weft_units::{Duration, Ecn, Instant, PathId};
use weft_wire::rtcp::{Allowance, CongestionFeedback, Packet, PacketArrival, StreamArrivals};
use weft_wire::rtp::Header;

use super::super::Session;
use super::log::Report;
use super::numbers::Found;
use crate::arrival::Arrival;
use crate::config::{FeedbackFormat, Level};

/// Most streams with a log, including repair streams; chosen by us. A peer can make up
/// any number of them.
const MOST_STREAMS: usize = 64;
/// Widest gap whose missing packets are reported. A wider one is a jump of the numbers,
/// or too old for retransmission. Chosen by us.
const WIDEST_GAP: u64 = 1000;
/// Largest content of one interval's reports: a missing packet takes two bytes. Chosen by
/// us: two of the widest gaps, one run for each stream and as many for gaps.
const MOST_REPORTED: Allowance = Allowance {
    missing: 2 * WIDEST_GAP as usize,
    blocks: 2 * MOST_STREAMS,
};

impl Session {
    fn names_by_stream(&self) -> bool {
        self.level == Level::SenderSide && self.config.feedback_format == FeedbackFormat::Stream
    }

    /// Records the arrival of a packet of a negotiated stream.
    pub(in crate::session) fn log_of_stream(&mut self, header: &Header, arrival: Arrival) {
        let is_known = self.feedback.stream_logs.contains_key(&header.ssrc);
        if self.names_by_stream() && (is_known || self.feedback.stream_logs.len() < MOST_STREAMS) {
            let log = self.feedback.stream_logs.entry(header.ssrc).or_default();
            log.on_packet(header.sequence, arrival);
        }
    }

    /// Returns the due reports as messages of at most `max_len` bytes.
    pub(in crate::session) fn stream_feedback(
        &mut self,
        now: Instant,
        max_len: usize,
        packets: &mut Vec<Packet>,
    ) {
        let (mut streams, mut left) = (Vec::new(), self.allowance(MOST_REPORTED));
        let fresh = self
            .feedback
            .stream_logs
            .iter_mut()
            .filter(|(_, l)| l.has_fresh());
        for (ssrc, log) in fresh {
            let blocks = blocks(now, &log.take_report(), &mut left).into_iter();
            streams.extend(blocks.map(|(begin_sequence, packets)| StreamArrivals {
                ssrc: *ssrc,
                begin_sequence,
                packets,
            }));
        }
        let (sender, report_timestamp) = (self.rtcp_ssrc(), self.middle_ntp(now));
        let messages = CongestionFeedback::pack(sender, report_timestamp, streams, max_len);
        packets.extend(messages.into_iter().map(Packet::CongestionFeedback));
    }

    /// Returns the middle 32 bits of the NTP time, in 1/65,536 s.
    fn middle_ntp(&self, at: Instant) -> u32 {
        (self.ntp(at) >> 16) as u32
    }

    pub(in crate::session) fn on_stream_feedback(
        &mut self,
        now: Instant,
        feedback: &CongestionFeedback,
    ) {
        if !self.names_by_stream() {
            // Its clock differs from that of the negotiated feedback.
            self.drops.stale_feedback += 1;
            return;
        }
        let reported_at = self.report_time(feedback.report_timestamp);
        let mut reports: BTreeMap<PathId, Vec<(u64, Option<Arrival>)>> = BTreeMap::new();
        for stream in &feedback.streams {
            for (offset, arrival) in stream.packets.iter().enumerate() {
                let sequence = stream.begin_sequence.wrapping_add(offset as u16);
                match self.feedback.numbers.streams.find(stream.ssrc, sequence) {
                    Found::Sent(path, number) => {
                        let arrival = arrival.map(|a| arrived(reported_at, a));
                        reports.entry(path).or_default().push((number, arrival));
                    }
                    Found::Unknown => self.drops.stale_feedback += u64::from(arrival.is_some()),
                    Found::Unaccounted => {}
                }
            }
        }
        for (path, reports) in reports {
            self.on_path_reports(now, path, reports.into_iter());
        }
    }

    /// Returns the time of a report in the peer's clock, whose timestamp wraps after
    /// eighteen hours.
    fn report_time(&mut self, timestamp: u32) -> Instant {
        // The first one starts in the second cycle, because an older one may follow.
        let previous = self
            .feedback
            .report_clock
            .unwrap_or(1 << 32 | u64::from(timestamp));
        let ahead = timestamp.wrapping_sub(previous as u32).cast_signed();
        let clock = previous.saturating_add_signed(i64::from(ahead));
        self.feedback.report_clock = Some(clock.max(previous));
        let nanos = (u128::from(clock) * 1_000_000_000) >> 16;
        Instant::from_nanos(nanos as u64)
    }
}

/// Returns the arrival of a received packet. Without a time, it arrived just before the
/// report; if the time was too long ago to be expressed, the packet is already forgotten
/// here.
fn arrived(reported_at: Instant, arrival: PacketArrival) -> Arrival {
    let before = arrival.before_report().unwrap_or(Duration::ZERO);
    let nanos = reported_at.as_nanos().saturating_sub(before.as_nanos());
    Arrival {
        at: Instant::from_nanos(nanos),
        ecn: Ecn::from_bits(arrival.ecn),
    }
}

/// Splits a report into runs of numbers, each with the state of its packets, within the
/// allowance.
fn blocks(
    now: Instant,
    report: &Report,
    left: &mut Allowance,
) -> Vec<(u16, Vec<Option<PacketArrival>>)> {
    let mut marks = report.marks.iter().copied();
    let mut runs: Vec<(u64, Vec<Option<PacketArrival>>)> = Vec::new();
    for (number, at) in &report.arrivals {
        let before = now.saturating_since(*at);
        let ecn = marks.next().unwrap_or_default();
        let arrival = PacketArrival::new(ecn.bits(), Some(before));
        let next = runs.last().map_or(report.first, |(first, packets)| {
            first + packets.len() as u64
        });
        let missing = number.checked_sub(next).filter(|gap| *gap <= WIDEST_GAP);
        let missing = missing.map(|gap| gap as usize);
        let missing = missing.filter(|gap| *gap <= left.missing);
        left.missing -= missing.unwrap_or(0);
        if missing.is_none() || runs.is_empty() {
            let Some(blocks_left) = left.blocks.checked_sub(1) else {
                break;
            };
            left.blocks = blocks_left;
            let missing = missing.unwrap_or(0);
            runs.push((number - missing as u64, vec![None; missing]));
        } else if let (Some(missing), Some((_, packets))) = (missing, runs.last_mut()) {
            packets.extend((0..missing).map(|_| None));
        }
        if let Some((_, packets)) = runs.last_mut() {
            packets.push(Some(arrival));
        }
    }
    let wrapped = runs
        .into_iter()
        .map(|(first, packets)| (first as u16, packets));
    wrapped.collect()
}

#[cfg(test)]
mod tests;
