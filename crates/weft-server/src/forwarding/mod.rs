//! The forwarding media plane of `weft serve`: one driver thread on which
//! every peer of the server lives, and the router between them.

mod connection;
mod negotiation;
mod plane;
mod publication;
mod settings;
mod sockets;
mod traffic;

use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::media_plane::{self, EventSender, MediaPlane};
use plane::{Order, Plane};
use settings::Settings;
use std::net::SocketAddr;
use std::sync::Arc;
use weft_net::{Clock, Driver, Remote};

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
        let settings = Settings::new(clock, &addresses).map_err(|e| system(&e))?;
        let sockets = sockets.into_iter().map(|(_, socket)| socket).collect();
        let plane = Plane::new(settings, events);
        let driver = Driver::start("weft-media", clock, sockets, plane).map_err(|e| system(&e))?;
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
    fn send(&self, command: media_plane::Command) {
        // After the end the command is dropped, and its reply with it.
        self.0.send(Order::Command(command));
    }
}
