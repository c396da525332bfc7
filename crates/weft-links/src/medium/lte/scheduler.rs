//! Who gets resource blocks first.

use super::spec::LteScheduler;
use weft_units::Instant;

/// Of one direction.
pub(super) struct Scheduler {
    kind: LteScheduler,
    /// What each terminal has had, in bytes a millisecond; the mean over about
    /// a window, which ends at `at`, in milliseconds.
    averages: Vec<f64>,
    at: u64,
    /// Whose turn it is.
    turn: usize,
}

/// Somebody who has something to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Candidate {
    pub terminal: usize,
    /// Bytes that it could have in a millisecond.
    pub rate: f64,
    /// Bytes that it wants.
    pub wanted: u64,
    /// Whether it is for a dedicated bearer.
    pub is_urgent: bool,
}

/// Milliseconds of the proportional-fair average, ns-3's.
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

    /// Sorts them, the first one first.
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
        // The least goes first.
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
        // Who is first now is last in the next round.
        if let Some(first) = candidates.first() {
            self.turn = (first.terminal + 1) % count;
        }
    }

    /// This terminal gets so many bytes now.
    pub fn serve(&mut self, terminal: usize, bytes: u64) {
        self.averages[terminal] += bytes as f64 / WINDOW;
    }
}
