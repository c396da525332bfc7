//! Tokens for pages that move to another server of the cluster.

use super::{Gate, Grant, May};
use std::time::{Duration, SystemTime};
use weft_rooms::Standing;

/// Longest validity: the page uses the token for the rest of its call. Chosen by us: as
/// long as an invitation that a page makes.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Token with which a page enters another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The servers require no token.
    NotNeeded,
    Token(String),
    /// The servers have no key to sign it.
    Impossible,
}

impl Gate {
    /// Signs a token for a participant who moves: for this room and their permission, with the id
    /// of the token that they entered with, so that its revocation and limits apply to it.
    pub(crate) fn pass(
        &self,
        room: &str,
        (own, standing): (Option<&Grant>, Standing),
        now: SystemTime,
    ) -> Pass {
        if self.is_open() {
            return Pass::NotNeeded;
        }
        let Some(key) = &self.key else {
            return Pass::Impossible;
        };
        let end = now + LONGEST;
        let grant = match own {
            Some(own) => {
                let mut grant = own.clone();
                grant.until = grant.until.min(end);
                Some(grant)
            }
            // They have the operator's token, which is for all rooms.
            None if standing == Standing::Host => Grant::new(room, May::Moderate, end).ok(),
            None => None,
        };
        grant.map_or(Pass::Impossible, |grant| Pass::Token(key.sign(&grant)))
    }
}

#[cfg(test)]
mod tests;
