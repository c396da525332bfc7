//! Counters of a leg.

use weft_experiment::{DropRecord, LegSample};
use weft_links::Tally;
use weft_units::{Bytes, Instant};

use crate::delays::{Delays, Measured};

/// Outcomes of the packets of a leg.
#[derive(Default)]
pub(super) struct Counts {
    pub sent: Tally,
    pub delivered: Tally,
    pub queue_delay: Delays,
    pub one_way_delay: Delays,
    pub drops: u32,
    pub dropped: Vec<DropRecord>,
    sent_before: Tally,
    delivered_before: Bytes,
}

impl Counts {
    /// Ends a sampling period.
    pub fn take_period(&mut self, at: Instant, measured: Measured) -> LegSample {
        let sent_before = std::mem::replace(&mut self.sent_before, self.sent);
        let delivered = self.delivered.bytes;
        let delivered_before = std::mem::replace(&mut self.delivered_before, delivered);
        LegSample {
            at,
            sent: self.sent.bytes - sent_before.bytes,
            sent_packets: (self.sent.packets - sent_before.packets) as u32,
            delivered: delivered - delivered_before,
            drops: std::mem::take(&mut self.drops),
            queue_delay: self.queue_delay.take_period(measured),
            one_way_delay: self.one_way_delay.take_period(measured),
        }
    }
}
