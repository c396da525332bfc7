//! Schedulers decide which packet takes which path.
//!
//! To add one, add a file here and a line in [`SchedulerKind`].

mod behaviour;
mod converge;
mod custom;
mod duplicate;
mod kind;
mod migrate;
mod min_rtt;
mod mprtp;
mod policy;
mod shares;
mod single;
mod sound;
mod throughput;
mod weft;

use smallvec::SmallVec;
use weft_units::{Bytes, Duration, Instant, MediaKind, PathId, Rate, StreamId};
use weft_wire::payload::Content;

use crate::preference::Preference;

pub use behaviour::{Behaviour, Cap, Caution, Lateness};
pub use custom::{CustomScheduler, MakeScheduler};
pub use kind::SchedulerKind;
pub use policy::{MINIMUM, Metering, Policy, PolicyError, Standing, Weight};
pub(crate) use policy::{Policies, SOUND};

/// State of a live path, as schedulers see it.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// The association's number for the path.
    pub id: PathId,
    /// The controller's target rate.
    pub rate: Rate,
    /// One-way delay above that of the quickest path according to the newest feedback,
    /// including standing queues of the link.
    pub delay: Duration,
    /// One-way delay of a packet sent now above that of the quickest path: as `delay`,
    /// plus the packets sent since then that are still in the link's queue.
    pub reach: Duration,
    /// Bytes that wait for the pacer.
    pub queued: Bytes,
    /// Smoothed round-trip time (RFC 6298 section 2).
    pub srtt: Duration,
    /// Loss fraction according to the controller, 0 to 1.
    pub loss: f64,
    /// Arrival rate that the controller measured.
    pub delivered: Option<Rate>,
    /// Bytes sent that are neither acknowledged nor lost.
    pub in_flight: Bytes,
    /// Whether it was in danger recently: its packets may also be sent over another path.
    pub endangered: bool,
    /// Whether its losses are repaired too late, even with an empty queue.
    pub repairs_late: bool,
}

impl PathView {
    /// Returns the time until `size` more bytes would have arrived (Converge, algorithm
    /// 1, with the waiting bytes already added to N·k, and a measured one-way delay
    /// instead of half a round trip).
    #[must_use]
    pub fn completion(&self, size: Bytes) -> Duration {
        let transmission = self.rate.time_for(self.queued + size);
        transmission.unwrap_or(Duration::from_secs(3600)) + self.delay
    }
}

/// Class of a packet. The first five are those of Converge, table 2, highest priority
/// first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Retransmission of a packet.
    Retransmission,
    /// Packet of a keyframe.
    Keyframe,
    /// Parameters of a group of frames (H.264 SPS).
    SequenceParameters,
    /// Parameters of a frame (H.264 PPS).
    PictureParameters,
    /// Repair packet, from which lost packets can be recovered (FEC).
    Repair,
    /// Complete frame of sound.
    Audio,
    /// Packet of a frame that refers to others.
    Delta,
}

impl Class {
    /// Returns the class of a stream's packets at their first transmission, unless a
    /// packet has a more special one.
    #[must_use]
    pub fn of(kind: MediaKind, keyframe: bool) -> Class {
        match (kind, keyframe) {
            (MediaKind::Audio, _) => Class::Audio,
            (MediaKind::Video, true) => Class::Keyframe,
            (MediaKind::Video, false) => Class::Delta,
        }
    }

    /// Returns the class of a packet of this class if it carries only this content.
    #[must_use]
    pub fn carrying(self, content: Content) -> Class {
        match content {
            Content::Media => self,
            Content::SequenceParameters => Class::SequenceParameters,
            Content::PictureParameters => Class::PictureParameters,
        }
    }

    /// Returns whether it uses the fast path (Converge, table 2).
    #[must_use]
    pub fn has_priority(self) -> bool {
        self <= Class::Repair
    }
}

/// Packets that are scheduled together, usually a frame.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Stream of the packets.
    pub stream: StreamId,
    /// Class of the batch: a keyframe that brings its parameters is still a keyframe.
    pub class: Class,
    /// Class of each packet, in sending order.
    pub classes: &'a [Class],
    /// Sizes of the packets, in the same order.
    pub sizes: &'a [Bytes],
    /// Path whose losses the packets repair, if they are repair packets for one path.
    pub made_for: Option<PathId>,
}

/// Paths of one packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// Path whose numbers it carries.
    pub path: PathId,
    /// Further paths that get it: the same bytes at the same time. If the session handles
    /// late packets ([`Behaviour`]), pictures get separate numbers there and leave when
    /// the path has room.
    pub copies: Vec<PathId>,
}

impl From<PathId> for Assignment {
    fn from(path: PathId) -> Assignment {
        Assignment {
            path,
            copies: Vec::new(),
        }
    }
}

/// One assignment for each packet of a batch. Forwarded packets come one by one, and a
/// single assignment needs no allocation.
pub type Assignments = SmallVec<[Assignment; 1]>;

/// List with an entry for each of several paths. A call has few paths, and a short list
/// needs no allocation.
pub(crate) type PathList<T> = SmallVec<[T; 4]>;

/// Decides which packet takes which path, and which rate the paths carry together.
pub trait Scheduler: Send {
    /// Returns one assignment for each packet of the batch, in order. `paths` are live,
    /// in ascending order of id, and never empty.
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments;

    /// Returns the total rate of these paths.
    fn rate(&self, paths: &[PathView]) -> Rate;

    /// Takes in the receiver's report of a path's effect on a frame; `paths` are live.
    fn on_quality(&mut self, _now: Instant, _quality: &Quality, _paths: &[PathView]) {}

    /// Records that the association found a path dead.
    fn on_path_down(&mut self, _now: Instant, _path: PathId) {}

    /// Forgets a path that was removed for good, because a later path may have its id.
    fn on_path_removed(&mut self, _path: PathId) {}

    /// Forgets a stream that was removed for good.
    fn on_stream_removed(&mut self, _stream: StreamId) {}

    /// Returns how the scheduler uses a path.
    fn usage(&self, _path: PathId) -> PathUse {
        PathUse::default()
    }

    /// Returns the session's tasks for this scheduler, in a call with this preference.
    fn behaviour(&self, _preference: Preference) -> Behaviour {
        Behaviour::default()
    }

    /// Returns the only path that it uses, even while that is suspect.
    fn keeps_to(&self) -> Option<PathId> {
        None
    }

    /// Returns until when nothing can be sent although there are paths; called after
    /// [`Scheduler::on_path_down`].
    fn resumes_at(&self) -> Option<Instant> {
        None
    }
}

/// Receiver's report of a path's effect on a frame (Converge, section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quality {
    /// Stream of the frame.
    pub stream: StreamId,
    /// The association's number for the path.
    pub path: PathId,
    /// Packets that it delivered before the fast path's last one, or, if negative, after
    /// it.
    pub alpha: i32,
    /// Frame construction delay.
    pub construction: Duration,
}

/// Use of a path by a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathUse {
    /// Whether the path carries media.
    pub state: PathMode,
    /// Number of times that the receiver's feedback disabled it.
    pub disabled: u64,
    /// Number of times that it was enabled again.
    pub enabled: u64,
}

/// Whether a path carries media.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathMode {
    /// It carries media.
    #[default]
    Enabled,
    /// It carries only probes.
    Disabled,
}

/// Assigns each packet to the path where it completes first, given the packets before it.
fn fastest_each(sizes: &[Bytes], paths: &[PathView]) -> Assignments {
    let mut paths = PathList::from_slice(paths);
    let mut out = Assignments::with_capacity(sizes.len());
    for &size in sizes {
        let fast = paths.iter_mut().min_by_key(|p| (p.completion(size), p.id));
        let Some(fast) = fast else { break };
        fast.queued += size;
        out.push(Assignment::from(fast.id));
    }
    out
}

/// Longest delay behind the quickest path for which waiting is worthwhile: the limit on
/// skew from `Chromium`'s replay window and jitter buffer; chosen by us within the
/// measured 100 to 200 ms.
pub(crate) const SKEW_CAP: Duration = Duration::from_millis(100);

/// Longest round trip at which a loss is repaired in time: feedback and the pacer add to
/// it, and a picture that waits for 200 ms is a freeze. Chosen by us
/// (`docs/protocol/calm.md`).
pub(crate) const LATEST_REPAIR: Duration = Duration::from_millis(170);

#[cfg(test)]
mod tests;
