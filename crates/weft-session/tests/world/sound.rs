//! Microphone in addition to the camera.

use weft_session::{
    Delivery, Feedback, Frame, ReceiveStreamConfig, ReceivedFrame, Retransmission, SendStreamConfig,
};
use weft_units::{Codec, Duration, Instant, Ssrc, StreamId};

use super::World;

/// One Opus packet (RFC 7587 section 4.2), at 40 kbps.
const INTERVAL: Duration = Duration::from_millis(20);
const SIZE: usize = 100;

pub struct Sound {
    sent: StreamId,
    received: StreamId,
    pub next: Instant,
    number: u64,
    /// Numbers of the played packets, with their times.
    heard: Vec<(u64, Instant)>,
}

impl Sound {
    pub fn receives(&self, stream: StreamId) -> bool {
        self.received == stream
    }

    pub fn hear(&mut self, now: Instant, frame: &ReceivedFrame) {
        let number = frame.data[..8].try_into().expect("8 bytes");
        self.heard.push((u64::from_be_bytes(number), now));
    }
}

impl World {
    /// Starts the sound.
    pub fn add_sound(&mut self) {
        let sent = self.sender.add_send_stream(SendStreamConfig {
            ssrc: Ssrc(200),
            retransmission: Retransmission::None,
            payload_type: 111,
            codec: Codec::Opus,
            mid: None,
            rid: None,
            feedback: Feedback::EachPacket,
            fec: None,
        });
        let received = self.receiver.add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(Ssrc(200)),
            mid: None,
            rid: None,
            payload_type: 111,
            rtx: None,
            fec: None,
            codec: Codec::Opus,
            delivery: Delivery::Frames,
        });
        self.sound = Some(Sound {
            sent,
            received,
            next: self.now,
            number: 0,
            heard: Vec::new(),
        });
    }

    pub fn send_sound(&mut self) {
        let now = self.now;
        let Some(sound) = self.sound.as_mut().filter(|s| now >= s.next) else {
            return;
        };
        let mut data = [0; SIZE];
        data[..8].copy_from_slice(&sound.number.to_be_bytes());
        let frame = Frame {
            data: &data,
            timestamp: (sound.number * 960) as u32,
            keyframe: true,
            temporal_layer: None,
            layer_sync: false,
            non_reference: true,
            captured_at: now,
            audio_level: None,
        };
        sound.number += 1;
        sound.next += INTERVAL;
        let sent = self.sender.send_frame(now, sound.sent, &frame);
        sent.expect("the stream exists");
    }

    /// Returns the number of sound packets recorded in this time that were never played,
    /// and the longest silence between two played ones.
    pub fn missed_sound(&self, from: Duration, to: Duration) -> (usize, Duration) {
        let sound = self.sound.as_ref().expect("there is a microphone");
        let number = |at: Duration| at.as_nanos() / INTERVAL.as_nanos();
        let wanted = number(from)..number(to);
        let heard = sound.heard.iter().filter(|(n, _)| wanted.contains(n));
        let times: Vec<Instant> = heard.map(|(_, at)| *at).collect();
        let silences = times.windows(2).map(|pair| pair[1] - pair[0]);
        let missed = (wanted.end - wanted.start) as usize - times.len();
        (missed, silences.max().unwrap_or(Duration::from_secs(3600)))
    }
}
