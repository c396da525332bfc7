//! Measurements that several controllers share.

mod base_delay;
mod delivery;
mod silence;

pub(crate) use base_delay::{BaseDelay, CLOCK_JUMP_MS, TEN_MINUTES};
pub(crate) use delivery::DeliveryRate;
pub(crate) use silence::{SILENCE_DROP, SILENCE_INTERVAL, Silence};

use weft_units::Bytes;

/// Largest plausible size; larger sizes than an IP packet would overflow sums.
const MAX_SIZE: u64 = 1 << 16;
/// Largest plausible number of unmeasured bytes between two packets.
const MAX_UNMEASURED: u64 = 1 << 24;

/// Returns a packet's size within plausible bounds.
pub(crate) fn credible_size(size: Bytes) -> Bytes {
    Bytes(size.0.min(MAX_SIZE))
}

/// Returns the size of a packet and of the unmeasured bytes before it, within plausible
/// bounds.
pub(crate) fn credible_delivery(result: &crate::PacketResult) -> Bytes {
    credible_size(result.sent.size) + Bytes(result.unmeasured_before.0.min(MAX_UNMEASURED))
}

#[cfg(test)]
mod tests;
