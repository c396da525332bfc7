//! Sending side of one stream: packetisation, and storage for retransmission.

mod buffers;
mod frame_clock;
mod repair;
mod repeat_store;
mod size;
mod stream;

pub(crate) use buffers::{Buffers, Payload};
pub(crate) use frame_clock::FrameClock;
pub(crate) use repair::{REPAIR_HEADROOM, RepairStream};
pub use repeat_store::RepeatStore;
pub(crate) use size::HEADROOM;
pub(crate) use stream::{Copies, Receipt, SendStream, Stored, Transmission};
