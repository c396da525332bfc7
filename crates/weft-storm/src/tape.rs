//! Recording of the room, as the recorder gets it.

use std::collections::BTreeMap;

use weft_forwarding::{Recorded, RecordedKind, RecordedTrack};
use weft_units::Instant;

/// Maximum distance of a late packet's number from the last one.
const WINDOW: u64 = 64;

/// Track of a recording.
#[derive(Debug)]
pub struct Track {
    /// Id of the participant.
    pub participant: String,
    pub kind: RecordedKind,
    /// Time of the last packet.
    pub last: Option<Instant>,
    /// Latest numbers.
    numbers: Vec<u64>,
}

/// Recorded tracks.
#[derive(Default)]
pub struct Tape {
    /// Time since which the room is recorded.
    pub since: Option<Instant>,
    /// Tracks by the number of their plane and their own.
    pub tracks: BTreeMap<(u64, RecordedTrack), Track>,
}

impl Tape {
    /// Handles a message to the recorder; returns a finding.
    pub fn take(&mut self, now: Instant, plane: u64, recorded: Recorded) -> Option<String> {
        match recorded {
            Recorded::Began {
                track,
                publisher,
                kind,
                ..
            } => {
                let participant = publisher.participant;
                let fresh = Track {
                    participant: participant.clone(),
                    kind,
                    last: None,
                    numbers: Vec::new(),
                };
                let before = self.tracks.insert((plane, track), fresh);
                let finding = format!("{kind:?} of {participant} is recorded");
                (before.is_some() || self.since.is_none()).then_some(finding)
            }
            Recorded::Ended { track } => {
                let known = self.tracks.remove(&(plane, track)).is_some();
                (!known).then(|| format!("an unknown {track:?} has ended"))
            }
            Recorded::Packet { track, packet } => {
                let Some(found) = self.tracks.get_mut(&(plane, track)) else {
                    return Some(format!("a packet of {track:?}, which is not recorded"));
                };
                found.on_packet(now, packet.sequence, packet.keyframe)
            }
        }
    }
}

impl Track {
    fn on_packet(&mut self, now: Instant, number: u64, keyframe: bool) -> Option<String> {
        let is_first = self.last.replace(now).is_none();
        let finding = match self.numbers.contains(&number) {
            true => Some(format!("packet {number} is recorded twice")),
            false if is_first && !keyframe && self.kind != RecordedKind::Microphone => {
                Some("a recorded track begins without a keyframe".to_owned())
            }
            false => None,
        };
        self.numbers.push(number);
        let latest = self.numbers.iter().max().copied().unwrap_or_default();
        self.numbers.retain(|n| n + WINDOW > latest);
        finding
    }
}
