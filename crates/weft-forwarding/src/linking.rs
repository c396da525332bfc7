//! Planes of one server: the datagrams that each passes to another, and the messages
//! between them.

use crate::plane::Plane;
use crate::publication::Origin;
use crate::publisher::Publisher;
use crate::relay::{Announced, Message, PlaneId, Relayed};
use weft_peer::{is_stun, stun_user_name};
use weft_units::{Ecn, FiveTuple, Instant};

impl Plane {
    /// Joins this plane and another one of its server, which must do the same. Both have the same
    /// addresses but different numbers ([`Settings::of_plane`](crate::Settings::of_plane)).
    pub fn link(&mut self, now: Instant, plane: PlaneId) {
        self.now = now;
        self.steering.link(plane);
        for (publisher, publication) in &self.publications {
            if let Some(announced) = publication.announced() {
                let message = Message::Published {
                    publisher: publisher.clone(),
                    publication: Some(announced),
                };
                self.traffic.relays.send(plane, message);
            }
        }
        self.claim_routes(plane);
    }

    /// Announces the addresses of all peers heard here to another plane. A plane that replaces a
    /// failed one knows none of them, and would drop their media until the next check.
    fn claim_routes(&mut self, plane: PlaneId) {
        for (_, peer) in self.peers.iter() {
            let routes = peer.association().routes();
            for route in routes.filter(|route| route.is_valid) {
                let message = Message::Claimed {
                    tuple: route.tuple,
                    proved: true,
                };
                self.traffic.relays.send(plane, message);
            }
        }
    }

    /// Forgets another plane, which has ended, and all its publications.
    pub fn unlink(&mut self, now: Instant, plane: PlaneId) {
        self.now = now;
        self.steering.unlink(plane);
        let all: Vec<Publisher> = self.publications.keys().cloned().collect();
        for publisher in all {
            self.withdraw(now, plane, &publisher);
        }
        self.traffic.unlink(plane);
    }

    /// Handles a message from another plane. Messages from planes that are not linked are
    /// dropped.
    pub fn handle_relayed(&mut self, now: Instant, from: PlaneId, Relayed(message): Relayed) {
        self.now = now;
        if !self.steering.is_linked(from) {
            return;
        }
        let (traffic, peers) = (&mut self.traffic, &mut self.peers);
        match message {
            Message::Packet { track, packet } => {
                traffic.on_relayed(now, peers, (from, track), packet);
            }
            Message::Datagram { tuple, ecn, octets } => {
                self.take_foreign(now, from, tuple, ecn, &octets);
            }
            Message::Claimed { tuple, proved } => {
                self.steering.claim(now, tuple, from, proved);
                self.run_maintenance(now);
            }
            Message::Published {
                publisher,
                publication: Some(announced),
            } => self.import(now, from, &publisher, announced),
            Message::Published {
                publisher,
                publication: None,
            } => self.withdraw(now, from, &publisher),
            Message::Wanted { track, wanted } => {
                traffic.set_exported(from, track, wanted);
                self.resume_wanted(now, &[track]);
            }
            Message::Said { topic, message } => self.pass_on(now, &topic, &message, None),
            Message::Interrupted => traffic.on_interrupted(now, peers, from),
            Message::KeyframeWanted { track } => traffic.on_keyframe_wanted(now, peers, track),
            Message::Usable { publisher, rates } => {
                if let Some(publication) = self.publications.get_mut(&publisher) {
                    publication.set_elsewhere(from, rates);
                }
            }
            Message::Demands { rates } => drop(traffic.elsewhere.insert(from, rates)),
        }
    }

    /// Imports or updates a publication of another plane.
    fn import(&mut self, now: Instant, from: PlaneId, publisher: &Publisher, announced: Announced) {
        let known = self.publications.get_mut(publisher);
        let origin = Origin::Plane(from, announced.source);
        if let Some(known) = known.filter(|p| p.origin() == Some(origin)) {
            known.set_streams(announced.streams);
        } else {
            let places = announced.places();
            self.end_players_of_another_codec(now, publisher, &places);
            let publication = self.publications.entry(publisher.clone()).or_default();
            let announced = (from, announced);
            self.traffic
                .import(now, &mut self.peers, publication, announced);
            self.apply_mute(now, publisher);
            self.enter_sound(publisher);
        }
        self.refresh_receptions(now, &publisher.room);
    }

    /// Removes a publication that another plane no longer has.
    fn withdraw(&mut self, now: Instant, from: PlaneId, publisher: &Publisher) {
        let Some(publication) = self.publications.get_mut(publisher) else {
            return;
        };
        publication.set_elsewhere(from, Default::default());
        let Some(origin @ Origin::Plane(plane, _)) = publication.origin() else {
            return;
        };
        if plane == from {
            publication.drop_source(origin);
            self.traffic.end_import(publication);
            self.remove_if_over(publisher);
            self.refresh_receptions(now, &publisher.room);
        }
    }

    /// Handles a datagram that arrived between these addresses with this ECN field.
    pub fn handle_datagram(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        self.now = now;
        match self.steering.is_alone() {
            true => self.take_datagram(now, tuple, ecn, datagram),
            false => self.steer(now, tuple, ecn, datagram),
        }
    }

    /// Passes a datagram from this plane's socket to its peer, or to the plane of its peer.
    fn steer(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        let name = stun_user_name(datagram);
        let is_own = self.peers.owner(tuple).is_some();
        let to = match name {
            Some(name) => self.steering.named(name),
            // A proof is newer than this plane's route, because a later proof here would
            // have ended it.
            None if is_own && !self.steering.is_proved(now, tuple) => None,
            None => self.steering.claimed(now, tuple),
        };
        // An answer to a check has no name; the keys show which peer it belongs to. Until
        // a peer has proved its presence, a forged check may have come first, so all
        // planes try the answer.
        let is_answer = name.is_none() && is_stun(datagram);
        let is_open = is_answer
            && (is_own || to.is_some())
            && !self.steering.is_proved(now, tuple)
            && !self.proves(tuple);
        let all = is_open.then(|| self.steering.linked().collect::<Vec<_>>());
        for plane in all.into_iter().flatten().chain(to.filter(|_| !is_open)) {
            let message = Message::Datagram {
                tuple,
                ecn,
                octets: datagram.to_vec(),
            };
            self.traffic.relays.send(plane, message);
        }
        if to.is_some() && !(is_own && is_answer) {
            return;
        }
        self.take_datagram(now, tuple, ecn, datagram);
        if name.is_some_and(|name| self.heard(tuple, name) == Some(true)) {
            self.steering.release(tuple);
        }
    }

    /// Handles a datagram from another plane's socket, and tells that plane who owns the
    /// addresses.
    fn take_foreign(
        &mut self,
        now: Instant,
        from: PlaneId,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) {
        let name = stun_user_name(datagram);
        if name.is_none() && self.peers.owner(tuple).is_none() {
            // An answer that all planes try, or the claim has ended.
            return;
        }
        self.take_datagram(now, tuple, ecn, datagram);
        let proved = match name {
            Some(name) => self.heard(tuple, name),
            // The answer that was the proof, or a later one.
            None if is_stun(datagram) => self.proves(tuple).then_some(true),
            None => None,
        };
        if let Some(proved) = proved {
            let message = Message::Claimed { tuple, proved };
            self.traffic.relays.send(from, message);
        }
    }

    /// Whether a peer of this plane has answered a check from these addresses.
    fn proves(&self, tuple: FiveTuple) -> bool {
        let owner = self.peers.owner(tuple).and_then(|key| self.peers.get(key));
        let mut routes = owner
            .into_iter()
            .flat_map(|peer| peer.association().routes());
        routes.any(|route| route.tuple == tuple && route.is_valid)
    }

    /// Whether the peer with this user name, which has sent an authenticated check between these
    /// addresses, has also answered one there. `None` if there is no such peer.
    fn heard(&self, tuple: FiveTuple, name: &str) -> Option<bool> {
        let peer = self.peers.get(self.peers.owner(tuple)?)?;
        let association = peer.association();
        let is_named = association.credentials().ufrag == name;
        let mut routes = association.routes().filter(|_| is_named);
        let route = routes.find(|route| route.tuple == tuple)?;
        Some(route.is_valid)
    }
}
