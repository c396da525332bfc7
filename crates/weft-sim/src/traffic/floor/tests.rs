use super::*;
use weft_experiment::{FlowKind, FlowSetup, LinkSetup, Setup};
use weft_links::{Capacity, LineStep, LinkSpec, Schedule};
use weft_units::{Bytes, Rate, Rng};

const MS: Duration = Duration::from_millis(1);

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn link(text: &str) -> LinkSpec {
    text.parse().expect("a link")
}

/// Returns the output for ten pictures of 1000 bytes, one every 10 ms.
fn crossed(spec: LinkSpec) -> Vec<(f64, usize)> {
    let medium = LinkSetup::symmetric("link", &spec).medium;
    let hop = Hop::wired(0, weft_links::WiredDirection::Forward);
    let mut crossing = Crossing::new(&medium, &Rng::new(1), &hop);
    let pictures = (0..10).map(|n| Picture {
        at: at_ms(10 * n),
        number: n as usize,
    });
    let pictures: Vec<Picture> = pictures.collect();
    let arrived = crossing.cross(&pictures, Bytes(1000), at_ms(1000));
    let ms = |at: Instant| at.saturating_since(Instant::ZERO).as_millis_f64();
    arrived.iter().map(|p| (ms(p.at), p.number)).collect()
}

#[test]
fn a_fast_link_carries_every_picture_as_it_comes() {
    // 1000 bytes take 8 ms at 1 Mbit/s.
    let expected = (0..10_u8).map(|n| (10.0 * f64::from(n) + 13.0, usize::from(n)));
    let expected: Vec<_> = expected.collect();
    assert_eq!(crossed(link("rate=1mbit,delay=5ms")), expected);
    // Packet effects such as loss and jitter do not apply to the oracle.
    let unlucky = "rate=1mbit,delay=5ms,loss=50%,burst-loss=20%/5,jitter=5ms,queue=1B,aqm=codel";
    assert_eq!(crossed(link(unlucky)), expected);
}

#[test]
fn a_slow_link_takes_the_newest_whenever_it_is_idle() {
    // 25 ms each: the pictures of 0, 20, 50 and 70 ms; the last one waits for the
    // previous one.
    let slow = crossed(link("rate=320kbit,delay=5ms"));
    assert_eq!(
        slow,
        [(30.0, 0), (55.0, 2), (80.0, 5), (105.0, 7), (130.0, 9)]
    );
}

#[test]
fn after_an_outage_the_newest_goes_first_and_pending_frames_continue() {
    let rates = |steps: &[(u64, u64)]| {
        let steps = steps.iter();
        let steps = steps.map(|&(ms, mbps)| (MS * ms, Rate::from_mbps(mbps)));
        let schedule = Schedule::new(steps.collect()).expect("a schedule");
        LinkSpec::new(Capacity::Schedule(schedule), MS * 5)
    };
    // No transmission starts from 20 to 75 ms; then the picture of 70 ms.
    let idle = crossed(rates(&[(0, 1), (20, 0), (75, 1)]));
    let expected = [(13.0, 0), (23.0, 1), (88.0, 7), (96.0, 8), (104.0, 9)];
    assert_eq!(idle, expected);
    // The picture of 20 ms has 4 ms left when the outage starts.
    let under_way = crossed(rates(&[(0, 1), (24, 0), (75, 1)]));
    let expected = [13.0, 23.0, 84.0, 92.0, 100.0, 108.0];
    let numbers = [0, 1, 2, 7, 8, 9];
    assert_eq!(
        under_way,
        expected.into_iter().zip(numbers).collect::<Vec<_>>()
    );
}

#[test]
fn packets_have_the_delay_and_loss_of_their_departure() {
    let step = |ms, delay, loss| LineStep {
        at: MS * ms,
        delay,
        loss,
    };
    let mut spec = link("rate=1mbit,delay=50ms");
    spec.line_steps = vec![
        step(30, None, Some(1.0)),
        step(60, Some(MS * 100), Some(0.5)),
        step(80, Some(MS * 5), None),
    ];
    let arrived = crossed(spec);
    // Packets that leave from 30 to 60 ms are lost; from 80 ms on nothing overtakes.
    let expected = [58.0, 68.0, 78.0, 168.0, 178.0, 178.0, 178.0];
    let numbers = [0, 1, 2, 6, 7, 8, 9];
    assert_eq!(
        arrived,
        expected.into_iter().zip(numbers).collect::<Vec<_>>()
    );
}

#[test]
fn the_first_path_with_a_new_picture_counts() {
    let picture = |(ms, number)| Picture {
        at: at_ms(ms),
        number,
    };
    let arrived = [
        (10, 0),
        (40, 1),
        (50, 2),
        (90, 4),
        (20, 0),
        (30, 1),
        (60, 1),
        (50, 3),
    ];
    let shown: Vec<_> = shown(arrived.map(picture).to_vec(), at_ms(89)).collect();
    assert_eq!(shown, [(10, 0), (30, 1), (50, 3)].map(picture));
}

/// Runs ten seconds of the floor over these links; returns the pictures with their time
/// in flight.
fn floor(links: &[LinkSpec], routes: Vec<Route>) -> Vec<ShownPicture> {
    let mut setup = Setup::new(Duration::from_secs(10));
    for (index, spec) in links.iter().enumerate() {
        let link = LinkSetup::symmetric(&format!("link{index}"), spec);
        setup.links.push(link);
    }
    let mut flow = FlowSetup::new("call", Route::forward(&[0]), kind());
    flow.routes = routes;
    setup.flows.push(flow);
    let record = crate::run(&setup, 1, &mut ()).expect("a setup that can be run");
    assert_eq!(record.links[0].forward().counters.sent.packets, 0);
    match &record.flows[0].detail {
        FlowDetail::Floor(floor) => floor.pictures.clone(),
        other => panic!("{other:?}"),
    }
}

fn kind() -> FlowKind {
    FlowKind::Floor(FloorSetup::default())
}

fn latency_ms(picture: &ShownPicture) -> f64 {
    (picture.latency().as_millis_f64() * 1e3).round() / 1e3
}

#[test]
fn latency_is_delay_and_transmission_over_each_link() {
    // 150 kbit/s in 30 pictures are 625 bytes each, plus 60: 5.48 ms at 1 Mbit/s, 2.74 ms
    // at 2 Mbit/s.
    let links = [link("rate=1mbit,delay=25ms"), link("rate=2mbit,delay=10ms")];
    let over = |routes| {
        let pictures = floor(&links, routes);
        let first = latency_ms(&pictures[0]);
        assert!(pictures.iter().all(|p| latency_ms(p) == first));
        (pictures.len(), first)
    };
    assert_eq!(over(vec![Route::forward(&[0])]), (300, 30.48));
    let both = vec![Route::forward(&[0]), Route::forward(&[1])];
    assert_eq!(over(both), (300, 12.74));
    let chain = Route::forward(&[0, 1]).with_access(MS * 7);
    // 7 ms plus both; the last picture, captured 33 ms before the end, is still in
    // flight.
    assert_eq!(over(vec![chain]), (299, 50.22));
}

#[test]
fn a_link_that_dies_is_a_gap_unless_there_is_another() {
    let steps = [(0, 1), (4, 0), (6, 1)];
    let steps = steps.map(|(s, mbps)| (Duration::from_secs(s), Rate::from_mbps(mbps)));
    let schedule = Schedule::new(steps.to_vec()).expect("a schedule");
    let dies = LinkSpec::new(Capacity::Schedule(schedule), MS * 25);
    let links = [dies, link("rate=1mbit,delay=40ms")];
    let longest = |routes| {
        let pictures = floor(&links, routes);
        let gaps = pictures.windows(2);
        let gaps = gaps.map(|two| two[1].shown_at.saturating_since(two[0].shown_at));
        gaps.max().map_or(0.0, Duration::as_millis_f64).round()
    };
    // From the picture of 3967 ms to that of 6000 ms.
    assert_eq!(longest(vec![Route::forward(&[0])]), 2033.0);
    // With the second link in use, 15 ms more.
    let both = vec![Route::forward(&[0]), Route::forward(&[1])];
    assert_eq!(longest(both), 48.0);
}

#[test]
fn generated_capacity_is_that_of_the_links_themselves() {
    // The floor uses the rate of the link that a flow of the run also gets.
    let spec = "trace=generated:driving/lte,delay=0ms,queue=10ms";
    let mut setup = Setup::new(Duration::from_secs(20));
    setup.links.push(LinkSetup::symmetric("link", &link(spec)));
    let fill = FlowKind::Udp(weft_experiment::UdpSetup::new(Rate::from_mbps(200)));
    let big = FloorSetup {
        rate: Rate::from_mbps(200),
        ..FloorSetup::default()
    };
    for (name, kind) in [("udp", fill), ("call", FlowKind::Floor(big))] {
        let flow = FlowSetup::new(name, Route::forward(&[0]), kind);
        setup.flows.push(flow);
    }
    for seed in 1..=3 {
        let record = crate::run(&setup, seed, &mut ()).expect("a setup that can be run");
        let FlowDetail::Floor(floor) = &record.flows[1].detail else {
            panic!("no floor");
        };
        let last = floor.pictures.last().expect("a picture").shown_at;
        let samples = &record.links[0].forward().series;
        let samples = samples.iter().take_while(|sample| sample.at <= last);
        let samples: Vec<_> = samples.collect();
        let udp: u64 = samples.iter().map(|sample| sample.delivered.0).sum();
        let end = samples.last().expect("a sample").at;
        let shown = floor.pictures.iter().filter(|p| p.shown_at <= end);
        let pictures = big.picture().0 * shown.count() as u64;
        let ratio = pictures as f64 / udp as f64;
        assert!((0.98..1.02).contains(&ratio), "seed {seed}: {ratio}");
    }
}

#[test]
fn shared_stations_have_no_floor() {
    let mut setup = Setup::new(Duration::from_secs(1));
    let mut shared = LinkSetup::symmetric("ring", &link("rate=1mbit"));
    shared.medium = weft_links::MediumSpec::token_ring(link("rate=1mbit"), MS);
    setup.links.push(shared);
    let flow = FlowSetup::new("call", Route::forward(&[0]), kind());
    setup.flows.push(flow);
    let error = crate::run(&setup, 1, &mut ()).expect_err("nobody knows its capacity");
    assert!(error.to_string().contains("share a medium"), "{error}");
}

#[test]
fn sound_goes_beside_the_pictures() {
    // 50 bytes of sound plus 60 of headers every 20 ms, 8.8 ms at 100 kbit/s, over a link
    // with an outage from 100 to 195 ms.
    let mut spec = link("rate=100kbit,delay=5ms");
    let steps = [(0, 100), (100, 0), (195, 100)];
    let steps = steps.map(|(ms, kbps)| (MS * ms, Rate::from_kbps(kbps)));
    spec.capacity = Capacity::Schedule(Schedule::new(steps.to_vec()).expect("a schedule"));
    let mut setup = Setup::new(MS * 400);
    setup.links.push(LinkSetup::symmetric("link", &spec));
    let floor = FloorSetup {
        sound: Some(weft_experiment::MicrophoneSetup::default()),
        ..FloorSetup::default()
    };
    let flow = FlowSetup::new("call", Route::forward(&[0]), FlowKind::Floor(floor));
    setup.flows.push(flow);
    let record = crate::run(&setup, 1, &mut ()).expect("a setup that can be run");
    let FlowDetail::Floor(floor) = &record.flows[0].detail else {
        panic!("no floor");
    };
    let ms = |at: &Instant| at.saturating_since(Instant::ZERO).as_millis_f64();
    let heard: Vec<f64> = floor.sound.iter().map(ms).collect();
    // The packet of 180 ms is the newest when the link resumes; its bits and those of the
    // packet of 200 ms leave one after the other.
    let expected = [
        13.8, 33.8, 53.8, 73.8, 93.8, 208.8, 217.6, 233.8, 253.8, 273.8, 293.8, 313.8, 333.8,
        353.8, 373.8, 393.8,
    ];
    assert_eq!(heard, expected);
}
