//! Sockets bound to interfaces, clock, entropy and the driver loop: the one
//! place where the sans-IO core meets the machine.

mod clock;
mod driver;
mod entropy;
mod link;
mod sockets;

pub use clock::Clock;
pub use driver::{Application, Context, Driver, DriverError, Remote};
pub use entropy::{EntropyError, peer_config, rng};
pub use link::{
    Binding, Link, LinkError, LinkSpec, LinkSpecError, Target, interface_names, link_addresses,
    machine_addresses, open_address,
};
