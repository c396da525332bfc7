//! Order in which terminals get resource blocks.

use super::spec::LteScheduler;
use weft_units::Instant;

/// Scheduler of one direction.
pub(super) struct Scheduler {
    kind: LteScheduler,
    /// Bytes per millisecond that each terminal got; the mean over about one window that
    /// ends at `at`, in milliseconds.
    averages: Vec<f64>,
    at: u64,
    /// Terminal whose turn is next.
    turn: usize,
}

/// Terminal with data to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Candidate {
    pub terminal: usize,
    /// Bytes that it could send in a millisecond.
    pub rate: f64,
    /// Bytes that it wants to send.
    pub wanted: u64,
    /// Whether these bytes belong to a dedicated bearer.
    pub is_urgent: bool,
}

/// Milliseconds of the proportional-fair average, as in ns-3.
const WINDOW: f64 = 99.0;

impl Scheduler {
    pub fn new(kind: LteScheduler, terminals: usize) -> Scheduler {
        Scheduler {
            kind,
            averages: vec![0.0; terminals],
            at: 0,
            turn: 0,
        }
    }

    /// Sorts the candidates, the first to serve first.
    pub fn sort(&mut self, at: Instant, candidates: &mut [Candidate]) {
        let number = at.as_nanos() / 1_000_000;
        if number > self.at {
            let passed = (number - self.at).min(1_000_000) as i32;
            let kept = (1.0 - 1.0 / WINDOW).powi(passed);
            self.averages.iter_mut().for_each(|mean| *mean *= kept);
            self.at = number;
        }
        let count = self.averages.len();
        let (averages, turn) = (&self.averages, self.turn);
        // The smallest value is served first.
        let metric = |c: &Candidate| match self.kind {
            LteScheduler::ProportionalFair => -c.rate / averages[c.terminal].max(1e-6),
            LteScheduler::MaxRate => -c.rate,
            LteScheduler::RoundRobin => ((c.terminal + count - turn) % count) as f64,
        };
        let by = |c: &Candidate| (!c.is_urgent, metric(c));
        candidates.sort_by(|a, b| {
            let ((a_late, a), (b_late, b)) = (by(a), by(b));
            a_late.cmp(&b_late).then(a.total_cmp(&b))
        });
        // The first terminal of this round is last in the next one.
        if let Some(first) = candidates.first() {
            self.turn = (first.terminal + 1) % count;
        }
    }

    /// Records the bytes that this terminal gets now.
    pub fn serve(&mut self, terminal: usize, bytes: u64) {
        self.averages[terminal] += bytes as f64 / WINDOW;
    }
}
