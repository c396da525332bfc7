//! Our side of a description: transport, codecs and sources.

use std::net::{IpAddr, SocketAddr};
use weft_ice::LocalAddress;
use weft_units::{Codec, MediaKind, Rng, Ssrc, Transport};
use weft_wire::flexfec;
use weft_wire::payload::format_of;
use weft_wire::rtp::Mid;
use weft_wire::sdp::{
    self, Candidate, CandidateKind, Media, Msid, Payload, SessionDescription, Setup, SsrcAttribute,
    SsrcGroup,
};

use super::PayloadTypes;
use crate::config::PeerConfig;

/// Value of `a=ice-options`: candidates may follow later (RFC 8840 section 4.1.1).
const TRICKLE: &str = "trickle";

/// Values that our description needs in addition to the sections.
pub(crate) struct Transported<'a> {
    pub config: &'a PeerConfig,
    pub setup: Setup,
}

impl Transported<'_> {
    /// Writes ICE, DTLS and candidates into a section that we offer.
    pub fn describe(&self, media: &mut Media) {
        self.describe_security(media);
        media.ice_options = vec![TRICKLE.to_owned()];
        media.rtcp_mux = true;
        media.rtcp_rsize = true;
        media.candidates = self.candidates();
        media.end_of_candidates = true;
    }

    /// Writes them into a section that answers `offered`.
    pub fn describe_answered(&self, media: &mut Media, offered: &Media) {
        self.describe(media);
        media
            .ice_options
            .retain(|o| offered.ice_options.contains(o));
        media.rtcp_mux = offered.rtcp_mux;
        media.rtcp_rsize = offered.rtcp_rsize;
    }

    /// Writes ICE, DTLS and candidates into a section of data channels that we offer.
    pub fn describe_data(&self, media: &mut Media) {
        self.describe(media);
        media.rtcp_mux = false;
        media.rtcp_rsize = false;
    }

    /// Returns an answer that accepts a section of data channels.
    pub fn answer_data(&self, offered: &Media) -> Media {
        let mut media = data_channels();
        media.mid = offered.mid;
        self.describe_answered(&mut media, offered);
        media
    }

    /// Writes ICE credentials and DTLS into a section that rejects `offered`. No standard
    /// requires them there, but aiortc refuses an answer without them. Candidates are
    /// omitted, because no connection is made there.
    pub fn describe_rejected(&self, media: &mut Media, offered: &Media) {
        self.describe_security(media);
        media.rtcp_mux = offered.rtcp_mux;
    }

    fn describe_security(&self, media: &mut Media) {
        let association = &self.config.association;
        media.ice_ufrag = Some(association.ice.credentials.ufrag.clone());
        media.ice_pwd = Some(association.ice.credentials.pwd.clone());
        media.fingerprint = association
            .certificate
            .fingerprint()
            .to_string()
            .parse()
            .ok();
        media.setup = Some(self.setup);
    }

    /// Our candidates.
    pub fn candidates(&self) -> Vec<Candidate> {
        let udp = self.offered().into_iter();
        let udp = udp.enumerate().map(|(index, addr)| candidate(index, addr));
        let tcp = self.config.tcp.iter().enumerate();
        let tcp = tcp.map(|(index, addr)| passive_candidate(index, *addr));
        udp.chain(tcp).collect()
    }

    /// Our UDP addresses as others see them.
    fn offered(&self) -> Vec<SocketAddr> {
        let PeerConfig { locals, public, .. } = self.config;
        let locals = || {
            let udp = |local: &&LocalAddress| local.transport == Transport::Udp;
            locals.iter().filter(udp).map(|local| local.addr)
        };
        let hidden = |ip: IpAddr| public.iter().any(|p| p.is_ipv4() == ip.is_ipv4());
        let seen = public.iter().filter_map(|ip| {
            let own = locals().find(|own| own.is_ipv4() == ip.is_ipv4())?;
            Some(SocketAddr::new(*ip, own.port()))
        });
        seen.chain(locals().filter(|own| !hidden(own.ip())))
            .collect()
    }
}

/// Returns our section of data channels, without its transport.
pub(crate) fn data_channels() -> Media {
    Media::data_channels(weft_data::SCTP_PORT, weft_data::MAX_MESSAGE)
}

/// Host candidate priority (RFC 8445 section 5.1.2.1). The links are in order of
/// preference, and IPv6 comes before IPv4 of the same link.
///
/// The type preference is below the recommended 126, and below the 120 that libnice uses for its
/// own. The lower priority of a pair's two counts first, so ours decides among a peer's pairs,
/// and [`Peer::move_selection`](crate::Peer::move_selection) can exceed all of them.
fn candidate(index: usize, addr: SocketAddr) -> Candidate {
    const HOST_PREFERENCE: u32 = 110;
    let local_preference = 65_535_u32.saturating_sub(index as u32);
    Candidate {
        foundation: (index + 1).to_string(),
        component: 1,
        transport: Transport::Udp,
        priority: (HOST_PREFERENCE << 24) | (local_preference << 8) | 255,
        address: addr.ip().to_string(),
        port: addr.port(),
        kind: CandidateKind::Host,
        related: None,
        extensions: Vec::new(),
    }
}

/// Candidate for TCP connections that the peer opens, with the priority of RFC 6544
/// section 4.2. The type preference is below that of every UDP host candidate, and above
/// those of relayed ones.
fn passive_candidate(index: usize, addr: SocketAddr) -> Candidate {
    const TCP_PREFERENCE: u32 = 80;
    const PASSIVE: u32 = 4;
    let other_preference = 8_191_u32.saturating_sub(index as u32);
    let local_preference = (PASSIVE << 13) | other_preference;
    Candidate {
        foundation: format!("tcp{}", index + 1),
        transport: Transport::Tcp,
        priority: (TCP_PREFERENCE << 24) | (local_preference << 8) | 255,
        extensions: vec![("tcptype".to_owned(), "passive".to_owned())],
        ..candidate(index, addr)
    }
}

/// Returns the payloads of these codecs of one kind, with the feedback that we
/// understand; all share the payload of repair packets.
pub(crate) fn payloads(codecs: &[PayloadTypes]) -> Vec<Payload> {
    let mut all: Vec<Payload> = codecs
        .iter()
        .flat_map(|types| payloads_of(*types))
        .collect();
    let repaired = codecs.iter().find_map(|types| types.fec.zip(Some(types)));
    all.extend(repaired.map(|(fec, types)| Payload {
        parameters: format!("repair-window={REPAIR_WINDOW}"),
        ..payload(types.codec(), fec, flexfec::NAME)
    }));
    all
}

/// Whether packets of a codec may have dependency descriptors.
pub(crate) fn has_dependencies(types: &PayloadTypes) -> bool {
    format_of(types.codec()).has_dependencies()
}

/// Payload with the clock rate of `codec`.
fn payload(codec: Codec, payload_type: u8, name: &str) -> Payload {
    Payload {
        payload_type,
        codec: name.to_owned(),
        clock_rate: codec.clock_rate(),
        ..Payload::default()
    }
}

/// Payloads of a codec and of its retransmissions.
fn payloads_of(types: PayloadTypes) -> Vec<Payload> {
    let both = [sdp::TRANSPORT_FEEDBACK, sdp::CONGESTION_FEEDBACK];
    let of_pictures = ["ccm fir", "nack", "nack pli"];
    let feedback = match types.codec().kind() {
        MediaKind::Video => [&both[..], &of_pictures].concat(),
        MediaKind::Audio => both.to_vec(),
    };
    let description = format_of(types.codec()).description();
    let mut all = vec![Payload {
        channels: description.channels,
        parameters: types.form.parameters(),
        feedback: feedback.iter().map(|&f| f.to_owned()).collect(),
        ..payload(types.codec(), types.media, types.codec().encoding())
    }];
    all.extend(types.rtx.map(|rtx| Payload {
        parameters: format!("apt={}", types.media),
        ..payload(types.codec(), rtx, "rtx")
    }));
    all
}

/// Microseconds from the first packet that a repair packet protects to the repair packet
/// itself (RFC 8627 section 5.1.1): the longest wait for a repair packet, and a frame.
const REPAIR_WINDOW: u32 = 300_000;

/// Sources of a stream that we send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub media: Ssrc,
    pub rtx: Option<Ssrc>,
    pub fec: Option<Ssrc>,
}

impl Sources {
    /// Draws fresh sources, as many as any of the codecs needs.
    pub fn fresh(rng: &mut Rng, codecs: &[PayloadTypes]) -> Sources {
        let mut ssrc = || Ssrc(rng.next_u32() | 1);
        Sources {
            media: ssrc(),
            rtx: codecs.iter().find_map(|c| c.rtx).map(|_| ssrc()),
            fec: codecs.iter().find_map(|c| c.fec).map(|_| ssrc()),
        }
    }
}

/// Announces a source of a media stream, with its retransmission and repair sources.
pub(crate) fn announce(media: &mut Media, cname: &str, stream: &str, sources: Sources) {
    let ssrc = sources.media;
    let kind = media.kind.to_string();
    media.msid = Some(Msid {
        stream: stream.to_owned(),
        track: Some(format!("{cname}-{kind}-{}", ssrc.0)),
    });
    let group = |semantics: &str, other: Option<Ssrc>| {
        other.map(|other| SsrcGroup {
            semantics: semantics.to_owned(),
            ssrcs: vec![ssrc, other],
        })
    };
    let groups = [
        group("FID", sources.rtx),
        group(flexfec::GROUP, sources.fec),
    ];
    media.ssrc_groups = groups.into_iter().flatten().collect();
    let cname = |ssrc| SsrcAttribute {
        ssrc,
        name: "cname".to_owned(),
        value: Some(cname.to_owned()),
    };
    let all = [Some(ssrc), sources.rtx, sources.fec];
    media.ssrcs = all.into_iter().flatten().map(cname).collect();
}

/// Returns a description with these sections and this BUNDLE group.
pub(crate) fn bundle(
    (session_id, version): (u64, u64),
    group: Vec<Mid>,
    media: Vec<Media>,
    extmap_allow_mixed: bool,
) -> SessionDescription {
    SessionDescription {
        origin: sdp::Origin {
            session_id: session_id >> 1,
            version,
        },
        bundle: group,
        extmap_allow_mixed,
        ice_lite: false,
        media,
    }
}
