mod h264;
mod layers;
mod order;
mod targets;

use super::*;
use crate::routing::layers::LayerRates;
use proptest::prelude::*;
use std::collections::BTreeSet;
use weft_units::{AudioLevel, Bytes};
use weft_wire::media::SharedBytes;
use weft_wire::payload::vp8;

impl Forwarder {
    /// Handles a packet of the track; `rates` are those of all its layers.
    fn handle_packet(&mut self, now: Instant, packet: &MediaPacket, rates: &LayerRates) {
        match Parsed::new(self.codec, packet.clone()) {
            Some(parsed) => self.handle_parsed(now, &parsed, rates.cumulative(now)),
            None => self.handle_unusable(now, packet),
        }
    }
}

/// Layers of libwebrtc's pattern with three temporal layers, one cycle.
const PATTERN: [u8; 4] = [0, 2, 1, 2];
/// Ticks between pictures at 30 a second.
const TICKS: u32 = 3_000;

/// Encoder with three temporal layers: each picture refers to the newest one of each
/// layer up to its own; those with the sync flag refer only to the base layer. The
/// references are written into the payload.
struct Encoder {
    sequence: u64,
    picture: u64,
    tl0: u8,
    newest: [Option<u64>; 3],
    packets: usize,
}

#[derive(Debug, Clone)]
struct Sent {
    picture: u64,
    layer: u8,
    refers_to: Vec<u64>,
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

impl Encoder {
    fn new(sequence: u64, picture: u64) -> Encoder {
        Encoder {
            sequence,
            picture,
            tl0: 250,
            newest: [None; 3],
            packets: 3,
        }
    }

    fn picture(&mut self, keyframe: bool) -> (Sent, Vec<MediaPacket>) {
        let layer = if keyframe {
            0
        } else {
            PATTERN[(self.picture % 4) as usize]
        };
        let own = usize::from(layer);
        // As in libwebrtc: the first picture of each upper layer after a base picture
        // refers only to that.
        let sync = layer > 0 && self.newest[1..=own].iter().all(|n| *n < self.newest[0]);
        let refers_to: Vec<u64> = match (keyframe, sync) {
            (true, _) => vec![],
            (_, true) => self.newest[0].into_iter().collect(),
            _ => self.newest[..=own].iter().copied().flatten().collect(),
        };
        if layer == 0 {
            self.tl0 = self.tl0.wrapping_add(1);
        }
        if keyframe {
            self.newest = [None; 3];
        }
        let packets = (0..self.packets)
            .map(|n| self.packet(n, layer, sync, keyframe))
            .collect();
        self.newest[own] = Some(self.picture);
        let sent = Sent {
            picture: self.picture,
            layer,
            refers_to,
        };
        self.picture += 1;
        (sent, packets)
    }

    fn packet(&mut self, n: usize, layer: u8, sync: bool, keyframe: bool) -> MediaPacket {
        let descriptor = vp8::Descriptor {
            start_of_partition: n == 0,
            picture_id: Some((self.picture % (1 << 15)) as u16),
            tl0_picture_index: Some(self.tl0),
            temporal_layer: Some(layer),
            layer_sync: sync,
            ..vp8::Descriptor::default()
        };
        let mut payload = Vec::new();
        descriptor.write(&mut payload);
        payload.push(u8::from(!keyframe));
        payload.extend_from_slice(&self.picture.to_be_bytes());
        let packet = MediaPacket {
            sequence: self.sequence,
            timestamp: (self.picture as u32).wrapping_mul(TICKS),
            marker: n + 1 == self.packets,
            audio_level: None,
            dependency: SharedBytes::default(),
            payload: payload.into(),
        };
        self.sequence += 1;
        packet
    }
}

/// Rates of 200, 400 and 800 kbps up to layer 0, 1 and 2.
fn rates() -> LayerRates {
    let mut rates = LayerRates::default();
    for n in 0..40 {
        rates.on_packet(at(n * 50), PATTERN[(n % 4) as usize], Bytes(5_000));
    }
    rates
}

fn packets(forwarder: &mut Forwarder) -> Vec<ForwardedPacket> {
    std::iter::from_fn(|| forwarder.poll_output())
        .filter_map(|o| match o {
            Forwarding::Packet(packet) => Some(packet),
            Forwarding::KeyframeNeeded | Forwarding::Forget => None,
        })
        .collect()
}

fn source_picture(packet: &ForwardedPacket) -> Option<u64> {
    let payload = packet.payload.to_vec();
    let (_, body) = vp8::parse(&payload).ok()?;
    Some(u64::from_be_bytes(body[1..9].try_into().unwrap()))
}

fn limit(forwarder: &mut Forwarder, kbps: u64) {
    forwarder.set_downlink(
        at(0),
        Downlink {
            target: Some(Rate::from_kbps(kbps)),
            limit: None,
            queued: Duration::ZERO,
        },
    );
}

#[test]
fn nothing_goes_before_a_keyframe_and_everything_after() {
    let mut encoder = Encoder::new(100_000, 5);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    for keyframe in [false, false, true, false] {
        for packet in encoder.picture(keyframe).1 {
            forwarder.handle_packet(at(0), &packet, &rates);
        }
    }
    let out = packets(&mut forwarder);
    let sequences: Vec<u64> = out.iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5, 6]);
    let keyframes: Vec<bool> = out.iter().map(|p| p.keyframe).collect();
    assert_eq!(keyframes, [true, true, true, false, false, false]);
    assert_eq!(forwarder.stats().before_keyframe, 6);
}

#[test]
fn the_rest_of_a_keyframe_waits_for_its_late_first_packet() {
    let mut encoder = Encoder::new(100_000, 5);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    let mut first = encoder.picture(true).1;
    first.extend(encoder.picture(false).1);
    let late = first.remove(0);
    for packet in &first {
        forwarder.handle_packet(at(10), packet, &rates);
    }
    assert_eq!(packets(&mut forwarder), []);
    forwarder.handle_packet(at(80), &late, &rates);
    let out = packets(&mut forwarder);
    let sequences: Vec<u64> = out.iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5, 6]);
    assert!(out[1].keyframe && out[2].keyframe && !out[3].keyframe);
}

#[test]
fn dropped_layers_leave_no_gap_in_any_number() {
    let mut encoder = Encoder::new(100_000, 32_760);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = rates();
    limit(&mut forwarder, 450); // layers 0 and 1
    let mut out = Vec::new();
    for n in 0..16 {
        for packet in encoder.picture(n == 0).1 {
            forwarder.handle_packet(at(2_000), &packet, &rates);
        }
        out.extend(packets(&mut forwarder));
    }
    // Pictures 0, 2, 4, .. of three packets each.
    let sequences: Vec<u64> = out.iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, (1..=24).collect::<Vec<u64>>());
    let descriptors: Vec<_> = out
        .iter()
        .step_by(3)
        .map(|p| vp8::parse(&p.payload.to_vec()).unwrap().0)
        .collect();
    let ids: Vec<u16> = descriptors.iter().map(|d| d.picture_id.unwrap()).collect();
    assert_eq!(
        ids,
        [
            32_760, 32_761, 32_762, 32_763, 32_764, 32_765, 32_766, 32_767
        ]
    );
    let layers: Vec<u8> = descriptors
        .iter()
        .map(|d| d.temporal_layer.unwrap())
        .collect();
    assert_eq!(layers, [0, 1, 0, 1, 0, 1, 0, 1]);
    let tl0: Vec<u8> = descriptors
        .iter()
        .map(|d| d.tl0_picture_index.unwrap())
        .collect();
    assert_eq!(tl0, [251, 251, 252, 252, 253, 253, 254, 254]);
    let stamps: Vec<u32> = out.iter().step_by(3).map(|p| p.timestamp).collect();
    assert!(
        stamps
            .windows(2)
            .all(|w| w[1].wrapping_sub(w[0]) == 2 * TICKS)
    );
    assert_eq!(forwarder.stats().layer, 24);
}

#[test]
fn a_loss_upstream_stays_a_gap_until_the_packet_comes() {
    let mut encoder = Encoder::new(100_000, 0);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    let mut sent = encoder.picture(true).1;
    sent.extend(encoder.picture(false).1);
    let lost = sent.remove(4);
    for packet in &sent {
        forwarder.handle_packet(at(0), packet, &rates);
    }
    let sequences: Vec<u64> = packets(&mut forwarder).iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 6]);
    forwarder.handle_packet(at(50), &lost, &rates);
    forwarder.handle_packet(at(51), &lost, &rates);
    let late = packets(&mut forwarder);
    assert_eq!(late.len(), 1);
    assert_eq!(late[0].sequence, 5);
    assert_eq!(forwarder.stats().duplicate, 1);
}

#[test]
fn a_late_picture_that_is_not_wanted_is_filled_up() {
    let mut encoder = Encoder::new(100_000, 0);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = rates();
    limit(&mut forwarder, 250); // the base layer only
    let pictures: Vec<_> = (0..5).map(|n| encoder.picture(n == 0).1).collect();
    // Picture 1 (layer 2) arrives after picture 2, whose first packet is missing, too:
    // the content of the numbers between is unknown.
    let order = [
        &pictures[0][..],
        &pictures[2][1..],
        &pictures[4],
        &pictures[1],
    ];
    for packet in order.concat() {
        forwarder.handle_packet(at(2_000), &packet, &rates);
    }
    let out = packets(&mut forwarder);
    let sequences: BTreeSet<u64> = out.iter().map(|p| p.sequence).collect();
    assert_eq!(sequences.len(), out.len());
    let fillers = out.iter().filter(|p| p.payload.is_empty()).count();
    assert_eq!(fillers as u64, forwarder.stats().fillers);
    assert_eq!(fillers, 3);
}

#[test]
fn another_source_continues_where_the_first_ended() {
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    let mut first = Encoder::new(100_000, 7);
    for packet in first.picture(true).1 {
        forwarder.handle_packet(at(0), &packet, &rates);
    }
    let before = packets(&mut forwarder).pop().unwrap();
    forwarder.switch_source();
    assert_eq!(forwarder.poll_output(), Some(Forwarding::KeyframeNeeded));
    let mut second = Encoder::new(70_000, 30_000);
    second.tl0 = 17;
    for keyframe in [false, true] {
        for packet in second.picture(keyframe).1 {
            forwarder.handle_packet(at(100), &packet, &rates);
        }
    }
    let after = packets(&mut forwarder);
    assert_eq!(after[0].sequence, before.sequence + 1);
    // 100 ms at 90 kHz.
    assert_eq!(after[0].timestamp, before.timestamp.wrapping_add(9_000));
    let number = |p: &ForwardedPacket| {
        let descriptor = vp8::parse(&p.payload.to_vec()).unwrap().0;
        (
            descriptor.picture_id.unwrap(),
            descriptor.tl0_picture_index.unwrap(),
        )
    };
    assert_eq!((number(&before), number(&after[0])), ((7, 251), (8, 252)));
}

#[test]
fn a_subscriber_with_a_long_queue_gets_whole_pictures_or_none() {
    let mut encoder = Encoder::new(100_000, 0);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    let queued = |ms| Downlink {
        target: None,
        limit: None,
        queued: Duration::from_millis(ms),
    };
    let pictures: Vec<_> = (0..7).map(|n| encoder.picture(n % 6 == 0).1).collect();
    forwarder.handle_packet(at(0), &pictures[0][0], &rates);
    forwarder.set_downlink(at(1), queued(1_001));
    // Three pictures above the base layer, and one of it.
    for packet in pictures[0][1..]
        .iter()
        .chain(pictures[1..5].iter().flatten())
    {
        forwarder.handle_packet(at(1), packet, &rates);
    }
    assert_eq!(packets(&mut forwarder).len(), 3);
    assert_eq!(forwarder.stats().layer, 9);
    assert_eq!(forwarder.stats().congested, 3);
    // Not so soon after the previous keyframe.
    forwarder.set_downlink(at(1_499), queued(100));
    assert_eq!(forwarder.poll_output(), None);
    forwarder.set_downlink(at(2_000), queued(101));
    assert_eq!(forwarder.poll_output(), None);
    forwarder.set_downlink(at(2_000), queued(100));
    assert_eq!(forwarder.poll_output(), Some(Forwarding::KeyframeNeeded));
    for packet in pictures[5].iter().chain(&pictures[6]) {
        forwarder.handle_packet(at(2_002), packet, &rates);
    }
    let sequences: Vec<u64> = packets(&mut forwarder).iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [4, 5, 6]);
}

#[test]
fn a_jump_of_the_source_is_an_interruption() {
    let mut encoder = Encoder::new(100_000, 0);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    for packet in encoder.picture(true).1 {
        forwarder.handle_packet(at(0), &packet, &rates);
    }
    encoder.sequence += MAX_SEQUENCE_GAP + 1;
    let mut feed = |forwarder: &mut Forwarder, keyframe| {
        for packet in encoder.picture(keyframe).1 {
            forwarder.handle_packet(at(9_000), &packet, &rates);
        }
    };
    packets(&mut forwarder);
    feed(&mut forwarder, false);
    assert_eq!(forwarder.poll_output(), Some(Forwarding::KeyframeNeeded));
    feed(&mut forwarder, true);
    let sequences: Vec<u64> = packets(&mut forwarder).iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [4, 5, 6]);
}

#[test]
fn sound_starts_with_any_packet_and_keeps_its_payload() {
    let mut forwarder = Forwarder::new(Codec::Opus);
    let packet = |sequence, timestamp| MediaPacket {
        sequence,
        timestamp,
        marker: false,
        audio_level: Some(AudioLevel(30)),
        dependency: SharedBytes::default(),
        payload: [1, 2, 3].into(),
    };
    let rates = LayerRates::default();
    forwarder.handle_packet(at(0), &packet(90_000, 77), &rates);
    forwarder.switch_source();
    forwarder.handle_packet(at(20), &packet(70_000, 5), &rates);
    let out = packets(&mut forwarder);
    assert_eq!((out[0].sequence, out[0].timestamp), (1, 77));
    // 20 ms at 48 kHz are 960.
    assert_eq!((out[1].sequence, out[1].timestamp), (2, 77 + 960));
    assert_eq!(out[1].payload.to_vec(), [1, 2, 3]);
    assert_eq!(out[1].audio_level, Some(AudioLevel(30)));
}

#[test]
fn an_unreadable_payload_is_counted_and_leaves_no_gap() {
    let mut encoder = Encoder::new(100_000, 0);
    let mut forwarder = Forwarder::new(Codec::Vp8);
    let rates = LayerRates::default();
    for packet in encoder.picture(true).1 {
        forwarder.handle_packet(at(0), &packet, &rates);
    }
    let bad = MediaPacket {
        sequence: 100_003,
        timestamp: 0,
        marker: false,
        audio_level: None,
        dependency: SharedBytes::default(),
        payload: SharedBytes::default(),
    };
    forwarder.handle_packet(at(0), &bad, &rates);
    encoder.sequence += 1;
    for packet in encoder.picture(false).1 {
        forwarder.handle_packet(at(0), &packet, &rates);
    }
    let sequences: Vec<u64> = packets(&mut forwarder).iter().map(|p| p.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5, 6]);
    assert_eq!(forwarder.stats().malformed, 1);
}
