//! A discrete-event simulator of flows over links, in virtual time.
//!
//! [`run`] takes a [`Setup`] and a seed and gives a [`Record`]: plain data,
//! the same on every run. What is modelled, and what is not, stands in
//! `docs/models/simulator.md`.
//!
//! ```
//! use weft_sim::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Route, Setup, TcpSetup, run};
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

mod agenda;
mod call;
pub mod encoder;
mod flow;
mod network;
mod packet;
mod record;
mod run;
mod setup;
mod statistics;
mod tcp;
mod udp;
mod workload;

pub use call::{
    CallRecord, CallSample, CallSetup, CameraSetup, EncodedFrame, End, FrameRecord, FrameShown,
    FrameSource, MicrophoneSetup, Model, PathChange, PathSample, Quality, SideRecord, SideSetup,
    SourceKind, StreamRecord, Synthetic, SyntheticSetup,
};
pub use record::{
    DelaySample, DirectionRecord, DropRecord, FlowDetail, FlowRecord, LegRecord, LegSample,
    LinkRecord, LinkSample, Record, RouteRecord, TcpRecord, TcpSample, Transfer,
};
pub use run::{Observer, run};
pub use setup::{
    Application, CongestionKind, Direction, EcnMode, FlowKind, FlowSetup, Hop, LinkSetup, Route,
    Setup, SetupError, TcpSetup, UdpSetup, UnknownCongestion,
};
pub use statistics::Distribution;
pub use workload::{WORKLOADS, Workload};
