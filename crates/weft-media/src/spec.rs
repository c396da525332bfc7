/// A source's name that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{spec}`: {problem}; {remedy}")]
pub struct SpecError {
    /// What was to be named: "camera" or "microphone".
    pub kind: &'static str,
    /// The whole name as given.
    pub spec: String,
    /// What is wrong, with the part that is.
    pub problem: String,
    /// What to write instead.
    pub remedy: &'static str,
}

/// Who decides when the next picture or sound is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The device does: a read blocks until there is something new.
    Device,
    /// The caller does: a read returns at once, and has to be called as often
    /// as the format says.
    Caller,
}
