//! Protection algorithms decide how many repair packets to send, and which packets each
//! one protects.
//!
//! To add one, add a file here and a line in [`ProtectionKind`]. Repair packets are sent
//! and received as FlexFEC (RFC 8627), see `send/repair.rs` and `receive/recovery.rs`.

mod none;
mod path_specific;
mod share;
mod webrtc_table;
mod weft;

use weft_units::{Bytes, Duration, Instant, PathId};

pub(crate) use share::RepairShare;

weft_units::named! {
    /// Built-in protections, by their names on the command line.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub enum ProtectionKind: "protection" {
        /// No repair packets: lost packets are retransmitted.
        None = "none",
        /// Rule of libwebrtc: a table by loss and frame size.
        WebrtcTable = "webrtc_table",
        /// Rule of Converge, section 4.3: by the loss of each path.
        PathSpecific = "path_specific",
        /// Our rule: as `PathSpecific`, with more repair packets while a path is in doubt
        /// and where a retransmission comes too late.
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

/// Packet that is in no repair packet yet.
#[derive(Clone, Copy, Debug)]
pub struct Unprotected {
    /// Extended sequence number.
    pub sequence: u64,
    /// Path that it was assigned to.
    pub path: PathId,
    /// Time of that assignment.
    pub at: Instant,
    /// Whether no other path has a copy of it: repair packets do not protect packets that
    /// are sent twice.
    pub goes_once: bool,
}

/// Frame whose packets were assigned to paths.
#[derive(Clone, Copy)]
pub struct FrameToProtect<'a> {
    /// Whether other frames depend on it and it depends on none.
    pub keyframe: bool,
    /// Bytes of payload.
    pub size: Bytes,
    /// Its packets in sending order, after the packets of earlier frames that are in no
    /// repair packet.
    pub packets: &'a [Unprotected],
    /// Index of its own first packet in `packets`.
    pub begin: usize,
    /// Round-trip time of a path: a retransmission takes this long.
    pub round_trip: &'a dyn Fn(PathId) -> Duration,
    /// Risk of relying on retransmission alone on a path.
    pub risk: &'a dyn Fn(PathId) -> Risk,
}

/// Whether retransmission can complete a frame that loses packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Risk {
    /// There is time for it, as far as known.
    None,
    /// A path was in danger recently: there may be no time.
    Danger,
    /// It comes too late on this path, even with an empty queue.
    LateRetransmission,
}

/// Packets that one repair packet protects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Indices into [`FrameToProtect::packets`], ascending.
    pub members: Vec<usize>,
    /// Path whose losses it compensates, if it is for one path.
    pub made_for: Option<PathId>,
}

/// Algorithm that decides how many repair packets to send, and which packets each one
/// protects.
pub trait Protection: Send {
    /// Feedback on media packets of a path: how many arrived and how many are lost,
    /// without those lost in an outage.
    fn on_feedback(&mut self, now: Instant, path: PathId, arrived: u64, lost: u64);

    /// A lost packet of this path had to be sent again: no repair packet could recover
    /// it.
    fn on_unrepaired(&mut self, now: Instant, path: PathId);

    /// A path was removed for good: discard its state, because a later path may have its
    /// id.
    fn on_path_removed(&mut self, _path: PathId) {}

    /// Returns one group for each repair packet. A packet is in at most one group.
    fn protect(&mut self, now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group>;
}

/// Deals members out to `count` groups in turn, so that neighbours, which a burst loses
/// together, are in different groups.
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
