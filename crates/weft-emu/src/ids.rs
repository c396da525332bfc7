use weft_links::{StationId, WiredDirection};

/// A host of a [`Network`](crate::Network).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HostId(pub(crate) usize);

/// A link of a [`Network`](crate::Network): a medium with a queue for each of its stations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkId(pub(crate) usize);

/// First station of a wired link, where its forward direction begins.
pub const NEAR: StationId = WiredDirection::Forward.station();
/// Second station of a wired link, where its forward direction ends.
pub const FAR: StationId = WiredDirection::Backward.station();
