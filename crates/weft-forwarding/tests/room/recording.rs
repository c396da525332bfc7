//! Recording of a room, by a recorder that accepts everything.

use super::{ada, seconds};
use crate::world::Room;
use std::collections::{BTreeMap, BTreeSet};
use weft_forwarding::{Recorded, RecordedKind, RecordedTrack, ResourceId, Sound};
use weft_testing::pictures::Layers;
use weft_units::{Codec, Duration, Instant, Rate};
use weft_wire::media::ForwardedPacket;

const GOOD: &str = "rate=20mbit,delay=10ms";

/// Track as the recorder receives it.
struct Track {
    kind: RecordedKind,
    codec: Codec,
    packets: Vec<(Instant, ForwardedPacket)>,
    ended: bool,
}

impl Track {
    /// Returns the number of frames that ended after a time.
    fn frames(&self, from: Instant) -> usize {
        let last = |(at, packet): &&(Instant, ForwardedPacket)| *at >= from && packet.marker;
        self.packets.iter().filter(last).count()
    }

    /// Returns the rate of the packets from one time to another.
    fn rate(&self, from: Instant, to: Instant) -> Rate {
        let packets = self.packets.iter().filter(|(at, _)| *at >= from);
        let bytes: usize = packets.map(|(_, packet)| packet.payload.len()).sum();
        Rate::from_bps((bytes as f64 * 8.0 / (to - from).as_secs_f64()) as u64)
    }
}

fn tracks(room: &Room) -> Vec<Track> {
    let mut tracks: BTreeMap<RecordedTrack, Track> = BTreeMap::new();
    for (at, message) in &room.recorded {
        match message {
            Recorded::Began {
                track,
                publisher,
                kind,
                codec,
            } => {
                assert_eq!(*publisher, ada());
                let began = Track {
                    kind: *kind,
                    codec: *codec,
                    packets: Vec::new(),
                    ended: false,
                };
                assert!(tracks.insert(*track, began).is_none());
            }
            Recorded::Packet { track, packet } => {
                let track = tracks.get_mut(track).expect("it began");
                assert!(!track.ended);
                track.packets.push((*at, packet.clone()));
            }
            Recorded::Ended { track } => tracks.get_mut(track).expect("it began").ended = true,
        }
    }
    tracks.into_values().collect()
}

fn record(room: &mut Room, recorded: bool) {
    room.plane.set_recorded(room.now, "r", recorded);
    room.drain();
}

#[test]
fn a_recording_begins_with_a_keyframe_and_has_all_that_is_published() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms,loss=1%"]);
    room.publish_with_sound(&ada());
    room.run(seconds(2));
    record(&mut room, true);
    let from = room.now;
    room.run(seconds(5));
    record(&mut room, false);
    room.run(seconds(1));

    let tracks = tracks(&room);
    let kinds: Vec<_> = tracks.iter().map(|t| (t.kind, t.codec)).collect();
    let expected = [
        (RecordedKind::Camera, Codec::Vp8),
        (RecordedKind::Microphone, Codec::Opus),
    ];
    assert_eq!(kinds, expected);
    for track in &tracks {
        assert!(track.ended);
        let last = track.packets.last().expect("packets came").0;
        assert!(last - from <= seconds(5), "it ends when it is stopped");
        // The link loses 1 %, and lost sound is not requested again.
        let numbers: BTreeSet<u64> = track.packets.iter().map(|(_, p)| p.sequence).collect();
        let span = numbers.last().expect("some") - numbers.first().expect("some") + 1;
        let missing = span as usize - numbers.len();
        assert!(missing * 30 < numbers.len(), "{missing} missing");
    }
    let first = &tracks[0].packets[0];
    assert!(first.1.keyframe && first.0 - from < Duration::from_millis(200));
    let frames = tracks[0].frames(from);
    assert!((140..=150).contains(&frames), "{frames} pictures");
    assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
}

/// No viewers. A camera in encodings of 150 and 1350 kbit/s.
#[test]
fn the_best_encoding_is_recorded_and_the_others_are_not_sent() {
    let mut room = Room::new(1, &[GOOD]);
    room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
    room.publish_encodings(&ada(), &[150, 1_350].map(Rate::from_kbps));
    room.run(seconds(20));
    assert_eq!(room.clients[0].camera().wanted, [false, false]);
    record(&mut room, true);
    room.run(seconds(10));
    assert_eq!(room.clients[0].camera().wanted, [false, true]);
    let from = room.now;
    room.run(seconds(5));
    let (tracks, to) = (tracks(&room), room.now);
    assert_eq!(tracks.len(), 1);
    let rate = tracks[0].rate(from, to).as_bps() / 1000;
    assert!((1_100..=1_500).contains(&rate), "{rate} kbit/s");
    let frames = tracks[0].frames(from);
    assert!((73..=77).contains(&frames), "{frames} pictures");
}

#[test]
fn nothing_is_recorded_of_a_muted_participant_and_it_continues_afterwards() {
    let mut room = Room::new(1, &[GOOD]);
    room.publish_with_sound(&ada());
    room.run(seconds(1));
    record(&mut room, true);
    room.run(seconds(1));
    room.plane.set_sound(room.now, &ada(), Sound::Muted);
    let muted = room.now;
    room.run(seconds(1));
    let sound = |room: &Room| tracks(room).remove(1);
    assert!(sound(&room).packets.iter().all(|(at, _)| *at <= muted));
    room.plane.set_sound(room.now, &ada(), Sound::Forwarded);
    room.run(seconds(1));
    let numbers: Vec<u64> = sound(&room)
        .packets
        .iter()
        .map(|(_, p)| p.sequence)
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert!(sound(&room).packets.last().expect("some").0 > muted + seconds(1));
}

#[test]
fn a_participant_who_comes_back_is_recorded_again() {
    let mut room = Room::new(1, &[GOOD; 3]);
    room.publish(&ada());
    record(&mut room, true);
    room.run(seconds(2));
    // A second connection replaces the first one before that ends.
    room.publish(&ada());
    room.run(seconds(2));
    room.plane
        .close(room.now, &ResourceId("resource 0".to_owned()));
    room.run(seconds(1));
    let ended: Vec<bool> = tracks(&room).iter().map(|t| t.ended).collect();
    assert_eq!(ended, [false], "the track continues");
    let from = room.now;
    room.run(seconds(1));
    assert!((28..=32).contains(&tracks(&room)[0].frames(from)));

    room.plane
        .close(room.now, &ResourceId("resource 1".to_owned()));
    room.run(seconds(1));
    room.publish(&ada());
    room.run(seconds(2));
    let tracks = tracks(&room);
    let ended: Vec<bool> = tracks.iter().map(|t| t.ended).collect();
    assert_eq!(ended, [true, false]);
    assert!(tracks[1].packets[0].1.keyframe);
    assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
}
