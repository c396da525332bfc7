//! Bounds of the rates that players are sent.

use crate::player::{LEAST_MAX_RATE, Player};
use crate::traffic::{GUESSING, Traffic};
use weft_peer::PeerSet;
use weft_session::Backlog;
use weft_units::{Instant, Rate};

/// Bound on a player's media, over the rate that is published for it: the rest is for
/// probes. libwebrtc probes up to twice what its application allocates
/// (probe_controller.cc, `second_probe_allocation_scale`).
const HEADROOM: f64 = 2.0;
/// Part of the server's bound that players' media may take: the rest is for
/// what is lost and sent again, and feedback. Chosen by us.
const EGRESS_FOR_MEDIA: f64 = 0.9;
/// Part of what arrived during heavy losses at which the backlog of a new player
/// leaves, although its controller may have fallen lower. Chosen by trial: at
/// 600 kbit/s, half to nearly all of it do equally well.
const KNOWN: f64 = 0.8;

impl Traffic {
    /// Returns the rate of all that is published for each player.
    pub(crate) fn demands(&self, now: Instant) -> Vec<Rate> {
        let demand = |player: &Player| -> Rate {
            let streams = player.subscriptions.values();
            streams.filter_map(|s| self.demand(now, s)).sum()
        };
        self.players.values().map(demand).collect()
    }

    /// Fits each player's rates to what is published for it.
    pub(crate) fn adapt_rates(&mut self, now: Instant, peers: &mut PeerSet, egress: Option<Rate>) {
        self.adapt_bounds(now, peers, egress);
        for peer in self.players.keys().copied().collect::<Vec<_>>() {
            self.tell_downlink(now, peer);
        }
        self.deliver(now, peers);
    }

    /// `egress` bounds what all players are sent together.
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
                let stats = peer.session().stats();
                player.ceiling.update(now, &stats.paths, wanted);
            }
            let wanted = player
                .ceiling
                .rate()
                .map_or(wanted, |most| most.min(wanted));
            // Later, several connections to one viewer share what the link carries.
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
