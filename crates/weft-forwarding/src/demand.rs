//! Rates that players can use of what is published for them.

use crate::player::Player;
use crate::publication::Publication;
use crate::routing::SubscriptionId;
use crate::traffic::{GUESSING, Traffic};
use weft_peer::PeerKey;
use weft_units::{Instant, MediaKind, Rate};

/// Part of a weak player's target that half of the pictures may take: the rest is
/// for keyframes and what is sent again. Chosen by us.
const FITTING: f64 = 0.9;

impl Traffic {
    /// Returns the rate that a player can use of a publication: its part of the rate of
    /// its paths, and beside that what it does not play. While that is a guess, what it
    /// may be sent.
    pub(crate) fn usable(
        &self,
        now: Instant,
        peer: PeerKey,
        publication: &Publication,
    ) -> Option<Rate> {
        let player = self.players.get(&peer)?;
        if now.saturating_since(player.since) < GUESSING {
            return Some(player.max_rate);
        }
        let published = self.published(now, publication);
        let played = self.played(player, publication);
        let played: Rate = played.filter_map(|id| self.router.demand(now, id)).sum();
        Some(self.part(now, player, publication)? + published.saturating_sub(played))
    }

    /// Rate at which a publication arrives.
    pub(crate) fn published(&self, now: Instant, publication: &Publication) -> Rate {
        let published = publication.track_ids();
        published.filter_map(|t| self.router.rate(now, t)).sum()
    }

    /// Most that a publication may take to be played at half the frequency
    /// of its pictures over what a player's paths carry.
    pub(crate) fn fitting(
        &self,
        now: Instant,
        peer: PeerKey,
        publication: &Publication,
    ) -> Option<Rate> {
        let player = self.players.get(&peer)?;
        if now.saturating_since(player.since) < GUESSING * 2 {
            return None;
        }
        let published = self.published(now, publication);
        let ids: Vec<SubscriptionId> = self.played(player, publication).collect();
        let streams = player.subscriptions.values();
        let mut own = streams.filter(|s| ids.contains(&s.id));
        if own.any(|s| s.carried.encodings.len() > 1) {
            // There is a smaller encoding for such a player.
            return None;
        }
        let played = ids.iter().filter_map(|id| self.router.demand(now, *id));
        let played: Rate = played.sum();
        let least = ids.iter().filter_map(|id| self.router.half(now, *id));
        let least: Rate = least.sum();
        if least == Rate::ZERO {
            return None;
        }
        let part = played.as_bps() as f64 / least.as_bps() as f64;
        let target = self.part(now, player, publication)?;
        let fits = target.mul_f64(FITTING * part);
        Some(fits + published.saturating_sub(played))
    }

    /// The player's subscriptions to a publication's tracks.
    fn played(
        &self,
        player: &Player,
        publication: &Publication,
    ) -> impl Iterator<Item = SubscriptionId> {
        let tracks: Vec<_> = publication.track_ids().collect();
        let ids = player.subscriptions.values().map(|s| s.id);
        let plays = move |id: &SubscriptionId| {
            let track = self.router.track(*id);
            track.is_some_and(|track| tracks.contains(&track))
        };
        ids.filter(plays)
    }

    /// The part of a player's target that is not used by what others publish.
    fn part(&self, now: Instant, player: &Player, publication: &Publication) -> Option<Rate> {
        let own: Vec<SubscriptionId> = self.played(player, publication).collect();
        let others = player.subscriptions.values();
        let others = others.filter(|s| !own.contains(&s.id)).filter_map(|s| {
            let demand = self.demand(now, s)?;
            match s.kind {
                MediaKind::Audio => Some(demand),
                MediaKind::Video => Some(s.share.map_or(demand, |share| share.min(demand))),
            }
        });
        Some(player.target?.saturating_sub(others.sum()))
    }
}
