//! State of the bandwidth probing.

use weft_units::{Duration, Instant};

/// Time between probes, plus up to a second (section 5.3.3.5.3).
pub const WAIT: Duration = Duration::from_secs(2);

/// Phase of the cycle, and the time of the next one.
pub(super) struct Cycle {
    /// Number of cycles; the bandwidth filter counts them.
    pub count: u64,
    pub began_at: Instant,
    pub wait: Duration,
    pub rounds: u32,
    pub phase: AckPhase,
    /// Whether losses still describe the latest probe.
    pub samples: bool,
    /// Delivered segments per additional segment.
    pub up_every: f64,
    pub up_rounds: u32,
    pub up_delivered: f64,
}

/// Phase of the probing to which the acknowledgements belong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Stopping,
    Refilling,
    Starting,
    Feedback,
}

impl Cycle {
    pub fn new(now: Instant) -> Cycle {
        Cycle {
            count: 0,
            began_at: now,
            wait: WAIT,
            rounds: 0,
            phase: AckPhase::Init,
            samples: false,
            up_every: f64::INFINITY,
            up_rounds: 0,
            up_delivered: 0.0,
        }
    }

    pub fn on_round(&mut self, begins: bool) {
        self.rounds += u32::from(begins);
    }

    pub fn stop_probing(&mut self) {
        self.phase = AckPhase::Stopping;
    }

    pub fn steepen(&mut self, window: f64) {
        let growth = f64::from(1_u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_every = (window / growth).max(1.0);
    }
}
