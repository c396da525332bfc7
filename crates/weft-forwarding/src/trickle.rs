//! Later candidates, and ICE restarts (RFC 9725 section 4.3).

use crate::connection::ResourceId;
use crate::error::MediaError;
use crate::negotiation::name_of;
use crate::plane::Plane;
use crate::player::LEAST_MAX_RATE;
use weft_ice::IceRole;
use weft_peer::{Entropy, Fragment};
use weft_units::Instant;

/// Update of a peer's side of ICE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IceUpdate {
    /// Fragment of a description (RFC 8840 section 9), as text.
    pub fragment: String,
    /// Sessions that it is for.
    pub condition: IceCondition,
}

/// ICE sessions that an update is for, by the names of
/// [`Negotiated::ice_session`](crate::Negotiated::ice_session).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IceCondition {
    /// Not specified: the present session, and no restart.
    Unsaid,
    /// Any session, as a request to restart says.
    Any,
    /// One of these.
    Named(Vec<String>),
}

/// Our side of an ICE session that restarts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restarted {
    /// Fragment with our credentials and candidates, for the peer.
    pub fragment: String,
    /// Name of the session.
    pub ice_session: String,
}

impl Plane {
    /// Handles a fragment from the peer. If it has the present credentials or none, it
    /// adds candidates. Otherwise it restarts ICE: media continues on the existing paths
    /// until new ones are found.
    ///
    /// # Errors
    /// If the state of the connection does not allow it, if it cannot be read, if it is
    /// for another session, or if it restarts ICE without announcing it.
    pub fn update_ice(
        &mut self,
        now: Instant,
        resource: &ResourceId,
        update: &IceUpdate,
        entropy: &Entropy,
    ) -> Result<Option<Restarted>, MediaError> {
        self.now = now;
        let found = self.connections.get(resource);
        let connection = found.ok_or(MediaError::UnknownResource)?;
        let key = connection.peer().ok_or_else(|| MediaError::WrongState {
            reason: "the answer to the offer comes first".to_owned(),
        })?;
        let fragment = Fragment::parse(&update.fragment)?;
        let peer = self.peers.get(key).ok_or(MediaError::UnknownResource)?;
        let session = &peer.association().credentials().ufrag;
        if matches!(&update.condition, IceCondition::Named(names) if !names.contains(session)) {
            return Err(MediaError::OtherIceSession);
        }
        let known = peer.association().remote_credentials();
        if fragment.credentials.is_none() || fragment.credentials.as_ref() == known {
            if let Some(peer) = self.peers.get_mut(key) {
                for candidate in fragment.candidates {
                    peer.add_remote_candidate(now, candidate);
                }
            }
            return Ok(None);
        }
        if update.condition == IceCondition::Unsaid {
            return Err(MediaError::RestartUnsaid);
        }
        // The role does not change, nor do the rates.
        let config = self
            .settings
            .peer(IceRole::Controlled, LEAST_MAX_RATE, 1, entropy);
        let ours = config.association.ice.credentials.clone();
        self.peers.restart(now, key, ours, &fragment);
        Ok(Some(Restarted {
            fragment: fragment.answer(&config),
            ice_session: name_of(&config),
        }))
    }
}
