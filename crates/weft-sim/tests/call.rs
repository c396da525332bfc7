//! Complete calls in virtual time.

mod world;

use weft_experiment::CongestionKind::Cubic;
use weft_experiment::{
    CallRecord, CallSetup, CameraSetup, FlowDetail, FlowKind, FlowSetup, FrameRecord, LinkSetup,
    MicrophoneSetup, ModelSetup, Record, Route, Setup, SideSetup, TcpSetup,
};
use weft_links::{Capacity, LinkSpec, Schedule};
use weft_session::{Ablation, Ablations, PathState, SchedulerKind};
use weft_units::{Codec, Duration, Instant, PathId, Rate};
use world::*;

/// Creates a call with one path for each link.
fn call(specs: &[LinkSpec], duration: u64, side: SideSetup) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    let mut routes = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let link = LinkSetup::symmetric(&index.to_string(), spec);
        setup.links.push(link);
        routes.push(Route::forward(&[index]));
    }
    let call = CallSetup::one_way(side);
    setup.flows.push(FlowSetup::call("call", routes, call));
    setup
}

fn filming(kbps: u64) -> SideSetup {
    SideSetup::filming(vec![CameraSetup::synthetic(30.0, Rate::from_kbps(kbps))])
}

fn record(record: &Record) -> &CallRecord {
    match &record.flows[0].detail {
        FlowDetail::Call(call) => call,
        other => panic!("no call but {other:?}"),
    }
}

fn frames(run: &Record, from: u64, to: u64) -> Vec<FrameRecord> {
    let (from, to) = (Instant::ZERO + seconds(from), Instant::ZERO + seconds(to));
    let all = record(run).caller.streams[0].frames.iter();
    let within = all.filter(|f| (from..to).contains(&f.captured_at));
    within.collect()
}

fn shown(frames: &[FrameRecord]) -> usize {
    displayed(frames.iter().copied())
}

fn displayed(frames: impl Iterator<Item = FrameRecord>) -> usize {
    frames.filter(|f| f.shown.is_some()).count()
}

#[test]
fn a_clean_link_shows_every_frame_in_time() {
    let links = [link("rate=8mbit,delay=20ms")];
    let run = run(&call(&links, 30, filming(2500)), 1);
    let late = frames(&run, 1, 29);
    assert_eq!((late.len(), shown(&late)), (840, 840));
    let stream = &record(&run).caller.streams[0];
    assert_eq!((stream.freezes.count(), stream.retransmissions), (0, 0));
    let first = stream.frames.iter().next().expect("a frame");
    assert_eq!(first.keyframe, first.shown.is_some());
    // 20 ms of propagation, 11 ms of transmission at 8 Mbps, and some buffering.
    for frame in &late {
        let delay = frame.shown.map(|s| s.at - frame.captured_at);
        let delay = delay.unwrap_or_default().as_millis_f64();
        assert!((20.0..150.0).contains(&delay), "{delay} ms");
    }
    // The encoder follows the target, which is the camera's maximum.
    let bytes: u64 = late.iter().map(|f| f.size.0).sum();
    let rate = bytes as f64 * 8.0 / 28.0 / 1e6;
    assert!((2.4..=2.6).contains(&rate), "{rate} Mbps");
}

/// The two links have no loss, and their delays are 100 ms apart.
#[test]
fn skew_is_taken_for_loss_only_where_repair_by_path_is_left_out() {
    let sent_again = |without: Ablations| {
        let links = [
            link("rate=4mbit,delay=10ms"),
            link("rate=4mbit,delay=110ms"),
        ];
        let mut side = filming(2500);
        side.scheduler = SchedulerKind::Throughput;
        let mut setup = call(&links, 20, side);
        let FlowKind::Call(call) = &mut setup.flows[0].kind else {
            panic!("it is a call");
        };
        (call.caller.ablations, call.callee.ablations) = (without, without);
        record(&run(&setup, 1)).caller.streams[0].retransmissions
    };
    let (whole, without) = (
        sent_again(Ablations::NONE),
        sent_again(Ablation::PathRepair.into()),
    );
    assert!(whole < 20, "{whole} sent again");
    assert!(without > 500, "{without} sent again without");
}

/// Sizes on the wire include RTP, a tag of 16 bytes, and UDP and IP of 28.
#[test]
fn packets_have_their_sizes_on_the_wire() {
    let links = [link("rate=8mbit,delay=20ms")];
    let run = run(&call(&links, 10, filming(2500)), 1);
    let leg = &run.flows[0].routes[0].there;
    let packets = record(&run).caller.streams[0].packets;
    // Media, about one report a second and a check every two seconds.
    let others = leg.sent.packets - packets;
    assert!((5..=60).contains(&others), "{others} packets of control");
    let media: u64 = frames(&run, 0, 10).iter().map(|f| f.size.0).sum();
    let around = (leg.sent.bytes.0 - media) as f64 / leg.sent.packets as f64;
    // RTP takes 12 bytes plus at most 24 of extensions, the VP8 descriptor 6, and the
    // lower layers 44.
    assert!((60.0..=90.0).contains(&around), "{around} bytes each");
    let largest = 1200 + 44;
    assert!(leg.sent.bytes.0 <= leg.sent.packets * largest);
}

#[test]
fn two_links_carry_more_than_either_could() {
    let links = [link("rate=3mbit,delay=20ms"), link("rate=3mbit,delay=40ms")];
    let run = run(&call(&links, 60, filming(4500)), 2);
    let late = frames(&run, 20, 58);
    let bytes: u64 = late.iter().map(|f| f.size.0).sum();
    let rate = bytes as f64 * 8.0 / 38.0 / 1e6;
    assert!((3.2..=4.6).contains(&rate), "{rate} Mbps");
    assert!(shown(&late) * 100 >= late.len() * 97, "{}", shown(&late));
    for route in &run.flows[0].routes {
        assert!(route.there.delivered.packets > 5000);
    }
}

#[test]
fn one_link_carries_all_cameras_that_it_has_room_for() {
    let links = [link("rate=60mbit,delay=10ms")];
    let camera = CameraSetup::synthetic(30.0, Rate::from_mbps(10));
    let side = SideSetup::filming(vec![camera.clone(), camera.clone(), camera]);
    let run = run(&call(&links, 30, side), 1);
    let sent = record(&run)
        .caller
        .streams
        .iter()
        .flat_map(|s| s.frames.iter());
    let late = sent.filter(|f| f.captured_at >= Instant::ZERO + seconds(20));
    let bytes: u64 = late.map(|f| f.size.0).sum();
    let rate = bytes as f64 * 8.0 / 10.0 / 1e6;
    assert!(rate > 29.0, "{rate} of 30 Mbps");
}

/// Runs a call of 30 s over two links; one link is dead from 10 to 20 s.
fn with_a_dead_link(scheduler: SchedulerKind, without: Ablations) -> Record {
    let mbps = Rate::from_mbps;
    let steps = vec![
        (Duration::ZERO, mbps(6)),
        (seconds(10), Rate::ZERO),
        (seconds(20), mbps(6)),
    ];
    let schedule = Schedule::new(steps).expect("a schedule");
    let dying = LinkSpec {
        capacity: Capacity::Schedule(schedule),
        ..link("rate=6mbit,delay=20ms")
    };
    let links = [dying, link("rate=4mbit,delay=35ms")];
    let mut side = filming(2500);
    (side.scheduler, side.ablations) = (scheduler, without);
    run(&call(&links, 30, side), 3)
}

/// Returns when the first path entered this state, after 9 s.
fn came_into(run: &Record, state: PathState) -> Option<f64> {
    let mut changes = record(run).caller.path_changes.iter();
    let after = Instant::ZERO + seconds(9);
    let found = changes.find(|c| c.state == state && c.path == PathId(0) && c.at > after);
    found.map(|c| c.at.as_secs_f64())
}

/// Checks over the other link detect a dead link within 200 ms, and its recovery.
#[test]
fn an_outage_of_one_link_is_found_and_survived() {
    let run = with_a_dead_link(SchedulerKind::Weft, Ablations::NONE);
    let changes = &record(&run).caller.path_changes;
    let first = |state| came_into(&run, state);
    let (suspect, down) = (first(PathState::Suspect), first(PathState::Down));
    let (Some(suspect), Some(down)) = (suspect, down) else {
        panic!("{changes:?}");
    };
    assert!((10.0..10.2).contains(&suspect), "suspect at {suspect} s");
    assert!(down - suspect < 0.2, "verdict {} s later", down - suspect);
    let up = changes.iter().rfind(|c| c.state == PathState::Up);
    let up = up.map_or(0.0, |c| c.at.as_secs_f64());
    // The packets in the queue leave first, 300 ms of them, then a check.
    assert!((20.0..21.5).contains(&up), "up again at {up} s");
    let all = frames(&run, 1, 29);
    assert!(shown(&all) >= 830, "{} of {}", shown(&all), all.len());
    let stream = &record(&run).caller.streams[0];
    assert!(stream.freezes.total() < Duration::from_millis(800));
}

#[test]
fn without_path_death_only_the_checks_of_every_other_second_find_it() {
    let part = Ablation::PathDeath;
    let run = with_a_dead_link(SchedulerKind::MinRtt, part.into());
    assert_eq!(came_into(&run, PathState::Suspect), None);
    let down = came_into(&run, PathState::Down).unwrap_or(f64::NAN);
    assert!((10.5..14.0).contains(&down), "down at {down} s");
}

#[test]
fn packets_in_flight_on_a_dead_link_are_sent_again_unless_that_is_left_out() {
    let longest = |without: Ablations| {
        let run = with_a_dead_link(SchedulerKind::MinRtt, without);
        let frozen = frames(&run, 9, 11);
        let at: Vec<Instant> = frozen.iter().filter_map(|f| Some(f.shown?.at)).collect();
        let gaps = at.windows(2).map(|w| w[1].saturating_since(w[0]));
        gaps.max().unwrap_or_default()
    };
    let (whole, without) = (longest(Ablations::NONE), longest(Ablation::InFlight.into()));
    assert!(whole < Duration::from_millis(400), "{whole:?}");
    assert!(
        without > whole + Duration::from_millis(50),
        "{without:?} after {whole:?}"
    );
}

#[test]
fn losses_are_repaired_and_counted() {
    let links = [link("rate=6mbit,delay=20ms,loss=3%")];
    let run = run(&call(&links, 30, filming(2000)), 4);
    let stream = &record(&run).caller.streams[0];
    let lost = run.flows[0].routes[0].there.drops();
    assert!((100..1000).contains(&lost), "{lost} packets lost");
    assert!(stream.retransmissions * 10 > lost * 7);
    let all = frames(&run, 1, 29);
    assert!(shown(&all) * 100 > all.len() * 95);
}

#[test]
fn sound_and_picture_go_both_ways() {
    let mut setup = call(&[link("rate=6mbit,delay=20ms")], 10, filming(1000));
    let mut side = filming(1000);
    side.microphones.push(MicrophoneSetup::default());
    side.scheduler = SchedulerKind::Single;
    setup.flows[0].kind = FlowKind::Call(Box::new(CallSetup::both_ways(side)));
    let run = run(&setup, 5);
    for side in [&record(&run).caller, &record(&run).callee] {
        let sound = &side.streams[1].frames;
        // A packet of 50 bytes every 20 ms.
        assert_eq!(sound.len(), 500);
        assert!(sound.iter().all(|f| f.size.0 == 50));
        let heard = displayed(sound.iter());
        assert!(heard >= 490, "{heard} packets heard");
        assert!(displayed(side.streams[0].frames.iter()) >= 290);
    }
}

#[test]
fn a_call_beside_tcp_gives_the_same_record_for_the_same_seed() {
    let links = [
        link("rate=4mbit,delay=20ms"),
        link("rate=2mbit,delay=40ms,loss=1%"),
    ];
    let mut setup = call(&links, 15, filming(3000));
    let tcp = FlowKind::Tcp(TcpSetup::long_lived(Cubic));
    let flow = FlowSetup::new("tcp", Route::forward(&[0]), tcp);
    setup.flows.push(flow.between(seconds(5), seconds(10)));
    let one = run(&setup, 7);
    assert_eq!(one, run(&setup, 7));
    assert_ne!(one, run(&setup, 8));
    assert!(tcp_bytes(&one) > 100_000);
}

fn tcp_bytes(record: &Record) -> u64 {
    tcp(record, 1).delivered.0
}

/// With the model of VP8 at 720p, the link's rate determines the quality.
#[test]
fn a_wider_link_gives_better_pictures() {
    let quality = |specs: &[LinkSpec]| {
        let model = ModelSetup::new(Codec::Vp8, 1280, 720, Rate::from_kbps(300));
        let side = SideSetup::filming(vec![CameraSetup::model(model, Rate::from_mbps(3))]);
        let run = run(&call(specs, 30, side), 1);
        let late = frames(&run, 15, 29);
        let shown = late.iter().filter(|f| f.shown.is_some());
        let decibels: Vec<f64> = shown
            .filter_map(|f| Some(f64::from(f.quality?.psnr_db)))
            .collect();
        assert!(decibels.len() > 350, "{} pictures shown", decibels.len());
        decibels.iter().sum::<f64>() / decibels.len() as f64
    };
    let narrow = quality(&[link("rate=1mbit,delay=20ms")]);
    let wide = quality(&[link("rate=8mbit,delay=20ms")]);
    // 3 Mbps has at least three times the bits that fit 1 Mbps.
    assert!(
        (1.5..8.0).contains(&(wide - narrow)),
        "{narrow} dB, {wide} dB"
    );
}

/// The link fades, fails for ten seconds, and recovers at a low rate.
#[test]
fn pictures_get_smaller_and_keep_moving() {
    let step = |at, kbps| (seconds(at), Rate::from_kbps(kbps));
    let steps = vec![
        step(0, 7000),
        step(9, 3000),
        step(10, 1000),
        step(11, 300),
        step(12, 0),
        step(22, 700),
    ];
    let link = LinkSpec {
        capacity: Capacity::Schedule(Schedule::new(steps).expect("a schedule")),
        ..link("rate=7mbit,delay=20ms,queue=200ms")
    };
    let model = ModelSetup::new(Codec::Vp8, 1280, 720, Rate::from_kbps(300));
    let camera = CameraSetup::model(model, Rate::from_kbps(2500));
    let run = run(&call(&[link], 40, SideSetup::filming(vec![camera])), 1);
    let heights = |from, to| {
        let all = frames(&run, from, to).into_iter();
        all.map(|f| f.quality.expect("a model has one").height)
    };
    assert!(heights(7, 9).all(|height| height == 720));
    assert!(heights(25, 40).all(|height| (180..=540).contains(&height)));
    for second in 24..39 {
        let shown = shown(&frames(&run, second, second + 1));
        assert!(
            (24..=31).contains(&shown),
            "{shown} pictures in second {second}"
        );
    }
    let caller = &record(&run).caller.streams[0];
    let keyframes = caller.frames.iter().filter(|f| f.keyframe).count();
    // One for each change of size, down and up again, plus those requested after the
    // outage; a storm would have one in each of the 26 s with pictures.
    assert!((2..=16).contains(&keyframes), "{keyframes} keyframes");
}
