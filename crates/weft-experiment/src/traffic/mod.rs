//! What flows carry, one folder for each kind: how it is set up, what is wrong
//! with a set-up, and what of it is on record.
//!
//! Nobody asks a flow what it is: [`Traffic`] says what each kind has. An
//! engine has one place of its own that tells the kinds apart.

mod call;
mod tcp;
mod udp;

use std::ops::RangeInclusive;

pub use call::{
    CallRecord, CallSample, CallSetup, CameraSetup, FrameRecord, FrameShown, MicrophoneSetup,
    ModelError, ModelSetup, PathChange, PathSample, Quality, SideRecord, SideSetup, SourceKind,
    StreamRecord, SyntheticSetup,
};
pub use tcp::{
    Application, CongestionKind, EcnMode, TcpRecord, TcpSample, TcpSetup, Transfer,
    UnknownCongestion,
};
pub use udp::UdpSetup;

/// What a flow carries and how.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// TCP connections.
    Tcp(TcpSetup),
    /// Packets of one size at a constant rate.
    Udp(UdpSetup),
    /// A weft call, one path for each route.
    Call(Box<CallSetup>),
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

    /// Whether its bytes count when all of them have arrived, however late.
    fn has_transfers(&self) -> bool {
        false
    }

    /// Whether it looks for a rate of its own for as long as it runs. What
    /// stops by itself, or has a fixed rate, does not.
    fn settles(&self) -> bool {
        false
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
        }
    }
}
