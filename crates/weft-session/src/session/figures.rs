//! Snapshot of all counters.

use super::Session;
use crate::stats::{PathStats, SenderStats, Stats};

impl Stats {
    pub(crate) fn of(session: &Session) -> Stats {
        let paths = session.paths().map(|path| {
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
        });
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
            paths: paths.collect(),
            senders: senders.collect(),
            receivers: session.receivers().map(|(id, s)| (id, s.stats())).collect(),
            target_rate: session.target_rate(),
            drops: session.drops(),
        }
    }
}
