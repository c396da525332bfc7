//! Connections of one TCP flow.

use weft_experiment::{FlowDetail, TcpRecord, TcpSample, TcpSetup, Transfer};
use weft_units::{Bytes, Duration, Instant, Rng};

use super::connection::{Connection, Timer};
use crate::network::{Network, Owner};
use crate::packet::Packet;
use crate::traffic::flow::{Flow, Legs, Span};

pub(crate) struct TcpFlow {
    legs: Legs,
    span: Span,
    slot: crate::event_queue::Slot,
    connections: Vec<Connection>,
    transfers: Vec<Transfer>,
    series: Vec<TcpSample>,
    delivered_before: Bytes,
    retransmissions_before: u64,
}

/// Timer of the flow itself, for its start and then for its end.
const SPAN: u32 = 0;

impl TcpFlow {
    pub fn new(
        index: usize,
        setup: &TcpSetup,
        span: Span,
        legs: Legs,
        rng: &Rng,
        network: &mut Network,
    ) -> TcpFlow {
        let slot = network.add_slot(Owner::Flow(index, SPAN));
        network.set_timer(slot, Some(span.start));
        if setup.small_queues.is_some() {
            network.tell_left(legs.there);
        }
        let connection = |id: u32| {
            let mut timer = |which| network.add_slot(Owner::Flow(index, 1 + 2 * id + which));
            let slots = [timer(0), timer(1)];
            Connection::new(id, setup, legs, slots, rng.stream(&id.to_string()))
        };
        TcpFlow {
            legs,
            span,
            slot,
            connections: (0..setup.connections).map(connection).collect(),
            transfers: Vec::new(),
            series: Vec::new(),
            delivered_before: Bytes::ZERO,
            retransmissions_before: 0,
        }
    }

    fn delivered(&self) -> Bytes {
        self.connections.iter().map(Connection::delivered).sum()
    }

    fn sum(&self, get: impl Fn(&Connection) -> u64) -> u64 {
        self.connections.iter().map(get).sum()
    }

    fn collect(&mut self, connection: usize) {
        let ended = self.connections[connection].take_transfer();
        self.transfers.extend(ended);
    }
}

impl Flow for TcpFlow {
    fn on_timer(&mut self, now: Instant, key: u32, network: &mut Network) {
        let Some(number) = key.checked_sub(1) else {
            if self.span.stop.is_some_and(|stop| stop <= now) {
                self.connections.iter_mut().for_each(Connection::stop);
                return;
            }
            network.set_timer(self.slot, self.span.stop);
            for connection in &mut self.connections {
                connection.begin(now, network);
            }
            return;
        };
        let timer = if number % 2 == 0 {
            Timer::Sender
        } else {
            Timer::Receiver
        };
        let index = (number / 2) as usize;
        self.connections[index].on_timer(now, timer, network);
        self.collect(index);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        let index = packet.connection as usize;
        let connection = &mut self.connections[index];
        if packet.leg == self.legs.there {
            connection.on_arrival(now, packet, network);
        } else {
            connection.on_return(now, packet, network);
            self.collect(index);
        }
    }

    fn on_left(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        self.connections[packet.connection as usize].on_left(now, packet, network);
    }

    fn on_dropped(&mut self, packet: &Packet) {
        if packet.leg == self.legs.there && packet.hop == 0 {
            self.connections[packet.connection as usize].release(packet);
        }
    }

    fn sample(&mut self, at: Instant) {
        let delivered = self.delivered();
        let retransmissions = self.sum(|c| c.counters().retransmissions);
        let rtt = self.connections.iter().map(Connection::smoothed_rtt);
        self.series.push(TcpSample {
            at,
            delivered: delivered - self.delivered_before,
            retransmissions: (retransmissions - self.retransmissions_before) as u32,
            window: self.sum(|c| u64::from(c.window())),
            smoothed_rtt: rtt.max().unwrap_or(Duration::ZERO),
        });
        self.delivered_before = delivered;
        self.retransmissions_before = retransmissions;
    }

    fn detail(&mut self, _share: usize) -> FlowDetail {
        FlowDetail::Tcp(TcpRecord {
            delivered: self.delivered(),
            retransmissions: self.sum(|c| c.counters().retransmissions),
            timeouts: self.sum(|c| c.counters().timeouts),
            reductions: self.sum(|c| c.counters().reductions),
            transfers: std::mem::take(&mut self.transfers),
            series: std::mem::take(&mut self.series),
        })
    }
}
