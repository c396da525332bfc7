//! The emulator: hosts are network namespaces, links are the models of `weft-links`, and
//! the packets are real. One thread moves every packet from the sending host's TUN device
//! through the model to the receiving host's TUN device. The kernel's TCP, a browser or
//! any other program can run on top. `docs/experiment/emulator.md` has a description and
//! measurements.
//!
//! ```no_run
//! use weft_emu::{FAR, NEAR, Network, Privilege};
//! use weft_links::{LinkSpec, MediumSpec};
//!
//! // First, while the process has one thread only.
//! Privilege::find()?.take()?;
//! let spec: LinkSpec = "rate=5mbit,delay=25ms,queue=2bdp".parse()?;
//! let mut network = Network::new(1);
//! let (left, right) = (network.host("left"), network.host("right"));
//! let link = network.link("bottleneck", MediumSpec::wired(spec.clone(), spec));
//! network.attach(left, link, NEAR);
//! let there = network.attach(right, link, FAR);
//! let running = network.start()?;
//! let mut ping = running.command(left, "ping");
//! ping.args(["-c", "5", &there.v4.to_string()]).status()?;
//! let report = running.stop();
//! report.verdict()?;
//! println!("{:?}", report.link(link).forward().counters.delivered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Namespaces and devices have no names in the file system. They exist as long as the
//! file descriptors of the process that created them and the programs inside, so only
//! such programs can remain. [`Running::stop`] (and dropping a [`Running`]) ends these
//! programs in every namespace, unless they removed the marker from their environment.
//! The next [`Network::start`] ends programs that a killed process left behind.

mod address;
mod clock;
mod error;
mod host;
mod ids;
mod interfaces;
mod keep_awake;
mod log;
mod mover;
mod network;
mod packet;
mod privilege;
mod processes;
mod report;
mod running;
mod tun;
mod window;

pub use address::{Addresses, MAX_HOSTS};
pub use error::EmuError;
pub use ids::{FAR, HostId, LinkId, NEAR};
pub use log::{Fate, Logging, PacketLog, PacketRecord};
pub use network::Network;
pub use privilege::{Privilege, PrivilegeError};
pub use processes::{end_all_programs, has_ended, own_mark};
pub use report::{Interval, LinkReport, Rejected, Report, Scheduling, StationReport};
pub use running::Running;
pub use tun::MTU;
