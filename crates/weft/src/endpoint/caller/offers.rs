//! Offers, and the peers that their answers make.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use weft_net::Context;
use weft_peer::{Direction, Offer, Peer, PeerKey, Section};
use weft_secure::{IceRole, RemoteCandidate};
use weft_session::{Delivery, MediaKind};
use weft_units::{Instant, Rate};

use super::{CallError, Caller, Counterpart, Listener, OfferId, Offered, Patience};

impl Caller {
    pub(super) fn offer(
        &mut self,
        context: &mut Context<'_>,
        sections: &[Section],
    ) -> Result<(OfferId, String), CallError> {
        let mut locals = Vec::new();
        for access in self.links.open(&[]) {
            // A socket that cannot be watched is a path less.
            if context.add_socket(access.socket).is_ok() {
                locals.push(access.local);
            }
        }
        let (certificate, offered) = (self.certificate.clone(), locals.clone());
        let mut config =
            weft_net::peer_config(IceRole::Controlling, context.clock, certificate, offered)?;
        let session = &mut config.session;
        session.scheduler = self.sending.scheduler;
        session.protection = self.sending.protection;
        session.controller = self.sending.controller;
        session.max_rate = self.sending.max_rate;
        session.cname.clone_from(&self.sending.cname);
        let offer = Offer::new(context.now, config, sections, Delivery::Frames);
        let id = OfferId(self.next_offer);
        self.next_offer += 1;
        let sdp = offer.sdp();
        let locals = locals.into_iter().map(|l| l.addr).collect();
        let offered = Offered {
            offer,
            locals,
            patience: Patience::from(context.now),
        };
        self.offers.insert(id, offered);
        Ok((id, sdp))
    }

    pub(super) fn withdraw(&mut self, context: &mut Context<'_>, offer: OfferId) {
        let withdrawn = self.offers.remove(&offer);
        for local in withdrawn.into_iter().flat_map(|offered| offered.locals) {
            context.remove_socket(local);
        }
    }

    pub(super) fn accept(
        &mut self,
        context: &mut Context<'_>,
        offer: OfferId,
        answer: &str,
        news: Listener,
    ) -> Result<PeerKey, CallError> {
        let offered = self.offers.remove(&offer);
        let Offered { offer, locals, .. } = offered.ok_or(CallError::UnknownOffer)?;
        let accepted = offer.accept(context.now, answer);
        if accepted.is_err() {
            locals.iter().for_each(|l| context.remove_socket(*l));
        }
        let mut peer = accepted?;
        for (index, via) in self.links.vias().enumerate() {
            let candidate = RemoteCandidate {
                addr: via,
                priority: u32::MAX - index as u32,
            };
            peer.add_remote_candidate(context.now, candidate);
        }
        let counterpart = Counterpart::of(context.now, &peer, news, locals);
        let key = context.insert(peer);
        self.peers.insert(key, counterpart);
        Ok(key)
    }
}

impl Counterpart {
    pub(super) fn of(
        now: Instant,
        peer: &Peer,
        news: Listener,
        locals: Vec<SocketAddr>,
    ) -> Counterpart {
        let sending = |kind| {
            let streams = peer.streams().iter();
            streams.filter(move |s| s.direction == Direction::Send && s.kind == kind)
        };
        let receivers = peer
            .streams()
            .iter()
            .filter(|s| s.direction == Direction::Receive);
        Counterpart {
            news,
            locals,
            cameras: sending(MediaKind::Video).map(|s| s.stream).collect(),
            microphone: sending(MediaKind::Audio).map(|s| s.stream).next(),
            receivers: receivers.map(|s| (s.stream, s.kind)).collect(),
            links: BTreeMap::new(),
            rate: Rate::ZERO,
            patience: Patience::from(now),
            failed: false,
        }
    }
}
