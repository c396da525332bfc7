//! The media plane of `weft serve` on sockets: requests of HTTP in, events out.

mod sockets;

use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::media_plane::{EventSender, ForwardingMedia, MediaPlane, Request};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use weft_forwarding::{Capacity, Output, Plane, Settings};
use weft_net::{Clock, Driver, Network, Node, Remote};
use weft_secure::Certificate;
use weft_units::{Deadline, Ecn, Instant};

/// A running forwarding plane; dropping it says goodbye to all peers and ends
/// its thread.
pub(crate) struct Forwarding {
    addresses: Vec<SocketAddr>,
    remote: Remote<Order>,
    driver: Option<Driver<Order>>,
}

impl Forwarding {
    /// Opens the media sockets and starts the plane; it tells `events`.
    pub(crate) fn start(
        config: &ServerConfig,
        events: EventSender,
    ) -> Result<Forwarding, ServerError> {
        let sockets = sockets::open(config.listen.ip(), &config.media)?;
        let addresses: Vec<SocketAddr> = sockets.iter().map(|(address, _)| *address).collect();
        let clock = Clock::start();
        let system = |e: &dyn std::fmt::Display| ServerError::System {
            reason: e.to_string(),
        };
        let certificate = Certificate::generate().map_err(|e| system(&e))?;
        let settings = Settings::new(clock.origin(), certificate, &addresses)
            .announcing(&config.media.public)
            .taking(config.limits.media.publisher)
            .sending(config.limits.media.egress);
        let plane = Plane::new(settings);
        let sockets = sockets.into_iter().map(|(_, socket)| socket).collect();
        let capacity = Capacity {
            egress: config.limits.media.egress,
        };
        let node = PlaneNode {
            plane,
            events,
            capacity,
        };
        let driver = Driver::run("weft-media", clock, sockets, node).map_err(|e| system(&e))?;
        #[cfg(debug_assertions)]
        break_on_request(&driver.remote);
        Ok(Forwarding {
            addresses,
            remote: driver.remote.clone(),
            driver: Some(driver),
        })
    }

    /// Where media comes and goes.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The way for requests.
    pub(crate) fn plane(&self) -> Arc<dyn MediaPlane> {
        Arc::new(Requests(self.remote.clone()))
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.remote.send(Order::Stop);
        if let Some(driver) = self.driver.take() {
            // One that panicked has been told of: its events have ended.
            let _ = driver.join();
        }
    }
}

/// Lets the media thread come upon a defect when the file exists that
/// `WEFT_DEFECT_FILE` names: for tests of what becomes of the process, and in
/// development builds only.
#[cfg(debug_assertions)]
fn break_on_request(remote: &Remote<Order>) {
    let Some(file) = std::env::var_os("WEFT_DEFECT_FILE").map(std::path::PathBuf::from) else {
        return;
    };
    let remote = remote.clone();
    std::thread::spawn(move || {
        while !file.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        remote.send(Order::Break);
    });
}

struct Requests(Remote<Order>);

impl MediaPlane for Requests {
    fn send(&self, request: Request) {
        // After the end the request is dropped, and its reply with it.
        self.0.send(Order::Serve(request));
    }
}

/// What other threads ask of the plane.
enum Order {
    Serve(Request),
    Stop,
    #[cfg(debug_assertions)]
    Break,
}

/// The plane on its driver.
struct PlaneNode {
    plane: Plane,
    events: EventSender,
    capacity: Capacity,
}

impl Node for PlaneNode {
    type Command = Order;

    fn handle_datagram(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        ecn: Ecn,
        datagram: &[u8],
    ) {
        self.plane
            .handle_datagram(now, local, remote, ecn, datagram);
    }

    fn handle_command(&mut self, network: &mut Network<'_>, order: Order) {
        match order {
            // An answer that nobody waits for any more is no error, but its
            // connection ends: HTTP closes it. So it does after a defect, which
            // ends what the one asked for who came upon it: a connection is the
            // plane's only when all of its description was understood.
            Order::Serve(request) => {
                let mut media = ForwardingMedia {
                    plane: &mut self.plane,
                    network,
                    capacity: self.capacity,
                };
                let _ = catch_unwind(AssertUnwindSafe(|| request(&mut media)));
            }
            #[cfg(debug_assertions)]
            Order::Break => panic!("as a defect would"),
            Order::Stop => {
                self.plane.close_all(network.clock.now());
                network.stop();
            }
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.plane.poll_timeout()
    }

    fn handle_timeout(&mut self, network: &mut Network<'_>) {
        self.plane.handle_timeout(network.clock.now());
    }

    fn send(&mut self, network: &mut Network<'_>) {
        while let Some(output) = self.plane.poll_output() {
            match output {
                Output::Transmit {
                    peer,
                    local,
                    remote,
                    ecn,
                    datagram,
                } => {
                    network.send(local, remote, ecn, &datagram);
                    self.plane.recycle(peer, datagram);
                }
                // Nobody may be there to hear it: the server is ending then.
                Output::Event(event) => {
                    let _ = self.events.send(event);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_comes_upon_a_defect_ends_alone() {
        let (events, _receiver) = crate::media_plane::events();
        let config = ServerConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            ..ServerConfig::default()
        };
        let forwarding = Forwarding::start(&config, events).unwrap();
        let plane = forwarding.plane();
        let broken = plane.ask(|_| -> () { panic!("as a defect would") });
        assert!(broken.blocking_recv().is_err(), "nobody answers");
        let stats = plane.ask(|media| media.stats()).blocking_recv();
        assert_eq!(stats.map(|s| s.publications), Ok(0));
    }
}
