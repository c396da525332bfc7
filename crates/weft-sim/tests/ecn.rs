//! Calls over links that mark packets instead of dropping them.

mod world;

use weft_cc::ControllerKind;
use weft_experiment::{
    CallSetup, CameraSetup, FlowDetail, FlowSetup, LinkSetup, Record, Route, Setup, SideSetup,
};
use weft_session::EcnState;
use weft_units::Rate;
use world::{link, run, seconds};

/// Runs a call of at most 6 Mbps over a link of 3 Mbps, measured from 10 to 60 s.
fn call(controller: ControllerKind, queue: &str) -> Record {
    let spec = link(&format!("rate=3mbit,delay=25ms,queue=300ms{queue}"));
    let mut setup = Setup::new(seconds(60));
    setup.measure_from = seconds(10);
    setup.links.push(LinkSetup::symmetric("bottleneck", &spec));
    let camera = CameraSetup::synthetic(30.0, Rate::from_mbps(6));
    let side = SideSetup {
        controller,
        ..SideSetup::filming(vec![camera])
    };
    let call = CallSetup::one_way(side);
    let flow = FlowSetup::call("call", vec![Route::forward(&[0])], call);
    setup.flows.push(flow);
    run(&setup, 1)
}

/// Returns the caller's packets that were lost, that the link marked, and that the caller
/// knows to be marked; the state of ECN; and the rate that the link delivered.
fn figures(record: &Record) -> (u64, u64, u64, EcnState, f64) {
    let FlowDetail::Call(call) = &record.flows[0].detail else {
        panic!("a call")
    };
    let last = call.caller.series.last().expect("samples");
    let counters = record.links[0].forward().counters;
    let mbps = counters.delivered.bytes.0 as f64 * 8.0 / 60e6;
    (
        counters.dropped().packets,
        counters.marked.packets,
        last.paths[0].marked_packets,
        last.paths[0].ecn,
        mbps,
    )
}

#[test]
fn scream_keeps_the_queue_shorter_where_the_link_marks() {
    let p95 = |record: &Record| {
        let delay = &record.links[0].forward().queue_delay;
        delay.percentile(95).as_millis_f64()
    };
    let drop_tail = call(ControllerKind::Scream, "");
    let dual = call(ControllerKind::Scream, ",aqm=dualpi2");
    println!(
        "drop-tail: {} ms, {:?}",
        p95(&drop_tail),
        figures(&drop_tail)
    );
    println!("dualpi2: {} ms, {:?}", p95(&dual), figures(&dual));
    let (_, marked, _, state, _) = figures(&drop_tail);
    assert_eq!((marked, state), (0, EcnState::On));
    let (lost, marked, told, state, mbps) = figures(&dual);
    assert_eq!((lost, state), (0, EcnState::On));
    assert!(marked > 100, "{marked} marks");
    assert!((told..=told + 20).contains(&marked), "{told} of {marked}");
    assert!(mbps > 1.2, "{mbps} Mbps");
    let (short, long) = (p95(&dual), p95(&drop_tail));
    assert!(short * 4.0 < long && short > 0.1, "{short} and {long} ms");
}

#[test]
fn marks_take_the_place_of_codels_drops() {
    let lost_and_marked = |controller| {
        let (lost, marked, told, ..) = figures(&call(controller, ",aqm=codel,ecn=on"));
        println!("{controller}: {lost} lost, {told} of {marked} marks told");
        (lost, marked.min(told))
    };
    let (lost, marked) = lost_and_marked(ControllerKind::Gcc);
    assert!(lost > 10 && marked == 0, "GCC takes no notice of marks");
    for controller in [ControllerKind::Nada, ControllerKind::ScreamV1] {
        let (lost, marked) = lost_and_marked(controller);
        // Checks, reports and the first packets are not ECN-capable.
        assert!(
            lost * 5 < marked,
            "{controller}: {lost} lost, {marked} marked"
        );
    }
}
