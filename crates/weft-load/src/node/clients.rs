//! Offers and answers, and the clients that they create.

use std::net::SocketAddr;

use weft_ice::{IceRole, LinkId, LocalAddress, RemoteCandidate, RemoteFilter};
use weft_net::Network;
use weft_peer::{AnswerPolicy, Offer, Peer, PeerConfig, PeerKey, Section, StreamDirection, answer};
use weft_session::{Delivery, Reporting};
use weft_units::{Codec, Duration, Instant, MediaKind, Rate, Transport};
use weft_wire::rtp::Rid;

use super::connection::{Connection, Publisher};
use super::leaving::Leaving;
use super::{ClientError, LoadNode, NewClient, NodeReport, OfferId, Offered, Role, Sections};
use crate::config::Clients;
use crate::received::Received;
use crate::replay::Replay;

/// Names of the encodings, the smallest first.
const RIDS: [&str; 4] = ["q", "h", "f", "x"];
/// Margin above the clip's rate for packet headers.
const OVERHEAD: f64 = 1.1;
/// Prefix of the names of extensions that browsers do not have.
const OURS: &str = "urn:weft:";

impl LoadNode {
    pub(super) fn offer(
        &mut self,
        network: &mut Network<'_>,
        sections: Sections,
        new: NewClient,
    ) -> Result<(OfferId, String), ClientError> {
        let (mut config, local) = self.config(network, IceRole::Controlling)?;
        let now = network.clock.now();
        let direction = match sections {
            Sections::Send => StreamDirection::Send,
            Sections::Receive => StreamDirection::Receive,
        };
        let mut video = Section::new(MediaKind::Video, direction);
        if sections == Sections::Send {
            config.limit_video_to(Some(self.common.clip.codec));
            let rate = self.common.clip.rate().mul_f64(OVERHEAD);
            config.session.max_rate = rate + self.sound_rate();
            let count = self.common.clip.encodings.len();
            if count > 1 {
                video.encodings = RIDS[..count].iter().filter_map(|r| Rid::new(r)).collect();
            }
        }
        let mut asked = vec![video];
        if self.common.sound {
            asked.push(Section::new(MediaKind::Audio, direction));
        }
        let offer = Offer::new(now, config, &asked, Delivery::Frames);
        let sdp = self.described(&offer.sdp());
        let id = OfferId(self.next_offer);
        self.next_offer += 1;
        let offered = Offered {
            offer,
            new,
            sections,
            local,
        };
        self.offers.insert(id, offered);
        Ok((id, sdp))
    }

    fn sound_rate(&self) -> Rate {
        match self.common.sound {
            true => crate::clip::SOUND_RATE.mul_f64(2.0),
            false => Rate::ZERO,
        }
    }

    /// Removes our own extensions from a description, if the clients behave like
    /// browsers.
    fn described(&self, sdp: &str) -> String {
        match self.common.clients {
            Clients::Weft => sdp.to_owned(),
            Clients::Browser => {
                let lines = sdp.split_inclusive('\n');
                lines.filter(|line| !line.contains(OURS)).collect()
            }
        }
    }

    /// Returns the configuration of a new peer with its own socket, because two clients
    /// behind one address could not be told apart.
    fn config(
        &self,
        network: &mut Network<'_>,
        role: IceRole,
    ) -> Result<(PeerConfig, SocketAddr), ClientError> {
        let socket = weft_net::open_address(SocketAddr::new(self.common.local, 0))?;
        let addr = network.add_socket(socket)?;
        let local = LocalAddress {
            transport: Transport::Udp,
            addr,
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let certificate = self.common.certificate.clone();
        let made = weft_net::peer_config(role, network.clock, certificate, vec![local]);
        let mut config = made.inspect_err(|_| network.remove_socket(addr))?;
        if self.common.clients == Clients::Browser {
            config.session.reporting = Reporting::Browser;
        }
        Ok((config, addr))
    }

    pub(super) fn accept(
        &mut self,
        network: &mut Network<'_>,
        offer: OfferId,
        (sdp, more): (&str, &[SocketAddr]),
    ) -> Result<PeerKey, ClientError> {
        let offered = self.offers.remove(&offer).ok_or(ClientError::Ended)?;
        let now = network.clock.now();
        let accepted = offered.offer.accept(now, &self.described(sdp));
        let peer = accepted.inspect_err(|_| network.remove_socket(offered.local))?;
        let role = match offered.sections {
            Sections::Send => self.publisher(now, offered.new.member, &peer),
            Sections::Receive => Role::Viewer(Received::default()),
        };
        Ok(self.add(now, (peer, offered.local), more, offered.new, role))
    }

    fn publisher(&self, now: Instant, member: u32, peer: &Peer) -> Role {
        let sent = |kind| {
            let streams = peer.streams().iter();
            let sent = streams.filter(move |s| s.direction == StreamDirection::Send);
            sent.filter(move |s| s.codec().kind() == kind)
        };
        let mut video: Vec<_> = sent(MediaKind::Video).collect();
        let place = |rid: Option<Rid>| {
            let name = rid.map(|rid| rid.to_string());
            RIDS.iter()
                .position(|known| name.as_deref() == Some(*known))
        };
        video.sort_by_key(|stream| place(stream.rid));
        let video = video.into_iter().map(|stream| stream.stream).collect();
        let sound = sent(MediaKind::Audio).next().map(|stream| stream.stream);
        let replay = Replay::new(self.common.clip.clone(), member, now);
        Role::Publisher(Box::new(Publisher {
            replay,
            video,
            sound,
            sounds: 0,
            next_sound: now,
            leaving: Leaving::default(),
        }))
    }

    pub(super) fn answer(
        &mut self,
        network: &mut Network<'_>,
        new: NewClient,
        (offer, more): (&str, &[SocketAddr]),
    ) -> Result<(PeerKey, String), ClientError> {
        let (config, local) = self.config(network, IceRole::Controlled)?;
        let now = network.clock.now();
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let answered = answer(now, config, &self.described(offer), &policy);
        let (peer, sdp) = answered.inspect_err(|_| network.remove_socket(local))?;
        let role = Role::Viewer(Received::default());
        let key = self.add(now, (peer, local), more, new, role);
        Ok((key, sdp))
    }

    pub(super) fn answer_later(
        &mut self,
        now: Instant,
        key: PeerKey,
        offer: &str,
    ) -> Result<String, ClientError> {
        let offer = self.described(offer);
        let answered = self.peers.drive(key, |peer| peer.answer(now, &offer));
        Ok(answered.ok_or(ClientError::Ended)??)
    }

    fn add(
        &mut self,
        now: Instant,
        (mut peer, local): (Peer, SocketAddr),
        more: &[SocketAddr],
        new: NewClient,
        role: Role,
    ) -> PeerKey {
        for (index, addr) in more.iter().enumerate() {
            // Below the priority of any candidate in the description (RFC 8445 section
            // 5.1.2).
            let priority = u32::from(u16::MAX).saturating_sub(index as u32);
            let addr = *addr;
            peer.add_remote_candidate(now, RemoteCandidate { addr, priority });
        }
        let key = self.peers.insert(peer);
        if new.weak.is_some() {
            self.weak.push(key);
        }
        let connection = Connection::new(now, new, role);
        self.connections.insert(key, connection);
        self.by_local.insert(local, key);
        key
    }

    pub(super) fn report(&self, now: Instant) -> NodeReport {
        let connections = self.connections.iter();
        let report = |(key, connection): (&PeerKey, &Connection)| {
            connection.report(now, self.peers.get(*key), self.span)
        };
        NodeReport {
            connections: connections.map(report).collect(),
            load: self.load.clone(),
        }
    }
}

/// Duration of a sound packet.
pub(super) const SOUND_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the RTP time of `now` at the clock rate of a codec.
pub(super) fn rtp_time(codec: Codec, now: Instant) -> u32 {
    let ticks = u128::from(now.as_nanos()) * u128::from(codec.clock_rate()) / 1_000_000_000;
    ticks as u32
}
