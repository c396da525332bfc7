//! An encoder on a thread of its own, at the session's rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;

use weft_media::{EncodedFrame, EncoderConfig, Format, Keyframe, Vp8Encoder, Vp8Error};
use weft_units::{Duration, Instant, Rate};

use super::feed::Shot;

/// What the network tells an encoder.
#[derive(Debug)]
pub struct VideoControl {
    rate_bps: AtomicU64,
    keyframe: AtomicBool,
    /// How long what was encoded already waits for the network, in ms.
    backlog_ms: AtomicU64,
}

/// A backlog longer than this skips pictures: they would be late anyway, and
/// the ones after them later still. Three frame times at 30 fps; chosen by us.
const MAX_BACKLOG: Duration = Duration::from_millis(120);

impl VideoControl {
    pub fn new(rate: Rate) -> Arc<VideoControl> {
        Arc::new(VideoControl {
            rate_bps: AtomicU64::new(rate.as_bps()),
            keyframe: AtomicBool::new(false),
            backlog_ms: AtomicU64::new(0),
        })
    }

    pub fn set_rate(&self, rate: Rate) {
        self.rate_bps.store(rate.as_bps(), Ordering::Relaxed);
    }

    pub fn request_keyframe(&self) {
        self.keyframe.store(true, Ordering::Relaxed);
    }

    pub fn set_backlog(&self, backlog: Duration) {
        self.backlog_ms
            .store(backlog.as_millis(), Ordering::Relaxed);
    }
}

/// An encoded picture on its way to the network.
#[derive(Debug)]
pub struct VideoFrame {
    pub encoded: EncodedFrame,
    pub timestamp: u32,
    pub taken_at: Instant,
}

/// Encodes `shots` until they end; `send` says whether anybody
/// still takes the frames.
pub fn start(
    format: Format,
    layers: u8,
    control: Arc<VideoControl>,
    shots: Receiver<Shot>,
    send: impl FnMut(VideoFrame) -> bool + Send + 'static,
) -> Result<(), Vp8Error> {
    let encoder = Vp8Encoder::new(EncoderConfig {
        width: format.width,
        height: format.height,
        fps: format.fps.round().max(1.0) as u32,
        rate: Rate::from_bps(control.rate_bps.load(Ordering::Relaxed)),
        temporal_layers: layers,
    })?;
    thread::Builder::new()
        .name("encoder".to_owned())
        .spawn(move || encode(encoder, &control, &shots, send))
        .expect("the system gives a thread");
    Ok(())
}

fn encode(
    mut encoder: Vp8Encoder,
    control: &VideoControl,
    shots: &Receiver<Shot>,
    mut send: impl FnMut(VideoFrame) -> bool,
) {
    let mut rate = Rate::ZERO;
    while let Ok(shot) = shots.recv() {
        if control.backlog_ms.load(Ordering::Relaxed) > MAX_BACKLOG.as_millis() {
            // Only the network can lower it: look again with the next picture.
            control.backlog_ms.store(0, Ordering::Relaxed);
            continue;
        }
        let wanted = Rate::from_bps(control.rate_bps.load(Ordering::Relaxed));
        if wanted == Rate::ZERO {
            continue;
        }
        if wanted != rate && encoder.set_rate(wanted).is_ok() {
            rate = wanted;
        }
        let keyframe = if control.keyframe.swap(false, Ordering::Relaxed) {
            Keyframe::Force
        } else {
            Keyframe::Auto
        };
        let timestamp = rtp_timestamp(shot.taken_at, 90_000);
        let Ok(Some(encoded)) = encoder.encode(&shot.picture, timestamp, keyframe) else {
            if keyframe == Keyframe::Force {
                control.request_keyframe();
            }
            continue;
        };
        if !send(VideoFrame {
            encoded,
            timestamp,
            taken_at: shot.taken_at,
        }) {
            return;
        }
    }
}

/// A time in a stream's clock; it wraps as RTP's does.
pub fn rtp_timestamp(at: Instant, clock_rate: u64) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(clock_rate) / 1_000_000_000) as u32
}
