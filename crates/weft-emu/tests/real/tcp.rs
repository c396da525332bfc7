use crate::tools::Pair;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use weft_testing::{skipped, where_the_machine_keeps_up};

/// Share of a packet of 1500 bytes that TCP with timestamps carries as payload.
const GOODPUT: f64 = 1448.0 / 1500.0;
const SECONDS: u64 = 4;
/// Time after which slow start is over at these rates.
const FIRST: Duration = Duration::from_secs(1);

/// Returns the rate at the receiver as a share of `rate`, from `from` on.
fn share(pair: &Pair, congestion: &str, rate: f64, from: Duration) -> f64 {
    let to = SocketAddr::from((pair.at_right.v4, 5001));
    let listener = pair.running.within(pair.right, || TcpListener::bind(to));
    let listener = listener.expect("a host").expect("a free port");
    let sender = pair.running.within(pair.left, || TcpStream::connect(to));
    let mut sender = sender.expect("a host").expect("a connection");
    rustix::net::sockopt::set_tcp_congestion(&sender, congestion).expect("in the kernel");
    let (mut receiver, _) = listener.accept().expect("a connection");
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || while sender.write(&[0; 65_536]).is_ok() {});
        let mut bytes = vec![0; 65_536];
        let (mut counted, mut since) = (0, None);
        while began.elapsed() < Duration::from_secs(SECONDS) {
            let length = receiver.read(&mut bytes).expect("more");
            if began.elapsed() > from {
                since.get_or_insert_with(Instant::now);
                counted += length;
            }
        }
        let seconds = since.expect("data").elapsed().as_secs_f64();
        // Both ends close, so the sender's thread ends.
        drop(receiver);
        counted as f64 * 8.0 / seconds / rate
    })
}

#[test]
fn cubic_of_the_kernel_fills_the_link() {
    where_the_machine_keeps_up(|| {
        let Some(pair) = Pair::start("rate=5mbit,delay=10ms,queue=2bdp") else {
            return;
        };
        let share = share(&pair, "cubic", 5e6, FIRST);
        assert!((GOODPUT * 0.97..GOODPUT * 1.03).contains(&share), "{share}");
        let report = pair.running.stop();
        let forward = report.link(pair.link).forward();
        let counters = forward.counters;
        assert!(counters.queue_full.packets > 0, "CUBIC fills any queue");
        // 2 x 5 Mbit/s x 20 ms = 25 kB, which take 40 ms, plus 2.4 ms for one packet.
        assert!(forward.queueing.max().as_millis_f64() <= 42.4);
        assert!(forward.queueing.max().as_millis_f64() > 37.0);
    });
}

#[test]
fn a_receive_window_bounds_what_is_in_flight() {
    where_the_machine_keeps_up(|| {
        const WINDOW: u64 = 100_000;
        // One window per round trip of 100 ms: 8 of 50 Mbit/s, and no queue.
        let limit = |network: &mut weft_emu::Network, right| {
            network.limit_receive_window(right, weft_units::Bytes(WINDOW));
        };
        let Some(pair) = Pair::with_right("rate=50mbit,delay=50ms,queue=10MB", limit) else {
            return;
        };
        let expected = WINDOW as f64 * 8.0 / 0.1;
        let share = share(&pair, "cubic", expected, 2 * FIRST);
        // Rounded to the steps of the window scale, 1 to 4 kB; transmission
        // takes some milliseconds of the round trip.
        assert!((0.9..1.0).contains(&share), "{share}");
        let report = pair.running.stop();
        let forward = report.link(pair.link).forward();
        assert_eq!(forward.counters.dropped().packets, 0);
        // A whole window at 50 Mbit/s takes 16 ms.
        assert!(forward.queueing.max().as_millis_f64() < 17.0);
    });
}

#[test]
fn bbr_of_the_kernel_keeps_the_queue_short() {
    where_the_machine_keeps_up(|| {
        let available =
            std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        if !available.is_ok_and(|names| names.contains("bbr")) {
            skipped("no bbr in this kernel: modprobe tcp_bbr");
            return;
        }
        let Some(pair) = Pair::start("rate=5mbit,delay=10ms,queue=20bdp") else {
            return;
        };
        let share = share(&pair, "bbr", 5e6, FIRST);
        assert!((GOODPUT * 0.85..GOODPUT * 1.03).contains(&share), "{share}");
        let report = pair.running.stop();
        let mean = report.link(pair.link).forward().queueing.mean();
        // CUBIC would fill the 400 ms; BBR holds two round trips in flight.
        assert!(mean.expect("packets").as_millis_f64() < 100.0, "{mean:?}");
    });
}
