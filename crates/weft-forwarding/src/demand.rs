//! Rates that players can use of each publication.

use crate::player::{GUESSING, Subscribed};
use crate::publication::Publication;
use crate::routing::{SubscriptionId, TrackId};
use crate::traffic::Traffic;
use std::collections::BTreeMap;
use weft_peer::PeerKey;
use weft_units::{Instant, MediaKind, Rate};

/// Share of a weak player's target rate for half of the pictures: the rest is for
/// keyframes and retransmissions. Chosen by us.
const FITTING: f64 = 0.9;

/// Index of the publication that each track belongs to.
pub(crate) type Owners = BTreeMap<TrackId, usize>;

/// Snapshot of a player's streams, taken once for all publications.
pub(crate) struct Played {
    /// Time at which the player connected.
    since: Instant,
    /// Bound of its session, and the rate of its paths.
    max_rate: Rate,
    target: Option<Rate>,
    streams: Vec<PlayedStream>,
    /// Share of the target rate that all streams use.
    taken: Rate,
}

struct PlayedStream {
    id: SubscriptionId,
    /// Index of the publication that it carries.
    owner: Option<usize>,
    /// Whether smaller pictures of the same source are available, as encodings or spatial layers.
    has_smaller: bool,
    /// Rate of its track.
    rate: Option<Rate>,
    /// Share of the player's target rate that it uses.
    taken: Rate,
}

impl Traffic {
    /// Returns the streams of a player with their present rates.
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

    /// Returns the maximum rate of a publication of which the player's paths can carry
    /// half of the pictures.
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
    /// Returns the rate of a publication, which arrives at the rate `published`, that the
    /// player can use: its share of the rate of the player's paths, plus the part of the
    /// publication that it does not play. While the rate of the paths is a guess, returns
    /// the bound of the session.
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

    /// Streams of a publication's tracks.
    fn of(&self, publication: usize) -> impl Iterator<Item = &PlayedStream> {
        let streams = self.streams.iter();
        streams.filter(move |s| s.owner == Some(publication))
    }

    /// Rate of a publication's tracks.
    fn rate(&self, publication: usize) -> Rate {
        self.of(publication).filter_map(|s| s.rate).sum()
    }

    /// Share of the player's target rate that other publications do not use.
    fn part(&self, publication: usize) -> Option<Rate> {
        let own: Rate = self.of(publication).map(|s| s.taken).sum();
        let others = self.taken.saturating_sub(own);
        Some(self.target?.saturating_sub(others))
    }
}
