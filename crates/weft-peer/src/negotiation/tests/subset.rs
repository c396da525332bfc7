//! An answer contains nothing that the offer does not contain (RFC 3264 section 6).

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const CODECS: [(&str, &str); 9] = [
    ("video", "VP8/90000"),
    ("video", "H264/90000"),
    ("video", "rtx/90000"),
    ("video", "flexfec/90000"),
    ("video", "AV1/90000"),
    ("audio", "opus/48000/2"),
    ("audio", "PCMU/8000"),
    ("audio", "red/48000/2"),
    ("audio", "rtx/48000"),
];
const FEEDBACK: [&str; 7] = [
    "nack",
    "nack pli",
    "ccm fir",
    "transport-cc",
    "ack ccfb",
    "goog-remb",
    "x-other",
];
const URIS: [&str; 5] = [
    rtp::MID_URI,
    rtp::TRANSPORT_SEQUENCE_URI,
    rtp::PATH_URI,
    rtp::AUDIO_LEVEL_URI,
    "urn:x-other",
];
const DIRECTIONS: [&str; 4] = ["sendrecv", "sendonly", "recvonly", "inactive"];

/// Media section with payload types from 96 on, in some order.
fn section() -> impl Strategy<Value = String> {
    let codecs = prop::collection::vec(any::<prop::sample::Index>(), 1..6);
    let feedback = prop::collection::vec((0..6_u8, prop::sample::select(&FEEDBACK[..])), 0..8);
    let extension = (1..40_u16, prop::sample::select(&URIS[..]), 0..4_usize);
    let extensions = prop::collection::vec(extension, 0..6);
    let kind = prop::sample::select(&["audio", "video"][..]);
    let direction = prop::sample::select(&DIRECTIONS[..]);
    let flags = (any::<bool>(), 0..10_u8, 0..10_u8, any::<bool>());
    (kind, codecs, feedback, extensions, direction, flags).prop_map(
        |(kind, codecs, feedback, extensions, direction, (rsize, no_mux, stopped, trickle))| {
            let of_kind: Vec<&str> = CODECS
                .iter()
                .filter(|(of, _)| *of == kind)
                .map(|(_, codec)| *codec)
                .collect();
            let types = 96..96 + codecs.len();
            let list: Vec<String> = types.clone().map(|pt| pt.to_string()).collect();
            let port = if stopped == 0 { 0 } else { 9 };
            let mut text = format!("m={kind} {port} UDP/TLS/RTP/SAVPF {}\r\n", list.join(" "));
            for (pt, index) in types.zip(&codecs) {
                let codec = index.get(&of_kind);
                text += &format!("a=rtpmap:{pt} {codec}\r\n");
                if codec.starts_with("H264") {
                    text +=
                        &format!("a=fmtp:{pt} packetization-mode=1;profile-level-id=42e01f\r\n");
                }
                if codec.starts_with("rtx") {
                    text += &format!("a=fmtp:{pt} apt={}\r\n", pt - 1);
                }
            }
            for (pt, feedback) in feedback {
                text += &match pt {
                    0 => format!("a=rtcp-fb:* {feedback}\r\n"),
                    pt => format!("a=rtcp-fb:{} {feedback}\r\n", 95 + u16::from(pt)),
                };
            }
            for (id, uri, direction) in extensions {
                let direction = ["", "/sendonly", "/recvonly", "/sendrecv"][direction];
                text += &format!("a=extmap:{id}{direction} {uri}\r\n");
            }
            for (present, line) in [
                (rsize, "rtcp-rsize"),
                (no_mux != 0, "rtcp-mux"),
                (trickle, "ice-options:trickle"),
                (true, direction),
            ] {
                if present {
                    text += &format!("a={line}\r\n");
                }
            }
            text + "a=rid:hi send\r\na=simulcast:send hi\r\na=x-other:1\r\n"
        },
    )
}

/// Whole offer; most sections are in its group, in any order.
fn offers() -> impl Strategy<Value = String> {
    let sections = prop::collection::vec((section(), 0..8_u8), 1..5);
    (sections, any::<bool>()).prop_map(|(sections, backwards)| {
        let mut group = Vec::new();
        let mut text = String::new();
        for (index, (section, out)) in sections.iter().enumerate() {
            if *out != 0 {
                group.push(format!("m{index}"));
            }
            text += section;
            text += &format!("a=mid:m{index}\r\na=setup:actpass\r\n");
        }
        if backwards {
            group.reverse();
        }
        let group = match group.is_empty() {
            true => String::new(),
            false => format!("a=group:BUNDLE {}\r\n", group.join(" ")),
        };
        let fingerprint = samples::PION
            .lines()
            .find(|l| l.starts_with("a=fingerprint"));
        let fingerprint = fingerprint.expect("it has one");
        format!(
            "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n{group}{fingerprint}\r\n\
             a=ice-ufrag:abCD\r\na=ice-pwd:0123456789abcdefghijklmn\r\n{text}"
        )
    })
}

/// Values of the `a=NAME:VALUE` lines of each section, after those of the session.
fn values(text: &str, name: &str) -> Vec<BTreeSet<String>> {
    let mark = format!("a={name}:");
    let of = |section: &str| {
        let lines = section.lines();
        lines
            .filter_map(|l| l.strip_prefix(&mark).map(str::to_owned))
            .collect()
    };
    text.split("\r\nm=").map(of).collect()
}

fn check(offer: &str, policy: &AnswerPolicy) {
    let config = config(IceRole::Controlled, 1, "192.0.2.1:5000");
    let Ok((_, answer)) = answer(Instant::ZERO, config, offer, policy) else {
        return;
    };
    let head = |text: &str| values(text, "group")[0].iter().next().cloned();
    let mids = |group: Option<String>| -> BTreeSet<String> {
        let words = group.unwrap_or_default();
        words.split(' ').skip(1).map(str::to_owned).collect()
    };
    assert!(
        mids(head(&answer)).is_subset(&mids(head(offer))),
        "{answer}"
    );
    for name in [
        "extmap",
        "rid",
        "simulcast",
        "mid",
        "ice-options",
        "x-other",
    ] {
        let mut offered = offer.replace("/sendrecv ", " ");
        if let "rid" | "simulcast" = name {
            // One side sends what the other receives (RFC 8853 section 5.3.2).
            offered = offered.replace(" send\r\n", " recv\r\n");
            offered = offered.replace("a=simulcast:send", "a=simulcast:recv");
        }
        let offered = values(&offered, name);
        let pairs = values(&answer, name).into_iter().zip(offered);
        for (answered, offered) in pairs {
            assert!(
                answered.is_subset(&offered),
                "{name}: {answered:?}\n{answer}"
            );
        }
    }
    let parse = |text: &str| SessionDescription::parse(text).expect("it can be read");
    let (offered, answered) = (parse(offer), parse(&answer));
    assert_eq!(offered.media.len(), answered.media.len());
    for (offered, answered) in offered.media.iter().zip(&answered.media) {
        assert_eq!((&offered.kind, offered.mid), (&answered.kind, answered.mid));
        assert_eq!(offered.protocol, answered.protocol);
        for payload in &answered.payloads {
            let of = offered
                .payload(payload.payload_type)
                .expect("it was offered");
            assert!(payload.is(&of.codec) && payload.clock_rate == of.clock_rate);
            let feedback = &payload.feedback;
            // RFC 8888 section 6 allows "ack ccfb" only for all payload types at once.
            let listed = |f: &String| match f.as_str() {
                sdp::CONGESTION_FEEDBACK => offered.has_feedback(f),
                _ => of.has_feedback(f),
            };
            assert!(feedback.iter().all(listed), "{feedback:?}");
        }
        assert!(offered.rtcp_mux || !answered.rtcp_mux);
        assert!(offered.rtcp_rsize || !answered.rtcp_rsize);
        assert!(offered.direction.sends() || !answered.direction.receives());
        assert!(offered.direction.receives() || !answered.direction.sends());
        assert!(!offered.is_rejected() || answered.is_rejected());
        let used = answered.direction != sdp::Direction::Inactive;
        let bundled = answered
            .mid
            .is_some_and(|mid| parse(&answer).bundle.contains(&mid));
        assert!(!(answered.is_rejected() && (used || bundled)), "{answer}");
    }
    let live = answered.media.iter().filter(|m| !m.is_rejected());
    assert!(
        live.count() <= 1.max(parse(&answer).bundle.len()),
        "{answer}"
    );
}

proptest! {
    #[test]
    fn an_answer_has_nothing_that_was_not_offered(offer in offers()) {
        let send = SEND_BOTH();
        check(&offer, &RECEIVE);
        check(&offer, &send);
        check(&offer, &AnswerPolicy { receive: RECEIVE.receive, ..send });
    }
}

#[test]
fn an_answer_must_fit_the_offer() {
    let section = Section::new(MediaKind::Video, StreamDirection::Send);
    let offer = || {
        let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
        Offer::new(
            Instant::ZERO,
            config,
            std::slice::from_ref(&section),
            Delivery::Frames,
        )
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
    assert!(accept(&rejected).contains("accepts no media: video is refused (port 0); weft needs"));
    for direction in ["sendonly", "inactive"] {
        let other = good.replace("a=recvonly", &format!("a={direction}"));
        let refused = accept(&other);
        assert!(
            refused.contains(&format!("video is a={direction} with VP8")),
            "{refused}"
        );
    }
    let peer = offer().accept(Instant::ZERO, &good).expect("it fits");
    assert_eq!(peer.session().level(), Level::Full);
}
