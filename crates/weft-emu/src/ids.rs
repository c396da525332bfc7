use weft_links::{StationId, WiredDirection};

/// A host of a [`Network`](crate::Network).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HostId(pub(crate) usize);

/// A link of a [`Network`](crate::Network): a medium with a queue for each of its stations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkId(pub(crate) usize);

/// Where the forward direction of a wired link begins: its first station.
pub const NEAR: StationId = WiredDirection::Forward.station();
/// Where the forward direction of a wired link ends: its second station.
pub const FAR: StationId = WiredDirection::Backward.station();
