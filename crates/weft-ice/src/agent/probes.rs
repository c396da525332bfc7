//! Budget of checks on pairs that never answered: they go to addresses that may
//! not be the peer's.

use weft_units::{Duration, Instant};

/// Cost of one check, as a part of a credit that grows with time: after the
/// burst, 32 a second for all pairs together. Chosen by us.
const COST: Duration = Duration::from_nanos(31_250_000);
/// Maximum burst of checks. Chosen by us: eight pairs for the three seconds of
/// eager checks.
const BURST: u64 = 256;

/// Budget of one agent.
#[derive(Debug)]
pub(super) struct Probes {
    credit: Duration,
    at: Instant,
}

impl Default for Probes {
    fn default() -> Probes {
        Probes {
            credit: COST * BURST,
            at: Instant::ZERO,
        }
    }
}

impl Probes {
    /// Takes a check from the budget; returns whether one was available.
    pub fn take(&mut self, now: Instant) -> bool {
        let since = now.saturating_since(self.at);
        self.credit = (COST * BURST).min(self.credit + since);
        self.at = now;
        let may = self.credit >= COST;
        if may {
            self.credit -= COST;
        }
        may
    }
}
