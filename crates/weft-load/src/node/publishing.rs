//! Sends the publishers' pictures and sound when they are due.

use weft_peer::Peer;
use weft_session::Frame;
use weft_units::{AudioLevel, Codec, Instant};

use super::clients::{SOUND_INTERVAL, rtp_time};
use super::connection::Publisher;
use super::{LoadNode, Role};
use crate::clip::Clip;
use crate::stamp::Stamp;

/// Voice flag of an audio level (RFC 6464 section 3).
const VOICE: u8 = 0x80;
/// Range of the publishers' levels below full scale, in dB. Chosen by us: near and far
/// microphones.
const LEVELS: std::ops::Range<u8> = 20..60;

impl LoadNode {
    /// Sends everything that is due, and records the next due time.
    pub(super) fn send_media(&mut self, now: Instant) {
        let measured = self.span.is_some_and(|span| span.has(now));
        let mut next: Option<Instant> = None;
        for (key, connection) in &mut self.connections {
            let is_sending = connection.connected_at.is_some() && connection.failed.is_none();
            let Role::Publisher(publisher) = &mut connection.role else {
                continue;
            };
            if !is_sending {
                continue;
            }
            let member = connection.new.member;
            if publisher.due_at() <= now {
                let clip = &self.common.clip;
                let late = self.peers.drive(*key, |peer| {
                    let late = publisher.send_pictures(peer, now, member, clip);
                    publisher.send_sound(peer, now, member, clip);
                    late
                });
                if let Some(late) = late.flatten().filter(|_| measured) {
                    self.load.late.add(late);
                }
            }
            let due = publisher.due_at();
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        self.next_media = next;
    }
}

impl Publisher {
    /// Returns the due time of the next picture or sound.
    fn due_at(&self) -> Instant {
        let picture = self.replay.next_at();
        match self.sound {
            Some(_) => picture.min(self.next_sound),
            None => picture,
        }
    }

    /// Sends the pictures that are due; returns how late they are.
    fn send_pictures(
        &mut self,
        peer: &mut Peer,
        now: Instant,
        publisher: u32,
        clip: &Clip,
    ) -> Option<weft_units::Duration> {
        let due = self.replay.poll(now)?;
        let frames = self.replay.frames(now);
        self.leaving
            .add(now, rtp_time(clip.codec, now), frames.len());
        for (encoding, mut picture) in frames {
            let Some(stream) = self.video.get(usize::from(encoding)) else {
                continue;
            };
            let stamp = Stamp {
                publisher,
                encoding,
                number: due.number,
                captured: now,
            };
            stamp.append(clip.codec, &mut picture.data);
            let frame = Frame {
                data: &picture.data,
                timestamp: rtp_time(clip.codec, now),
                keyframe: picture.keyframe,
                temporal_layer: picture.temporal_layer,
                layer_sync: picture.layer_sync,
                non_reference: picture.non_reference,
                captured_at: now,
                audio_level: None,
            };
            // The stream belongs to the peer, so this cannot fail.
            let _ = peer.send_frame(now, *stream, &frame);
        }
        Some(due.late)
    }

    fn send_sound(&mut self, peer: &mut Peer, now: Instant, publisher: u32, clip: &Clip) {
        let Some(stream) = self.sound else {
            return;
        };
        while self.next_sound <= now {
            let data = &clip.sound[self.sounds as usize % clip.sound.len()];
            let ticks = self.sounds * u64::from(Codec::Opus.clock_rate()) / 50;
            let range = LEVELS.end - LEVELS.start;
            let level = LEVELS.start + (publisher % u32::from(range)) as u8;
            let frame = Frame {
                non_reference: true,
                audio_level: Some(AudioLevel(VOICE | level)),
                ..Frame::new(data, ticks as u32, now)
            };
            // The stream belongs to the peer, so this cannot fail.
            let _ = peer.send_frame(now, stream, &frame);
            self.sounds += 1;
            self.next_sound += SOUND_INTERVAL;
        }
    }
}
