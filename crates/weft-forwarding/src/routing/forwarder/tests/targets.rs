//! Spatial layers of AV1 with dependency descriptors.

use super::*;
use crate::routing::dependencies::Dependencies;
use weft_testing::octets;
use weft_wire::rtp::dependency::{Details, Mandatory};

/// Indications and references of the templates 0 to 3: delta and key of the lower layer,
/// delta and key of the upper one. Bits in the notation of the standard.
struct Mode {
    indications: &'static str,
    references: &'static str,
}

/// L2T1: the upper layer refers to the lower one in every picture.
const FULL: Mode = Mode {
    indications: "10 11 10 10 00 10 00 10",
    references: "1 0001 0 0 1 0001 1 0000 0 1 0000 0",
};
/// L2T1_KEY: the upper layer refers to the lower one only in keyframes.
const KEY: Mode = Mode {
    indications: "10 00 10 10 00 10 00 10",
    references: "1 0001 0 0 1 0001 0 1 0000 0",
};

/// Publisher with two spatial layers: each picture has a frame of each, and each frame
/// one packet.
struct Publisher {
    mode: &'static Mode,
    dependencies: Dependencies,
    rates: LayerRates,
    frame: u16,
    sequence: u64,
}

impl Publisher {
    fn new(mode: &'static Mode, frame: u16) -> Publisher {
        Publisher {
            mode,
            dependencies: Dependencies::default(),
            rates: LayerRates::default(),
            frame,
            sequence: 100,
        }
    }

    fn packets(&mut self, keyframe: bool) -> [Parsed; 2] {
        let timestamp = u32::from(self.frame / 2) * TICKS;
        [0, 1].map(|layer: u8| {
            let template = 2 * layer + u8::from(keyframe);
            let number = self.frame.to_be_bytes();
            let mut dependency = vec![0xc0 | template, number[0], number[1]];
            let begins = keyframe && layer == 0;
            if begins {
                // A structure alone; ids from 0, two targets; layers; no chains, no sizes.
                let Mode {
                    indications,
                    references,
                } = self.mode;
                let head = "1 0 0 0 0 000000 00001 00 10 00 11";
                dependency.extend(octets(&[head, indications, references, "0 0"].concat()));
            }
            let packet = MediaPacket {
                sequence: self.sequence,
                timestamp,
                marker: layer == 1,
                audio_level: None,
                dependency: dependency.into(),
                payload: [0x10 | u8::from(begins) << 3, 0x30, layer].into(),
            };
            self.frame = self.frame.wrapping_add(1);
            self.sequence += 1;
            let mut parsed = Parsed::new(Codec::Av1, packet).unwrap();
            parsed.describe(self.dependencies.read(Codec::Av1, &parsed.packet));
            parsed
        })
    }
}

/// Viewer of a publisher; pictures of 200 and 600 kbit/s at 20 a second.
struct Viewer {
    forwarder: Forwarder,
    ms: u64,
}

impl Viewer {
    fn new(kbps: u64) -> Viewer {
        let mut forwarder = Forwarder::new(Codec::Av1);
        limit(&mut forwarder, kbps);
        Viewer { forwarder, ms: 0 }
    }

    /// Forwards this many pictures, the first of which may be a keyframe; returns the
    /// packets and the number of requested keyframes.
    fn see(&mut self, publisher: &mut Publisher, count: u64, mut keyframe: bool) -> Seen {
        let mut seen = Seen::default();
        for _ in 0..count {
            let now = at(self.ms);
            for parsed in publisher.packets(std::mem::take(&mut keyframe)) {
                let size = if parsed.packet.marker { 2_500 } else { 1_250 };
                publisher.rates.on_packet(now, parsed.layers(), Bytes(size));
                let rates = publisher.rates.cumulative(now);
                self.forwarder.handle_parsed(now, &parsed, rates);
            }
            self.ms += 50;
        }
        while let Some(output) = self.forwarder.poll_output() {
            match output {
                Forwarding::Packet(packet) => seen.packets.push(packet),
                Forwarding::KeyframeNeeded => seen.requests += 1,
                Forwarding::Forget => seen.forgets += 1,
            }
        }
        seen
    }
}

#[derive(Default)]
struct Seen {
    packets: Vec<ForwardedPacket>,
    requests: usize,
    forgets: usize,
}

impl Seen {
    /// Layer of each packet.
    fn layers(&self) -> Vec<u8> {
        self.packets.iter().map(|p| p.payload.body[2]).collect()
    }

    fn numbers(&self) -> Vec<u16> {
        let number = |p: &ForwardedPacket| Mandatory::parse(&p.dependency).unwrap().number;
        self.packets.iter().map(number).collect()
    }
}

fn assert_contiguous(seen: &[&Seen]) {
    let packets = seen.iter().flat_map(|seen| &seen.packets);
    let numbers: Vec<u64> = packets.map(|p| p.sequence).collect();
    assert!(
        numbers.iter().copied().eq(1..=numbers.len() as u64),
        "{numbers:?}"
    );
}

#[test]
fn a_strong_viewer_sees_every_frame_with_the_descriptor_of_the_publisher() {
    let (mut publisher, mut viewer) = (Publisher::new(&FULL, 8), Viewer::new(5_000));
    let seen = viewer.see(&mut publisher, 40, true);
    assert_eq!(seen.layers(), [0, 1].repeat(40));
    assert!(seen.numbers().into_iter().eq(8..88));
    assert_eq!(seen.packets[1].dependency[..], [0xc3, 0, 9]);
    let first = Details::parse(&seen.packets[0].dependency, None).unwrap();
    assert_eq!((first.active, seen.requests), (Some(0b11), 0));
    assert_contiguous(&[&seen]);
}

#[test]
fn a_lower_target_that_every_picture_contains_is_entered_at_once() {
    let (mut publisher, mut viewer) = (Publisher::new(&FULL, 8), Viewer::new(5_000));
    let wide = viewer.see(&mut publisher, 40, true);
    limit(&mut viewer.forwarder, 300);
    let narrow = viewer.see(&mut publisher, 10, false);
    assert_eq!(narrow.layers(), [0; 10]);
    assert!(
        narrow.packets.iter().all(|packet| packet.marker),
        "each ends a picture"
    );
    assert_eq!(narrow.requests, 0);
    // The first packet announces that only the lower target is sent from here on.
    let first = &narrow.packets[0].dependency;
    assert_eq!((first.len(), first[3]), (4, 0b0100_0010));
    assert_eq!(narrow.packets[1].dependency.len(), 3);
    assert_contiguous(&[&wide, &narrow]);
}

#[test]
fn an_upper_layer_returns_with_a_keyframe_which_is_requested_once() {
    let (mut publisher, mut viewer) = (Publisher::new(&FULL, 8), Viewer::new(5_000));
    let wide = viewer.see(&mut publisher, 40, true);
    limit(&mut viewer.forwarder, 300);
    let narrow = viewer.see(&mut publisher, 10, false);
    limit(&mut viewer.forwarder, 5_000);
    let waiting = viewer.see(&mut publisher, 45, false);
    assert_eq!((waiting.layers(), waiting.requests), (vec![0; 45], 1));
    let again = viewer.see(&mut publisher, 5, true);
    assert_eq!((again.layers(), again.requests), ([0, 1].repeat(5), 0));
    let marked: Vec<bool> = again.packets.iter().map(|packet| packet.marker).collect();
    assert_eq!(marked, [false, true].repeat(5));
    assert_contiguous(&[&wide, &narrow, &waiting, &again]);
}

#[test]
fn larger_pictures_that_turn_out_too_large_are_forgotten_and_tried_again_much_later() {
    let (mut publisher, mut viewer) = (Publisher::new(&FULL, 8), Viewer::new(300));
    let narrow = viewer.see(&mut publisher, 20, true);
    limit(&mut viewer.forwarder, 5_000);
    let waiting = viewer.see(&mut publisher, 45, false);
    assert_eq!((waiting.requests, waiting.forgets), (1, 0));
    let wide = viewer.see(&mut publisher, 10, true);
    assert_eq!(wide.layers(), [0, 1].repeat(10));
    limit(&mut viewer.forwarder, 300);
    let stopped = viewer.see(&mut publisher, 5, false);
    assert_eq!(
        (stopped.packets.len(), stopped.requests, stopped.forgets),
        (0, 1, 1)
    );
    let again = viewer.see(&mut publisher, 5, true);
    assert_eq!(again.layers(), [0; 5]);
    limit(&mut viewer.forwarder, 5_000);
    let patient = viewer.see(&mut publisher, 190, false);
    assert_eq!((patient.layers(), patient.requests), (vec![0; 190], 0));
    assert_eq!(viewer.see(&mut publisher, 20, false).requests, 1);
    assert_contiguous(&[&narrow, &waiting, &wide, &again, &patient]);
}

#[test]
fn a_target_with_frames_of_its_own_is_entered_only_at_a_keyframe() {
    let (mut publisher, mut viewer) = (Publisher::new(&KEY, 8), Viewer::new(5_000));
    let wide = viewer.see(&mut publisher, 40, true);
    // After the keyframe, the upper target does not need the lower layer.
    assert_eq!(wide.layers(), [vec![0, 1], vec![1; 39]].concat());
    limit(&mut viewer.forwarder, 300);
    let waiting = viewer.see(&mut publisher, 3, false);
    assert_eq!((waiting.layers(), waiting.requests), (vec![1; 3], 1));
    let narrow = viewer.see(&mut publisher, 3, true);
    assert_eq!((narrow.layers(), narrow.requests), (vec![0; 3], 0));
    let first = Details::parse(&narrow.packets[0].dependency, None).unwrap();
    assert_eq!(first.active, Some(0b01));
    assert_contiguous(&[&wide, &waiting, &narrow]);
}

#[test]
fn frame_numbers_continue_over_another_source() {
    let (mut first, mut viewer) = (Publisher::new(&FULL, 65_530), Viewer::new(5_000));
    let before = viewer.see(&mut first, 5, true);
    assert_eq!(before.numbers().last(), Some(&3));
    viewer.forwarder.switch_source();
    let after = viewer.see(&mut Publisher::new(&FULL, 40_000), 5, true);
    assert!(after.numbers().into_iter().eq(4..14));
}

#[test]
fn a_frame_whose_structure_comes_late_goes_through() {
    let (mut publisher, mut viewer) = (Publisher::new(&FULL, 8), Viewer::new(5_000));
    let _ = viewer.see(&mut publisher, 2, true);
    publisher.dependencies = Dependencies::default();
    let blind = viewer.see(&mut publisher, 2, false);
    assert_eq!(
        (blind.layers(), blind.numbers()),
        ([0, 1].repeat(2), vec![12, 13, 14, 15])
    );
}
