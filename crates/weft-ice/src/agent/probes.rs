//! Checks of pairs that never answered: what is sent to an address that nobody
//! has proved to be the peer's.

use weft_units::{Duration, Instant};

/// One check costs so much of a credit that grows with time: 32 a second go on
/// after the burst, to all pairs together. Chosen by us.
const COST: Duration = Duration::from_nanos(31_250_000);
/// Checks in a row. Chosen by us: eight pairs for the three seconds in which
/// they are tried eagerly.
const BURST: u64 = 256;

/// The budget of one agent.
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
    /// Whether one may be sent, which is paid for.
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
