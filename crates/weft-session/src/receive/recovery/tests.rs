use proptest::prelude::*;
use weft_units::PathId;
use weft_wire::flexfec::Mask;
use weft_wire::rtp::{Extensions, Header, PathExtension};

use super::*;

const SSRC: Ssrc = Ssrc(9);
const MAP: ExtensionMap = ExtensionMap {
    transport_sequence: None,
    path: Some(5),
    mid: None,
    audio_level: None,
    rid: None,
    repaired_rid: None,
    dependency: None,
};
const BASE: u64 = 65_530;
/// Most memory that a stream's packets may take, in bytes.
const MOST_KEPT: usize = 2_500_000;

/// Returns a packet as received, with its own path numbers, and as it is protected.
fn packet(number: u64) -> (Vec<u8>, Vec<u8>) {
    let write = |path_number: u16| {
        let header = Header {
            payload_type: 96,
            sequence: number as u16,
            timestamp: 90_000,
            ssrc: SSRC,
            extensions: Extensions {
                path: Some(PathExtension {
                    path: PathId(path_number as u8),
                    stream_sequence: path_number,
                    transport_sequence: path_number,
                }),
                ..Extensions::default()
            },
            ..Header::default()
        };
        let mut packet = Vec::new();
        header.write(&MAP, &mut packet);
        packet.extend(vec![number as u8; 1 + number as usize % 7]);
        packet
    };
    (write((number as u16).wrapping_add(7)), write(0))
}

fn repair(numbers: &[u64]) -> Vec<u8> {
    let base = numbers[0];
    let mut parity = Parity::default();
    for number in numbers {
        parity.add(&packet(*number).1).expect("an RTP packet");
    }
    let mask = Mask::new(base as u16, numbers.iter().map(|n| (n - base) as u32));
    let mut payload = Vec::new();
    Repair { mask, parity }.write(&mut payload);
    payload
}

/// Returns a recovery that has received a repair packet, so that it keeps packets.
fn in_use() -> Recovery {
    let mut recovery = Recovery::default();
    recovery.on_repair(Instant::ZERO, BASE, &[]);
    assert_eq!(recovery.counters.broken, 1);
    recovery.counters = ProtectionCounters::default();
    recovery
}

fn receive(recovery: &mut Recovery, numbers: &[u64]) {
    for number in numbers {
        recovery.on_packet(Instant::ZERO, *number, &packet(*number).0);
    }
}

#[test]
fn the_one_that_is_missing_comes_back_across_the_wrap() {
    let mut recovery = in_use();
    let numbers: Vec<u64> = (BASE..BASE + 12).collect();
    let received: Vec<u64> = numbers.iter().copied().filter(|n| *n != BASE + 6).collect();
    receive(&mut recovery, &received);
    recovery.on_repair(Instant::ZERO, BASE, &repair(&numbers));
    let expected = Recovered {
        sequence: BASE + 6,
        packet: packet(BASE + 6).1,
    };
    assert_eq!(recovery.poll(SSRC, &MAP), Some(expected));
    assert_eq!(recovery.poll(SSRC, &MAP), None);
    let counters = ProtectionCounters {
        received: 1,
        used: 1,
        ..ProtectionCounters::default()
    };
    assert_eq!(recovery.counters, counters);
}

#[test]
fn a_repair_packet_waits_for_all_but_one() {
    let mut recovery = in_use();
    let [a, b, c, d] = [BASE, BASE + 1, BASE + 2, BASE + 3];
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[a, b]));
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[b, c, d]));
    receive(&mut recovery, &[c]);
    assert_eq!(recovery.poll(SSRC, &MAP), None);
    // Packet `a` completes `b`, and `b` completes `d`.
    receive(&mut recovery, &[a]);
    assert_eq!(recovery.poll(SSRC, &MAP).map(|r| r.sequence), Some(b));
    assert_eq!(recovery.poll(SSRC, &MAP).map(|r| r.sequence), Some(d));
    assert_eq!((recovery.counters.used, recovery.repairs.len()), (2, 0));
}

#[test]
fn packets_that_arrived_or_were_sent_again_need_no_repair() {
    let mut recovery = in_use();
    receive(&mut recovery, &[BASE, BASE + 1, BASE + 2]);
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[BASE, BASE + 2]));
    recovery.on_retransmission(Instant::ZERO, BASE + 3);
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[BASE + 1, BASE + 3]));
    assert_eq!(recovery.poll(SSRC, &MAP), None);
    assert_eq!(recovery.counters.discarded, 2);
}

#[test]
fn a_repair_packet_that_overtook_its_packet_was_of_no_use() {
    let mut recovery = in_use();
    receive(&mut recovery, &[BASE]);
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[BASE, BASE + 1]));
    assert!(recovery.poll(SSRC, &MAP).is_some());
    assert_eq!(
        (recovery.counters.used, recovery.counters.discarded),
        (1, 0)
    );
    receive(&mut recovery, &[BASE + 1, BASE + 1]);
    assert_eq!(
        (recovery.counters.used, recovery.counters.discarded),
        (0, 1)
    );
}

#[test]
fn packets_are_kept_only_while_repair_packets_come() {
    let mut recovery = Recovery::default();
    receive(&mut recovery, &[BASE, BASE + 1]);
    assert_eq!(recovery.kept.bytes(), 0);
    let mut recovery = in_use();
    receive(&mut recovery, &[BASE]);
    let later = Instant::ZERO + IN_USE;
    recovery.on_packet(later, BASE + 1, &packet(BASE + 1).0);
    assert_eq!(recovery.kept.bytes(), 0);
}

#[test]
fn absurd_repair_packets_are_counted_and_dropped() {
    let mut recovery = in_use();
    receive(&mut recovery, &[BASE]);
    let far = BASE + 20_000;
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[far, far + 1]));
    recovery.on_repair(Instant::ZERO, BASE, &repair(&[BASE])[..11]);
    // The length does not match: the sender protected another packet than the one
    // received.
    let mut wrong = repair(&[BASE, BASE + 1]);
    wrong[2] ^= 0xff;
    recovery.on_repair(Instant::ZERO, BASE, &wrong);
    assert_eq!(recovery.poll(SSRC, &MAP), None);
    assert_eq!(recovery.counters.broken, 3);
    // Repair packets for packets that were never sent.
    for _ in 0..10_000 {
        recovery.on_repair(Instant::ZERO, BASE, &repair(&[BASE + 50, BASE + 90]));
        assert_eq!(recovery.poll(SSRC, &MAP), None);
    }
    assert_eq!(recovery.repairs.len(), MAX_HELD);
    for (number, len) in (0..10_000).zip([60_000, 1_300, 40].into_iter().cycle()) {
        recovery.on_packet(Instant::ZERO, BASE + number, &vec![0x80; len]);
        assert!(recovery.kept.bytes() <= MOST_KEPT);
    }
}

proptest! {
    #[test]
    fn recovered_packets_are_those_that_were_sent(
        groups in proptest::collection::vec(proptest::collection::btree_set(0..60_u64, 1..8), 0..20),
        lost in proptest::collection::btree_set(0..60_u64, 0..20),
        late: bool,
    ) {
        let mut recovery = in_use();
        let received: Vec<u64> = (0..60).filter(|n| !lost.contains(n)).map(|n| BASE + n).collect();
        if !late {
            receive(&mut recovery, &received);
        }
        for group in &groups {
            let numbers: Vec<u64> = group.iter().map(|n| BASE + n).collect();
            recovery.on_repair(Instant::ZERO, BASE, &repair(&numbers));
        }
        if late {
            receive(&mut recovery, &received);
        }
        while let Some(Recovered { sequence, packet: made }) = recovery.poll(SSRC, &MAP) {
            prop_assert!(lost.contains(&(sequence - BASE)) || late);
            prop_assert_eq!(made, packet(sequence).1);
        }
        let counters = recovery.counters;
        prop_assert_eq!(counters.broken, 0);
        let settled = counters.used + counters.discarded + recovery.repairs.len() as u64;
        prop_assert_eq!(counters.received, settled);
    }

    #[test]
    fn no_bytes_panic(payloads in proptest::collection::vec(any::<Vec<u8>>(), 0..20), near: u64) {
        let mut recovery = in_use();
        for payload in payloads {
            recovery.on_repair(Instant::ZERO, near >> 1, &payload);
            while let Some(Recovered { sequence, .. }) = recovery.poll(SSRC, &MAP) {
                recovery.refuse(sequence);
            }
        }
    }
}
