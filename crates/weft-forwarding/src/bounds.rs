//! Bounds on the rates to players.

use crate::player::{GUESSING, LEAST_MAX_RATE, Player};
use crate::traffic::Traffic;
use weft_peer::PeerSet;
use weft_session::Backlog;
use weft_units::{Instant, Rate};

/// Bound on the total rate to a player, as a multiple of the published rate of its media:
/// the excess is for probes. libwebrtc probes up to twice the allocated rate
/// (probe_controller.cc, `second_probe_allocation_scale`).
const HEADROOM: f64 = 2.0;
/// Share of the server's bound for players' media: the rest is for retransmissions and
/// feedback. Chosen by us.
const EGRESS_FOR_MEDIA: f64 = 0.9;
/// Minimum rate at which the backlog of a new player is sent during heavy losses, as a
/// share of the received rate, even if its controller has fallen lower. Chosen by trial:
/// at 600 kbit/s, values from half to nearly all of it work equally well.
const KNOWN: f64 = 0.8;

impl Traffic {
    /// Returns the published rate of all media of each player.
    pub(crate) fn demands(&self, now: Instant) -> Vec<Rate> {
        let demand = |player: &Player| -> Rate {
            let streams = player.subscriptions.values();
            streams.filter_map(|s| self.demand(now, s)).sum()
        };
        self.players.values().map(demand).collect()
    }

    /// Sets each player's rates according to the published rate of its media.
    pub(crate) fn adapt_rates(&mut self, now: Instant, peers: &mut PeerSet, egress: Option<Rate>) {
        self.adapt_bounds(now, peers, egress);
        for peer in self.players.keys().copied().collect::<Vec<_>>() {
            self.tell_downlink(now, peer);
        }
        self.deliver(now, peers);
    }

    /// Sets each player's bounds; `egress` bounds the total rate to all players.
    fn adapt_bounds(&mut self, now: Instant, peers: &mut PeerSet, egress: Option<Rate>) {
        let demands = self.demands(now);
        let level = egress.map(|most| {
            let elsewhere = self.elsewhere.values().flatten();
            let all = demands.iter().chain(elsewhere).map(|rate| Some(*rate));
            most.mul_f64(EGRESS_FOR_MEDIA).fair_level(all)
        });
        let wants = self.players.keys().zip(demands).map(|(peer, demand)| {
            let wanted = demand.mul_f64(HEADROOM).max(LEAST_MAX_RATE);
            (*peer, wanted)
        });
        for (peer, wanted) in wants.collect::<Vec<_>>() {
            let Some(player) = self.players.get_mut(&peer) else {
                continue;
            };
            let wanted = level.map_or(wanted, |level| level.min(wanted));
            if let Some(peer) = peers.get(peer) {
                let paths = peer.session().path_stats();
                player.ceiling.update(now, paths, wanted);
            }
            let wanted = player
                .ceiling
                .rate()
                .map_or(wanted, |most| most.min(wanted));
            // Later, several connections to one viewer may share the link's rate.
            let is_new = now.saturating_since(player.since) < GUESSING * 2;
            let known = player.ceiling.rate().filter(|_| is_new);
            let known = known.map_or(Rate::ZERO, |rate| rate.mul_f64(KNOWN));
            if known != player.known {
                player.known = known;
                let backlog = Backlog::Waits { known };
                peers.drive(peer, |peer| peer.set_backlog(backlog));
            }
            let moved = wanted.as_bps().abs_diff(player.max_rate.as_bps());
            if moved * 10 > player.max_rate.as_bps() {
                player.max_rate = wanted;
                peers.drive(peer, |peer| peer.set_max_rate(now, wanted));
            }
        }
    }
}
