/// Number of a peer in its [`PeerSet`](crate::PeerSet); never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerKey(pub u64);
