//! Measures how many tracks one core records, from the queue of the server's thread to
//! files, without the network. Half of the tracks are cameras (VP8, 30 pictures a second,
//! 1 Mbit/s), half are microphones (Opus, 50 packets a second, 32 kbit/s).
//!
//! `cargo run --release -p weft-record --example tracks -- FOLDER [TRACKS [SECONDS]]`

use std::path::PathBuf;
use std::time::SystemTime;

use weft_record::{Recording, TrackKey, TrackKind, TrackSource};
use weft_testing::processor_time;
use weft_units::{Codec, Duration, Instant};
use weft_wire::media::{ForwardedPacket, ForwardedPayload, SharedBytes};
use weft_wire::payload::{Content, PictureNumbers, format_of};

const FPS: u64 = 30;
/// Octets of a picture of 1 Mbit/s, and of a packet of sound.
const PICTURE: usize = 1_000_000 / 8 / FPS as usize;
const SOUND: usize = 32_000 / 8 / 50;
/// Time between keyframes, in pictures.
const KEYFRAMES: u64 = 300;

/// Packets of one track.
struct Source {
    key: TrackKey,
    codec: Codec,
    sequence: u64,
}

impl Source {
    /// Returns the packets of the frame with this number.
    fn frame(&mut self, number: u64) -> Vec<ForwardedPacket> {
        let (data, timestamp) = match self.codec {
            Codec::Opus => (vec![0xfc; SOUND], number * 960),
            _ => (
                picture(number.is_multiple_of(KEYFRAMES)),
                number * 90_000 / FPS,
            ),
        };
        let parts = format_of(self.codec).cut(&data, PictureNumbers::default(), 1_100);
        let last = parts.len() - 1;
        let packets = parts.into_iter().enumerate().map(|(n, part)| {
            let mut payload = Vec::new();
            part.write(&mut payload);
            self.sequence += 1;
            ForwardedPacket {
                sequence: self.sequence,
                timestamp: timestamp as u32,
                marker: n == last,
                audio_level: None,
                dependency: Box::default(),
                payload: ForwardedPayload::from(SharedBytes::from(payload)),
                keyframe: false,
                content: Content::Media,
            }
        });
        packets.collect()
    }
}

/// Octets that start like a VP8 frame of 640 by 360 pixels (RFC 6386 section 9.1).
fn picture(keyframe: bool) -> Vec<u8> {
    let mut data = vec![0x55; PICTURE];
    let head = match keyframe {
        true => vec![0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x01],
        false => vec![0x11, 0, 0],
    };
    data[..head.len()].copy_from_slice(&head);
    data
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder: PathBuf = args.next().expect("a folder").into();
    let mut number = |otherwise| {
        args.next()
            .map_or(otherwise, |n| n.parse().expect("a number"))
    };
    let (tracks, seconds): (u64, u64) = (number(200), number(30));
    let start = Instant::from_nanos(1_000_000_000);
    let recording = Recording::create(&folder, "bench", (start, SystemTime::now()));
    let mut recording = recording.expect("a folder to write to");
    let mut sources = Vec::new();
    for n in 0..tracks {
        let (codec, kind) = match n % 2 {
            0 => (Codec::Vp8, TrackKind::Camera),
            _ => (Codec::Opus, TrackKind::Microphone),
        };
        let participant = format!("p{}", n / 2);
        let source = TrackSource {
            participant,
            kind,
            codec,
        };
        recording.begin(TrackKey(n), source);
        sources.push(Source {
            key: TrackKey(n),
            codec,
            sequence: 0,
        });
    }
    let mut busy = std::time::Duration::ZERO;
    let mut octets = 0;
    for ms in 0..seconds * 1000 {
        let now = start + Duration::from_millis(ms);
        let mut packets = Vec::new();
        for source in &mut sources {
            let per_second = match source.codec {
                Codec::Opus => 50,
                _ => FPS,
            };
            let number = (ms * per_second).div_ceil(1000);
            if number * 1000 / per_second == ms {
                let key = source.key;
                packets.extend(source.frame(number).into_iter().map(|p| (key, p)));
            }
        }
        let began = processor_time();
        for (key, packet) in packets {
            octets += packet.payload.len();
            recording.handle_packet(now, key, &packet).expect("room");
        }
        if ms % 20 == 0 {
            recording.handle_timeout(now).expect("room");
        }
        busy += processor_time() - began;
    }
    let began = processor_time();
    let end = start + Duration::from_secs(seconds);
    recording.finish(end, None).expect("room");
    busy += processor_time() - began;
    let part = busy.as_secs_f64() / seconds as f64;
    println!(
        "{tracks} tracks, {seconds} s, {:.1} MB: {:.1} % of a core, {:.0} tracks per core",
        octets as f64 / 1e6,
        part * 100.0,
        tracks as f64 / part
    );
}
