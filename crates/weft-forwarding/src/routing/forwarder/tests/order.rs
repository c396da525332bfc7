use super::*;

/// One step of the property test below.
#[derive(Debug, Clone)]
enum Step {
    Picture { keyframe: bool },
    Target { kbps: u64 },
    Congest,
    Switch,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => Just(Step::Picture { keyframe: false }),
        2 => Just(Step::Picture { keyframe: true }),
        6 => (100_u64..1_200).prop_map(|kbps| Step::Target { kbps }),
        1 => Just(Step::Congest),
        1 => Just(Step::Switch),
    ]
}

proptest! {
    #[test]
    fn in_order_input_comes_out_contiguous_and_decodable(
        steps in prop::collection::vec(step(), 1..400)
    ) {
        let mut forwarder = Forwarder::new(Codec::Vp8);
        let (mut encoder, mut switches) = (Encoder::new(100_000, 32_000), 0_u64);
        let mut rates = LayerRates::default();
        let (mut now, mut expected, mut decoded) = (0, 1, BTreeSet::new());
        let mut last_id: Option<u16> = None;
        for step in steps {
            match step {
                Step::Target { kbps } => limit(&mut forwarder, kbps),
                Step::Congest => {
                    let queued = |ms| Downlink { target: None, limit: None, queued: Duration::from_millis(ms) };
                    forwarder.set_downlink(at(now), queued(1_001));
                    for packet in encoder.picture(false).1 {
                        forwarder.handle_packet(at(now), &packet, &rates);
                    }
                    prop_assert_eq!(packets(&mut forwarder), []);
                    now += 2_000;
                    forwarder.set_downlink(at(now), queued(0));
                    // The encoder answers the request for a keyframe.
                    encoder.newest = [None; 3];
                }
                Step::Switch => {
                    switches += 1;
                    forwarder.switch_source();
                    encoder = Encoder::new(70_000 * switches, 100_000 * switches);
                }
                Step::Picture { keyframe } => {
                    now += 33;
                    let (sent, incoming) = encoder.picture(keyframe || encoder.newest[0].is_none());
                    for packet in &incoming {
                        rates.on_packet(at(now), sent.layer, Bytes(800));
                        forwarder.handle_packet(at(now), packet, &rates);
                    }
                    let out = packets(&mut forwarder);
                    prop_assert!(out.is_empty() || out.len() == 3, "a part of a picture");
                    for packet in &out {
                        prop_assert_eq!(packet.sequence, expected);
                        expected += 1;
                    }
                    if let Some(packet) = out.first() {
                        prop_assert_eq!(source_picture(packet), Some(sent.picture));
                        for reference in &sent.refers_to {
                            prop_assert!(decoded.contains(reference), "{:?}", sent);
                        }
                        decoded.insert(sent.picture);
                        let id = vp8::parse(&packet.payload.to_vec()).unwrap().0.picture_id.unwrap();
                        if let Some(last) = last_id {
                            prop_assert_eq!(id, (last + 1) % (1 << 15));
                        }
                        last_id = Some(id);
                    }
                }
            }
        }
    }

    #[test]
    fn shuffled_and_repeated_input_never_repeats_a_number_and_loses_none(
        order in prop::collection::vec((0_usize..12, any::<bool>()), 120),
        kbps in 100_u64..1_000,
    ) {
        let rates = rates();
        let mut forwarder = Forwarder::new(Codec::Vp8);
        limit(&mut forwarder, kbps);
        let mut encoder = Encoder::new(100_000, 0);
        let mut incoming: Vec<_> = (0..40).flat_map(|n| encoder.picture(n == 0).1).collect();
        // Each packet is moved back by up to eleven places; the first one stays.
        for (n, (back, _)) in order.iter().enumerate().skip(12) {
            incoming.swap(n, n - back);
        }
        let first = incoming.iter().position(|p| p.sequence == 100_000).unwrap();
        incoming.swap(0, first);
        let mut out = Vec::new();
        for (packet, (_, twice)) in incoming.iter().zip(&order) {
            for _ in 0..=usize::from(*twice) {
                forwarder.handle_packet(at(2_000), packet, &rates);
                out.extend(packets(&mut forwarder).iter().map(|p| p.sequence));
            }
        }
        let unique: BTreeSet<u64> = out.iter().copied().collect();
        prop_assert_eq!(unique.len(), out.len(), "a number twice");
        // Nothing was lost upstream, so nothing is missing downstream.
        prop_assert_eq!(unique.into_iter().collect::<Vec<_>>(), (1..=out.len() as u64).collect::<Vec<_>>());
    }

    #[test]
    fn hostile_payloads_never_panic(
        payloads in prop::collection::vec((0_u64..3_000, prop::collection::vec(any::<u8>(), 0..12)), 1..200)
    ) {
        let mut forwarder = Forwarder::new(Codec::Vp8);
        let rates = rates();
        for (sequence, payload) in payloads {
            let packet = MediaPacket {
                sequence: 65_536 + sequence,
                timestamp: sequence as u32,
                marker: sequence % 3 == 0,
                audio_level: None,
                dependency: SharedBytes::default(),
                payload: payload.into(),
            };
            forwarder.handle_packet(at(2_000), &packet, &rates);
        }
        let sequences: Vec<u64> = packets(&mut forwarder).iter().map(|p| p.sequence).collect();
        let unique: BTreeSet<u64> = sequences.iter().copied().collect();
        prop_assert_eq!(unique.len(), sequences.len());
    }
}
