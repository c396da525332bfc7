//! Calls in a room of a real server, on loopback.

#[allow(dead_code)]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use weft_endpoint::caller::Track;
use weft_endpoint::{Call, CallConfig, Event, PlayedFrame, Receiving};
use weft_media::{AudioFrame, Microphone, MicrophoneError, Pace};
use weft_server::ServerHandle;
use weft_testing::where_the_machine_keeps_up;

use common::server;

/// Limit for all waits, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

fn config(server: &ServerHandle, name: &str) -> CallConfig {
    let mut config = CallConfig::new(&*server.url, "r");
    config.send.name = name.to_owned();
    config.send.links = vec!["127.0.0.1".parse().expect("a link")];
    config
}

fn join(server: &ServerHandle, name: &str, cameras: &[&str]) -> Call {
    let mut config = config(server, name);
    let cameras = cameras.iter().map(|camera| camera.parse());
    config.send.cameras = cameras.collect::<Result<_, _>>().expect("cameras");
    if !config.send.cameras.is_empty() {
        config.send.microphone = Some("tone".parse().expect("a tone"));
    }
    Call::start(config).expect("a call")
}

/// Returns the width in the header of a VP8 keyframe (RFC 6386 section 9.1).
fn width(keyframe: &[u8]) -> u16 {
    u16::from_le_bytes([keyframe[6], keyframe[7]]) & 0x3fff
}

/// Frames that a call has received.
#[derive(Default)]
struct Heard {
    names: BTreeMap<String, String>,
    ended: BTreeSet<String>,
    /// First width, and number of frames, of each camera; width 0 for sound.
    tracks: BTreeMap<(String, Track), (u16, u32)>,
}

impl Heard {
    fn on_frame(&mut self, played: &PlayedFrame) {
        let name = self.names[&played.from].clone();
        let first = match played.track {
            Track::Sound => 0,
            Track::Camera(_) => match played.frame.keyframe {
                true => width(&played.frame.data),
                false => u16::MAX,
            },
        };
        let seen = self.tracks.entry((name, played.track));
        let (width, frames) = seen.or_insert((first, 0));
        *frames += 1;
        // Cameras do not change their size in these tests.
        assert!(played.track == Track::Sound || !played.frame.keyframe || first == *width);
    }

    /// Runs the call until these participants are received, each with sound and this
    /// width and number of cameras.
    fn until(&mut self, call: &Call, expected: &[(&str, u16, usize)]) {
        let began = Instant::now();
        let tracks = expected.iter().flat_map(|(name, width, cameras)| {
            let cameras = (0..*cameras)
                .map(Track::Camera)
                .map(|track| (track, *width));
            let all = cameras.chain([(Track::Sound, 0)]);
            all.map(|(track, width)| ((name.to_string(), track), width))
        });
        let tracks: BTreeMap<_, _> = tracks.collect();
        let has = |heard: &Heard| {
            let here = |t: &(String, Track)| heard.tracks.get(t).is_some_and(|(_, n)| *n >= 3);
            tracks.keys().all(here)
        };
        while !has(self) {
            assert!(began.elapsed() < PATIENCE, "only {:?}", self.tracks);
            match call.next_event(Duration::from_secs(1)) {
                Ok(Event::Playing(who)) => {
                    self.names.insert(who.id, who.name);
                }
                Ok(Event::PlayingEnded { id }) => drop(self.ended.insert(id)),
                Ok(Event::Frame(played)) => self.on_frame(&played),
                Ok(_) | Err(_) => {}
            }
        }
        for (track, width) in &tracks {
            assert_eq!(
                self.tracks[track].0, *width,
                "{track:?} begins with its own keyframe"
            );
        }
    }
}

/// Six cameras need more lines than the first offer has, and the lines of a participant
/// who left are reused.
#[test]
fn everybody_comes_over_one_connection_also_when_its_lines_change_hands() {
    where_the_machine_keeps_up(|| {
        let server = server();
        let listener = join(&server, "Lis", &[]);
        let mut heard = Heard::default();
        let ann = join(&server, "Ann", &["clip:160x96@10"; 2]);
        heard.until(&listener, &[("Ann", 160, 2)]);
        let bob = join(&server, "Bob", &["clip:192x112@10"; 4]);
        heard.until(&listener, &[("Ann", 160, 2), ("Bob", 192, 4)]);
        bob.leave().expect("it was connected");
        let cyd = join(&server, "Cyd", &["clip:224x128@10"; 3]);
        heard.until(&listener, &[("Cyd", 224, 3)]);
        assert_eq!(heard.ended.len(), 1, "Bob is gone");

        let statistics = listener.statistics().expect("it runs");
        assert_eq!(statistics.peers.len(), 1);
        let reception = &statistics.peers[0];
        assert_eq!(Some(reception.peer), statistics.reception);
        let named = reception.tracks.values();
        assert_eq!(
            named.filter(|t| **t == Track::Sound).count(),
            2,
            "Ann and Cyd"
        );
        for call in [ann, cyd] {
            let statistics = call.statistics().expect("it runs");
            assert_eq!(statistics.peers.len(), 2, "one to send and one to receive");
            call.leave().expect("it was connected");
        }
        listener.leave().expect("it was connected");
        server.shutdown();
    });
}

/// Microphone whose samples all have this value.
struct Voice(Arc<AtomicU16>);

impl Microphone for Voice {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let size = self.0.load(Ordering::Relaxed) as i16;
        let wave = |place: usize| {
            if (place / 100).is_multiple_of(2) {
                size
            } else {
                -size
            }
        };
        Ok(std::array::from_fn(wave))
    }
}

/// Returns the sound packets that the call receives from each participant in this time,
/// by name.
fn heard_in(call: &Call, time: Duration) -> BTreeMap<String, u32> {
    let end = Instant::now() + time;
    let mut frames: BTreeMap<String, u32> = BTreeMap::new();
    while Instant::now() < end {
        if let Ok(Event::Frame(played)) = call.next_event(Duration::from_millis(50)) {
            *frames.entry(played.from).or_default() += 1;
        }
    }
    let participants = call.statistics().expect("it runs").participants;
    let name = |id: &String| {
        participants
            .iter()
            .find(|p| p.id == *id)
            .map(|p| p.name.clone())
    };
    frames
        .into_iter()
        .filter_map(|(id, n)| Some((name(&id)?, n)))
        .collect()
}

#[test]
fn the_three_loudest_of_five_microphones_are_heard() {
    where_the_machine_keeps_up(|| {
        let server = server();
        let voices = [30, 3_000, 30, 3_000, 3_000].map(|size| Arc::new(AtomicU16::new(size)));
        let speak = |(name, voice): (&str, &Arc<AtomicU16>)| {
            let mut config = config(&server, name);
            config.receiving = Receiving::Nobody;
            config.send.own.microphone = Some(Box::new(Voice(Arc::clone(voice))));
            Call::start(config).expect("a call")
        };
        let names = ["A", "B", "C", "D", "E"];
        let speakers: Vec<Call> = names.into_iter().zip(&voices).map(speak).collect();
        let listener = join(&server, "Lis", &[]);
        let began = Instant::now();
        let is_settled = |heard: &BTreeMap<String, u32>| heard.keys().eq(["B", "D", "E"]);
        while !is_settled(&heard_in(&listener, Duration::from_secs(1))) {
            assert!(began.elapsed() < PATIENCE, "all five are heard, or none");
        }
        let heard = heard_in(&listener, Duration::from_secs(2));
        assert!(is_settled(&heard), "{heard:?}");
        assert!(heard.values().all(|n| (80..=120).contains(n)), "{heard:?}");

        voices[0].store(3_000, Ordering::Relaxed);
        voices[1].store(30, Ordering::Relaxed);
        heard_in(&listener, Duration::from_secs(2));
        let heard = heard_in(&listener, Duration::from_secs(2));
        assert!(heard.keys().eq(["A", "D", "E"]), "{heard:?}");
        for call in speakers.into_iter().chain([listener]) {
            call.leave().expect("it was connected");
        }
        server.shutdown();
    });
}
