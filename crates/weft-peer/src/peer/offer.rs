//! Offers: the first one, whose answer makes a peer, and later ones over the same
//! connection.

use weft_secure::{Association, DtlsRole};
use weft_session::{Delivery, Session};
use weft_units::Instant;
use weft_wire::sdp::{Media, Setup};

use super::Peer;
use super::data_link::DataLink;
use crate::config::PeerConfig;
use crate::negotiation::{NegotiationError, Offering, Section, agree, remote_transport};

/// Offer that waits for its answer.
pub struct Offer {
    association: Association,
    offering: Offering,
}

impl Offer {
    /// Creates an offer of these sections. The association begins at once, so it can check
    /// the peer's addresses as soon as the answer arrives.
    #[must_use]
    pub fn new(
        now: Instant,
        config: PeerConfig,
        sections: &[Section],
        delivery: Delivery,
    ) -> Offer {
        let mut association = Association::new(now, config.association.clone());
        for local in &config.locals {
            association.add_local(now, local.clone());
        }
        let mut offering = Offering::new(config, delivery);
        offering.add(sections);
        if offering.config().data_channels {
            offering.add_data();
        }
        Offer {
            association,
            offering,
        }
    }

    /// Returns the description to send.
    #[must_use]
    pub fn sdp(&self) -> String {
        self.offering.description().to_string()
    }

    /// Accepts the answer.
    ///
    /// # Errors
    /// If it is unreadable or does not match the offer.
    pub fn accept(self, now: Instant, answer: &str) -> Result<Peer, NegotiationError> {
        let mut offering = self.offering;
        let answer = offering.read(answer)?;
        let setup = answer.media.iter().find_map(|m| m.setup);
        let dtls = match setup {
            Some(Setup::Passive) => DtlsRole::Client,
            _ => DtlsRole::Server,
        };
        let used = answer.media.iter().filter(|m| !m.is_rejected());
        let used: Vec<&Media> = used.collect();
        if used.is_empty() {
            return Err(NegotiationError::nothing_accepted(&answer.media));
        }
        let remote = remote_transport(&answer, &used, dtls)?;
        let PeerConfig {
            mut session,
            codecs,
            rng,
            locals,
            ..
        } = offering.config().clone();
        agree(&answer, &used, &codecs, &mut session);
        let session = Session::new(now, session, rng);
        let mut peer = Peer::assemble(self.association, session);
        peer.locals = locals;
        peer.streams = offering.apply(&answer, &mut peer.session);
        if peer.streams.is_empty() {
            return Err(NegotiationError::nothing_accepted(&answer.media));
        }
        let data = offering.apply_data(&answer);
        let (is_client, epoch) = (
            dtls == DtlsRole::Client,
            offering.config().association.epoch,
        );
        peer.data = data.and_then(|media| DataLink::new(media, is_client, epoch));
        peer.offering = Some(Box::new(offering));
        peer.association.set_remote(now, remote);
        peer.pump(now);
        Ok(peer)
    }
}

impl Peer {
    /// Offers more sections over this connection, in addition to the existing ones;
    /// returns the description to send. Sections of an earlier offer that still waits for
    /// its answer stay, so one answer to the last offer covers all.
    ///
    /// # Errors
    /// If the other side makes the offers of this connection.
    pub fn offer(&mut self, sections: &[Section]) -> Result<String, NegotiationError> {
        let offering = self.offering.as_mut();
        let offering = offering.ok_or(NegotiationError::NotOfferer)?;
        offering.update_transport(self.association.credentials(), &self.locals);
        offering.add(sections);
        Ok(offering.description().to_string())
    }

    /// Returns the offer that waits for its answer.
    #[must_use]
    pub fn waiting_offer(&self) -> Option<String> {
        let offering = self.offering.as_ref().filter(|o| o.is_waiting())?;
        Some(offering.description().to_string())
    }

    /// Accepts the answer to [`Peer::offer`]; its streams are appended to
    /// [`Peer::streams`]. An answer that does not match changes nothing.
    ///
    /// # Errors
    /// If no offer waits for an answer, or if the answer is unreadable or belongs to
    /// another offer.
    pub fn accept(&mut self, now: Instant, answer: &str) -> Result<(), NegotiationError> {
        let waiting = self.offering.as_mut().filter(|o| o.is_waiting());
        let offering = waiting.ok_or(NegotiationError::NothingOffered)?;
        let answer = offering.read(answer)?;
        let added = offering.apply(&answer, &mut self.session);
        self.streams.extend(added);
        self.pump(now);
        Ok(())
    }
}
