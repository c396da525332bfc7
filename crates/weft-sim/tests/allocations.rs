//! TCP and UDP do not allocate per packet.

mod world;

use weft_experiment::{CongestionKind, FlowKind, FlowSetup, Route, UdpSetup};
use weft_testing::allocation::{Counting, measure};
use weft_units::Rate;
use world::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_cost_no_allocations_once_the_queues_have_their_size() {
    for kind in CongestionKind::ALL {
        let count = |duration| {
            let mut setup = bottleneck(10.0, duration, &[kind]);
            let udp = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
            let flow = FlowSetup::new("udp", Route::forward(&[0]), udp);
            setup.flows.push(flow);
            let (record, cost) = measure(|| run(&setup, 1));
            let sent = record.links[0].forward().counters.sent.packets;
            (cost.calls, sent)
        };
        let (short, few) = count(30);
        let (long, many) = count(90);
        // 50,000 packets more; the remaining allocations are the series, which double.
        assert!(many - few > 45_000, "{} packets", many - few);
        assert!(long - short < 100, "{kind}: {} allocations", long - short);
    }
}
