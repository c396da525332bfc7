//! What a player sees of one incoming stream of pictures, measured from the
//! decoded pixels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use weft_media::metrics::{Brisque, Freezes};
use weft_media::{VideoDecoder, VideoError, stamp};
use weft_net::Clock;
use weft_session::ReceivedFrame;
use weft_units::{Codec, Duration, Instant};

/// One picture shown.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    /// When it was decoded, in the time of the clock that was given.
    pub at: Instant,
    /// Frame number from its stamp, if it has one.
    pub number: Option<u32>,
    /// From capture to here, by the stamp's wall clock.
    pub latency: Option<Duration>,
    /// From capture until its last packet came.
    pub complete: Option<Duration>,
    /// As it came.
    pub bytes: usize,
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
}

/// Everything seen so far.
#[derive(Debug)]
pub struct Sights {
    /// Those that nobody took yet.
    pub all: Vec<Sight>,
    /// How bad single pictures looked by themselves ([`Brisque`]), one every
    /// two seconds, that nobody took yet; none without a model.
    pub scores: Vec<f64>,
    /// How often and for how long the picture stood still.
    pub freezes: Freezes,
    /// Frames without a picture.
    pub undecodable: u64,
}

/// How often a picture is judged; chosen by us: one of 720p takes as long as
/// several are apart.
const JUDGED_EVERY: Duration = Duration::from_secs(2);

/// A decoder on a thread of its own, and what it has seen.
#[derive(Clone)]
pub struct Watcher {
    frames: Sender<ReceivedFrame>,
    sights: Arc<Mutex<Sights>>,
}

impl Watcher {
    /// A decoder that waits for frames, and judges some of the pictures where
    /// there is a model.
    ///
    /// # Errors
    /// If there is none for this codec.
    pub fn start(
        clock: Clock,
        codec: Codec,
        judge: Option<Brisque>,
    ) -> Result<Watcher, VideoError> {
        let decoder = VideoDecoder::new(codec)?;
        let (frames, incoming) = channel();
        let sights = Arc::new(Mutex::new(Sights {
            all: Vec::new(),
            scores: Vec::new(),
            freezes: Freezes::new(),
            undecodable: 0,
        }));
        let shared = Arc::clone(&sights);
        thread::Builder::new()
            .name("decoder".to_owned())
            .spawn(move || decode(decoder, clock, judge.as_ref(), &incoming, &shared))
            .expect("the system gives a thread");
        Ok(Watcher { frames, sights })
    }

    /// A frame whose time has come.
    pub fn show(&self, frame: ReceivedFrame) {
        // The decoder thread lives as long as its sender.
        let _ = self.frames.send(frame);
    }

    /// The pictures since this was asked last.
    #[must_use]
    pub fn take(&self) -> Vec<Sight> {
        let sights = self.sights.lock();
        std::mem::take(
            &mut sights
                .expect("no thread panics with the sights in hand")
                .all,
        )
    }

    /// The scores since this was asked last.
    #[must_use]
    pub fn take_scores(&self) -> Vec<f64> {
        let sights = self.sights.lock();
        std::mem::take(
            &mut sights
                .expect("no thread panics with the sights in hand")
                .scores,
        )
    }

    /// Looks at everything at once; the decoder waits meanwhile.
    pub fn look<T>(&self, at: impl FnOnce(&Sights) -> T) -> T {
        at(&self
            .sights
            .lock()
            .expect("no thread panics with the sights in hand"))
    }
}

fn decode(
    mut decoder: VideoDecoder,
    clock: Clock,
    judge: Option<&Brisque>,
    frames: &Receiver<ReceivedFrame>,
    sights: &Mutex<Sights>,
) {
    let mut judged: Option<Instant> = None;
    while let Ok(frame) = frames.recv() {
        let decoded = decoder.decode(&frame.data);
        let now = clock.now();
        let lock = || {
            sights
                .lock()
                .expect("no thread panics with the sights in hand")
        };
        let mut sights = lock();
        let Ok(Some(picture)) = decoded else {
            sights.undecodable += 1;
            continue;
        };
        let seen = stamp::read(&picture);
        let since_capture = |at: Instant| {
            let behind = |s: stamp::Stamp| (clock.unix_millis(at) as u32).wrapping_sub(s.time_ms);
            seen.map(|s| Duration::from_millis(u64::from(behind(s))))
        };
        sights.freezes.on_picture(now);
        let number = seen.map(|s| s.number);
        sights.all.push(Sight {
            at: now,
            number,
            latency: since_capture(now),
            complete: since_capture(frame.complete_at),
            bytes: frame.data.len(),
            width: picture.width,
            height: picture.height,
        });
        drop(sights);
        // Judging takes long, and what was seen is told meanwhile.
        let is_due = judged.is_none_or(|last| now.saturating_since(last) >= JUDGED_EVERY);
        if let Some(judge) = judge.filter(|_| is_due) {
            judged = Some(now);
            let score = judge.score(&picture);
            lock().scores.extend(score);
        }
    }
}
