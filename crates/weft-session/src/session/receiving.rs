//! Incoming packets, from paths to streams.

use weft_units::{Bytes, Ecn, Instant, PathId, Ssrc, StreamId};
use weft_wire::rtcp::{Nack, Packet};
use weft_wire::rtp::{self, Header};
use weft_wire::{rtx, sequence};

use super::Session;
use super::receive_stream::{Origin, Purpose, ReceiveStream};
use crate::arrival::Arrival;
use crate::config::Level;
use crate::event::Event;
use crate::path::PathState;
use crate::receive::{ReceiveEvent, ReceivedPacket};

impl Session {
    pub(super) fn on_rtp(&mut self, now: Instant, path: PathId, ecn: Ecn, packet: &[u8]) {
        let Ok((header, payload)) = rtp::parse(packet, &self.config.extensions) else {
            self.drops.malformed += 1;
            return;
        };
        let found = self.receiver_of(&header);
        let stream = found.and_then(|id| self.streams.receivers.get(id));
        if let (Some(named), true) = (
            header.extensions.path,
            stream.is_some_and(|s| s.is_rtx(&header)),
        ) {
            self.feedback.note_peer_path(named.path, path);
        }
        let origin = self.origin(path, &header);
        let arrival = Arrival { at: now, ecn };
        self.count_received(path, packet.len());
        let Some(id) = found else {
            self.drops.unknown_stream += 1;
            return;
        };
        self.log_arrival(arrival, &header, origin);
        let (numbered_on, stream_sequence) = self.numbering(path, &header, origin);
        let Some(stream) = self.streams.receivers.get(id) else {
            return;
        };
        if stream.is_repair(&header) {
            self.on_repair(now, path, id, &header, packet, payload);
            return;
        }
        let recovered = stream.is_rtx(&header);
        if recovered {
            // Probes come before media, and only the first packets name an encoding.
            let purpose = Purpose::Retransmission;
            self.streams.receivers.learn(id, purpose, header.ssrc);
        }
        if recovered && payload.is_empty() {
            // A probe with padding only. On the stream itself, an empty packet takes a
            // sequence number, so it must not be skipped there.
            return;
        }
        let (number, payload) = if recovered {
            let Ok((original, payload)) = rtx::parse(payload) else {
                self.drops.malformed += 1;
                return;
            };
            (original, payload)
        } else {
            let purpose = Purpose::Media;
            self.streams.receivers.learn(id, purpose, header.ssrc);
            (header.sequence, payload)
        };
        let remedy = self.remedy();
        let Some(stream) = self.streams.receivers.get_mut(id) else {
            return;
        };
        if recovered && stream.highest.is_none() {
            // A retransmission of a stream whose media has not started here.
            return;
        }
        let extended = sequence::extend(stream.highest, number);
        stream.highest = stream.highest.max(Some(extended));
        let received = ReceivedPacket {
            path: if recovered { path } else { numbered_on },
            sequence: extended,
            stream_sequence: stream_sequence.filter(|_| !recovered),
            timestamp: header.timestamp,
            marker: header.marker,
            audio_level: header.extensions.audio_level,
            dependency: rtp::dependency_of(packet, &self.config.extensions),
            payload,
            recovered,
        };
        if let Some(path) = self.paths.get(&path) {
            let up = self.paths.values().filter(|p| p.state == PathState::Up);
            let rtt = path.rtt.smoothed();
            let quickest = up.map(|p| p.rtt.smoothed()).min();
            stream.receiver.set_rtt(rtt, quickest.unwrap_or(rtt));
        }
        stream.receiver.set_remedy(remedy);
        stream.receiver.handle_packet(now, received);
        if stream.config.fec.is_some() {
            self.keep_for_repair(now, path, id, extended, packet, recovered);
        }
    }

    /// Handles a packet that arrived before. It brings no new media. If it is the
    /// original for its path, the path has not lost it. Otherwise it is a copy, which
    /// shows the progress of its path, or a duplicate or replay, which shows nothing.
    pub(super) fn on_rtp_again(&mut self, now: Instant, path: PathId, ecn: Ecn, packet: &[u8]) {
        let Ok((header, _)) = rtp::parse(packet, &self.config.extensions) else {
            self.drops.malformed += 1;
            return;
        };
        self.count_received(path, packet.len());
        let (Level::Full, Some(extension)) = (self.level, header.extensions.path) else {
            // The number names no path: the first arrival was reported.
            return;
        };
        let origin = self.origin(path, &header);
        if matches!(origin, Origin::Named) {
            let arrival = Arrival { at: now, ecn };
            let log = self.feedback.path_logs.get_mut(&extension.path);
            if !log.is_some_and(|log| log.on_awaited(extension.transport_sequence, arrival)) {
                return;
            }
            self.want_feedback(now);
        }
        let (numbered_on, stream_sequence) = self.numbering(path, &header, origin);
        let streams = &mut self.streams.receivers;
        if let Some(stream) = streams.find_mut(|s| s.ssrc() == Some(header.ssrc)) {
            let sequence = sequence::extend(stream.highest, header.sequence);
            let receiver = &mut stream.receiver;
            receiver.handle_again(now, numbered_on, sequence, stream_sequence);
        }
    }

    /// Returns the path whose numbering of a stream includes this packet, and the
    /// packet's number there.
    fn numbering(&self, path: PathId, header: &Header, origin: Origin) -> (PathId, Option<u16>) {
        let extension = header.extensions.path.filter(|_| self.repairs_by_path());
        match (extension, origin) {
            (Some(e), Origin::Named) => (e.path, Some(e.stream_sequence)),
            (Some(_), Origin::Copy(peers)) => (peers, None),
            (None, _) => (path, None),
        }
    }

    /// Returns whether a packet arrived on the path whose numbers it carries. The peer
    /// numbers paths independently; retransmissions, which have no copies, show which of
    /// our paths is which.
    fn origin(&self, path: PathId, header: &Header) -> Origin {
        let named = header.extensions.path.map(|e| e.path);
        let arrives_on = named.and_then(|named| self.feedback.peer_paths.get(&named));
        if arrives_on.is_none_or(|ours| *ours == path) {
            return Origin::Named;
        }
        let mut peers = self.feedback.peer_paths.iter();
        let peers = peers.find(|(_, ours)| **ours == path);
        Origin::Copy(peers.map_or(path, |(peers, _)| *peers))
    }

    fn count_received(&mut self, path: PathId, size: usize) {
        if let Some(path) = self.paths.get_mut(&path) {
            path.counters.received_packets += 1;
            path.counters.received_bytes += Bytes(size as u64);
        }
    }

    /// Returns the stream of a packet: by SSRC, or else by MID and payload type.
    fn receiver_of(&self, header: &Header) -> Option<StreamId> {
        let receivers = &self.streams.receivers;
        receivers.of_ssrc(header.ssrc).or_else(|| {
            let mut all = receivers.iter();
            all.find(|(_, s)| s.claims(header)).map(|(id, _)| id)
        })
    }

    pub(super) fn poll_receivers(&mut self, now: Instant) {
        self.streams.receivers.advance(now);
        while let Some((id, event)) = self.streams.receivers.poll_event() {
            self.on_receive_event(now, id, event);
        }
    }

    fn on_receive_event(&mut self, now: Instant, id: StreamId, event: ReceiveEvent) {
        match event {
            ReceiveEvent::Nack { sequences } => {
                let media = self.streams.receivers.get(id).and_then(ReceiveStream::ssrc);
                let (Some(media), sender) = (media, self.rtcp_ssrc()) else {
                    return;
                };
                self.send_rtcp(&[Packet::Nack(Nack {
                    sender,
                    media,
                    lost: sequences,
                })]);
            }
            ReceiveEvent::PathQuality(quality) => self.send_quality_feedback(id, &quality),
            ReceiveEvent::KeyframeNeeded => self.request_keyframe(now, id),
            ReceiveEvent::Packet(packet) => {
                self.event(Event::PacketReceived { stream: id, packet })
            }
            ReceiveEvent::Frame(frame) => self.event(Event::FrameReceived { stream: id, frame }),
        }
    }

    /// Requests a keyframe from the sender of this incoming stream (RTCP PLI).
    pub fn request_keyframe(&mut self, _now: Instant, stream: StreamId) {
        let media = self
            .streams
            .receivers
            .get(stream)
            .and_then(ReceiveStream::ssrc);
        if let Some(media) = media {
            let sender = self.rtcp_ssrc();
            self.send_rtcp(&[Packet::PictureLoss { sender, media }]);
            self.refresh_paths_due();
        }
    }

    pub(super) fn on_goodbye(&mut self, ssrcs: &[Ssrc]) {
        let ended: Vec<StreamId> = self
            .streams
            .receivers
            .iter()
            .filter(|(_, s)| s.ssrc().is_some_and(|ssrc| ssrcs.contains(&ssrc)))
            .map(|(id, _)| id)
            .collect();
        for stream in ended {
            self.event(Event::StreamEnded { stream });
        }
    }
}
