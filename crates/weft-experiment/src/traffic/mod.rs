//! Traffic of flows, with a folder for each kind: its setup, validation and record.
//!
//! Code outside these folders does not match on the kind; [`Traffic`] describes each
//! kind. An engine distinguishes the kinds in a single place.

mod app;
mod call;
mod conference;
mod floor;
mod tcp;
mod udp;

use std::ops::RangeInclusive;

pub use app::{AppMedia, AppSetup};
pub use call::{
    CallRecord, CallSample, CallSetup, CameraSetup, FrameLog, FrameRecord, FrameShown,
    MicrophoneSetup, ModelError, ModelSetup, PathChange, PathSample, Quality, SideRecord,
    SideSetup, SourceKind, StreamRecord, SyntheticSetup,
};
pub use conference::{
    AllocatorKind, ConferenceRecord, ConferenceSetup, InterconnectSetup, PersonRecord, Screen,
    SimulcastSetup, TilePicture, TileRecord, TileSizes,
};
pub use floor::{FloorRecord, FloorSetup, ShownPicture};
pub use tcp::{Application, CongestionKind, EcnMode, TcpRecord, TcpSample, TcpSetup, Transfer};
pub use udp::UdpSetup;
use weft_units::Duration;

use crate::counters::CounterLog;

/// Kind of traffic with its setup.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// TCP connections.
    Tcp(TcpSetup),
    /// Packets of one size at a constant rate.
    Udp(UdpSetup),
    /// weft call with one path for each route.
    Call(Box<CallSetup>),
    /// Group of people in a conference.
    Conference(Box<ConferenceSetup>),
    /// Links between two servers of the conference.
    Interconnect(InterconnectSetup),
    /// Call of a closed application, by its model.
    App(Box<AppSetup>),
    /// Lower bound that no call can beat.
    Floor(FloorSetup),
}

/// Measurements of a flow beyond its packets.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowDetail {
    /// Transport: TCP connections, seen from inside.
    Tcp(TcpRecord),
    /// Application: a call, frame by frame.
    Call(Box<CallRecord>),
    /// Application: the pictures that people in a conference saw.
    Conference(ConferenceRecord),
    /// Application: the pictures of an oracle.
    Floor(FloorRecord),
    /// Application: counters reported by the programs at its ends, one entry for each
    /// program that reported.
    Counted(Vec<CounterLog>),
    /// Only packet counts: the flow has no further data, or the engine sees none.
    Packets,
}

/// Properties of a kind of flow.
pub trait Traffic {
    /// Returns the first setting that is out of range, as a message with the remedy.
    fn wrong(&self) -> Option<&'static str>;

    /// Returns the accepted number of routes, as a range and in words.
    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        (1..=1, "one")
    }

    /// Returns a short description for display.
    fn words(&self) -> String;

    /// Returns its cameras and microphones, if it has frames to show.
    fn media(&self) -> Option<&CallSetup> {
        None
    }

    /// Returns the server that its people connect to, if it is a group in a conference.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Returns the rules by which that server chooses layers, if the group names some.
    fn allocator(&self) -> Option<AllocatorKind> {
        None
    }

    /// Returns the servers of the conference that its routes connect.
    fn joined_servers(&self) -> Option<[&str; 2]> {
        None
    }

    /// Whether it carries a conversation, even without any data about the pictures.
    fn is_call(&self) -> bool {
        self.media().is_some()
    }

    /// Whether its packets cross the links, so that rates, losses and delays exist.
    fn has_packets(&self) -> bool {
        true
    }

    /// Whether its bytes count only when all of them have arrived, however late.
    fn has_transfers(&self) -> bool {
        false
    }

    /// Whether it keeps adapting its rate while it runs, unlike a flow that stops by
    /// itself or has a fixed rate.
    fn settles(&self) -> bool {
        false
    }

    /// Returns the latency that its cameras and screens add to every picture.
    fn device_delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl FlowKind {
    /// Returns the common interface of the kind.
    #[must_use]
    pub fn traffic(&self) -> &dyn Traffic {
        match self {
            FlowKind::Tcp(tcp) => tcp,
            FlowKind::Udp(udp) => udp,
            FlowKind::Call(call) => call.as_ref(),
            FlowKind::Conference(group) => group.as_ref(),
            FlowKind::Interconnect(interconnect) => interconnect,
            FlowKind::App(app) => app.as_ref(),
            FlowKind::Floor(floor) => floor,
        }
    }
}
