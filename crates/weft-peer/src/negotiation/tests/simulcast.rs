//! Several encodings of one camera (simulcast).

use weft_wire::rtp::Rid;

use super::*;

fn rids(names: &[&str]) -> Vec<Rid> {
    let all = names.iter().map(|name| Rid::new(name));
    all.map(|rid| rid.expect("a token")).collect()
}

fn offer(encodings: &[&str]) -> Offer {
    let section = Section {
        encodings: rids(encodings),
        ..Section::new(MediaKind::Video, StreamDirection::Send)
    };
    let config = config(IceRole::Controlling, 1, "192.0.2.2:5000");
    Offer::new(Instant::ZERO, config, &[section], Delivery::Packets)
}

fn encodings(peer: &Peer) -> Vec<(usize, Option<Rid>)> {
    peer.streams().iter().map(|s| (s.place, s.rid)).collect()
}

#[test]
fn both_sides_have_a_stream_for_each_encoding() {
    let offer = offer(&["q", "h", "f"]);
    let text = offer.sdp();
    assert!(!text.contains("a=ssrc:"), "packets name their encoding");
    let (answerer, answer) = answer_to(&text, &RECEIVE).expect("it takes the offer");
    let listed = answer.media[0].received_encodings();
    assert_eq!(listed, rids(&["q", "h", "f"]));
    let uris: Vec<&str> = answer.media[0].extensions.iter().map(|e| &*e.1).collect();
    for uri in [weft_wire::rtp::RID_URI, weft_wire::rtp::REPAIRED_RID_URI] {
        assert!(uris.contains(&uri), "{uri} in {uris:?}");
    }
    let offerer = offer.accept(Instant::ZERO, &answer.to_string());
    let offerer = offerer.expect("it takes the answer");
    let expected: Vec<_> = rids(&["q", "h", "f"])
        .into_iter()
        .map(|rid| (0, Some(rid)))
        .collect();
    assert_eq!(encodings(&answerer), expected);
    assert_eq!(encodings(&offerer), expected);
}

#[test]
fn an_offerer_sends_the_encodings_that_are_taken_or_the_largest_alone() {
    let answered = |change: &dyn Fn(&mut weft_wire::sdp::Media)| {
        let offer = offer(&["q", "h"]);
        let (_, mut answer) = answer_to(&offer.sdp(), &RECEIVE).expect("it takes the offer");
        change(&mut answer.media[0]);
        let peer = offer.accept(Instant::ZERO, &answer.to_string());
        encodings(&peer.expect("it takes the answer"))
    };
    let fewer = answered(&|media| {
        media.attributes.clear();
        media.receive_encodings(&rids(&["h"]));
    });
    assert_eq!(fewer, [(0, Rid::new("h"))]);
    let none = answered(&|media| media.attributes.clear());
    assert_eq!(none, [(0, None)]);
}

#[test]
fn a_packet_belongs_to_the_encoding_that_the_first_ones_name() {
    use weft_session::Event;
    use weft_units::Ecn;
    use weft_wire::rtp::{Extensions, Header};

    let (mut peer, answer) = answer_to(&offer(&["q", "h"]).sdp(), &RECEIVE).expect("it answers");
    let map = ExtensionMap::from_negotiated(&answer.media[0].extensions);
    let types = &answer.media[0].payloads;
    let of = |name: &str| types.iter().find(|p| p.is(name)).expect("it is listed");
    let (media, rtx) = (of("VP8").payload_type, of("rtx").payload_type);
    let path = PathId(0);
    let rtt = Duration::from_millis(20);
    peer.session
        .handle_input(Instant::ZERO, Input::PathUp { path, rtt });
    let mut sequence = 0;
    let mut send = |ssrc, payload_type, extensions, payload: &[u8]| {
        sequence += 1;
        let header = Header {
            marker: true,
            payload_type,
            sequence,
            timestamp: u32::from(sequence) * 3000,
            ssrc: Ssrc(ssrc),
            extensions,
        };
        let mut packet = Vec::new();
        header.write(&map, &mut packet);
        packet.extend_from_slice(payload);
        let (ecn, packet) = (Ecn::NotEct, &packet[..]);
        let input = Input::Rtp { path, ecn, packet };
        peer.session.handle_input(Instant::ZERO, input);
        let mut received = None;
        while let Some(output) = peer.session.poll_output() {
            if let Output::Event(Event::PacketReceived { stream, .. }) = output {
                let streams = peer.streams.iter();
                received = streams
                    .into_iter()
                    .find(|s| s.stream == stream)
                    .and_then(|s| s.rid);
            }
        }
        received
    };
    let named = |rid| Extensions {
        rid: Rid::new(rid),
        ..Extensions::default()
    };
    let none = Extensions::default();
    let picture = [0x10, 0, 1, 2, 3];
    assert_eq!(
        send(7, media, none, &picture),
        None,
        "nobody knows whose it is"
    );
    // Probes come first, and are empty.
    let repairing = Extensions {
        repaired_rid: Rid::new("h"),
        ..Extensions::default()
    };
    assert_eq!(send(20, rtx, repairing, &[]), None);
    assert_eq!(send(2, media, named("h"), &picture), Rid::new("h"));
    assert_eq!(send(1, media, named("q"), &picture), Rid::new("q"));
    assert_eq!(send(1, media, none, &picture), Rid::new("q"));
    assert_eq!(send(2, media, none, &picture), Rid::new("h"));
    let streams = peer.session.stats().receivers;
    assert_eq!(streams.len(), 2);
}
