//! No answer accepts only a part of an offered kind of media (RFC 9725 section 4.4.3),
//! and a rejected section ends no call.

use super::*;

/// Section of a browser's offer.
fn section(kind: &str, mid: &str, codecs: &[&str], direction: &str) -> String {
    let types: Vec<String> = (0..codecs.len()).map(|i| (96 + i).to_string()).collect();
    let maps = codecs.iter().zip(&types);
    let maps: String = maps
        .map(|(codec, pt)| format!("a=rtpmap:{pt} {codec}\r\n"))
        .collect();
    format!(
        "m={kind} 9 UDP/TLS/RTP/SAVPF {}\r\nc=IN IP4 0.0.0.0\r\na=mid:{mid}\r\n\
         a=ice-ufrag:abCD{mid}\r\na=ice-pwd:0123456789abcdefghijklmn\r\na={direction}\r\n\
         a=rtcp-mux\r\na=setup:actpass\r\n{maps}",
        types.join(" ")
    )
}

fn sound(mid: &str, direction: &str) -> String {
    section("audio", mid, &["opus/48000/2"], direction)
}

fn vp8(mid: &str, direction: &str) -> String {
    section("video", mid, &["VP8/90000"], direction)
}

const DATA: &str = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n\
    a=mid:d\r\na=ice-ufrag:abCDd\r\na=ice-pwd:0123456789abcdefghijklmn\r\na=setup:actpass\r\n\
    a=sctp-port:5000\r\n";

fn offer(group: &str, sections: &[String]) -> String {
    let fingerprint = samples::PION
        .lines()
        .find(|l| l.starts_with("a=fingerprint"));
    let fingerprint = fingerprint.expect("it has one");
    let group = match group {
        "" => String::new(),
        mids => format!("a=group:BUNDLE {mids}\r\n"),
    };
    format!(
        "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n{group}{fingerprint}\r\n{}",
        sections.concat()
    )
}

/// Policy of an answer that sends these kinds.
fn send(kinds: &[MediaKind]) -> AnswerPolicy {
    AnswerPolicy {
        receive: None,
        send: kinds.iter().map(|kind| (*kind).into()).collect(),
    }
}

const VIDEO: MediaKind = MediaKind::Video;
const AUDIO: MediaKind = MediaKind::Audio;

#[test]
fn a_publisher_whose_picture_or_sound_has_no_codec_is_refused_whole() {
    let av1 = |mid| section("video", mid, &["AV1/90000", "rtx/90000"], "sendonly");
    let pcmu = section("audio", "0", &["PCMU/8000"], "sendonly");
    let refused = [
        (
            offer("0 1", &[sound("0", "sendonly"), av1("1")]),
            "video lists AV1; it needs VP8 or H.264",
        ),
        (
            offer("0 1", &[pcmu, vp8("1", "sendonly")]),
            "audio lists PCMU; it needs Opus",
        ),
        // Two cameras, only one of which is usable.
        (
            offer("0 1", &[vp8("0", "sendonly"), av1("1")]),
            "video lists AV1; it needs VP8",
        ),
    ];
    for (offer, words) in refused {
        let text = refusal(&offer, &RECEIVE);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_section_that_sends_nothing_here_refuses_nobody() {
    let data = DATA.to_owned();
    let stopped = vp8("1", "sendonly").replace("m=video 9", "m=video 0");
    let watched = section("video", "1", &["AV1/90000"], "recvonly");
    for (other, rejected) in [
        (data, true),
        (stopped, true),
        (watched, true),
        (vp8("1", "inactive"), false),
        (vp8("1", "recvonly"), false),
    ] {
        let offer = offer("0 1 d", &[sound("0", "sendonly"), other.clone()]);
        let (peer, answer) = answer_to(&offer, &RECEIVE).expect("the sound is taken");
        assert_eq!(peer.streams().len(), 1, "{other}");
        let section = &answer.media[1];
        assert_eq!(section.is_rejected(), rejected, "{other}");
        assert_eq!(section.direction, sdp::Direction::Inactive);
        assert!(section.ice_ufrag.is_some() && section.setup.is_some());
        assert_eq!(answer.bundle.len(), if rejected { 1 } else { 2 });
    }
}

#[test]
fn a_player_gets_the_published_media_that_it_takes() {
    let both = offer("0 1", &[sound("0", "recvonly"), vp8("1", "recvonly")]);
    for (sent, flows) in [
        (
            &[AUDIO][..],
            [sdp::Direction::SendOnly, sdp::Direction::Inactive],
        ),
        (
            &[VIDEO],
            [sdp::Direction::Inactive, sdp::Direction::SendOnly],
        ),
        (&[VIDEO, AUDIO], [sdp::Direction::SendOnly; 2]),
        (&[VIDEO, VIDEO, AUDIO], [sdp::Direction::SendOnly; 2]),
    ] {
        let (_, answer) = answer_to(&both, &send(sent)).expect("it is played");
        let directions: Vec<_> = answer.media.iter().map(|m| m.direction).collect();
        assert_eq!(directions, flows);
        assert!(answer.media.iter().all(|m| !m.is_rejected()));
    }
    let pictures = offer("0", &[vp8("0", "recvonly")]);
    let (_, answer) = answer_to(&pictures, &send(&[VIDEO, AUDIO])).expect("it is played");
    assert_eq!(answer.media[0].direction, sdp::Direction::SendOnly);
    let text = refusal(&pictures, &send(&[AUDIO]));
    assert!(text.contains("the offer takes video only"), "{text}");
    let av1 = section("video", "1", &["AV1/90000"], "recvonly");
    let av1 = offer("0 1", &[sound("0", "recvonly"), av1]);
    let text = refusal(&av1, &send(&[VIDEO, AUDIO]));
    assert!(text.contains("video lists AV1; it needs VP8"), "{text}");
    let (_, answer) = answer_to(&av1, &send(&[AUDIO])).expect("there are no pictures");
    assert!(answer.media[1].is_rejected());
}

#[test]
fn the_wrong_direction_is_named() {
    let of = |direction| offer("0 1", &[sound("0", direction), vp8("1", direction)]);
    let words = |text: String| text.replace("the offer's media is ", "");
    assert_eq!(words(refusal(&of("recvonly"), &RECEIVE)), "a=recvonly");
    assert_eq!(words(refusal(&of("inactive"), &RECEIVE)), "a=inactive");
    assert_eq!(
        words(refusal(&of("sendonly"), &send(&[VIDEO]))),
        "a=sendonly"
    );
    let mixed = offer("0 1", &[sound("0", "inactive"), vp8("1", "recvonly")]);
    assert_eq!(
        words(refusal(&mixed, &RECEIVE)),
        "a=inactive and a=recvonly"
    );
    let data = offer("d", &[DATA.to_owned()]);
    assert!(refusal(&data, &RECEIVE).contains("no audio or video section"));
}

#[test]
fn one_transport_is_shared_by_a_group_that_was_offered_or_by_one_section() {
    let both = || [sound("0", "sendonly"), vp8("1", "sendonly")];
    for group in ["", "0", "1", "0 x"] {
        let refused = answer_to(&offer(group, &both()), &RECEIVE).err();
        assert!(
            matches!(refused, Some(NegotiationError::NotBundled)),
            "{group}"
        );
    }
    let (_, answer) = answer_to(&offer("", &both()[..1]), &RECEIVE).expect("it is alone");
    assert_eq!(answer.bundle, []);
    assert!(!answer.to_string().contains("a=group"));
    // A section without any stream needs no transport.
    let watched = [sound("0", "recvonly"), vp8("1", "recvonly")];
    let (_, answer) = answer_to(&offer("", &watched), &send(&[AUDIO])).expect("it is alone");
    assert!(answer.media[1].is_rejected());
    assert_eq!(answer.bundle, []);
    let parted = both().map(|s| s.replace("a=rtcp-mux\r\n", ""));
    let refused = answer_to(&offer("0 1", &parted), &RECEIVE).err();
    assert!(matches!(refused, Some(NegotiationError::NoRtcpMux)));
}

/// Until the answer bundles them, each section may have its own transport.
#[test]
fn the_groups_first_section_in_use_describes_the_transport() {
    let both = [sound("0", "sendonly"), vp8("1", "sendonly")];
    let tagged = |group: &str, sections: &[String]| {
        let offer = offer(group, sections);
        let offer = SessionDescription::parse(&offer).expect("it can be read");
        let used = offer.media.iter().filter(|m| !m.is_rejected());
        let used: Vec<&Media> = used.collect();
        let remote = remote_transport(&offer, &used, DtlsRole::Client);
        remote.expect("it is described").credentials.ufrag
    };
    assert_eq!(tagged("0 1", &both), "abCD0");
    assert_eq!(tagged("1 0", &both), "abCD1");
    let stopped = both[0].replace("m=audio 9", "m=audio 0");
    assert_eq!(tagged("0 1", &[stopped, both[1].clone()]), "abCD1");
}
