//! What the handles of a relay and its thread tell each other.

use std::sync::{Mutex, PoisonError};
use weft_links::{Counters, WiredDirection};
use weft_units::{Duration, Instant, Rate};

/// What a UDP packet adds to its payload on the emulated link: an IPv4 header
/// without options (RFC 791 section 3.1: 20 bytes) and a UDP header (RFC 768:
/// 8 bytes), whatever the family of the loopback sockets.
pub const OVERHEAD_BYTES: u64 = 20 + 8;

/// A departure later than this counts as late: chosen by us, an order below
/// the delays that the emulated links have.
pub const LATE: Duration = Duration::from_millis(2);

/// From the clients to the target.
pub const UP: WiredDirection = WiredDirection::Forward;
/// From the target to the clients.
pub const DOWN: WiredDirection = WiredDirection::Backward;

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
pub struct Published {
    pub counters: RelayCounters,
    /// When the queues run empty, up and down.
    pub empty_at: [Option<Instant>; 2],
}

#[derive(Default)]
pub struct Shared(Mutex<Published>);

/// A change of one direction's link.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Capacity(Rate),
    Delay(Duration),
    Loss(f64),
    Cut,
    Restore,
}

impl Shared {
    // A panic elsewhere leaves whole values behind: they are `Copy` and
    // written at once.
    pub fn read(&self) -> Published {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, published: Published) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = published;
    }
}
