#[cfg(doc)]
use crate::SchedulerKind;

weft_units::named! {
    /// Part of a session that is left out, to measure its effect.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Ablation: "part to leave out" {
        /// The receiver's feedback on frames changes nothing. Only
        /// [`SchedulerKind::Converge`] has this part, and the next one.
        Feedback = "feedback",
        /// Every packet is media like any other.
        Priorities = "priorities",
        /// Nobody tells skew from loss: the receiver asks for every gap in the
        /// stream's own numbers, and the sender believes it and finds no losses by
        /// itself, as on one path. For both sides of a call.
        PathRepair = "path-repair",
        /// Missing feedback makes no path suspect. A path is found dead by the
        /// association's own checks alone, which takes a few seconds. For both sides
        /// of a call.
        PathDeath = "path-death",
        /// Packets in flight on a path that dies are not sent again over another
        /// path, unless the receiver asks for them.
        InFlight = "in-flight",
        /// Feedback comes every 25 ms, however many paths there are. For both sides
        /// of a call.
        QuickFeedback = "quick-feedback",
        /// A path with a standing queue gets media like any other. Only
        /// [`SchedulerKind::Weft`] has this part, and those that follow.
        DegradedPaths = "sick-paths",
        /// Packets that are stuck on a degraded path are sent again, however long
        /// that takes.
        FreshStart = "fresh-start",
        /// The encoder hears the rate only, not what the paths bring of its next
        /// picture in time.
        FrameBudget = "frame-budget",
        /// Nothing is learnt of what rate was safe.
        Caution = "caution",
        /// No frame goes over two paths.
        Copies = "copies",
        /// Where there is one path only, it is used as each of several. For both
        /// sides of a call.
        OnlyPath = "only-path",
        /// All is done that a peer's packets ask for, whatever that takes. Never
        /// where a peer is real.
        Budgets = "budgets",
    }
}

/// Set of parts that are left out together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ablations(u16);

impl Ablations {
    /// Nothing is left out.
    pub const NONE: Ablations = Ablations(0);

    /// Returns this set with one part more.
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
