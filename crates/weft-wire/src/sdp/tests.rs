use super::*;
use crate::rtp::{ExtensionMap, MID_URI, TRANSPORT_SEQUENCE_URI};
use proptest::prelude::*;
use weft_units::{MediaKind, Ssrc, Transport};

mod samples;

fn mid(text: &str) -> Mid {
    Mid::new(text).unwrap()
}

#[track_caller]
fn parse(text: &str) -> SessionDescription {
    let description = SessionDescription::parse(text).unwrap();
    let emitted = description.to_string();
    assert_eq!(
        SessionDescription::parse(&emitted).as_ref(),
        Ok(&description),
        "emitted: {emitted}"
    );
    description
}

#[test]
fn chromium_is_read() {
    let offer = parse(samples::CHROMIUM);
    assert_eq!(offer.bundle, [mid("0"), mid("1"), mid("2")]);
    assert!(offer.extmap_allow_mixed);
    let [audio, video, data] = &offer.media[..] else {
        panic!("{} sections", offer.media.len());
    };
    assert_eq!(audio.kind, MediaKind::Audio.into());
    assert_eq!(audio.direction, Direction::SendRecv);
    let opus = &audio.payloads[0];
    assert_eq!((opus.codec.as_str(), opus.clock_rate), ("opus", 48_000));
    assert_eq!(opus.channels, Some(2));
    assert_eq!(opus.parameter("useinbandfec"), Some("1"));
    assert!(opus.has_feedback("transport-cc"));

    assert_eq!(video.mid, Some(mid("1")));
    assert_eq!(video.setup, Some(Setup::ActPass));
    assert_eq!(video.ice_ufrag.as_deref(), Some("7sFv"));
    assert_eq!(video.ice_options, ["trickle"]);
    let fingerprint = video.fingerprint.as_ref().unwrap();
    assert_eq!(fingerprint.bytes.len(), 32);
    assert_eq!(fingerprint.bytes[0], 0x6b);
    assert!(video.rtcp_mux && video.rtcp_rsize);
    assert_eq!(video.payloads[0].feedback.len(), 5);
    assert_eq!(video.rtx_of(96), Some(97));
    assert_eq!(video.rtx_of(97), None);
    assert_eq!(video.primary_ssrcs(), [Ssrc(3_735_928_559)]);
    assert_eq!(
        video.rtx_ssrc_of(Ssrc(3_735_928_559)),
        Some(Ssrc(11_259_375))
    );
    let map = ExtensionMap::from_negotiated(&video.extensions);
    assert_eq!(map.transport_sequence, Some(3));
    assert_eq!(map.mid, Some(4));
    let candidate = &video.candidates[0];
    assert_eq!(candidate.socket_addr(), None); // hidden behind a name
    assert!(candidate.address.ends_with(".local"));
    let network_cost = ("network-cost".to_owned(), "999".to_owned());
    assert!(candidate.extensions.contains(&network_cost));

    assert_eq!(data.kind, SectionKind::Application);
    assert_eq!(data.formats, ["webrtc-datachannel"]);
    assert!(data.payloads.is_empty());
}

#[test]
fn firefox_is_read() {
    let offer = parse(samples::FIREFOX);
    assert_eq!(offer.origin.session_id, 1_197_589_987_011_925_003);
    let [stopped, video] = &offer.media[..] else {
        panic!("{} sections", offer.media.len());
    };
    assert!(stopped.is_rejected());
    assert_eq!(stopped.direction, Direction::Inactive);
    assert!(!video.is_rejected());
    assert_eq!(video.direction, Direction::SendOnly);
    // From the session level.
    assert_eq!(video.fingerprint.as_ref().unwrap().bytes[0], 0xc8);
    assert_eq!(video.ice_options, ["trickle"]);
    // Parameters precede their encodings.
    assert_eq!(
        video.payload(120).unwrap().parameter("max-fs"),
        Some("12288")
    );
    assert_eq!(video.rtx_of(120), Some(124));
    assert_eq!(
        video.extensions[..2],
        [
            (3, MID_URI.to_owned()),
            (
                4,
                "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time".to_owned()
            )
        ]
    );
    assert_eq!(video.candidates.len(), 2);
    assert_eq!(video.candidates[1].transport, Transport::Tcp);
    assert!(video.end_of_candidates);
    assert_eq!(video.msid.as_ref().unwrap().stream, "-");
}

#[test]
fn obs_is_read() {
    let offer = parse(samples::OBS);
    // All transport attributes are at the session level; the second group is
    // not a bundle.
    assert_eq!(offer.bundle, [mid("0"), mid("1")]);
    for media in &offer.media {
        assert_eq!(media.setup, Some(Setup::ActPass));
        assert_eq!(media.ice_ufrag.as_deref(), Some("nxcM"));
        assert_eq!(media.ice_pwd.as_deref(), Some("ezjAjgSSLLvbRhUA1zc6Se"));
        assert_eq!(media.ice_options, ["ice2", "trickle"]);
        assert!(media.fingerprint.is_some());
        assert_eq!(media.direction, Direction::SendOnly);
    }
    let video = &offer.media[1];
    assert!(video.payloads[0].is("h264"));
    assert_eq!(video.payloads[0].parameter("packetization-mode"), Some("1"));
    assert_eq!(video.primary_ssrcs(), [Ssrc(3_388_068_601)]);
    assert_eq!(
        video.candidates[0].socket_addr(),
        "192.168.188.53:57249".parse().ok()
    );
}

#[test]
fn gstreamer_is_read() {
    let offer = parse(samples::GSTREAMER);
    assert_eq!(offer.bundle, [mid("video0"), mid("audio1")]);
    let video = &offer.media[0];
    assert_eq!(video.mid, Some(mid("video0")));
    assert_eq!(video.ice_options, ["trickle"]);
    assert!(video.payloads[0].is("VP8"));
    assert!(video.payloads[0].has_feedback("transport-cc"));
    assert_eq!(video.rtx_of(96), Some(98));
    assert!(
        video
            .attributes
            .contains(&("framerate".to_owned(), Some("30".to_owned())))
    );
    assert!(offer.media[1].payloads[0].is("opus"));
}

#[test]
fn pion_is_read() {
    let offer = parse(samples::PION);
    let [video] = &offer.media[..] else {
        panic!("{} sections", offer.media.len());
    };
    assert_eq!(video.fingerprint.as_ref().unwrap().bytes.len(), 32);
    assert_eq!(video.payload(96).unwrap().parameters, "");
    let expected = [(1, TRANSPORT_SEQUENCE_URI.to_owned())];
    assert_eq!(video.extensions, expected);
    let [first, second] = &video.candidates[..] else {
        panic!("{} candidates", video.candidates.len());
    };
    assert_eq!(first.kind, CandidateKind::Host);
    assert_eq!(first.socket_addr(), "[2001:db8::5]:41234".parse().ok());
    assert_eq!(second.kind, CandidateKind::ServerReflexive);
    assert_eq!(second.related, Some(("0.0.0.0".to_owned(), 49152)));
    assert!(video.end_of_candidates);
}

#[test]
fn a_description_is_emitted_line_by_line() {
    let mut video = Media::new(MediaKind::Video);
    video.mid = Some(mid("0"));
    video.title = Some("Rear window".to_owned());
    video.direction = Direction::SendOnly;
    video.extensions = vec![(3, TRANSPORT_SEQUENCE_URI.to_owned())];
    video.ice_ufrag = Some("abcd".to_owned());
    video.ice_pwd = Some("0123456789012345678901".to_owned());
    video.ice_options = vec!["trickle".to_owned(), "renomination".to_owned()];
    video.fingerprint = Some("SHA-256 01:AB".parse().unwrap());
    video.setup = Some(Setup::ActPass);
    video.candidates = vec![
        "candidate:1 1 UDP 7 192.0.2.1 5000 typ host"
            .parse()
            .unwrap(),
    ];
    video.end_of_candidates = true;
    video.rtcp_mux = true;
    video.rtcp_rsize = true;
    video.msid = Some(Msid {
        stream: "weft".to_owned(),
        track: Some("camera".to_owned()),
    });
    video.payloads = vec![Payload {
        payload_type: 96,
        codec: "VP8".to_owned(),
        clock_rate: 90_000,
        channels: None,
        parameters: "max-fr=30".to_owned(),
        feedback: vec!["nack pli".to_owned()],
    }];
    video.ssrc_groups = vec!["FID 1 2".parse().unwrap()];
    video.ssrcs = vec!["1 cname:weft".parse().unwrap()];
    let description = SessionDescription {
        origin: Origin {
            session_id: 5,
            version: 2,
        },
        bundle: vec![mid("0")],
        media: vec![video],
        ..SessionDescription::default()
    };
    let expected = [
        "v=0",
        "o=- 5 2 IN IP4 127.0.0.1",
        "s=-",
        "t=0 0",
        "a=group:BUNDLE 0",
        "m=video 9 UDP/TLS/RTP/SAVPF 96",
        "i=Rear window",
        "c=IN IP4 0.0.0.0",
        "a=candidate:1 1 udp 7 192.0.2.1 5000 typ host",
        "a=end-of-candidates",
        "a=ice-ufrag:abcd",
        "a=ice-pwd:0123456789012345678901",
        "a=ice-options:trickle renomination",
        "a=fingerprint:sha-256 01:AB",
        "a=setup:actpass",
        "a=mid:0",
        "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        "a=sendonly",
        "a=msid:weft camera",
        "a=rtcp-mux",
        "a=rtcp-rsize",
        "a=rtpmap:96 VP8/90000",
        "a=rtcp-fb:96 nack pli",
        "a=fmtp:96 max-fr=30",
        "a=ssrc-group:FID 1 2",
        "a=ssrc:1 cname:weft",
        "",
    ]
    .join("\r\n");
    assert_eq!(description.to_string(), expected);
    assert_eq!(parse(&expected), description);
}

#[test]
fn a_rejected_section_repeats_what_was_offered() {
    let offer = parse(samples::CHROMIUM);
    let data = Media::rejecting(&offer.media[2]);
    let text = data.to_string();
    assert!(text.starts_with("m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n"));
    assert!(data.is_rejected());
    assert_eq!(data.mid, offer.media[2].mid);
}

const MINIMAL: &str = "v=0\no=- 1 2 IN IP4 127.0.0.1\ns=-\nt=0 0\n";

#[test]
fn a_title_is_its_sections_and_is_cut_where_it_is_too_long() {
    let long = "ä".repeat(100);
    let text = format!(
        "{MINIMAL}i=the whole\nm=video 9 UDP/TLS/RTP/SAVPF 96\ni= Front \n\
         m=video 9 UDP/TLS/RTP/SAVPF 96\ni={long}\nm=video 9 UDP/TLS/RTP/SAVPF 96\ni=\n"
    );
    let titles = parse(&text).media.into_iter().map(|m| m.title);
    let expected = [Some("Front".to_owned()), Some("ä".repeat(64)), None];
    assert_eq!(titles.collect::<Vec<_>>(), expected);
}

#[test]
fn feedback_for_all_payload_types_reaches_each_one() {
    let text = format!(
        "{MINIMAL}m=video 9 UDP/TLS/RTP/SAVPF 96 97\na=rtcp-fb:* nack\na=rtcp-fb:96 nack\n\
         a=rtpmap:96 VP8/90000\na=rtcp-fb:97 ccm fir\nm=audio 9 UDP/TLS/RTP/SAVPF 0\n"
    );
    let description = parse(&text);
    let video = &description.media[0];
    assert_eq!(video.payloads[0].feedback, ["nack"]);
    assert_eq!(video.payloads[1].feedback, ["ccm fir", "nack"]);
    assert!(description.media[1].payloads[0].feedback.is_empty());
    // Type 0 needs no rtpmap.
    assert!(description.media[1].payloads[0].is("PCMU"));
}

/// RFC 8888 section 6 allows it only for all payload types, but some clients write it for
/// one.
#[test]
fn congestion_feedback_for_one_payload_type_counts_for_all() {
    let text = format!(
        "{MINIMAL}m=video 9 UDP/TLS/RTP/SAVPF 96 97\na=rtcp-fb:96 ack ccfb\n\
         a=rtcp-fb:96 nack\na=rtpmap:96 VP8/90000\na=rtcp-fb:97 ccm fir\n"
    );
    let description = parse(&text);
    let payloads = &description.media[0].payloads;
    assert_eq!(payloads[0].feedback, ["nack", "ack ccfb"]);
    assert_eq!(payloads[1].feedback, ["ccm fir", "ack ccfb"]);
    assert_eq!(parse(&description.to_string()), description);
}

#[test]
fn the_direction_of_the_session_holds_where_a_section_has_none() {
    let text =
        format!("{MINIMAL}a=recvonly\nm=audio 9 RTP/AVP 0\nm=audio 9 RTP/AVP 0\na=inactive\n");
    let directions: Vec<_> = parse(&text).media.iter().map(|m| m.direction).collect();
    assert_eq!(directions, [Direction::RecvOnly, Direction::Inactive]);
}

#[test]
fn the_bundle_is_found_among_groups() {
    let text = format!("{MINIMAL}a=group:LS 0 1\na=group:BUNDLE 0\na=group:BUNDLE 1\n");
    assert_eq!(parse(&text).bundle, [mid("0")]);
}

#[test]
fn a_mid_counts_once_in_the_bundle() {
    let text = format!("{MINIMAL}a=group:BUNDLE 0 1 0\n");
    assert_eq!(parse(&text).bundle, [mid("0"), mid("1")]);
}

#[test]
fn two_sections_of_one_mid_are_refused() {
    let text = format!("{MINIMAL}m=audio 9 RTP/AVP 0\na=mid:0\nm=audio 9 RTP/AVP 0\na=mid:");
    assert!(SessionDescription::parse(&format!("{text}1\n")).is_ok());
    let error = SessionDescription::parse(&format!("{text}0\n")).unwrap_err();
    assert!(error.to_string().contains("has this mid"), "{error}");
}

#[test]
fn sha_256_is_preferred_among_fingerprints() {
    let section = format!("{MINIMAL}m=video 9 UDP/TLS/RTP/SAVPF 96\n");
    let (sha_1, sha_256) = ("a=fingerprint:sha-1 01\n", "a=fingerprint:sha-256 02\n");
    for lines in [[sha_1, sha_256], [sha_256, sha_1]] {
        let description = parse(&format!("{section}{}", lines.concat()));
        let fingerprint = description.media[0].fingerprint.as_ref().unwrap();
        assert_eq!(fingerprint.bytes, [2]);
    }
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    let section = format!("{MINIMAL}m=video 9 UDP/TLS/RTP/SAVPF 96\n");
    let error = |line: &str| SessionDescription::parse(&format!("{section}{line}\n")).unwrap_err();
    for (line, part) in [
        ("a=ice-ufrag:abc", "ufrag"),
        ("a=ice-pwd:short", "password"),
        ("a=fingerprint:sha-256 0:1", "fingerprint"),
        ("a=fingerprint:sha-256", "fingerprint"),
        ("a=setup:both", "setup"),
        ("a=mid:12345678901234567", "mid"),
        ("a=rtpmap:96 VP8", "clock rate"),
        ("a=rtpmap:200 VP8/90000", "payload type"),
        ("a=extmap:x uri", "extmap"),
        ("a=candidate:1 1 udp", "candidate"),
        ("a=ssrc:4294967296 cname:x", "SSRC"),
        ("m=video", "m= line"),
        ("m=video 9 UDP/TLS/RTP/SAVPF", "formats"),
        ("m=video 9 UDP/TLS/RTP/SAVPF 96 96", "twice"),
        ("m=video 9 UDP/TLS/RTP/SAVPF x", "payload type"),
        ("nonsense", "letter"),
        ("a=x\u{1}", "control"),
    ] {
        let SdpError { line: at, reason } = error(line);
        assert_eq!(at, 6, "{line}: {reason}");
        assert!(reason.contains(part), "{line}: {reason}");
    }
    assert_eq!(SessionDescription::parse("").unwrap_err().line, 1);
}

#[test]
fn candidates_of_unknown_kind_are_ignored() {
    let text = format!(
        "{MINIMAL}m=video 9 UDP/TLS/RTP/SAVPF 96\n\
         a=candidate:1 1 sctp 5 192.0.2.1 5000 typ host\n\
         a=candidate:1 1 udp 5 192.0.2.1 5000 typ satellite\n\
         a=candidate:1 1 udp 5 192.0.2.1 5000 typ relay raddr 198.51.100.1 rport 7\n"
    );
    let media = &parse(&text).media[0];
    assert_eq!(media.candidates.len(), 1);
    assert_eq!(media.candidates[0].kind, CandidateKind::Relayed);
    assert!(
        "candidate:1 1 sctp 5 192.0.2.1 5000 typ host"
            .parse::<Candidate>()
            .is_err()
    );
}

#[test]
fn a_fragment_needs_no_session_lines() {
    let text = "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n\
                m=audio 9 RTP/AVP 0\r\na=mid:0\r\n\
                a=candidate:1 1 udp 5 192.0.2.1 5000 typ host\r\na=end-of-candidates\r\n";
    let fragment = SessionDescription::parse_fragment(text).unwrap();
    let media = fragment.media_by_mid(mid("0")).unwrap();
    assert_eq!(media.ice_ufrag.as_deref(), Some("EsAw"));
    assert_eq!(media.candidates.len(), 1);
    assert!(media.end_of_candidates);
    assert!(SessionDescription::parse(text).is_err());

    let bare = "a=ice-ufrag:EsAw\na=candidate:1 1 udp 5 192.0.2.1 5000 typ host\n";
    let fragment = SessionDescription::parse_fragment(bare).unwrap();
    assert_eq!(fragment.media[0].candidates.len(), 1);
}

#[test]
fn session_attributes_cannot_be_multiplied_without_limit() {
    let too_long = format!("{MINIMAL}a=x:{}\n", "y".repeat(10_000));
    assert!(SessionDescription::parse(&too_long).is_err());
    let sections = |n| format!("{MINIMAL}{}", "m=audio 9 RTP/AVP 0\n".repeat(n));
    assert_eq!(parse(&sections(64)).media.len(), 64);
    assert!(SessionDescription::parse(&sections(65)).is_err());
    let huge = format!("{MINIMAL}{}", "a=x\n".repeat(100_000));
    assert!(SessionDescription::parse(&huge).is_err());
}

/// Generates lines of the samples in random order, with modified octets.
fn shuffled_samples() -> impl Strategy<Value = Vec<u8>> {
    let all = [
        samples::CHROMIUM,
        samples::FIREFOX,
        samples::OBS,
        samples::GSTREAMER,
        samples::PION,
    ];
    let lines: Vec<&str> = all.iter().flat_map(|s| s.lines()).collect();
    let text = proptest::collection::vec(proptest::sample::select(lines), 0..40)
        .prop_map(|lines| format!("{MINIMAL}{}", lines.join("\n")).into_bytes());
    let changes = proptest::collection::vec((any::<proptest::sample::Index>(), 9..127_u8), 0..3);
    (text, changes).prop_map(|(mut text, changes)| {
        for (at, octet) in changes {
            let at = at.index(text.len() - MINIMAL.len() + 1) + MINIMAL.len() - 1;
            text[at] = octet;
        }
        text
    })
}

proptest! {
    #[test]
    fn parsed_descriptions_survive_a_round_trip(text in shuffled_samples()) {
        crate::fuzz::fuzz_sdp(&text);
    }

    #[test]
    fn no_bytes_panic(mut data: Vec<u8>) {
        crate::fuzz::fuzz_sdp(&data);
        data.splice(0..0, *b"v=0\nm=a 9 RTP 1\na=");
        crate::fuzz::fuzz_sdp(&data);
    }
}
