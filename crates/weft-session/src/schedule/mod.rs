//! Schedulers decide which packet goes over which path.
//!
//! To add one: a file here, a line in [`SchedulerKind`].

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

/// Figures of a live path that a scheduler may know.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// The association's number for it.
    pub id: PathId,
    /// The controller's target rate.
    pub rate: Rate,
    /// One-way delay over that of the quickest path, as the newest feedback
    /// shows it: standing queues of the link are in it.
    pub delay: Duration,
    /// One-way delay of what is sent now over that of the quickest path: as
    /// `delay`, and what was sent since then and still stands in the link's
    /// queue.
    pub reach: Duration,
    /// Bytes that wait for the pacer.
    pub queued: Bytes,
    /// Smoothed round-trip time (RFC 6298 section 2).
    pub srtt: Duration,
    /// The controller's loss fraction, 0 to 1.
    pub loss: f64,
    /// Rate that the controller measured to arrive.
    pub delivered: Option<Rate>,
    /// Sent and neither acknowledged nor lost.
    pub in_flight: Bytes,
    /// It was in danger lately: what goes over it may go over another one too.
    pub endangered: bool,
    /// Its losses are repaired too late, however short its queue.
    pub repairs_late: bool,
}

impl PathView {
    /// When `size` more bytes would have arrived (Converge, algorithm 1, with
    /// what waits already added to N·k and measured one-way delay for half a
    /// round trip).
    #[must_use]
    pub fn completion(&self, size: Bytes) -> Duration {
        let transmission = self.rate.time_for(self.queued + size);
        transmission.unwrap_or(Duration::from_secs(3600)) + self.delay
    }
}

/// Kind of a packet. The first five are those of Converge, table 2, highest
/// priority first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Sent again.
    Retransmission,
    /// Part of a keyframe.
    Keyframe,
    /// Parameters of a group of frames (H.264 SPS).
    SequenceParameters,
    /// Parameters of a frame (H.264 PPS).
    PictureParameters,
    /// Made of others, to repair what is lost of them (FEC).
    Repair,
    /// A whole frame of sound.
    Audio,
    /// Part of a frame that refers to others.
    Delta,
}

impl Class {
    /// Returns the class of a stream's packets when they go out for the first
    /// time, unless they are anything more special.
    #[must_use]
    pub fn of(kind: MediaKind, keyframe: bool) -> Class {
        match (kind, keyframe) {
            (MediaKind::Audio, _) => Class::Audio,
            (MediaKind::Video, true) => Class::Keyframe,
            (MediaKind::Video, false) => Class::Delta,
        }
    }

    /// Returns the class of a packet of this class that carries this alone.
    #[must_use]
    pub fn carrying(self, content: Content) -> Class {
        match content {
            Content::Media => self,
            Content::SequenceParameters => Class::SequenceParameters,
            Content::PictureParameters => Class::PictureParameters,
        }
    }

    /// Whether the fast path is for it (Converge, table 2).
    #[must_use]
    pub fn has_priority(self) -> bool {
        self <= Class::Repair
    }
}

/// Packets that are scheduled together: a frame, as a rule.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The stream that they belong to.
    pub stream: StreamId,
    /// Class of the batch: a keyframe remains one though it brings its
    /// parameters.
    pub class: Class,
    /// Class of each packet, in sending order.
    pub classes: &'a [Class],
    /// Their sizes, in the same order.
    pub sizes: &'a [Bytes],
    /// The path whose packets they repair, if they are repair packets of one.
    pub made_for: Option<PathId>,
}

/// Where one packet goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The path whose numbers it bears.
    pub path: PathId,
    /// Paths that get it as well: the same bytes at the same time. Pictures get
    /// a number of their own there, and leave when the path has room, if the
    /// session treats late packets ([`Behaviour`]).
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

/// One assignment for each packet of a batch. Forwarded packets come one by one,
/// and one needs no memory from the system.
pub type Assignments = SmallVec<[Assignment; 1]>;

/// List with an entry for each of some paths. A call has a few, and a few need no
/// memory from the system.
pub(crate) type PathList<T> = SmallVec<[T; 4]>;

/// Decides which packet goes over which path, and what the paths are worth
/// together.
pub trait Scheduler: Send {
    /// One assignment for each packet of the batch, in order. `paths` are live,
    /// in ascending order of id, and never empty.
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments;

    /// Returns the rate of these paths together.
    fn rate(&self, paths: &[PathView]) -> Rate;

    /// Takes in the receiver's account of what a path did to a frame; `paths`
    /// are live.
    fn on_quality(&mut self, _now: Instant, _quality: &Quality, _paths: &[PathView]) {}

    /// The association found a path dead.
    fn on_path_down(&mut self, _now: Instant, _path: PathId) {}

    /// A path has left for good: nothing about it is kept, since a later path
    /// may have its id.
    fn on_path_removed(&mut self, _path: PathId) {}

    /// A stream has left for good.
    fn on_stream_removed(&mut self, _stream: StreamId) {}

    /// How a path is used.
    fn usage(&self, _path: PathId) -> PathUse {
        PathUse::default()
    }

    /// Duties of the session beside this scheduler, in a call with this
    /// preference.
    fn behaviour(&self, _preference: Preference) -> Behaviour {
        Behaviour::default()
    }

    /// The one path that it uses, also while that is under suspicion.
    fn keeps_to(&self) -> Option<PathId> {
        None
    }

    /// Until when nothing can be sent, though there are paths; asked after
    /// [`Scheduler::on_path_down`].
    fn resumes_at(&self) -> Option<Instant> {
        None
    }
}

/// Receiver's account of what a path did to a frame (Converge, section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quality {
    /// The frame's stream.
    pub stream: StreamId,
    /// The association's number for it.
    pub path: PathId,
    /// Packets that it brought before the fast path's last, or, negative,
    /// after.
    pub alpha: i32,
    /// Frame construction delay.
    pub construction: Duration,
}

/// How a scheduler uses a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathUse {
    /// Whether media goes over it.
    pub state: PathMode,
    /// How often it was disabled because of what the receiver said.
    pub disabled: u64,
    /// How often it was enabled again.
    pub enabled: u64,
}

/// Whether media goes over a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathMode {
    /// It does.
    #[default]
    Enabled,
    /// Nothing but probes does.
    Disabled,
}

/// Each packet on the path where it completes first, given those before it.
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

/// Arrival within this of the quickest path is worth waiting for. The cap on
/// skew of `Chromium`'s replay window and jitter buffer; chosen by us within
/// the measured 100 to 200 ms.
pub(crate) const SKEW_CAP: Duration = Duration::from_millis(100);

/// A path whose round trip is longer repairs a loss too late: feedback and the
/// pacer come on top, and a picture that waits for 200 ms is a freeze. Chosen by
/// us (`docs/protocol/calm.md`).
pub(crate) const LATEST_REPAIR: Duration = Duration::from_millis(170);

#[cfg(test)]
mod tests;
