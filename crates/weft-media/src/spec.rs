/// Error: the name of a source is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{spec}`: {problem}; {remedy}")]
pub struct SpecError {
    /// Kind of source: "camera", "microphone" or "speaker".
    pub kind: &'static str,
    /// Whole name as given.
    pub spec: String,
    /// Problem, with the invalid part.
    pub problem: String,
    /// Remedy: a valid name.
    pub remedy: &'static str,
}

/// Pacing of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The device paces: a read blocks until there is new data.
    Device,
    /// The caller paces: a read returns at once, and must be called at the rate of the
    /// format.
    Caller,
}
