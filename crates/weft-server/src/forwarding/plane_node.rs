//! Plane as the application of a network driver.

use super::links::{Links, Order};
use super::peer_streams::PeerStreams;
use super::placement::Loads;
use super::traced::Traces;
use crate::media_plane::{EventSender, ForwardingMedia, Request, ResourceId};
use crate::recorder::Sink;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use weft_forwarding::{Capacity, Output, Plane, PlaneId};
use weft_net::{Load, Network, Node};
use weft_units::{Deadline, Duration, Ecn, FiveTuple, Instant};

/// Interval at which a plane reports its load, unless it was idle at the last report.
/// Chosen by us.
const LOOK: Duration = Duration::from_secs(1);

/// Plane with its links to the others.
pub(super) struct PlaneNode {
    pub(super) id: PlaneId,
    pub(super) plane: Plane,
    pub(super) events: EventSender,
    pub(super) capacity: Capacity,
    pub(super) loads: Arc<Loads>,
    pub(super) links: Links,
    /// Sender to the recorder, if rooms can be recorded.
    pub(super) sink: Option<Sink>,
    /// Traces of packets and events, if any are written.
    pub(super) traces: Option<Traces>,
    /// Addresses of the plane's sockets.
    pub(super) addresses: Vec<SocketAddr>,
    /// Connections to other servers, with the addresses of their own sockets.
    pub(super) pulled: BTreeMap<ResourceId, Vec<SocketAddr>>,
    pub(super) streams: PeerStreams,
    /// Time of the next load report, unless the plane was idle.
    pub(super) look: Option<Instant>,
}

impl PlaneNode {
    fn tell_load(&mut self, network: &Network<'_>) {
        let load = network.load();
        self.loads.set(self.id.number(), load);
        let busy = load != Load::default();
        self.look = busy.then(|| network.clock.now() + LOOK);
    }

    fn serve(&mut self, network: &mut Network<'_>, request: Request) {
        let mut media = ForwardingMedia {
            plane: &mut self.plane,
            network,
            capacity: self.capacity,
            sent: self.loads.sent(),
            lost: self.links.lost(),
            addresses: &self.addresses,
            pulled: &mut self.pulled,
        };
        // If the caller no longer waits for the answer, HTTP closes the connection. The
        // same happens after a panic, which ends only this request: the plane owns a
        // connection only after all of its description was parsed.
        let _ = catch_unwind(AssertUnwindSafe(|| request(&mut media)));
    }
}

impl Node for PlaneNode {
    type Command = Order;

    fn handle_datagram(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        self.plane.handle_datagram(now, tuple, ecn, datagram);
    }

    fn handle_command(&mut self, network: &mut Network<'_>, order: Order) {
        let now = network.clock.now();
        match order {
            Order::Serve(request) => self.serve(network, request),
            Order::Take(stream) => self.streams.take(network, stream),
            Order::Relayed(mut batch) => {
                for message in batch.take() {
                    self.plane.handle_relayed(now, batch.from, message);
                }
            }
            Order::Link(plane, link) => {
                self.links.add(plane, link);
                self.plane.link(now, plane);
            }
            Order::Unlink(plane) => {
                self.links.remove(plane);
                self.plane.unlink(now, plane);
            }
            #[cfg(debug_assertions)]
            Order::Break => panic!("as a defect would"),
            Order::Stop => {
                self.plane.close_all(now);
                network.stop();
            }
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let look = self.look.map(|at| Deadline { at, reason: "load" });
        let traces = self.traces.as_ref();
        let traces = traces.and_then(|traces| traces.poll_timeout(&self.plane));
        let own = Deadline::earlier(look, self.streams.poll_timeout());
        let own = Deadline::earlier(own, traces);
        Deadline::earlier(own, self.plane.poll_timeout())
    }

    fn handle_timeout(&mut self, network: &mut Network<'_>) {
        self.plane.handle_timeout(network.clock.now());
        self.streams.handle_timeout(network, &self.plane);
        if let Some(traces) = &mut self.traces {
            traces.handle_timeout(network.clock.now(), &self.plane);
        }
        self.tell_load(network);
    }

    fn send(&mut self, network: &mut Network<'_>) {
        while let Some(output) = self.plane.poll_output() {
            match output {
                Output::Transmit {
                    peer,
                    tuple,
                    ecn,
                    datagram,
                } => {
                    network.send(tuple, ecn, &datagram);
                    self.plane.recycle(peer, datagram);
                }
                Output::Relay { to, message } => self.links.push(to, message),
                Output::Record(message) => {
                    if let Some(sink) = &mut self.sink {
                        sink.push(message);
                    }
                }
                Output::Captured { peer, packet } => {
                    if let Some(traces) = &self.traces {
                        let now = network.clock.now();
                        traces.on_packet(now, (&self.plane, peer), *packet);
                    }
                }
                // A receiver of an event must find its effect on every plane. The
                // receiver is gone while the server shuts down.
                Output::Event(event) => {
                    self.links.flush(self.id);
                    let _ = self.events.send(event);
                }
            }
        }
        self.links.flush(self.id);
        if let Some(sink) = &mut self.sink {
            sink.flush(network.clock.now());
        }
        self.pulled.retain(|resource, sockets| {
            let stays = self.plane.has(resource);
            for socket in sockets.iter().filter(|_| !stays) {
                network.remove_socket(*socket);
            }
            stays
        });
    }
}
