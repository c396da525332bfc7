//! Emulated access networks on loopback: a [`Relay`] is a NAT whose two
//! directions run the models of `weft-links` on real UDP packets. It needs no
//! privileges.
//!
//! All relays of the process share one thread, which lives as long as one of
//! them. It sleeps until a packet arrives or the next departure is due.

mod driver;
mod nat;
mod shared;
mod sockets;

use super::ride::LinkState;
use driver::{Command, Driver};
use nat::Nat;
pub use shared::RelayCounters;
use shared::{Change, Published, Shared};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use weft_links::{MediumSpec, WiredDirection};
use weft_units::{Duration, Rate, Rng};

/// Entry point for starting relays.
pub struct Relay;

/// Running relay; dropping the handle ends it.
pub struct RelayHandle {
    address: SocketAddr,
    key: usize,
    shared: Arc<Shared>,
    driver: Arc<Driver>,
}

/// Error at the start of a relay.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The target is not on this machine.
    #[error(
        "relay '{name}': {target} is not a loopback address: give the target on 127.0.0.1 or [::1]"
    )]
    NotLoopback {
        /// Name of the relay.
        name: String,
        /// Target as given.
        target: SocketAddr,
    },
    /// The system provides no socket or thread.
    #[error(
        "relay '{name}' cannot start: {source}; check the limit of open files and that loopback is up"
    )]
    System {
        /// Name of the relay.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
}

impl Relay {
    /// Starts a relay over a wired medium: packets to [`RelayHandle::address`] go up to
    /// `target`, from one socket per client address; answers go down. `name` and `seed`
    /// select the random numbers.
    ///
    /// # Errors
    /// If the target is not on loopback, or the system provides no socket.
    pub fn start(
        name: &str,
        medium: &MediumSpec,
        target: SocketAddr,
        seed: u64,
    ) -> Result<RelayHandle, RelayError> {
        if !target.ip().is_loopback() {
            let name = name.into();
            return Err(RelayError::NotLoopback { name, target });
        }
        let system = |source| RelayError::System {
            name: name.into(),
            source,
        };
        let driver = Driver::shared().map_err(system)?;
        let shared = Arc::new(Shared::default());
        let rng = Rng::new(seed).stream(name);
        let nat =
            Nat::open(driver.sockets(), medium, target, &rng, shared.clone()).map_err(system)?;
        let handle = RelayHandle {
            address: nat.address(),
            key: nat.key(),
            shared,
            driver,
        };
        handle.driver.command(Command::Add(Box::new(nat)));
        Ok(handle)
    }
}

impl RelayHandle {
    /// Address for clients.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the capacity; zero is an outage in which packets wait.
    pub fn set_capacity(&self, ways: &'static [WiredDirection], rate: Rate) {
        self.change(ways, Change::Capacity(rate));
    }

    /// Changes the one-way propagation delay.
    pub fn set_delay(&self, ways: &'static [WiredDirection], delay: Duration) {
        self.change(ways, Change::Delay(delay));
    }

    /// Changes the probability, 0 to 1, that a packet is lost.
    pub fn set_loss(&self, ways: &'static [WiredDirection], loss: f64) {
        self.change(ways, Change::Loss(loss));
    }

    /// Switches both directions off: waiting packets and new ones are dropped.
    pub fn cut(&self) {
        self.change(&WiredDirection::ALL, Change::Cut);
    }

    /// Switches both directions on.
    pub fn restore(&self) {
        self.change(&WiredDirection::ALL, Change::Restore);
    }

    /// Sets both directions to a state of the ride.
    pub fn apply(&self, state: &LinkState) {
        if !state.up {
            self.cut();
            return;
        }
        self.set_capacity(&WiredDirection::ALL, state.capacity);
        self.set_delay(&WiredDirection::ALL, state.delay);
        self.set_loss(&WiredDirection::ALL, state.loss);
        self.restore();
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn counters(&self) -> RelayCounters {
        let Published {
            mut counters,
            empty_at,
        } = self.shared.read();
        let now = self.driver.now();
        let waits = empty_at.map(|at| at.map(|at| at.saturating_since(now)));
        [counters.up.queue_delay, counters.down.queue_delay] = waits;
        counters
    }

    fn change(&self, ways: &'static [WiredDirection], change: Change) {
        self.driver.command(Command::Change(self.key, ways, change));
    }
}

impl Drop for RelayHandle {
    fn drop(&mut self) {
        self.driver.command(Command::Remove(self.key));
    }
}

#[cfg(test)]
mod tests;
