use crate::DropReason;
use crate::queue::{Exits, Item};
use std::fmt;
use weft_units::Instant;

/// Whether a discipline marks ECN-capable packets instead of dropping them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnMarking {
    /// Drops every packet, ECN-capable or not.
    #[default]
    Off,
    /// Marks ECN-capable packets.
    On,
}

/// Marks a packet if marking is on and the packet is ECN-capable; otherwise
/// drops it through `exits`.
pub(super) fn signal<P>(
    mut item: Item<P>,
    marking: EcnMarking,
    now: Instant,
    exits: &mut Exits<P>,
) -> Option<Item<P>> {
    if marking == EcnMarking::On && item.info.ecn.is_capable() {
        exits.mark(&mut item);
        return Some(item);
    }
    exits.drop(now, item, DropReason::Aqm);
    None
}

/// Writes the form of a link specification.
impl fmt::Display for EcnMarking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EcnMarking::Off => "off",
            EcnMarking::On => "on",
        })
    }
}
