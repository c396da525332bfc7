//! Events and packets of a real call's peers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use weft_peer::{CapturedPacket, PacketWay, Peer};
use weft_session::{PathStats, Protocol};
use weft_units::{Duration, PathId};
use weft_wire::rtp;

use crate::call::PathMetrics;
use crate::live::Packet;
use crate::pcapng::Direction;

/// Interval at which values of paths, controllers and encoders are looked at, as in the
/// simulator.
pub const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// Values of a peer's paths and their controllers, as they were logged last.
#[derive(Debug, Default)]
pub struct PathValues(BTreeMap<PathId, Value>);

impl PathValues {
    /// Returns the data of `call:path_metrics_updated` for each path whose values have
    /// changed.
    pub fn changed(&mut self, peer: &Peer, paths: &[PathStats]) -> Vec<Value> {
        let mut changed = Vec::new();
        for path in paths {
            let data = path_metrics(peer, path);
            if self.0.get(&path.path) != Some(&data) {
                self.0.insert(path.path, data.clone());
                changed.push(data);
            }
        }
        changed
    }

    /// Forgets a path that has been removed.
    pub fn forget(&mut self, path: PathId) {
        self.0.remove(&path);
    }
}

fn path_metrics(peer: &Peer, path: &PathStats) -> Value {
    let metrics = PathMetrics {
        path: path.path.0.into(),
        target_rate: path.target_rate,
        rtt: path.rtt,
        loss: path.loss,
        queued: path.queued,
        marked_packets: path.marked_packets,
        ecn: path.ecn.to_string(),
        controller_state: path.controller_state,
    };
    let internals = peer.session().controller_internals(path.path).into_iter();
    metrics.data(internals.map(|internal| (internal.name, internal.value)))
}

/// Returns name and data of the event of an RTP packet: the scheduler's choice, or that of
/// the peer. Other packets have none.
#[must_use]
pub fn packet_event(captured: &CapturedPacket) -> Option<(&'static str, Value)> {
    if captured.protocol != Protocol::Rtp {
        return None;
    }
    let header = rtp::peek(&captured.packet).ok()?;
    let name = match captured.way {
        PacketWay::Sent => "call:packet_sent",
        PacketWay::Received => "call:packet_received",
    };
    let data = json!({
        "path": captured.path.0, "ssrc": header.ssrc.0, "sequence_number": header.sequence,
        "payload_type": header.payload_type, "bytes": captured.packet.len(),
    });
    Some((name, data))
}

/// Returns the packet for a capture, on this interface and at a time since 1970.
#[must_use]
pub fn packet(interface: Arc<str>, at: Duration, captured: CapturedPacket) -> Packet {
    let tuple = captured.tuple;
    let (direction, from, to) = match captured.way {
        PacketWay::Sent => (Direction::Outbound, tuple.local, tuple.remote),
        PacketWay::Received => (Direction::Inbound, tuple.remote, tuple.local),
    };
    Packet {
        interface,
        at,
        direction,
        from,
        to,
        content: captured.packet,
    }
}
