//! Discrete-event simulator of flows over links, in virtual time.
//!
//! [`run`] takes a [`Setup`](weft_experiment::Setup) and a seed and returns a
//! [`Record`](weft_experiment::Record), identical on every run. [`Simulation`] is a run
//! that pauses.
//! `docs/models/simulator.md` describes what is modelled and what is not.
//!
//! ```
//! use weft_experiment::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Route, Setup, TcpSetup};
//! use weft_sim::run;
//! use weft_units::Duration;
//!
//! let mut setup = Setup::new(Duration::from_secs(10));
//! let link = "rate=2mbit,delay=25ms,queue=2bdp".parse().expect("a link");
//! setup.links.push(LinkSetup::symmetric("bottleneck", &link));
//! let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
//! setup.flows.push(FlowSetup::new("upload", Route::forward(&[0]), tcp));
//! let record = run(&setup, 1, &mut ()).expect("a setup that can be run");
//! assert!(record.flows[0].routes[0].there.delivered.bytes.0 > 2_000_000);
//! ```

#![forbid(unsafe_code)]

mod capture;
mod delays;
pub mod encoder;
mod event_queue;
mod network;
mod packet;
mod run;
mod traffic;
mod workload;

pub use capture::{CapturedPacket, Seen, Way};
pub use run::{Observer, Simulation, run};
pub use traffic::{Camera, EncodedFrame, End, FrameEncoder, Model, Synthetic};
pub use workload::{WORKLOADS, Workload};
