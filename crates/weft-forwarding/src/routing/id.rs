/// One media of one publisher. It lasts while its publisher does, through
/// changes of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TrackId(pub(crate) u64);

/// One track on its way to one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SubscriptionId(pub(crate) u64);
