//! Encoder connected to a relay.

use std::sync::Arc;

use weft_media::EncodedFrame;
use weft_peer::{PeerKey, Section};
use weft_publish::{Allowance, EncoderPace, FrameDropper, OfferedFrame};
use weft_rooms::{Camera, MAX_CAMERAS, Publishing};
use weft_session::ReceivedFrame;
use weft_units::{Bytes, Codec, Instant, MediaKind, Rate};
use weft_wire::rtp::Mid;

use super::answer::RelayError;
use super::timeline::Timeline;
use crate::caller::{Answered, Command, Track};
use crate::sources::smaller::EncodingSize;
use crate::sources::sound::{self, SoundFrame};
use crate::sources::video::{VideoControl, VideoFrame};

/// Connection of an encoder.
pub struct Encoder {
    pub name: String,
    pub peer: PeerKey,
    /// Sections of its offer, each with the section that forwards it.
    sections: Vec<(Mid, Section)>,
    pub is_connected: bool,
    /// Time of its last frame, or of its offer.
    pub heard: Instant,
    /// Rate limit that was last sent to it.
    pub told: Option<Rate>,
}

impl Encoder {
    /// Checks the tracks of an answered encoder.
    pub fn new(name: String, answered: &Answered, now: Instant) -> Result<Encoder, RelayError> {
        let sections = answered.sections.clone();
        let of = |kind| {
            sections
                .iter()
                .filter(move |(_, own)| own.kind == kind)
                .count()
        };
        let (cameras, sounds) = (of(MediaKind::Video), of(MediaKind::Audio));
        if cameras > MAX_CAMERAS || sounds > 1 {
            return Err(RelayError::TooMany { cameras, sounds });
        }
        let encoder = Encoder {
            name,
            peer: answered.peer,
            sections,
            is_connected: false,
            heard: now,
            told: None,
        };
        let mut codecs = encoder.codecs(MediaKind::Video);
        let first = codecs.next();
        if codecs.any(|codec| Some(codec) != first) {
            return Err(RelayError::MixedCodecs);
        }
        drop(codecs);
        Ok(encoder)
    }

    fn codecs(&self, kind: MediaKind) -> impl Iterator<Item = Codec> {
        let forms = self.sections.iter().filter_map(|(_, section)| section.form);
        let codecs = forms.map(|form| form.codec());
        codecs.filter(move |codec| codec.kind() == kind)
    }

    /// Returns the codec of the pictures, if there are any.
    pub fn video_codec(&self) -> Option<Codec> {
        self.codecs(MediaKind::Video).next()
    }

    /// Returns the track of a section of its offer.
    pub fn track(&self, section: Mid) -> Option<Track> {
        let place = self.sections.iter().position(|(mid, _)| *mid == section)?;
        match self.sections[place].1.kind {
            MediaKind::Audio => Some(Track::Sound),
            MediaKind::Video => {
                let before = self.sections[..place].iter();
                let cameras = before.filter(|(_, own)| own.kind == MediaKind::Video);
                Some(Track::Camera(cameras.count()))
            }
        }
    }

    /// Returns the section of its offer with this camera.
    pub fn section(&self, camera: usize) -> Option<Mid> {
        let sections = self.sections.iter();
        let mut cameras = sections.filter(|(_, own)| own.kind == MediaKind::Video);
        cameras.nth(camera).map(|(mid, _)| *mid)
    }

    /// Returns the names of the codecs, for display.
    pub fn description(&self) -> String {
        let sections = self.sections.iter().filter_map(|(_, section)| section.form);
        let names: Vec<&str> = sections.map(|form| form.codec().encoding()).collect();
        names.join(" and ")
    }

    /// Returns the tracks in the form that a room shows.
    pub fn publishing(&self) -> Publishing {
        Publishing {
            cameras: self
                .codecs(MediaKind::Video)
                .map(|_| Camera::default())
                .collect(),
            audio: self.codecs(MediaKind::Audio).next().is_some(),
        }
    }

    /// Returns the sections of the publication: cameras in order, then the sound.
    pub fn outgoing(&self) -> Vec<Section> {
        let of = |kind| {
            let sections = self.sections.iter().map(|(_, section)| section.clone());
            sections.filter(move |section| section.kind == kind)
        };
        of(MediaKind::Video).chain(of(MediaKind::Audio)).collect()
    }
}

/// Camera track forwarded from an encoder to the publication.
pub struct CameraRelay {
    pub control: Arc<VideoControl>,
    dropper: FrameDropper,
    timeline: Timeline,
    keyframe_requests: u32,
}

impl CameraRelay {
    pub fn new() -> CameraRelay {
        CameraRelay {
            control: Arc::default(),
            dropper: FrameDropper::default(),
            timeline: Timeline::new(Codec::Vp8.clock_rate()),
            keyframe_requests: 0,
        }
    }

    /// Continues with another encoder.
    pub fn change_encoder(&mut self) {
        self.timeline.change_encoder();
        self.dropper = FrameDropper::default();
    }

    /// Returns the command that sends a frame of this camera, if the rate allows it.
    pub fn on_frame(
        &mut self,
        now: Instant,
        camera: usize,
        frame: ReceivedFrame,
    ) -> Option<Command> {
        let offered = OfferedFrame {
            bytes: Bytes(frame.data.len() as u64),
            keyframe: frame.keyframe,
            temporal_layer: frame.temporal_layer,
            layer_sync: frame.layer_sync,
        };
        let timestamp = self.timeline.map(now, frame.timestamp);
        if !self.dropper.on_frame(now, offered, self.rate()) {
            return None;
        }
        let encoded = EncodedFrame {
            data: frame.data,
            keyframe: frame.keyframe,
            temporal_layer: frame.temporal_layer,
            layer_sync: frame.layer_sync,
            non_reference: false,
            quantizer: 0,
            attempts: 1,
        };
        let frame = VideoFrame {
            encoded,
            timestamp,
            taken_at: now,
        };
        Some(Command::Video {
            camera,
            size: EncodingSize::Full,
            frame,
        })
    }

    /// Whether to request a keyframe from the encoder: the server wants one, or a gap can
    /// end.
    pub fn wants_keyframe(&mut self, now: Instant) -> bool {
        let Allowance {
            keyframe_requests,
            rate,
            ..
        } = self.control.allowance();
        let is_requested = keyframe_requests != self.keyframe_requests;
        self.keyframe_requests = keyframe_requests;
        let ends_gap = self.dropper.wants_keyframe(now, rate);
        is_requested || ends_gap
    }

    /// Returns the rate that this camera may use.
    pub fn rate(&self) -> Rate {
        self.control.allowance().rate
    }

    /// Returns a change in whether the encoder respects the rate.
    pub fn pace_change(&mut self, now: Instant) -> Option<EncoderPace> {
        self.dropper.pace_change(now, self.rate())
    }
}

/// Sound track forwarded from an encoder to the publication.
pub struct SoundRelay(Timeline);

impl SoundRelay {
    pub fn new() -> SoundRelay {
        SoundRelay(Timeline::new(Codec::Opus.clock_rate()))
    }

    /// Continues with another encoder.
    pub fn change_encoder(&mut self) {
        self.0.change_encoder();
    }

    /// Returns the command that sends a frame of sound.
    pub fn on_frame(&mut self, now: Instant, frame: ReceivedFrame) -> Command {
        Command::Sound(SoundFrame {
            data: frame.data,
            level: None,
            timestamp: self.0.map(now, frame.timestamp),
            taken_at: now,
        })
    }
}

/// Returns the rate limit for an encoder: the sum over all cameras, and the sound.
pub fn total(cameras: &[CameraRelay]) -> Rate {
    let cameras: Rate = cameras.iter().map(CameraRelay::rate).sum();
    cameras + sound::RATE
}
