use serde::{Deserialize, Serialize};

/// Use of a link during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkUse {
    /// The link carries media, together with the others.
    Use,
    /// The link carries media only while the others cannot.
    Backup,
    /// The link carries no packets.
    Off,
}
