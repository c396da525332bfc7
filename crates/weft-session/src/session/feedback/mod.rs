//! Feedback, with both ends of each kind of report side by side: what we tell
//! the peer of its packets, and what it tells us of ours.

mod log;
mod numbers;
mod paths;
mod quality;
mod reports;
mod requests;
mod streams;
mod transport;

use std::collections::BTreeMap;

use weft_units::{Duration, Ecn, Instant, PathId, Rate, Ssrc, StreamId};
use weft_wire::rtcp::{self, Packet};
use weft_wire::rtp::Header;

use super::Session;
use super::receiving::Origin;
use crate::config::Level;
use crate::event::{Output, Protocol, Transmit};
use crate::few::Few;
use crate::path::PathState;

pub(crate) use log::{Arrival, ReceiveLog};
pub(super) use numbers::Numbers;

/// Time between feedback messages while packets come. Often enough that a
/// loss is known within a frame time, seldom enough that it costs little: 40
/// reports a second of about 60 bytes are 20 kbps. Chosen by us; libwebrtc
/// sends one each 50 to 250 ms.
const FEEDBACK_INTERVAL: Duration = Duration::from_millis(25);

/// What a session keeps for feedback of both directions.
pub(in crate::session) struct Feedback {
    /// What was sent under the numbers that feedback names.
    pub numbers: Numbers,
    /// What has come by each path (full level).
    pub path_logs: Few<PathId, ReceiveLog>,
    /// Which of our paths each of the peer's is, as far as is known.
    pub peer_paths: Few<PathId, PathId>,
    /// What has come by transport-wide number (sender-side level).
    pub transport_log: ReceiveLog,
    /// What has come of each stream, if its own numbers name it.
    pub stream_logs: BTreeMap<Ssrc, ReceiveLog>,
    /// The peer's clock in its reports by stream, unwrapped.
    pub report_clock: Option<u64>,
    /// Messages of transport-wide feedback so far, modulo 256.
    pub count: u8,
    pub next_feedback: Option<Instant>,
    pub next_report: Instant,
    /// What the peer said we may send (RTCP REMB), if it did.
    pub remote_limit: Option<Rate>,
}

impl Feedback {
    pub fn new(now: Instant) -> Feedback {
        Feedback {
            numbers: Numbers::default(),
            path_logs: Few::default(),
            peer_paths: Few::default(),
            transport_log: ReceiveLog::default(),
            stream_logs: BTreeMap::new(),
            report_clock: None,
            count: 0,
            next_feedback: None,
            next_report: now + reports::INTERVAL,
            remote_limit: None,
        }
    }
}

impl Session {
    pub(in crate::session) fn on_rtcp(&mut self, now: Instant, data: &[u8]) {
        self.rate.moved = true;
        let Ok(packets) = rtcp::parse_compound(data) else {
            self.drops.malformed += 1;
            return;
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

    pub(in crate::session) fn log_arrival(
        &mut self,
        arrival: Arrival,
        header: &Header,
        origin: Origin,
    ) {
        match self.level {
            Level::Full => {
                if let Some(extension) = header.extensions.path {
                    let logs = &mut self.feedback.path_logs;
                    let log = logs.get_or_insert_with(extension.path, ReceiveLog::default);
                    let number = extension.transport_sequence;
                    match origin {
                        Origin::Named => log.on_packet(number, arrival),
                        Origin::Copy(_) => log.on_copy(number, arrival.at),
                    }
                }
            }
            Level::SenderSide => {
                if let Some(number) = header.extensions.transport_sequence {
                    self.feedback.transport_log.on_packet(number, arrival);
                }
            }
            Level::Single => {}
        }
        self.want_feedback(arrival.at);
    }

    pub(in crate::session) fn want_feedback(&mut self, now: Instant) {
        if self.feedback.next_feedback.is_none() && self.level != Level::Single {
            self.feedback.next_feedback = Some(now + FEEDBACK_INTERVAL);
        }
    }

    pub(in crate::session) fn send_due_feedback(&mut self, now: Instant) {
        if self.feedback.next_feedback.is_none_or(|at| now < at) {
            return;
        }
        self.feedback.next_feedback = None;
        let sender = self.rtcp_ssrc();
        let max_len = self.max_payload();
        let mut packets = Vec::new();
        for (path, log) in self.feedback.path_logs.iter_mut() {
            if log.has_fresh() {
                paths::messages(sender, *path, log.take_report(), max_len, &mut packets);
            }
        }
        self.transport_feedback(max_len, &mut packets);
        self.stream_feedback(now, max_len, &mut packets);
        for packet in packets {
            self.send_rtcp(&[packet]);
        }
    }

    /// Sends a compound packet on the quickest live path, and once more on the
    /// second: what it says is needed most when a path is dying.
    pub(in crate::session) fn send_rtcp(&mut self, packets: &[Packet]) {
        let mut live: Vec<_> = self
            .paths
            .values()
            .filter(|p| p.state != PathState::Down)
            .collect();
        live.sort_by_key(|p| (p.state == PathState::Suspect, p.rtt.smoothed(), p.id));
        let Some(best) = live.first().map(|p| p.id) else {
            return;
        };
        let copies = live.get(1).map(|p| p.id).into_iter().collect();
        let mut packet = self.buffers.take(256);
        for part in packets {
            part.write(&mut packet);
        }
        let protocol = Protocol::Rtcp;
        self.outputs.push_back(Output::Transmit(Transmit {
            path: best,
            ecn: Ecn::NotEct,
            copies,
            packet,
            protocol,
        }));
    }

    pub(in crate::session) fn sender_of(
        &self,
        ssrc: Ssrc,
    ) -> Option<(StreamId, &crate::send::SendStream)> {
        let matches = |s: &crate::send::SendStream| {
            s.config.ssrc == ssrc || s.config.rtx.is_some_and(|(rtx, _)| rtx == ssrc)
        };
        self.streams
            .senders
            .iter()
            .find(|(_, s)| matches(s))
            .map(|(id, s)| (*id, s))
    }
}
