//! Properties that hold for any sequence of calls.

use super::{Departure, Link, ms};
use crate::{
    Aqm, Capacity, DirectionCorrelation, DropReason, Ecn, EcnMarking, FlowId, Generated,
    GilbertElliott, LinkSpec, Motion, Network, PacketInfo, QueueLimit, Trace,
};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

#[derive(Clone, Debug)]
enum Call {
    Enqueue(PacketInfo),
    Capacity(u64),
    Queue(QueueLimit),
    Delay(u64),
    Jitter(u64),
    Loss(f64),
    BurstLoss(Option<GilbertElliott>),
    Cut,
    Restore,
    Poll,
}

fn queue_limit() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0_u64..20_000).prop_map(|b| QueueLimit::Bytes(Bytes(b))),
        (0_u64..200).prop_map(|t| QueueLimit::Time(ms(t))),
        (0.0..4.0).prop_map(QueueLimit::Bdp),
    ]
}

fn info() -> impl Strategy<Value = PacketInfo> {
    (0_u64..3_000, 0_u64..3, 0_u8..4).prop_map(|(size, flow, ecn)| {
        let info = PacketInfo::new(Bytes(size)).with_flow(FlowId(flow));
        info.with_ecn(Ecn::from_bits(ecn))
    })
}

fn burst_loss() -> impl Strategy<Value = Option<GilbertElliott>> {
    let share = || 0.0..=1.0;
    let model = (share(), share(), share(), share());
    let model = model.prop_map(|(to_bad, to_good, bad_loss, good_loss)| GilbertElliott {
        to_bad,
        to_good,
        bad_loss,
        good_loss,
    });
    prop::option::of(model)
}

fn aqm() -> impl Strategy<Value = Aqm> {
    let marking = || prop::sample::select(vec![EcnMarking::Off, EcnMarking::On]);
    prop_oneof![
        Just(Aqm::DropTail),
        marking().prop_map(Aqm::CoDel),
        marking().prop_map(Aqm::FqCodel),
        marking().prop_map(Aqm::Pie),
        Just(Aqm::DualPi2),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        12 => info().prop_map(Call::Enqueue),
        2 => prop_oneof![Just(0), 1_u64..20_000].prop_map(Call::Capacity),
        1 => queue_limit().prop_map(Call::Queue),
        1 => (0_u64..100).prop_map(Call::Delay),
        1 => (0_u64..30).prop_map(Call::Jitter),
        1 => (0.0..=1.0).prop_map(Call::Loss),
        1 => burst_loss().prop_map(Call::BurstLoss),
        1 => Just(Call::Cut),
        2 => Just(Call::Restore),
        4 => Just(Call::Poll),
    ]
}

fn capacity() -> impl Strategy<Value = Capacity> {
    let trace = prop::collection::vec(0_u64..50, 1..50).prop_map(|mut slots| {
        slots.sort_unstable();
        let text: String = slots.iter().map(|s| format!("{}\n", s + 1)).collect();
        Trace::mahimahi("any.up", &text).expect("a trace").into()
    });
    let motion = prop::sample::select(Motion::ALL.to_vec());
    let network = prop::sample::select(Network::ALL.to_vec());
    let generated = (motion, network).prop_map(|(motion, network)| Generated {
        motion,
        network,
        scale: crate::Scale::PROFILE,
        ways: DirectionCorrelation::AsMeasured,
        seeds: None,
    });
    prop_oneof![
        4 => (0_u64..20_000).prop_map(|kbps| Rate::from_kbps(kbps).into()),
        1 => trace,
        1 => generated.prop_map(Capacity::from),
    ]
}

fn spec() -> impl Strategy<Value = LinkSpec> {
    let parts = (
        capacity(),
        0_u64..100,
        0_u64..30,
        0.0..=1.0,
        queue_limit(),
        aqm(),
        prop_oneof![Just(0), 0_u64..20_000],
        burst_loss(),
    );
    parts.prop_map(
        |(capacity, delay, jitter, loss, queue, aqm, burst, burst_loss)| LinkSpec {
            burst_loss,
            jitter: ms(jitter),
            loss,
            queue,
            aqm,
            burst: Bytes(burst),
            line_steps: Vec::new(),
            ..LinkSpec::new(capacity, ms(delay))
        },
    )
}

fn apply(link: &mut Link<u32>, now: Instant, call: &Call, next: &mut u32) {
    match *call {
        Call::Enqueue(info) => {
            link.enqueue(now, info, *next);
            *next += 1;
        }
        Call::Capacity(kbps) => link.set_capacity(now, Rate::from_kbps(kbps)),
        Call::Queue(limit) => link.set_queue(now, limit),
        Call::Delay(n) => link.set_delay(now, ms(n)),
        Call::Jitter(n) => link.set_jitter(now, ms(n)),
        Call::Loss(p) => link.set_loss(now, p),
        Call::BurstLoss(model) => link.set_burst_loss(now, model),
        Call::Cut => link.cut(now),
        Call::Restore => link.restore(now),
        Call::Poll => {}
    }
}

fn parts(departure: &Departure<u32>) -> (u32, Instant, Option<DropReason>) {
    match *departure {
        Departure::Delivered { packet, at, .. } => (packet, at, None),
        Departure::Dropped { packet, at, reason } => (packet, at, Some(reason)),
    }
}

/// Polls at every deadline up to `now`, as a driver does.
fn run_to(link: &mut Link<u32>, now: Instant, out: &mut Vec<Departure<u32>>) {
    while let Some(deadline) = link.poll_timeout().filter(|d| d.at <= now) {
        out.extend(std::iter::from_fn(|| link.poll(deadline.at)));
    }
}

proptest! {
    #[test]
    fn packets_are_conserved_ordered_and_end_once(
        spec in spec(),
        seed in any::<u64>(),
        calls in prop::collection::vec((0_u64..40_000, call()), 1..200),
    ) {
        let mut link = Link::new(&spec, Rng::new(seed));
        let (mut now, mut next, mut out) = (Instant::ZERO, 0, Vec::new());
        let infos: Vec<_> = calls.iter().filter_map(|c| match c.1 {
            Call::Enqueue(info) => Some(info),
            _ => None,
        }).collect();
        for (wait_us, call) in &calls {
            now += Duration::from_micros(*wait_us);
            if matches!(call, Call::Poll) {
                run_to(&mut link, now, &mut out);
            }
            apply(&mut link, now, call, &mut next);
            let counters = *link.counters();
            prop_assert!(counters.marked.packets <= counters.sent.packets);
            prop_assert_eq!(counters.sent, counters.delivered + counters.dropped() + link.in_flight());
        }
        link.set_capacity(now, Rate::from_mbps(1));
        run_to(&mut link, Instant::from_nanos(u64::MAX / 2), &mut out);
        prop_assert_eq!(link.in_flight().packets, 0);
        prop_assert_eq!(link.poll_timeout(), None);
        prop_assert_eq!(out.len(), next as usize);

        let ends: Vec<_> = out.iter().map(parts).collect();
        let delivered: Vec<_> = ends.iter().filter(|e| e.2.is_none()).collect();
        let in_order = |group: &dyn Fn(PacketInfo) -> bool| {
            let of_group = delivered.iter().map(|e| e.0).filter(|n| group(infos[*n as usize]));
            of_group.is_sorted()
        };
        for flow in 0..3 {
            let of_flow = |scalable| {
                move |info: PacketInfo| {
                    info.flow == FlowId(flow) && matches!(info.ecn, Ecn::Ect1 | Ecn::Ce) == scalable
                }
            };
            prop_assert!(in_order(&of_flow(false)) && in_order(&of_flow(true)), "a flow's order");
        }
        if matches!(spec.aqm, Aqm::DropTail | Aqm::CoDel(_) | Aqm::Pie(_)) {
            prop_assert!(in_order(&|_| true), "FIFO");
        }
        prop_assert!(delivered.windows(2).all(|w| w[0].1 <= w[1].1), "times");
        let mut all: Vec<u32> = ends.iter().map(|e| e.0).collect();
        all.sort_unstable();
        prop_assert!(all.iter().copied().eq(0..next), "each once");
    }

    #[test]
    fn a_driver_that_polls_at_deadlines_sees_time_go_forward_and_nothing_late(
        spec in spec(),
        seed in any::<u64>(),
        calls in prop::collection::vec((0_u64..40_000, call()), 1..100),
    ) {
        let mut link = Link::new(&spec, Rng::new(seed));
        let (mut now, mut next, mut latest) = (Instant::ZERO, 0, Instant::ZERO);
        for (wait_us, call) in &calls {
            let until = now + Duration::from_micros(*wait_us);
            while let Some(deadline) = link.poll_timeout().filter(|d| d.at <= until) {
                now = now.max(deadline.at);
                while let Some(departure) = link.poll(now) {
                    let (_, at, reason) = parts(&departure);
                    prop_assert!(at >= latest, "{at:?} after {latest:?}");
                    // A discipline's drop appears with the packet that was
                    // transmitted in its place.
                    let later = reason == Some(DropReason::Aqm) && at <= now;
                    prop_assert!(at == now || later, "polled in time: {at:?}, {reason:?}");
                    latest = at;
                }
            }
            now = until;
            apply(&mut link, now, call, &mut next);
        }
    }

    #[test]
    fn the_link_never_carries_more_than_its_capacity_and_never_idles_with_packets_waiting(
        kbps in 1_u64..100_000,
        sizes in prop::collection::vec(1_u64..3_000, 2..100),
    ) {
        let rate = Rate::from_kbps(kbps);
        let mut spec = LinkSpec::new(rate, ms(10));
        spec.queue = QueueLimit::Bytes(Bytes(1_000_000));
        let mut link = Link::new(&spec, Rng::new(0));
        for (i, size) in sizes.iter().enumerate() {
            link.enqueue(Instant::ZERO, Bytes(*size), i as u32);
        }
        let mut out = Vec::new();
        run_to(&mut link, Instant::from_nanos(u64::MAX / 2), &mut out);
        let mut bytes = Bytes::ZERO;
        for (departure, size) in out.iter().zip(&sizes) {
            bytes += Bytes(*size);
            let time = parts(departure).1 - (Instant::ZERO + ms(10));
            let least = rate.time_for(bytes).unwrap();
            prop_assert!(time >= least, "{bytes:?} in {time:?}");
            // Each packet's end is rounded up to a nanosecond.
            prop_assert!(time <= least + Duration::from_nanos(sizes.len() as u64));
        }
    }

    #[test]
    fn a_queue_in_time_bounds_the_wait(
        kbps in 100_u64..20_000,
        limit in 0_u64..300,
        arrivals in prop::collection::vec((0_u64..5_000, 1_u64..=1_500), 1..300),
    ) {
        let rate = Rate::from_kbps(kbps);
        let mut spec = LinkSpec::new(rate, ms(10));
        spec.queue = QueueLimit::Time(ms(limit));
        let mut link = Link::new(&spec, Rng::new(0));
        let (mut now, mut out) = (Instant::ZERO, Vec::new());
        for (i, (wait_us, size)) in arrivals.iter().enumerate() {
            now += Duration::from_micros(*wait_us);
            link.enqueue(now, Bytes(*size), i as u32);
        }
        run_to(&mut link, Instant::from_nanos(u64::MAX / 2), &mut out);
        // The wait covers the queue ahead and the packet in transmission; each end is
        // rounded up.
        let full = ms(limit).max(rate.time_for(QueueLimit::LEAST).unwrap());
        prop_assert_eq!(spec.longest_wait().map(|wait| wait.max(full)), Some(full));
        let most = full + rate.time_for(Bytes(1_500)).unwrap() + Duration::from_micros(1);
        for departure in out {
            if let Departure::Delivered { queued_for, packet, .. } = departure {
                prop_assert!(queued_for <= most, "packet {packet} waited {queued_for:?}");
            }
        }
    }
}
