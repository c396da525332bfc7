#[cfg(doc)]
use crate::SchedulerKind;

weft_units::named! {
    /// Part of a session that an experiment leaves out to measure its effect.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Ablation: "part to leave out" {
        /// The sender ignores the receiver's feedback on frames. Only
        /// [`SchedulerKind::Converge`] has this part and `Priorities`.
        Feedback = "feedback",
        /// All packets have the same priority as media.
        Priorities = "priorities",
        /// The session does not distinguish skew from loss: the receiver requests every
        /// gap in the stream's own numbers, and the sender answers each request and
        /// detects no losses itself, as on one path. For both sides of a call.
        PathRepair = "path-repair",
        /// Missing feedback makes no path suspect. Only the association's own checks find
        /// dead paths, which takes a few seconds. For both sides of a call.
        PathDeath = "path-death",
        /// Packets in flight on a path that dies are sent again over another path only if
        /// the receiver requests them.
        InFlight = "in-flight",
        /// Feedback is sent every 25 ms, for any number of paths. For both sides of a
        /// call.
        QuickFeedback = "quick-feedback",
        /// A path with a standing queue carries media like any other. Only
        /// [`SchedulerKind::Weft`] has this part and the following ones.
        DegradedPaths = "sick-paths",
        /// Packets stuck on a degraded path are sent again, even if that takes long.
        FreshStart = "fresh-start",
        /// The encoder gets the rate only, without the size of the next picture that the
        /// paths deliver in time.
        FrameBudget = "frame-budget",
        /// The session does not learn which rate was safe.
        Caution = "caution",
        /// No frame is sent over two paths.
        Copies = "copies",
        /// A single path is treated like one of several. For both sides of a call.
        OnlyPath = "only-path",
        /// Work caused by a peer's packets has no limit. Never use this with a real peer.
        Budgets = "budgets",
    }
}

/// Set of parts that an experiment leaves out together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ablations(u16);

impl Ablations {
    /// Leaves nothing out.
    pub const NONE: Ablations = Ablations(0);

    /// Returns this set with one more part.
    #[must_use]
    pub fn with(self, part: Ablation) -> Ablations {
        Ablations(self.0 | 1 << part as u16)
    }

    /// Returns whether this part is left out.
    #[must_use]
    pub fn contains(self, part: Ablation) -> bool {
        self.0 & 1 << part as u16 != 0
    }
}

impl From<Ablation> for Ablations {
    fn from(part: Ablation) -> Ablations {
        Ablations::NONE.with(part)
    }
}
