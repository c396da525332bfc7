use std::str::FromStr;

#[cfg(doc)]
use crate::SchedulerKind;

/// What is left out of a session, to see what it is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ablation {
    /// Nothing.
    #[default]
    None,
    /// What the receiver says of frames changes nothing. Only
    /// [`SchedulerKind::Converge`] has this part, and the next one.
    Feedback,
    /// Every packet is media like any other.
    Priorities,
    /// Nobody tells skew from loss: the receiver asks for every gap in the
    /// stream's own numbers, and the sender believes it and finds no losses by
    /// itself, as on one path. For both sides of a call.
    PathRepair,
}

impl Ablation {
    /// All of them, for help texts.
    pub const ALL: [Ablation; 4] = [
        Ablation::None,
        Ablation::Feedback,
        Ablation::Priorities,
        Ablation::PathRepair,
    ];

    /// What is left out, as scenario files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Ablation::None => "nothing",
            Ablation::Feedback => "feedback",
            Ablation::Priorities => "priorities",
            Ablation::PathRepair => "path-repair",
        }
    }
}

/// There is no part of this name to leave out.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` cannot be left out; there are: nothing, feedback, priorities, path-repair")]
pub struct UnknownAblation(String);

impl FromStr for Ablation {
    type Err = UnknownAblation;
    fn from_str(s: &str) -> Result<Ablation, UnknownAblation> {
        let found = Ablation::ALL.into_iter().find(|a| a.name() == s);
        found.ok_or_else(|| UnknownAblation(s.to_owned()))
    }
}
