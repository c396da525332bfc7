//! Measurement of one received video stream, from the decoded pixels.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use weft_media::metrics::{Brisque, Freezes};
use weft_media::{Picture, VideoDecoder, VideoError, stamp};
use weft_net::Clock;
use weft_session::ReceivedFrame;
use weft_units::{Codec, Duration, Instant};

/// One displayed picture.
#[derive(Clone, Copy, Debug)]
pub struct ShownPicture {
    /// Decoding time, on the given clock.
    pub at: Instant,
    /// Frame number from its stamp, if it has one.
    pub number: Option<u32>,
    /// Time from capture to display, by the stamp's wall clock.
    pub latency: Option<Duration>,
    /// Time from capture to the arrival of its last packet.
    pub complete: Option<Duration>,
    /// Encoded size.
    pub bytes: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
}

/// Results so far.
#[derive(Debug)]
pub struct Measurements {
    /// Pictures not taken yet.
    pub pictures: Vec<ShownPicture>,
    /// Quality scores not taken yet ([`Brisque`]), one picture every two seconds; empty
    /// without a model.
    pub scores: Vec<f64>,
    /// Number and duration of freezes.
    pub freezes: Freezes,
    /// Frames that could not be decoded.
    pub undecodable: u64,
}

/// Interval of quality scores; chosen by us: scoring a 720p picture takes longer than the
/// time between two pictures.
const JUDGED_EVERY: Duration = Duration::from_secs(2);

/// Maximum size in octets of the frames that wait for the decoder, except the last one: a
/// few seconds. Chosen by us.
const WAITING_BYTES: usize = 8 << 20;

/// Maximum number of pictures that wait for [`Watcher::take`]: a few minutes. Chosen by
/// us.
const WAITING_PICTURES: usize = 10_000;

/// Decoder on its own thread, with its measurements.
#[derive(Clone)]
pub struct Watcher {
    frames: Sender<ReceivedFrame>,
    waiting: Arc<Waiting>,
    measurements: Arc<Mutex<Measurements>>,
}

/// Frames that wait for the decoder.
#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// Whether a frame was dropped, so that frames are undecodable until the
    /// next keyframe.
    is_behind: AtomicBool,
}

impl Watcher {
    /// Starts a decoder, and scores some pictures if a model is given.
    ///
    /// # Errors
    /// If the codec has no decoder.
    pub fn start(
        clock: Clock,
        codec: Codec,
        judge: Option<Arc<Brisque>>,
    ) -> Result<Watcher, VideoError> {
        let decoder = VideoDecoder::new(codec)?;
        let (frames, incoming) = channel();
        let measurements = Arc::new(Mutex::new(Measurements {
            pictures: Vec::new(),
            scores: Vec::new(),
            freezes: Freezes::new(),
            undecodable: 0,
        }));
        let judge = judge.map(|judge| {
            // At most one picture waits: scoring is slower than decoding.
            let (pictures, incoming) = sync_channel(1);
            let shared = Arc::clone(&measurements);
            spawn("judge", move || judge_all(&judge, &incoming, &shared));
            pictures
        });
        let waiting = Arc::<Waiting>::default();
        let (shared, taken) = (Arc::clone(&measurements), Arc::clone(&waiting));
        let incoming = incoming.into_iter().inspect(move |frame: &ReceivedFrame| {
            taken.bytes.fetch_sub(frame.data.len(), Ordering::Relaxed);
        });
        spawn("decoder", move || {
            decode(decoder, clock, judge.as_ref(), incoming, &shared);
        });
        Ok(Watcher {
            frames,
            waiting,
            measurements,
        })
    }

    /// Decodes a released frame. If the decoder is too far behind, this frame and all
    /// frames until a keyframe count as undecodable.
    pub fn show(&self, frame: ReceivedFrame) {
        let is_full = self.waiting.bytes.load(Ordering::Relaxed) >= WAITING_BYTES;
        let is_behind = self.waiting.is_behind.load(Ordering::Relaxed) && !frame.keyframe;
        self.waiting
            .is_behind
            .store(is_full || is_behind, Ordering::Relaxed);
        if is_full || is_behind {
            hold(&self.measurements).undecodable += 1;
            return;
        }
        let length = frame.data.len();
        self.waiting.bytes.fetch_add(length, Ordering::Relaxed);
        // The decoder thread lives as long as its sender.
        let _ = self.frames.send(frame);
    }

    /// Returns the pictures since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<ShownPicture> {
        std::mem::take(&mut hold(&self.measurements).pictures)
    }

    /// Returns the scores since the last call.
    #[must_use]
    pub fn take_scores(&self) -> Vec<f64> {
        std::mem::take(&mut hold(&self.measurements).scores)
    }

    /// Reads all results at once, while the decoder waits.
    pub fn look<T>(&self, at: impl FnOnce(&Measurements) -> T) -> T {
        at(&hold(&self.measurements))
    }
}

fn hold(measurements: &Mutex<Measurements>) -> MutexGuard<'_, Measurements> {
    let held = measurements.lock();
    held.expect("no thread panics while it holds the measurements")
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).expect("the system gives a thread");
}

fn judge_all(judge: &Brisque, pictures: &Receiver<Picture>, measurements: &Mutex<Measurements>) {
    while let Ok(picture) = pictures.recv() {
        let score = judge.score(&picture);
        hold(measurements).scores.extend(score);
    }
}

fn decode(
    mut decoder: VideoDecoder,
    clock: Clock,
    judge: Option<&SyncSender<Picture>>,
    frames: impl Iterator<Item = ReceivedFrame>,
    measurements: &Mutex<Measurements>,
) {
    let mut judged: Option<Instant> = None;
    for frame in frames {
        let decoded = decoder.decode(&frame.data);
        let now = clock.now();
        let mut measurements = hold(measurements);
        let Ok(Some(picture)) = decoded else {
            measurements.undecodable += 1;
            continue;
        };
        let seen = stamp::read(&picture);
        let since_capture = |at: Instant| {
            let behind = |s: stamp::Stamp| (clock.unix_millis(at) as u32).wrapping_sub(s.time_ms);
            seen.map(|s| Duration::from_millis(u64::from(behind(s))))
        };
        measurements.freezes.on_picture(now);
        let number = seen.map(|s| s.number);
        if measurements.pictures.len() >= WAITING_PICTURES {
            // Without a reader, drops the older half.
            measurements.pictures.drain(..WAITING_PICTURES / 2);
            measurements.scores.clear();
        }
        measurements.pictures.push(ShownPicture {
            at: now,
            number,
            latency: since_capture(now),
            complete: since_capture(frame.complete_at),
            bytes: frame.data.len(),
            width: picture.width,
            height: picture.height,
        });
        let is_due = judged.is_none_or(|last| now.saturating_since(last) >= JUDGED_EVERY);
        if let Some(judge) = judge.filter(|_| is_due) {
            judged = Some(now);
            // While the previous picture is being scored, this one is skipped.
            let _ = judge.try_send(picture);
        }
    }
}
