//! Outgoing media, from frames to packets in the queues of paths.

use smallvec::SmallVec;
use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};
use weft_wire::media::ForwardedPacket;

use super::{Error, Session};
use crate::config::Backlog;
use crate::config::{RETRANSMISSION_AGE, Retransmission};
use crate::event::Frame;
use crate::path::{Carried, Content, Path, PathState, Purpose, Waiting};
use crate::schedule::{Assignment, Batch, Class};
use crate::send::{Copies, Payload, Receipt, Stored};

/// Most retransmissions of one packet; a packet lost five times in a row is past its
/// play-out time. Chosen by us.
const MAX_RETRANSMISSIONS: u8 = 5;

impl Session {
    /// Packetises a frame and queues it on paths. Returns false if it is not sent.
    pub(super) fn queue_frame(
        &mut self,
        now: Instant,
        id: StreamId,
        frame: &Frame<'_>,
    ) -> Result<bool, Error> {
        let max_payload = self.max_payload();
        let has_way = self.has_way_for(now, id, Bytes(frame.data.len() as u64));
        if !self.may_send(now, id, frame.keyframe, has_way)? || frame.data.is_empty() {
            return Ok(false);
        }
        let stream = self
            .streams
            .senders
            .get_mut(&id)
            .ok_or(Error::UnknownStream(id))?;
        stream.counters.frames += 1;
        stream.clock.on_frame(frame.timestamp);
        let class = Class::of(stream.config.codec.kind(), frame.keyframe);
        let sequences = stream.store_frame(now, frame, class, max_payload);
        self.schedule(now, id, class, &sequences);
        Ok(true)
    }

    /// Queues a forwarded packet on a path. Returns false if it is not sent.
    pub(super) fn queue_packet(
        &mut self,
        now: Instant,
        id: StreamId,
        packet: &ForwardedPacket,
    ) -> Result<bool, Error> {
        let has_way = self.can_send(now);
        if !self.may_send(now, id, packet.keyframe, has_way)? {
            return Ok(false);
        }
        let stream = self
            .streams
            .senders
            .get_mut(&id)
            .ok_or(Error::UnknownStream(id))?;
        let class = Class::of(stream.config.codec.kind(), packet.keyframe);
        let own = class.carrying(packet.content);
        let payload = Payload::Forwarded(packet.payload.clone());
        let stored = Stored {
            audio_level: packet.audio_level,
            dependency: packet.dependency.clone(),
            ..Stored::new(now, packet.timestamp, packet.marker, payload, own)
        };
        stream.clock.on_frame(packet.timestamp);
        let is_new = stream.store_at(now, packet.sequence, stored);
        if is_new {
            self.schedule(now, id, class, &[packet.sequence]);
        }
        Ok(is_new)
    }

    /// Returns whether there is a path, and the receiver can use the frame: after an
    /// interruption, it can use nothing before a keyframe.
    fn may_send(
        &mut self,
        now: Instant,
        id: StreamId,
        keyframe: bool,
        has_way: bool,
    ) -> Result<bool, Error> {
        let stream = self
            .streams
            .senders
            .get_mut(&id)
            .ok_or(Error::UnknownStream(id))?;
        if !has_way {
            stream.interrupt();
            self.refresh_paths_due();
            return Ok(false);
        }
        let useful = stream.may_send(keyframe);
        if !useful {
            self.ask_for_keyframe(now, id);
        }
        Ok(useful)
    }

    /// Returns whether a path lives that may carry media.
    fn can_send(&self, now: Instant) -> bool {
        !self.migrates(now) && self.paths.any_usable()
    }

    fn migrates(&self, now: Instant) -> bool {
        self.scheduling.resumes_at.is_some_and(|at| now < at)
    }

    /// Returns whether a frame of our own encoder may leave: a few may even if no path
    /// answers.
    fn has_way_for(&mut self, now: Instant, id: StreamId, size: Bytes) -> bool {
        let stream = self.streams.senders.get(&id);
        let is_audio = stream.is_some_and(|stream| stream.is_audio());
        self.can_send(now) || self.may_send_unanswered(now, is_audio, size)
    }

    /// Returns further paths for sound that would otherwise use a single path: while one
    /// of two paths is suspect, either may have died, and a degraded path may have become
    /// the faster one.
    fn doubtful_for_sound(&self) -> Vec<PathId> {
        let is_doubtful = |p: &&Path| match p.state {
            PathState::Suspect => p.is_usable(),
            PathState::Up => p.is_usable() && self.avoids(p),
            PathState::Down => false,
        };
        let ids = self.paths.values().filter(is_doubtful).map(|p| p.id);
        ids.filter(|id| self.scheduling.policies.may_pad(*id))
            .collect()
    }

    pub(super) fn schedule(&mut self, now: Instant, id: StreamId, class: Class, sequences: &[u64]) {
        let views = self.path_views();
        if views.is_empty() || self.migrates(now) {
            return;
        }
        let doubtful = match class == Class::Audio && self.scheduling.behaviour.copies_sound {
            true => self.doubtful_for_sound(),
            false => Vec::new(),
        };
        let Some(stream) = self.streams.senders.get_mut(&id) else {
            return;
        };
        let mut sizes = SmallVec::<[Bytes; 2]>::new();
        let mut classes = SmallVec::<[Class; 16]>::new();
        for &sequence in sequences {
            sizes.push(stream.packet_size(sequence));
            classes.push(match class {
                Class::Retransmission => class,
                _ => stream.class(sequence),
            });
        }
        if class != Class::Retransmission {
            self.scheduling
                .rescue_budget
                .earn(sizes.iter().copied().sum());
        }
        let batch = Batch {
            stream: id,
            class,
            classes: &classes,
            sizes: &sizes,
            made_for: None,
        };
        let mut assignments = self.scheduling.scheduler.assign(now, &batch, &views);
        for Assignment { path, copies } in &mut assignments {
            if copies.is_empty() {
                copies.extend(doubtful.iter().filter(|id| *id != path));
            }
        }
        self.scheduling.policies.spare(&mut assignments);
        debug_assert_eq!(assignments.len(), sequences.len());
        let purpose = match class {
            Class::Audio => Purpose::Audio,
            Class::Retransmission => Purpose::Retransmission,
            _ => Purpose::Video,
        };
        let paced = purpose == Purpose::Video
            && self.scheduling.behaviour.lateness.is_some()
            && stream.config.retransmission.rtx().is_some();
        for ((&sequence, &size), Assignment { path, mut copies }) in
            sequences.iter().zip(&sizes).zip(assignments)
        {
            let goes_once = copies.is_empty();
            if paced {
                for other in std::mem::take(&mut copies) {
                    if let Some(path) = self.paths.get_mut(&other) {
                        path.queue.push(Waiting {
                            stream: id,
                            sequence,
                            purpose: Purpose::Copy,
                            size,
                            copies: Vec::new(),
                        });
                    }
                }
            }
            if let (Purpose::Video, Some(repair)) = (purpose, &mut stream.repair) {
                repair.on_scheduled(now, sequence, path, goes_once);
            }
            if let Some(path) = self.paths.get_mut(&path) {
                path.queue.push(Waiting {
                    stream: id,
                    sequence,
                    purpose,
                    size,
                    copies,
                });
            }
        }
    }

    /// Returns whether this transmission is the latest and only one of a media packet.
    pub(super) fn is_current(&self, path: PathId, number: u64, carried: Carried) -> bool {
        let stream = self.streams.senders.get(&carried.stream);
        let stored = stream.and_then(|stream| stream.get(carried.sequence));
        let last = stored.and_then(|p| p.last);
        carried.content != Content::Repair
            && last.is_some_and(|last| {
                last.path == path && last.number == Some(number) && last.copies == Copies::None
            })
    }

    /// Queues a retransmission, unless one already waits. A packet that is too late or
    /// was sent too often is given up, and the picture restarts.
    pub(super) fn retransmit(&mut self, now: Instant, id: StreamId, sequence: u64) {
        let can_send = self.can_send(now);
        let Some(stream) = self.streams.senders.get_mut(&id) else {
            return;
        };
        if stream.config.retransmission == Retransmission::None || !can_send {
            return;
        }
        let Some(packet) = stream.get_mut(sequence) else {
            return;
        };
        if packet.receipt != Receipt::None || packet.queued_again || packet.payload.is_empty() {
            return;
        }
        let late = now.saturating_since(packet.created_at) > RETRANSMISSION_AGE;
        if late || packet.retransmissions >= MAX_RETRANSMISSIONS {
            // The receiver would only notice after its patience has ended.
            if !stream.has_restarted_since(sequence) {
                self.request_keyframe_of(now, id);
            }
            return;
        }
        packet.queued_again = true;
        packet.retransmissions += 1;
        stream.counters.retransmissions += 1;
        self.schedule(now, id, Class::Retransmission, &[sequence]);
    }

    pub(super) fn clear_queued_again(&mut self, id: StreamId, sequence: u64) {
        let packet = self
            .streams
            .senders
            .get_mut(&id)
            .and_then(|s| s.get_mut(sequence));
        if let Some(packet) = packet {
            packet.queued_again = false;
            packet.retransmissions = packet.retransmissions.saturating_sub(1);
        }
    }

    /// Drops the pictures of one stream, or of all, because they are no longer needed:
    /// pictures that wait for the pacers are not sent, and lost ones are not sent again.
    /// The receiver needs a keyframe.
    pub fn forget_pictures(&mut self, only: Option<StreamId>) {
        for (id, stream) in self.streams.senders.iter_mut() {
            if stream.is_audio() || only.is_some_and(|only| only != *id) {
                continue;
            }
            stream.forget_payloads();
            for path in self.paths.values_mut() {
                path.queue.retain(|waiting| waiting.stream != *id);
            }
        }
        self.refresh_paths_due();
    }

    /// Returns the treatment of packets that wait for one path. A known rate is divided
    /// among the paths in proportion to their target rates.
    pub(super) fn backlog_of(&self, path: &Path) -> Backlog {
        let Backlog::Waits { known } = self.config.backlog else {
            return self.config.backlog;
        };
        if known == Rate::ZERO {
            return self.config.backlog;
        }
        let target = |path: &Path| path.controller.target_rate().as_bps() as f64;
        let all: f64 = self.paths.values().map(target).sum();
        Backlog::Waits {
            known: known.mul_f64(target(path) / all.max(1.0)),
        }
    }

    /// Returns the time that the waiting packets need to leave the pacers, as the longest
    /// over all paths. A forwarder should pause accordingly.
    #[must_use]
    pub fn queue_time(&self) -> Duration {
        let rate = |p: &Path| match self.backlog_of(p) {
            Backlog::LeavesSoon => p.controller.pacing_rate(),
            Backlog::Waits { known } => p.controller.target_rate().max(known),
        };
        let drain = |p: &Path| rate(p).time_for(p.queue.bytes());
        self.paths
            .values()
            .filter_map(drain)
            .max()
            .unwrap_or_default()
    }
}
