//! Rates that players can use of what is published for them.

use crate::player::Subscribed;
use crate::publication::Publication;
use crate::routing::{SubscriptionId, TrackId};
use crate::traffic::{GUESSING, Traffic};
use weft_peer::PeerKey;
use weft_units::{Instant, MediaKind, Rate};

/// Part of a weak player's target that half of the pictures may take: the rest is
/// for keyframes and what is sent again. Chosen by us.
const FITTING: f64 = 0.9;

/// Streams of a player at one time, found once for all publications.
pub(crate) struct Played {
    /// Time from which there is the player.
    since: Instant,
    /// Bound of its session, and the rate that its paths carry.
    max_rate: Rate,
    target: Option<Rate>,
    streams: Vec<PlayedStream>,
}

struct PlayedStream {
    id: SubscriptionId,
    track: Option<TrackId>,
    /// Whether smaller pictures of the same source can be chosen: encodings or spatial layers.
    has_smaller: bool,
    /// Part of the player's target that it takes.
    taken: Rate,
}

impl Traffic {
    /// Returns the streams that a player gets, with their rates now.
    pub(crate) fn played(&self, now: Instant, peer: PeerKey) -> Option<Played> {
        let player = self.players.get(&peer)?;
        let stream = |s: &Subscribed| {
            let demand = self.demand(now, s).unwrap_or(Rate::ZERO);
            let track = self.router.track(s.id);
            let is_spatial = track.is_some_and(|track| self.router.has_spatial_layers(track));
            PlayedStream {
                id: s.id,
                track,
                has_smaller: is_spatial || s.carried.encodings.len() > 1,
                taken: match s.kind {
                    MediaKind::Audio => demand,
                    MediaKind::Video => s.share.map_or(demand, |share| share.min(demand)),
                },
            }
        };
        Some(Played {
            since: player.since,
            max_rate: player.max_rate,
            target: player.target,
            streams: player.subscriptions.values().map(stream).collect(),
        })
    }

    /// Returns the rate that a player can use of a publication, which arrives at the rate
    /// `published`: its part of the rate of its paths, and beside that what it does not
    /// play. While that is a guess, what it may be sent.
    pub(crate) fn usable(
        &self,
        now: Instant,
        played: &Played,
        (publication, published): (&Publication, Rate),
    ) -> Option<Rate> {
        if now.saturating_since(played.since) < GUESSING {
            return Some(played.max_rate);
        }
        let own = played.of(publication).map(|s| s.id);
        let own: Rate = own.filter_map(|id| self.router.demand(now, id)).sum();
        Some(played.part(publication)? + published.saturating_sub(own))
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
        played: &Played,
        (publication, published): (&Publication, Rate),
    ) -> Option<Rate> {
        if now.saturating_since(played.since) < GUESSING * 2 {
            return None;
        }
        if played.of(publication).any(|s| s.has_smaller) {
            return None;
        }
        let ids = || played.of(publication).map(|s| s.id);
        let own: Rate = ids().filter_map(|id| self.router.demand(now, id)).sum();
        let least: Rate = ids().filter_map(|id| self.router.half(now, id)).sum();
        if least == Rate::ZERO {
            return None;
        }
        let part = own.as_bps() as f64 / least.as_bps() as f64;
        let target = played.part(publication)?;
        let fits = target.mul_f64(FITTING * part);
        Some(fits + published.saturating_sub(own))
    }
}

impl Played {
    /// The streams of a publication's tracks.
    fn of(&self, publication: &Publication) -> impl Iterator<Item = &PlayedStream> {
        self.streams.iter().filter(|s| s.is_of(publication))
    }

    /// The part of the player's target that is not used by what others publish.
    fn part(&self, publication: &Publication) -> Option<Rate> {
        let others = self.streams.iter().filter(|s| !s.is_of(publication));
        let taken: Rate = others.map(|s| s.taken).sum();
        Some(self.target?.saturating_sub(taken))
    }
}

impl PlayedStream {
    fn is_of(&self, publication: &Publication) -> bool {
        self.track.is_some_and(|track| publication.has_track(track))
    }
}
