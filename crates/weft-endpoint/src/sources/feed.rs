//! Camera on its own thread, for any number of encoders.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use weft_media::{Camera, CameraError, CameraSpec, Format, Pace, Picture, stamp};
use weft_net::Clock;
use weft_units::{Duration, Instant};

/// Picture with its capture time.
#[derive(Clone, Debug)]
pub struct CapturedFrame {
    /// Number of the picture, from zero for each camera; gaps show missed
    /// pictures.
    pub index: u64,
    /// Captured picture.
    pub picture: Arc<Picture>,
    /// Capture time.
    pub taken_at: Instant,
}

/// Camera that is not running yet.
pub struct Feed {
    camera: Box<dyn Camera>,
    clock: Clock,
    stamped: bool,
    takers: Vec<SyncSender<CapturedFrame>>,
    preview: Preview,
}

/// Latest picture of a camera before encoding. Clones share it.
#[derive(Clone, Default)]
pub struct Preview(Arc<Mutex<Option<Arc<Picture>>>>);

impl Preview {
    /// Latest picture; `None` before the first one.
    #[must_use]
    pub fn picture(&self) -> Option<Arc<Picture>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Picture>>> {
        let held = self.0.lock();
        held.expect("nothing panics while it holds the picture")
    }
}

/// Number of pictures that wait for an encoder; a slow encoder skips pictures instead of
/// using old ones.
const WAITING_PICTURES: usize = 2;

impl Feed {
    /// Opens the camera. Pictures of the built-in clip carry a stamp with their number
    /// and time, by which they are recognised after decoding.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(spec: &CameraSpec, clock: Clock) -> Result<Feed, CameraError> {
        let feed = Feed::of(spec.open()?, clock);
        Ok(match spec {
            CameraSpec::Clip(_) => feed.stamped(),
            _ => feed,
        })
    }

    /// Uses a camera that is already open.
    #[must_use]
    pub fn of(camera: Box<dyn Camera>, clock: Clock) -> Feed {
        Feed {
            camera,
            clock,
            stamped: false,
            takers: Vec::new(),
            preview: Preview::default(),
        }
    }

    /// Stamps every picture with its number and time, by which it is recognised after
    /// decoding.
    #[must_use]
    pub fn stamped(self) -> Feed {
        Feed {
            stamped: true,
            ..self
        }
    }

    /// Size and rate of the pictures.
    #[must_use]
    pub fn format(&self) -> Format {
        self.camera.format()
    }

    /// Returns the latest picture, updated from now on.
    #[must_use]
    pub fn preview(&self) -> Preview {
        self.preview.clone()
    }

    /// Returns a receiver of all pictures from the start; it skips pictures while it is
    /// full.
    pub fn subscribe(&mut self) -> Receiver<CapturedFrame> {
        let (sender, receiver) = sync_channel(WAITING_PICTURES);
        self.takers.push(sender);
        receiver
    }

    /// Runs until the camera ends or all receivers are gone.
    pub fn start(mut self, on_end: impl FnOnce(CameraError) + Send + 'static) {
        thread::Builder::new()
            .name("camera".to_owned())
            .spawn(move || {
                if let Err(error) = self.run() {
                    on_end(error);
                }
            })
            .expect("the system gives a thread");
    }

    fn run(&mut self) -> Result<(), CameraError> {
        let interval = Duration::from_secs_f64(1.0 / self.camera.format().fps.max(1.0));
        let mut due = self.clock.now();
        let mut index = 0;
        while !self.takers.is_empty() {
            if self.camera.pace() == Pace::Caller {
                due = wait_until(&self.clock, due) + interval;
            }
            let captured = self.camera.capture()?;
            let taken_at = self.clock.now();
            if index == 0 {
                // A delay at the start of a camera is not caught up.
                due = due.max(taken_at + interval);
            }
            let mut picture = captured.picture;
            if self.stamped {
                let time_ms = self.clock.unix_millis(taken_at) as u32;
                let number = captured.number as u32;
                stamp::write(
                    Arc::make_mut(&mut picture),
                    stamp::Stamp { number, time_ms },
                );
            }
            *self.preview.lock() = Some(Arc::clone(&picture));
            let frame = CapturedFrame {
                index,
                picture,
                taken_at,
            };
            index += 1;
            self.takers.retain(|taker| {
                !matches!(
                    taker.try_send(frame.clone()),
                    Err(TrySendError::Disconnected(_))
                )
            });
        }
        Ok(())
    }
}

/// Sleeps until `due`; returns it, or the present time if `due` is long past.
pub(crate) fn wait_until(clock: &Clock, due: Instant) -> Instant {
    /// Delay above which lost time is not caught up (a suspended machine).
    const LOST: Duration = Duration::from_millis(500);
    let now = clock.now();
    if now < due {
        thread::sleep((due - now).into());
        return due;
    }
    if now.saturating_since(due) > LOST {
        now
    } else {
        due
    }
}

#[cfg(test)]
mod tests {
    use weft_media::Captured;

    use super::*;

    /// Camera whose first picture is late.
    struct Slow(u64);

    impl Camera for Slow {
        fn format(&self) -> Format {
            Format {
                width: 16,
                height: 16,
                fps: 50.0,
            }
        }

        fn pace(&self) -> Pace {
            Pace::Caller
        }

        fn capture(&mut self) -> Result<Captured, CameraError> {
            let number = self.0;
            self.0 += 1;
            if number == 0 {
                thread::sleep(std::time::Duration::from_millis(300));
            }
            let picture = Arc::new(Picture::new(16, 16));
            Ok(Captured { picture, number })
        }
    }

    #[test]
    fn pictures_that_a_slow_beginning_missed_are_not_caught_up() {
        let mut feed = Feed::of(Box::new(Slow(0)), Clock::start());
        let captured = feed.subscribe();
        feed.start(drop);
        let taken: Vec<Instant> = captured
            .iter()
            .take(6)
            .map(|frame| frame.taken_at)
            .collect();
        let took = taken[5].saturating_since(taken[0]);
        // Five intervals of 20 ms.
        assert!(took >= Duration::from_millis(80), "{took:?}");
    }
}
