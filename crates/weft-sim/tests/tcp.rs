//! TCP against reference figures and the literature.

mod world;

use weft_sim::CongestionKind::{Bbr1, Cubic, Reno};
use weft_sim::{Application, FlowKind, FlowSetup, Route, TcpSetup};
use weft_units::{Bytes, Duration};
use world::*;

/// Payload of full packets: what can be had at best, of the link's rate.
const BEST: f64 = 1448.0 / 1500.0;

/// The kernel's CUBIC through an emulated link of 50 ms round trip and 2 BDP
/// of queue reached the best possible within 0.5 % from 0.5 to 100 Mbps.
#[test]
fn cubic_reaches_the_goodput_of_the_kernel() {
    for mbps in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let record = run(&bottleneck(mbps, 60, &[Cubic]), 1);
        let share = goodput(&record, 0) / mbps / BEST;
        assert!((0.99..=1.0).contains(&share), "{share} of {mbps} Mbps");
        // The queue is never longer than 2 BDP, is filled, and keeps more than
        // a quarter of it: CUBIC's window falls to 0.7 of 3 BDP.
        let queue = record.links[0].forward.queue_delay;
        let (mean, max) = (queue.mean.as_millis_f64(), queue.max.as_millis_f64());
        assert!((65.0..=85.0).contains(&mean), "{mean} ms at {mbps} Mbps");
        assert!((92.0..=100.0).contains(&max), "{max} ms at {mbps} Mbps");
    }
}

/// The same measurements of the kernel's BBR: 94.7 to 96.5 % of the rate.
#[test]
fn bbr_reaches_the_goodput_of_the_kernel() {
    for mbps in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let record = run(&bottleneck(mbps, 60, &[Bbr1]), 1);
        let share = goodput(&record, 0) / mbps;
        assert!((0.937..=0.966).contains(&share), "{share} of {mbps} Mbps");
    }
}

/// Reno's window halves from 3 BDP to 1.5, so the queue never runs empty.
#[test]
fn reno_keeps_a_link_with_two_bdp_of_queue_busy() {
    let record = run(&bottleneck(10.0, 60, &[Reno]), 1);
    let share = goodput(&record, 0) / 10.0 / BEST;
    assert!((0.99..=1.0).contains(&share), "{share}");
}

#[test]
fn two_cubic_flows_share_fairly() {
    let mut setup = bottleneck(10.0, 120, &[Cubic, Cubic]);
    setup.flows[1].start = Duration::from_secs(10);
    let record = run(&setup, 1);
    let rate = |flow| {
        let late = tcp(&record, flow).series.iter().skip(5 * 40);
        late.map(|s| s.delivered.0 as f64).sum::<f64>()
    };
    let (a, b) = (rate(0), rate(1));
    let jain = (a + b).powi(2) / (2.0 * (a * a + b * b));
    assert!((0.9..=1.0).contains(&jain), "{jain}: {a} and {b} bytes");
}

/// An upload takes a handshake, slow start by round trips, and the rest at the
/// link's rate.
#[test]
fn an_upload_takes_the_time_that_arithmetic_gives() {
    let upload = |bytes| {
        let mut setup = over("rate=100mbit,delay=50ms,queue=2bdp", 10);
        let kind = FlowKind::Tcp(TcpSetup {
            application: Application::Upload(Bytes(bytes)),
            ..TcpSetup::long_lived(Cubic)
        });
        let flow = FlowSetup::new("upload", Route::forward(&[0]), kind);
        setup.flows.push(flow);
        let record = run(&setup, 1);
        let transfers = &tcp(&record, 0).transfers;
        assert_eq!(transfers.len(), 1);
        (transfers[0].ended_at - transfers[0].started_at).as_millis_f64()
    };
    // 10 segments: the handshake and one round trip. 1500 bytes take 0.12 ms.
    let one = upload(10 * 1448);
    assert!((200.0..=203.0).contains(&one), "{one} ms");
    // 29 = 10 + 19 segments: two round trips.
    let two = upload(29 * 1448);
    assert!((300.0..=305.0).contains(&two), "{two} ms");
    // 15 are acknowledged one by one, then pairs; the 30th has no partner and
    // waits 40 ms.
    let odd = upload(30 * 1448) - two;
    assert!((39.0..=41.0).contains(&odd), "{odd} ms more");
}
