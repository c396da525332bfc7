//! Messages from a plane to the recorder of its server, and the recorded tracks.

use crate::publisher::{Publisher, Slot};
use crate::routing::{Forwarder, Forwarding, Parsed, SubscriptionId, TrackId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_units::{Codec, Instant};
use weft_wire::media::{ForwardedPacket, MediaPacket};

/// Track of a recording, unique on its plane. A camera's track carries its best encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedTrack(pub u64);

/// Kind of a recorded track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    /// Camera.
    Camera,
    /// Shared screen.
    Screen,
    /// Sound.
    Microphone,
}

/// Message from a plane to the recorder of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// A track begins.
    Began {
        /// Number of the track.
        track: RecordedTrack,
        /// Participant who publishes it, and the room.
        publisher: Publisher,
        /// Kind of its source.
        kind: RecordedKind,
        /// Codec of its packets.
        codec: Codec,
    },
    /// A packet, in order of arrival; numbers and timestamps continue across changes of
    /// the source. Video starts with a keyframe.
    Packet {
        /// The track.
        track: RecordedTrack,
        /// The packet.
        packet: ForwardedPacket,
    },
    /// The track ends.
    Ended {
        /// The track.
        track: RecordedTrack,
    },
}

/// Recorded rooms, and the tracks of this plane in them.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    pub(crate) rooms: BTreeSet<String>,
    pub(crate) tracks: BTreeMap<(Publisher, Slot), Source>,
    /// Number of tracks so far.
    pub(crate) begun: u64,
}

/// Source of a recorded track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) track: RecordedTrack,
    pub(crate) kind: RecordedKind,
    pub(crate) encodings: Vec<TrackId>,
}

/// Traffic to the recorder.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    pub(crate) cameras: BTreeMap<SubscriptionId, Tap>,
    /// All sounds, including those that are not among the loudest.
    pub(crate) sounds: BTreeMap<TrackId, (RecordedTrack, Forwarder)>,
    pub(crate) messages: VecDeque<Recorded>,
}

/// A recorded camera or screen.
#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) track: RecordedTrack,
    pub(crate) encodings: Vec<TrackId>,
}

impl Recordings {
    pub(crate) fn has(&self, room: &str) -> bool {
        self.rooms.contains(room)
    }
}

impl Taps {
    pub(crate) fn poll(&mut self) -> Option<Recorded> {
        self.messages.pop_front()
    }

    /// Number of subscriptions in the router.
    pub(crate) fn subscriptions(&self) -> usize {
        self.cameras.len()
    }

    /// Handles a packet of a camera.
    pub(crate) fn on_forwarded(&mut self, id: SubscriptionId, packet: ForwardedPacket) {
        if let Some(Tap { track, .. }) = self.cameras.get(&id) {
            let track = *track;
            self.messages.push_back(Recorded::Packet { track, packet });
        }
    }

    /// Handles a packet of a sound.
    pub(crate) fn on_sound(&mut self, now: Instant, of: TrackId, packet: &MediaPacket) {
        let Some((track, forwarder)) = self.sounds.get_mut(&of) else {
            return;
        };
        match Parsed::new(Codec::Opus, packet.clone()) {
            Some(parsed) => forwarder.handle_parsed(now, &parsed, None),
            None => forwarder.handle_unusable(now, packet),
        }
        while let Some(output) = forwarder.poll_output() {
            if let Forwarding::Packet(packet) = output {
                let track = *track;
                self.messages.push_back(Recorded::Packet { track, packet });
            }
        }
    }

    /// Continues a sound with other numbers.
    pub(crate) fn switch_source(&mut self, of: TrackId) {
        if let Some((_, forwarder)) = self.sounds.get_mut(&of) {
            forwarder.switch_source();
        }
    }
}
