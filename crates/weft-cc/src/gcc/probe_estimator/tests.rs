use super::*;

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// Returns the estimate from five packets of 1250 bytes, `sent` and `received` us apart.
fn estimate(sent: u64, received: u64, delivered: u64) -> Option<Rate> {
    let mut estimator = ProbeEstimator::default();
    estimator.expect(&ProbeCluster {
        id: ProbeId(3),
        rate: Rate::from_mbps(5),
        packets: 5,
        bytes: Bytes(5000),
    });
    for i in 0..delivered {
        let (sent, arrival) = (us(sent * i), us(1_000_000 + received * i));
        estimator.on_packet(ProbeId(3), sent, arrival, Bytes(1250));
    }
    estimator.on_packet(ProbeId(9), us(0), us(0), Bytes(1250));
    estimator.take()
}

#[test]
fn a_probe_the_path_carries_gives_its_rate() {
    // 10,000 bits every 2 ms.
    assert_eq!(estimate(2000, 2000, 5), Some(Rate::from_mbps(5)));
    assert_eq!(
        estimate(2000, 2100, 5),
        Some(Bytes(1250) / Duration::from_micros(2100))
    );
}

#[test]
fn a_slower_arrival_is_the_capacity_less_5_percent() {
    // 10,000 bits every 4 ms, and 95 % of that.
    assert_eq!(estimate(2000, 4000, 5), Some(Rate::from_kbps(2375)));
}

#[test]
fn incomplete_compressed_and_endless_probes_give_nothing() {
    assert_eq!(estimate(2000, 2000, 3), None);
    assert_eq!(estimate(2000, 900, 5), None);
    assert_eq!(estimate(0, 2000, 5), None);
    assert_eq!(estimate(2000, 400_000, 5), None);
}
