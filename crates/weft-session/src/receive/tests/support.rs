//! Minimal sender, links and retransmitter.

use crate::receive::*;
use std::collections::{BTreeMap, BTreeSet};
use weft_units::{Codec, Duration, Instant, PathId};
use weft_wire::payload::vp8::Descriptor;

pub const A: PathId = PathId(1);
pub const B: PathId = PathId(2);
pub const FIRST: u64 = 65_536 + 65_500;
pub const FRAME: Duration = Duration::from_micros(33_333);

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn at_ms(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

pub fn video_config(delivery: Delivery) -> ReceiveConfig {
    ReceiveConfig {
        codec: Codec::Vp8,
        delivery,
        profile: ReceiverProfile::default(),
    }
}

pub fn video(delivery: Delivery) -> Receiver {
    Receiver::new(video_config(delivery))
}

pub fn audio(delivery: Delivery) -> Receiver {
    Receiver::new(ReceiveConfig {
        codec: Codec::Opus,
        delivery,
        profile: ReceiverProfile::default(),
    })
}

/// References between frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layers {
    /// Every frame refers to the previous one.
    One,
    /// VP8 without picture numbers: only sequence numbers identify frames.
    Plain,
    /// No other frame refers to every third frame, which is marked so.
    Droppable,
    /// Every second frame is in temporal layer 1 and refers to the base only.
    Two,
    /// Layers 0 2 1 2; the second of layer 2 refers to layer 1.
    Three,
}

/// Packetiser of a VP8 sender.
pub struct Encoder {
    pub layers: Layers,
    /// Referenced frames for each frame.
    pub references: Vec<Vec<u32>>,
    sequence: u64,
    since_keyframe: u32,
    base_frames: u8,
    numbers: BTreeMap<PathId, u16>,
}

impl Encoder {
    pub fn new(layers: Layers) -> Encoder {
        Encoder {
            layers,
            references: Vec::new(),
            sequence: FIRST,
            since_keyframe: 0,
            base_frames: 250,
            numbers: BTreeMap::new(),
        }
    }

    /// Returns the layer, the layer sync, and the distances of the referenced frames.
    fn pattern(&self) -> (u8, bool, &'static [u32]) {
        match (self.layers, self.since_keyframe) {
            (_, 0) => (0, false, &[]),
            (Layers::One | Layers::Plain, _) => (0, false, &[1]),
            // 0 1 d 3 4 d: the frame after a droppable one skips it.
            (Layers::Droppable, n) if n % 3 == 0 => (0, false, &[2]),
            (Layers::Droppable, _) => (0, false, &[1]),
            (Layers::Two, n) if n % 2 == 1 => (1, true, &[1]),
            (Layers::Two, _) => (0, false, &[2]),
            (Layers::Three, n) => match n % 4 {
                0 => (0, false, &[4]),
                1 => (2, true, &[1]),
                2 => (1, true, &[2]),
                _ => (2, false, &[1, 3]),
            },
        }
    }

    /// Returns the packets of the next frame, without a path.
    pub fn frame(&mut self, keyframe: bool, packets: u64) -> Vec<ReceivedPacket<'static>> {
        if keyframe {
            self.since_keyframe = 0;
        }
        let number = self.references.len() as u32;
        let (layer, layer_sync, distances) = self.pattern();
        let references = distances.iter().map(|d| number - d).collect();
        self.references.push(references);
        if layer == 0 {
            self.base_frames = self.base_frames.wrapping_add(1);
        }
        let layered = matches!(self.layers, Layers::Two | Layers::Three);
        let droppable = self.layers == Layers::Droppable && self.since_keyframe % 3 == 2;
        let out = (0..packets).map(|index| {
            let descriptor = Descriptor {
                start_of_partition: index == 0,
                non_reference: droppable,
                picture_id: (self.layers != Layers::Plain)
                    .then_some((32_760 + number as u16) % 32_768),
                tl0_picture_index: layered.then_some(self.base_frames),
                temporal_layer: layered.then_some(layer),
                layer_sync,
                ..Descriptor::default()
            };
            let mut payload = Vec::new();
            descriptor.write(&mut payload);
            // The first byte's lowest bit is the inverse keyframe flag.
            payload.push(u8::from(!keyframe));
            payload.extend_from_slice(&(self.sequence + index).to_be_bytes());
            ReceivedPacket {
                path: A,
                sequence: self.sequence + index,
                stream_sequence: None,
                timestamp: timestamp_of(number),
                marker: index + 1 == packets,
                audio_level: None,
                dependency: &[],
                // Leaked, because a test's packets may live as long as the test.
                payload: payload.leak(),
                recovered: false,
            }
        });
        let out = out.collect();
        self.sequence += packets;
        self.since_keyframe += 1;
        out
    }

    /// Assigns the packet to `path` and numbers it there.
    pub fn by(
        &mut self,
        path: PathId,
        mut packet: ReceivedPacket<'static>,
    ) -> ReceivedPacket<'static> {
        let number = self.numbers.entry(path).or_insert(65_530);
        packet.path = path;
        packet.stream_sequence = Some(*number);
        *number = number.wrapping_add(1);
        packet
    }
}

/// Returns the number of the frame with this timestamp.
pub fn number_of(timestamp: u32) -> u32 {
    timestamp.wrapping_sub(timestamp_of(0)) / 3_000
}

/// Returns the timestamp of the frame with this number, at 30 Hz; it wraps in the first
/// second.
pub fn timestamp_of(frame: u32) -> u32 {
    (u32::MAX - 30_000).wrapping_add(frame.wrapping_mul(3_000))
}

/// Delivers packets and timeouts in time order.
pub struct Wire {
    pub receiver: Receiver,
    pub events: Vec<(Instant, ReceiveEvent)>,
    /// Sequence numbers requested in all NACKs.
    pub nacked: BTreeSet<u64>,
    /// Packets that the sender can send again; retransmissions arrive after
    /// `answer_after`.
    pub history: BTreeMap<u64, ReceivedPacket<'static>>,
    /// First arrival of each packet.
    pub arrived: BTreeMap<u64, Instant>,
    pub answer_after: Option<Duration>,
    /// Returns true if the answer with this number is lost.
    pub answer_lost: fn(u64) -> bool,
    queue: BTreeMap<(Instant, u64), ReceivedPacket<'static>>,
    order: u64,
    answers: u64,
}

impl Wire {
    pub fn new(receiver: Receiver) -> Wire {
        Wire {
            receiver,
            events: Vec::new(),
            nacked: BTreeSet::new(),
            history: BTreeMap::new(),
            arrived: BTreeMap::new(),
            answer_after: None,
            answer_lost: |_| false,
            queue: BTreeMap::new(),
            order: 0,
            answers: 0,
        }
    }

    /// Delivers a packet at this time.
    pub fn deliver(&mut self, at: Instant, packet: ReceivedPacket<'static>) {
        self.history.insert(packet.sequence, packet);
        self.enqueue(at, packet);
    }

    /// Loses a packet, which can still be sent again.
    pub fn lose(&mut self, packet: ReceivedPacket<'static>) {
        self.history.insert(packet.sequence, packet);
    }

    pub fn run(&mut self, until: Instant) {
        loop {
            let packet_at = self.queue.keys().next().map(|(at, _)| *at);
            let timeout = self.receiver.poll_timeout().map(|d| d.at);
            let now = match (packet_at, timeout) {
                (Some(p), Some(t)) => p.min(t),
                (p, t) => match p.or(t) {
                    Some(at) => at,
                    None => return,
                },
            };
            if now > until {
                return;
            }
            if packet_at == Some(now) {
                if let Some((_, packet)) = self.queue.pop_first() {
                    self.arrived.entry(packet.sequence).or_insert(now);
                    self.receiver.handle_packet(now, packet);
                }
            } else {
                self.receiver.handle_timeout(now);
                let next = self.receiver.poll_timeout();
                assert!(
                    next.is_none_or(|d| d.at > now),
                    "{next:?} is still due after the timeout at {now:?}"
                );
            }
            self.drain(now);
        }
    }

    /// Returns the released frames with their times.
    pub fn frames(&self) -> Vec<(Instant, &ReceivedFrame)> {
        let released = self.events.iter().filter_map(|(at, event)| match event {
            ReceiveEvent::Frame(frame) => Some((*at, frame)),
            _ => None,
        });
        released.collect()
    }

    /// Returns the longest time between two releases.
    pub fn largest_gap(&self) -> Duration {
        let frames = self.frames();
        let gaps = frames.windows(2).map(|w| w[1].0.saturating_since(w[0].0));
        gaps.max().unwrap_or(Duration::ZERO)
    }

    fn drain(&mut self, now: Instant) {
        while let Some(event) = self.receiver.poll_event() {
            if let ReceiveEvent::Nack { sequences } = &event {
                for sequence in sequences {
                    self.answer(now, *sequence);
                }
            }
            self.events.push((now, event));
        }
    }

    fn answer(&mut self, now: Instant, sequence: u16) {
        let known = self.history.iter().rev();
        let packet = known
            .map(|(_, p)| p)
            .find(|p| p.sequence as u16 == sequence);
        let Some(packet) = packet else {
            return;
        };
        self.nacked.insert(packet.sequence);
        self.answers += 1;
        let mut packet = *packet;
        packet.recovered = true;
        if let Some(after) = self.answer_after
            && !(self.answer_lost)(self.answers)
        {
            self.enqueue(now + after, packet);
        }
    }

    fn enqueue(&mut self, at: Instant, packet: ReceivedPacket<'static>) {
        self.order += 1;
        self.queue.insert((at, self.order), packet);
    }
}
