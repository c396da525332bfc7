//! Snapshot of all counters.

use super::Session;
use crate::path::Path;
use crate::stats::{PathStats, SenderStats, Stats};

impl PathStats {
    fn of(session: &Session, path: &Path) -> PathStats {
        let snapshot = path.controller.snapshot();
        PathStats {
            path: path.id,
            state: path.state,
            policy: session.path_policy(path.id),
            rtt: path.rtt.smoothed(),
            target_rate: snapshot.target,
            acknowledged_rate: snapshot.acked,
            loss: snapshot.loss,
            controller_state: snapshot.state,
            sent_packets: path.counters.sent_packets,
            sent_bytes: path.counters.sent_bytes,
            acknowledged_packets: path.counters.acknowledged_packets,
            lost_packets: path.counters.lost_packets,
            marked_packets: path.marking.marked,
            ecn: path.marking.state(),
            received_packets: path.counters.received_packets,
            received_bytes: path.counters.received_bytes,
            queued: path.queue.bytes(),
            quality: path.quality,
            usage: session.path_use(path.id),
        }
    }
}

impl Session {
    /// Returns the figures of every path.
    pub fn path_stats(&self) -> impl Iterator<Item = PathStats> {
        self.paths().map(|path| PathStats::of(self, path))
    }
}

impl Stats {
    pub(crate) fn of(session: &Session) -> Stats {
        let senders = session.senders().map(|(stream, s)| SenderStats {
            stream,
            frames: s.counters.frames,
            packets: s.counters.packets,
            media_packets: s.counters.media,
            repair_packets: s.repair.as_ref().map_or(0, |r| r.sent),
            retransmissions: s.counters.retransmissions,
            nacked: s.counters.nacked,
            nacks_ignored: s.counters.nacks_ignored,
            keyframes_requested: s.counters.keyframes_requested,
        });
        Stats {
            paths: session.path_stats().collect(),
            senders: senders.collect(),
            receivers: session.receivers().map(|(id, s)| (id, s.stats())).collect(),
            target_rate: session.target_rate(),
            drops: session.drops(),
        }
    }
}
