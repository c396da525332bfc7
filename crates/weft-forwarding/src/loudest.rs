//! Loudest sounds of a room, which are forwarded: the open microphones of everybody else
//! would cost every listener their rate.

use crate::routing::TrackId;
use std::collections::{BTreeMap, BTreeSet};
use weft_units::{AudioLevel, Instant};

/// Number of sounds forwarded in a room. Chosen by us: more simultaneous speakers are
/// hard to understand.
const MOST: usize = 3;
/// Rate in decibels per second at which the loudness of a forwarded sound decays after
/// its last peak, so that it keeps its place during the pauses of speech. Chosen by us.
const FALL: f64 = 10.0;
/// Decibels by which a sound must exceed the quietest forwarded one to take its place.
/// Chosen by us: the syllables of one speaker differ by as much.
const MARGIN: f64 = 6.0;
/// Level of digital silence in decibels (RFC 6464 section 3).
const SILENCE: f64 = -127.0;

/// Decision about a packet of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hearing {
    Forwarded,
    /// It is forwarded, but the previous one was not.
    Resumed,
    Dropped,
}

/// Sounds of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Loudest {
    rooms: BTreeMap<String, Room>,
    room_of: BTreeMap<TrackId, String>,
}

/// Sounds that are forwarded in a room, at most [`MOST`].
#[derive(Debug, Default)]
struct Room {
    tracks: usize,
    forwarded: BTreeMap<TrackId, Peak>,
    /// Sounds whose last packet was dropped.
    dropped: BTreeSet<TrackId>,
}

#[derive(Debug, Clone, Copy)]
struct Peak {
    level: f64,
    at: Instant,
}

impl Peak {
    fn at(self, now: Instant) -> f64 {
        let fallen = now.saturating_since(self.at).as_secs_f64() * FALL;
        (self.level - fallen).max(SILENCE)
    }
}

impl Loudest {
    /// Adds a published sound to a room.
    pub(crate) fn enter(&mut self, room: &str, track: TrackId) {
        if self.room_of.insert(track, room.to_owned()).is_none() {
            self.rooms.entry(room.to_owned()).or_default().tracks += 1;
        }
    }

    /// Removes a sound that is no longer published.
    pub(crate) fn leave(&mut self, track: TrackId) {
        let Some(name) = self.room_of.remove(&track) else {
            return;
        };
        if let Some(room) = self.rooms.get_mut(&name) {
            room.forwarded.remove(&track);
            room.dropped.remove(&track);
            room.tracks -= 1;
            if room.tracks == 0 {
                self.rooms.remove(&name);
            }
        }
    }

    /// Handles the level of a packet of a sound. Packets without a level, and sounds
    /// outside any room, are always forwarded.
    pub(crate) fn hear(
        &mut self,
        now: Instant,
        track: TrackId,
        level: Option<AudioLevel>,
    ) -> Hearing {
        let Some(level) = level else {
            return Hearing::Forwarded;
        };
        let room = self.room_of.get(&track);
        let room = room.and_then(|room| self.rooms.get_mut(room));
        room.map_or(Hearing::Forwarded, |room| {
            room.hear(now, track, level.decibels())
        })
    }
}

impl Room {
    fn hear(&mut self, now: Instant, track: TrackId, level: f64) -> Hearing {
        if let Some(peak) = self.forwarded.get_mut(&track) {
            if level >= peak.at(now) {
                *peak = Peak { level, at: now };
            }
            return Hearing::Forwarded;
        }
        if self.forwarded.len() >= MOST {
            let all = self.forwarded.iter();
            let all = all.map(|(track, peak)| (*track, peak.at(now)));
            let Some((quietest, loudness)) = all.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                return Hearing::Dropped;
            };
            if level < loudness + MARGIN {
                self.dropped.insert(track);
                return Hearing::Dropped;
            }
            self.forwarded.remove(&quietest);
        }
        self.forwarded.insert(track, Peak { level, at: now });
        match self.dropped.remove(&track) {
            true => Hearing::Resumed,
            false => Hearing::Forwarded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn room(tracks: u64) -> Loudest {
        let mut loudest = Loudest::default();
        for track in 0..tracks {
            loudest.enter("r", TrackId(track));
        }
        loudest
    }

    /// Lets all tracks send a packet at these levels below full scale; returns those that
    /// are forwarded.
    fn heard(loudest: &mut Loudest, now: Instant, levels: &[u8]) -> Vec<usize> {
        let hear = |(track, level): (usize, &u8)| {
            let level = Some(AudioLevel(*level));
            let heard = loudest.hear(now, TrackId(track as u64), level);
            (heard != Hearing::Dropped).then_some(track)
        };
        levels.iter().enumerate().filter_map(hear).collect()
    }

    #[test]
    fn three_microphones_are_all_heard_and_of_five_the_loudest() {
        let mut few = room(3);
        assert_eq!(heard(&mut few, at(0), &[127, 127, 127]), [0, 1, 2]);
        let mut many = room(5);
        heard(&mut many, at(0), &[90, 90, 90, 90, 90]);
        heard(&mut many, at(20), &[90, 90, 20, 30, 25]);
        assert_eq!(heard(&mut many, at(40), &[90, 90, 20, 30, 25]), [2, 3, 4]);
    }

    #[test]
    fn a_speaker_is_heard_from_the_first_packet_and_kept_through_a_pause() {
        let mut loudest = room(4);
        heard(&mut loudest, at(0), &[80, 80, 80, 80]);
        let level = |dbov| Some(AudioLevel(dbov));
        let hear = loudest.hear(at(20), TrackId(3), level(30));
        assert_eq!(hear, Hearing::Resumed);
        // A second of silence: 10 dB below its peak, it is still louder than the others.
        for ms in (40..1_020).step_by(20) {
            assert_eq!(
                loudest.hear(at(ms), TrackId(3), level(127)),
                Hearing::Forwarded
            );
        }
        // The sound that lost its place speaks: a silent one gives up its place.
        let silent =
            (0..3).find(|n| loudest.hear(at(1_020), TrackId(*n), level(81)) == Hearing::Dropped);
        let silent = TrackId(silent.expect("one of four is not heard"));
        assert_eq!(loudest.hear(at(1_040), silent, level(35)), Hearing::Resumed);
        assert_eq!(
            loudest.hear(at(1_060), TrackId(3), level(127)),
            Hearing::Forwarded
        );
    }

    #[test]
    fn four_equally_loud_speakers_do_not_alternate_by_syllables() {
        let mut loudest = room(4);
        let mut changes = 0;
        for packet in 0..3_000_u64 {
            for track in 0..4 {
                // Syllables of 200 ms, out of step, 5 dB apart.
                let swing = (packet + track * 3) / 10 % 2 * 5;
                let level = Some(AudioLevel(30 + swing as u8));
                let heard = loudest.hear(at(packet * 20), TrackId(track), level);
                changes += usize::from(heard == Hearing::Resumed);
            }
        }
        assert_eq!(changes, 0, "the first three keep their places");
    }

    #[test]
    fn sounds_without_a_level_or_a_room_are_always_forwarded() {
        let mut loudest = room(5);
        heard(&mut loudest, at(0), &[10, 10, 10, 10, 10]);
        assert_eq!(loudest.hear(at(1), TrackId(4), None), Hearing::Forwarded);
        assert_eq!(
            loudest.hear(at(1), TrackId(9), Some(AudioLevel(127))),
            Hearing::Forwarded
        );
    }

    #[test]
    fn rooms_do_not_compete_and_leave_nothing_behind() {
        let mut loudest = room(3);
        for track in 3..6 {
            loudest.enter("other", TrackId(track));
        }
        assert_eq!(heard(&mut loudest, at(0), &[9; 6]), [0, 1, 2, 3, 4, 5]);
        for track in 0..6 {
            loudest.leave(TrackId(track));
            loudest.leave(TrackId(track));
        }
        assert!(loudest.rooms.is_empty() && loudest.room_of.is_empty());
    }
}
