//! The sending side of one stream: packetisation, memory for retransmission.

mod buffers;
mod frame_clock;
mod packetize;
mod repair;
mod stream;

pub(crate) use buffers::{Buffers, Payload};
pub(crate) use frame_clock::FrameClock;
pub(crate) use packetize::{HEADROOM, packetize};
pub(crate) use repair::{REPAIR_HEADROOM, RepairStream};
pub(crate) use stream::{Copies, SendStream, Stored, Transmission};
