//! Choice of the frames to forward if packets have dependency descriptors.

use crate::routing::dependencies::{Dependency, DescribedFrame, Ladder};
use std::sync::Arc;
use weft_wire::rtp::dependency::{Indication, rewritten};

/// Number of frames whose decision is remembered for late packets and for references: a
/// second of three spatial layers. Chosen by us.
const REMEMBERED: usize = 128;

/// Layers that a subscriber can have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Rung of the ladder.
    pub(super) rung: u8,
    /// Whether only the lowest temporal layer is forwarded at present.
    pub(super) base_only: bool,
}

/// Fate of a packet.
#[derive(Debug)]
pub(super) struct FrameVerdict {
    pub(super) forward: bool,
    /// Whether no other packet of its picture is forwarded after it.
    pub(super) ends_picture: bool,
    /// Whether the wanted layers need a keyframe.
    pub(super) needs_keyframe: bool,
    active: Option<(u32, u8)>,
}

/// Decode target of a subscriber.
#[derive(Debug)]
pub(super) struct Targets {
    /// Structure that the target belongs to.
    ladder: Option<Arc<Ladder>>,
    current: u8,
    /// Target for which a keyframe was requested.
    requested: Option<u8>,
    decided: [Option<Decided>; REMEMBERED],
    /// Timestamp of the newest picture.
    picture: Option<u32>,
    /// Decode targets that, as far as the subscriber knows, are sent.
    listed: u32,
    /// Difference from incoming to outgoing frame numbers.
    shift: u64,
    next_out: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Decided {
    number: u64,
    forward: bool,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets {
            ladder: None,
            current: 0,
            requested: None,
            decided: [None; REMEMBERED],
            picture: None,
            listed: u32::MAX,
            shift: 0,
            next_out: None,
        }
    }
}

impl Targets {
    /// Restarts with a keyframe, whose number follows those of the previous source.
    pub(super) fn start(&mut self, dependency: Option<&Dependency>) {
        let next_out = self.next_out;
        let shift = dependency.and_then(|d| Some(next_out?.wrapping_sub(d.number)));
        *self = Targets {
            shift: shift.unwrap_or(0),
            next_out,
            ..Targets::default()
        };
    }

    /// Decides about a packet; `newest` if its sequence number is the highest so far.
    pub(super) fn decide(
        &mut self,
        dependency: &Dependency,
        timestamp: u32,
        newest: bool,
        wanted: Wanted,
    ) -> FrameVerdict {
        let Some(described) = &dependency.frame else {
            // Its structure arrives late: the receiver needs both.
            return FrameVerdict {
                forward: true,
                ends_picture: false,
                needs_keyframe: false,
                active: None,
            };
        };
        let number = dependency.number;
        let slot = (number % REMEMBERED as u64) as usize;
        let known = self.decided[slot].filter(|decided| decided.number == number);
        let needs_keyframe = known.is_none() && newest && {
            let begins_picture = self.picture.replace(timestamp) != Some(timestamp);
            self.choose(number, described, begins_picture, wanted)
        };
        let indications = described.frame.indications;
        let forward = known.map_or_else(|| indications.has(self.current), |known| known.forward);
        self.decided[slot] = Some(Decided { number, forward });
        let is_top = described.frame.spatial == described.ladder.spatial(self.current);
        FrameVerdict {
            forward,
            ends_picture: is_top && dependency.mandatory.end_of_frame,
            needs_keyframe,
            active: forward.then(|| self.list(dependency, described)).flatten(),
        }
    }

    /// Chooses the decode target from this frame on; returns whether a keyframe is needed for
    /// the wanted one.
    ///
    /// A target can be entered at a frame that switches to it, if everything that the
    /// frame refers to was forwarded. A target that needs fewer frames than the present
    /// one can be entered at every picture.
    fn choose(
        &mut self,
        number: u64,
        described: &DescribedFrame,
        begins_picture: bool,
        wanted: Wanted,
    ) -> bool {
        let ladder = &described.ladder;
        let mut goal = ladder.target(wanted.rung, described.active);
        if wanted.base_only {
            goal = ladder.base_of(goal);
        }
        let same = self
            .ladder
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, ladder));
        if !same {
            self.ladder = Some(Arc::clone(ladder));
            self.enter(goal);
            return false;
        }
        let switches = described.frame.indications.of(goal) == Indication::Switch;
        let mut references = described.frame.references.differences().iter();
        let is_decodable = references.all(|back| self.went_through(number, *back));
        let is_within = begins_picture && ladder.is_within(goal, self.current);
        if goal == self.current || switches && is_decodable || is_within {
            self.enter(goal);
            return false;
        }
        if !begins_picture || ladder.spatial(goal) == ladder.spatial(self.current) {
            return false;
        }
        let base = ladder.base_of(self.current);
        if ladder.spatial(goal) < ladder.spatial(self.current)
            && ladder.is_within(base, self.current)
        {
            self.current = base;
        }
        self.requested.replace(goal) != Some(goal)
    }

    fn enter(&mut self, target: u8) {
        self.current = target;
        self.requested = None;
    }

    fn went_through(&self, number: u64, back: u16) -> bool {
        let Some(number) = number.checked_sub(u64::from(back)) else {
            return false;
        };
        let decided = self.decided[(number % REMEMBERED as u64) as usize];
        decided.is_some_and(|decided| decided.number == number && decided.forward)
    }

    /// Returns the list of decode targets that the packet must carry, with the number of all.
    fn list(&mut self, dependency: &Dependency, described: &DescribedFrame) -> Option<(u32, u8)> {
        let ladder = &described.ladder;
        let sent = ladder.within(self.current) & described.active;
        if described.begins {
            self.listed = ladder.all_targets();
        }
        let is_news = dependency.mandatory.start_of_frame && self.listed != sent;
        if !is_news && !described.lists_active {
            return None;
        }
        self.listed = sent;
        Some((sent, ladder.targets()))
    }

    /// Returns the descriptor as this subscriber sees it.
    pub(super) fn written(
        &mut self,
        octets: &[u8],
        dependency: &Dependency,
        verdict: &FrameVerdict,
    ) -> Box<[u8]> {
        let out = dependency.number.wrapping_add(self.shift);
        self.next_out = self.next_out.max(Some(out + 1));
        rewritten(octets, out as u16, verdict.active)
    }
}
