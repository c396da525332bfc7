use super::Forwarder;
use crate::routing::layers::LAYERS;
use crate::routing::parsed::Parsed;
use weft_units::{Instant, Rate};

impl Forwarder {
    /// Starts with earlier packets, beginning with a keyframe's first; returns whether it
    /// does. Pictures above the base layer are left out, so that new pictures wait only a
    /// little. A subscriber that got later packets gets none of these: timestamps
    /// continue at the rate of the clock.
    pub(in crate::routing) fn begin(
        &mut self,
        packets: &[(Instant, Parsed)],
        rates: Option<[Rate; LAYERS]>,
    ) -> bool {
        let last = self.timestamps.last.map(|(_, at)| at);
        let begins = |(at, _): &(Instant, Parsed)| last.is_none_or(|last| last <= *at);
        if !packets.first().is_some_and(begins) {
            return false;
        }
        self.is_late = true;
        for (at, parsed) in packets {
            self.handle_parsed(*at, parsed, rates);
        }
        self.is_late = false;
        true
    }
}
