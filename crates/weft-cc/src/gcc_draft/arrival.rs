use crate::measure::CLOCK_JUMP_MS;
use weft_units::Instant;

/// `burst_time` in ms: packets sent within it form one group (section 5.2, table 1).
const BURST_MS: f64 = 5.0;

/// Time differences between a group of packets and the previous group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Variation {
    /// `T(i) - T(i-1)` in ms, between the sending of the last packets.
    pub(super) departure_ms: f64,
    /// `t(i) - t(i-1)` in ms, between the arrivals of the last packets.
    pub(super) arrival_ms: f64,
}

impl Variation {
    /// Returns the inter-group delay variation `d(i)` in ms (section 5.1).
    pub(super) fn delay_ms(&self) -> f64 {
        self.arrival_ms - self.departure_ms
    }
}

/// Arrival-time model with its pre-filter (sections 5.1 and 5.2): groups packets and
/// compares each group with the previous one.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    current: Option<Group>,
    previous: Option<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    arrival: Instant,
}

impl Arrivals {
    /// Records an arrived packet. Returns the variation of the group that it completes.
    pub(super) fn on_packet(&mut self, sent: Instant, arrival: Instant) -> Option<Variation> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::new(sent, arrival));
            return None;
        };
        // Out of order: the model ignores such packets (section 5.1).
        if sent < current.last_sent {
            return None;
        }
        if current.takes(sent, arrival) {
            current.last_sent = sent;
            current.arrival = current.arrival.max(arrival);
            return None;
        }
        let finished = *current;
        self.current = Some(Group::new(sent, arrival));
        let before = self.previous.replace(finished)?;
        let variation = Variation {
            departure_ms: ms(finished.last_sent, before.last_sent),
            arrival_ms: ms(finished.arrival, before.arrival),
        };
        if variation.delay_ms().abs() > CLOCK_JUMP_MS {
            return None;
        }
        Some(variation)
    }
}

impl Group {
    fn new(sent: Instant, arrival: Instant) -> Group {
        Group {
            first_sent: sent,
            last_sent: sent,
            arrival,
        }
    }

    /// Applies the two grouping rules of section 5.2.
    fn takes(&self, sent: Instant, arrival: Instant) -> bool {
        let inter_arrival = ms(arrival, self.arrival);
        let variation = inter_arrival - ms(sent, self.last_sent);
        ms(sent, self.first_sent) <= BURST_MS || (inter_arrival < BURST_MS && variation < 0.0)
    }
}

fn ms(a: Instant, b: Instant) -> f64 {
    a.signed_nanos_since(b) as f64 / 1e6
}

#[cfg(test)]
mod tests;
