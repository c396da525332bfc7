use crate::routing::layers::{LAYERS, LayerChoice};
use crate::routing::offset_map::{OffsetMap, Place, Seen};
use crate::routing::parsed::Parsed;
use layered::LayeredPictures;
use pictures::{Pictures, Verdict};
pub(crate) use stats::Stats;
use std::collections::VecDeque;
use targets::{FrameVerdict, Targets, Wanted};
use timestamps::Timestamps;
use weft_units::{Codec, Duration, Instant, MediaKind, Rate};
use weft_wire::media::{ForwardedPacket, ForwardedPayload, MediaPacket};
use weft_wire::payload::{Content, FirstPacket, format_of};

mod late;
mod layered;
mod pictures;
mod stats;
mod targets;
#[cfg(test)]
mod tests;
mod timestamps;

/// Gap in the incoming sequence numbers from which it is an interruption, not loss. At
/// the same length, libwebrtc gives up its list of missing packets and requests a
/// keyframe (`kMaxNackPackets`, modules/video_coding/nack_requester.cc).
const MAX_SEQUENCE_GAP: u64 = 1000;
/// Maximum number of packets held while a keyframe's first packet is missing: the rest of a
/// keyframe of 250 kB. Chosen by us.
const MAX_HELD: usize = 256;
/// Time for which they are held: a retransmission over a slow mobile link. Chosen by us.
const MAX_HELD_FOR: Duration = Duration::from_millis(500);
/// Length of the subscriber's queue from which pictures above the base layer are dropped:
/// a picture any later is useless in a conversation (ITU-T G.114 calls more than 400 ms
/// unacceptable).
const QUEUE_LONG: Duration = Duration::from_millis(400);
/// Length of the queue from which sending pauses before the next picture of the base layer.
/// A keyframe alone makes a long queue on a poor link, and a pause requires another
/// keyframe. Chosen by us: `tests/room/weak.rs` of `weft-forwarding`.
const QUEUE_STOP: Duration = Duration::from_millis(1_000);
/// Length of the queue below which sending may resume with a keyframe. Chosen by us.
const QUEUE_RESUME: Duration = Duration::from_millis(100);
/// Minimum time between two such keyframes, which every player of the track has to receive.
/// Chosen by us: a poor link needs as long for a keyframe and a few pictures after it.
const BEGINNINGS_APART: Duration = Duration::from_millis(1500);

/// Output of a [`Forwarder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// Packet to send.
    Packet(ForwardedPacket),
    /// Request for a keyframe, without which nothing can be sent.
    KeyframeNeeded,
    /// Request to forget the packets that the subscriber has not received yet.
    Forget,
}

/// State of the paths to the subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Downlink {
    /// Share of their rate for this track; `None` while it is unknown.
    pub(crate) target: Option<Rate>,
    /// Highest layer, where it is not chosen by that rate.
    pub(crate) limit: Option<u8>,
    /// Time to send the packets in the subscriber's pacer.
    pub(crate) queued: Duration,
}

/// Forwards one track to one subscriber with its own sequence numbers, timestamps and
/// picture ids, so that the receiver sees one stream without gaps across dropped layers,
/// pauses and changes of the source.
///
/// VP8, VP9 and AV1 start at keyframes, and temporal layers are dropped to fit; spatial layers,
/// too, if packets have dependency descriptors. H.264 starts at parameter sets and has no layers,
/// so if it does not fit, it pauses until the next keyframe. Every packet of Opus is independent.
///
/// Feed [`handle_packet`](Forwarder::handle_packet), then drain
/// [`poll_output`](Forwarder::poll_output) to `None`.
#[derive(Debug)]
pub(crate) struct Forwarder {
    codec: Codec,
    state: State,
    choice: LayerChoice,
    downlink: Downlink,
    pictures: Pictures,
    /// Used instead of `pictures` if packets do not identify their pictures.
    layered: LayeredPictures,
    /// Decode target, if packets have dependency descriptors.
    targets: Targets,
    timestamps: Timestamps,
    seen: Seen,
    next_out: u64,
    /// Time of the last start with a keyframe.
    started: Option<Instant>,
    /// Whether pictures are sent later than they arrive, so that only the base layer is sent.
    is_late: bool,
    outputs: VecDeque<Forwarding>,
    stats: Stats,
}

#[derive(Debug)]
enum State {
    /// Waiting for a place to start; earlier packets that may be needed are held.
    Waiting(VecDeque<(Instant, Parsed)>),
    /// Waiting for the queue to drain.
    Congested,
    Running(Running),
}

#[derive(Debug)]
struct Running {
    map: OffsetMap,
    newest: Newest,
}

/// Newest packet with a place.
#[derive(Debug, Clone, Copy)]
struct Newest {
    picture: Option<u64>,
    timestamp: u32,
    marker: bool,
    dropped: bool,
}

impl Forwarder {
    /// Creates a forwarder that waits for the first keyframe.
    #[must_use]
    pub(crate) fn new(codec: Codec) -> Forwarder {
        Forwarder {
            codec,
            state: State::Waiting(VecDeque::new()),
            choice: LayerChoice::new(),
            downlink: Downlink {
                target: None,
                limit: None,
                queued: Duration::ZERO,
            },
            pictures: Pictures::new(format_of(codec).closes_gaps()),
            layered: LayeredPictures::default(),
            targets: Targets::default(),
            timestamps: Timestamps::default(),
            seen: Seen::new(),
            next_out: 1,
            started: None,
            is_late: false,
            outputs: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// Continues the track from another source with unrelated numbers. The subscriber sees
    /// it from its first keyframe on.
    pub(crate) fn switch_source(&mut self) {
        self.change_source();
        self.outputs.push_back(Forwarding::KeyframeNeeded);
    }

    /// Continues from another source whose next packet starts a keyframe.
    pub(crate) fn change_source(&mut self) {
        self.stop_running();
        self.timestamps.source_ended();
        self.state = State::Waiting(VecDeque::new());
    }

    /// Updates the state of the paths to the subscriber.
    pub(crate) fn set_downlink(&mut self, now: Instant, downlink: Downlink) {
        self.downlink = downlink;
        self.resume(now);
    }

    /// Records that queued packets are dropped: the subscriber sees nothing before the
    /// next keyframe.
    pub(crate) fn interrupt(&mut self) {
        if matches!(self.state, State::Running(_)) {
            self.stop_running();
            self.state = State::Congested;
        }
    }

    /// Resumes after a pause, when the queue is short and the last start is long enough
    /// ago.
    fn resume(&mut self, now: Instant) {
        let queued = self.downlink.queued;
        let congested = matches!(self.state, State::Congested);
        if congested && queued <= QUEUE_RESUME && !self.began_lately(now) {
            self.state = State::Waiting(VecDeque::new());
            self.outputs.push_back(Forwarding::KeyframeNeeded);
        }
    }

    fn began_lately(&self, now: Instant) -> bool {
        let since = self.started.map(|at| now.saturating_since(at));
        since.is_some_and(|since| since < BEGINNINGS_APART)
    }

    /// Whether a keyframe is still in the subscriber's queue, so that another one would
    /// arrive later than the rest of this one.
    #[must_use]
    pub(crate) fn has_keyframe_under_way(&self, now: Instant) -> bool {
        self.downlink.queued > Duration::ZERO && self.began_lately(now)
    }

    /// Returns the numbers of packets by outcome.
    #[must_use]
    pub(crate) fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the next packet to send, or the next request.
    pub(crate) fn poll_output(&mut self) -> Option<Forwarding> {
        self.outputs.pop_front()
    }

    /// Handles a parsed packet; `rates` are the cumulative rates up to each layer.
    pub(crate) fn handle_parsed(
        &mut self,
        now: Instant,
        parsed: &Parsed,
        rates: Option<[Rate; LAYERS]>,
    ) {
        if let Some(spatial) = parsed.spatial_layers() {
            let Downlink { target, limit, .. } = self.downlink;
            if let Some(limit) = limit {
                self.choice.set(limit);
            } else if self.choice.update(now, target, rates, spatial) {
                self.start_again();
            }
        }
        self.resume(now);
        match &mut self.state {
            State::Congested => self.stats.congested += 1,
            State::Running(running) => {
                if parsed.packet.sequence > running.map.next() + MAX_SEQUENCE_GAP {
                    self.stop_running();
                    self.state = State::Waiting(VecDeque::new());
                    self.outputs.push_back(Forwarding::KeyframeNeeded);
                    self.wait(now, parsed, rates);
                } else {
                    self.run(now, parsed);
                }
            }
            State::Waiting(_) => self.wait(now, parsed, rates),
        }
    }

    /// Gives up the pictures that wait for the subscriber: they are too large for its
    /// paths, and smaller ones would have to wait for them.
    fn start_again(&mut self) {
        if matches!(self.state, State::Running(_)) {
            self.stop_running();
            self.state = State::Waiting(VecDeque::new());
            self.outputs
                .extend([Forwarding::Forget, Forwarding::KeyframeNeeded]);
        }
    }

    /// Handles the sequence number of a packet without content to forward.
    pub(crate) fn handle_unusable(&mut self, now: Instant, packet: &MediaPacket) {
        self.stats.malformed += 1;
        let State::Running(running) = &mut self.state else {
            return;
        };
        let sequence = packet.sequence;
        if sequence > running.map.next() + MAX_SEQUENCE_GAP || !self.seen.insert(sequence) {
            return;
        }
        if sequence >= running.map.next() {
            running.map.drop_range(sequence, sequence);
        } else if let Place::Out(out) = running.map.place(sequence) {
            self.fill(now, out, packet.timestamp);
        }
    }

    /// Holds the packet, or starts with it and the held packets after it.
    fn wait(&mut self, now: Instant, parsed: &Parsed, rates: Option<[Rate; LAYERS]>) {
        let State::Waiting(held) = &mut self.state else {
            return;
        };
        if !parsed.info.entry {
            held.push_back((now, parsed.clone()));
            while held.len() > MAX_HELD
                || held
                    .front()
                    .is_some_and(|(at, _)| now.saturating_since(*at) > MAX_HELD_FOR)
            {
                held.pop_front();
                self.stats.before_keyframe += 1;
            }
            return;
        }
        let mut held: Vec<Parsed> = std::mem::take(held).into_iter().map(|(_, p)| p).collect();
        let all = held.len();
        held.retain(|p| p.packet.sequence > parsed.packet.sequence);
        self.stats.before_keyframe += (all - held.len()) as u64;
        held.sort_by_key(|p| p.packet.sequence);

        self.start(now, parsed);
        self.run(now, parsed);
        for parsed in &held {
            self.handle_parsed(now, parsed, rates);
        }
    }

    fn start(&mut self, now: Instant, parsed: &Parsed) {
        self.started = Some(now);
        let packet = &parsed.packet;
        self.timestamps
            .start(now, packet.timestamp, self.codec.clock_rate());
        self.seen = Seen::new();
        self.pictures.start(&parsed.info.numbers);
        self.layered.start();
        self.targets.start(parsed.dependency.as_ref());
        self.state = State::Running(Running {
            map: OffsetMap::new(packet.sequence, self.next_out),
            newest: Newest {
                picture: None,
                timestamp: packet.timestamp,
                marker: true,
                dropped: false,
            },
        });
    }

    fn stop_running(&mut self) {
        if let State::Running(running) = &self.state {
            self.next_out = running.map.next_out();
        }
    }

    fn run(&mut self, now: Instant, parsed: &Parsed) {
        let State::Running(running) = &mut self.state else {
            return;
        };
        let packet = &parsed.packet;
        if running.map.place(packet.sequence) == Place::Forgotten {
            self.stats.late += 1;
            return;
        }
        if !self.seen.insert(packet.sequence) {
            self.stats.duplicate += 1;
            return;
        }
        let newest = packet.sequence >= running.map.next();
        let marks_first = format_of(self.codec).first_packet() == FirstPacket::Marked;
        let begins_picture = || match self.codec.kind() {
            MediaKind::Video if marks_first => self.pictures.is_new(&parsed.info),
            MediaKind::Video => packet.timestamp != running.newest.timestamp,
            MediaKind::Audio => false,
        };
        let queued = self.downlink.queued;
        let base = parsed.info.numbers.temporal_layer.unwrap_or(0) == 0;
        let congested = queued > QUEUE_STOP;
        if congested && base && newest && begins_picture() {
            self.stop_running();
            self.state = State::Congested;
            self.stats.congested += 1;
            return;
        }
        let (verdict, frame) = self.judge(parsed, newest);
        let State::Running(running) = &mut self.state else {
            return;
        };
        if newest {
            running.place(parsed, &verdict);
        }
        match (running.map.place(packet.sequence), verdict.forward) {
            (Place::Out(sequence), true) => {
                let timestamp = self.timestamps.shifted(now, packet.timestamp);
                let dependency = self.dependency(parsed, frame.as_ref());
                self.stats.forwarded += 1;
                self.emit(ForwardedPacket {
                    sequence,
                    timestamp,
                    marker: packet.marker || frame.as_ref().is_some_and(|f| f.ends_picture),
                    audio_level: packet.audio_level,
                    dependency,
                    keyframe: verdict.keyframe,
                    payload: renumbered(self.codec, packet, &verdict),
                    content: parsed.info.content(),
                });
            }
            // Its number is reserved, because its content was unknown.
            (Place::Out(sequence), false) => {
                self.stats.layer += 1;
                self.fill(now, sequence, packet.timestamp);
            }
            _ => self.stats.layer += 1,
        }
    }

    /// Decides about a packet, by its dependency descriptor if it has one.
    fn judge(&mut self, parsed: &Parsed, newest: bool) -> (Verdict, Option<FrameVerdict>) {
        let base_only = self.downlink.queued > QUEUE_LONG || self.is_late;
        let rung = self.choice.wanted();
        let timestamp = parsed.packet.timestamp;
        let described = parsed.dependency.as_ref();
        let wanted = Wanted { rung, base_only };
        let frame = described.map(|d| self.targets.decide(d, timestamp, newest, wanted));
        if frame.as_ref().is_some_and(|frame| frame.needs_keyframe) {
            self.outputs.push_back(Forwarding::KeyframeNeeded);
        }
        let layer = match (&frame, base_only) {
            (Some(_), _) => LAYERS as u8 - 1,
            (None, true) => 0,
            (None, false) => rung,
        };
        let marks_first = format_of(self.codec).first_packet() == FirstPacket::Marked;
        let verdict = match (self.codec.kind(), marks_first) {
            (_, true) => self.pictures.decide(&parsed.info, newest, layer),
            (MediaKind::Video, false) => {
                let picture = (timestamp, &parsed.info);
                self.layered.decide(picture, newest, layer)
            }
            (MediaKind::Audio, false) => Verdict::untouched(),
        };
        (verdict.with(frame.as_ref(), parsed), frame)
    }

    /// Sends an empty packet, so that the receiver does not wait for the number.
    fn fill(&mut self, now: Instant, sequence: u64, timestamp: u32) {
        let timestamp = self.timestamps.shifted(now, timestamp);
        self.stats.fillers += 1;
        self.emit(ForwardedPacket {
            sequence,
            timestamp,
            marker: false,
            audio_level: None,
            dependency: Box::default(),
            keyframe: false,
            payload: ForwardedPayload::default(),
            content: Content::Media,
        });
    }

    /// Returns the dependency descriptor as this subscriber sees it; empty without one.
    fn dependency(&mut self, parsed: &Parsed, verdict: Option<&FrameVerdict>) -> Box<[u8]> {
        let both = parsed.dependency.as_ref().zip(verdict);
        let octets = &parsed.packet.dependency;
        both.map_or_else(Box::default, |(dependency, verdict)| {
            self.targets.written(octets, dependency, verdict)
        })
    }

    fn emit(&mut self, packet: ForwardedPacket) {
        self.outputs.push_back(Forwarding::Packet(packet));
    }
}

impl Running {
    /// Assigns a place to the newest packet, or none, and decides about the missing ones
    /// before it: those that can only belong to a dropped picture are dropped with it, and
    /// the places of others are reserved.
    fn place(&mut self, parsed: &Parsed, verdict: &Verdict) {
        let (sequence, last) = (parsed.packet.sequence, self.newest);
        let first_packet = parsed.is_first();
        let next_picture = match (last.picture, verdict.picture) {
            (Some(a), Some(b)) => a + 1 == b,
            _ => false,
        };
        let same_picture = last.picture.is_some() && last.picture == verdict.picture;
        if verdict.forward {
            if last.dropped && !last.marker && next_picture && first_packet && sequence > 0 {
                self.map.drop_range(self.map.next(), sequence - 1);
            }
            self.map.keep_to(sequence);
        } else {
            let belongs = same_picture || (next_picture && last.marker);
            let from = if belongs { self.map.next() } else { sequence };
            self.map.drop_range(from, sequence);
        }
        self.newest = Newest {
            picture: verdict.picture,
            timestamp: parsed.packet.timestamp,
            marker: parsed.is_last(),
            dropped: !verdict.forward,
        };
    }
}

/// Returns the payload with the numbers that this subscriber sees.
fn renumbered(codec: Codec, packet: &MediaPacket, verdict: &Verdict) -> ForwardedPayload {
    let shared = &packet.payload;
    let own = verdict.rewrite.as_ref().and_then(|rewrite| {
        format_of(codec).renumbered(shared, rewrite.picture_id, rewrite.tl0_shift)
    });
    match own {
        Some((prefix, replaced)) => ForwardedPayload {
            prefix,
            body: shared.behind(replaced),
        },
        None => shared.clone().into(),
    }
}
