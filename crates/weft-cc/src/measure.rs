//! What several controllers measure in the same way.

mod base_delay;
mod delivery;
mod silence;

pub(crate) use base_delay::{BaseDelay, CLOCK_JUMP_MS, TEN_MINUTES};
pub(crate) use delivery::DeliveryRate;
pub(crate) use silence::{SILENCE_DROP, SILENCE_INTERVAL, Silence};

use weft_units::Bytes;

/// Sizes beyond an IP packet are nonsense and would only overflow sums.
const MAX_SIZE: u64 = 1 << 16;
/// The same for what goes unmeasured between two packets.
const MAX_UNMEASURED: u64 = 1 << 24;

/// A packet's size as far as it can be believed.
pub(crate) fn credible_size(size: Bytes) -> Bytes {
    Bytes(size.0.min(MAX_SIZE))
}

/// The same with what went unmeasured before it.
pub(crate) fn credible_delivery(result: &crate::PacketResult) -> Bytes {
    credible_size(result.sent.size) + Bytes(result.unmeasured_before.0.min(MAX_UNMEASURED))
}

#[cfg(test)]
mod tests;
