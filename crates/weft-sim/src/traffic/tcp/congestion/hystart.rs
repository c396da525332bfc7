//! HyStart++, which leaves slow start before the queue overflows (RFC 9406).

use weft_units::Duration;

use super::{AckSample, Rounds};

/// Constants of RFC 9406 section 4.3.
const MIN_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_THRESHOLD: Duration = Duration::from_millis(16);
const DIVISOR: u64 = 8;
const SAMPLES: u32 = 8;
const CAREFUL_DIVISOR: f64 = 4.0;
const CAREFUL_ROUNDS: u32 = 5;

#[derive(Default)]
pub(super) struct HyStart {
    rounds: Rounds,
    previous_min: Option<Duration>,
    current_min: Option<Duration>,
    samples: u32,
    careful: Option<Careful>,
}

/// Conservative slow start: the delay has grown, which may be a false alarm.
struct Careful {
    baseline: Duration,
    rounds: u32,
}

/// Result of an acknowledgement in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Growth {
    /// The window grows by this many segments.
    By(f64),
    /// Slow start is over.
    Over,
}

impl HyStart {
    /// Processes an acknowledgement in slow start.
    pub fn on_ack(&mut self, ack: &AckSample) -> Growth {
        if self.rounds.on_ack(ack) {
            self.previous_min = self.current_min.take();
            self.samples = 0;
            if let Some(careful) = &mut self.careful {
                careful.rounds += 1;
                if careful.rounds >= CAREFUL_ROUNDS {
                    return Growth::Over;
                }
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current_min = Some(self.current_min.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        if let (Some(current), Some(previous)) = (self.current_min, self.previous_min)
            && self.samples >= SAMPLES
        {
            let threshold = (previous / DIVISOR).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
            match &self.careful {
                None if current >= previous + threshold => {
                    self.careful = Some(Careful {
                        baseline: current,
                        rounds: 0,
                    });
                }
                // The delay has fallen again: a false alarm.
                Some(careful) if current < careful.baseline => self.careful = None,
                _ => {}
            }
        }
        let delivered = f64::from(ack.delivered);
        Growth::By(match self.careful {
            Some(_) => delivered / CAREFUL_DIVISOR,
            None => delivered,
        })
    }
}
