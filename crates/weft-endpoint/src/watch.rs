//! What a player sees of one incoming stream of pictures, measured from the
//! decoded pixels.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use weft_media::metrics::{Brisque, Freezes};
use weft_media::{Picture, VideoDecoder, VideoError, stamp};
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

/// How often a picture is judged; chosen by us: one of 720p takes longer than
/// pictures are apart.
const JUDGED_EVERY: Duration = Duration::from_secs(2);

/// Most octets of frames that wait for the decoder, but for the last one: some
/// seconds. Chosen by us.
const WAITING_BYTES: usize = 8 << 20;

/// Pictures that wait to be taken ([`Watcher::take`]): those of some minutes. Chosen
/// by us.
const WAITING_SIGHTS: usize = 10_000;

/// A decoder on a thread of its own, and what it has seen.
#[derive(Clone)]
pub struct Watcher {
    frames: Sender<ReceivedFrame>,
    waiting: Arc<Waiting>,
    sights: Arc<Mutex<Sights>>,
}

/// Frames that the decoder has not taken yet.
#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// One was dropped: the next ones cannot be decoded until a keyframe comes.
    is_behind: AtomicBool,
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
        judge: Option<Arc<Brisque>>,
    ) -> Result<Watcher, VideoError> {
        let decoder = VideoDecoder::new(codec)?;
        let (frames, incoming) = channel();
        let sights = Arc::new(Mutex::new(Sights {
            all: Vec::new(),
            scores: Vec::new(),
            freezes: Freezes::new(),
            undecodable: 0,
        }));
        let judge = judge.map(|judge| {
            // One waits at most: who judges is slower than who decodes.
            let (pictures, incoming) = sync_channel(1);
            let shared = Arc::clone(&sights);
            spawn("judge", move || judge_all(&judge, &incoming, &shared));
            pictures
        });
        let waiting = Arc::<Waiting>::default();
        let (shared, taken) = (Arc::clone(&sights), Arc::clone(&waiting));
        let incoming = incoming.into_iter().inspect(move |frame: &ReceivedFrame| {
            taken.bytes.fetch_sub(frame.data.len(), Ordering::Relaxed);
        });
        spawn("decoder", move || {
            decode(decoder, clock, judge.as_ref(), incoming, &shared);
        });
        Ok(Watcher {
            frames,
            waiting,
            sights,
        })
    }

    /// A frame whose time has come. If the decoder is too far behind, it counts as
    /// undecodable, and so do those after it until there is a keyframe.
    pub fn show(&self, frame: ReceivedFrame) {
        let is_full = self.waiting.bytes.load(Ordering::Relaxed) >= WAITING_BYTES;
        let is_behind = self.waiting.is_behind.load(Ordering::Relaxed) && !frame.keyframe;
        self.waiting
            .is_behind
            .store(is_full || is_behind, Ordering::Relaxed);
        if is_full || is_behind {
            hold(&self.sights).undecodable += 1;
            return;
        }
        let length = frame.data.len();
        self.waiting.bytes.fetch_add(length, Ordering::Relaxed);
        // The decoder thread lives as long as its sender.
        let _ = self.frames.send(frame);
    }

    /// The pictures since this was asked last.
    #[must_use]
    pub fn take(&self) -> Vec<Sight> {
        std::mem::take(&mut hold(&self.sights).all)
    }

    /// The scores since this was asked last.
    #[must_use]
    pub fn take_scores(&self) -> Vec<f64> {
        std::mem::take(&mut hold(&self.sights).scores)
    }

    /// Looks at everything at once; the decoder waits meanwhile.
    pub fn look<T>(&self, at: impl FnOnce(&Sights) -> T) -> T {
        at(&hold(&self.sights))
    }
}

fn hold(sights: &Mutex<Sights>) -> MutexGuard<'_, Sights> {
    let held = sights.lock();
    held.expect("no thread panics with the sights in hand")
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).expect("the system gives a thread");
}

fn judge_all(judge: &Brisque, pictures: &Receiver<Picture>, sights: &Mutex<Sights>) {
    while let Ok(picture) = pictures.recv() {
        let score = judge.score(&picture);
        hold(sights).scores.extend(score);
    }
}

fn decode(
    mut decoder: VideoDecoder,
    clock: Clock,
    judge: Option<&SyncSender<Picture>>,
    frames: impl Iterator<Item = ReceivedFrame>,
    sights: &Mutex<Sights>,
) {
    let mut judged: Option<Instant> = None;
    for frame in frames {
        let decoded = decoder.decode(&frame.data);
        let now = clock.now();
        let mut sights = hold(sights);
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
        if sights.all.len() >= WAITING_SIGHTS {
            // Nobody takes them: the older half goes.
            sights.all.drain(..WAITING_SIGHTS / 2);
            sights.scores.clear();
        }
        sights.all.push(Sight {
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
            // Who still judges the one before has this one left out.
            let _ = judge.try_send(picture);
        }
    }
}
