//! Whether the machine kept up while a test of rates and times ran.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Who is given no processor for so long sees a queue that is not there, and
/// lowers rates: a path's round trip here is far below a millisecond.
const STILL: Duration = Duration::from_millis(20);
const ATTEMPTS: usize = 4;

/// Runs a test again that fails on a machine that stood still meanwhile: then
/// it was the machine that was tested.
pub(crate) fn where_the_machine_keeps_up(test: fn()) {
    for _ in 0..ATTEMPTS {
        let watch = Watch::start();
        let result = std::panic::catch_unwind(test);
        let still = watch.stop();
        match result {
            Ok(()) => return,
            Err(panic) if still < STILL => std::panic::resume_unwind(panic),
            Err(_) => println!("the machine stood still for {still:?}: once more"),
        }
    }
    println!("skipped: the machine stood still in each of {ATTEMPTS} attempts");
}

/// A thread that wants to run every millisecond.
struct Watch {
    is_over: Arc<AtomicBool>,
    longest: mpsc::Receiver<Duration>,
}

impl Watch {
    fn start() -> Watch {
        const EVERY: Duration = Duration::from_millis(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, longest) = mpsc::channel();
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let before = Instant::now();
                std::thread::park_timeout(EVERY);
                longest = longest.max(before.elapsed());
            }
            let _ = sender.send(longest);
        });
        Watch { is_over, longest }
    }

    /// The longest time between two turns of the thread.
    fn stop(self) -> Duration {
        self.is_over.store(true, Ordering::Relaxed);
        self.longest.recv().unwrap()
    }
}
