//! A peer that packets go to, as the traffic sees it.

use crate::ceiling::Ceiling;
use crate::publication::Slot;
use std::collections::BTreeMap;
use weft_sfu::SubscriptionId;
use weft_units::{Duration, Instant, Rate};

/// Least bound of the rate to a player. The bound follows the published rate, and this
/// much is needed before anything is known of that.
pub(crate) const LEAST_MAX_RATE: Rate = Rate::from_kbps(2_500);

/// A peer that packets go to.
pub(crate) struct Player {
    pub(crate) since: Instant,
    pub(crate) subscriptions: BTreeMap<Slot, SubscriptionId>,
    /// Rate that all paths to it carry.
    pub(crate) target: Option<Rate>,
    /// Queue of its pacers as the router knows it.
    pub(crate) queued: Duration,
    /// Bound that its session has.
    pub(crate) max_rate: Rate,
    pub(crate) ceiling: Ceiling,
    /// Rate that its session takes its paths to carry at least.
    pub(crate) known: Rate,
}

impl Player {
    /// A player that is connected now, of whose paths nothing is known.
    pub(crate) fn new(now: Instant) -> Player {
        Player {
            since: now,
            subscriptions: BTreeMap::new(),
            target: None,
            queued: Duration::ZERO,
            max_rate: LEAST_MAX_RATE,
            ceiling: Ceiling::default(),
            known: Rate::ZERO,
        }
    }

    /// Subscriptions to cameras.
    pub(crate) fn cameras(&self) -> impl Iterator<Item = SubscriptionId> {
        let streams = self.subscriptions.iter();
        streams
            .filter(|(slot, _)| **slot != Slot::Sound)
            .map(|(_, id)| *id)
    }
}
