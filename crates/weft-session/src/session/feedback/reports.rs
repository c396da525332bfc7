//! Sender and receiver reports (RFC 3550 section 6).

use weft_units::{Duration, Instant, Rate, Ssrc};
use weft_wire::rtcp::{Packet, ReceiverReport, Remb, ReportBlock, SenderReport, SourceDescription};

use super::super::Session;
use super::super::queries::ntp_span;
use super::super::receive_stream::ReceiveStream;
use super::state::REPORT_INTERVAL;

impl Session {
    pub(in crate::session) fn send_due_reports(&mut self, now: Instant) {
        if now < self.feedback.next_report {
            return;
        }
        // Up to a tenth more or less, so that many sessions do not synchronize.
        let spread = 0.9 + 0.2 * self.rng.unit();
        self.feedback.next_report = now + REPORT_INTERVAL.mul_f64(spread);
        let mut blocks = self.report_blocks(now);
        let ntp = self.ntp(now);
        let cname = self.config.cname.clone();
        let tells_rate = self.level == crate::config::Level::Full;
        let mut compounds = Vec::new();
        for stream in self.streams.senders.values() {
            let Some((timestamp, at)) = stream.newest else {
                continue;
            };
            let elapsed = now.saturating_since(at).as_secs_f64();
            let ticks = (elapsed * f64::from(stream.config.codec.clock_rate())) as u32;
            let ssrc = stream.config.ssrc;
            let report = Packet::SenderReport(SenderReport {
                ssrc,
                ntp,
                rtp_timestamp: timestamp.wrapping_add(ticks),
                packet_count: stream.counters.packets,
                octet_count: stream.counters.octets,
                reports: std::mem::take(&mut blocks),
            });
            let frame_rate = stream.frame_rate().filter(|_| tells_rate);
            compounds.push([report, source_description(ssrc, &cname, frame_rate)]);
        }
        if compounds.is_empty() && !blocks.is_empty() {
            let ssrc = self.config.feedback_ssrc;
            let report = Packet::ReceiverReport(ReceiverReport {
                ssrc,
                reports: blocks,
            });
            compounds.push([report, source_description(ssrc, &cname, None)]);
        }
        for compound in compounds {
            self.send_rtcp(&compound);
        }
        self.tell_limit();
    }

    /// Tells the peer its highest total rate over all streams (REMB), now and again with
    /// each report. Small changes wait for the next report.
    pub fn set_peer_limit(&mut self, rate: Rate) {
        /// Smallest change that is sent at once, as one part in this many. Chosen by us:
        /// libwebrtc's estimators round to it.
        const NEWS: u64 = 20;
        let told = self.feedback.told_limit.unwrap_or(Rate::ZERO);
        if rate.as_bps().abs_diff(told.as_bps()) * NEWS > told.as_bps() {
            self.feedback.told_limit = Some(rate);
            self.tell_limit();
            self.refresh_paths_due();
        }
    }

    fn tell_limit(&mut self) {
        if let Some(rate) = self.feedback.told_limit {
            let receivers = self.streams.receivers.values();
            let remb = Remb {
                sender: self.rtcp_ssrc(),
                rate,
                ssrcs: receivers.filter_map(ReceiveStream::ssrc).collect(),
            };
            self.send_rtcp(&[Packet::Remb(remb)]);
        }
    }

    /// Sends BYE for all sending streams (RFC 3550 section 6.6).
    pub fn close(&mut self) {
        let ssrcs: Vec<Ssrc> = self
            .streams
            .senders
            .values()
            .map(|s| s.config.ssrc)
            .collect();
        if !ssrcs.is_empty() {
            self.send_rtcp(&[Packet::Goodbye(ssrcs)]);
        }
    }

    fn report_blocks(&mut self, now: Instant) -> Vec<ReportBlock> {
        /// Maximum of the five-bit count (RFC 3550 section 6.4.1).
        const MAX_BLOCKS: usize = 31;
        let mut blocks = Vec::new();
        for stream in self.streams.receivers.values_mut().take(MAX_BLOCKS) {
            let Some(ssrc) = stream.ssrc() else { continue };
            let Some(figures) = stream.receiver.take_report() else {
                continue;
            };
            let (last, delay) = match stream.last_sender_report {
                Some((ntp, at)) => (ntp, (ntp_span(now.saturating_since(at)) >> 16) as u32),
                None => (0, 0),
            };
            blocks.push(ReportBlock {
                ssrc,
                fraction_lost: figures.fraction_lost,
                cumulative_lost: figures.cumulative_lost,
                highest_sequence: figures.highest_sequence,
                jitter: figures.jitter,
                last_sender_report: last,
                delay_since_last: delay,
            });
        }
        blocks
    }

    pub(in crate::session) fn on_sender_report(&mut self, now: Instant, report: &SenderReport) {
        let receivers = &mut self.streams.receivers;
        let stream = receivers.find_mut(|s| s.ssrc() == Some(report.ssrc));
        if let Some(stream) = stream {
            stream.last_sender_report = Some(((report.ntp >> 16) as u32, now));
        }
    }

    /// Takes the round trip and loss from the peer's report blocks, which is only needed
    /// without per-packet feedback.
    pub(in crate::session) fn on_report_blocks(&mut self, now: Instant, blocks: &[ReportBlock]) {
        if self.level != crate::config::Level::Single {
            return;
        }
        let now_middle = (self.ntp(now) >> 16) as u32;
        let mut newest = None;
        for block in blocks.iter().filter(|b| b.last_sender_report != 0) {
            let rtt = now_middle
                .wrapping_sub(block.last_sender_report)
                .wrapping_sub(block.delay_since_last);
            let rtt = Duration::from_secs_f64(f64::from(rtt) / 65_536.0);
            if rtt < Duration::from_secs(10) {
                newest = Some(rtt);
                for path in self.paths.values_mut() {
                    path.rtt.on_sample(rtt);
                }
            }
        }
        let (mut expected, mut lost) = (0_u32, 0_u32);
        for block in blocks {
            let stream = self.streams.senders.values_mut();
            let mut stream = stream.filter(|s| s.config.ssrc == block.ssrc);
            if let Some((more, missing)) = stream.next().and_then(|s| s.on_report(block)) {
                expected = expected.saturating_add(more);
                lost = lost.saturating_add(missing);
            }
        }
        // One path carries everything: the one that sent most recently.
        let used = self.paths.values_mut().max_by_key(|p| p.sending.last_sent);
        if let Some(path) = used.filter(|_| expected > 0) {
            path.controller.on_report(now, expected, lost, newest);
        }
    }
}

fn source_description(ssrc: Ssrc, cname: &str, frame_rate: Option<u32>) -> Packet {
    Packet::SourceDescription(vec![SourceDescription {
        ssrc,
        cname: cname.to_owned(),
        frame_rate,
    }])
}
