//! State shared by the handles of a relay and its thread.

use std::sync::{Mutex, PoisonError};
use weft_links::{Counters, WiredDirection};
use weft_units::{Duration, Instant, Rate};

/// Overhead of a UDP packet on the emulated link: an IPv4 header without options (RFC 791
/// section 3.1: 20 bytes) and a UDP header (RFC 768: 8 bytes), for loopback sockets of
/// either family.
pub const OVERHEAD_BYTES: u64 = 20 + 8;

/// Lateness at which a departure counts as late: chosen by us, an order of magnitude
/// below the delays of the emulated links.
pub const LATE: Duration = Duration::from_millis(2);

/// Direction from the clients to the target.
pub const UP: WiredDirection = WiredDirection::Forward;
/// Direction from the target to the clients.
pub const DOWN: WiredDirection = WiredDirection::Backward;

/// Counters and state of a relay.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelayCounters {
    /// Direction from the clients to the target.
    pub up: WayCounters,
    /// Direction from the target to the clients.
    pub down: WayCounters,
    /// Packets that the system did not send, because nothing listens at the target or the
    /// client's address, or the buffer is full.
    pub send_errors: u64,
    /// Packets that left more than [`LATE`] after their time: the emulation was
    /// inaccurate for these.
    pub late: u64,
    /// Largest lateness so far.
    pub lateness_max: Duration,
}

/// Counters of one direction; sizes include [`OVERHEAD_BYTES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WayCounters {
    /// Whether the link is switched on.
    pub up: bool,
    /// Present capacity, whether the link is on or off.
    pub capacity: Rate,
    /// Present one-way propagation delay.
    pub delay: Duration,
    /// Packets and bytes sent into the link, delivered and dropped by reason.
    pub link: Counters,
    /// Waiting time of a packet that arrives now; `None` during an outage with waiting
    /// packets.
    pub queue_delay: Option<Duration>,
}

/// State that the thread publishes after each turn.
#[derive(Clone, Copy, Default)]
pub struct Published {
    pub counters: RelayCounters,
    /// Times at which the queues run empty, up and down.
    pub empty_at: [Option<Instant>; 2],
}

#[derive(Default)]
pub struct Shared(Mutex<Published>);

/// Change of one direction's link.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Capacity(Rate),
    Delay(Duration),
    Loss(f64),
    Cut,
    Restore,
}

impl Shared {
    // A panic elsewhere leaves consistent values, because they are `Copy` and written at
    // once.
    pub fn read(&self) -> Published {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, published: Published) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = published;
    }
}
