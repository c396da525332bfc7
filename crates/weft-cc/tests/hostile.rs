//! One sequence of operations for every controller: for any packets and any feedback, the
//! rate stays within the limits and nothing breaks, and after any history the controller
//! uses a clean link again.

mod testbed;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use testbed::{LIMITS, Testbed};
use weft_cc::{Controller, ControllerKind, PacketResult, ProbeId, SentPacket, build};
use weft_units::{Bytes, Duration, Ecn, Instant, Rate, Rng};

#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    Send(u64, u64, Option<u32>),
    Unreported,
    Feedback(Vec<PacketResult>, Option<u64>),
    Report(u32, u32, Option<u64>),
    Timeout,
    Demand(u64),
    Backlog(u64),
    Restore,
    Probe,
}

fn kinds() -> impl Strategy<Value = ControllerKind> {
    let fixed = Just(ControllerKind::Fixed(Rate::from_mbps(2)));
    prop_oneof![
        8 => proptest::sample::select(ControllerKind::ADAPTIVE.to_vec()),
        1 => fixed,
    ]
}

/// Generates mostly plausible numbers, and sometimes arbitrary ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..5_000_u64,
        2 => 0..10_000_000_000_u64,
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ]
}

fn packet(number: u64, sent: u64, size: u64, probe: Option<u32>) -> SentPacket {
    SentPacket {
        number,
        sent_at: Instant::from_nanos(sent),
        size: Bytes(size),
        probe: probe.map(ProbeId),
    }
}

prop_compose! {
    fn result()(
        number in number(),
        sent in number(),
        size in number(),
        probe in proptest::option::of(0..6_u32),
        arrival in proptest::option::of(number()),
        ecn in proptest::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]),
        unmeasured in number(),
    ) -> PacketResult {
        PacketResult {
            sent: packet(number, sent, size, probe),
            arrival: arrival.map(Instant::from_nanos),
            ecn,
            unmeasured_before: Bytes(unmeasured),
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let results = proptest::collection::vec(result(), 0..40);
    let rtt = || proptest::option::of(number());
    prop_oneof![
        4 => (0..2_000_000_000_u64).prop_map(Op::Wait),
        4 => (number(), number(), proptest::option::of(0..6_u32))
            .prop_map(|(n, size, probe)| Op::Send(n, size, probe)),
        1 => Just(Op::Unreported),
        8 => (results, rtt()).prop_map(|(results, rtt)| Op::Feedback(results, rtt)),
        1 => (any::<u32>(), any::<u32>(), rtt()).prop_map(|(e, l, rtt)| Op::Report(e, l, rtt)),
        2 => Just(Op::Timeout),
        1 => number().prop_map(Op::Demand),
        1 => number().prop_map(Op::Backlog),
        1 => Just(Op::Restore),
        2 => Just(Op::Probe),
    ]
}

fn apply(controller: &mut dyn Controller, now: &mut Instant, op: Op) {
    match op {
        Op::Wait(nanos) => *now += Duration::from_nanos(nanos),
        Op::Send(number, size, probe) => {
            controller.on_packet_sent(&packet(number, now.as_nanos(), size, probe));
        }
        Op::Unreported => controller.on_unreported_sent(*now),
        Op::Feedback(results, rtt) => {
            controller.on_feedback(*now, &results, rtt.map(Duration::from_nanos));
        }
        Op::Report(expected, lost, rtt) => {
            controller.on_report(*now, expected, lost, rtt.map(Duration::from_nanos));
        }
        Op::Timeout => controller.on_timeout(*now),
        Op::Demand(bps) => controller.set_demand(*now, Rate::from_bps(bps)),
        Op::Backlog(bytes) => controller.set_backlog(Bytes(bytes)),
        Op::Restore => controller.on_path_restored(*now),
        Op::Probe => {
            let cluster = controller.poll_probe(*now);
            assert!(cluster.is_none_or(|c| c.rate <= LIMITS.max), "{cluster:?}");
        }
    }
}

#[track_caller]
fn check(kind: ControllerKind, controller: &dyn Controller) {
    let target = controller.target_rate();
    assert!(
        (LIMITS.min..=LIMITS.max).contains(&target),
        "{kind}: {target:?}"
    );
    assert!(controller.pacing_rate() > Rate::ZERO, "{kind}");
    if matches!(
        kind,
        ControllerKind::Gcc | ControllerKind::GccDeployed | ControllerKind::Gcc2022
    ) {
        assert!(controller.pacing_rate() >= target, "{kind}");
        assert!(controller.poll_timeout().is_some(), "{kind}");
    }
    let snapshot = controller.snapshot();
    assert_eq!(snapshot.target, target, "{kind}");
    assert!((0.0..=1.0).contains(&snapshot.loss), "{kind}: {snapshot:?}");
    let internals = controller.internals();
    for (index, internal) in internals.iter().enumerate() {
        assert!(internal.value.is_finite(), "{kind}: {internal:?}");
        let twice = internals[..index].iter().any(|i| i.name == internal.name);
        assert!(!twice, "{kind}: two are called {}", internal.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_sequence_keeps_the_rate_within_the_limits(
        kind in kinds(),
        ops in proptest::collection::vec(op(), 1..200),
    ) {
        let mut now = Instant::from_nanos(1);
        let mut controller = build(kind, LIMITS, now);
        for op in ops {
            apply(&mut *controller, &mut now, op);
            check(kind, &*controller);
        }
    }
}

/// Runs ten minutes of adverse links and feedback, selected by the seed, with a new
/// condition every 20 s.
fn suffer(bed: &mut Testbed, rng: &mut Rng) {
    for _ in 0..30 {
        let rate = Rate::from_kbps(20 + rng.below(20_000));
        bed.link.set_rate(bed.now, rate);
        bed.link.queue = Bytes(3_000 + rng.below(400_000));
        bed.link.delay = Duration::from_millis(5 + rng.below(200));
        bed.link.loss = [0.0, 0.0, 0.02, 0.2, 1.0][rng.below(5) as usize];
        bed.link.jitter = Duration::from_millis([0, 0, 10, 60][rng.below(4) as usize]);
        bed.link.reordering = [0.0, 0.0, 0.1][rng.below(3) as usize];
        bed.link.mark_above = (rng.below(3) == 0).then_some(Duration::from_millis(5));
        bed.ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][rng.below(3) as usize];
        bed.feedback.loss = [0.0, 0.0, 0.3][rng.below(3) as usize];
        bed.feedback.twice = [0.0, 0.0, 0.3][rng.below(3) as usize];
        bed.source.demand = [LIMITS.max, LIMITS.max, Rate::from_kbps(100)][rng.below(3) as usize];
        bed.run(20.0);
    }
}

fn clean(bed: &mut Testbed) {
    bed.link.set_rate(bed.now, Rate::from_mbps(5));
    bed.link.queue = Rate::from_mbps(5) * Duration::from_millis(300);
    bed.link.delay = Duration::from_millis(25);
    (bed.link.loss, bed.link.reordering) = (0.0, 0.0);
    bed.link.jitter = Duration::ZERO;
    bed.link.mark_above = None;
    (bed.feedback.loss, bed.feedback.twice) = (0.0, 0.0);
    bed.source.demand = LIMITS.max;
}

/// Returns the share of a clean 5 Mbps link that is used a minute after such a history.
fn used_after(kind: ControllerKind, seed: u64) -> (f64, Testbed) {
    let mut rng = Rng::new(seed).stream("history");
    let mut bed = Testbed::new(kind, Rate::from_mbps(5));
    suffer(&mut bed, &mut rng);
    clean(&mut bed);
    // The backlog of the last condition belongs to the history.
    bed.run(60.0);
    (bed.delivered_mbps(655.0, 660.0) / 5.0, bed)
}

/// Checks that every controller reaches 60 % within sixty seconds on a clean 5 Mbps link.
fn recovers(kind: ControllerKind, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let (used, bed) = used_after(kind, seed);
        assert!(
            (0.6..=1.07).contains(&used),
            "{kind}, seed {seed}: {used:.2}\n{}",
            bed.trace()
        );
    }
}

#[test]
fn gcc_is_never_stuck() {
    recovers(ControllerKind::Gcc, 0..20);
}

#[test]
fn gcc_deployed_is_never_stuck() {
    recovers(ControllerKind::GccDeployed, 0..20);
}

#[test]
fn gcc_2022_is_never_stuck() {
    recovers(ControllerKind::Gcc2022, 0..20);
}

#[test]
fn gcc_draft_is_never_stuck() {
    recovers(ControllerKind::GccDraft, 0..20);
}

#[test]
fn nada_is_never_stuck() {
    recovers(ControllerKind::Nada, 0..20);
}

#[test]
fn scream_is_never_stuck() {
    recovers(ControllerKind::Scream, 0..20);
}

#[test]
fn scream_v1_is_never_stuck() {
    recovers(ControllerKind::ScreamV1, 0..20);
}

/// Weaknesses of the published algorithms, which their controllers keep. libwebrtc: a
/// probe that confirms a rate limited by loss lowers the delay-based rate, and because of
/// the capacity known from before, the rate then grows by a packet per round trip. The
/// draft: after very different capacities, the deviation of the incoming rate is so large
/// that every rate counts as close to convergence.
#[test]
#[ignore = "minutes: ten times as many histories of each"]
fn the_published_gccs_alone_are_ever_stuck() {
    for kind in ControllerKind::ADAPTIVE {
        let stuck: Vec<(u64, f64)> = (0..200)
            .map(|seed| (seed, used_after(kind, seed).0))
            .filter(|(_, used)| !(0.6..=1.07).contains(used))
            .collect();
        println!("{kind}: {stuck:.2?}");
        let permitted = match kind {
            ControllerKind::GccDeployed | ControllerKind::Gcc2022 | ControllerKind::GccDraft => 10, // 5 %
            _ => 0,
        };
        assert!(stuck.len() <= permitted, "{kind}: {stuck:.2?}");
    }
}

/// Limits an operation to changes that the network can make to feedback: any arrival,
/// number and mark. The sender itself knows the time and size of a packet.
fn credible(now: Instant, op: Op) -> Op {
    let Op::Feedback(mut results, rtt) = op else {
        return op;
    };
    for result in &mut results {
        let ago = Duration::from_nanos(result.sent.sent_at.as_nanos() % 10_000_000_000);
        result.sent.sent_at = now.saturating_sub(ago);
        result.sent.size = Bytes(result.sent.size.0 % 1500);
        result.unmeasured_before = Bytes(result.unmeasured_before.0 % 15_000);
    }
    Op::Feedback(results, rtt)
}

/// Mixes absurd feedback with the link's own, then continues with the link's alone.
#[test]
fn nobody_is_stuck_after_absurd_feedback() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let sequences = proptest::collection::vec(op(), 200..201);
    for kind in ControllerKind::ADAPTIVE {
        let tree = sequences.new_tree(&mut runner).expect("a sequence");
        let mut bed = Testbed::new(kind, Rate::from_mbps(5));
        for op in tree.current() {
            let mut now = bed.now;
            // The testbed keeps its own numbers and demand.
            if !matches!(op, Op::Send(..) | Op::Demand(_)) {
                apply(&mut *bed.controller, &mut now, credible(bed.now, op));
            }
            bed.run((now - bed.now).as_secs_f64() + 0.1);
        }
        bed.controller.set_demand(bed.now, LIMITS.max);
        bed.samples.clear();
        bed.run(60.0);
        let used = bed.delivered_mbps(55.0, 60.0) / 5.0;
        assert!(
            (0.6..=1.07).contains(&used),
            "{kind}: {used:.2}\n{}",
            bed.trace()
        );
    }
}
