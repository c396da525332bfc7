use crate::tools::{Pair, round_trip, udp, with_echo};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

#[test]
fn a_round_trip_takes_the_delays_of_both_directions() {
    let Some(pair) = Pair::start("rate=100mbit,delay=20ms") else {
        return;
    };
    for (from, to) in [
        (IpAddr::V4(pair.at_left.v4), IpAddr::V4(pair.at_right.v4)),
        (IpAddr::V6(pair.at_left.v6), IpAddr::V6(pair.at_right.v6)),
    ] {
        let here = udp(&pair.running, pair.left, (from, 0));
        let there = udp(&pair.running, pair.right, (to, 7));
        let to = SocketAddr::from((to, 7));
        let times = with_echo(&there, || {
            let times = (0..10).map(|_| round_trip(&here, to).expect("an answer"));
            times.collect::<Vec<_>>()
        });
        let shortest = times.iter().min().expect("ten");
        // The model keeps the delay exactly; the rest is the machine, of which
        // a busy one may take any time, though not each time.
        assert!(*shortest >= Duration::from_millis(40), "{times:?}");
        assert!(*shortest < Duration::from_millis(45), "{times:?}");
    }
    let report = pair.running.stop();
    let link = report.link(pair.link);
    for direction in [&link.forward, &link.backward] {
        assert_eq!(direction.counters.delivered.packets, 20);
        assert_eq!(direction.counters.dropped().packets, 0);
    }
    assert_eq!(report.lateness.count(), 40);
    assert_eq!((report.untaken, report.device_drops), (0, 0));
}
