//! Repair packets, from a frame's packets to the queues of paths, and their outcome.

use std::sync::Arc;

use weft_units::{Bytes, Duration, Instant, PathId, StreamId};
use weft_wire::flexfec::{Mask, Parity, Repair, SPAN};
use weft_wire::media::SharedBytes;
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};

use super::Session;
use crate::config::Level;
use crate::event::{Output, Protocol, Retention, Transmit};
use crate::path::{Carried, Content, Purpose, Waiting};
use crate::protection::{FrameToProtect, Group, Risk};
use crate::schedule::{Batch, Class};
use crate::send::SendStream;

/// Time for which all paths are in doubt after a danger on any path, unless pictures are
/// sent twice for longer. Chosen by us: `balanced` sends them twice for as long.
const DOUBT_LASTS: Duration = Duration::from_secs(10);

impl Session {
    /// Returns whether there may be no time for retransmission on any path; always false
    /// if the scheduler leaves lateness to the receiver.
    fn is_in_doubt(&self, now: Instant) -> bool {
        self.lateness().is_some() && self.any_in_danger(now, DOUBT_LASTS.max(self.copies_for()))
    }

    /// Makes the repair packets of a frame, after all its packets were assigned to paths.
    pub(super) fn protect_frame(&mut self, now: Instant, id: StreamId) {
        let stream = self.streams.senders.get(&id);
        let Some((keyframe, size)) = stream.and_then(SendStream::frame_to_protect) else {
            return;
        };
        let in_doubt = self.is_in_doubt(now);
        let treats_lateness = self.lateness().is_some();
        let stream = self.streams.senders.get_mut(&id);
        let Some(repair) = stream.and_then(|s| s.repair.as_mut()) else {
            return;
        };
        let (packets, begin) = repair.unprotected(now);
        let round_trip = |path| self.paths.get(&path).map(|p| p.rtt.smoothed());
        let risk = |path| match self.paths.get(&path) {
            Some(path) if treats_lateness && path.repairs_late() => Risk::LateRetransmission,
            _ if in_doubt => Risk::Danger,
            _ => Risk::None,
        };
        let frame = FrameToProtect {
            keyframe,
            size,
            packets,
            begin,
            round_trip: &|path| round_trip(path).unwrap_or_default(),
            risk: &risk,
        };
        let sequences = |group: Group| {
            let places = group.members.iter();
            let members = places.filter_map(|place| packets.get(*place));
            let mut members: Vec<u64> = members.map(|p| p.sequence).collect();
            // Rescheduled packets come after those that were sent meanwhile.
            members.sort_unstable();
            members.dedup();
            (members, group.made_for)
        };
        let groups = self.protecting.protection.protect(now, &frame).into_iter();
        let groups: Vec<(Vec<u64>, Option<PathId>)> = groups.map(sequences).collect();
        let (mut held, mut repair_size) = (Vec::new(), Bytes::ZERO);
        for (members, made_for) in groups {
            for part in within_span(&members) {
                let made = self.make_repair(now, id, part);
                repair_size += made.map_or(Bytes::ZERO, |(_, size)| size);
                if let Some((number, size)) = made {
                    self.schedule_repair(now, id, number, size, made_for);
                }
            }
            held.extend(members);
        }
        held.sort_unstable();
        if let Some(repair) = self
            .streams
            .senders
            .get_mut(&id)
            .and_then(|s| s.repair.as_mut())
        {
            repair.end_frame(&held);
        }
        let before = self.protecting.repair_share.left_for_media();
        self.protecting
            .repair_share
            .on_frame(now, size, repair_size);
        self.rate.moved |= before != self.protecting.repair_share.left_for_media();
    }
    /// Makes a repair packet; returns its number and size.
    fn make_repair(&mut self, now: Instant, id: StreamId, members: &[u64]) -> Option<(u64, Bytes)> {
        let stream = self.streams.senders.get_mut(&id)?;
        let (payload, members) = parity(stream, members, self.level, &self.config.extensions)?;
        let newest = members.last().and_then(|s| stream.get(*s));
        let timestamp = newest.map_or(0, |p| p.timestamp);
        let repair = stream.repair.as_mut()?;
        let number = repair.store(now, timestamp, payload, &members);
        Some((number, repair.size(number)))
    }

    fn schedule_repair(
        &mut self,
        now: Instant,
        id: StreamId,
        sequence: u64,
        size: Bytes,
        made_for: Option<PathId>,
    ) {
        let views = self.path_views();
        if views.is_empty() {
            return;
        }
        let batch = Batch {
            stream: id,
            class: Class::Repair,
            classes: &[Class::Repair],
            sizes: &[size],
            made_for,
        };
        let assigned = self.scheduling.scheduler.assign(now, &batch, &views);
        let path = assigned.first().map(|a| a.path);
        if let Some(path) = path.and_then(|path| self.paths.get_mut(&path)) {
            path.queue.push(Waiting {
                stream: id,
                sequence,
                purpose: Purpose::Repair,
                size,
                copies: Vec::new(),
            });
        }
    }

    /// Sends a repair packet on this path.
    pub(super) fn transmit_repair(&mut self, now: Instant, id: PathId, waiting: &Waiting) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let Some(stream) = self.streams.senders.get_mut(&waiting.stream) else {
            return;
        };
        let (media, mid) = (stream.config.ssrc, stream.config.mid);
        let Some(repair) = &mut stream.repair else {
            return;
        };
        let Some(stored) = repair.get(waiting.sequence) else {
            return;
        };
        let payload = Arc::clone(&stored.payload);
        let by = (self.level, self.config.feedback_format);
        let sequence = waiting.sequence as u16;
        let numbers = self
            .feedback
            .numbers
            .assign(by, path, repair.ssrc, sequence);
        let (number, extensions) = numbers.unzip();
        let header = Header {
            marker: false,
            payload_type: repair.payload_type,
            sequence: waiting.sequence as u16,
            timestamp: stored.timestamp,
            ssrc: repair.ssrc,
            extensions: Extensions {
                mid,
                ..extensions.unwrap_or_default()
            },
        };
        let room = payload.len() + crate::send::HEADROOM + 32;
        let mut packet = self.buffers.take(room);
        header.write_with_sources(&self.config.extensions, &[media], &mut packet);
        packet.extend_from_slice(&payload);
        let size = Bytes(packet.len() as u64);
        let carried = Carried {
            stream: waiting.stream,
            sequence: waiting.sequence,
            content: Content::Repair,
        };
        let ecn = match number {
            Some(_) => path.on_sent(now, size, carried),
            None => path.on_unreported_sent(now, size),
        };
        repair.sent += 1;
        self.spend(now, size, 1, None);
        self.outputs.push_back(Output::Transmit(Transmit {
            path: id,
            ecn,
            copies: Vec::new(),
            packet,
            rest: SharedBytes::default(),
            protocol: Protocol::Rtp,
            retention: Retention::None,
        }));
    }
}

/// Splits ascending numbers into runs, each short enough for one mask.
fn within_span(members: &[u64]) -> impl Iterator<Item = &[u64]> {
    let mut rest = members;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let fits = rest.partition_point(|s| s.saturating_sub(first) < u64::from(SPAN));
        let (run, after) = rest.split_at(fits.max(1));
        rest = after;
        Some(run)
    })
}

/// Returns the payload of a repair packet for these packets, and the packets among them
/// whose payload is still stored.
fn parity(
    stream: &SendStream,
    members: &[u64],
    level: Level,
    map: &ExtensionMap,
) -> Option<(Arc<[u8]>, Vec<u64>)> {
    let zeros = PathExtension {
        path: PathId(0),
        stream_sequence: 0,
        transport_sequence: 0,
    };
    let extensions = Extensions {
        path: (level == Level::Full).then_some(zeros),
        transport_sequence: (level == Level::SenderSide).then_some(0),
        mid: stream.config.mid,
        rid: stream.config.rid,
        ..Extensions::default()
    };
    let mut parity = Parity::default();
    let (mut held, mut start) = (Vec::with_capacity(members.len()), Vec::new());
    for &sequence in members {
        let Some(stored) = stream.get(sequence).filter(|p| !p.payload.is_empty()) else {
            continue;
        };
        let header = Header {
            marker: stored.marker,
            payload_type: stream.config.payload_type,
            sequence: sequence as u16,
            timestamp: stored.timestamp,
            ssrc: stream.config.ssrc,
            extensions,
        };
        start.clear();
        header.write_with_dependency(map, &stored.dependency, &mut start);
        let [prefix, body] = stored.payload.parts();
        start.extend_from_slice(prefix);
        if parity.add_parts(&start, body).is_ok() {
            held.push(sequence);
        }
    }
    let base = *held.first()?;
    let mask = Mask::new(base as u16, held.iter().map(|s| (s - base) as u32));
    let mut payload = Vec::new();
    Repair { mask, parity }.write(&mut payload);
    Some((Arc::from(payload), held))
}
