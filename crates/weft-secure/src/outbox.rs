use crate::association::{Event, Output};
use crate::counters::Counters;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// What leaves the association, in order, and what was counted meanwhile.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: VecDeque<Output>,
    pub counters: Counters,
}

impl Outbox {
    pub fn transmit(&mut self, (local, remote): (SocketAddr, SocketAddr), datagram: Vec<u8>) {
        self.queue.push_back(Output::Transmit {
            local,
            remote,
            datagram,
        });
    }

    pub fn event(&mut self, event: Event) {
        self.queue.push_back(Output::Event(event));
    }

    pub fn pop(&mut self) -> Option<Output> {
        self.queue.pop_front()
    }
}
