mod codecs;
mod dependencies;
mod later;
mod levels;
mod loudness;
mod partial;
mod roles;
mod simulcast;
mod subset;

use std::collections::BTreeSet;

use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_secure::{Certificate, Config as AssociationConfig, Keying};
use weft_session::{Delivery, FeedbackFormat, Frame, Input, Level, Output};
use weft_units::{Codec, Duration, Instant, MediaKind, PathId, Rng, Ssrc, Transport};
use weft_wire::rtp::ExtensionMap;
use weft_wire::sdp::{SessionDescription, Setup};

use super::*;
use crate::{NegotiatedStream, Offer, Peer, PeerConfig, answer};

#[path = "../../../weft-wire/src/sdp/tests/samples.rs"]
mod samples;

#[allow(clippy::disallowed_methods)]
pub(crate) fn config(role: IceRole, seed: u64, local: &str) -> PeerConfig {
    let (rng, mut entropy) = (Rng::new(seed), [0; 32]);
    rng.stream("credentials").fill(&mut entropy);
    PeerConfig {
        association: AssociationConfig {
            ice: weft_ice::Config {
                role,
                credentials: Credentials::from_entropy(&entropy),
                tie_breaker: seed,
                checks: weft_ice::Checks::All,
                rng: rng.stream("association"),
            },
            certificate: Certificate::generate().expect("the system has randomness"),
            epoch: std::time::Instant::now(),
            keying: Keying::Dtls { seed: None },
        },
        session: weft_session::Config::new(ExtensionMap::default(), Ssrc(1)),
        codecs: Codec::CODED.to_vec(),
        data_channels: false,
        locals: vec![LocalAddress {
            transport: Transport::Udp,
            addr: local.parse().expect("an address"),
            link: LinkId(0),
            cost: 10,
            remotes: RemoteFilter::Any,
        }],
        public: Vec::new(),
        tcp: Vec::new(),
        rng: rng.stream("session"),
    }
}

#[test]
fn behind_a_translating_router_its_addresses_are_offered() {
    let mut config = config(IceRole::Controlling, 1, "10.0.0.7:5000");
    let local = |addr: &str| LocalAddress {
        addr: addr.parse().expect("an address"),
        ..config.locals[0].clone()
    };
    let locals = vec![
        local("10.0.0.7:5000"),
        local("10.1.0.7:5000"),
        local("[2001:db8::7]:5000"),
    ];
    config.locals = locals;
    config.public = vec!["192.0.2.7".parse().expect("an address")];
    let section = Section::new(MediaKind::Audio, StreamDirection::Receive);
    let text = Offer::new(Instant::ZERO, config, &[section], Delivery::Packets).sdp();
    let description = SessionDescription::parse(&text).expect("our offers can be read");
    let candidates = description.media[0].candidates.iter();
    let offered: Vec<_> = candidates.map(|c| (&*c.address, c.port)).collect();
    assert_eq!(offered, [("192.0.2.7", 5000), ("2001:db8::7", 5000)]);
}

const RECEIVE: AnswerPolicy = AnswerPolicy {
    receive: Some(Delivery::Packets),
    send: Vec::new(),
};

fn answer_to(
    offer: &str,
    policy: &AnswerPolicy,
) -> Result<(Peer, SessionDescription), NegotiationError> {
    let config = config(IceRole::Controlled, 1, "192.0.2.1:5000");
    let (peer, text) = answer(Instant::ZERO, config, offer, policy)?;
    let description = SessionDescription::parse(&text).expect("our answers can be read");
    Ok((peer, description))
}

fn refusal(offer: &str, policy: &AnswerPolicy) -> String {
    let refused = answer_to(offer, policy).err();
    refused.expect("the offer is refused").to_string()
}

/// Kind, direction and section of each stream.
fn streams(peer: &Peer) -> Vec<(MediaKind, StreamDirection, String)> {
    let text = |s: &NegotiatedStream| s.mid.map(|m| m.to_string()).unwrap_or_default();
    let streams = peer.streams().iter();
    streams
        .map(|s| (s.codec().kind(), s.direction, text(s)))
        .collect()
}

#[test]
fn chromium_publishes_audio_and_video_and_no_data() {
    let (peer, answer) = answer_to(samples::CHROMIUM, &RECEIVE).expect("it is usable");
    let expected = [
        (MediaKind::Audio, StreamDirection::Receive, "0".to_owned()),
        (MediaKind::Video, StreamDirection::Receive, "1".to_owned()),
    ];
    assert_eq!(streams(&peer), expected);
    assert_eq!(peer.session().level(), Level::SenderSide);
    let [audio, video, data] = &answer.media[..] else {
        panic!("three sections were offered")
    };
    assert!(data.is_rejected() && !audio.is_rejected() && !video.is_rejected());
    assert_eq!(answer.bundle.len(), 2);
    assert_eq!(video.direction, sdp::Direction::RecvOnly);
    let types: Vec<u8> = video.payloads.iter().map(|p| p.payload_type).collect();
    assert_eq!(
        types,
        [96, 97],
        "VP8 and its repair, under the offered numbers"
    );
    let extensions: Vec<u8> = video.extensions.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        extensions,
        [3, 4],
        "transport-cc and mid, under the offered ids"
    );
    assert_eq!(video.setup, Some(Setup::Passive));
}

#[test]
fn chromium_plays_what_we_send_in_the_section_that_it_would_receive() {
    let policy = AnswerPolicy {
        receive: None,
        send: vec![MediaKind::Audio.into(), MediaKind::Video.into()],
    };
    let (peer, answer) = answer_to(samples::CHROMIUM, &policy).expect("audio is usable");
    // The video section is sendonly.
    let expected = [(MediaKind::Audio, StreamDirection::Send, "0".to_owned())];
    assert_eq!(streams(&peer), expected);
    assert_eq!(answer.media[0].direction, sdp::Direction::SendOnly);
    assert_eq!(
        answer.media[0].primary_ssrcs(),
        [peer.streams()[0].ssrc.expect("ours")]
    );
    assert_eq!(answer.media[0].setup, Some(Setup::Passive));
    // Accepted without a stream: aiortc refuses rejected sections.
    assert_eq!(answer.media[1].direction, sdp::Direction::Inactive);
    assert!(!answer.media[1].is_rejected());
    assert_eq!(answer.media[1].primary_ssrcs(), []);
}

#[test]
fn firefox_keeps_its_own_numbers_and_its_rejected_section() {
    let (peer, answer) = answer_to(samples::FIREFOX, &RECEIVE).expect("it is usable");
    let expected = [(MediaKind::Video, StreamDirection::Receive, "1".to_owned())];
    assert_eq!(streams(&peer), expected);
    assert!(answer.media[0].is_rejected());
    let types: Vec<u8> = answer.media[1]
        .payloads
        .iter()
        .map(|p| p.payload_type)
        .collect();
    assert_eq!(types, [120, 124]);
    assert_eq!(peer.session().level(), Level::SenderSide);
}

/// Offer of Firefox 99 for playing: transport-wide numbers for video, none for audio
/// (only the relevant payloads and extensions).
const FIREFOX_PLAYS: &str = "\
v=0\r
o=mozilla...THIS_IS_SDPARTA-99.0 8833763482153536527 0 IN IP4 0.0.0.0\r
s=-\r
t=0 0\r
a=fingerprint:sha-256 C8:44:FD:0C:0B:CF:3B:89:FF:0A:8E:B8:14:95:FA:88:AC:C2:D0:AA:3B:BF:89:9C:D8:44:2D:01:EE:8D:A9:23\r
a=group:BUNDLE 0 1\r
m=audio 9 UDP/TLS/RTP/SAVPF 109\r
c=IN IP4 0.0.0.0\r
a=recvonly\r
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r
a=extmap:2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level\r
a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid\r
a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1\r
a=ice-pwd:4004efda41b34c10e03993e414163889\r
a=ice-ufrag:145f5126\r
a=mid:0\r
a=rtcp-mux\r
a=rtpmap:109 opus/48000/2\r
a=setup:actpass\r
m=video 9 UDP/TLS/RTP/SAVPF 120 124\r
c=IN IP4 0.0.0.0\r
a=recvonly\r
a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid\r
a=extmap:7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r
a=fmtp:124 apt=120\r
a=ice-pwd:4004efda41b34c10e03993e414163889\r
a=ice-ufrag:145f5126\r
a=mid:1\r
a=rtcp-fb:120 nack\r
a=rtcp-fb:120 nack pli\r
a=rtcp-fb:120 ccm fir\r
a=rtcp-fb:120 goog-remb\r
a=rtcp-fb:120 transport-cc\r
a=rtcp-mux\r
a=rtpmap:120 VP8/90000\r
a=rtpmap:124 rtx/90000\r
a=setup:actpass\r
";

const SEND_BOTH: fn() -> AnswerPolicy = || AnswerPolicy {
    receive: None,
    send: vec![MediaKind::Audio.into(), MediaKind::Video.into()],
};

/// Sends one frame of each stream; returns which have a transport-wide number.
fn numbered(peer: &mut Peer, extensions: &ExtensionMap) -> Vec<(MediaKind, bool)> {
    let (path, rtt) = (PathId(0), Duration::from_millis(50));
    let mut now = Instant::ZERO;
    peer.session.handle_input(now, Input::PathUp { path, rtt });
    let mut seen = Vec::new();
    for stream in peer.streams.clone() {
        // After this time, the pacer has no debt from the previous frame.
        now += Duration::from_secs(1);
        let frame = Frame::new(&[0; 100], 0, now);
        while peer.session.poll_output().is_some() {}
        peer.session
            .send_frame(now, stream.stream, &frame)
            .expect("it is a sending stream");
        let outputs = std::iter::from_fn(|| peer.session.poll_output());
        let packets = outputs.filter_map(|output| match output {
            Output::Transmit(transmit) => Some(transmit.packet),
            _ => None,
        });
        for packet in packets {
            let (header, _) = rtp::parse(&packet, extensions).expect("our packets can be read");
            if Some(header.ssrc) == stream.ssrc {
                seen.push((
                    stream.codec().kind(),
                    header.extensions.transport_sequence.is_some(),
                ));
            }
        }
    }
    seen
}

#[test]
fn firefox_gets_transport_numbers_on_video_only() {
    let (mut peer, answer) = answer_to(FIREFOX_PLAYS, &SEND_BOTH()).expect("it is usable");
    assert_eq!(peer.session().level(), Level::SenderSide);
    let [audio, video] = &answer.media[..] else {
        panic!("two sections were offered")
    };
    let ids = |media: &Media| {
        media
            .extensions
            .iter()
            .map(|(id, _)| *id)
            .collect::<Vec<_>>()
    };
    assert_eq!((ids(audio), ids(video)), (vec![1, 3], vec![3, 7]));
    assert!(!audio.payloads[0].has_feedback("transport-cc"));
    assert!(video.payloads[0].has_feedback("transport-cc"));
    let extensions = ExtensionMap {
        transport_sequence: Some(7),
        mid: Some(3),
        ..ExtensionMap::default()
    };
    let expected = [(MediaKind::Audio, false), (MediaKind::Video, true)];
    assert_eq!(numbered(&mut peer, &extensions), expected);
}

#[test]
fn chromium_gets_transport_numbers_on_audio_too() {
    let both =
        "a=extmap:7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    let offer = FIREFOX_PLAYS.replace(
        "a=rtpmap:109 opus/48000/2\r\n",
        &format!("{both}\r\na=rtcp-fb:109 transport-cc\r\na=rtpmap:109 opus/48000/2\r\n"),
    );
    let (mut peer, _) = answer_to(&offer, &SEND_BOTH()).expect("it is usable");
    let extensions = ExtensionMap {
        transport_sequence: Some(7),
        mid: Some(3),
        ..ExtensionMap::default()
    };
    let expected = [(MediaKind::Audio, true), (MediaKind::Video, true)];
    assert_eq!(numbered(&mut peer, &extensions), expected);
}

#[test]
fn numbers_on_audio_alone_give_no_level() {
    let (mark, audio) = ("transport-wide-cc", "a=extmap:1 urn");
    let lines = FIREFOX_PLAYS.split_inclusive('\n');
    let without: String = lines.filter(|l| !l.contains(mark)).collect();
    let both =
        "a=extmap:7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    let offer = without.replacen(
        audio,
        &format!("{both}\r\na=rtcp-fb:109 transport-cc\r\n{audio}"),
        1,
    );
    let (peer, _) = answer_to(&offer, &SEND_BOTH()).expect("it is usable");
    assert_eq!(peer.session().level(), Level::Single);
}

#[test]
fn pion_sends_and_receives_in_one_section() {
    let policy = AnswerPolicy {
        receive: Some(Delivery::Frames),
        send: vec![MediaKind::Video.into()],
    };
    let (peer, answer) = answer_to(samples::PION, &policy).expect("it is usable");
    let expected = [
        (MediaKind::Video, StreamDirection::Send, "0".to_owned()),
        (MediaKind::Video, StreamDirection::Receive, "0".to_owned()),
    ];
    assert_eq!(streams(&peer), expected);
    assert_eq!(answer.media[0].direction, sdp::Direction::SendRecv);
}

#[test]
fn gstreamers_bundle_only_section_is_used() {
    let (peer, _) = answer_to(samples::GSTREAMER, &RECEIVE).expect("it is usable");
    let expected = [
        (
            MediaKind::Video,
            StreamDirection::Receive,
            "video0".to_owned(),
        ),
        (
            MediaKind::Audio,
            StreamDirection::Receive,
            "audio1".to_owned(),
        ),
    ];
    assert_eq!(streams(&peer), expected);
}

#[test]
fn obs_sends_h264_and_nobody_reports_packets() {
    let (peer, answer) = answer_to(samples::OBS, &RECEIVE).expect("it is usable");
    let expected = [
        (MediaKind::Audio, StreamDirection::Receive, "0".to_owned()),
        (MediaKind::Video, StreamDirection::Receive, "1".to_owned()),
    ];
    assert_eq!(streams(&peer), expected);
    assert_eq!(codecs(&peer), [Codec::Opus, Codec::H264]);
    let payload = &answer.media[1].payloads[0];
    assert_eq!((payload.payload_type, &*payload.codec), (96, "H264"));
    assert_eq!(payload.parameter("profile-level-id"), Some("42e01f"));
    assert_eq!(peer.session().level(), Level::Single);
}

fn codecs(peer: &Peer) -> Vec<Codec> {
    peer.streams().iter().map(|s| s.codec()).collect()
}

/// Returns the answer of a peer with these codecs to `offer`, and the negotiated result.
fn answer_with(offer: &str, video: &[Codec]) -> Result<(Peer, Media), NegotiationError> {
    let mut config = config(IceRole::Controlled, 1, "192.0.2.1:5000");
    config.codecs = [video, &[Codec::Opus]].concat();
    let (peer, text) = answer(Instant::ZERO, config, offer, &RECEIVE)?;
    let description = SessionDescription::parse(&text).expect("our answers can be read");
    let is_video = |m: &Media| m.kind == MediaKind::Video.into();
    let video = description.media.into_iter().find(is_video);
    Ok((peer, video.expect("every sample has video")))
}

#[test]
fn transport_numbers_without_feedback_give_no_level() {
    let offer = samples::PION.replace("a=rtcp-fb:96 transport-cc \r\n", "");
    let (peer, answer) = answer_to(&offer, &RECEIVE).expect("it is usable");
    assert_eq!(peer.session().level(), Level::Single);
    assert_eq!(answer.media[0].extensions, []);
}

#[test]
fn an_extension_id_that_one_byte_headers_lack_is_left_out() {
    let offer = samples::PION.replace("a=extmap:1 ", "a=extmap:15 ");
    let (peer, answer) = answer_to(&offer, &RECEIVE).expect("it is usable");
    assert_eq!(peer.session().level(), Level::Single);
    assert_eq!(answer.media[0].extensions, []);
}

#[test]
fn refusals_say_what_is_missing_and_what_would_do() {
    let no_codec = samples::PION.replace("VP8/90000", "AV1/90000");
    let text = refusal(&no_codec, &RECEIVE);
    assert!(
        text.starts_with("the offer's video lists AV1; it needs VP8 or H.264"),
        "{text}"
    );
    let drop_line = |mark: &str| -> String {
        let lines = samples::PION.split_inclusive('\n');
        lines.filter(|l| !l.starts_with(mark)).collect()
    };
    for (mark, name) in [
        ("a=ice-ufrag", "a=ice-ufrag"),
        ("a=ice-pwd", "a=ice-pwd"),
        ("a=fingerprint", "a=fingerprint"),
    ] {
        let text = refusal(&drop_line(mark), &RECEIVE);
        assert!(text.contains(&format!("has no {name};")), "{text}");
    }
    let sha_1 = samples::PION.replace("sha-256 43:DC", "sha-1 43:DC");
    let text = refusal(&sha_1, &RECEIVE);
    assert!(text.contains("must offer sha-256"), "{text}");
    let text = refusal("v=0\r\nm=video\r\n", &RECEIVE);
    assert!(text.contains("line 2"), "{text}");
}

#[test]
fn every_camera_of_an_offer_is_received_under_its_title() {
    let camera = |title: Option<&str>| Section {
        title: title.map(str::to_owned),
        ..Section::new(MediaKind::Video, StreamDirection::Send)
    };
    let sections = [
        camera(Some("Front")),
        camera(None),
        camera(Some("Rear window")),
    ];
    let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, &sections, Delivery::Frames);
    let (receiver, answer) = answer_to(&offer.sdp(), &RECEIVE).expect("our offer is usable");
    let titles = receiver.streams().iter().map(|s| receiver.title(s.stream));
    assert_eq!(
        titles.collect::<Vec<_>>(),
        [Some("Front"), None, Some("Rear window")]
    );
    let sender = offer.accept(Instant::ZERO, &answer.to_string());
    let ssrcs: BTreeSet<_> = sender
        .expect("it fits")
        .streams()
        .iter()
        .map(|s| s.ssrc)
        .collect();
    assert_eq!(ssrcs.len(), 3, "each has a source of its own");
}

#[test]
fn fragments_give_their_usable_candidates() {
    let fragment = "a=ice-ufrag:7sFv\r\na=ice-pwd:dOTZKZNVlO9RSGsEGM63JXT2\r\n\
        m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n\
        a=candidate:1 1 udp 2113937151 192.0.2.9 54400 typ host\r\n\
        a=candidate:2 1 tcp 1518280447 192.0.2.9 9 typ host tcptype active\r\n\
        a=candidate:3 1 udp 2113937151 0b5b9f9e.local 54401 typ host\r\n";
    let read = Fragment::parse(fragment).expect("it can be read");
    let addresses: Vec<String> = read.candidates.iter().map(|c| c.addr.to_string()).collect();
    assert_eq!(addresses, ["192.0.2.9:54400"]);
    assert_eq!(read.credentials.map(|c| c.ufrag).as_deref(), Some("7sFv"));
    let half = fragment.replace("a=ice-pwd:dOTZKZNVlO9RSGsEGM63JXT2\r\n", "");
    assert!(Fragment::parse(&half).is_err());
    let none = half.replace("a=ice-ufrag:7sFv\r\n", "");
    assert!(
        Fragment::parse(&none)
            .expect("it can be read")
            .credentials
            .is_none()
    );
}
