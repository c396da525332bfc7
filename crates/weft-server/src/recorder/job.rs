//! Work of the thread that writes recordings, and its reports.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::oneshot;
use weft_forwarding::{Recorded, RecordedTrack};
use weft_record::RecorderError;
use weft_units::{Codec, Instant};

/// Event of a recording.
#[derive(Debug)]
pub(crate) enum RecordingEvent {
    /// A recording without a waiting caller has started.
    Started { room: String, folder: PathBuf },
    /// The recording of a room has ended because of an error. The recorded part is kept.
    Failed { room: String, error: String },
    /// The files of a recording are complete, as far as the disk accepted them.
    Ready { room: String, folder: PathBuf },
    /// A participant's video has a codec that cannot be recorded.
    NotRecorded { room: String, codec: Codec },
    /// The disk was too slow: packets are missing in the recording of a room.
    Slow { room: String, packets: u64 },
    /// All earlier events have been sent; for the sender of the request.
    Flushed(oneshot::Sender<()>),
}

/// Work for the thread.
pub(super) enum Job {
    Start {
        room: String,
        /// Ids and names of the participants.
        names: Vec<(String, String)>,
        /// If `None`, the answer is an event.
        reply: Option<oneshot::Sender<Result<PathBuf, RecorderError>>>,
    },
    Stop {
        room: String,
        reply: oneshot::Sender<()>,
    },
    /// End the recording here, because another server records the room.
    Yield {
        room: String,
    },
    Name {
        room: String,
        id: String,
        name: String,
    },
    Media(Batch),
    Flush(oneshot::Sender<()>),
    /// A plane has failed; it sends no more packets of its tracks.
    PlaneLost(usize),
    End,
}

/// Function that requests a keyframe from the publisher of a plane's recorded track.
pub(crate) type AskKeyframe = Box<dyn Fn(usize, RecordedTrack) + Send>;

/// Messages of one turn of a plane.
pub(super) struct Batch {
    pub(super) plane: usize,
    pub(super) now: Instant,
    pub(super) messages: Vec<Recorded>,
    /// Number of packets lost because the disk was too slow.
    pub(super) lost: BTreeMap<RecordedTrack, u64>,
    pub(super) octets: usize,
}

impl Batch {
    /// Releases the space of this batch.
    pub(super) fn release(&self, waiting: &AtomicUsize) {
        waiting.fetch_sub(self.octets, Ordering::Relaxed);
    }
}
