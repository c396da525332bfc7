//! Sequences of operations and feedback that nobody should send.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    Send(u64, u64, Option<u32>),
    Feedback(Vec<PacketResult>, Option<u64>),
    Timeout,
    Demand(u64),
    Restore,
    Probe,
}

/// Mostly plausible, sometimes anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..5_000_u64, 2 => 0..10_000_000_000_u64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

fn packet(number: u64, sent: u64, size: u64, probe: Option<u32>) -> SentPacket {
    SentPacket {
        number,
        sent_at: Instant::from_nanos(sent),
        size: Bytes(size),
        probe: probe.map(crate::ProbeId),
    }
}

prop_compose! {
    fn result()(
        number in number(),
        sent in number(),
        size in number(),
        probe in proptest::option::of(0..6_u32),
        arrival in proptest::option::of(number()),
        unmeasured in number(),
    ) -> PacketResult {
        PacketResult {
            sent: packet(number, sent, size, probe),
            arrival: arrival.map(Instant::from_nanos),
            ecn: weft_units::Ecn::NotEct,
            unmeasured_before: Bytes(unmeasured),
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let results = proptest::collection::vec(result(), 0..40);
    prop_oneof![
        4 => (0..2_000_000_000_u64).prop_map(Op::Wait),
        4 => (number(), number(), proptest::option::of(0..6_u32))
            .prop_map(|(n, size, probe)| Op::Send(n, size, probe)),
        8 => (results, proptest::option::of(number()))
            .prop_map(|(results, rtt)| Op::Feedback(results, rtt)),
        2 => Just(Op::Timeout),
        1 => number().prop_map(Op::Demand),
        1 => Just(Op::Restore),
        2 => Just(Op::Probe),
    ]
}

fn apply(gcc: &mut Gcc, now: &mut Instant, op: Op) {
    match op {
        Op::Wait(nanos) => *now += Duration::from_nanos(nanos),
        Op::Send(number, size, probe) => {
            gcc.on_packet_sent(&packet(number, now.as_nanos(), size, probe));
        }
        Op::Feedback(results, rtt) => {
            gcc.on_feedback(*now, &results, rtt.map(Duration::from_nanos));
        }
        Op::Timeout => gcc.on_timeout(*now),
        Op::Demand(bps) => gcc.set_demand(*now, Rate::from_bps(bps)),
        Op::Restore => gcc.on_path_restored(*now),
        Op::Probe => {
            let cluster = gcc.poll_probe(*now);
            let max = gcc.limits.max;
            assert!(cluster.is_none_or(|c| c.rate <= max), "{cluster:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_sequence_keeps_the_rate_within_the_limits(
        ops in proptest::collection::vec(op(), 1..200),
        behaviour in prop_oneof![Just(Behaviour::Repaired), Just(Behaviour::Deployed)],
    ) {
        let limits = Limits {
            min: Rate::from_kbps(50),
            start: Rate::from_kbps(300),
            max: Rate::from_mbps(20),
        };
        let mut now = Instant::from_nanos(1);
        let mut gcc = Gcc::new(behaviour, limits, now);
        for op in ops {
            apply(&mut gcc, &mut now, op);
            let target = gcc.target_rate();
            prop_assert!(target >= limits.min && target <= limits.max, "{target:?}");
            prop_assert!(gcc.pacing_rate() >= target);
            let snapshot = gcc.snapshot();
            prop_assert!((0.0..=1.0).contains(&snapshot.loss), "{snapshot:?}");
            prop_assert!(gcc.poll_timeout().is_some());
        }
    }
}
