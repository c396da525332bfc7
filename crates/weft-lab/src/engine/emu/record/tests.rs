use weft_emu::{FAR, NEAR};
use weft_experiment::{FlowKind, FlowSetup, LinkSetup, Route, UdpSetup};
use weft_links::{DropReason, LinkSpec};
use weft_units::Rate;

use super::*;

fn setup() -> Setup {
    let mut setup = Setup::new(Duration::from_secs(1));
    setup.measure_from = Duration::from_millis(500);
    let spec: LinkSpec = "rate=1mbit,delay=20ms".parse().unwrap();
    setup.links.push(LinkSetup::symmetric("line", &spec));
    let kind = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    setup
        .flows
        .push(FlowSetup::new("call", Route::forward(&[0]), kind));
    setup
}

/// 1000 bytes that took 10 ms in the queue and 8 + 20 ms on the link.
fn packet(entered_ms: u64, sender: End, fate: Fate) -> Packet {
    let entered = Instant::ZERO + Duration::from_millis(entered_ms);
    Packet {
        link: 0,
        from: match sender {
            End::Source => NEAR,
            End::Sink => FAR,
        },
        flow: Some((0, sender)),
        size: Bytes(1000),
        entered,
        ended: entered + Duration::from_millis(38),
        queued_for: Duration::from_millis(10),
        fate,
    }
}

fn recorded(packets: &[Packet]) -> Record {
    let setup = setup();
    let mut recorder = Recorder::new(&setup);
    packets.iter().for_each(|packet| recorder.add(packet));
    let report = LinkReport {
        name: "line".to_owned(),
        stations: vec![StationReport::default(); 2],
        channels: Vec::new(),
    };
    recorder.finish(&[report], vec![FlowDetail::Packets])
}

#[test]
fn packets_count_for_the_link_and_for_the_way_of_their_sender() {
    let record = recorded(&[
        packet(0, End::Source, Fate::Delivered),
        packet(10, End::Sink, Fate::Delivered),
        packet(20, End::Sink, Fate::Delivered),
    ]);
    let line = &record.links[0];
    assert_eq!(line.forward().counters.delivered.packets, 1);
    assert_eq!(line.backward().counters.delivered.packets, 2);
    let route = &record.flows[0].routes[0];
    assert_eq!(
        (route.there.delivered.bytes, route.back.delivered.bytes),
        (Bytes(1000), Bytes(2000))
    );
    assert_eq!(record.events, 3);
}

#[test]
fn a_packet_is_sent_in_one_period_and_arrives_in_another() {
    // Sent at 190 ms, there at 228 ms; periods have 200 ms.
    let record = recorded(&[packet(190, End::Source, Fate::Delivered)]);
    let series = &record.flows[0].routes[0].there.series;
    assert_eq!(series.len(), 5);
    assert_eq!(
        (series[0].sent_packets, series[0].delivered),
        (1, Bytes::ZERO)
    );
    assert_eq!(
        (series[1].sent_packets, series[1].delivered),
        (0, Bytes(1000))
    );
    assert_eq!(series[1].one_way_delay.mean, Duration::from_millis(38));
    assert_eq!(series[1].queue_delay.max, Duration::from_millis(10));
}

#[test]
fn distributions_begin_where_measuring_does() {
    let early = packet(100, End::Source, Fate::Delivered);
    let late = packet(600, End::Source, Fate::Delivered);
    let record = recorded(&[early, late]);
    assert_eq!(record.links[0].forward().queue_delay.count(), 1);
    assert_eq!(
        record.flows[0].routes[0].there.one_way_delay.mean(),
        Duration::from_millis(38)
    );
}

#[test]
fn drops_keep_their_reasons() {
    let drop = |at| packet(at, End::Source, Fate::Dropped(DropReason::QueueFull));
    let record = recorded(&[drop(0), drop(1), packet(2, End::Source, Fate::Delivered)]);
    let leg = &record.flows[0].routes[0].there;
    assert_eq!((leg.dropped.len(), leg.drops(), leg.in_flight()), (1, 2, 0));
    assert_eq!(record.links[0].forward().counters.queue_full.packets, 2);
}

#[test]
fn runs_that_end_late_do_not_count() {
    let record = recorded(&[packet(980, End::Source, Fate::Delivered)]);
    assert_eq!(record.links[0].forward().counters.sent.packets, 0);
}

#[test]
fn packets_of_nobody_count_for_the_link_only() {
    let stranger = Packet {
        flow: None,
        ..packet(0, End::Source, Fate::Delivered)
    };
    let record = recorded(&[stranger]);
    assert_eq!(record.links[0].forward().counters.delivered.packets, 1);
    assert_eq!(record.flows[0].routes[0].there.delivered.packets, 0);
}
