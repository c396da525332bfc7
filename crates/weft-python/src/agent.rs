//! Controller and scheduler that execute the actions of an agent outside of the run, and
//! the agent's observations of the paths.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_cc::{Controller, CustomController, Limits, PacketResult, SentPacket, Snapshot};
use weft_session::schedule::{
    Assignment, Assignments, Batch, CustomScheduler, PathView, Scheduler,
};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate};

/// Name of the controller and of the scheduler in systems.
pub const NAME: &str = "agent";

/// Pacing rate relative to the target rate, the same as for controllers in Python.
const PACING_GAIN: f64 = 1.5;

/// Actions of an agent, and its observations.
#[derive(Debug, Default)]
pub struct Agent {
    /// Number of controllers created in this run. The caller's are created first, in the
    /// order of the paths; the callee sends nothing.
    created: AtomicUsize,
    paths: Vec<Path>,
}

/// Actions for one path, and its observations.
#[derive(Debug, Default)]
struct Path {
    /// Target rate in bit/s.
    target: AtomicU64,
    /// Share of the packets, as bits of a float.
    share: AtomicU64,
    seen: Mutex<Seen>,
}

/// Feedback on one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Packets that arrived since the last observation.
    pub received: u64,
    /// Packets lost since then.
    pub lost: u64,
    /// Bytes of the packets that arrived.
    pub bytes: u64,
    /// Sum of their one-way delays in seconds.
    delays: f64,
    /// Minimum one-way delay of the run in seconds.
    least: Option<f64>,
    /// Mean one-way delay of the last packets above the minimum, in seconds.
    pub queueing: f64,
    /// Round-trip time in seconds; 0 while unknown.
    pub rtt: f64,
}

impl Agent {
    /// Creates an agent for a call over this many paths.
    pub fn new(paths: usize) -> Arc<Agent> {
        Arc::new(Agent {
            created: AtomicUsize::new(0),
            paths: (0..paths).map(|_| Path::default()).collect(),
        })
    }

    /// Returns the controller and the scheduler. Each call leaks a few bytes, because the
    /// setup of a run names them by reference.
    pub fn custom(self: &Arc<Agent>) -> weft_lab::scenario::Custom {
        let agent = self.clone();
        let controller = move |limits: Limits, _now: Instant| -> Box<dyn Controller> {
            let path = agent.created.fetch_add(1, Ordering::Relaxed);
            Box::new(Acting {
                agent: agent.clone(),
                path: (path < agent.paths.len()).then_some(path),
                limits,
            })
        };
        let agent = self.clone();
        let scheduler = move || -> Box<dyn Scheduler> {
            Box::new(Splitting {
                credit: vec![0.0; agent.paths.len()],
                agent: agent.clone(),
            })
        };
        let name = || NAME.to_owned();
        let controller = CustomController::new(name(), Box::new(controller));
        let scheduler = CustomScheduler::new(name(), Box::new(scheduler));
        weft_lab::scenario::Custom {
            controllers: vec![Box::leak(Box::new(controller))],
            schedulers: vec![Box::leak(Box::new(scheduler))],
        }
    }

    /// Resets everything for the next run.
    pub fn reset(&self, rate: f64) {
        self.created.store(0, Ordering::Relaxed);
        for path in &self.paths {
            path.act(rate, 1.0);
            *path.seen() = Seen::default();
        }
    }

    /// Sets target rate (bit/s) and share of each path.
    pub fn act(&self, rates: &[f64], shares: &[f64]) {
        for ((path, rate), share) in self.paths.iter().zip(rates).zip(shares) {
            path.act(*rate, *share);
        }
    }

    /// Returns the feedback since the last observation, by path.
    pub fn look(&self) -> impl Iterator<Item = Seen> {
        self.paths.iter().map(|path| {
            let mut seen = path.seen();
            if seen.received > 0 {
                let mean = seen.delays / seen.received as f64;
                seen.queueing = (mean - seen.least.unwrap_or(mean)).max(0.0);
            }
            let told = *seen;
            (seen.received, seen.lost, seen.bytes, seen.delays) = (0, 0, 0, 0.0);
            told
        })
    }
}

impl Path {
    fn act(&self, rate: f64, share: f64) {
        self.target.store(rate.round() as u64, Ordering::Relaxed);
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Controller of one path.
struct Acting {
    agent: Arc<Agent>,
    /// Number of the path; `None` at the callee.
    path: Option<usize>,
    limits: Limits,
}

impl Controller for Acting {
    fn on_packet_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, _now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        let Some(path) = self.path else { return };
        let mut seen = self.agent.paths[path].seen();
        for result in results {
            let Some(arrival) = result.arrival else {
                seen.lost += 1;
                continue;
            };
            let delay = arrival.signed_nanos_since(result.sent.sent_at) as f64 / 1e9;
            seen.received += 1;
            seen.bytes += result.sent.size.0;
            seen.delays += delay;
            seen.least = Some(seen.least.map_or(delay, |least| least.min(delay)));
        }
        if let Some(rtt) = rtt {
            seen.rtt = rtt.as_secs_f64();
        }
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn on_path_restored(&mut self, _now: Instant) {}

    fn target_rate(&self) -> Rate {
        let target = self.path.map_or(self.limits.start, |path| {
            Rate::from_bps(self.agent.paths[path].target.load(Ordering::Relaxed))
        });
        target.clamp(self.limits.min, self.limits.max)
    }

    fn pacing_rate(&self) -> Rate {
        self.target_rate().mul_f64(PACING_GAIN)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            target: self.target_rate(),
            acked: None,
            loss: 0.0,
            state: NAME,
        }
    }
}

/// Scheduler that gives each path its share of the bytes.
struct Splitting {
    agent: Arc<Agent>,
    /// Bytes that each path should have received so far, minus those that it received.
    credit: Vec<f64>,
}

impl Splitting {
    fn choose(&mut self, size: Bytes, paths: &[PathView]) -> Assignment {
        let place = |path: &PathView| usize::from(path.id.0);
        let share = |path: &PathView| self.agent.paths.get(place(path)).map_or(0.0, Path::share);
        let all: f64 = paths.iter().map(share).sum();
        for path in paths {
            // Without any share, all shares are equal.
            let part = match all > 0.0 {
                true => share(path) / all,
                false => 1.0 / paths.len() as f64,
            };
            if let Some(credit) = self.credit.get_mut(place(path)) {
                *credit += part * size.0 as f64;
            }
        }
        let mut best = &paths[0];
        for path in paths {
            let credit = |path: &PathView| self.credit.get(place(path)).copied();
            if credit(path) > credit(best) {
                best = path;
            }
        }
        if let Some(credit) = self.credit.get_mut(place(best)) {
            *credit -= size.0 as f64;
        }
        Assignment::from(best.id)
    }
}

impl Scheduler for Splitting {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let sizes = batch.sizes.iter();
        sizes.map(|size| self.choose(*size, paths)).collect()
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|path| path.rate).sum()
    }
}
