//! Transfer of a plane's packets to the recorder.

use super::job::{Batch, Job};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use weft_forwarding::{Recorded, RecordedTrack};
use weft_units::Instant;

/// Maximum number of octets that wait for the disk; further packets are lost. Chosen by
/// us: ten seconds of 25 tracks of 2 Mbit/s.
const MOST_WAITING: usize = 64_000_000;
/// Octets that a packet needs in addition to its payload.
const OVERHEAD: usize = 200;

/// Sender of a plane's packets to the recorder. It belongs to the media thread, so it
/// never blocks.
pub(crate) struct Sink {
    plane: usize,
    jobs: Sender<Job>,
    /// Number of waiting octets of all planes.
    waiting: Arc<AtomicUsize>,
    messages: Vec<Recorded>,
    lost: BTreeMap<RecordedTrack, u64>,
    octets: usize,
}

impl Sink {
    pub(super) fn new(plane: usize, jobs: Sender<Job>, waiting: Arc<AtomicUsize>) -> Sink {
        Sink {
            plane,
            jobs,
            waiting,
            messages: Vec::new(),
            lost: BTreeMap::new(),
            octets: 0,
        }
    }

    /// Adds a message to the batch. If there is no space, a packet counts as lost, and
    /// the track continues with a keyframe.
    pub(crate) fn push(&mut self, message: Recorded) {
        if let Recorded::Packet { track, packet } = &message {
            let octets = packet.payload.len() + OVERHEAD;
            let waiting = self.waiting.load(Ordering::Relaxed) + self.octets;
            if waiting + octets > MOST_WAITING {
                *self.lost.entry(*track).or_default() += 1;
                return;
            }
            self.octets += octets;
        }
        self.messages.push(message);
    }

    /// Sends the batch.
    pub(crate) fn flush(&mut self, now: Instant) {
        if self.messages.is_empty() {
            return;
        }
        let octets = std::mem::take(&mut self.octets);
        self.waiting.fetch_add(octets, Ordering::Relaxed);
        let batch = Batch {
            plane: self.plane,
            now,
            messages: std::mem::take(&mut self.messages),
            lost: std::mem::take(&mut self.lost),
            octets,
        };
        let _ = self.jobs.send(Job::Media(batch));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use weft_wire::media::{ForwardedPacket, ForwardedPayload, SharedBytes};
    use weft_wire::payload::Content;

    fn packet(track: u64) -> Recorded {
        Recorded::Packet {
            track: RecordedTrack(track),
            packet: ForwardedPacket {
                sequence: 1,
                timestamp: 0,
                marker: true,
                audio_level: None,
                dependency: Box::default(),
                payload: ForwardedPayload::from(SharedBytes::from(vec![0; 1000])),
                keyframe: true,
                content: Content::Media,
            },
        }
    }

    #[test]
    fn packets_that_a_slow_disk_does_not_take_are_counted_and_bounded() {
        let (jobs, received) = channel();
        let waiting = Arc::default();
        let mut sink = Sink::new(0, jobs, Arc::clone(&waiting));
        let fit = MOST_WAITING / 1200;
        for n in 0..fit + 7 {
            sink.push(packet(3));
            if n % 100 == 0 {
                sink.flush(Instant::ZERO);
            }
        }
        let ended = Recorded::Ended {
            track: RecordedTrack(3),
        };
        sink.push(ended);
        sink.flush(Instant::ZERO);
        assert!(waiting.load(Ordering::Relaxed) <= MOST_WAITING);
        let (mut packets, mut lost) = (0, 0);
        while let Ok(Job::Media(batch)) = received.try_recv() {
            packets += batch.messages.len();
            lost += batch.lost.values().sum::<u64>();
            batch.release(&waiting);
        }
        assert_eq!(
            (packets, lost),
            (fit + 1, 7),
            "messages without media are kept"
        );
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }
}
