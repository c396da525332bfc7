//! Native endpoints publish and play through the real server, over loopback
//! sockets.

mod aiortc;
mod cameras;
#[path = "../../src/tests/client.rs"]
#[allow(dead_code)]
mod client;
mod cluster;
mod endpoint;
#[path = "../../src/tests/nats.rs"]
mod nats;
mod planes;
mod relay;
mod room;
mod tcp;

use endpoint::{Endpoint, Source};
use relay::Relay;
use room::{Room, wait_for};
use std::net::{Ipv4Addr, SocketAddr};
use weft_server::{MediaConfig, Security, Server, ServerConfig, ServerError};
use weft_session::{PathState, ProtectionKind};
use weft_testing::where_the_machine_keeps_up;
use weft_units::{Codec, Rate};

/// Number of pictures in one second.
const SECOND: u64 = 30;

#[test]
fn frames_arrive_at_players_of_both_forms() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let publisher = room.publish("ada", &["127.0.0.1"]);
        let offering = room.play("ada", &["127.0.0.1"]);
        let answering = room.play_offered("ada", &["127.0.0.1"], None);
        for player in [&offering, &answering] {
            player.wait_for_frames(2 * SECOND);
            let seen = player.seen();
            room.assert_whole(&seen.frames());
            assert_eq!(seen.spoiled, 0, "frames whose bytes changed");
            assert!(seen.sounds > 2 * 50 / 2, "{} sounds", seen.sounds);
        }
        // A sharp keyframe for each new player, and no flood of them.
        let keyframes = publisher.seen().keyframes_sent;
        assert!((1..=5).contains(&keyframes), "{keyframes} keyframes");
        assert_eq!(room.metric("weft_publications"), 1);
        assert_eq!(room.metric("weft_playbacks"), 2);
    });
}

#[test]
fn h264_is_forwarded_as_it_is_to_players_of_both_forms_and_to_one_that_comes_later() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let source = Source::new(0).with(Codec::H264);
        let publisher = room.publish_present(&room.enter("ada"), source);
        let offering = room.play("ada", &["127.0.0.1"]);
        offering.wait_for_frames(SECOND);
        let answering = room.play_offered("ada", &["127.0.0.1"], None);
        for player in [&offering, &answering] {
            player.wait_for_frames(2 * SECOND);
            let seen = player.seen();
            room.assert_whole(&seen.frames());
            assert_eq!(seen.spoiled, 0, "frames whose bytes changed");
        }
        let keyframes = publisher.seen().keyframes_sent;
        assert!((2..=6).contains(&keyframes), "{keyframes} keyframes");
    });
}

#[test]
fn a_player_without_the_codec_learns_its_name() {
    let room = Room::open();
    let source = Source::new(0).with(Codec::H264);
    let _publisher = room.publish_present(&room.enter("ada"), source);
    let player = Endpoint::start(&["127.0.0.1"], Source::none().with(Codec::Vp8));
    let silent = player.offer_to_receive().replace("opus/48000", "G722/8000");
    let refused = room.request("POST /whep/r/ada", &silent);
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.error().contains("sends H.264"), "{}", refused.body);
    assert!(refused.error().contains("video is VP8"), "{}", refused.body);
}

#[test]
fn players_ask_again_after_a_return_with_another_codec() {
    let room = Room::open();
    let ada = room.enter("ada");
    let _first = room.publish_present(&ada, Source::new(0));
    let player = room.play("ada", &["127.0.0.1"]);
    player.wait_for_frames(SECOND);
    let source = Source::new(1_000_000).with(Codec::H264);
    let second = Endpoint::start(&["127.0.0.1"], source);
    room.publish_as(&ada, &second);
    wait_for("the end of what plays VP8", || player.seen().closed);
    let again = room.play("ada", &["127.0.0.1"]);
    let (number, _) = again.wait_for_frames(SECOND);
    assert!(number >= 1_000_000, "{number}");
    assert_eq!(again.seen().spoiled, 0);
}

#[test]
fn a_slow_player_does_not_slow_the_other() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let _publisher = room.publish("ada", &["127.0.0.1"]);
        // The base layer alone is a quarter of the published 1.4 Mbps.
        let relay = Relay::start(room.media(), Rate::from_kbps(600));
        let slow = room.play_offered("ada", &["127.0.0.1"], Some(&relay));
        let fast = room.play_offered("ada", &["127.0.0.1"], None);
        let (first, last) = fast.wait_for_frames(6 * SECOND);
        // Up to 5 % is the cost of moments without a processor on a busy
        // machine.
        let missed = last - first + 1 - 6 * SECOND;
        assert!(missed < 6 * SECOND / 20, "the fast player misses {missed}");
        let shown = slow.seen().frames();
        let shown = shown.iter().filter(|n| **n > last - 3 * SECOND).count() as u64;
        assert!(
            (SECOND / 4..=3 * SECOND * 2 / 3).contains(&shown),
            "the slow player shows {shown} frames in three seconds"
        );
        assert!(room.metric("weft_packets_thinned_total") > 0);
    });
}

#[test]
fn the_server_makes_lost_packets_again_and_forwards_them() {
    where_the_machine_keeps_up(|| {
        /// Six packets a picture: every fourth picture loses one of them.
        const ONE_IN: u64 = 24;
        let sent_again = |protection: ProtectionKind| {
            let room = Room::open();
            let relay = Relay::losing(room.media(), ONE_IN);
            let source = Source::new(0).protected(protection);
            let publisher = room.publish_through(&relay, source);
            let player = room.play("ada", &["127.0.0.1"]);
            // The first losses teach the sender the amount of protection, and
            // the player its delay: it skips pictures that no other picture
            // refers to.
            let (_, learnt) = player.wait_for_frames(3 * SECOND);
            let sent = || publisher.stats().senders[0];
            let before = sent();
            player.wait_for_frames(9 * SECOND);
            let after = sent();
            let mut frames = player.seen().frames();
            frames.retain(|number| *number > learnt);
            room.assert_whole(&frames);
            assert_eq!(player.seen().spoiled, 0, "{protection}: bytes as sent");
            let media = after.media_packets - before.media_packets;
            let lost = (media / ONE_IN).max(1) as f64;
            let again = after.retransmissions - before.retransmissions;
            println!("{protection}: {again} of {lost} lost packets sent again");
            again as f64 / lost
        };
        // A packet is retransmitted only after the sender knows of its loss;
        // without protection every loss is retransmitted, including lost
        // retransmissions.
        let bare = sent_again(ProtectionKind::None);
        assert!(bare > 0.8, "{bare} of the losses without protection");
        let protected = sent_again(ProtectionKind::WebrtcTable);
        assert!(protected < 0.2, "{protected} of the losses");
    });
}

#[test]
fn both_addresses_of_a_publisher_and_of_a_player_are_used() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let publisher = room.publish("ada", &["127.0.0.1", "127.0.0.2"]);
        let player = room.play("ada", &["127.0.0.1", "127.0.0.2"]);
        player.wait_for_frames(3 * SECOND);
        let sent = publisher.paths();
        assert_eq!(sent.len(), 2, "{sent:?}");
        for path in sent {
            assert!(path.acknowledged_packets > 50, "{path:?}");
        }
        let received = player.paths();
        assert_eq!(received.len(), 2, "{received:?}");
        for path in received {
            assert!(path.received_packets > 50, "{path:?}");
        }
    });
}

#[test]
fn a_link_is_one_path_however_many_addresses_the_server_has() {
    where_the_machine_keeps_up(|| {
        let two = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 3)];
        let room = Room::at(&two);
        let publisher = room.publish("ada", &["127.0.0.1"]);
        let player = room.play("ada", &["127.0.0.1", "127.0.0.2"]);
        player.wait_for_frames(2 * SECOND);
        for (end, links) in [(&publisher, 1), (&player, 2)] {
            let paths = end.paths();
            let up = paths.iter().filter(|p| p.state == PathState::Up);
            assert_eq!(up.count(), links, "{paths:?}");
        }
    });
}

#[test]
fn another_connection_of_the_publisher_takes_over() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let ada = room.enter("ada");
        let _first = room.publish_present(&ada, Source::new(0));
        let player = room.play("ada", &["127.0.0.1"]);
        player.wait_for_frames(SECOND);
        let second = Endpoint::start(&["127.0.0.1"], Source::new(1_000_000));
        room.publish_as(&ada, &second);
        wait_for("frames of the second connection", || {
            let frames = player.seen().frames();
            let new = frames.iter().filter(|n| **n >= 1_000_000).count();
            new as u64 > SECOND
        });
        let frames = player.seen().frames();
        let new: Vec<u64> = frames.into_iter().filter(|n| *n >= 1_000_000).collect();
        room.assert_whole(&new);
        wait_for("the end of the first", || {
            room.metric("weft_publications") == 1
        });
    });
}

#[test]
fn a_connection_that_never_comes_up_takes_nothing_over() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let ada = room.enter("ada");
        let _first = room.publish_present(&ada, Source::new(0));
        let player = room.play("ada", &["127.0.0.1"]);
        player.wait_for_frames(SECOND);
        let mute = Endpoint::start(&["127.0.0.1"], Source::new(1_000_000));
        let offered = room.offer_as(&ada, &mute.offer_to_send());
        assert_eq!(offered.status, 201, "{}", offered.body);
        player.wait_for_frames(3 * SECOND);
        room.assert_whole(&player.seen().frames());
    });
}

#[test]
fn unusable_input_is_refused_with_a_reason() {
    let room = Room::open();
    let nonsense = room.request("POST /whip/r?name=eve", "this is no SDP");
    assert_eq!(nonsense.status, 400);
    assert!(nonsense.error().contains("session description"));
    let endpoint = Endpoint::start(&["127.0.0.1"], Source::new(0));
    let offer = endpoint.offer_to_send();
    let others = offer
        .replace("H264/90000", "H265/90000")
        .replace("VP8/90000", "H265/90000")
        .replace("opus/48000", "G722/8000");
    let no_codec = room.request("POST /whip/r?name=eve", &others);
    assert_eq!(no_codec.status, 422, "{}", no_codec.body);
    let naked: String = offer
        .lines()
        .filter(|l| !l.starts_with("a=fingerprint"))
        .flat_map(|l| [l, "\r\n"])
        .collect();
    let naked = room.request("POST /whip/r?name=eve", &naked);
    assert_eq!(naked.status, 400);
    assert!(naked.error().contains("fingerprint"), "{}", naked.body);
    assert_eq!(room.request("POST /whep/r/nobody", "").status, 404);

    let _publisher = room.publish("ada", &["127.0.0.1"]);
    let offered = room.request("POST /whep/r/ada", "");
    assert_eq!(offered.status, 201);
    let location = offered.header("location").to_owned();
    assert_eq!(
        room.request(&format!("PATCH {location}"), "v=1").status,
        400
    );
    wait_for("an end of what was answered with nonsense", || {
        room.request(&format!("PATCH {location}"), "v=0").status == 404
    });
}

#[test]
fn delete_ends_both_kinds_of_connections() {
    let room = Room::open();
    let publisher = room.publish("ada", &["127.0.0.1"]);
    let leaving = room.play("ada", &["127.0.0.1"]);
    let staying = room.play("ada", &["127.0.0.1"]);
    leaving.wait_for_frames(SECOND);
    assert_eq!(room.delete(&leaving), 200);
    wait_for("a goodbye to the player", || leaving.seen().closed);
    assert_eq!(room.delete(&leaving), 404);
    let before = staying.seen().frames().len() as u64;
    staying.wait_for_frames(before + SECOND);

    assert_eq!(room.delete(&publisher), 200);
    wait_for("a goodbye to the publisher", || publisher.seen().closed);
    wait_for("an empty plane", || {
        room.metric("weft_publications") == 0 && room.metric("weft_playbacks") == 0
    });
    assert_eq!(room.request("POST /whep/r/ada", "").status, 404);
}

#[test]
fn a_publisher_that_says_goodbye_has_ended() {
    let room = Room::open();
    let publisher = room.publish("ada", &["127.0.0.1"]);
    assert_eq!(room.metric("weft_publications"), 1);
    publisher.close();
    wait_for("an end of the publication", || {
        room.metric("weft_publications") == 0
    });
}

#[test]
fn a_server_that_ends_says_goodbye() {
    let room = Room::open();
    let publisher = room.publish("ada", &["127.0.0.1"]);
    let player = room.play("ada", &["127.0.0.1"]);
    player.wait_for_frames(1);
    room.shut();
    for endpoint in [&publisher, &player] {
        wait_for("a goodbye", || endpoint.seen().closed);
    }
}

fn config(listen: Ipv4Addr) -> ServerConfig {
    ServerConfig {
        listen: SocketAddr::from((listen, 0)),
        security: Security::InsecureHttp,
        ..ServerConfig::default()
    }
}

#[test]
fn media_is_on_loopback_where_http_is_and_else_on_all_addresses() {
    let local = Server::start(config(Ipv4Addr::LOCALHOST)).unwrap();
    let addresses: Vec<_> = local.media_addresses().iter().map(SocketAddr::ip).collect();
    assert_eq!(addresses, [Ipv4Addr::LOCALHOST]);

    let public = Server::start(config(Ipv4Addr::UNSPECIFIED)).unwrap();
    let ports: Vec<u16> = public
        .media_addresses()
        .iter()
        .map(SocketAddr::port)
        .collect();
    assert!(
        !ports.is_empty() && ports.iter().all(|port| *port == ports[0]),
        "{ports:?}"
    );
    let mut all = weft_net::machine_addresses().unwrap();
    if all.iter().any(|ip| !ip.is_loopback()) {
        all.retain(|ip| !ip.is_loopback());
    }
    let addresses: Vec<_> = public
        .media_addresses()
        .iter()
        .map(SocketAddr::ip)
        .collect();
    assert!(!addresses.is_empty());
    assert!(
        addresses.iter().all(|ip| all.contains(ip)),
        "{addresses:?} of {all:?}"
    );
}

#[test]
fn a_taken_media_port_is_reported_and_a_server_that_ends_frees_its_own() {
    let first = Server::start(config(Ipv4Addr::LOCALHOST)).unwrap();
    let taken = first.media_addresses()[0];
    let wanted = || ServerConfig {
        media: MediaConfig {
            ports: taken.port()..=taken.port(),
            ..MediaConfig::default()
        },
        ..config(Ipv4Addr::LOCALHOST)
    };
    let refused = Server::start(wanted()).err();
    assert!(
        matches!(refused, Some(ServerError::PortTaken { address }) if address == taken),
        "{refused:?}"
    );
    first.shutdown();
    let second = Server::start(wanted()).unwrap();
    assert_eq!(second.media_addresses(), [taken]);
}
