//! What the peer's RTCP says of our packets.

use std::collections::BTreeMap;

use weft_units::{Duration, Ecn, Instant, PathId, Ssrc, StreamId};
use weft_wire::rtcp::{self, Packet, PathFeedback};
use weft_wire::sequence;

use super::Session;
use crate::ablation::Ablation;
use crate::event::Event;
use crate::path::PathState;
use crate::receive_log::Arrival;

/// Keyframe requests of one stream closer together than this are one: an
/// encoder needs a frame time to answer, and each costs several frames' bytes.
const KEYFRAME_INTERVAL: Duration = Duration::from_millis(300);

impl Session {
    pub(super) fn on_rtcp(&mut self, now: Instant, data: &[u8]) {
        self.rate_moved = true;
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
                Packet::Remb(remb) => self.remote_limit = Some(remb.rate),
                Packet::Goodbye(ssrcs) => self.on_goodbye(&ssrcs),
                _ => {}
            }
        }
    }

    fn on_transport_feedback(&mut self, now: Instant, base: u16, arrivals: &[Option<Instant>]) {
        let base = sequence::extend(Some(self.numbers.transport.next()), base);
        let mut reports: BTreeMap<PathId, Vec<(u64, Option<Arrival>)>> = BTreeMap::new();
        for (offset, arrival) in arrivals.iter().enumerate() {
            match self.numbers.transport.find(base + offset as u64) {
                Some((path, number)) => {
                    let arrival = arrival.map(|at| Arrival {
                        at,
                        ecn: Ecn::NotEct,
                    });
                    reports.entry(path).or_default().push((number, arrival));
                }
                None => self.drops.stale_feedback += 1,
            }
        }
        for (path, reports) in reports {
            self.on_path_reports(now, path, reports);
        }
    }

    fn on_path_feedback(&mut self, now: Instant, feedback: &PathFeedback) {
        let id = feedback.path;
        let Some(path) = self.paths.get(&id) else {
            self.drops.stale_feedback += 1;
            return;
        };
        let next = path.history.next_number();
        // Path numbers begin at zero: a base beyond the next number is of a
        // time before, or a lie.
        let extended = sequence::extend(Some(next + (1 << 16)), feedback.base_sequence);
        let Some(base) = extended.checked_sub(1 << 16).filter(|b| *b <= next) else {
            self.drops.stale_feedback += 1;
            return;
        };
        let mut marks = feedback.marks.iter().copied();
        let arrivals = feedback.arrivals.iter().map(|arrival| {
            arrival.map(|at| Arrival {
                at,
                ecn: marks.next().unwrap_or_default(),
            })
        });
        let reports = (base..).zip(arrivals).collect();
        self.on_path_reports(now, id, reports);
    }

    pub(super) fn on_path_reports(
        &mut self,
        now: Instant,
        id: PathId,
        reports: Vec<(u64, Option<Arrival>)>,
    ) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let before = path.state;
        let outcome = path.on_feedback(now, reports);
        if path.state != before {
            let state = path.state;
            self.event(Event::PathStateChanged { path: id, state });
        }
        let arrived = outcome.acknowledged.len();
        // What an outage took no repair packet would have outlasted, and to
        // protect against it would halve the rate of the call that returns.
        let missing = match before {
            PathState::Suspect => 0,
            PathState::Up | PathState::Down => outcome.lost.len(),
        };
        let protection = &mut self.protection;
        protection.on_feedback(now, id, arrived as u64, missing as u64);
        for (_, carried) in &outcome.acknowledged {
            self.on_acknowledged(*carried);
        }
        for (number, carried) in &outcome.lost {
            self.on_lost(now, id, *number, *carried);
        }
        if let Some(path) = self.paths.get_mut(&id) {
            path.history.recycle(outcome);
        }
        self.rescue(now, id);
        self.rescue_suspects(now);
    }

    /// A NACK is answered only for what is really lost: not for what was
    /// acknowledged, nor for what is still in flight on a slower path.
    fn on_nack(&mut self, now: Instant, media: Ssrc, lost: &[u16]) {
        let Some((id, stream)) = self.sender_of(media) else {
            self.drops.unknown_stream += 1;
            return;
        };
        let wanted: Vec<u64> = lost.iter().map(|s| stream.extend(*s)).collect();
        for sequence in wanted {
            let path = self.lost_on(now, id, sequence);
            let Some(stream) = self.senders.get_mut(&id) else {
                return;
            };
            stream.counters.nacked += 1;
            match path {
                Some(path) => {
                    self.protection.on_unrepaired(now, path);
                    self.retransmit(now, id, sequence);
                }
                None => stream.counters.nacks_ignored += 1,
            }
        }
    }

    /// Whether losses are found on each path, not in the stream.
    pub(super) fn repairs_by_path(&self) -> bool {
        self.config.ablation != Ablation::PathRepair
    }

    /// The path that this packet was really lost on.
    fn lost_on(&self, now: Instant, id: StreamId, sequence: u64) -> Option<PathId> {
        let packet = self.senders.get(&id)?.get(sequence);
        let packet = packet.filter(|p| !p.acknowledged)?;
        let last = packet.last?;
        let Some(path) = self.paths.get(&last.path) else {
            return Some(last.path);
        };
        let age = now.saturating_since(last.at);
        let is_lost = match last.number {
            // Whoever asks is believed, once in a round trip.
            _ if !self.repairs_by_path() => {
                packet.retransmissions == 0 || age > path.rtt.smoothed()
            }
            // Feedback may have been lost: after this time silence says the
            // same.
            Some(number) => path.history.overtaken(number) || age > path.rtt.overdue() * 2,
            None => age > path.rtt.smoothed(),
        };
        is_lost.then_some(last.path)
    }

    fn on_keyframe_request(&mut self, now: Instant, media: Ssrc) {
        let Some((id, _)) = self.sender_of(media) else {
            self.drops.unknown_stream += 1;
            return;
        };
        let Some(stream) = self.senders.get_mut(&id) else {
            return;
        };
        stream.counters.keyframes_requested += 1;
        self.request_keyframe_of(now, id);
    }

    /// A stream that was interrupted begins anew.
    pub(super) fn ask_for_keyframe(&mut self, now: Instant, id: StreamId) {
        if self.senders.get(&id).is_some_and(|s| s.awaits_keyframe) {
            self.request_keyframe_of(now, id);
        }
    }

    /// Tells the encoder, not too often.
    fn request_keyframe_of(&mut self, now: Instant, id: StreamId) {
        let Some(stream) = self.senders.get_mut(&id) else {
            return;
        };
        let last = stream.last_keyframe_request;
        if last.is_none_or(|at| now.saturating_since(at) >= KEYFRAME_INTERVAL) {
            stream.last_keyframe_request = Some(now);
            self.event(Event::KeyframeRequested { stream: id });
        }
    }

    pub(super) fn sender_of(&self, ssrc: Ssrc) -> Option<(StreamId, &crate::send::SendStream)> {
        let matches = |s: &crate::send::SendStream| {
            s.config.ssrc == ssrc || s.config.rtx.is_some_and(|(rtx, _)| rtx == ssrc)
        };
        self.senders
            .iter()
            .find(|(_, s)| matches(s))
            .map(|(id, s)| (*id, s))
    }
}
