//! A person's camera in several encodings, and the microphone.

use weft_experiment::{MicrophoneSetup, SimulcastSetup};
use weft_publish::{Allowance, SimulcastEncoding, simulcast_rates};
use weft_session::Frame;
use weft_units::{AudioLevel, Duration, Instant, Rate, Rng};

use super::stamp::Stamp;
use crate::traffic::{Camera, EncodedFrame};

/// Camera with its encoders.
pub(super) struct SimulcastCamera {
    person: u32,
    encodings: Vec<Encoding>,
    /// Number of pictures so far.
    pictures: u64,
}

struct Encoding {
    camera: Camera,
    state: SimulcastEncoding,
    keyframe_requests: u32,
}

/// Picture in one encoding.
pub(super) struct Picture {
    /// Index of the encoding.
    pub encoding: usize,
    pub frame: EncodedFrame,
    pub data: Vec<u8>,
}

impl SimulcastCamera {
    /// Creates a camera whose first picture is captured at `start`.
    pub fn new(
        person: usize,
        setup: &SimulcastSetup,
        start: Instant,
        rng: &Rng,
    ) -> SimulcastCamera {
        let encoding = |(place, most): (usize, &Rate)| {
            let rng = rng.stream(&format!("encoding {place}"));
            Encoding {
                camera: Camera::scaled(&setup.encoder, setup.size(place), start, rng),
                state: SimulcastEncoding {
                    most: *most,
                    is_wanted: true,
                    present: Rate::ZERO,
                },
                keyframe_requests: 0,
            }
        };
        SimulcastCamera {
            person: person as u32,
            encodings: setup.rates.iter().enumerate().map(encoding).collect(),
            pictures: 0,
        }
    }

    /// Returns the time of the next picture.
    pub fn next_at(&self) -> Option<Instant> {
        self.encodings.first().map(|first| first.camera.next_at())
    }

    /// Divides this rate among the encodings.
    pub fn set_target(&mut self, total: Rate) {
        let states: Vec<SimulcastEncoding> = self.encodings.iter().map(|e| e.state).collect();
        for (encoding, rate) in self
            .encodings
            .iter_mut()
            .zip(simulcast_rates(total, &states))
        {
            encoding.set_rate(rate);
        }
    }

    /// Sets which encodings anybody watches, according to the server.
    pub fn set_wanted(&mut self, wanted: &[bool]) {
        for (encoding, wanted) in self.encodings.iter_mut().zip(wanted) {
            encoding.state.is_wanted = *wanted;
        }
    }

    /// Makes the next picture of an encoding a keyframe.
    pub fn request_keyframe(&mut self, place: usize) {
        if let Some(encoding) = self.encodings.get_mut(place) {
            encoding.keyframe_requests += 1;
        }
    }

    /// Captures the due picture.
    pub fn capture(&mut self, now: Instant) -> Vec<Picture> {
        let (person, number) = (self.person, self.pictures);
        self.pictures += 1;
        let picture = |(place, encoding): (usize, &mut Encoding)| {
            let frame = encoding.take_frame(now)?;
            let quality = frame.quality?;
            let stamp = Stamp {
                person,
                encoding: place as u8,
                number,
                captured_at: now,
                quantizer: quality.quantizer,
                height: quality.height,
                psnr_db: quality.psnr_db,
                ssim: quality.ssim,
            };
            Some(Picture {
                encoding: place,
                data: stamp.write(&frame, &quality),
                frame,
            })
        };
        let encodings = self.encodings.iter_mut().enumerate();
        encodings.filter_map(picture).collect()
    }
}

impl Encoding {
    /// Sets the rate. An encoding that is turned on again starts with a keyframe.
    fn set_rate(&mut self, rate: Rate) {
        if self.state.present == Rate::ZERO {
            self.keyframe_requests += 1;
        }
        self.state.present = rate;
    }

    fn take_frame(&mut self, now: Instant) -> Option<EncodedFrame> {
        let rate = self.state.present;
        let allowance = Allowance {
            rate,
            budget: None,
            keyframe_requests: self.keyframe_requests,
        };
        let frame = self.camera.take_frame(now, &allowance);
        frame.filter(|_| rate > Rate::ZERO)
    }
}

impl Picture {
    /// Returns the picture as a session sends it.
    pub fn frame(&self, timestamp: u32, now: Instant) -> Frame<'_> {
        Frame {
            keyframe: self.frame.keyframe,
            temporal_layer: self.frame.temporal_layer,
            layer_sync: self.frame.layer_sync,
            non_reference: self.frame.non_reference,
            ..Frame::new(&self.data, timestamp, now)
        }
    }
}

/// Audio levels (RFC 6464) of speech and of a quiet room. Chosen by us.
const SPEECH: AudioLevel = AudioLevel(0x80 | 20);
const QUIET: AudioLevel = AudioLevel(70);

/// Microphone: packets of one size at a constant rate.
pub(super) struct Microphone {
    data: Vec<u8>,
    interval: Duration,
    pub next_at: Instant,
}

impl Microphone {
    pub fn new(setup: &MicrophoneSetup, start: Instant) -> Microphone {
        Microphone {
            data: vec![7; setup.bytes()],
            interval: setup.packet_time,
            next_at: start,
        }
    }

    /// Records the due packet.
    pub fn record(&mut self, speaks: bool, timestamp: u32, now: Instant) -> Frame<'_> {
        self.next_at += self.interval;
        Frame {
            audio_level: Some(if speaks { SPEECH } else { QUIET }),
            ..Frame::new(&self.data, timestamp, now)
        }
    }
}
