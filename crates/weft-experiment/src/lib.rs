//! Experiment as data: the setup of a run, and the record of its results.
//!
//! A [`Setup`] names links, routes and flows; a [`Record`] holds the measurements of
//! each. An engine turns the setup into the record: the simulator (`weft-sim`) in virtual
//! time, the emulator's testbed (`weft-lab`) with real packets. Neither type depends on
//! the engine.
//!
//! ```
//! use weft_experiment::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Route, Setup, TcpSetup};
//! use weft_units::Duration;
//!
//! let mut setup = Setup::new(Duration::from_secs(10));
//! let link = "rate=2mbit,delay=25ms,queue=2bdp".parse().expect("a link");
//! setup.links.push(LinkSetup::symmetric("bottleneck", &link));
//! let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
//! setup.flows.push(FlowSetup::new("upload", Route::forward(&[0]), tcp));
//! assert_eq!(setup.check(), Ok(()));
//! ```

#![forbid(unsafe_code)]

mod counters;
mod distribution;
mod record;
mod setup;
mod traffic;

pub use counters::{CounterLog, CounterSample, ReceivedCounters, SentCounters};
pub use distribution::{DelaySample, Distribution};
pub use record::{
    DropRecord, FlowRecord, LegRecord, LegSample, LinkRecord, LinkSample, Record, RouteRecord,
    StationRecord,
};
pub use setup::{FlowSetup, Hop, LinkSetup, Route, Setup, SetupError};
// Only the folder of all kinds exports kinds of flows.
pub use traffic::*;
