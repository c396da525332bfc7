//! The media plane of `weft serve` on sockets: commands of HTTP in, events out.

mod sockets;

use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::media_plane::{Command, EventSender, MediaError, MediaPlane};
use std::net::SocketAddr;
use std::sync::Arc;
use weft_forwarding::{Output, Plane, Publisher, Settings, Stats};
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
        let plane = Plane::new(Settings::new(clock.origin(), certificate, &addresses));
        let sockets = sockets.into_iter().map(|(_, socket)| socket).collect();
        let node = PlaneNode { plane, events };
        let driver = Driver::run("weft-media", clock, sockets, node).map_err(|e| system(&e))?;
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

    /// The way for commands.
    pub(crate) fn plane(&self) -> Arc<dyn MediaPlane> {
        Arc::new(Commands(self.remote.clone()))
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.remote.send(Order::Stop);
        if let Some(driver) = self.driver.take() {
            driver.join();
        }
    }
}

struct Commands(Remote<Order>);

impl MediaPlane for Commands {
    fn send(&self, command: Command) {
        // After the end the command is dropped, and its reply with it.
        self.0.send(Order::Command(command));
    }
}

/// What other threads ask of the plane.
enum Order {
    Command(Command),
    Stop,
}

/// The plane on its driver.
struct PlaneNode {
    plane: Plane,
    events: EventSender,
}

impl PlaneNode {
    /// An answer that nobody waits for any more is no error, but its
    /// connection ends: HTTP sends a `Close` for it.
    fn on_command(&mut self, network: &Network<'_>, command: Command) {
        let (now, plane) = (network.clock.now(), &mut self.plane);
        // Without randomness nothing can be kept secret: as good as ended.
        let entropy = || weft_net::entropy().map_err(|_| MediaError::Gone);
        match command {
            Command::Publish {
                resource,
                room,
                participant,
                offer,
                reply,
            } => {
                let publisher = Publisher { room, participant };
                let answer =
                    entropy().and_then(|e| plane.publish(now, resource, publisher, &offer, &e));
                let _ = reply.send(answer);
            }
            Command::Play {
                resource,
                room,
                publisher: participant,
                offer,
                reply,
            } => {
                let publisher = Publisher { room, participant };
                let answer = entropy()
                    .and_then(|e| plane.play(now, resource, publisher, offer.as_deref(), &e));
                let _ = reply.send(answer);
            }
            Command::Answer {
                resource,
                sdp,
                reply,
            } => {
                let _ = reply.send(plane.accept(now, resource, &sdp));
            }
            Command::Candidates {
                resource,
                fragment,
                reply,
            } => {
                let _ = reply.send(plane.add_candidates(now, &resource, &fragment));
            }
            Command::Close { resource } => plane.close(now, &resource),
            Command::Stats { reply } => {
                let _ = reply.send(Ok(Stats {
                    datagrams_unsent: network.unsent(),
                    ..plane.stats()
                }));
            }
        }
    }
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
            Order::Command(command) => self.on_command(network, command),
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
