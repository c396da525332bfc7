//! Temporal layers of VP9 and AV1 in the structure L1T3: 0 2 1 2.

use super::*;

/// Packets of a picture: two of VP9, with the U bit on pictures of the base layer.
fn vp9(picture: u64, keyframe: bool) -> Vec<MediaPacket> {
    let layer = PATTERN[(picture % 4) as usize];
    let inter = if keyframe { 0 } else { 0x40 };
    let up = if layer == 0 { 0x10 } else { 0 };
    let packets = (0..2_u64).map(|n| {
        let start = if n == 0 { 0x08 } else { 0 };
        let [high, low] = (picture as u16).to_be_bytes();
        let layers = layer << 5 | up;
        let descriptor = [0xa0 | inter | start, 0x80 | high, low, layers, 0, 0xaa];
        packet(2 * picture + n, picture, n == 1, descriptor.to_vec())
    });
    packets.collect()
}

/// Packets of a picture: two of AV1, the first of which names the layer.
fn av1(picture: u64, keyframe: bool) -> Vec<MediaPacket> {
    let layer = PATTERN[(picture % 4) as usize];
    let new = if keyframe { 0x08 } else { 0 };
    let first = vec![0x50 | new, 0x34, layer << 5, 0xaa];
    let second = vec![0x90, 0xbb];
    vec![
        packet(2 * picture, picture, false, first),
        packet(2 * picture + 1, picture, true, second),
    ]
}

fn packet(sequence: u64, picture: u64, marker: bool, payload: Vec<u8>) -> MediaPacket {
    MediaPacket {
        sequence: 10 + sequence,
        timestamp: (picture as u32) * TICKS,
        marker,
        audio_level: None,
        dependency: SharedBytes::default(),
        payload: payload.into(),
    }
}

/// Source pictures of the packets, by their timestamps, which are not changed.
fn pictures(packets: &[ForwardedPacket]) -> Vec<u64> {
    let numbers = packets.iter().map(|p| u64::from(p.timestamp / TICKS));
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.dedup();
    numbers
}

/// Link that carries only the base layer at first, then everything.
fn narrow_then_wide(
    codec: Codec,
    source: fn(u64, bool) -> Vec<MediaPacket>,
) -> (Vec<ForwardedPacket>, Vec<ForwardedPacket>) {
    let mut forwarder = Forwarder::new(codec);
    let rates = rates();
    let send = |forwarder: &mut Forwarder, pictures: std::ops::Range<u64>| {
        for picture in pictures {
            for packet in source(picture, picture == 0) {
                forwarder.handle_packet(at(2_000 + picture * 33), &packet, &rates);
            }
        }
        packets(forwarder)
    };
    limit(&mut forwarder, 250);
    let narrow = send(&mut forwarder, 0..16);
    limit(&mut forwarder, 5_000);
    let wide = send(&mut forwarder, 16..80);
    (narrow, wide)
}

#[test]
fn layers_that_do_not_fit_are_left_out_and_return_behind_a_base_picture() {
    for (codec, source) in [
        (Codec::Vp9, vp9 as fn(u64, bool) -> Vec<MediaPacket>),
        (Codec::Av1, av1),
    ] {
        let (narrow, wide) = narrow_then_wide(codec, source);
        assert_eq!(pictures(&narrow), [0, 4, 8, 12], "{codec}");
        let shown = pictures(&wide);
        let first = shown.iter().find(|picture| *picture % 4 != 0).copied();
        let first = first.expect("the other layers return");
        assert_eq!(first % 4, 1, "{codec}: behind a picture of the base layer");
        assert!(shown.ends_with(&(first..80).collect::<Vec<_>>()), "{codec}");
        // Receivers see no gap.
        let numbers = narrow.iter().chain(&wide).map(|p| p.sequence);
        let count = (narrow.len() + wide.len()) as u64;
        assert!(numbers.eq(1..=count), "{codec}");
    }
}

#[test]
fn picture_ids_of_vp9_keep_their_distances() {
    let (narrow, wide) = narrow_then_wide(Codec::Vp9, vp9);
    let shift = |packet: &ForwardedPacket| {
        let payload = packet.payload.to_vec();
        let id = u16::from_be_bytes([payload[1] & 0x7f, payload[2]]);
        i64::from(id) - i64::from(packet.timestamp / TICKS)
    };
    let first = shift(&narrow[0]);
    assert!(
        narrow
            .iter()
            .chain(&wide)
            .all(|packet| shift(packet) == first)
    );
}

/// The last packet of a dropped picture arrives late.
#[test]
fn a_packet_that_comes_late_shares_the_fate_of_its_picture() {
    for (codec, source) in [
        (Codec::Vp9, vp9 as fn(u64, bool) -> Vec<MediaPacket>),
        (Codec::Av1, av1),
    ] {
        let mut forwarder = Forwarder::new(codec);
        let rates = rates();
        limit(&mut forwarder, 250);
        let mut all: Vec<MediaPacket> = (0..8).flat_map(|n| source(n, n == 0)).collect();
        let late = all.remove(3);
        all.push(late);
        for packet in &all {
            forwarder.handle_packet(at(2_000), packet, &rates);
        }
        let sent = packets(&mut forwarder);
        let full = sent.iter().filter(|p| !p.payload.to_vec().is_empty());
        let full: Vec<ForwardedPacket> = full.cloned().collect();
        assert_eq!(pictures(&full), [0, 4], "{codec}");
        let numbers: std::collections::BTreeSet<u64> = sent.iter().map(|p| p.sequence).collect();
        assert!(
            numbers.iter().copied().eq(1..=numbers.len() as u64),
            "{codec}"
        );
    }
}
