use weft_units::Duration;

/// Receiver's report of a path's effect on frames (Converge, section 4.2).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PathQualityStats {
    /// Number of accepted quality feedback messages.
    pub feedback: u64,
    /// Packets that were early (positive) or late (negative) in the newest message.
    pub alpha: i32,
    /// Frame construction delay in the newest message.
    pub construction: Duration,
}
