use weft_units::Duration;

/// Receiver's account of what a path did to frames (Converge, section 4.2).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PathQualityStats {
    /// Quality feedback that was believed.
    pub feedback: u64,
    /// The newest one's packets early (positive) or late (negative).
    pub alpha: i32,
    /// The newest one's frame construction delay.
    pub construction: Duration,
}
