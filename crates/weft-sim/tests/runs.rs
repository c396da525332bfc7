//! Properties of every run.

mod world;

use std::ops::ControlFlow;

use proptest::prelude::*;
use weft_experiment::CongestionKind::{self, Bbr1, Cubic, Reno};
use weft_experiment::{
    Application, EcnMode, FlowKind, FlowSetup, LinkSetup, Record, Route, Setup, TcpSetup, UdpSetup,
};
use weft_sim::Observer;
use weft_units::{Bytes, Duration, Instant, Rate};
use world::*;

/// Creates a parking lot: one long route, and cross traffic on each link.
fn parking_lot(kinds: [CongestionKind; 4], loss: &str, access_ms: u64) -> Setup {
    let mut setup = Setup::new(seconds(8));
    for (index, rate) in ["rate=3mbit", "rate=2mbit", "rate=4mbit"]
        .iter()
        .enumerate()
    {
        let spec = link(&format!("{rate},delay=15ms,queue=60ms{loss}"));
        setup
            .links
            .push(LinkSetup::symmetric(&index.to_string(), &spec));
    }
    let access = Duration::from_millis(access_ms);
    let mut add = |name: &str, route: Route, kind| {
        let route = route.with_access(access);
        setup.flows.push(FlowSetup::new(name, route, kind));
    };
    let tcp = |kind| FlowKind::Tcp(TcpSetup::long_lived(kind));
    add("long", Route::forward(&[0, 1, 2]), tcp(kinds[0]));
    add("cross-0", Route::forward(&[0]), tcp(kinds[1]));
    add("cross-1", Route::backward(&[1]), tcp(kinds[2]));
    add(
        "udp",
        Route::backward(&[2, 1]),
        FlowKind::Udp(UdpSetup::new(Rate::from_kbps(700))),
    );
    add(
        "many",
        Route::forward(&[2]),
        FlowKind::Tcp(TcpSetup {
            congestion: kinds[3],
            application: Application::OnOff {
                size: (Bytes(1), Bytes(200_000)),
                mean_pause: Duration::from_millis(300),
            },
            connections: 5,
            ecn: EcnMode::On,
            receive_window: None,
            small_queues: None,
        }),
    );
    setup
}

/// Checks that every sent packet was delivered, was dropped or is in flight, counted by
/// flows and, independently, by links.
fn check_conservation(record: &Record) -> Result<(), TestCaseError> {
    let (mut on_legs, mut on_links) = (0, 0);
    for flow in &record.flows {
        for route in &flow.routes {
            for leg in [&route.there, &route.back] {
                prop_assert!(leg.sent.packets >= leg.delivered.packets + leg.drops());
                on_legs += leg.in_flight() - leg.in_access.packets;
                let series: u64 = leg.series.iter().map(|s| s.delivered.0).sum();
                prop_assert_eq!(series, leg.delivered.bytes.0);
                let series: u64 = leg.series.iter().map(|s| u64::from(s.sent_packets)).sum();
                prop_assert_eq!(series, leg.sent.packets);
                let series: u64 = leg.series.iter().map(|s| u64::from(s.drops)).sum();
                prop_assert_eq!(series, leg.drops());
                prop_assert_eq!(leg.one_way_delay.count(), leg.delivered.packets);
            }
        }
    }
    let mut dropped = 0;
    for link in &record.links {
        for way in [link.forward(), link.backward()] {
            let counters = way.counters;
            let ended = counters.delivered.packets + counters.dropped().packets;
            prop_assert_eq!(counters.sent.packets, ended + way.in_flight.packets);
            dropped += counters.dropped().packets;
            on_links += way.in_flight.packets;
            let series: u64 = way.series.iter().map(|s| s.delivered.0).sum();
            prop_assert_eq!(series, counters.delivered.bytes.0);
        }
    }
    prop_assert_eq!(on_legs, on_links);
    let by_flow = record.flows.iter().flat_map(|f| &f.routes);
    let by_flow: u64 = by_flow.map(|r| r.there.drops() + r.back.drops()).sum();
    prop_assert_eq!(by_flow, dropped);
    Ok(())
}

fn any_kind() -> impl Strategy<Value = CongestionKind> {
    (0..CongestionKind::ALL.len()).prop_map(|i| CongestionKind::ALL[i])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_packet_is_lost_without_a_reason(
        kinds in [any_kind(), any_kind(), any_kind(), any_kind()],
        loss in prop::sample::select(vec!["", ",loss=3%", ",loss=25%,jitter=4ms"]),
        access in 0_u64..40,
        seed in any::<u64>(),
    ) {
        check_conservation(&run(&parking_lot(kinds, loss, access), seed))?;
    }
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_one_another() {
    let setup = parking_lot([Cubic, Bbr1, Reno, Cubic], ",loss=1%", 5);
    let one = run(&setup, 7);
    assert_eq!(one, run(&setup, 7));
    assert_ne!(one, run(&setup, 8));
}

#[test]
fn a_flow_draws_nothing_from_another_ones_randomness() {
    let mut setup = over("rate=100mbit,delay=5ms", 20);
    let many = FlowKind::Tcp(TcpSetup {
        application: Application::OnOff {
            size: (Bytes(1000), Bytes(9000)),
            mean_pause: Duration::from_millis(100),
        },
        ..TcpSetup::long_lived(Cubic)
    });
    setup
        .flows
        .push(FlowSetup::new("short", Route::forward(&[0]), many.clone()));
    let sizes = |record: &Record, flow| {
        let transfers = tcp(record, flow).transfers.iter();
        transfers.map(|t| t.size).take(50).collect::<Vec<_>>()
    };
    let alone = sizes(&run(&setup, 3), 0);
    let other = FlowSetup::new("other", Route::forward(&[0]), many);
    setup.flows.insert(0, other);
    let record = run(&setup, 3);
    assert_eq!(alone.len(), 50);
    assert_eq!(sizes(&record, 1), alone);
    assert_ne!(sizes(&record, 0), alone);
}

#[test]
fn constant_rate_packets_keep_their_rate_and_their_times() {
    let mut setup = over("rate=10mbit,delay=20ms", 30);
    let udp = FlowKind::Udp(UdpSetup::new(Rate::from_kbps(700)));
    let span = (Duration::from_millis(5050), Duration::from_millis(24_950));
    let flow = FlowSetup::new("udp", Route::forward(&[0]), udp);
    setup.flows.push(flow.between(span.0, span.1));
    let record = run(&setup, 1);
    let leg = &record.flows[0].routes[0].there;
    // 700 kbps for 19.9 s in packets of 12,000 bits: 1160.8.
    assert_eq!(leg.sent.packets, 1161);
    assert_eq!(leg.drops(), 0);
    // Alone on the link: 1.2 ms of transmission, 20 ms of propagation.
    assert_eq!(leg.one_way_delay.max(), Duration::from_micros(21_200));
    let busy = leg.series.iter().filter(|s| s.sent > Bytes::ZERO);
    assert_eq!(busy.count(), 100);
    assert_eq!(leg.series.len(), 150);
}

struct StopAt(Instant);

impl Observer for StopAt {
    fn on_sample(&mut self, at: Instant) -> ControlFlow<()> {
        if at >= self.0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn an_observer_can_end_a_run_and_keeps_what_was_done() {
    let setup = bottleneck(2.0, 60, &[Cubic]);
    let stop = Instant::ZERO + seconds(3);
    let record = weft_sim::run(&setup, 1, &mut StopAt(stop)).expect("a good setup");
    assert_eq!(record.ended_at, stop);
    let whole = run(
        &Setup {
            duration: seconds(3),
            ..setup
        },
        1,
    );
    assert_eq!(record.flows, whole.flows);
}
