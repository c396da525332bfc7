//! Properties that hold on every medium, and tests of the two media without tests of
//! their own: the wired one and the one for tests.

pub mod property;

use super::{Medium, MediumSpec, StationId};
use crate::{Capacity, Departure, FlowId, LinkSpec, PacketInfo, Schedule, ServiceTime, Trace};
use property::{calls, first, holds};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at_ms(n: u64) -> Instant {
    Instant::ZERO + ms(n)
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
    prop_oneof![wired, ring]
}

proptest! {
    #[test]
    fn packets_end_once_in_order_and_in_time_and_the_service_makes_up_the_elapsed_time(
        spec in spec(),
        calls in calls(),
    ) {
        holds(&spec, &calls)?;
    }
}

/// Returns all packets until the medium is silent or this time is reached.
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
    // Half is sent at 6 ms, then an outage, then 12 ms for the other half and 24 ms for
    // the next packet.
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
    // Two opportunities of 1504 bytes, each over a millisecond in every ten.
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
    // 1504 bytes per millisecond of use, regardless of other events.
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
fn a_ring_continues_when_the_token_holder_is_cut_off() {
    let spec = MediumSpec::token_ring("rate=1mbit".parse().unwrap(), ms(1));
    let mut medium = Medium::new(&spec, &Rng::new(1));
    medium.enqueue(at_ms(0), A, B, FULL, 0);
    medium.enqueue(at_ms(0), A, B, FULL, 1);
    medium.enqueue(at_ms(0), B, A, FULL, 2);
    // The token leaves A at 12 ms; at 13 ms B's packet is gone.
    let mut out = run(&mut medium, at_ms(12));
    medium.cut(Instant::ZERO + Duration::from_micros(12_500), B);
    out.extend(run(&mut medium, at_ms(100)));
    let expected = [(A, 0, at_ms(12), ms(0)), (A, 1, at_ms(26), ms(14))];
    assert_eq!(arrivals(&out), expected);
    assert_eq!(medium.counters(B).link_down.packets, 1);
}

#[test]
fn disciplines_serve_a_station_of_a_ring_as_they_serve_a_link() {
    // One flow has many packets and the other a single one: with one queue per flow, the
    // single packet does not wait for the many.
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
    // A turn of 1514 bytes allows two packets of the large flow first (RFC 8290).
    assert_eq!(wait_of_the_single_one("fq_codel"), Some(ms(2 * 12)));
}
