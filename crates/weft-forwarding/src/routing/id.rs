/// One medium of one publisher. It lasts as long as its publisher, across changes of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TrackId(pub(crate) u64);

/// One track on its way to one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SubscriptionId(pub(crate) u64);
