//! The emulator: hosts are network namespaces, links are the models of
//! `weft-links`, and the packets are real. One thread moves every packet from
//! the TUN device that a host sent it on, through the model, to the TUN device
//! of the host that it is for; the kernel's own TCP, a browser or any other
//! program runs on top. `docs/experiment/emulator.md` describes it with its figures.
//!
//! ```no_run
//! use weft_emu::{FAR, NEAR, Network, Right};
//! use weft_links::{LinkSpec, MediumSpec};
//!
//! // First, while the process has one thread only.
//! Right::find()?.take()?;
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
//! Namespaces and devices have no names in the file system: they live as long
//! as the file descriptors of the process that made them and the programs
//! inside, so nothing can be left behind but such programs.
//! [`Running::stop`] (and dropping a [`Running`]) ends those, wherever they
//! have gone, as long as they leave the mark in their environment alone; what
//! a killed process left running is ended by the next [`Network::start`].

mod address;
mod awake;
mod clock;
mod error;
mod histogram;
mod host;
mod ids;
mod interfaces;
mod log;
mod mover;
mod network;
mod packet;
mod processes;
mod report;
mod right;
mod running;
mod tun;
mod window;

pub use address::{Addresses, MAX_HOSTS};
pub use error::EmuError;
pub use histogram::Histogram;
pub use ids::{FAR, HostId, LinkId, NEAR};
pub use log::{Fate, Logging, PacketLog, PacketRecord};
pub use network::Network;
pub use processes::{end_all_programs, has_ended, own_mark};
pub use report::{Interval, LinkReport, Rejected, Report, Scheduling, StationReport};
pub use right::{Right, RightError};
pub use running::Running;
pub use tun::MTU;
