//! Tracer of the peers' packets and events, with the last traced values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use weft_ice::Event as IceEvent;
use weft_net::Clock;
use weft_peer::{CapturedPacket, Peer, PeerKey};
use weft_secure::Event as AssociationEvent;
use weft_session::{Event as SessionEvent, PathState};
use weft_trace::call::path_state;
use weft_trace::live::Tracer;
use weft_trace::peers::{self, PathValues};
use weft_units::{Instant, PathId, StreamId};

/// Tracer, and the last traced values.
pub(super) struct Tracing {
    tracer: Tracer,
    clock: Clock,
    pub next_sample: Instant,
    peers: BTreeMap<PeerKey, TracedPeer>,
}

#[derive(Default)]
struct TracedPeer {
    states: BTreeMap<PathId, PathState>,
    values: PathValues,
    /// Frames so far.
    frames: BTreeMap<StreamId, u64>,
    /// Bytes of frames since the last sample.
    encoded: usize,
}

impl Tracing {
    pub fn new(tracer: Tracer, clock: Clock) -> Tracing {
        Tracing {
            tracer,
            clock,
            next_sample: clock.now(),
            peers: BTreeMap::new(),
        }
    }

    /// Starts tracing a peer.
    pub fn begin(&mut self, key: PeerKey) {
        self.peers.insert(key, TracedPeer::default());
    }

    /// Stops tracing a peer; false if tracing never started.
    pub fn end(&mut self, key: PeerKey) -> bool {
        self.peers.remove(&key).is_some()
    }

    pub fn event(&self, now: Instant, key: PeerKey, name: &'static str, data: Value) {
        self.tracer.event(self.clock.unix(now), key.0, name, data);
    }

    /// Traces a frame sent to a peer.
    pub fn on_frame(
        &mut self,
        now: Instant,
        (key, stream): (PeerKey, StreamId),
        frame: &weft_session::Frame<'_>,
    ) {
        let peer = self.peers.entry(key).or_default();
        let number = peer.frames.entry(stream).or_default();
        let data = json!({
            "stream": stream.0, "frame": *number, "bytes": frame.data.len(),
            "keyframe": frame.keyframe, "rtp_timestamp": frame.timestamp,
        });
        *number += 1;
        peer.encoded += frame.data.len();
        self.event(now, key, "call:frame_encoded", data);
    }

    pub fn on_association(
        &mut self,
        now: Instant,
        key: PeerKey,
        link: &str,
        event: &AssociationEvent,
    ) {
        match event {
            AssociationEvent::Ice(IceEvent::PathUp { path, tuple, .. }) => {
                let peer = self.peers.entry(key).or_default();
                if peer.states.contains_key(path) {
                    return;
                }
                let data = json!({
                    "path": path.0, "links": link, "local": tuple.local, "remote": tuple.remote,
                    "transport": tuple.transport.name(),
                });
                self.event(now, key, "call:path_assigned", data);
            }
            AssociationEvent::Ice(IceEvent::PathRemoved { path }) => {
                let peer = self.peers.entry(key).or_default();
                peer.values.forget(*path);
                peer.states.remove(path);
                self.event(now, key, "call:path_removed", json!({ "path": path.0 }));
            }
            AssociationEvent::Connected { .. } => {
                self.event(now, key, "call:connected", json!({}));
            }
            AssociationEvent::Failed { reason } => {
                let data = json!({ "reason": reason.to_string() });
                self.event(now, key, "call:connection_failed", data);
            }
            _ => {}
        }
    }

    pub fn on_session(&mut self, now: Instant, key: PeerKey, event: &SessionEvent) {
        let (name, data) = match event {
            SessionEvent::PathStateChanged { path, state } => {
                let peer = self.peers.entry(key).or_default();
                let old = peer.states.insert(*path, *state).map(PathState::name);
                let data = path_state(path.0.into(), state.name(), old);
                ("call:path_state_updated", data)
            }
            SessionEvent::KeyframeRequested { stream } => {
                ("call:keyframe_requested", json!({ "stream": stream.0 }))
            }
            SessionEvent::FrameReceived { stream, frame } => {
                let waited = now.saturating_since(frame.complete_at).as_millis_f64();
                let paths = frame.paths.iter();
                let paths = paths.map(|p| json!({ "path": p.path.0, "packets": p.packets }));
                let data = json!({
                    "stream": stream.0, "bytes": frame.data.len(), "keyframe": frame.keyframe,
                    "rtp_timestamp": frame.timestamp, "waited": waited,
                    "paths": paths.collect::<Vec<Value>>(),
                });
                ("call:frame_shown", data)
            }
            SessionEvent::StreamEnded { stream } => {
                ("call:stream_ended", json!({ "stream": stream.0 }))
            }
            SessionEvent::TargetRateChanged { .. } | SessionEvent::PacketReceived { .. } => return,
        };
        self.event(now, key, name, data);
    }

    /// Traces a packet; its interface in the file has the name of its link.
    pub fn on_packet(&self, now: Instant, key: PeerKey, link: &Arc<str>, captured: CapturedPacket) {
        let event = self
            .tracer
            .has_events()
            .then(|| peers::packet_event(&captured));
        if let Some((name, data)) = event.flatten() {
            self.event(now, key, name, data);
        }
        if self.tracer.has_packets() {
            let at = self.clock.unix(now);
            let packet = peers::packet(Arc::clone(link), at, captured);
            self.tracer.packet(packet);
        }
    }

    /// Traces the values of a peer that have changed.
    pub fn sample(&mut self, now: Instant, key: PeerKey, peer: &Peer) {
        let stats = peer.session().stats();
        let traced = self.peers.entry(key).or_default();
        let encoders = json!({
            "target_rate": stats.target_rate.as_bps(),
            "encoded_bytes": std::mem::take(&mut traced.encoded),
        });
        let changed = traced.values.changed(peer, &stats.paths);
        if !stats.senders.is_empty() {
            self.event(now, key, "call:encoders_updated", encoders);
        }
        for data in changed {
            self.event(now, key, "call:path_metrics_updated", data);
        }
    }
}
