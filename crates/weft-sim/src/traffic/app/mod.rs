//! Models of call applications, one model at each end.

use weft_apps::{Content, End};
use weft_experiment::{AppMedia, AppSetup, FlowDetail};
use weft_links::Ecn;
use weft_units::{Instant, Rng};

use crate::event_queue::Slot;
use crate::network::{Network, Owner};
use crate::packet::{Body, LegId, Packet};
use crate::traffic::flow::{Flow, Legs, Span};

pub(crate) struct AppFlow {
    setup: AppSetup,
    legs: Legs,
    span: Span,
    slot: Slot,
    rng: Rng,
    /// Ends at the source and at the sink, once the call has started.
    ends: Option<Box<[End; 2]>>,
    on_their_way: InFlight,
}

/// Contents of packets in flight, by the number in their body.
#[derive(Default)]
struct InFlight {
    entries: Vec<Content>,
    free: Vec<u32>,
}

impl AppFlow {
    pub fn new(
        index: usize,
        setup: &AppSetup,
        span: Span,
        legs: Legs,
        rng: &Rng,
        network: &mut Network,
    ) -> AppFlow {
        let slot = network.add_slot(Owner::Flow(index, 0));
        network.set_timer(slot, Some(span.start));
        AppFlow {
            setup: setup.clone(),
            legs,
            span,
            slot,
            rng: rng.clone(),
            ends: None,
            on_their_way: InFlight::default(),
        }
    }

    fn begin(&mut self, now: Instant) -> Box<[End; 2]> {
        let (model, rng) = (&self.setup.model, &self.rng);
        let answers = self.setup.media == AppMedia::BothWays;
        let caller = End::sending(model, now, &rng.stream("caller"));
        Box::new(match answers {
            true => {
                let callee = End::sending(model, now, &rng.stream("callee"));
                [caller.receiving(model, now), callee.receiving(model, now)]
            }
            false => [caller, End::default().receiving(model, now)],
        })
    }

    fn send_what_is_due(&mut self, now: Instant, network: &mut Network) {
        let mut ends = self.ends.take().unwrap_or_else(|| self.begin(now));
        let mut next: Option<Instant> = None;
        for (end, leg) in ends.iter_mut().zip([self.legs.there, self.legs.back]) {
            end.handle_timeout(now);
            while let Some(content) = end.poll_transmit(now) {
                let size = content.size().0 as u16;
                let body = Body::Datagram(self.on_their_way.keep(content));
                network.send(now, leg, 0, size, Ecn::NotEct, body);
            }
            let own = end.poll_timeout();
            next = next.into_iter().chain(own).min();
        }
        self.ends = Some(ends);
        let goes_on = |at: &Instant| self.span.stop.is_none_or(|stop| *at < stop);
        network.set_timer(self.slot, next.filter(goes_on));
    }

    /// Returns the end that a leg leads to.
    fn receiver(&self, leg: LegId) -> usize {
        usize::from(leg == self.legs.there)
    }
}

impl Flow for AppFlow {
    fn on_timer(&mut self, now: Instant, _key: u32, network: &mut Network) {
        self.send_what_is_due(now, network);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, _network: &mut Network) {
        let Body::Datagram(key) = packet.body else {
            return;
        };
        let content = self.on_their_way.take(key);
        let receiver = self.receiver(packet.leg);
        if let Some(ends) = &mut self.ends {
            ends[receiver].handle_packet(now, packet.sent_at, &content);
        }
    }

    fn on_dropped(&mut self, packet: &Packet) {
        if let Body::Datagram(key) = packet.body {
            self.on_their_way.take(key);
        }
    }

    fn sample(&mut self, _at: Instant) {}

    fn detail(&mut self, _share: usize) -> FlowDetail {
        FlowDetail::Packets
    }
}

impl InFlight {
    fn keep(&mut self, content: Content) -> u32 {
        if let Some(key) = self.free.pop() {
            self.entries[key as usize] = content;
            return key;
        }
        self.entries.push(content);
        self.entries.len() as u32 - 1
    }

    fn take(&mut self, key: u32) -> Content {
        self.free.push(key);
        self.entries[key as usize]
    }
}

#[cfg(test)]
mod tests;
