//! Statistics of one peer.

use std::collections::{BTreeMap, BTreeSet};

use weft_net::Context;
use weft_peer::PeerKey;
use weft_rooms::{LinkReport, LinkState};
use weft_session::{Level, Metering, PathState, PathStats, Standing, Stats};
use weft_units::{Duration, Instant, PathId, StreamId};
use weft_wire::rtp::Mid;

use super::following::Held;
use super::{Caller, RemotePeer, Track};
use crate::links::LinkFigures;
use crate::sources::video::CameraReport;

/// Time after which a link without a path counts as silent: several round trips
/// of the slowest networks. Chosen by us.
const SILENT_AFTER: Duration = Duration::from_secs(5);

/// Statistics of one peer.
#[derive(Clone, Debug)]
pub struct PeerReport {
    /// Peer of the statistics, which start at its creation.
    pub peer: PeerKey,
    /// Statistics of its session: paths, streams, the allowed rate.
    pub stats: Stats,
    /// Link of each path.
    pub links: BTreeMap<PathId, String>,
    /// All links of the endpoint, in order, with or without a path.
    pub all_links: Vec<LinkFigures>,
    /// Links that have had a socket for some seconds but no path.
    pub silent: BTreeSet<String>,
    /// Whether media can flow.
    pub connected: bool,
    /// Negotiated level of multipath.
    pub level: Level,
    /// Cameras that the peer receives, in order.
    pub cameras: Vec<CameraReport>,
    /// Identities of its streams, as far as known.
    pub tracks: BTreeMap<StreamId, Track>,
    /// Media section of each received stream, and its index among sections of its kind.
    pub sections: BTreeMap<StreamId, (Mid, Track)>,
}

impl PeerReport {
    /// Returns the links in the form that a room shows. A link can have several paths to
    /// different networks of the peer, and can have had earlier ones: the best state
    /// counts, and the rates of the live paths add up.
    #[must_use]
    pub fn link_reports(&self) -> Vec<LinkReport> {
        self.all_links.iter().map(|own| self.link(own)).collect()
    }

    /// Whether a path carries packets now.
    #[must_use]
    pub fn has_path(&self) -> bool {
        self.stats.paths.iter().any(|p| p.state != PathState::Down)
    }

    /// Whether a path of this link carries packets now.
    #[must_use]
    pub fn is_up(&self, link: &str) -> bool {
        let live = self.stats.paths.iter();
        let mut live = live.filter(|p| p.state != PathState::Down);
        live.any(|p| self.links.get(&p.path).is_some_and(|l| l == link))
    }

    fn link(&self, own: &LinkFigures) -> LinkReport {
        let of_link = |p: &&PathStats| self.links.get(&p.path) == Some(&own.name);
        let paths: Vec<&PathStats> = self.stats.paths.iter().filter(of_link).collect();
        let best = paths.iter().min_by_key(|p| (state(p.state).0, p.rtt));
        let live = || paths.iter().filter(|p| p.state != PathState::Down);
        let target: f64 = live().map(|p| p.target_rate.as_mbps()).sum();
        let sent = live().filter_map(|p| p.acknowledged_rate);
        let sent: f64 = sent.map(|rate| rate.as_mbps()).sum();
        LinkReport {
            name: own.name.clone(),
            state: best.map_or(LinkState::Down, |p| state(p.state).1),
            rtt_ms: best.map_or(0.0, |p| round(p.rtt.as_millis_f64())),
            sent_mbps: round(sent),
            target_mbps: round(target),
            loss: best.map_or(0.0, |p| round(p.loss)),
            metered: own.policy.metering == Metering::Metered,
            backup: own.policy.standing == Standing::Backup,
            budget_left_mb: own.left.map(|left| round(left.0 as f64 / 1e6)),
            trouble: None,
        }
    }
}

impl Caller {
    /// Returns the links that had enough time to reach the peer and never did.
    fn silent(&self, now: Instant, peer: &RemotePeer) -> BTreeSet<String> {
        let old = |held: &&Held| now.saturating_since(held.since.max(peer.made)) >= SILENT_AFTER;
        let names = peer.locals.iter().filter(old);
        let names = names.map(|held| self.following.links.name(held.link));
        let silent = names.filter(|name| !peer.links.values().any(|link| **link == **name));
        silent.map(str::to_owned).collect()
    }

    pub(super) fn report(&self, context: &Context<'_>) -> Vec<PeerReport> {
        let report = |(key, remote_peer): (&PeerKey, &RemotePeer)| {
            let peer = context.peers().get(*key)?;
            let links = remote_peer.links.iter();
            Some(PeerReport {
                peer: *key,
                stats: peer.session().stats(),
                links: links
                    .map(|(path, link)| (*path, link.to_string()))
                    .collect(),
                all_links: self.following.links.figures(),
                silent: self.silent(context.now, remote_peer),
                connected: peer.is_connected(),
                level: peer.session().level(),
                cameras: self
                    .encoders
                    .iter()
                    .take(remote_peer.cameras.len())
                    .map(|encoders| encoders.full.report())
                    .collect(),
                tracks: remote_peer.tracks(),
                sections: remote_peer.receivers.clone(),
            })
        };
        self.peers.iter().filter_map(report).collect()
    }
}

/// Returns the rank (smaller is better) and the state in the room.
fn state(state: PathState) -> (u8, LinkState) {
    match state {
        PathState::Up => (0, LinkState::Up),
        PathState::Suspect => (1, LinkState::Suspect),
        PathState::Down => (2, LinkState::Down),
    }
}

/// Rounds to three decimals; more would be noise.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
