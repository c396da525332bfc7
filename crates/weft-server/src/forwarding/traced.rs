//! Traces of a plane: all packets without protection, and the events of its connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use weft_forwarding::{Plane, PlaneId, Publisher};
use weft_net::Clock;
use weft_peer::{CapturedPacket, Peer, PeerKey};
use weft_trace::call::path_state;
use weft_trace::live::Tracer;
use weft_trace::peers::{self, PathValues, SAMPLE_EVERY};
use weft_units::{Deadline, Instant, PathId};

/// Way to the files.
pub(super) struct Traces {
    tracer: Tracer,
    clock: Clock,
    plane: PlaneId,
    next_sample: Instant,
    peers: BTreeMap<PeerKey, TracedPeer>,
}

/// Values of a connection that were logged last.
#[derive(Default)]
struct TracedPeer {
    states: BTreeMap<PathId, &'static str>,
    values: PathValues,
}

impl Traces {
    pub(super) fn new(tracer: Tracer, clock: Clock, plane: PlaneId) -> Traces {
        Traces {
            tracer,
            clock,
            plane,
            next_sample: clock.now(),
            peers: BTreeMap::new(),
        }
    }

    /// Captures a packet, and logs its path. Its interface has the name of the connection:
    /// room, participant and purpose.
    pub(super) fn on_packet(
        &self,
        now: Instant,
        (plane, key): (&Plane, PeerKey),
        captured: CapturedPacket,
    ) {
        let event = self.tracer.has_events();
        let event = event.then(|| peers::packet_event(&captured)).flatten();
        if let Some((name, data)) = event {
            self.log(now, key, name, data);
        }
        // A connection that has been closed since has no name.
        if let (true, Some((owner, purpose))) = (self.tracer.has_packets(), plane.owner(key)) {
            let Publisher { room, participant } = owner;
            let interface = Arc::from(format!("{room}/{participant} {}", purpose.name()));
            let at = self.clock.unix(now);
            self.tracer.packet(peers::packet(interface, at, captured));
        }
    }

    /// Returns the time of the next look, while there are connections to look at.
    pub(super) fn poll_timeout(&self, plane: &Plane) -> Option<Deadline> {
        let mut peers = plane.peers().iter();
        let is_idle = self.peers.is_empty() && peers.next().is_none();
        (self.tracer.has_events() && !is_idle).then_some(Deadline {
            at: self.next_sample,
            reason: "trace",
        })
    }

    /// Logs what has changed since the last look.
    pub(super) fn handle_timeout(&mut self, now: Instant, plane: &Plane) {
        if !self.tracer.has_events() || now < self.next_sample {
            return;
        }
        self.next_sample = now + SAMPLE_EVERY;
        let gone = self.peers.keys().copied();
        let gone: Vec<PeerKey> = gone
            .filter(|key| plane.peers().get(*key).is_none())
            .collect();
        for key in gone {
            self.peers.remove(&key);
            self.log(now, key, "call:connection_closed", json!({}));
        }
        for (key, peer) in plane.peers().iter() {
            if !self.peers.contains_key(&key) {
                self.begin(now, plane, (key, peer));
            }
            self.sample(now, key, peer);
        }
    }

    fn begin(&mut self, now: Instant, plane: &Plane, (key, peer): (PeerKey, &Peer)) {
        let mut data = json!({ "level": peer.session().level().name() });
        if let Some((owner, purpose)) = plane.owner(key) {
            data["room"] = owner.room.clone().into();
            data["participant"] = owner.participant.clone().into();
            data["purpose"] = purpose.name().into();
        }
        self.peers.insert(key, TracedPeer::default());
        self.log(now, key, "call:connection_started", data);
    }

    fn sample(&mut self, now: Instant, key: PeerKey, peer: &Peer) {
        let paths: Vec<_> = peer.session().path_stats().collect();
        let traced = self.peers.entry(key).or_default();
        let mut changes = Vec::new();
        let there = |path: &PathId| paths.iter().any(|p| p.path == *path);
        for (path, _) in traced.states.extract_if(.., |path, _| !there(path)) {
            traced.values.forget(path);
            changes.push(("call:path_removed", json!({ "path": path.0 })));
        }
        for path in &paths {
            let (id, new) = (path.path, path.state.name());
            let old = traced.states.insert(id, new);
            if let (None, Some(known)) = (old, peer.association().path(id)) {
                let tuple = known.tuple;
                let data = json!({
                    "path": id.0, "local": tuple.local, "remote": tuple.remote,
                    "transport": tuple.transport.name(),
                });
                changes.push(("call:path_assigned", data));
            }
            if old != Some(new) {
                let data = path_state(id.0.into(), new, old);
                changes.push(("call:path_state_updated", data));
            }
        }
        let values = traced.values.changed(peer, &paths).into_iter();
        changes.extend(values.map(|data| ("call:path_metrics_updated", data)));
        for (name, data) in changes {
            self.log(now, key, name, data);
        }
    }

    /// Logs an event. Connections of all planes have numbers of their own.
    fn log(&self, now: Instant, key: PeerKey, name: &'static str, data: Value) {
        let group = key.0 * weft_forwarding::MAX_PLANES as u64 + self.plane.number() as u64;
        self.tracer.event(self.clock.unix(now), group, name, data);
    }
}
