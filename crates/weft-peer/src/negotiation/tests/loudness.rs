//! Audio level (RFC 6464): in descriptions, and in packets that are sent, received and forwarded.

use weft_session::Event;
use weft_units::{AudioLevel, Ecn};
use weft_wire::media::{ForwardedPacket, MediaPacket};
use weft_wire::payload::Content;
use weft_wire::rtp::{Extensions, Header};

use super::*;

const LOUD: AudioLevel = AudioLevel(0x80 | 20);

fn lists_level(media: &Media) -> bool {
    let mut all = media.extensions.iter();
    all.any(|(_, uri)| uri == rtp::AUDIO_LEVEL_URI)
}

#[test]
fn levels_are_for_sound_alone() {
    let section = |kind| Section::new(kind, StreamDirection::Send);
    let sections = [MediaKind::Audio, MediaKind::Video].map(section);
    let config = config(IceRole::Controlling, 2, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, &sections, Delivery::Frames).sdp();
    let (peer, answer) = answer_to(&offer, &RECEIVE).expect("it is usable");
    let offer = SessionDescription::parse(&offer).expect("our offers can be read");
    for description in [&offer, &answer] {
        let listed: Vec<bool> = description.media.iter().map(lists_level).collect();
        assert_eq!(listed, [true, false]);
    }
    assert_eq!(peer.session().level(), Level::Full, "it decides no level");
    // If a peer lists the extension for video, too, the answer has it only for audio.
    let at_both = samples::CHROMIUM.replace(
        "a=extmap:14 urn:ietf:params:rtp-hdrext:toffset",
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
    );
    let (_, answer) = answer_to(&at_both, &RECEIVE).expect("it is usable");
    let listed: Vec<bool> = answer.media.iter().map(lists_level).collect();
    assert_eq!(listed, [true, false, false]);
}

/// Publisher's packet as the server receives it.
fn published() -> MediaPacket {
    let (mut peer, _) = answer_to(samples::CHROMIUM, &RECEIVE).expect("it is usable");
    let offer = SessionDescription::parse(samples::CHROMIUM).expect("a sample");
    let header = Header {
        marker: false,
        payload_type: offer.media[0].payloads[0].payload_type,
        sequence: 7,
        timestamp: 960,
        ssrc: offer.media[0].primary_ssrcs()[0],
        extensions: Extensions {
            audio_level: Some(LOUD),
            ..Extensions::default()
        },
    };
    let theirs = ExtensionMap {
        audio_level: Some(1),
        ..ExtensionMap::default()
    };
    let mut packet = Vec::new();
    header.write(&theirs, &mut packet);
    packet.extend([1, 2, 3]);
    peer.session.handle_input(
        Instant::ZERO,
        Input::Rtp {
            path: PathId(0),
            ecn: Ecn::NotEct,
            packet: &packet,
        },
    );
    let outputs = std::iter::from_fn(|| peer.session.poll_output());
    let mut received = outputs.filter_map(|output| match output {
        Output::Event(Event::PacketReceived { packet, .. }) => Some(packet),
        _ => None,
    });
    received.next().expect("the packet is of the sound")
}

/// Header extensions that a player with this offer receives.
fn played(offer: &str) -> Extensions {
    let came = published();
    assert_eq!(came.audio_level, Some(LOUD));
    let (mut peer, _) = answer_to(offer, &SEND_BOTH()).expect("it is usable");
    let (path, rtt) = (PathId(0), Duration::from_millis(50));
    let sound = peer.streams[0];
    let now = Instant::ZERO;
    peer.session.handle_input(now, Input::PathUp { path, rtt });
    let packet = ForwardedPacket {
        sequence: 1,
        timestamp: came.timestamp,
        marker: came.marker,
        audio_level: came.audio_level,
        dependency: Box::default(),
        payload: came.payload.into(),
        content: Content::Media,
        keyframe: true,
    };
    let sent = peer.session.send_packet(now, sound.stream, &packet);
    sent.expect("it is a sending stream");
    let outputs = std::iter::from_fn(|| peer.session.poll_output());
    let extensions = ExtensionMap {
        audio_level: Some(1),
        ..ExtensionMap::default()
    };
    let mut headers = outputs.filter_map(|output| match output {
        Output::Transmit(transmit) => {
            let (header, _) = rtp::parse(&transmit.packet, &extensions).ok()?;
            (Some(header.ssrc) == sound.ssrc).then_some(header)
        }
        _ => None,
    });
    headers.next().expect("the packet goes out").extensions
}

#[test]
fn a_level_goes_from_the_publisher_to_players_that_list_it() {
    assert_eq!(played(FIREFOX_PLAYS).audio_level, Some(LOUD));
    let without = FIREFOX_PLAYS.replace("ssrc-audio-level", "unknown");
    assert_eq!(played(&without).audio_level, None);
}
