use super::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

#[test]
fn groups_are_compared_by_their_last_packets() {
    let mut inter = InterArrival::default();
    // Two groups of two packets, 20 ms apart; the second one is 3 ms slower.
    let packets = [(0, 100), (2, 104), (20, 121), (24, 129)];
    for (sent, arrival) in packets {
        assert_eq!(inter.on_packet(ms(arrival), ms(sent), ms(arrival)), None);
    }
    let delta = inter.on_packet(ms(150), ms(40), ms(150));
    let expected = Delta {
        send_ms: 22.0,
        arrival_ms: 25.0,
        arrival: ms(129),
    };
    assert_eq!(delta, Some(expected));
}

#[test]
fn packets_that_arrive_together_after_a_stall_are_one_group() {
    let mut inter = InterArrival::default();
    inter.on_packet(ms(0), ms(0), ms(100));
    inter.on_packet(ms(0), ms(20), ms(120));
    // Sent every 20 ms, all arrive within 3 ms: they join one group, so the
    // stall gives one delta and not five.
    let deltas = (0..5).filter_map(|i| inter.on_packet(ms(0), ms(40 + 20 * i), ms(200 + i / 2)));
    assert_eq!(deltas.count(), 1);
}

#[test]
fn a_jump_of_the_receivers_clock_gives_no_delta() {
    let mut inter = InterArrival::default();
    let run = |inter: &mut InterArrival, from: u64, offset: u64| {
        let deltas = (0..10).filter_map(|i| {
            let now = from + 20 * i;
            inter.on_packet(ms(now), ms(now), ms(now + offset))
        });
        deltas.collect::<Vec<_>>()
    };
    assert_eq!(run(&mut inter, 0, 50_000).len(), 8);
    for (from, offset) in [(200, 90_000), (400, 10_000)] {
        let deltas = run(&mut inter, from, offset);
        assert!(deltas.len() >= 3, "{deltas:?}");
        for delta in deltas {
            assert_eq!((delta.send_ms, delta.arrival_ms), (20.0, 20.0));
        }
    }
}
