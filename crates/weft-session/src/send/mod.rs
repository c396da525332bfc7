//! The sending side of one stream: packetisation, memory for retransmission.

mod buffers;
mod frame_clock;
mod packetize;
mod repair;
mod stream;

pub(crate) use buffers::{Buffers, Payload};
pub(crate) use frame_clock::FrameClock;
pub(crate) use packetize::{HEADROOM, Part, Prefix, class_of_h264, packetize_h264, packetize_vp8};
pub(crate) use repair::{REPAIR_HEADROOM, RepairStream};
pub(crate) use stream::{Copies, SendStream, Stored, Transmission};
