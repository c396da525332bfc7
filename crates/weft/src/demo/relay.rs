//! Emulated access networks on loopback: a [`Relay`] is a NAT whose two
//! directions run the models of `weft-links` on real UDP packets. No
//! privileges are needed.
//!
//! All relays of the process share one thread, which lives as long as one of
//! them does. It sleeps until a packet or the next departure is due.

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

/// Starts relays.
pub struct Relay;

/// A running relay, which ends with the handle.
pub struct RelayHandle {
    address: SocketAddr,
    key: usize,
    shared: Arc<Shared>,
    driver: Arc<Driver>,
}

/// A relay that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The emulated network ends on this machine only.
    #[error(
        "relay '{name}': {target} is not a loopback address: give the target on 127.0.0.1 or [::1]"
    )]
    NotLoopback {
        /// The relay.
        name: String,
        /// What was asked for.
        target: SocketAddr,
    },
    /// No socket or thread from the system.
    #[error(
        "relay '{name}' cannot start: {source}; check the limit of open files and that loopback is up"
    )]
    System {
        /// The relay.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Relay {
    /// Starts a relay over a wired medium: what is sent to
    /// [`RelayHandle::address`] goes upwards to `target`, from one socket per
    /// client address; what comes back goes downwards. `name` and `seed` choose
    /// the random draws.
    ///
    /// # Errors
    /// When the target is not on loopback, or the system gives no socket.
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
    /// Where clients send to.
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

    /// Switches both directions off: what waits and what comes is dropped.
    pub fn cut(&self) {
        self.change(&WiredDirection::ALL, Change::Cut);
    }

    /// Switches both directions on.
    pub fn restore(&self) {
        self.change(&WiredDirection::ALL, Change::Restore);
    }

    /// Brings both directions into a state of the ride.
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

    /// What it has done so far.
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
