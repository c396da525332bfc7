use super::*;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn kbps(n: u64) -> Rate {
    Rate::from_kbps(n)
}

fn aimd(start: u64) -> Aimd {
    let mut aimd = Aimd::new(kbps(start), kbps(50), kbps(10_000), Behaviour::Deployed);
    aimd.set_rtt(Duration::from_millis(100));
    aimd
}

#[test]
fn without_a_known_capacity_it_grows_by_8_percent_a_second() {
    let mut aimd = aimd(1000);
    for i in 0..=20 {
        aimd.update(at(50 * i), Usage::Normal, Some(kbps(1000)));
    }
    let rate = aimd.rate().as_kbps();
    assert!((rate - 1080.0).abs() < 0.1, "{rate}");
}

#[test]
fn it_does_not_outrun_what_is_delivered() {
    let mut aimd = aimd(1000);
    for i in 0..=1000 {
        aimd.update(at(50 * i), Usage::Normal, Some(kbps(800)));
    }
    assert_eq!(aimd.rate(), kbps(1210)); // 1.5 * 800 + 10
}

#[test]
fn overuse_takes_it_to_85_percent_of_what_is_delivered_once_per_round_trip() {
    let mut aimd = aimd(2000);
    aimd.update(at(0), Usage::Over, Some(kbps(1000)));
    assert_eq!(aimd.rate(), kbps(850));
    assert!(!aimd.may_reduce(at(99), kbps(900)));
    assert!(aimd.may_reduce(at(100), kbps(900)));
    assert!(aimd.may_reduce(at(1), kbps(424)), "far below: at once");
    // Delivery of earlier packets never raises the rate: the capacity, then 1000 + 0.05 *
    // 1000, times 0.85, is above.
    aimd.update(at(100), Usage::Over, Some(kbps(2000)));
    assert_eq!(aimd.rate(), kbps(850));
}

#[test]
fn near_the_capacity_it_adds_a_packet_per_response_time() {
    let mut aimd = aimd(2000);
    aimd.update(at(0), Usage::Over, Some(kbps(360)));
    assert_eq!(aimd.rate(), kbps(306));
    for i in 1..=21 {
        aimd.update(at(50 * i), Usage::Normal, Some(kbps(306)));
    }
    // 1275 bytes per frame are two packets of 637.5 bytes; the response time
    // is 2 * (100 + 100) ms: 12.75 kbps per second.
    let rate = aimd.rate().as_kbps();
    assert!((rate - 318.75).abs() < 0.5, "{rate}");
    assert_eq!(aimd.state(), "near-max");
    // Much more than the known capacity is delivered: the capacity has changed.
    aimd.update(at(1100), Usage::Normal, Some(kbps(500)));
    assert_eq!(aimd.growth(), Some(Growth::Searching));
}

#[test]
fn a_rate_far_below_the_known_capacity_forgets_it_where_repaired() {
    for (behaviour, growth) in [
        (Behaviour::Deployed, Growth::NearMax),
        (Behaviour::Repaired, Growth::Searching),
    ] {
        let mut aimd = Aimd::new(kbps(2000), kbps(50), kbps(10_000), behaviour);
        aimd.update(at(0), Usage::Over, Some(kbps(1000)));
        aimd.update(at(100), Usage::Normal, Some(kbps(850)));
        assert_eq!(aimd.growth(), Some(Growth::NearMax), "85 %");
        // A silence, then feedback on a path that works again.
        aimd.set_rate(at(200), kbps(600));
        aimd.update(at(300), Usage::Normal, Some(kbps(600)));
        assert_eq!(aimd.growth(), Some(growth), "60 %, {behaviour:?}");
    }
}

#[test]
fn a_draining_queue_holds_the_rate() {
    let mut aimd = aimd(1000);
    for i in 0..20 {
        aimd.update(at(50 * i), Usage::Under, Some(kbps(1000)));
    }
    assert_eq!(aimd.rate(), kbps(1000));
    assert_eq!(aimd.state(), "hold");
}
