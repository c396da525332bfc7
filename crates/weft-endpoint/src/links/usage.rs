use serde::{Deserialize, Serialize};

/// Use of a link during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkUse {
    /// It carries media beside the others.
    Use,
    /// It carries media only while the others cannot.
    Backup,
    /// It carries nothing.
    Off,
}
