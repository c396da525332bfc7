//! Emulated access networks on loopback: a [`Relay`] is a NAT whose two
//! directions run the models of `weft-links` on real UDP packets. No
//! privileges are needed.
//!
//! All relays of the process share one thread, which lives as long as one of
//! them does. It sleeps until a packet or the next departure is due.

mod driver;
mod nat;

use super::ride::LinkState;
use driver::{Command, Driver};
use nat::Nat;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use weft_links::{Counters, Direction, LinkSpec, MediumSpec};
use weft_units::{Duration, Instant, Rate, Rng};

/// What a UDP packet adds to its payload on the emulated link: an IPv4 header
/// without options (RFC 791 section 3.1: 20 bytes) and a UDP header (RFC 768:
/// 8 bytes), whatever the family of the loopback sockets.
pub const OVERHEAD_BYTES: u64 = 20 + 8;

/// A departure later than this counts as late: chosen by us, an order below
/// the delays that the emulated links have.
pub const LATE: Duration = Duration::from_millis(2);

/// Starts relays.
pub struct Relay;

/// A running relay, which ends with the handle.
pub struct RelayHandle {
    address: SocketAddr,
    key: usize,
    shared: Arc<Shared>,
    driver: Arc<Driver>,
}

/// From the clients to the target.
pub const UP: Direction = Direction::Forward;
/// From the target to the clients.
pub const DOWN: Direction = Direction::Backward;

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

/// What a relay has done so far, and its state.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelayCounters {
    /// From the clients to the target.
    pub up: WayCounters,
    /// From the target to the clients.
    pub down: WayCounters,
    /// Packets that the system did not carry further: nobody listens at the
    /// target or the client's address, or there was no room.
    pub send_errors: u64,
    /// Packets that left later than [`LATE`] after their time: the emulation
    /// was not true for these.
    pub late: u64,
    /// The latest one.
    pub lateness_max: Duration,
}

/// One direction; sizes are those on the link, with [`OVERHEAD_BYTES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WayCounters {
    /// Whether the link is switched on.
    pub up: bool,
    /// Present capacity, whatever the switch.
    pub capacity: Rate,
    /// Present one-way propagation delay.
    pub delay: Duration,
    /// Packets and bytes sent into the link, delivered and dropped by reason.
    pub link: Counters,
    /// How long a packet that came now would wait; `None` in an outage with
    /// packets waiting.
    pub queue_delay: Option<Duration>,
}

/// What the thread publishes after each of its turns.
#[derive(Clone, Copy, Default)]
struct Published {
    counters: RelayCounters,
    /// When the queues run empty, up and down.
    empty_at: [Option<Instant>; 2],
}

#[derive(Default)]
struct Shared(Mutex<Published>);

/// A change of one direction's link.
#[derive(Clone, Copy, Debug)]
enum Change {
    Capacity(Rate),
    Delay(Duration),
    Loss(f64),
    Cut,
    Restore,
}

impl Relay {
    /// Starts a relay: what is sent to [`RelayHandle::address`] goes through
    /// `up` to `target`, from one socket per client address; what comes back
    /// goes through `down`. `name` and `seed` choose the random draws.
    ///
    /// # Errors
    /// When the target is not on loopback, or the system gives no socket.
    pub fn start(
        name: &str,
        up: &LinkSpec,
        down: &LinkSpec,
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
        let spec = MediumSpec::wired(up.clone(), down.clone());
        let nat = Nat::open(&driver, &spec, target, &rng, shared.clone()).map_err(system)?;
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
    pub fn set_capacity(&self, ways: &'static [Direction], rate: Rate) {
        self.change(ways, Change::Capacity(rate));
    }

    /// Changes the one-way propagation delay.
    pub fn set_delay(&self, ways: &'static [Direction], delay: Duration) {
        self.change(ways, Change::Delay(delay));
    }

    /// Changes the probability, 0 to 1, that a packet is lost.
    pub fn set_loss(&self, ways: &'static [Direction], loss: f64) {
        self.change(ways, Change::Loss(loss));
    }

    /// Switches both directions off: what waits and what comes is dropped.
    pub fn cut(&self) {
        self.change(&Direction::ALL, Change::Cut);
    }

    /// Switches both directions on.
    pub fn restore(&self) {
        self.change(&Direction::ALL, Change::Restore);
    }

    /// Brings both directions into a state of the ride.
    pub fn apply(&self, state: &LinkState) {
        if !state.up {
            self.cut();
            return;
        }
        self.set_capacity(&Direction::ALL, state.capacity);
        self.set_delay(&Direction::ALL, state.delay);
        self.set_loss(&Direction::ALL, state.loss);
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

    fn change(&self, ways: &'static [Direction], change: Change) {
        self.driver.command(Command::Change(self.key, ways, change));
    }
}

impl Drop for RelayHandle {
    fn drop(&mut self) {
        self.driver.command(Command::Remove(self.key));
    }
}

impl Shared {
    // A panic elsewhere leaves whole values behind: they are `Copy` and
    // written at once.
    fn read(&self) -> Published {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, published: Published) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = published;
    }
}

#[cfg(test)]
mod tests;
