//! A peer that receives packets, as the traffic sees it.

use crate::ceiling::Ceiling;
use crate::division::Pausing;
use crate::encoding::EncodingChoice;
use crate::reception::Carried;
use crate::routing::SubscriptionId;
use crate::rules::{AllocatorKind, Rules};
use std::collections::BTreeMap;
use weft_units::{Duration, Instant, MediaKind, Rate, StreamId};

/// Minimum bound on the rate to a player. The bound follows the published rate; this much
/// is needed before that rate is known.
pub(crate) const LEAST_MAX_RATE: Rate = Rate::from_kbps(2_500);

/// Time after connecting in which a player's target rate is a guess; a layer dropped
/// because of it would return only after a second. Chosen by us: the first probes are
/// complete by then, even on a slow mobile link.
pub(crate) const GUESSING: Duration = Duration::from_millis(2000);

/// Stream that carries tracks to a player.
#[derive(Debug, Clone)]
pub(crate) struct Subscribed {
    pub(crate) id: SubscriptionId,
    pub(crate) kind: MediaKind,
    pub(crate) carried: Carried,
    /// Its share of the rate of the player's paths, as last set.
    pub(crate) share: Option<Rate>,
    pub(crate) choice: EncodingChoice,
    pub(crate) pausing: Pausing,
}

impl Subscribed {
    /// Whether it was raised to a larger encoding recently.
    pub(crate) fn is_raised(&self, now: Instant) -> bool {
        let lately = |at: Instant| now.saturating_since(at) < GUESSING;
        self.choice.raised().is_some_and(lately)
    }
}

/// Peer that receives packets.
pub(crate) struct Player {
    pub(crate) since: Instant,
    pub(crate) subscriptions: BTreeMap<StreamId, Subscribed>,
    /// Rate that all its paths together carry.
    pub(crate) target: Option<Rate>,
    /// Length of its pacers' queue, as last reported to the router.
    pub(crate) queued: Duration,
    /// Bound in its session.
    pub(crate) max_rate: Rate,
    pub(crate) ceiling: Ceiling,
    /// Minimum rate that its session assumes for its paths.
    pub(crate) known: Rate,
    /// Rules of another server that choose its layers.
    pub(crate) rules: Option<Rules>,
}

impl Player {
    /// Creates a player that has just connected and whose paths are unknown.
    pub(crate) fn new(now: Instant, allocator: AllocatorKind) -> Player {
        Player {
            since: now,
            subscriptions: BTreeMap::new(),
            target: None,
            queued: Duration::ZERO,
            max_rate: LEAST_MAX_RATE,
            ceiling: Ceiling::default(),
            known: Rate::ZERO,
            rules: Rules::new(allocator),
        }
    }

    /// Subscriptions of one kind.
    pub(crate) fn of_kind(&self, kind: MediaKind) -> impl Iterator<Item = SubscriptionId> {
        let streams = self.subscriptions.values();
        streams.filter(move |s| s.kind == kind).map(|s| s.id)
    }
}
