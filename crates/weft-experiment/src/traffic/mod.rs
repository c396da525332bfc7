//! What flows carry, one folder for each kind: how it is set up, what is wrong
//! with a set-up, and what of it is on record.
//!
//! Nobody asks a flow what it is: [`Traffic`] says what each kind has. An
//! engine has one place of its own that tells the kinds apart.

mod app;
mod call;
mod floor;
mod tcp;
mod udp;

use std::ops::RangeInclusive;

pub use app::{AppMedia, AppSetup};
pub use call::{
    CallRecord, CallSample, CallSetup, CameraSetup, FrameRecord, FrameShown, MicrophoneSetup,
    ModelError, ModelSetup, PathChange, PathSample, Quality, SideRecord, SideSetup, SourceKind,
    StreamRecord, SyntheticSetup,
};
pub use floor::{FloorRecord, FloorSetup, ShownPicture};
pub use tcp::{
    Application, CongestionKind, EcnMode, TcpRecord, TcpSample, TcpSetup, Transfer,
    UnknownCongestion,
};
pub use udp::UdpSetup;
use weft_units::Duration;

use crate::counters::CounterLog;

/// What a flow carries and how.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// TCP connections.
    Tcp(TcpSetup),
    /// Packets of one size at a constant rate.
    Udp(UdpSetup),
    /// A weft call, one path for each route.
    Call(Box<CallSetup>),
    /// A call of a closed application, by its model.
    App(Box<AppSetup>),
    /// What no call can do better than.
    Floor(FloorSetup),
}

/// What is known of a flow beside its packets.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowDetail {
    /// Transport: TCP connections, seen from inside.
    Tcp(TcpRecord),
    /// Application: a call, frame by frame.
    Call(Box<CallRecord>),
    /// Application: the pictures of an oracle.
    Floor(FloorRecord),
    /// Application: what the programs at its ends counted of themselves, an
    /// entry for each that did.
    Counted(Vec<CounterLog>),
    /// Nothing: its packets are all there is, or all that the engine sees.
    Packets,
}

/// What a kind of flow says of itself.
pub trait Traffic {
    /// A value that has no meaning: what is wrong, and what would be right.
    fn wrong(&self) -> Option<&'static str>;

    /// How many routes it takes, as a range and in words.
    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        (1..=1, "one")
    }

    /// What it is, in a few words for people.
    fn words(&self) -> String;

    /// Its cameras and microphones, if it has frames to show.
    fn media(&self) -> Option<&CallSetup> {
        None
    }

    /// Whether people talk over it, whatever is known of what they see.
    fn is_call(&self) -> bool {
        self.media().is_some()
    }

    /// Whether there are packets of it on its links, and so rates, losses and
    /// delays.
    fn has_packets(&self) -> bool {
        true
    }

    /// Whether its bytes count when all of them have arrived, however late.
    fn has_transfers(&self) -> bool {
        false
    }

    /// Whether it looks for a rate of its own for as long as it runs. What
    /// stops by itself, or has a fixed rate, does not.
    fn settles(&self) -> bool {
        false
    }

    /// What its cameras and screens add to the latency of every picture.
    fn device_delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl FlowKind {
    /// What it says of itself.
    #[must_use]
    pub fn traffic(&self) -> &dyn Traffic {
        match self {
            FlowKind::Tcp(tcp) => tcp,
            FlowKind::Udp(udp) => udp,
            FlowKind::Call(call) => call.as_ref(),
            FlowKind::App(app) => app.as_ref(),
            FlowKind::Floor(floor) => floor,
        }
    }
}
