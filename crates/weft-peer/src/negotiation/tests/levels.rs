use super::*;

#[test]
fn repair_packets_go_to_receivers_that_list_them() {
    let section = Section::new(MediaKind::Video, StreamDirection::Send);
    let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, &[section], Delivery::Frames).sdp();
    assert!(offer.contains("a=rtpmap:98 flexfec/90000\r\n"), "{offer}");
    assert!(offer.contains("a=fmtp:98 repair-window=300000\r\n"));
    let parsed = SessionDescription::parse(&offer).expect("our offers can be read");
    let video = &parsed.media[0];
    let [media] = video.primary_ssrcs()[..] else {
        panic!("one source, and two that repair it: {offer}")
    };
    let repairs = [video.rtx_ssrc_of(media), video.fec_ssrc_of(media)];
    assert!(repairs.iter().all(Option::is_some) && repairs[0] != repairs[1]);
    let (_, answer) = answer_to(&offer, &RECEIVE).expect("it is usable");
    assert_eq!(answer.media[0].fec(), Some(98));

    let send = AnswerPolicy {
        receive: None,
        send: vec![MediaKind::Video.into()],
    };
    let plays = samples::CHROMIUM.replace("a=sendonly", "a=recvonly");
    let (_, answer) = answer_to(&plays, &send).expect("it is usable");
    let answer = answer.to_string();
    assert!(answer.contains("a=ssrc-group:FID"), "we send: {answer}");
    assert!(!answer.contains("flexfec") && !answer.contains("FEC-FR"));
}

/// Level of the session; whether the answer's first video section lists each kind of
/// feedback, and the extension for transport-wide numbers.
fn chosen(offer: &str) -> ((Level, FeedbackFormat), [bool; 3]) {
    let (peer, answer) = answer_to(offer, &SEND_BOTH()).expect("it is usable");
    let session = (peer.session().level(), peer.session().feedback_format());
    let video = answer
        .media
        .iter()
        .find(|m| m.kind == MediaKind::Video.into());
    let video = video.expect("a section of video");
    let lists = |f: &str| video.has_feedback(f);
    let numbers = |(_, uri): &(u8, String)| uri == rtp::TRANSPORT_SEQUENCE_URI;
    let each = [
        lists(sdp::CONGESTION_FEEDBACK),
        lists(sdp::TRANSPORT_FEEDBACK),
        video.extensions.iter().any(numbers),
    ];
    (session, each)
}

#[test]
fn feedback_by_stream_is_preferred_to_transport_wide_feedback() {
    let with = |lines: &str| {
        let mark = "a=rtcp-fb:120 nack pli\r\n";
        FIREFOX_PLAYS.replacen(mark, &format!("{mark}{lines}"), 1)
    };
    let both = with("a=rtcp-fb:* ack ccfb\r\n");
    let by_stream = (
        (Level::SenderSide, FeedbackFormat::Stream),
        [true, false, false],
    );
    assert_eq!(chosen(&both), by_stream);
    // Pion lists it for each payload type.
    let alone = with("a=rtcp-fb:120 ack ccfb\r\n").replace("a=rtcp-fb:120 transport-cc\r\n", "");
    assert_eq!(chosen(&alone), by_stream);
    let numbers = (
        (Level::SenderSide, FeedbackFormat::Transport),
        [false, true, true],
    );
    assert_eq!(chosen(FIREFOX_PLAYS), numbers);
    let (mut peer, answer) = answer_to(&both, &SEND_BOTH()).expect("it is usable");
    let text = answer.to_string();
    assert_eq!(
        text.matches("a=rtcp-fb:* ack ccfb\r\n").count(),
        1,
        "{text}"
    );
    let extensions = ExtensionMap {
        transport_sequence: Some(7),
        mid: Some(3),
        ..ExtensionMap::default()
    };
    let bear = numbered(&mut peer, &extensions);
    assert!(bear.iter().all(|(_, numbered)| !numbered), "{bear:?}");
}

#[test]
fn multipath_feedback_needs_no_other_feedback() {
    let section = Section::new(MediaKind::Video, StreamDirection::Receive);
    let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, &[section], Delivery::Frames).sdp();
    assert!(offer.contains("a=rtcp-fb:* ack ccfb\r\n"), "{offer}");
    let (session, [by_stream, ..]) = chosen(&offer);
    assert_eq!(
        (session, by_stream),
        ((Level::Full, FeedbackFormat::Transport), false)
    );
}
