use crate::DropReason;
use crate::queue::{Exits, Item};
use std::fmt;
use weft_units::Instant;

/// Whether a discipline marks ECN-capable packets where it would drop others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnMarking {
    /// It drops all alike.
    #[default]
    Off,
    /// It marks them.
    On,
}

/// Marks a packet where that is allowed and possible; drops it by `exits`
/// otherwise.
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

/// As in a link specification.
impl fmt::Display for EcnMarking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EcnMarking::Off => "off",
            EcnMarking::On => "on",
        })
    }
}
