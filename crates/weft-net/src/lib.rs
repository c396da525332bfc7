//! Sockets bound to interfaces, clock, entropy and the driver loop: the
//! interface between the sans-IO core and the machine.

#![forbid(unsafe_code)]

mod application;
mod clock;
mod datagram_framing;
mod driver;
mod entropy;
mod link;
mod load;
mod route;
mod sockets;
mod streams;
mod turn_framing;
mod usage;
mod watch;

pub use application::{Application, Context};
pub use clock::Clock;
pub use datagram_framing::{DatagramFraming, TooLong};
pub use driver::{Driver, DriverError, DriverPanicked, Network, Node, Remote};
pub use entropy::{EntropyError, entropy, peer_config, rng};
pub use link::{
    Attachment, Binding, Link, LinkChoice, LinkChoiceError, LinkError, Target, attachments,
    interface_addresses, interface_names, machine_addresses, open_address, open_shared,
};
pub use load::Load;
pub use route::{RouteFault, route_fault};
pub use turn_framing::{NotFramed, TurnFraming};
pub use usage::ProcessUsage;
pub use watch::{WatchError, watch_links};
