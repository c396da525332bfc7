/// An invalid name of a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{spec}`: {problem}; {remedy}")]
pub struct SpecError {
    /// Kind of source: "camera", "microphone" or "speaker".
    pub kind: &'static str,
    /// The whole name as given.
    pub spec: String,
    /// The problem, with the invalid part.
    pub problem: String,
    /// Remedy: a valid name.
    pub remedy: &'static str,
}

/// Pacing of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The device paces: a read blocks until there is new data.
    Device,
    /// The caller paces: a read returns at once, and must be called as often as the
    /// format says.
    Caller,
}
