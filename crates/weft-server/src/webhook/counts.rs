/// Counts of webhook events, for the metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Events that the target accepted.
    pub(crate) delivered: u64,
    /// Events that were lost: the queue was full, or the target did not accept them.
    pub(crate) dropped: u64,
    /// Requests that failed.
    pub(crate) failed: u64,
    /// Events in the queue.
    pub(crate) waiting: usize,
}
