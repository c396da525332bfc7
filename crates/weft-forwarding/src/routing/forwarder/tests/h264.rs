use super::*;

/// Picture of H.264 in packets of one NAL unit each, with these types.
fn h264_picture(sequence: &mut u64, timestamp: u32, kinds: &[u8]) -> Vec<MediaPacket> {
    let packets = kinds.iter().enumerate().map(|(n, kind)| {
        *sequence += 1;
        MediaPacket {
            sequence: *sequence - 1,
            timestamp,
            marker: n + 1 == kinds.len(),
            audio_level: None,
            dependency: SharedBytes::default(),
            payload: [0x60 | kind, 1, 2].into(),
        }
    });
    packets.collect()
}

#[test]
fn h264_starts_at_parameters_and_pauses_by_whole_pictures() {
    const KEYFRAME: [u8; 3] = [7, 8, 5];
    let (mut forwarder, rates) = (Forwarder::new(Codec::H264), LayerRates::default());
    let (mut sequence, mut timestamp) = (1_000, 0);
    let mut send = |forwarder: &mut Forwarder, kinds: &[u8]| -> Vec<Forwarding> {
        timestamp += TICKS;
        for packet in h264_picture(&mut sequence, timestamp, kinds) {
            forwarder.handle_packet(at(u64::from(timestamp / 90)), &packet, &rates);
        }
        std::iter::from_fn(|| forwarder.poll_output()).collect()
    };
    let numbers = |outputs: &[Forwarding]| -> Vec<(u64, bool)> {
        let packet = |output: &Forwarding| match output {
            Forwarding::Packet(p) => Some((p.sequence, p.keyframe)),
            Forwarding::KeyframeNeeded | Forwarding::Forget => None,
        };
        outputs.iter().filter_map(packet).collect()
    };
    // Nothing before the parameters: neither slices nor an IDR picture without parameters.
    assert_eq!(send(&mut forwarder, &[1, 1]), []);
    assert_eq!(send(&mut forwarder, &[5]), []);
    let first = send(&mut forwarder, &KEYFRAME);
    assert_eq!(numbers(&first), [(1, true), (2, true), (3, true)]);
    let second = send(&mut forwarder, &[1, 1]);
    assert_eq!(numbers(&second), [(4, false), (5, false)]);
    // If the queue is too long, packets are dropped from the start of a picture on.
    let downlink = |millis| Downlink {
        target: None,
        limit: None,
        queued: Duration::from_millis(millis),
    };
    forwarder.set_downlink(at(0), downlink(1_001));
    assert_eq!(send(&mut forwarder, &[1, 1]), []);
    assert_eq!(send(&mut forwarder, &KEYFRAME), []);
    forwarder.set_downlink(at(2_000), downlink(0));
    assert_eq!(send(&mut forwarder, &[1]), [Forwarding::KeyframeNeeded]);
    let again = send(&mut forwarder, &KEYFRAME);
    assert_eq!(numbers(&again), [(6, true), (7, true), (8, true)]);
}
