//! Encoder on its own thread, controlled by the publisher.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread;

use weft_media::{EncodedFrame, EncoderConfig, Format, Picture, Scaler, VideoEncoder, VideoError};
use weft_publish::{
    AdaptationSetup, Allowance, Degradation, EncoderControl, Encoding, Form, Start,
};
use weft_units::{Bytes, Codec, Instant, Rate};

use super::feed::CapturedFrame;
use crate::switches::Switch;

/// Shared control of an encoder, and its statistics.
#[derive(Debug)]
pub struct VideoControl {
    rate_bps: AtomicU64,
    /// Byte budget of the next picture; `NO_BUDGET` for none.
    budget_bytes: AtomicU64,
    keyframe_requests: AtomicU32,
    /// Whether nobody watches the camera.
    paused: AtomicBool,
    /// Whether the user has switched the camera off.
    off: AtomicBool,
    /// Number of times that somebody started to watch it again.
    resumed: AtomicU32,
    report: Mutex<CameraReport>,
}

/// Above the size of any picture.
const NO_BUDGET: u64 = u64::MAX;

impl Default for VideoControl {
    fn default() -> VideoControl {
        VideoControl {
            rate_bps: AtomicU64::default(),
            budget_bytes: AtomicU64::new(NO_BUDGET),
            keyframe_requests: AtomicU32::default(),
            paused: AtomicBool::default(),
            off: AtomicBool::default(),
            resumed: AtomicU32::default(),
            report: Mutex::default(),
        }
    }
}

/// Statistics of an encoder.
#[derive(Clone, Copy, Debug, Default)]
pub struct CameraReport {
    /// Width of the last picture in pixels.
    pub width: u32,
    /// Height of the last picture in pixels.
    pub height: u32,
    /// Target pictures per second.
    pub fps: f64,
    /// Quantizer of the last picture.
    pub quantizer: u8,
    /// Pictures encoded since the start.
    pub encoded: u64,
    /// Pictures dropped by rate control.
    pub dropped: u64,
    /// Pictures skipped before encoding.
    pub skipped: u64,
    /// Pictures missed because the encoder was busy with an earlier one.
    pub missed: u64,
}

impl VideoControl {
    /// Sets the encoder's allowance from now on.
    pub fn set(&self, allowance: Allowance) {
        let Allowance {
            rate,
            budget,
            keyframe_requests,
        } = allowance;
        self.rate_bps.store(rate.as_bps(), Ordering::Relaxed);
        let budget = budget.map_or(NO_BUDGET, |Bytes(budget)| budget);
        self.budget_bytes.store(budget, Ordering::Relaxed);
        self.keyframe_requests
            .store(keyframe_requests, Ordering::Relaxed);
    }

    /// Pauses encoding while nobody watches the camera. Encoding resumes with a keyframe.
    pub fn set_watched(&self, watched: bool) {
        if self.paused.swap(!watched, Ordering::Relaxed) && watched {
            self.resumed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Pauses encoding while the camera is switched off. Encoding resumes with a
    /// keyframe.
    pub fn set_filming(&self, filming: Switch) {
        let off = filming == Switch::Off;
        if self.off.swap(off, Ordering::Relaxed) && !off {
            self.resumed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed) || self.off.load(Ordering::Relaxed)
    }

    /// Present allowance of the encoder.
    #[must_use]
    pub fn allowance(&self) -> Allowance {
        let budget = self.budget_bytes.load(Ordering::Relaxed);
        Allowance {
            rate: Rate::from_bps(self.rate_bps.load(Ordering::Relaxed)),
            budget: (budget != NO_BUDGET).then_some(Bytes(budget)),
            keyframe_requests: self
                .keyframe_requests
                .load(Ordering::Relaxed)
                .wrapping_add(self.resumed.load(Ordering::Relaxed)),
        }
    }

    /// Present statistics.
    #[must_use]
    pub fn report(&self) -> CameraReport {
        *self.lock()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CameraReport> {
        self.report
            .lock()
            .expect("no thread panics while it holds the report")
    }
}

/// Encoded picture to send.
#[derive(Debug)]
pub struct VideoFrame {
    /// Encoded bytes, and whether it is a keyframe.
    pub encoded: EncodedFrame,
    /// RTP timestamp, at 90 kHz.
    pub timestamp: u32,
    /// Capture time.
    pub taken_at: Instant,
}

/// Setup of an encoder.
#[derive(Clone, Copy, Debug)]
pub struct VideoSetup {
    /// Size and rate of the camera's pictures.
    pub format: Format,
    /// Video codec; other codecs have no encoder.
    pub codec: Codec,
    /// Temporal layers, if the codec has them.
    pub layers: u8,
    /// Quality to reduce at low rates.
    pub degradation: Degradation,
}

/// Encodes `captured` until it ends; `send` returns whether a receiver is left.
///
/// # Errors
/// If the codec has no encoder.
pub fn start(
    setup: VideoSetup,
    control: Arc<VideoControl>,
    captured: Receiver<CapturedFrame>,
    on_load: impl Fn(Load) + Send + 'static,
    send: impl FnMut(VideoFrame) -> bool + Send + 'static,
) -> Result<(), VideoError> {
    let encoder = ControlledEncoder::new(setup)?;
    thread::Builder::new()
        .name("encoder".to_owned())
        .spawn(move || encode(encoder, &control, &captured, on_load, send))
        .expect("the system gives a thread");
    Ok(())
}

fn encode(
    mut encoder: ControlledEncoder,
    control: &VideoControl,
    captured: &Receiver<CapturedFrame>,
    on_load: impl Fn(Load),
    mut send: impl FnMut(VideoFrame) -> bool,
) {
    let mut expected = 0;
    let mut meter = LoadMeter::default();
    while let Ok(frame) = captured.recv() {
        let missed = frame.index - expected;
        expected = frame.index + 1;
        control.lock().missed += missed;
        if let Some(load) = meter.on_picture(missed) {
            on_load(load);
        }
        if control.is_paused() {
            continue;
        }
        let encoding = encoder
            .control
            .on_picture(frame.taken_at, &control.allowance());
        let Some(encoding) = encoding else {
            control.lock().skipped += 1;
            continue;
        };
        let timestamp = super::rtp_timestamp(frame.taken_at, 90_000);
        let encoded = encoder.encode(&frame.picture, timestamp, &encoding);
        control.lock().add(encoding.form, &encoded);
        let Ok(Some(encoded)) = encoded else {
            continue;
        };
        if !send(VideoFrame {
            encoded,
            timestamp,
            taken_at: frame.taken_at,
        }) {
            return;
        }
    }
}

/// Change in whether an encoder keeps up with its camera.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Load {
    /// The encoder misses too many pictures; the share, 0 to 1.
    TooHigh(f64),
    /// The encoder keeps up again.
    Fine,
}

/// Counts encoded and missed pictures.
#[derive(Default)]
struct LoadMeter {
    taken: u64,
    missed: u64,
    is_high: bool,
}

impl LoadMeter {
    /// Pictures per decision: ten seconds at 30 fps.
    const WINDOW: u64 = 300;
    /// Share of missed pictures that is clearly visible. Chosen by us.
    const TOO_MANY: f64 = 0.1;

    /// Records a picture and the missed ones before it; returns the load when
    /// it changes.
    fn on_picture(&mut self, missed: u64) -> Option<Load> {
        self.taken += 1;
        self.missed += missed;
        let all = self.taken + self.missed;
        if all < LoadMeter::WINDOW {
            return None;
        }
        let share = self.missed as f64 / all as f64;
        let was_high = self.is_high;
        let is_high = share > LoadMeter::TOO_MANY;
        *self = LoadMeter {
            is_high,
            ..LoadMeter::default()
        };
        match (was_high, is_high) {
            (false, true) => Some(Load::TooHigh(share)),
            (true, false) => Some(Load::Fine),
            _ => None,
        }
    }
}

/// Encoder that applies its control before each picture.
struct ControlledEncoder {
    encoder: VideoEncoder,
    control: EncoderControl,
    scaler: Option<Scaler>,
}

impl ControlledEncoder {
    fn new(setup: VideoSetup) -> Result<ControlledEncoder, VideoError> {
        let Format { width, height, fps } = setup.format;
        let config = EncoderConfig {
            width,
            height,
            fps: whole(fps),
            // Set before the first picture.
            rate: Rate::ZERO,
            temporal_layers: setup.layers.min(setup.codec.temporal_layers()),
        };
        let encoder = VideoEncoder::new(setup.codec, config)?;
        let quantizers = setup.codec.quantizer_bounds();
        let quantizers = quantizers.ok_or(VideoError::Sound(setup.codec))?;
        let control = EncoderControl::new(&AdaptationSetup {
            width: width as u32,
            height: height as u32,
            fps,
            degradation: setup.degradation,
            quantizers,
        });
        Ok(ControlledEncoder {
            encoder,
            control,
            scaler: None,
        })
    }

    fn encode(
        &mut self,
        picture: &Picture,
        timestamp: u32,
        encoding: &Encoding,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        let Encoding {
            form, rate, start, ..
        } = *encoding;
        let picture = shrunk(&mut self.scaler, picture, form);
        self.encoder.set_rate(rate)?;
        self.encoder.set_fps(whole(form.fps))?;
        let present = self.encoder.config();
        let same_size = (picture.width, picture.height) == (present.width, present.height);
        // A new size restarts the encoder anyway.
        if start == Start::Restart && same_size {
            self.encoder.restart()?;
        }
        let request = encoding.request();
        let encoded = self.encoder.encode(&picture, timestamp, request)?;
        let quantizer = encoded.as_ref().map(|frame| frame.quantizer);
        self.control.on_encoded(quantizer);
        Ok(encoded)
    }
}

impl CameraReport {
    fn add(&mut self, form: Form, encoded: &Result<Option<EncodedFrame>, VideoError>) {
        match encoded {
            Ok(Some(frame)) => {
                self.encoded += 1;
                self.quantizer = frame.quantizer;
                (self.width, self.height, self.fps) = (form.width, form.height, form.fps);
            }
            Ok(None) => self.dropped += 1,
            Err(_) => self.skipped += 1,
        }
    }
}

/// Rounds to at least one picture per second, for encoders that need an
/// integer.
fn whole(fps: f64) -> u32 {
    fps.round().max(1.0) as u32
}

fn shrunk<'a>(scaler: &mut Option<Scaler>, picture: &'a Picture, form: Form) -> Cow<'a, Picture> {
    let from = (picture.width, picture.height);
    // A camera may change its size; pictures are never enlarged.
    let to = (
        from.0.min(form.width as usize),
        from.1.min(form.height as usize),
    );
    if from == to {
        return Cow::Borrowed(picture);
    }
    let scaler = match scaler {
        Some(scaler) if scaler.is(from, to) => scaler,
        other => other.insert(Scaler::new(from, to)),
    };
    Cow::Owned(scaler.scale(picture))
}

#[cfg(test)]
mod tests {
    use super::{Load, LoadMeter};

    #[test]
    fn a_slow_machine_and_its_recovery_are_reported_once() {
        let mut meter = LoadMeter::default();
        let mut told = Vec::new();
        for missed in [1, 0, 0, 1] {
            told.extend((0..1000).filter_map(|_| meter.on_picture(missed)));
        }
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(matches!(
            told[..],
            [Load::TooHigh(_), Load::Fine, Load::TooHigh(_)]
        ));
    }

    #[test]
    fn a_few_missed_pictures_are_not_reported() {
        let mut meter = LoadMeter::default();
        let told = (0..2000).find_map(|n| meter.on_picture(u64::from(n % 11 == 0)));
        assert_eq!(told, None);
    }
}
