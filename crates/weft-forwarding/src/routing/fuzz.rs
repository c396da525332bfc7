//! Body of the fuzz target `router`, which a test also runs.

use std::collections::{BTreeMap, BTreeSet};

use weft_units::fuzz::records;
use weft_units::{Codec, Duration, Instant, Rate};
use weft_wire::media::MediaPacket;

use crate::routing::{Downlink, Output, Router, SubscriptionId, TrackId};

/// Maximum number of simultaneous tracks, and of subscriptions.
const MOST: usize = 8;

/// Feeds the bytes to a router: packets of any number and payload on tracks that come and
/// go, to subscribers with changing links. No subscriber gets a number twice, or anything
/// after it was removed. Returns the number of packets per subscriber, plus other calls.
pub fn fuzz_calls(data: &[u8]) -> usize {
    let (mut room, mut steps) = (Room::default(), 0);
    for (how, content) in records(data) {
        room.now += Duration::from_millis(u64::from(how >> 4) * 4);
        steps += 1 + room.step(how & 15, content);
        if room.router.poll_timeout().is_some_and(|d| d.at <= room.now) {
            room.router.handle_timeout(room.now);
        }
        assert!(
            room.router.poll_timeout().is_none_or(|d| d.at > room.now),
            "spins"
        );
        room.take();
        assert_eq!(room.router.tracks(), room.tracks.len());
        assert_eq!(room.router.subscriptions(), room.subscribers.len());
    }
    steps
}

#[derive(Default)]
struct Room {
    now: Instant,
    router: Router,
    tracks: Vec<TrackId>,
    /// Subscribers with the numbers that they received.
    subscribers: BTreeMap<SubscriptionId, BTreeSet<u64>>,
    sequence: u64,
}

impl Room {
    /// Returns the number of subscribers concerned.
    fn step(&mut self, what: u8, content: &[u8]) -> usize {
        let byte = |place: usize| content.get(place).copied().unwrap_or(0);
        let (now, which) = (self.now, usize::from(byte(0)));
        let track = self.tracks.get(which % self.tracks.len().max(1)).copied();
        let mut ids = self.subscribers.keys();
        let id = ids.nth(which % self.subscribers.len().max(1)).copied();
        match (what, track, id) {
            (0, ..) if self.tracks.len() < MOST => {
                let codec = Codec::ALL[which % Codec::ALL.len()];
                self.tracks.push(self.router.add_track(codec));
            }
            (1 | 2, Some(track), _) if self.subscribers.len() < MOST => {
                let id = self.router.subscribe(now, track);
                let id = id.expect("the track is there");
                self.subscribers.insert(id, BTreeSet::new());
            }
            (3, _, Some(id)) => {
                self.router.unsubscribe(id);
                self.subscribers.remove(&id);
            }
            (4, Some(track), _) => {
                self.router.remove_track(track);
                self.tracks.retain(|known| *known != track);
            }
            (5, Some(track), _) => self.router.switch_source(now, track),
            (6, _, Some(id)) => self.router.request_keyframe(now, id),
            (7, _, Some(id)) => {
                let target = Some(Rate::from_kbps(u64::from(byte(1)) * 8));
                let downlink = Downlink {
                    target: target.filter(|_| byte(1) != 0),
                    limit: None,
                    queued: Duration::from_millis(u64::from(byte(2)) * 4),
                };
                self.router.set_downlink(now, id, downlink);
            }
            (8, Some(track), Some(id)) => {
                self.router.switch_track(now, id, track);
            }
            (9, _, Some(id)) => self.router.detach(id),
            (10, Some(track), Some(id)) => self.router.prefer(now, id, track),
            (_, Some(track), _) => {
                let jump = i64::from(i16::from_be_bytes([byte(1), byte(2)]));
                // Jumps are rare, steps are not.
                let jump = if what & 1 == 0 { 1 } else { jump };
                self.sequence = self.sequence.saturating_add_signed(jump);
                let rest = content.get(5..).unwrap_or(&[]);
                let dependency = usize::from(byte(4) >> 2).min(rest.len());
                let (dependency, payload) = rest.split_at(dependency);
                let packet = MediaPacket {
                    sequence: self.sequence,
                    timestamp: u32::from(byte(3)) * 3_000,
                    marker: byte(4) & 1 == 1,
                    audio_level: None,
                    dependency: dependency.into(),
                    payload: payload.into(),
                };
                self.router.handle_packet(now, track, packet);
                return self.subscribers.len();
            }
            _ => {}
        }
        0
    }

    fn take(&mut self) {
        while let Some(output) = self.router.poll_output() {
            match output {
                Output::Forward {
                    subscription,
                    packet,
                } => {
                    let got = self.subscribers.get_mut(&subscription);
                    let got = got.expect("a subscriber who is gone");
                    let is_new = got.insert(packet.sequence);
                    assert!(is_new, "number {} twice", packet.sequence);
                }
                Output::RequestKeyframe { track } => assert!(self.tracks.contains(&track)),
                Output::Forget { .. } => {}
            }
        }
    }
}
