//! Media plane of `weft serve` on sockets: takes requests from HTTP and reports
//! events.

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

/// Running forwarding plane; dropping it closes all peers and ends its thread.
pub(crate) struct Forwarding {
    addresses: Vec<SocketAddr>,
    remote: Remote<Order>,
    driver: Option<Driver<Order>>,
}

impl Forwarding {
    /// Opens the media sockets and starts the plane, which reports to `events`.
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

    /// Media addresses.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Sender of requests to the plane.
    pub(crate) fn plane(&self) -> Arc<dyn MediaPlane> {
        Arc::new(Requests {
            remote: self.remote.clone(),
            addresses: self.addresses.clone(),
        })
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.remote.send(Order::Stop);
        if let Some(driver) = self.driver.take() {
            // A panic of the driver is reported by the end of its events.
            let _ = driver.join();
        }
    }
}

/// Makes the media thread panic when the file named by `WEFT_DEFECT_FILE`
/// appears: for tests of the process's reaction, in development builds only.
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

struct Requests {
    remote: Remote<Order>,
    addresses: Vec<SocketAddr>,
}

impl MediaPlane for Requests {
    fn send(&self, request: Request) {
        // After the end, the request and its reply channel are dropped.
        self.remote.send(Order::Serve(request));
    }

    fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Command for the plane from another thread.
enum Order {
    Serve(Request),
    Stop,
    #[cfg(debug_assertions)]
    Break,
}

/// Plane as the application of the network driver.
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
            // If nobody waits for the answer any more, HTTP closes the
            // connection. The same happens after a panic, which ends only this
            // request: the plane owns a connection only after all of its
            // description was parsed.
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
                // There is one plane.
                Output::Relay { .. } => {}
                // The receiver is gone while the server shuts down.
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
