//! Requests of participants who receive a whole room over one connection.

use crate::connection::{ResourceId, Role};
use crate::error::MediaError;
use crate::negotiation::Negotiated;
use crate::plane::Plane;
use crate::publisher::Publisher;
use crate::reception::{Line, Reception, View};
use weft_peer::Entropy;
use weft_units::Instant;

/// State of a reception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewing {
    /// Lines that carry something.
    pub lines: Vec<Line>,
    /// Offer that waits for the participant's answer, if any.
    pub offer: Option<String>,
}

impl Plane {
    /// Lets a participant receive all other publications in the room over one connection.
    /// Returns our offer; [`Plane::accept`] accepts its answer, and those to later offers
    /// ([`Event::Offered`](crate::Event::Offered)).
    pub fn receive(
        &mut self,
        now: Instant,
        resource: ResourceId,
        participant: Publisher,
        entropy: &Entropy,
    ) -> Negotiated {
        self.now = now;
        let mut reception = Reception::default();
        let sections = reception.first_sections(&self.candidates(&participant));
        let role = Role::Receive(Box::new(reception));
        let offered = (&sections[..], 1, self.settings.checks());
        self.offer(now, resource, participant, role, offered, entropy)
    }

    /// Sets the cameras that a participant shows.
    ///
    /// # Errors
    /// If the connection is not a reception.
    pub fn set_view(
        &mut self,
        now: Instant,
        resource: &ResourceId,
        view: View,
    ) -> Result<Viewing, MediaError> {
        self.now = now;
        let reception = self.reception_mut(resource)?;
        reception.set_view(view);
        self.refresh_reception(now, resource);
        let lines = self.reception_mut(resource)?.lines();
        let connection = self.connections.get(resource);
        let key = connection.and_then(|connection| connection.peer());
        let peer = key.and_then(|key| self.peers.get(key));
        let offer = peer.and_then(|peer| peer.waiting_offer());
        Ok(Viewing { lines, offer })
    }

    fn reception_mut(&mut self, resource: &ResourceId) -> Result<&mut Reception, MediaError> {
        let connection = self.connections.get_mut(resource);
        match &mut connection.ok_or(MediaError::UnknownResource)?.role {
            Role::Receive(reception) => Ok(reception),
            Role::Publish(_) | Role::Play => Err(MediaError::WrongState {
                reason: "it carries one participant's streams, not a room".to_owned(),
            }),
        }
    }
}
