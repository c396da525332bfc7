use super::*;

#[test]
fn the_offers_first_codec_is_taken_unless_it_is_not_allowed() {
    use Codec::{H264, Vp8};
    // Firefox lists VP8 as 120 and then H.264 as 126.
    for (allowed, payload_type, agreed) in [
        (&[H264, Vp8][..], 120, Vp8),
        (&[H264], 126, H264),
        (&[Vp8], 120, Vp8),
    ] {
        let (peer, media) = answer_with(samples::FIREFOX, allowed).expect("it is usable");
        assert!(codecs(&peer).contains(&agreed));
        assert_eq!(media.payloads[0].payload_type, payload_type);
        assert_eq!(media.payloads.iter().filter(|p| !p.is("rtx")).count(), 1);
    }
    let without = answer_with(samples::PION, &[H264]).err();
    assert!(matches!(without, Some(NegotiationError::NoCodec { .. })));
}

#[test]
fn constrained_baseline_is_taken_before_baseline_and_a_profile_is_kept() {
    // Like the list of Chromium 156, but without the VP8 before them.
    let forms = |forms: &[(u8, &str)]| {
        let lines: String = forms
            .iter()
            .map(|(number, form)| {
                let level = "level-asymmetry-allowed=1";
                format!("a=rtpmap:{number} H264/90000\r\na=fmtp:{number} {level};{form}\r\n")
            })
            .collect();
        let numbers: Vec<String> = forms.iter().map(|(number, _)| number.to_string()).collect();
        let old = samples::OBS;
        let begin = old.find("a=rtpmap:96 H264").expect("OBS sends H.264");
        let video = old.find("m=video").expect("OBS sends video");
        let end = old[video..].find('\r').expect("the line ends") + video;
        let line = format!("m=video 9 UDP/TLS/RTP/SAVPF {}", numbers.join(" "));
        let rest: String = old[begin..]
            .split_inclusive('\n')
            .filter(|l| !l.contains(":96"))
            .collect();
        format!("{}{line}{}{lines}{rest}", &old[..video], &old[end..begin])
    };
    let offer = forms(&[
        (103, "packetization-mode=1;profile-level-id=42001f"),
        (107, "packetization-mode=0;profile-level-id=42e01f"),
        (109, "packetization-mode=1;profile-level-id=42e01f"),
        (112, "packetization-mode=1;profile-level-id=64001f"),
    ]);
    let (_, media) = answer_with(&offer, &[Codec::H264]).expect("it is usable");
    assert_eq!(media.payloads[0].payload_type, 109);
    let offer = forms(&[(103, "packetization-mode=1;profile-level-id=42001f")]);
    let (_, media) = answer_with(&offer, &[Codec::H264]).expect("it is usable");
    let profile = media.payloads[0].parameter("profile-level-id");
    assert_eq!(profile, Some("42001f"));
    // The server forwards H.264 that it need not decode.
    let offer = forms(&[(112, "packetization-mode=1;profile-level-id=64001f")]);
    let (peer, media) = answer_with(&offer, &[Codec::H264]).expect("it is usable");
    assert_eq!(codecs(&peer), [Codec::Opus, Codec::H264]);
    assert_eq!(
        media.payloads[0].parameter("profile-level-id"),
        Some("64001f")
    );
    let offer = forms(&[(112, "packetization-mode=2;profile-level-id=42e01f")]);
    let refused = answer_with(&offer, &[Codec::H264]).err();
    assert!(matches!(refused, Some(NegotiationError::NoCodec { .. })));
}

#[test]
fn our_offer_lists_what_we_allow_in_our_order_and_ours_answer_it() {
    let section = Section::new(MediaKind::Video, StreamDirection::Send);
    for video in [
        vec![Codec::H264],
        vec![Codec::H264, Codec::Vp8],
        vec![Codec::Vp8],
    ] {
        let mut config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
        config.codecs.clone_from(&video);
        let offer = Offer::new(
            Instant::ZERO,
            config,
            std::slice::from_ref(&section),
            Delivery::Frames,
        );
        let text = offer.sdp();
        let (peer, answer) = answer_to(&text, &RECEIVE).expect("it is ours");
        assert_eq!(codecs(&peer), [video[0]]);
        let sender = offer.accept(Instant::ZERO, &answer.to_string());
        let sender = sender.expect("it fits");
        assert_eq!(codecs(&sender), [video[0]]);
        let offered = SessionDescription::parse(&text).expect("it can be read");
        let payloads = &offered.media[0].payloads;
        let named: Vec<&str> = payloads.iter().map(|p| p.codec.as_str()).collect();
        let mut expected: Vec<&str> = video
            .iter()
            .flat_map(|codec| [codec.encoding(), "rtx"])
            .collect();
        expected.push("flexfec");
        assert_eq!(named, expected);
    }
}

/// A player's offer of H.264 in these forms.
fn player(forms: &[&str]) -> String {
    let numbers: Vec<String> = (0..forms.len()).map(|i| (100 + i).to_string()).collect();
    let lines = numbers.iter().zip(forms);
    let lines: String = lines
        .map(|(pt, form)| format!("a=rtpmap:{pt} H264/90000\r\na=fmtp:{pt} {form}\r\n"))
        .collect();
    let offer = samples::PION.replace("a=sendrecv", "a=recvonly");
    let offer = offer.replace("a=rtpmap:96 VP8/90000\r\n", &lines);
    let line = offer
        .lines()
        .find(|l| l.starts_with("m=video"))
        .expect("it has one");
    let offered = format!("m=video 9 UDP/TLS/RTP/SAVPF {}", numbers.join(" "));
    offer.replace(line, &offered)
}

#[test]
fn a_player_gets_the_profiles_that_its_own_decodes() {
    let form = |id: &str| {
        Form::of(&sdp::Payload {
            codec: "H264".to_owned(),
            parameters: id.to_owned(),
            clock_rate: 90_000,
            ..sdp::Payload::default()
        })
        .expect("it is known")
    };
    let play = |sent: &str, listed: &[&str]| {
        let outgoing = Outgoing {
            kind: MediaKind::Video,
            form: Some(form(sent)),
        };
        let policy = AnswerPolicy {
            receive: None,
            send: vec![outgoing],
        };
        let answered = answer_to(&player(listed), &policy);
        answered.map(|(_, answer)| answer.media[0].payloads[0].payload_type)
    };
    const BASELINE: &str = "packetization-mode=1;profile-level-id=42e01f";
    const HIGH: &str = "packetization-mode=1;profile-level-id=64001f";
    const SINGLE: &str = "packetization-mode=0;profile-level-id=42e01f";
    for (sent, listed, payload_type) in [
        (BASELINE, &[HIGH][..], 100),
        (BASELINE, &[HIGH, BASELINE], 101),
        (HIGH, &[BASELINE, HIGH], 101),
        (
            "packetization-mode=1;profile-level-id=4d0028",
            &[BASELINE, HIGH],
            101,
        ),
        (SINGLE, &["profile-level-id=42e00a"], 100),
        (SINGLE, &["packetization-mode=0"], 100),
        (BASELINE, &["level-asymmetry-allowed=1"], 100),
    ] {
        let taken = play(sent, listed).expect("it is played");
        assert_eq!(taken, payload_type, "{sent} {listed:?}");
    }
    let refusal = |sent, listed: &[&str]| play(sent, listed).expect_err("refused").to_string();
    assert_eq!(
        refusal(HIGH, &[BASELINE]),
        "the offer's video lists H.264 (constrained baseline profile, packetization-mode=1); \
         it needs H.264 (high profile, packetization-mode=1)"
    );
    let text = refusal(BASELINE, &[SINGLE]);
    assert!(text.contains("packetization-mode=0); it needs"), "{text}");
}

#[test]
fn repair_packets_share_their_payload_type_with_no_codec() {
    for codec in Codec::ALL {
        let description = weft_wire::payload::format_of(codec).description();
        let both = [Some(description.payload_type), description.rtx];
        assert!(
            !both.contains(&Some(super::super::offering::FEC)),
            "{codec}"
        );
    }
}
