/// A peer's place in its [`PeerSet`](crate::PeerSet); never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerKey(pub u64);
