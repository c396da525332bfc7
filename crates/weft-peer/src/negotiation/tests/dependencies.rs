//! Dependency descriptors in descriptions: negotiated for codecs whose layers are read
//! from them, if headers of both forms may be sent.

use super::*;

/// Offer of Chromium 156, reduced to the relevant lines: it lists the descriptor for every codec.
fn offer(codec: &str, direction: &str, session: &str) -> String {
    format!(
        "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n{session}\
         m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na={direction}\r\n\
         a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\na=setup:actpass\r\na=rtcp-mux\r\n\
         a=fingerprint:sha-256 {}\r\na=rtpmap:96 {codec}/90000\r\n\
         a=extmap:13 {}\r\na=ssrc:7 cname:a\r\n",
        ["0A"; 32].join(":"),
        rtp::DEPENDENCY_URI
    )
}

const MIXED: &str = "a=extmap-allow-mixed\r\n";

fn is_listed(description: &SessionDescription) -> bool {
    let all = description.media.iter().flat_map(|media| &media.extensions);
    let is_listed = all.clone().any(|(_, uri)| uri == rtp::DEPENDENCY_URI);
    assert!(!is_listed || description.extmap_allow_mixed);
    is_listed
}

/// Whether the answer to a publisher or player of this codec lists the descriptor.
fn is_answered(codec: Codec, direction: &str, session: &str) -> bool {
    let mut config = config(IceRole::Controlled, 1, "192.0.2.1:5000");
    config.codecs = Codec::ALL.to_vec();
    let policy = match direction {
        "sendonly" => RECEIVE,
        _ => AnswerPolicy {
            receive: None,
            send: vec![Outgoing {
                kind: MediaKind::Video,
                form: Some(Form::ours(codec)),
            }],
        },
    };
    let offer = offer(codec.encoding(), direction, session);
    let (_, answer) = answer(Instant::ZERO, config, &offer, &policy).expect("it is usable");
    let answer = SessionDescription::parse(&answer).expect("our answers can be read");
    is_listed(&answer)
}

#[test]
fn publishers_and_players_of_vp9_and_av1_get_descriptors_and_those_of_vp8_do_not() {
    for direction in ["sendonly", "recvonly"] {
        for (codec, expected) in [(Codec::Vp8, false), (Codec::Vp9, true), (Codec::Av1, true)] {
            let listed = is_answered(codec, direction, MIXED);
            assert_eq!(listed, expected, "{codec} {direction}");
        }
        assert!(
            !is_answered(Codec::Av1, direction, ""),
            "one form of headers"
        );
    }
}

#[test]
fn our_offers_list_descriptors_where_pictures_can_have_them() {
    let offered = |direction, form: Option<Form>| {
        let mut config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
        config.codecs = Codec::ALL.to_vec();
        let section = Section {
            form,
            ..Section::new(MediaKind::Video, direction)
        };
        let offer = Offer::new(Instant::ZERO, config, &[section], Delivery::Packets).sdp();
        is_listed(&SessionDescription::parse(&offer).expect("our offers can be read"))
    };
    let (send, receive) = (StreamDirection::Send, StreamDirection::Receive);
    assert!(offered(send, None), "any of them");
    assert!(!offered(receive, None), "a browser may choose VP8");
    for direction in [send, receive] {
        assert!(offered(direction, Some(Form::ours(Codec::Vp9))));
        assert!(!offered(direction, Some(Form::ours(Codec::Vp8))));
    }
}
