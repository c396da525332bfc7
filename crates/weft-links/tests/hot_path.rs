//! Checks that forwarding a packet over a link does not allocate: a simulation
//! has tens of millions of packets.

use weft_links::{Ecn, FlowId, Link, LinkSpec, PacketInfo};
use weft_testing::allocation::{Counting, measure};
use weft_units::{Bytes, Duration, Instant, Rng};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sends packets of four flows at 1.5 times the link's capacity, and takes out those that
/// end.
fn run(link: &mut Link<u64>, now: &mut Instant, packets: u64) {
    for packet in 0..packets {
        *now += Duration::from_micros(800);
        while link.poll(*now).is_some() {}
        let ecn = Ecn::from_bits((packet % 4) as u8);
        let info = PacketInfo::new(Bytes(1500)).with_ecn(ecn);
        link.enqueue(*now, info.with_flow(FlowId(packet % 4)), packet);
    }
}

#[test]
fn no_packet_allocates_once_the_queues_have_grown() {
    let base = "delay=25ms,queue=100ms,jitter=2ms,loss=1%,burst-loss=1%/4";
    for spec in [
        "rate=10mbit,aqm=droptail,burst=30kB",
        "rate=10mbit,aqm=codel,ecn=on",
        "rate=10mbit,aqm=fq_codel",
        "rate=10mbit,aqm=pie,ecn=on",
        "rate=10mbit,aqm=dualpi2",
        "trace=generated:driving/lte",
    ] {
        let spec: LinkSpec = format!("{spec},{base}").parse().expect("a specification");
        let mut link = Link::new(&spec, Rng::new(1));
        let mut now = Instant::ZERO;
        run(&mut link, &mut now, 200_000);
        let ended = link.counters().delivered.packets;
        let ((), cost) = measure(|| run(&mut link, &mut now, 100_000));
        assert_eq!(cost.calls, 0, "{spec}");
        let ended = link.counters().delivered.packets - ended;
        assert!(ended > 30_000, "{spec}: {ended} packets");
    }
}
