//! Packets of one size at a constant rate.

use weft_experiment::{FlowDetail, UdpSetup};
use weft_links::Ecn;
use weft_units::{Duration, Instant};

use crate::event_queue::Slot;
use crate::network::{Network, Owner};
use crate::packet::{Body, Packet};
use crate::traffic::flow::{Flow, Legs, Span};

pub(crate) struct UdpFlow {
    legs: Legs,
    span: Span,
    slot: Slot,
    size: u16,
    /// Bits of a packet times nanoseconds in a second, and the rate: packet n leaves at n
    /// times their quotient, so that rounding errors do not add up.
    work: u128,
    rate: u128,
    sent: u64,
}

impl UdpFlow {
    pub fn new(
        index: usize,
        setup: &UdpSetup,
        span: Span,
        legs: Legs,
        network: &mut Network,
    ) -> UdpFlow {
        let slot = network.add_slot(Owner::Flow(index, 0));
        network.set_timer(slot, Some(span.start));
        UdpFlow {
            legs,
            span,
            slot,
            size: setup.packet.0 as u16,
            work: u128::from(setup.packet.0) * 8 * 1_000_000_000,
            rate: u128::from(setup.rate.as_bps()),
            sent: 0,
        }
    }

    fn next(&self) -> Option<Instant> {
        let nanos = u128::from(self.sent) * self.work / self.rate;
        let at = self.span.start + Duration::from_nanos(u64::try_from(nanos).ok()?);
        self.span.stop.is_none_or(|stop| at < stop).then_some(at)
    }
}

impl Flow for UdpFlow {
    fn on_timer(&mut self, now: Instant, _key: u32, network: &mut Network) {
        let (leg, ecn) = (self.legs.there, Ecn::NotEct);
        network.send(now, leg, 0, self.size, ecn, Body::Filler);
        self.sent += 1;
        network.set_timer(self.slot, self.next());
    }

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _network: &mut Network) {}

    fn sample(&mut self, _at: Instant) {}

    fn detail(&mut self, _share: usize) -> FlowDetail {
        FlowDetail::Packets
    }
}
