//! Rates that players can use of what is published for them.

use crate::player::{GUESSING, Subscribed};
use crate::publication::Publication;
use crate::routing::{SubscriptionId, TrackId};
use crate::traffic::Traffic;
use std::collections::BTreeMap;
use weft_peer::PeerKey;
use weft_units::{Instant, MediaKind, Rate};

/// Part of a weak player's target that half of the pictures may take: the rest is
/// for keyframes and what is sent again. Chosen by us.
const FITTING: f64 = 0.9;

/// Place of the publication among all that each track belongs to.
pub(crate) type Owners = BTreeMap<TrackId, usize>;

/// Streams of a player at one time, found once for all publications.
pub(crate) struct Played {
    /// Time from which there is the player.
    since: Instant,
    /// Bound of its session, and the rate that its paths carry.
    max_rate: Rate,
    target: Option<Rate>,
    streams: Vec<PlayedStream>,
    /// Part of the target that all streams take.
    taken: Rate,
}

struct PlayedStream {
    id: SubscriptionId,
    /// Place of the publication that it carries.
    owner: Option<usize>,
    /// Whether smaller pictures of the same source can be chosen: encodings or spatial layers.
    has_smaller: bool,
    /// Rate of its track.
    rate: Option<Rate>,
    /// Part of the player's target that it takes.
    taken: Rate,
}

impl Traffic {
    /// Returns the streams that a player gets, with their rates now.
    pub(crate) fn played(&self, now: Instant, peer: PeerKey, owners: &Owners) -> Option<Played> {
        let player = self.players.get(&peer)?;
        let stream = |s: &Subscribed| {
            let demand = self.demand(now, s).unwrap_or(Rate::ZERO);
            let track = self.router.track(s.id);
            let is_spatial = track.is_some_and(|track| self.router.has_spatial_layers(track));
            PlayedStream {
                id: s.id,
                owner: track.and_then(|track| owners.get(&track).copied()),
                has_smaller: is_spatial || s.carried.encodings.len() > 1,
                rate: track.and_then(|track| self.router.rate(now, track)),
                taken: match s.kind {
                    MediaKind::Audio => demand,
                    MediaKind::Video => s.share.map_or(demand, |share| share.min(demand)),
                },
            }
        };
        let streams: Vec<PlayedStream> = player.subscriptions.values().map(stream).collect();
        Some(Played {
            since: player.since,
            max_rate: player.max_rate,
            target: player.target,
            taken: streams.iter().map(|s| s.taken).sum(),
            streams,
        })
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
        (publication, published): (usize, Rate),
    ) -> Option<Rate> {
        if now.saturating_since(played.since) < GUESSING * 2 {
            return None;
        }
        if played.of(publication).any(|s| s.has_smaller) {
            return None;
        }
        let own = played.rate(publication);
        let ids = played.of(publication).map(|s| s.id);
        let least: Rate = ids.filter_map(|id| self.router.half(now, id)).sum();
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
    /// Returns the rate that the player can use of the publication at this place, which
    /// arrives at the rate `published`: its part of the rate of its paths, and beside that
    /// what it does not play. While that is a guess, what it may be sent.
    pub(crate) fn usable(
        &self,
        now: Instant,
        (publication, published): (usize, Rate),
    ) -> Option<Rate> {
        if now.saturating_since(self.since) < GUESSING {
            return Some(self.max_rate);
        }
        let beside = published.saturating_sub(self.rate(publication));
        Some(self.part(publication)? + beside)
    }

    /// The streams of a publication's tracks.
    fn of(&self, publication: usize) -> impl Iterator<Item = &PlayedStream> {
        let streams = self.streams.iter();
        streams.filter(move |s| s.owner == Some(publication))
    }

    /// The rate of a publication's tracks.
    fn rate(&self, publication: usize) -> Rate {
        self.of(publication).filter_map(|s| s.rate).sum()
    }

    /// The part of the player's target that is not used by what others publish.
    fn part(&self, publication: usize) -> Option<Rate> {
        let own: Rate = self.of(publication).map(|s| s.taken).sum();
        let others = self.taken.saturating_sub(own);
        Some(self.target?.saturating_sub(others))
    }
}
