use super::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Feeds 1250 bytes every `step` ms for a second, starting at `from`.
fn feed(throughput: &mut Throughput, from: u64, step: u64) {
    for i in (0..1000).step_by(step as usize) {
        throughput.on_packet(ms(from + i), ms(from + i + 40), Bytes(1250));
    }
}

#[test]
fn a_steady_stream_is_measured_exactly() {
    let mut throughput = Throughput::new();
    feed(&mut throughput, 0, 10);
    assert_eq!(throughput.rate(), Some(Rate::from_mbps(1)));
}

#[test]
fn ten_packets_are_needed() {
    let mut throughput = Throughput::new();
    for i in 0..9 {
        throughput.on_packet(ms(i), ms(i), Bytes(100));
        assert_eq!(throughput.rate(), None);
    }
    throughput.on_packet(ms(9), ms(9), Bytes(100));
    // 900 bytes in 9 ms.
    assert_eq!(throughput.rate(), Some(Rate::from_kbps(800)));
}

#[test]
fn the_window_forgets_an_old_rate_within_its_length() {
    let mut throughput = Throughput::new();
    feed(&mut throughput, 0, 1);
    feed(&mut throughput, 1000, 10);
    assert_eq!(throughput.rate(), Some(Rate::from_mbps(1)));
}

#[test]
fn a_burst_after_a_stall_does_not_raise_the_rate() {
    let mut throughput = Throughput::new();
    feed(&mut throughput, 0, 10);
    // Sent over 400 ms, arriving within 20.
    for i in 0..40 {
        throughput.on_packet(ms(1000 + 10 * i), ms(1400 + i / 2), Bytes(1250));
    }
    let rate = throughput.rate().unwrap().as_mbps();
    assert!((0.9..=1.05).contains(&rate), "{rate}");
}

#[test]
fn reordered_packets_count_and_a_clock_jump_starts_afresh() {
    let mut throughput = Throughput::new();
    for i in 0..100 {
        let i = i ^ 1; // every pair swapped
        throughput.on_packet(ms(10 * i), ms(10 * i + 40), Bytes(1250));
    }
    assert_eq!(throughput.rate(), Some(Rate::from_mbps(1)));
    throughput.on_packet(ms(2000), ms(60_000), Bytes(1250));
    feed(&mut throughput, 2000, 10);
    assert_eq!(throughput.rate(), Some(Rate::from_mbps(1)));
}

#[test]
fn the_window_is_bounded() {
    let mut throughput = Throughput::new();
    let capacity = throughput.window.capacity();
    for i in 0..10_000_u64 {
        throughput.on_packet(Instant::from_nanos(i), Instant::from_nanos(i), Bytes(1250));
    }
    assert_eq!(throughput.window.len(), MAX_PACKETS);
    assert_eq!(throughput.window.capacity(), capacity);
}

/// An ordered window and one that is searched give the same rate, even while packets sent
/// at once leave it.
#[test]
fn order_makes_no_difference() {
    let mut throughput = Throughput::new();
    let (mut in_order, mut disordered) = (0, 0);
    for i in 0..3000 {
        // Three packets at a time; one in 997 arrives late, or was sent late.
        let (sent, arrival) = (ms(i / 3 * 5), ms(i * 2 + 40));
        let late = Duration::from_millis(match i % 997 {
            0 => 30,
            _ => 0,
        });
        let size = Bytes(500 + i % 7 * 100);
        match i % 2 {
            0 => throughput.on_packet(sent, arrival + late, size),
            _ => throughput.on_packet(sent + late, arrival, size),
        }
        let (Some(first), Some(last)) = (throughput.window.front(), throughput.window.back())
        else {
            continue;
        };
        let sizes = throughput.window.iter().map(|p| p.size);
        assert_eq!(throughput.size, sizes.sum::<Bytes>());
        if !throughput.is_in_order(first) {
            disordered += 1;
        } else if throughput.window.len() >= REQUIRED_PACKETS {
            in_order += 1;
            let quick = throughput.sending_rate_in_order(first, last);
            assert_eq!(throughput.sending_rate(), Some(quick), "packet {i}");
        }
    }
    assert!(
        in_order > 500 && disordered > 500,
        "{in_order}, {disordered}"
    );
}
