//! H.264: packets neither number their frame nor mark the first packet of it.

use super::support::{A, FIRST, at_ms, ms};
use crate::receive::*;
use weft_units::Codec;
use weft_wire::payload::h264::{self, NalHeader, nal_units};

/// Packets of a sender, in order.
struct Sender {
    sequence: u64,
    frames: u32,
}

#[derive(Clone, Debug)]
struct Packet {
    sequence: u64,
    timestamp: u32,
    marker: bool,
    payload: Vec<u8>,
}

const SPS: u8 = 7;
const PPS: u8 = 8;
const IDR: u8 = 5;
const SLICE: u8 = 1;
const MAX_PAYLOAD: usize = 1000;

impl Sender {
    fn new() -> Sender {
        Sender {
            sequence: FIRST,
            frames: 0,
        }
    }

    /// Makes a picture of units of these types; slices have a length of 2500, so three
    /// packets.
    fn frame(&mut self, kinds: &[u8]) -> Vec<Packet> {
        let mut packets = Vec::new();
        for &kind in kinds {
            let reference = 3;
            let len = if kind > IDR { 9 } else { 2500 };
            let mut unit = vec![self.frames as u8 | 1; len];
            unit[0] = NalHeader { reference, kind }.octet();
            for part in h264::parts(&unit, MAX_PAYLOAD) {
                let mut payload = Vec::new();
                part.write(&mut payload);
                packets.push(Packet {
                    sequence: self.sequence,
                    timestamp: self.frames * 3000,
                    marker: false,
                    payload,
                });
                self.sequence += 1;
            }
        }
        self.frames += 1;
        packets.last_mut().unwrap().marker = true;
        packets
    }

    fn keyframe(&mut self) -> Vec<Packet> {
        self.frame(&[SPS, PPS, IDR])
    }

    fn delta(&mut self) -> Vec<Packet> {
        self.frame(&[SLICE])
    }

    /// Makes a packet that only takes a sequence number.
    fn filler(&mut self) -> Packet {
        self.sequence += 1;
        Packet {
            sequence: self.sequence - 1,
            timestamp: self.frames * 3000,
            marker: false,
            payload: Vec::new(),
        }
    }
}

struct Desk {
    receiver: Receiver,
    now: u64,
    /// RTP timestamp, whether it is a keyframe, and types of its units.
    shown: Vec<(u32, bool, Vec<u8>)>,
    keyframes_asked: usize,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            receiver: Receiver::new(ReceiveConfig {
                codec: Codec::H264,
                delivery: Delivery::Frames,
                profile: ReceiverProfile::default(),
            }),
            now: 1000,
            shown: Vec::new(),
            keyframes_asked: 0,
        }
    }

    fn take<'a>(&mut self, packets: impl IntoIterator<Item = &'a Packet>) {
        for packet in packets {
            let received = ReceivedPacket {
                path: A,
                sequence: packet.sequence,
                stream_sequence: Some(packet.sequence as u16),
                timestamp: packet.timestamp,
                marker: packet.marker,
                audio_level: None,
                dependency: &[],
                payload: &packet.payload,
                recovered: false,
            };
            self.receiver.handle_packet(at_ms(self.now), received);
            self.drain();
        }
    }

    /// Waits until the next frame.
    fn wait(&mut self, millis: u64) {
        let until = self.now + millis;
        while self.now < until {
            self.now += 1;
            self.receiver.handle_timeout(at_ms(self.now));
            self.drain();
        }
        self.receiver.assert_bounded();
    }

    fn drain(&mut self) {
        while let Some(event) = self.receiver.poll_event() {
            match event {
                ReceiveEvent::Frame(frame) => {
                    let kind = |unit: &[u8]| NalHeader::parse(unit[0]).unwrap().kind;
                    let kinds = nal_units(&frame.data).map(kind).collect();
                    self.shown.push((frame.timestamp, frame.keyframe, kinds));
                }
                ReceiveEvent::KeyframeNeeded => self.keyframes_asked += 1,
                _ => {}
            }
        }
    }

    fn timestamps(&self) -> Vec<u32> {
        self.shown
            .iter()
            .map(|(timestamp, ..)| *timestamp)
            .collect()
    }
}

#[test]
fn frames_are_put_together_from_parameters_and_fragments() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    let first = sender.keyframe();
    assert_eq!(first.len(), 5);
    desk.take(&first);
    desk.wait(33);
    for _ in 0..3 {
        desk.take(&sender.delta());
        desk.wait(33);
    }
    desk.wait(500);
    let key = (0, true, vec![SPS, PPS, IDR]);
    let delta = |n: u32| (n * 3000, false, vec![SLICE]);
    assert_eq!(desk.shown, [key, delta(1), delta(2), delta(3)]);
    assert_eq!(desk.keyframes_asked, 0);
    assert_eq!(desk.receiver.stats().packets.malformed, 0);
}

#[test]
fn packets_out_of_order_over_the_borders_of_frames_make_the_same_frames() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    desk.take(&sender.keyframe());
    desk.wait(33);
    let two = [sender.delta(), sender.delta()].concat();
    // The second frame arrives before any packet of the first.
    desk.take(two[3..].iter().rev());
    desk.wait(5);
    desk.take(two[..3].iter().rev());
    desk.wait(500);
    assert_eq!(desk.timestamps(), [0, 3000, 6000]);
    assert_eq!(desk.shown[2].2, [SLICE]);
}

#[test]
fn a_frame_is_not_taken_for_whole_without_its_beginning() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    desk.take(&sender.keyframe());
    desk.wait(33);
    let frame = sender.delta();
    // The remaining packets are contiguous and end with the marker.
    desk.take(&frame[1..]);
    desk.wait(60);
    assert_eq!(desk.timestamps(), [0]);
    desk.take(&frame[..1]);
    desk.wait(200);
    assert_eq!(desk.timestamps(), [0, 3000]);
}

#[test]
fn nothing_is_shown_after_a_loss_until_a_keyframe_with_its_parameters() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    desk.take(&sender.keyframe());
    desk.wait(33);
    let whole_frame_lost = sender.delta();
    drop(whole_frame_lost);
    for _ in 0..60 {
        desk.take(&sender.delta());
        desk.wait(33);
    }
    assert_eq!(desk.timestamps(), [0], "nothing refers to what is shown");
    assert!((1..20).contains(&desk.keyframes_asked));
    let at = sender.frames * 3000;
    desk.take(&sender.keyframe());
    desk.wait(33);
    desk.take(&sender.delta());
    desk.wait(500);
    assert_eq!(desk.timestamps(), [0, at, at + 3000]);
}

#[test]
fn the_first_frame_is_an_idr_picture_with_both_parameter_sets() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    for kinds in [&[SLICE][..], &[IDR], &[SPS, IDR], &[PPS, IDR]] {
        desk.take(&sender.frame(kinds));
        desk.wait(33);
    }
    desk.wait(1000);
    assert_eq!(desk.timestamps(), [0; 0]);
    assert!(desk.keyframes_asked > 0);
    desk.take(&sender.keyframe());
    desk.wait(33);
    // Once the parameters are known, they may be omitted.
    desk.take(&sender.frame(&[IDR]));
    desk.wait(500);
    let keyframes: Vec<bool> = desk.shown.iter().map(|(_, key, _)| *key).collect();
    assert_eq!(keyframes, [true, true]);
}

#[test]
fn a_number_without_media_ends_no_frame_and_holds_up_none() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    desk.take(&sender.keyframe());
    desk.wait(33);
    let filler = sender.filler();
    let frame = sender.delta();
    desk.take(&frame);
    desk.wait(10);
    assert_eq!(desk.timestamps(), [0], "the number may belong to the frame");
    desk.take([&filler]);
    desk.wait(ms(500).as_millis());
    assert_eq!(desk.timestamps(), [0, 3000]);
}

#[test]
fn payloads_that_are_not_h264_are_counted_and_dropped() {
    let (mut sender, mut desk) = (Sender::new(), Desk::new());
    let mut bad = sender.delta();
    bad[1].payload = vec![0xff; 10];
    desk.take(&bad);
    desk.take(&sender.keyframe());
    desk.wait(500);
    assert_eq!(desk.timestamps(), [3000]);
    assert_eq!(desk.receiver.stats().packets.malformed, 1);
}
