//! Captured packets equal those on the wire, without protection.

use std::collections::BTreeSet;

use weft_peer::{CapturedPacket, PacketWay};
use weft_session::Protocol;

use crate::common::{Side, TestCall};
use crate::wires::is_rtcp;
use crate::world::{Setup, World};
use crate::{seconds, without_line};

/// Bytes that AES-128-GCM adds to RTP (RFC 7714), and to RTCP together with its index.
const TAG: usize = 16;
const TAG_AND_INDEX: usize = TAG + 4;

fn without_rtx(sdp: &str) -> String {
    without_line(&sdp.replace(" rtx/90000", " unknown/90000"), "flexfec")
}

#[test]
fn each_packet_on_the_wires_is_captured_once_at_each_end() {
    // Without RTX, the bytes of a lost packet are sent again.
    let edits: [fn(String) -> String; 2] = [|s| s, |s| without_rtx(&s)];
    for edit_offer in edits {
        let links = ["rate=6mbit,delay=20ms,loss=3%", "rate=4mbit,delay=30ms"];
        let mut world = World::new(&Setup {
            edit_offer,
            ..Setup::new(3, &links)
        });
        for side in [Side::Sender, Side::Receiver] {
            world.side(side).0.capture_packets();
        }
        world.wires.sent = Some(Vec::new());
        world.run(seconds(10));
        let on_wires = world.wires.sent.take().expect("it was set").into_iter();
        let is_media = |datagram: &Vec<u8>| (128..192).contains(&datagram[0]);
        let on_wires = on_wires.map(|(_, datagram)| datagram).filter(is_media);
        let mut lengths: Vec<(bool, usize)> = on_wires
            .map(|datagram| match is_rtcp(&datagram) {
                true => (true, datagram.len() - TAG_AND_INDEX),
                false => (false, datagram.len() - TAG),
            })
            .collect();
        let of = |side: Side, way: PacketWay| -> Vec<&CapturedPacket> {
            let captured = world.record().captured.iter();
            let captured = captured.filter(|(at, packet)| (*at, packet.way) == (side, way));
            captured.map(|(_, packet)| packet).collect()
        };
        let sent = of(Side::Sender, PacketWay::Sent);
        let length =
            |packet: &&CapturedPacket| (packet.protocol == Protocol::Rtcp, packet.packet.len());
        let mut captured: Vec<(bool, usize)> = sent.iter().map(length).collect();
        lengths.sort_unstable();
        captured.sort_unstable();
        assert!(lengths.len() > 2_000, "{} on the wires", lengths.len());
        assert!(
            captured == lengths,
            "{} captured of {}",
            captured.len(),
            lengths.len()
        );
        let paths: BTreeSet<_> = sent.iter().map(|packet| packet.path).collect();
        assert_eq!(paths.len(), 2);

        let arrived = of(Side::Receiver, PacketWay::Received);
        let bytes: BTreeSet<&[u8]> = sent.iter().map(|packet| &packet.packet[..]).collect();
        let rtp = |packet: &&&CapturedPacket| packet.protocol == Protocol::Rtp;
        assert!(
            arrived
                .iter()
                .filter(rtp)
                .all(|p| bytes.contains(&p.packet[..]))
        );
        let [sent, arrived] = [&sent, &arrived].map(|all| all.iter().filter(rtp).count());
        let lost = 1.0 - arrived as f64 / sent as f64;
        assert!((0.002..0.04).contains(&lost), "{arrived} of {sent} arrived");
    }
}

#[test]
fn nothing_is_captured_without_being_asked_for() {
    let mut world = World::new(&Setup::new(3, &["rate=6mbit,delay=20ms"]));
    world.run(seconds(2));
    assert_eq!(world.record().captured, []);
}
