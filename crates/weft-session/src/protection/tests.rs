use proptest::prelude::*;

use super::*;

const RTT: Duration = Duration::from_millis(100);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Builds a frame with this many packets on each path.
fn packets(counts: &[usize]) -> Vec<Unprotected> {
    let paths = counts.iter().enumerate();
    let on_path = |(path, count): (usize, &usize)| vec![PathId(path as u8); *count];
    let packet = |(place, path)| Unprotected {
        sequence: place as u64,
        path,
        at: at(0),
        goes_once: true,
    };
    paths.flat_map(on_path).enumerate().map(packet).collect()
}

fn frame(packets: &[Unprotected], keyframe: bool) -> FrameToProtect<'_> {
    FrameToProtect {
        keyframe,
        size: Bytes(packets.len() as u64 * 1000),
        packets,
        begin: 0,
        round_trip: &|_| RTT,
        risk: &|_| Risk::None,
    }
}

/// Returns the repair packets for a hundred such frames, by path.
fn repairs(kind: ProtectionKind, losses: &[f64], counts: &[usize], keyframe: bool) -> Vec<usize> {
    repairs_in(Risk::None, kind, losses, counts, keyframe)
}

fn repairs_in(
    risk: Risk,
    kind: ProtectionKind,
    losses: &[f64],
    counts: &[usize],
    keyframe: bool,
) -> Vec<usize> {
    let mut protection = kind.build();
    for second in 0..10 {
        for (path, loss) in losses.iter().enumerate() {
            let lost = (1000.0 * loss) as u64;
            let path = PathId(path as u8);
            protection.on_feedback(at(second * 1000), path, 1000 - lost, lost);
        }
    }
    let packets = packets(counts);
    let frame = FrameToProtect {
        risk: &|_| risk,
        ..frame(&packets, keyframe)
    };
    let mut made = vec![0; counts.len() + 1];
    for number in 0..100 {
        let now = at(10_000 + number * 33);
        for group in protection.protect(now, &frame) {
            let path = group.made_for.map_or(counts.len(), |p| usize::from(p.0));
            made[path] += 1;
        }
    }
    made
}

#[test]
fn names_are_read_back() {
    for kind in ProtectionKind::ALL {
        assert_eq!(kind.name().parse::<ProtectionKind>().ok(), Some(kind));
    }
    assert!(matches!(
        "path-specific".parse(),
        Ok(ProtectionKind::PathSpecific)
    ));
    let error = "best".parse::<ProtectionKind>().expect_err("there is none");
    for kind in ProtectionKind::ALL {
        assert!(error.to_string().contains(kind.name()), "{error}");
    }
}

#[test]
fn path_specific_protects_the_path_that_loses() {
    // Converge, section 3.3: 30 packets on a path with 10 % loss need 3.
    let made = repairs(ProtectionKind::PathSpecific, &[0.0, 0.1], &[30, 30], false);
    assert_eq!(made[0], 0);
    assert!((295..=305).contains(&made[1]), "{made:?}");
    assert_eq!(made[2], 0);
}

#[test]
fn path_specific_saves_parts_of_a_packet_up() {
    // 10 packets at 1 %: a tenth of a repair packet for each frame.
    let made = repairs(ProtectionKind::PathSpecific, &[0.01], &[10], false);
    assert!((9..=10).contains(&made[0]), "{made:?}");
    let keyframes = repairs(ProtectionKind::PathSpecific, &[0.01], &[10], true);
    assert_eq!(keyframes[0], 100, "every keyframe has one");
}

#[test]
fn nacks_raise_beta() {
    // β = 1 + NACK / (P − FEC) with half of the packets requested: 1.5, while 100 packets
    // at 10 % make 10 repair packets.
    let mut protection = path_specific::PathSpecific::default();
    protection.on_feedback(at(0), PathId(0), 900, 100);
    let packets = packets(&[100]);
    let plain = protection.protect(at(0), &frame(&packets, false)).len();
    for _ in 0..50 {
        protection.on_unrepaired(at(0), PathId(0));
    }
    let asked = protection.protect(at(0), &frame(&packets, false)).len();
    assert_eq!((plain, asked), (10, 15));
    // After ten seconds of frames without requests, β is back at 1.
    let mut later = 0;
    for number in 1..300 {
        let groups = protection.protect(at(number * 33), &frame(&packets, false));
        later = groups.len();
    }
    assert_eq!(later, 10);
}

#[test]
fn a_group_reaches_back_as_long_as_it_beats_a_retransmission() {
    let mut protection = path_specific::PathSpecific::default();
    protection.on_feedback(at(0), PathId(0), 80, 20);
    let mut packets = packets(&[7]);
    for (packet, given) in packets.iter_mut().zip([0, 20]) {
        packet.at = at(given);
    }
    let frame = FrameToProtect {
        begin: 2,
        ..frame(&packets, false)
    };
    let groups = protection.protect(at(60), &frame);
    let members: Vec<_> = groups.iter().map(|g| g.members.clone()).collect();
    // A fifth of the frame's five packets; the first packet was sent 60 ms ago, more than
    // half of 100, and the second one 40.
    assert_eq!(members, [vec![1, 2, 3, 4, 5, 6]]);
}

#[test]
fn the_table_grows_with_loss_and_doubles_for_keyframes() {
    // libwebrtc's table for large frames: at 1 % (3/255) 40 of 255, which is 40 / 215 of
    // the source packets: 0.19; 0.99 of them from 10 % on.
    let made = |loss: f64, keyframe| {
        let counts = [40];
        repairs(ProtectionKind::WebrtcTable, &[loss], &counts, keyframe)[1]
    };
    let part = |made: usize| made as f64 / 4000.0;
    assert_eq!(made(0.0, false), 0);
    let one = part(made(0.01, false));
    assert!((0.12..=0.22).contains(&one), "1 %: {one}");
    let ten = part(made(0.1, false));
    assert!((0.85..=1.0).contains(&ten), "10 %: {ten}");
    // Only keyframes were sent: the size of other frames is unknown, and keyframes use
    // the table's smallest size.
    let mut protection = ProtectionKind::WebrtcTable.build();
    for second in 0..3 {
        protection.on_feedback(at(second * 1000), PathId(0), 990, 10);
    }
    let packets = packets(&[40]);
    let delta = protection.protect(at(3000), &frame(&packets, false)).len();
    let key = protection.protect(at(3033), &frame(&packets, true)).len();
    assert!(key >= 2 * delta && delta > 0, "{key} and {delta}");
}

#[test]
fn the_tables_loss_is_the_highest_of_ten_seconds() {
    let mut protection = ProtectionKind::WebrtcTable.build();
    for second in 0..30 {
        let lost = if second == 5 { 50 } else { 0 };
        protection.on_feedback(at(second * 1000), PathId(0), 950, lost);
        let now = at(second * 1000);
        let made = protection.protect(now, &frame(&packets(&[40]), false));
        // An interval counts once its second is over.
        assert_eq!(!made.is_empty(), (6..=15).contains(&second), "{second}");
    }
}

#[test]
fn repair_takes_at_most_half_of_the_rate() {
    let mut share = RepairShare::default();
    assert_eq!(share.left_for_media(), 1.0);
    share.on_frame(at(0), Bytes(3000), Bytes(1000));
    assert_eq!(share.left_for_media(), 0.75);
    share.on_frame(at(0), Bytes(0), Bytes(9000));
    assert_eq!(share.left_for_media(), 0.5);
    for second in 1..20 {
        share.on_frame(at(second * 1000), Bytes(3000), Bytes(0));
    }
    assert!(share.left_for_media() > 0.999);
}

#[test]
fn weft_protects_what_loses_more_while_it_is_in_doubt() {
    let made = |risk, loss| {
        let kind = ProtectionKind::Weft;
        repairs_in(risk, kind, &[0.0, loss], &[20, 20], false)
    };
    let by_path = repairs(ProtectionKind::PathSpecific, &[0.0, 0.02], &[20, 20], false);
    assert_eq!(made(Risk::None, 0.02), by_path);
    assert_eq!(
        made(Risk::Danger, 0.02),
        [0, 300, 0],
        "three packets of twenty"
    );
    assert_eq!(
        made(Risk::LateRetransmission, 0.02),
        [0, 800, 0],
        "two of five"
    );
    // Eighty for each lost packet.
    let rare = made(Risk::LateRetransmission, 0.002);
    assert!((318..=320).contains(&rare[1]), "{rare:?}");
}

#[test]
fn weft_never_protects_less_than_path_specific() {
    for risk in [Risk::None, Risk::Danger, Risk::LateRetransmission] {
        for loss in [0.002, 0.01, 0.1, 0.3] {
            for packets in [1, 2, 3, 20] {
                for keyframe in [false, true] {
                    let made = |kind| repairs_in(risk, kind, &[loss], &[packets], keyframe)[0];
                    let (ours, theirs) = (
                        made(ProtectionKind::Weft),
                        made(ProtectionKind::PathSpecific),
                    );
                    assert!(
                        ours >= theirs,
                        "{risk:?} {loss} {packets}: {ours} for {theirs}"
                    );
                }
            }
        }
    }
}

#[test]
fn copied_packets_are_in_no_repair_packet() {
    for kind in ProtectionKind::ALL {
        let mut protection = kind.build();
        for second in 0..10 {
            protection.on_feedback(at(second * 1000), PathId(0), 900, 100);
        }
        let mut packets = packets(&[20]);
        for packet in packets.iter_mut().skip(10) {
            packet.goes_once = false;
        }
        let groups = protection.protect(at(10_000), &frame(&packets, false));
        let members = groups.iter().flat_map(|g| &g.members);
        assert!(members.into_iter().all(|m| *m < 10), "{kind}: {groups:?}");
        assert_eq!(groups.is_empty(), kind == ProtectionKind::None, "{kind}");
    }
}

#[test]
fn a_burst_leaves_each_of_wefts_repair_packets_one_to_bring_back() {
    let mut protection = ProtectionKind::Weft.build();
    protection.on_feedback(at(0), PathId(0), 990, 10);
    let packets = packets(&[20]);
    let frame = FrameToProtect {
        risk: &|_| Risk::Danger,
        ..frame(&packets, false)
    };
    let groups = protection.protect(at(0), &frame);
    assert_eq!(groups.len(), 3);
    let held =
        |group: &Group, burst: &[usize]| group.members.iter().filter(|m| burst.contains(m)).count();
    for first in 0..18 {
        let burst = [first, first + 1, first + 2];
        assert!(
            groups.iter().all(|group| held(group, &burst) == 1),
            "{burst:?}"
        );
    }
}

proptest! {
    #[test]
    fn no_packet_is_in_two_groups(
        kind in prop::sample::select(&ProtectionKind::ALL[..]),
        counts in proptest::collection::vec(0..60_usize, 1..4),
        losses in proptest::collection::vec((0..2000_u64, 0..2000_u64), 1..30),
        keyframe: bool,
        risk in prop::sample::select(&[Risk::None, Risk::Danger, Risk::LateRetransmission][..]),
    ) {
        let mut protection = kind.build();
        for (second, (arrived, lost)) in losses.iter().enumerate() {
            let path = PathId((second % 4) as u8);
            protection.on_feedback(at(second as u64 * 500), path, *arrived, *lost);
            protection.on_unrepaired(at(second as u64 * 500), path);
        }
        let packets = packets(&counts);
        for number in 0..20 {
            let now = at(30_000 + number * 33);
            let frame = FrameToProtect { risk: &|_| risk, ..frame(&packets, keyframe) };
            let groups = protection.protect(now, &frame);
            let mut seen = vec![false; packets.len()];
            for group in &groups {
                prop_assert!(!group.members.is_empty());
                prop_assert!(group.members.is_sorted());
                for &member in &group.members {
                    prop_assert!(!std::mem::replace(&mut seen[member], true));
                    let path = group.made_for.unwrap_or(packets[member].path);
                    prop_assert_eq!(packets[member].path, path);
                }
            }
        }
    }
}
