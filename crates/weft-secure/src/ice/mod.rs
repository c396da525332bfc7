mod types;

pub(crate) use types::can_pair;
pub use types::{
    Credentials, DownReason, IceRole, LinkId, LocalAddress, Path, PathState, RemoteCandidate,
    RemoteFilter,
};
