//! What holds on every medium, whatever its kind.

use super::{
    LteBandwidth, LteMotion, LteQuality, LteSignal, LteSpec, LteTerminal, Medium, MediumSpec,
    StationId, WifiSpec, WifiStandard, WifiStation,
};
use crate::{Capacity, Departure, FlowId, LinkSpec, PacketInfo, Schedule, ServiceTime, Trace};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

#[derive(Clone, Debug)]
enum Call {
    Enqueue(u64),
    Cut,
    Restore,
    Delay(u64),
    Service,
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at_ms(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

fn other(station: StationId) -> StationId {
    StationId(1 - station.0)
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        12 => (0_u64..3_000).prop_map(Call::Enqueue),
        1 => Just(Call::Cut),
        2 => Just(Call::Restore),
        1 => (0_u64..100).prop_map(Call::Delay),
        2 => Just(Call::Service),
    ]
}

fn spec() -> impl Strategy<Value = MediumSpec> {
    let schedule = |kbps: u64| {
        let steps = vec![(ms(0), Rate::from_kbps(kbps)), (ms(70), Rate::ZERO)];
        let schedule = Schedule::new(steps).and_then(|s| s.repeat_every(ms(100)));
        Capacity::Schedule(schedule.expect("a schedule"))
    };
    let trace = || Trace::mahimahi("any.up", "1\n2\n2\n30\n").expect("a trace");
    let wired = (1_u64..20_000, 0_u64..50).prop_map(move |(kbps, delay)| {
        let forward = LinkSpec::new(schedule(kbps), ms(delay));
        MediumSpec::wired(forward, LinkSpec::new(trace(), ms(delay)))
    });
    let ring = (1_u64..20_000, 0_u64..3_000, 0_u64..50).prop_map(|(kbps, pass, delay)| {
        let pass = Duration::from_micros(pass);
        MediumSpec::token_ring(LinkSpec::new(Rate::from_kbps(kbps), ms(delay)), pass)
    });
    let cell = (0_usize..3, 0_usize..4, 1_500_u64..60_000, 0_u64..50).prop_map(
        move |(standard, rate, queue, delay)| {
            let standard = WifiStandard::ALL[standard];
            let mut station = WifiStation::new(standard.rates()[rate]);
            station.queue = Bytes(queue);
            let mut spec = WifiSpec::new(standard, vec![station]);
            spec.delay = ms(delay);
            MediumSpec::wifi(spec).expect("a cell")
        },
    );
    let lte = (0_usize..6, -5_i8..25, 1_500_u64..60_000, 0_u64..50).prop_map(
        move |(bandwidth, snr, queue, delay)| {
            let quality = LteQuality::Fading {
                snr: f64::from(snr),
                motion: LteMotion::ALL[bandwidth % 3],
            };
            let signal = |rank| LteSignal { quality, rank };
            let mut terminal = LteTerminal::new(signal(1), signal(2));
            terminal.queue = Bytes(queue);
            terminal.handovers = vec![ms(delay)];
            let mut spec = LteSpec::new(vec![terminal]);
            spec.bandwidth = LteBandwidth::ALL[bandwidth];
            spec.drx = (delay > 10).then(|| ms(delay));
            spec.delay = ms(delay);
            MediumSpec::lte(spec).expect("a cell")
        },
    );
    prop_oneof![wired, ring, cell, lte]
}

proptest! {
    #[test]
    fn packets_end_once_in_order_and_in_time_and_the_service_makes_up_the_elapsed_time(
        spec in spec(),
        calls in prop::collection::vec((0_u64..20_000, 0_u16..2, call()), 1..200),
    ) {
        let mut medium = Medium::new(&spec, &Rng::new(1));
        let (mut now, mut next) = (Instant::ZERO, 0_u32);
        let mut latest = [None; 2];
        let mut service = [ServiceTime::default(); 2];
        for (wait_us, station, call) in &calls {
            let until = now + Duration::from_micros(*wait_us);
            while let Some((channel, at)) = first(&medium).filter(|(_, at)| *at <= until) {
                now = now.max(at);
                while let Some((from, departure)) = medium.poll(now, channel) {
                    if let Departure::Delivered { packet, at, .. } = departure {
                        prop_assert_eq!(at, now, "what arrives is there at its deadline");
                        let before = latest[usize::from(from.0)].replace(packet);
                        prop_assert!(before < Some(packet), "the order of a station");
                    }
                }
            }
            now = until;
            let id = StationId(*station);
            match call {
                Call::Enqueue(size) => {
                    medium.enqueue(now, id, other(id), Bytes(*size), next);
                    next += 1;
                }
                Call::Cut => medium.cut(now, id),
                Call::Restore => medium.restore(now, id),
                Call::Delay(n) => medium.set_delay(now, id, ms(*n)),
                Call::Service => {}
            }
            for id in spec.stations() {
                let counters = *medium.counters(id);
                let ended = counters.delivered + counters.dropped();
                prop_assert_eq!(counters.sent, ended + medium.in_flight(id));
                let earlier = service[usize::from(id.0)];
                if matches!(call, Call::Service) {
                    let time = medium.service_time(now, id);
                    prop_assert_eq!(time.elapsed(), now.saturating_since(Instant::ZERO));
                    let more = [
                        (earlier.used, time.used),
                        (earlier.idle, time.idle),
                        (earlier.blocked, time.blocked),
                    ];
                    prop_assert!(more.iter().all(|(before, after)| before <= after));
                    service[usize::from(id.0)] = time;
                }
            }
            let [first, second] = service;
            if medium.channel_of(A) == medium.channel_of(B) {
                prop_assert!(first.used <= second.blocked && second.used <= first.blocked);
            }
        }
        let sent: u64 = spec.stations().map(|id| medium.counters(id).sent.packets).sum();
        prop_assert_eq!(sent, u64::from(next));
    }
}

fn first<P>(medium: &Medium<P>) -> Option<(super::ChannelId, Instant)> {
    let deadlines = medium.channels();
    let deadlines = deadlines.filter_map(|c| Some((c, medium.poll_timeout(c)?.at)));
    deadlines.min_by_key(|(_, at)| *at)
}

/// Everything until the medium is silent or this time.
fn run<P>(medium: &mut Medium<P>, end: Instant) -> Vec<(StationId, Departure<P>)> {
    let mut out = Vec::new();
    while let Some((channel, at)) = first(medium).filter(|(_, at)| *at <= end) {
        out.extend(std::iter::from_fn(|| medium.poll(at, channel)));
    }
    out
}

fn arrivals(out: &[(StationId, Departure<u32>)]) -> Vec<(StationId, u32, Instant, Duration)> {
    let arrival = |(from, departure): &(StationId, Departure<u32>)| match departure {
        Departure::Delivered {
            packet,
            at,
            queued_for,
            ..
        } => Some((*from, *packet, *at, *queued_for)),
        Departure::Dropped { .. } => None,
    };
    out.iter().filter_map(arrival).collect()
}

const A: StationId = StationId(0);
const B: StationId = StationId(1);
/// 1500 bytes at 1 Mbit/s take 12 ms.
const FULL: Bytes = Bytes(1500);

fn service(used: u64, idle: u64, blocked: u64) -> ServiceTime {
    ServiceTime {
        used: ms(used),
        idle: ms(idle),
        blocked: ms(blocked),
    }
}

#[test]
fn a_wired_medium_is_used_idle_or_without_capacity_in_each_direction_by_itself() {
    let mut forward: LinkSpec = "rate=1mbit,delay=10ms".parse().unwrap();
    let steps = vec![
        (ms(0), Rate::from_mbps(1)),
        (ms(6), Rate::ZERO),
        (ms(100), Rate::from_kbps(500)),
    ];
    forward.capacity = Schedule::new(steps).map(Capacity::Schedule).unwrap();
    let backward = "rate=1mbit".parse().unwrap();
    let mut medium = Medium::new(&MediumSpec::wired(forward, backward), &Rng::new(1));
    medium.enqueue(at_ms(0), A, B, FULL, 0);
    medium.enqueue(at_ms(50), A, B, FULL, 1);
    run(&mut medium, at_ms(500));
    // Half out at 6 ms, outage, then 12 ms for the half and 24 ms for the next.
    assert_eq!(medium.service_time(at_ms(500), A), service(42, 364, 94));
    assert_eq!(medium.service_time(at_ms(500), B), service(0, 500, 0));
}

#[test]
fn a_station_that_is_cut_off_is_blocked_until_it_is_restored() {
    let spec = "rate=1mbit".parse::<LinkSpec>().unwrap();
    let mut medium = Medium::new(&MediumSpec::wired(spec.clone(), spec), &Rng::new(1));
    medium.enqueue(at_ms(10), B, A, FULL, 0);
    medium.cut(at_ms(15), B);
    medium.restore(at_ms(40), B);
    medium.enqueue(at_ms(50), B, A, FULL, 1);
    assert_eq!(medium.service_time(at_ms(55), B), service(10, 20, 25));
    assert_eq!(medium.service_time(at_ms(55), A), service(0, 55, 0));
}

#[test]
fn a_trace_is_used_while_it_has_opportunities() {
    // Two opportunities of 1504 bytes, each over a millisecond of every ten.
    let trace = Trace::mahimahi("any.up", "2\n10\n").unwrap();
    let forward = LinkSpec::new(trace, Duration::ZERO);
    let spec = MediumSpec::wired(forward.clone(), forward);
    let mut medium = Medium::new(&spec, &Rng::new(1));
    for packet in 0..100 {
        medium.enqueue(at_ms(0), A, B, Bytes(752), packet);
    }
    let out = run(&mut medium, at_ms(100));
    let bytes = arrivals(&out).len() as u64 * 752;
    let time = medium.service_time(at_ms(100), A);
    assert_eq!(time.idle, Duration::ZERO);
    // 1504 bytes a millisecond of use, whatever is between.
    assert_eq!(time.used, ms(bytes / 1504));
    assert_eq!(time.elapsed(), ms(100));
    let time = medium.service_time(at_ms(100), B);
    assert_eq!(time.used, Duration::ZERO);
}

#[test]
fn stations_of_a_ring_take_turns_and_the_passing_belongs_to_nobody() {
    let spec = MediumSpec::token_ring("rate=1mbit,delay=5ms".parse().unwrap(), ms(1));
    let mut medium = Medium::new(&spec, &Rng::new(1));
    for packet in 0..2 {
        medium.enqueue(at_ms(0), A, B, FULL, packet);
    }
    medium.enqueue(at_ms(4), B, A, FULL, 2);
    // A from 0, B from 13, A from 26: 12 ms each, with 1 ms in between.
    let expected = [
        (A, 0, at_ms(17), ms(0)),
        (B, 2, at_ms(30), ms(9)),
        (A, 1, at_ms(43), ms(26)),
    ];
    assert_eq!(arrivals(&run(&mut medium, at_ms(100))), expected);
    assert_eq!(medium.service_time(at_ms(100), A), service(24, 62, 14));
    assert_eq!(medium.service_time(at_ms(100), B), service(12, 62, 26));
    assert!(medium.wired().is_none() && spec.link(A).is_none());
}

#[test]
fn a_ring_goes_on_when_the_station_that_gets_the_token_is_cut_off() {
    let spec = MediumSpec::token_ring("rate=1mbit".parse().unwrap(), ms(1));
    let mut medium = Medium::new(&spec, &Rng::new(1));
    medium.enqueue(at_ms(0), A, B, FULL, 0);
    medium.enqueue(at_ms(0), A, B, FULL, 1);
    medium.enqueue(at_ms(0), B, A, FULL, 2);
    // The token leaves A at 12 ms; at 13 ms B has nothing to send any more.
    let mut out = run(&mut medium, at_ms(12));
    medium.cut(Instant::ZERO + Duration::from_micros(12_500), B);
    out.extend(run(&mut medium, at_ms(100)));
    let expected = [(A, 0, at_ms(12), ms(0)), (A, 1, at_ms(26), ms(14))];
    assert_eq!(arrivals(&out), expected);
    assert_eq!(medium.counters(B).link_down.packets, 1);
}

#[test]
fn disciplines_serve_a_station_of_a_ring_as_they_serve_a_link() {
    // One flow of many packets and one of a single packet: with queues by
    // flow the single one does not wait for the many.
    let wait_of_the_single_one = |aqm: &str| {
        let station = format!("rate=1mbit,queue=100kB,aqm={aqm}").parse().unwrap();
        let spec = MediumSpec::token_ring(station, ms(1));
        let mut medium = Medium::new(&spec, &Rng::new(1));
        for packet in 0..20 {
            let flow = FlowId(u64::from(packet == 19));
            medium.enqueue(
                at_ms(0),
                A,
                B,
                PacketInfo::new(FULL).with_flow(flow),
                packet,
            );
        }
        let out = arrivals(&run(&mut medium, at_ms(1_000)));
        out.iter().find(|a| a.1 == 19).map(|a| a.3)
    };
    assert_eq!(wait_of_the_single_one("droptail"), Some(ms(19 * 12)));
    // A turn of 1514 bytes lets two of the many go before it (RFC 8290).
    assert_eq!(wait_of_the_single_one("fq_codel"), Some(ms(2 * 12)));
}
