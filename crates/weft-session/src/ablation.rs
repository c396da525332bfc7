use std::str::FromStr;

#[cfg(doc)]
use crate::SchedulerKind;

/// Part of a session that is left out, to measure its effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ablation {
    /// The receiver's feedback on frames changes nothing. Only
    /// [`SchedulerKind::Converge`] has this part, and the next one.
    Feedback,
    /// Every packet is media like any other.
    Priorities,
    /// Nobody tells skew from loss: the receiver asks for every gap in the
    /// stream's own numbers, and the sender believes it and finds no losses by
    /// itself, as on one path. For both sides of a call.
    PathRepair,
    /// Missing feedback makes no path suspect. A path is found dead by the
    /// association's own checks alone, which takes a few seconds. For both sides
    /// of a call.
    PathDeath,
    /// Packets in flight on a path that dies are not sent again over another
    /// path, unless the receiver asks for them.
    InFlight,
    /// Feedback comes every 25 ms, however many paths there are. For both sides
    /// of a call.
    QuickFeedback,
    /// A path with a standing queue gets media like any other. Only
    /// [`SchedulerKind::Weft`] has this part, and those that follow.
    DegradedPaths,
    /// Packets that are stuck on a degraded path are sent again, however long
    /// that takes.
    FreshStart,
    /// The encoder hears the rate only, not what the paths bring of its next
    /// picture in time.
    FrameBudget,
    /// Nothing is learnt of what rate was safe.
    Caution,
    /// No frame goes over two paths.
    Copies,
    /// Where there is one path only, it is used as each of several. For both
    /// sides of a call.
    OnlyPath,
    /// All is done that a peer's packets ask for, whatever that takes. Never
    /// where a peer is real.
    Budgets,
}

impl Ablation {
    /// All of them, for help texts.
    pub const ALL: [Ablation; 13] = [
        Ablation::Feedback,
        Ablation::Priorities,
        Ablation::PathRepair,
        Ablation::PathDeath,
        Ablation::InFlight,
        Ablation::QuickFeedback,
        Ablation::DegradedPaths,
        Ablation::FreshStart,
        Ablation::FrameBudget,
        Ablation::Caution,
        Ablation::Copies,
        Ablation::OnlyPath,
        Ablation::Budgets,
    ];

    /// Returns the part's name in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Ablation::Feedback => "feedback",
            Ablation::Priorities => "priorities",
            Ablation::PathRepair => "path-repair",
            Ablation::PathDeath => "path-death",
            Ablation::InFlight => "in-flight",
            Ablation::QuickFeedback => "quick-feedback",
            Ablation::DegradedPaths => "sick-paths",
            Ablation::FreshStart => "fresh-start",
            Ablation::FrameBudget => "frame-budget",
            Ablation::Caution => "caution",
            Ablation::Copies => "copies",
            Ablation::OnlyPath => "only-path",
            Ablation::Budgets => "budgets",
        }
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

/// There is no part of this name to leave out.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` cannot be left out; there are: {names}", names = names())]
pub struct UnknownAblation(String);

fn names() -> String {
    Ablation::ALL.map(Ablation::name).join(", ")
}

impl FromStr for Ablation {
    type Err = UnknownAblation;
    fn from_str(s: &str) -> Result<Ablation, UnknownAblation> {
        let found = Ablation::ALL.into_iter().find(|a| a.name() == s);
        found.ok_or_else(|| UnknownAblation(s.to_owned()))
    }
}
