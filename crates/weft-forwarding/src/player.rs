//! A peer that packets go to, as the traffic sees it.

use crate::ceiling::Ceiling;
use crate::division::Pausing;
use crate::encoding::EncodingChoice;
use crate::reception::Carried;
use crate::routing::SubscriptionId;
use std::collections::BTreeMap;
use weft_units::{Duration, Instant, MediaKind, Rate, StreamId};

/// Least bound of the rate to a player. The bound follows the published rate, and this
/// much is needed before anything is known of that.
pub(crate) const LEAST_MAX_RATE: Rate = Rate::from_kbps(2_500);

/// Time after connecting in which a player's target rate is a guess, and a layer that
/// is dropped for it comes back after a second only. Chosen by us:
/// the first probes are over then, also on a slow mobile link.
pub(crate) const GUESSING: Duration = Duration::from_millis(2000);

/// A stream that carries tracks to a player.
#[derive(Debug, Clone)]
pub(crate) struct Subscribed {
    pub(crate) id: SubscriptionId,
    pub(crate) kind: MediaKind,
    pub(crate) carried: Carried,
    /// Its part of the rate that the player's paths carry, as told last.
    pub(crate) share: Option<Rate>,
    pub(crate) choice: EncodingChoice,
    pub(crate) pausing: Pausing,
}

impl Subscribed {
    /// Whether it was raised to a larger encoding lately.
    pub(crate) fn is_raised(&self, now: Instant) -> bool {
        let lately = |at: Instant| now.saturating_since(at) < GUESSING;
        self.choice.raised().is_some_and(lately)
    }
}

/// A peer that packets go to.
pub(crate) struct Player {
    pub(crate) since: Instant,
    pub(crate) subscriptions: BTreeMap<StreamId, Subscribed>,
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

    /// Subscriptions of one kind.
    pub(crate) fn of_kind(&self, kind: MediaKind) -> impl Iterator<Item = SubscriptionId> {
        let streams = self.subscriptions.values();
        streams.filter(move |s| s.kind == kind).map(|s| s.id)
    }
}
