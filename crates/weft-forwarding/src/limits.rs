//! Rates of publishers: each is informed of the rate that its room can use, and limited
//! to a multiple of it.

use crate::demand::Owners;
use crate::plane::{Plane, has_path};
use crate::player::LEAST_MAX_RATE;
use crate::publication::Origin;
use crate::reception::Reception;
use crate::relay::{Message, Usable};
use std::collections::BTreeMap;
use weft_peer::PeerKey;
use weft_units::{Instant, Rate};

/// Minimum rate for a publisher. Chosen by us: sound and a small picture; a lower rate
/// does not improve a call.
const LEAST_TOLD: Rate = Rate::from_kbps(150);
/// Bound on a publisher's incoming rate, as a multiple of the announced rate: room
/// for repair packets, copies on other paths, and packets in flight. Chosen by us.
const TAKEN: f64 = 4.0;
/// Minimum of this bound. Chosen by us: encoders with a fixed rate, which ignore the
/// announced one, use at most ten.
const LEAST_TAKEN: Rate = Rate::from_mbps(16);

impl Plane {
    /// Tells publishers their rates. A publisher's pictures are for the player that can
    /// use the highest rate, but at half of that for a player that could not see them
    /// move otherwise. Without players, the rate is that for an unmeasured player.
    pub(crate) fn limit_publishers(&mut self, now: Instant) {
        let Some(most) = self.settings.most_of_a_publisher() else {
            return;
        };
        let mut receptions: BTreeMap<&str, Vec<(PeerKey, &Reception)>> = BTreeMap::new();
        for connection in self.connections.values() {
            let in_room = receptions.entry(&connection.participant.room);
            in_room.or_default().extend(connection.reception());
        }
        let all = self.publications.values().enumerate();
        let owners = all.flat_map(|(place, of)| of.track_ids().map(move |track| (track, place)));
        let owners: Owners = owners.collect();
        let mut played = BTreeMap::new();
        for (place, (publisher, publication)) in self.publications.iter_mut().enumerate() {
            let Some(origin) = publication.origin() else {
                continue;
            };
            let receptions = receptions.get(&*publisher.room).into_iter().flatten();
            let shown = receptions.filter(|(_, reception)| reception.shows(&publisher.participant));
            let players = publication.players().chain(shown.map(|(key, _)| *key));
            // A player without a path may return and get the previous rate.
            let there = players.filter(|key| has_path(&self.peers, *key));
            let there: Vec<PeerKey> = there.collect();
            for key in &there {
                let found = || self.traffic.played(now, *key, &owners);
                played.entry(*key).or_insert_with(found);
            }
            let there = || there.iter().filter_map(|key| played[key].as_ref());
            let published = self.traffic.published(now, publication);
            let known = (place, published);
            let usable = there().filter_map(|played| played.usable(now, known));
            let fitting = there().filter_map(|played| self.traffic.fitting(now, played, known));
            let usable = match self.recordings.has(&publisher.room) {
                // A recording uses everything that arrives.
                true => Some(most),
                false => usable.max(),
            };
            let rates = Usable {
                most: usable,
                fitting: fitting.min(),
                published,
            };
            let Origin::Peer(source) = origin else {
                if let Some((plane, rates)) = publication.tell_usable(rates) {
                    let publisher = publisher.clone();
                    let message = Message::Usable { publisher, rates };
                    self.traffic.relays.send(plane, message);
                }
                continue;
            };
            let rates = publication.with_elsewhere(rates);
            let usable = rates.most.unwrap_or(LEAST_MAX_RATE);
            let told = usable.max(LEAST_TOLD).min(most);
            let fitting = rates.fitting;
            let told = publication.fit(told, fitting, published).max(LEAST_TOLD);
            let taken = told.mul_f64(TAKEN).max(LEAST_TAKEN).min(most);
            self.peers
                .drive(source, |peer| peer.set_peer_limit(now, told));
            self.peers.limit_ingress(source, taken);
        }
    }
}
