//! What a player sees of one incoming stream of pictures, measured from the
//! decoded pixels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use weft_media::metrics::Freezes;
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
    /// How often and for how long the picture stood still.
    pub freezes: Freezes,
    /// Frames without a picture.
    pub undecodable: u64,
}

/// A decoder on a thread of its own, and what it has seen.
#[derive(Clone)]
pub struct Watcher {
    frames: Sender<ReceivedFrame>,
    sights: Arc<Mutex<Sights>>,
}

impl Watcher {
    /// A decoder that waits for frames.
    ///
    /// # Errors
    /// If there is none for this codec.
    pub fn start(clock: Clock, codec: Codec) -> Result<Watcher, VideoError> {
        let decoder = VideoDecoder::new(codec)?;
        let (frames, incoming) = channel();
        let sights = Arc::new(Mutex::new(Sights {
            all: Vec::new(),
            freezes: Freezes::new(),
            undecodable: 0,
        }));
        let shared = Arc::clone(&sights);
        thread::Builder::new()
            .name("decoder".to_owned())
            .spawn(move || decode(decoder, clock, &incoming, &shared))
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
    frames: &Receiver<ReceivedFrame>,
    sights: &Mutex<Sights>,
) {
    while let Ok(frame) = frames.recv() {
        let decoded = decoder.decode(&frame.data);
        let now = clock.now();
        let mut sights = sights
            .lock()
            .expect("no thread panics with the sights in hand");
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
    }
}
