//! Traces of the peers: unencrypted packets, and events.

use serde_json::{Value, json};
use weft_ice::Event as IceEvent;
use weft_net::Context;
use weft_peer::{CapturedPacket, Event, Peer, PeerKey, StreamDirection};
use weft_secure::Event as AssociationEvent;
use weft_trace::peers::SAMPLE_EVERY;
use weft_units::Instant;

use super::Caller;

impl Caller {
    /// Starts to trace a peer.
    pub(super) fn trace_peer(&mut self, now: Instant, key: PeerKey, peer: &mut Peer) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        peer.capture_packets();
        let streams = peer.streams().iter().map(|stream| {
            let direction = match stream.direction {
                StreamDirection::Send => "send",
                StreamDirection::Receive => "receive",
            };
            json!({
                "stream": stream.stream.0, "direction": direction,
                "codec": stream.codec().name(), "ssrc": stream.ssrc.map(|ssrc| ssrc.0),
            })
        });
        let data = json!({
            "level": peer.session().level().name(),
            "scheduler": self.sending.scheduler.to_string(),
            "protection": self.sending.protection.name(),
            "controller": self.sending.controller.to_string(),
            "streams": streams.collect::<Vec<Value>>(),
        });
        tracing.begin(key);
        tracing.event(now, key, "call:connection_started", data);
    }

    pub(super) fn trace_event(&mut self, now: Instant, key: PeerKey, event: &Event) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        match event {
            Event::Association(event) => {
                let link = match event {
                    AssociationEvent::Ice(IceEvent::PathUp { link, .. }) => {
                        self.following.links.name(*link)
                    }
                    _ => "",
                };
                tracing.on_association(now, key, link, event);
            }
            Event::Session(event) => tracing.on_session(now, key, event),
            Event::AddressWanted { .. } | Event::Data(_) | Event::Packet(_) => {}
        }
    }

    pub(super) fn trace_packet(&self, now: Instant, key: PeerKey, packet: CapturedPacket) {
        let Some(tracing) = &self.tracing else {
            return;
        };
        let link = self.peers.get(&key).and_then(|p| p.links.get(&packet.path));
        // The path has been removed since.
        let Some(link) = link else { return };
        tracing.on_packet(now, key, link, packet);
    }

    /// Traces values of all peers, and schedules the next sample.
    pub(super) fn trace_samples(&mut self, context: &mut Context<'_>) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        for key in self.peers.keys() {
            if let Some(peer) = context.peers().get(*key) {
                tracing.sample(context.now, *key, peer);
            }
        }
        tracing.next_sample = context.now + SAMPLE_EVERY;
    }

    pub(super) fn trace_end(&mut self, now: Instant, key: PeerKey) {
        if let Some(tracing) = &mut self.tracing
            && tracing.end(key)
        {
            tracing.event(now, key, "call:connection_closed", json!({}));
        }
    }
}
