//! Protections decide how many repair packets there are, and what is in them.
//!
//! To add one: a file here, a line in [`ProtectionKind`]. What they make is
//! sent and received as FlexFEC (RFC 8627), see `send/repair.rs` and
//! `receive/recovery.rs`.

mod none;
mod path_specific;
mod share;
mod webrtc_table;
mod weft;

use weft_units::{Bytes, Duration, Instant, PathId};

pub(crate) use share::RepairShare;

weft_units::named! {
    /// The built-in protections, by their names on the command line.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub enum ProtectionKind: "protection" {
        /// No repair packets: what is lost is sent again.
        None = "none",
        /// As libwebrtc protects: by its table of loss and frame size.
        WebrtcTable = "webrtc_table",
        /// Converge, section 4.3: by what each path loses.
        PathSpecific = "path_specific",
        /// Ours: the same, and more while a path is in doubt, or where a
        /// retransmission comes too late.
        #[default]
        Weft = "weft",
    }
}

impl ProtectionKind {
    pub(crate) fn build(self) -> Box<dyn Protection> {
        match self {
            ProtectionKind::None => Box::new(none::Nothing),
            ProtectionKind::WebrtcTable => Box::<webrtc_table::WebrtcTable>::default(),
            ProtectionKind::PathSpecific => Box::<path_specific::PathSpecific>::default(),
            ProtectionKind::Weft => Box::<weft::Weft>::default(),
        }
    }
}

/// A packet that no repair packet holds yet.
#[derive(Clone, Copy, Debug)]
pub struct Unprotected {
    /// Extended sequence number.
    pub sequence: u64,
    /// The path that it was given to.
    pub path: PathId,
    /// When that was.
    pub at: Instant,
    /// Whether no other path has a copy of it: of what goes twice no repair
    /// packet is made.
    pub goes_once: bool,
}

/// A frame that has been given to paths.
#[derive(Clone, Copy)]
pub struct FrameToProtect<'a> {
    /// Whether others depend on it and it on none.
    pub keyframe: bool,
    /// Bytes of payload.
    pub size: Bytes,
    /// Its packets in sending order, behind those of the frames before that no
    /// repair packet holds.
    pub packets: &'a [Unprotected],
    /// The place of its own first packet among them.
    pub begin: usize,
    /// Round-trip time of a path: when a retransmission would come.
    pub round_trip: &'a dyn Fn(PathId) -> Duration,
    /// Risk of retransmission alone on a path.
    pub risk: &'a dyn Fn(PathId) -> Risk,
}

/// Whether a frame that loses packets can be completed by sending them again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Risk {
    /// There is time for it, as far as is known.
    None,
    /// A path was in danger lately: there may be no time.
    Danger,
    /// It comes too late on this path, even when no queue stands.
    LateRetransmission,
}

/// Packets that go into one repair packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Places in [`FrameToProtect::packets`], ascending.
    pub members: Vec<usize>,
    /// The path whose losses it is for, if of one.
    pub made_for: Option<PathId>,
}

/// Decides how many repair packets there are, and what is in them.
pub trait Protection: Send {
    /// Feedback told of media packets on a path: so many arrived, so many are
    /// lost, those that an outage took not counted.
    fn on_feedback(&mut self, now: Instant, path: PathId, arrived: u64, lost: u64);

    /// A lost packet of this path had to be sent again: no repair packet could
    /// bring it back.
    fn on_unrepaired(&mut self, now: Instant, path: PathId);

    /// A path has left for good: nothing about it is kept, since a later path
    /// may have its id.
    fn on_path_removed(&mut self, _path: PathId) {}

    /// One group for each repair packet. A packet is in one group at most.
    fn protect(&mut self, now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group>;
}

/// Deals members out to `count` groups in turn, so that neighbours, which a
/// burst takes together, are in different ones.
fn interleave(members: &[usize], count: usize, made_for: Option<PathId>) -> Vec<Group> {
    let count = count.min(members.len());
    let group = |first| Group {
        members: members.iter().copied().skip(first).step_by(count).collect(),
        made_for,
    };
    (0..count).map(group).collect()
}

#[cfg(test)]
mod tests;
