//! Setups and measurements that the tests share.
#![allow(dead_code)]

use weft_experiment::{
    CongestionKind, FlowDetail, FlowKind, FlowSetup, LinkSetup, Record, Route, Setup, TcpRecord,
    TcpSetup,
};
use weft_links::LinkSpec;
use weft_units::Duration;

pub fn link(spec: &str) -> LinkSpec {
    spec.parse().expect("a link specification")
}

pub fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub fn run(setup: &Setup, seed: u64) -> Record {
    weft_sim::run(setup, seed, &mut ()).expect("a setup that can be run")
}

/// Creates a setup with one link for all flows, with equal directions.
pub fn over(spec: &str, duration: u64) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    setup
        .links
        .push(LinkSetup::symmetric("bottleneck", &link(spec)));
    setup
}

pub fn long_lived(name: &str, kind: CongestionKind) -> FlowSetup {
    let tcp = FlowKind::Tcp(TcpSetup::long_lived(kind));
    FlowSetup::new(name, Route::forward(&[0]), tcp)
}

/// Creates long-lived flows over a link with a round trip of 50 ms and 2 BDP of queue.
pub fn bottleneck(mbps: f64, duration: u64, kinds: &[CongestionKind]) -> Setup {
    let spec = format!("rate={}kbit,delay=25ms,queue=2bdp", mbps * 1000.0);
    let mut setup = over(&spec, duration);
    for (index, kind) in kinds.iter().enumerate() {
        setup
            .flows
            .push(long_lived(&format!("{kind}-{index}"), *kind));
    }
    setup
}

pub fn tcp(record: &Record, flow: usize) -> &TcpRecord {
    match &record.flows[flow].detail {
        FlowDetail::Tcp(tcp) => tcp,
        other => panic!("flow {flow} is {other:?}"),
    }
}

/// Returns the goodput over the whole run, in Mbps.
pub fn goodput(record: &Record, flow: usize) -> f64 {
    tcp(record, flow).delivered.0 as f64 * 8.0 / 1e6 / record.ended_at.as_secs_f64()
}
