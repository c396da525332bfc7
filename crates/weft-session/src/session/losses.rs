//! Outcome of sent packets: arrived, lost, or held by a path that the sender no longer
//! waits for.

use weft_units::{Instant, PathId, StreamId};

use super::Session;
use crate::config::Level;
use crate::path::{Carried, Content, Path, Purpose, Waiting};
use crate::send::Receipt;

impl Session {
    /// Handles feedback that a transmission on this path arrived.
    pub(super) fn on_acknowledged(&mut self, path: PathId, carried: Carried) {
        // Janus, which reports rarely, reports RTX packets but may drop them.
        let is_doubtful = carried.content == Content::Again
            && self.level != Level::Full
            && self.paths.get(&path).is_some_and(Path::reports_rarely);
        let Some(stream) = self.streams.senders.get_mut(&carried.stream) else {
            return;
        };
        match (carried.content, &mut stream.repair) {
            (Content::Repair, Some(repair)) => repair.on_repair_arrived(carried.sequence),
            (Content::Repair, None) => {}
            (Content::Media | Content::Again, repair) => {
                if let Some(repair) = repair {
                    repair.on_arrived(carried.sequence);
                }
                let receipt = match is_doubtful {
                    true => Receipt::AsRtx,
                    false => Receipt::Arrived,
                };
                stream.acknowledge(carried.sequence, receipt);
            }
        }
    }

    /// Handles feedback that a transmission is lost: sends again the packets that no
    /// repair packet can recover.
    pub(super) fn on_lost(&mut self, now: Instant, path: PathId, number: u64, carried: Carried) {
        if !self.repairs_by_path() {
            return;
        }
        let is_current = self.is_current(path, number, carried);
        let repair = self.streams.senders.get_mut(&carried.stream);
        let Some(repair) = repair.and_then(|s| s.repair.as_mut()) else {
            self.retransmit_if_current(now, path, number, carried);
            return;
        };
        let due = match carried.content {
            Content::Repair => repair.on_repair_lost(carried.sequence),
            Content::Media | Content::Again if is_current => repair.on_lost(carried.sequence),
            Content::Media | Content::Again => Vec::new(),
        };
        for sequence in due {
            self.protecting.protection.on_unrepaired(now, path);
            self.retransmit(now, carried.stream, sequence);
        }
    }

    /// Gives up a repair packet that did not leave, or whose path died.
    pub(super) fn give_up_repair(&mut self, now: Instant, id: StreamId, sequence: u64) {
        let repair = self
            .streams
            .senders
            .get_mut(&id)
            .and_then(|s| s.repair.as_mut());
        let due = repair.map(|r| r.on_repair_lost(sequence));
        for sequence in due.unwrap_or_default() {
            self.retransmit(now, id, sequence);
        }
    }

    /// Sends a packet again if the lost transmission is its latest and only one: a lost
    /// copy is retransmitted only when the receiver requests it.
    pub(super) fn retransmit_if_current(
        &mut self,
        now: Instant,
        path: PathId,
        number: u64,
        carried: Carried,
    ) {
        if self.is_current(path, number, carried) {
            self.retransmit(now, carried.stream, carried.sequence);
        }
    }

    /// Reschedules packets that wait on a path that the sender no longer waits for.
    pub(super) fn schedule_again(&mut self, now: Instant, waiting: Vec<Waiting>) {
        for waiting in waiting {
            let (stream, sequence) = (waiting.stream, waiting.sequence);
            match waiting.purpose {
                Purpose::Retransmission => {
                    self.clear_queued_again(stream, sequence);
                    self.retransmit(now, stream, sequence);
                }
                // The packet is already sent elsewhere.
                Purpose::Copy | Purpose::Padding => {}
                Purpose::Repair => self.give_up_repair(now, stream, sequence),
                Purpose::Audio | Purpose::Video => {
                    if let Some(sender) = self.streams.senders.get(&stream) {
                        let class = sender.class(sequence);
                        self.schedule(now, stream, class, &[sequence]);
                    }
                }
            }
        }
    }

    /// Immediately sends packets that wait or are in flight on a path that the sender no
    /// longer waits for over the other paths, starting with the newest frame.
    pub(super) fn send_elsewhere(
        &mut self,
        now: Instant,
        from: PathId,
        waiting: Vec<Waiting>,
        in_flight: Vec<(u64, Carried)>,
    ) {
        let newest_first = self.newest_frames_first(in_flight);
        for (number, carried) in newest_first {
            if carried.content == Content::Repair {
                self.give_up_repair(now, carried.stream, carried.sequence);
            }
            self.retransmit_if_current(now, from, number, carried);
        }
        self.schedule_again(now, waiting);
    }

    /// Sorts the frames from new to old, the packets of each in order.
    pub(super) fn newest_frames_first(&self, mut lost: Vec<(u64, Carried)>) -> Vec<(u64, Carried)> {
        let timestamp = |c: &Carried| {
            let packet = self
                .streams
                .senders
                .get(&c.stream)
                .and_then(|s| s.get(c.sequence));
            packet.map_or(Instant::ZERO, |p| p.created_at)
        };
        lost.sort_by_cached_key(|(_, c)| (std::cmp::Reverse(timestamp(c)), c.stream, c.sequence));
        lost
    }
}
