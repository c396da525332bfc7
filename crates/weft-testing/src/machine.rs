use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Maximum scheduling delay of a machine that keeps up. Chosen by us: a call over
/// loopback takes a longer delay for a queue.
const STILL: Duration = Duration::from_millis(20);

/// Attempts of a test that runs alone.
const ALONE: usize = 3;

/// Read-locked by tests that run in parallel, write-locked by one that runs
/// alone.
static TURN: RwLock<()> = RwLock::new(());

/// Runs a test of rates and times. If it fails, it is retried alone, without other such
/// tests of its program, and the result counts only if the machine kept up. If the
/// machine never does, the test is reported as skipped.
///
/// # Panics
/// Like the test, alone on a machine that keeps up.
pub fn where_the_machine_keeps_up(test: fn()) {
    {
        let _beside = TURN.read().unwrap_or_else(PoisonError::into_inner);
        if catch_unwind(test).is_ok() {
            return;
        }
    }
    crate::say("failed beside others, and is tried alone");
    let _alone = TURN.write().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1..=ALONE {
        println!("alone, attempt {attempt} of {ALONE}:");
        let watch = Watch::start();
        let result = catch_unwind(test);
        let longest = watch.stop();
        match result {
            Ok(()) => return,
            Err(panic) if longest < STILL => resume_unwind(panic),
            Err(_) => println!("a processor was not available for {longest:.0?}"),
        }
    }
    crate::skipped(format!("the machine did not keep up, {ALONE} times"));
}

/// Threads, one per processor, that try to run every millisecond.
struct Watch {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Duration>>,
}

impl Watch {
    fn start() -> Watch {
        let is_over = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(None).expect("a thread may know where it runs");
        let processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let watch = |processor| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || longest_turn(processor, &is_over))
        };
        Watch {
            threads: processors.map(watch).collect(),
            is_over,
        }
    }

    /// Longest time between two turns of any thread.
    fn stop(self) -> Duration {
        self.is_over.store(true, Ordering::Relaxed);
        let turns = self.threads.into_iter();
        let turns = turns.map(|thread| thread.join().expect("it has nothing to fail"));
        turns.max().unwrap_or_default()
    }
}

fn longest_turn(processor: usize, is_over: &AtomicBool) -> Duration {
    const EVERY: Duration = Duration::from_millis(1);
    let mut only = CpuSet::new();
    only.set(processor);
    // On other systems it sees fewer delays, so a failing test fails sooner.
    let _ = sched_setaffinity(None, &only);
    let mut longest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        let before = Instant::now();
        thread::park_timeout(EVERY);
        longest = longest.max(before.elapsed());
    }
    longest
}

#[cfg(test)]
mod tests;

/// Processor time used by this thread, without that of other programs on a busy
/// machine.
#[must_use]
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
