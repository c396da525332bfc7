/// Numbers of packets by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// Forwarded.
    pub(crate) forwarded: u64,
    /// Empty packets sent instead of late, unwanted ones.
    pub(crate) fillers: u64,
    /// Dropped before a keyframe.
    pub(crate) before_keyframe: u64,
    /// Dropped with a temporal layer that does not fit.
    pub(crate) layer: u64,
    /// Dropped because the subscriber's queue was too long.
    pub(crate) congested: u64,
    /// Too late: the decision about their picture is forgotten.
    pub(crate) late: u64,
    /// Duplicates.
    pub(crate) duplicate: u64,
    /// Not payloads of the codec.
    pub(crate) malformed: u64,
}
