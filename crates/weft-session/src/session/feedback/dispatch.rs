//! Dispatch of incoming RTCP.

use weft_units::Instant;
use weft_wire::ParseError;
use weft_wire::rtcp::{self, Packet};

use super::super::Session;
use crate::ablation::Ablation;

impl Session {
    pub(in crate::session) fn on_rtcp(&mut self, now: Instant, data: &[u8]) {
        self.rate.moved = true;
        let (sent, remembered) = (self.paths.sent_packets(), self.paths.remembered());
        let most = match self.has(Ablation::Budgets) {
            true => self.feedback.budget.entries(now, sent, remembered),
            false => Some(usize::MAX),
        };
        let Some(most) = most else {
            self.drops.over_budget += 1;
            return;
        };
        let mut left = most;
        let parsed = rtcp::parse_compound(data, &mut left);
        let messages = parsed.as_ref().map_or(1, Vec::len);
        self.feedback.budget.spend(messages, most - left);
        let packets = match parsed {
            Ok(packets) => packets,
            Err(ParseError::TooLarge { .. }) => {
                self.drops.over_budget += 1;
                return;
            }
            Err(_) => {
                self.drops.malformed += 1;
                return;
            }
        };
        for packet in packets {
            match packet {
                Packet::SenderReport(report) => {
                    self.on_sender_report(now, &report);
                    self.on_report_blocks(now, &report.reports);
                }
                Packet::ReceiverReport(report) => self.on_report_blocks(now, &report.reports),
                Packet::Nack(nack) => self.on_nack(now, nack.media, &nack.lost),
                Packet::PictureLoss { media, .. } | Packet::FullIntraRequest { media, .. } => {
                    self.on_keyframe_request(now, media);
                }
                Packet::TransportFeedback(feedback) => {
                    self.on_transport_feedback(now, feedback.base_sequence, &feedback.arrivals);
                }
                Packet::PathFeedback(feedback) => self.on_path_feedback(now, &feedback),
                Packet::CongestionFeedback(feedback) => self.on_stream_feedback(now, &feedback),
                Packet::QualityFeedback(feedback) => self.on_quality_feedback(now, &feedback),
                Packet::SourceDescription(list) => self.on_source_descriptions(&list),
                Packet::Remb(remb) => self.feedback.remote_limit = Some(remb.rate),
                Packet::Goodbye(ssrcs) => self.on_goodbye(&ssrcs),
                _ => {}
            }
        }
    }
}
