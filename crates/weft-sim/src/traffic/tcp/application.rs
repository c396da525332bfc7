//! Transfers of a connection and their times.

use weft_experiment::Application;
use weft_units::{Bytes, Duration, Rng};

use crate::packet::tcp::PAYLOAD;

/// Plans one connection's transfers.
pub(crate) struct Plan {
    application: Application,
    rng: Rng,
    transfers: u64,
}

/// Transfer of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Work {
    /// Size: full segments and one more that may be shorter; `None` means unlimited.
    pub size: Option<Bytes>,
    /// Pause before it.
    pub pause: Duration,
}

impl Plan {
    pub fn new(application: &Application, rng: Rng) -> Plan {
        Plan {
            application: application.clone(),
            rng,
            transfers: 0,
        }
    }

    /// Returns the next transfer, if there is one.
    pub fn next(&mut self) -> Option<Work> {
        let first = self.transfers == 0;
        self.transfers += 1;
        let at_once = |size| Work {
            size,
            pause: Duration::ZERO,
        };
        match &self.application {
            Application::LongLived => first.then(|| at_once(None)),
            Application::Upload(size) => first.then(|| at_once(Some(*size))),
            Application::OnOff { size, mean_pause } => {
                let (least, most) = (size.0.0, size.1.0);
                let bytes = least + self.rng.below(most - least + 1);
                // Inverse of the exponential distribution.
                let pause = mean_pause.mul_f64(-(1.0 - self.rng.unit()).ln());
                Some(Work {
                    size: Some(Bytes(bytes)),
                    pause,
                })
            }
        }
    }
}

impl Work {
    /// Returns the number of segments, and the payload of the last one.
    pub fn segments(&self) -> (u32, u16) {
        let Some(Bytes(size)) = self.size else {
            return (u32::MAX, PAYLOAD);
        };
        let full = u64::from(PAYLOAD);
        let count = u32::try_from(size.div_ceil(full)).unwrap_or(u32::MAX);
        let last = (size - 1) % full + 1;
        (count, last as u16)
    }
}

#[cfg(test)]
mod tests;
