use std::net::SocketAddr;

use weft_secure::{
    Certificate, Config as AssociationConfig, Credentials, IceRole, LinkId, LocalAddress,
    RemoteFilter,
};
use weft_session::{Delivery, Level, MediaKind};
use weft_units::{Instant, Rng, Ssrc};
use weft_wire::rtp::ExtensionMap;
use weft_wire::sdp::{SessionDescription, Setup};

use super::*;
use crate::{Peer, PeerConfig};

/// The offers that `weft-wire` is tested with.
#[path = "../../../weft-wire/src/sdp/tests/samples.rs"]
mod samples;

/// Any epoch will do.
#[allow(clippy::disallowed_methods)]
pub(crate) fn config(role: IceRole, seed: u64, local: &str) -> PeerConfig {
    let rng = Rng::new(seed);
    let mut entropy = [0; 32];
    rng.stream("credentials").fill(&mut entropy);
    PeerConfig {
        association: AssociationConfig {
            role,
            credentials: Credentials::from_entropy(&entropy),
            tie_breaker: seed,
            certificate: Certificate::generate().expect("the system has randomness"),
            epoch: std::time::Instant::now(),
            rng: rng.stream("association"),
        },
        session: weft_session::Config::new(ExtensionMap::default(), Ssrc(1)),
        locals: vec![LocalAddress {
            addr: local.parse::<SocketAddr>().expect("an address"),
            link: LinkId(0),
            cost: 10,
            remotes: RemoteFilter::Any,
        }],
        rng: rng.stream("session"),
    }
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

/// Of each stream: what it is, which way it goes, in which section.
fn streams(peer: &Peer) -> Vec<(MediaKind, Direction, String)> {
    let text = |s: &NegotiatedStream| s.mid.map(|m| m.to_string()).unwrap_or_default();
    let streams = peer.streams().iter();
    streams.map(|s| (s.kind, s.direction, text(s))).collect()
}

#[test]
fn chromium_publishes_audio_and_video_and_no_data() {
    let (peer, answer) = answer_to(samples::CHROMIUM, &RECEIVE).expect("it is usable");
    let expected = [
        (MediaKind::Audio, Direction::Receive, "0".to_owned()),
        (MediaKind::Video, Direction::Receive, "1".to_owned()),
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
    // Who only receives leaves the handshake to the sender.
    assert_eq!(video.setup, Some(Setup::Passive));
}

#[test]
fn chromium_plays_what_we_send_in_the_section_that_it_would_receive() {
    let policy = AnswerPolicy {
        receive: None,
        send: vec![MediaKind::Audio, MediaKind::Video],
    };
    let (peer, answer) = answer_to(samples::CHROMIUM, &policy).expect("audio is usable");
    // The video section is sendonly.
    let expected = [(MediaKind::Audio, Direction::Send, "0".to_owned())];
    assert_eq!(streams(&peer), expected);
    assert_eq!(answer.media[0].direction, sdp::Direction::SendOnly);
    assert_eq!(
        answer.media[0].primary_ssrcs(),
        [peer.streams()[0].ssrc.expect("ours")]
    );
    assert_eq!(answer.media[0].setup, Some(Setup::Active));
    assert!(answer.media[1].is_rejected());
}

#[test]
fn firefox_keeps_its_own_numbers_and_its_rejected_section() {
    let (peer, answer) = answer_to(samples::FIREFOX, &RECEIVE).expect("it is usable");
    let expected = [(MediaKind::Video, Direction::Receive, "1".to_owned())];
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

#[test]
fn pion_sends_and_receives_in_one_section() {
    let policy = AnswerPolicy {
        receive: Some(Delivery::Frames),
        send: vec![MediaKind::Video],
    };
    let (peer, answer) = answer_to(samples::PION, &policy).expect("it is usable");
    let expected = [
        (MediaKind::Video, Direction::Send, "0".to_owned()),
        (MediaKind::Video, Direction::Receive, "0".to_owned()),
    ];
    assert_eq!(streams(&peer), expected);
    assert_eq!(answer.media[0].direction, sdp::Direction::SendRecv);
}

#[test]
fn gstreamers_bundle_only_section_is_used() {
    let (peer, _) = answer_to(samples::GSTREAMER, &RECEIVE).expect("it is usable");
    let expected = [
        (MediaKind::Video, Direction::Receive, "video0".to_owned()),
        (MediaKind::Audio, Direction::Receive, "audio1".to_owned()),
    ];
    assert_eq!(streams(&peer), expected);
}

#[test]
fn of_obs_only_the_audio_can_be_used_and_nobody_reports_packets() {
    let (peer, answer) = answer_to(samples::OBS, &RECEIVE).expect("audio is usable");
    let expected = [(MediaKind::Audio, Direction::Receive, "0".to_owned())];
    assert_eq!(streams(&peer), expected);
    assert!(answer.media[1].is_rejected(), "H.264 only");
    assert_eq!(peer.session().level(), Level::Single);
}

#[test]
fn transport_numbers_without_feedback_are_no_level() {
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
    let no_codec = samples::PION.replace("VP8/90000", "H264/90000");
    assert_eq!(
        refusal(&no_codec, &RECEIVE),
        "no media section can be used: weft needs VP8 (video/90000) or Opus (audio/48000/2)"
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
fn an_answer_must_fit_the_offer() {
    let section = Section {
        kind: MediaKind::Video,
        direction: Direction::Send,
    };
    let offer = || {
        let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
        Offer::new(Instant::ZERO, config, &[section], Delivery::Frames)
    };
    let accept = |text: &str| {
        let refused = offer().accept(Instant::ZERO, text).err();
        refused.expect("the answer is refused").to_string()
    };
    let (_, good) = answer_to(&offer().sdp(), &RECEIVE).expect("our offer is usable");
    let good = good.to_string();
    assert_eq!(
        accept(samples::CHROMIUM),
        "the answer has 3 media sections for 1 offered ones"
    );
    let rejected = good.replace("m=video 9 ", "m=video 0 ");
    assert!(accept(&rejected).contains("no media section can be used"));
    let backwards = good.replace("a=recvonly", "a=sendonly");
    assert!(accept(&backwards).contains("no media section can be used"));
    let peer = offer().accept(Instant::ZERO, &good).expect("it fits");
    assert_eq!(peer.session().level(), Level::Full);
}

#[test]
fn fragments_give_their_usable_candidates() {
    let fragment = "a=ice-ufrag:7sFv\r\na=ice-pwd:dOTZKZNVlO9RSGsEGM63JXT2\r\n\
        m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n\
        a=candidate:1 1 udp 2113937151 192.0.2.9 54400 typ host\r\n\
        a=candidate:2 1 tcp 1518280447 192.0.2.9 9 typ host tcptype active\r\n\
        a=candidate:3 1 udp 2113937151 0b5b9f9e.local 54401 typ host\r\n";
    let candidates = fragment_candidates(fragment).expect("it can be read");
    let addresses: Vec<String> = candidates.iter().map(|c| c.addr.to_string()).collect();
    assert_eq!(addresses, ["192.0.2.9:54400"]);
}
