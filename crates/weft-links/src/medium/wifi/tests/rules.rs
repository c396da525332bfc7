//! Individual rules of access, computed by hand.

use super::saturated::{cell, saturate, stations, upwards};
use crate::medium::model::Model;
use crate::medium::wifi::{
    ApQueue, Wifi, WifiError, WifiMotion, WifiObssRelation, WifiRateControl, WifiSignal, WifiSpec,
    WifiStandard, WifiStation,
};
use crate::{ChannelId, Departure, DropReason, ServiceTime, StationId};
use weft_units::{Bytes, Duration, Instant};

const CHANNEL: ChannelId = ChannelId(0);

fn at_us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

fn enqueue(wifi: &mut Wifi<usize>, us: u64, from: u16, to: u16, packet: usize) {
    let info = Bytes(1500).into();
    wifi.enqueue(at_us(us), StationId(from), StationId(to), info, packet);
}

/// Returns the ends of packets until this time: packet, end in microseconds, and the
/// reason if it was dropped.
fn ends(wifi: &mut Wifi<usize>, until_us: u64) -> Vec<(usize, u64, Option<DropReason>)> {
    let mut ends = Vec::new();
    while let Some(deadline) = wifi.poll_timeout(CHANNEL) {
        if deadline.at > at_us(until_us) {
            break;
        }
        while let Some((_, departure)) = wifi.poll(deadline.at, CHANNEL) {
            let (packet, at, reason) = match departure {
                Departure::Delivered { packet, at, .. } => (packet, at, None),
                Departure::Dropped { packet, at, reason } => (packet, at, Some(reason)),
            };
            ends.push((packet, at.as_nanos() / 1000, reason));
        }
    }
    ends
}

/// Exchange of 802.11g at 54 Mbit/s: 254 us for a frame of 1536 bytes, SIFS 10, ACK 34.
const EXCHANGE_G: u64 = 254 + 10 + 34;

#[test]
fn frames_that_find_an_idle_medium_leave_at_once() {
    let mut wifi = cell(&stations(WifiStandard::G, &["54mbit"]));
    enqueue(&mut wifi, 1_000, 0, 1, 0);
    assert_eq!(ends(&mut wifi, 9_000), [(0, 1_000 + EXCHANGE_G, None)]);
    // The backoff after the first packet expired long ago, so this one is also sent
    // immediately.
    enqueue(&mut wifi, 10_000, 0, 1, 1);
    assert_eq!(ends(&mut wifi, 19_000), [(1, 10_000 + EXCHANGE_G, None)]);
    // Within DIFS, 28 us, of the start, it waits for the rest of DIFS.
    let mut wifi = cell(&stations(WifiStandard::G, &["54mbit"]));
    enqueue(&mut wifi, 20, 0, 1, 0);
    assert_eq!(ends(&mut wifi, 9_000), [(0, 28 + EXCHANGE_G, None)]);
}

#[test]
fn a_busy_medium_causes_a_backoff() {
    let mut wifi = cell(&stations(WifiStandard::G, &["54mbit"; 2]));
    enqueue(&mut wifi, 1_000, 0, 2, 0);
    enqueue(&mut wifi, 1_100, 1, 2, 1);
    let ends = ends(&mut wifi, 9_000);
    // A DIFS after the end of the first, and 0 to 15 slots of 9 us.
    let free = 1_000 + EXCHANGE_G + 28;
    let slots = (ends[1].1 - EXCHANGE_G - free) / 9;
    assert_eq!(ends[1].1, free + slots * 9 + EXCHANGE_G);
    assert!(slots <= 15, "{slots}");
}

#[test]
fn an_access_point_with_one_queue_serves_first_come_first_served() {
    let mut spec = stations(WifiStandard::G, &["54mbit"; 3]);
    let order = |spec: &WifiSpec| {
        let mut wifi = cell(spec);
        for (packet, to) in [0, 0, 0, 1, 2, 0].into_iter().enumerate() {
            enqueue(&mut wifi, 1_000 + packet as u64, 3, to, packet);
        }
        let ends = ends(&mut wifi, 20_000);
        ends.iter().map(|end| end.0).collect::<Vec<_>>()
    };
    assert_eq!(order(&spec), [0, 1, 2, 3, 4, 5]);
    spec.ap_queue = ApQueue::PerStation;
    // The first is sent immediately, the others in turn.
    assert_eq!(order(&spec), [0, 3, 4, 1, 2, 5]);
}

#[test]
fn an_access_point_with_one_queue_has_one_limit() {
    let mut spec = stations(WifiStandard::G, &["54mbit"; 2]);
    spec.queue = Bytes(4 * 1500);
    let dropped = |spec: &WifiSpec| {
        let mut wifi = cell(spec);
        for packet in 0..12 {
            enqueue(&mut wifi, 1_000, 2, u16::from(packet == 11), packet);
        }
        let mut ends = ends(&mut wifi, 20_000);
        ends.retain(|(_, _, reason)| reason.is_some());
        ends.len()
    };
    // One is sent immediately, and four wait.
    assert_eq!(dropped(&spec), 7);
    // The last one finds its own queue empty.
    spec.ap_queue = ApQueue::PerStation;
    assert_eq!(dropped(&spec), 6);
}

#[test]
fn an_aggregate_includes_all_frames_for_its_receiver() {
    let mut wifi = cell(&stations(WifiStandard::N, &["mcs7"; 2]));
    // The medium is busy with the first.
    for packet in 0..7 {
        enqueue(
            &mut wifi,
            1_000 + packet as u64,
            2,
            packet as u16 % 2,
            packet,
        );
    }
    let ends = ends(&mut wifi, 20_000);
    let order: Vec<_> = ends.iter().map(|end| end.0).collect();
    assert_eq!(order, [0, 1, 3, 5, 2, 4, 6]);
    assert!(ends[1].1 == ends[3].1 && ends[4].1 == ends[6].1);
    // Three packets each: ceil((22 + 8 x 3 x 1560) / 260) symbols of 3.6 us, rounded up
    // to 4; 42 around them; SIFS and a BlockAck at 24 Mbit/s. In between come AIFS, 37
    // us, and a backoff of 0 to 15 slots.
    let slots = (ends[4].1 - ends[1].1 - (524 + 42 + 10 + 38) - 37) / 9;
    assert!(slots <= 15, "{slots}");
    let between = 524 + 42 + 10 + 38 + 37 + 9 * slots;
    assert_eq!(ends[4].1 - ends[1].1, between);
}

#[test]
fn a_station_that_is_cut_off_leaves_the_medium_to_others() {
    let mut wifi = cell(&stations(WifiStandard::G, &["54mbit"; 2]));
    for packet in 0..4 {
        enqueue(&mut wifi, 1_000, packet as u16 % 2, 2, packet);
    }
    // In the middle of a transmission.
    let begun = ends(&mut wifi, 1_400);
    wifi.cut(at_us(1_450), StationId(0));
    enqueue(&mut wifi, 1_500, 0, 2, 4);
    let mut all = begun;
    all.extend(ends(&mut wifi, 20_000));
    all.sort();
    assert_eq!(all.len(), 5);
    let down = |end: &&(usize, u64, Option<DropReason>)| end.2 == Some(DropReason::LinkDown);
    let fates: Vec<_> = all.iter().map(|end| down(&end)).collect();
    assert_eq!(&fates[1..], [false, true, false, true]);
}

#[test]
fn airtime_is_what_exchanges_take_and_a_collision_is_nobodys() {
    let span = Duration::from_secs(1);
    let spec = stations(WifiStandard::G, &["54mbit"; 4]);
    let mut wifi = cell(&spec);
    for packet in 0..2_000 {
        enqueue(&mut wifi, 1_000, packet as u16 % 4, 4, packet);
    }
    let ends = ends(&mut wifi, 1_000_000);
    let end = Instant::ZERO + span;
    let times: Vec<ServiceTime> = (0..5)
        .map(|id| wifi.service_time(end, StationId(id)))
        .collect();
    assert!(times.iter().all(|time| time.elapsed() == span));
    let used: u64 = times.iter().map(|time| time.used.as_micros()).sum();
    assert_eq!(used, ends.len() as u64 * EXCHANGE_G);
    assert_eq!(times[4].used, Duration::ZERO);
    let channel = wifi.channel_time(end, CHANNEL).expect("a cell");
    assert_eq!(channel.elapsed(), span);
    assert_eq!(channel.used.as_micros(), used);
    assert!(channel.blocked > Duration::from_millis(50), "{channel:?}");
    let counters: Vec<_> = (0..4).filter_map(|id| wifi.radio(StationId(id))).collect();
    let sent: u64 = counters.iter().map(|c| c.frames).sum();
    let collided: u64 = counters.iter().map(|c| c.collisions).sum();
    assert_eq!(sent - collided, ends.len() as u64);
    assert!(
        counters
            .iter()
            .all(|c| c.again == c.collisions && c.attempts == c.frames)
    );
}

#[test]
fn every_packet_of_a_crowd_ends_once() {
    let outcome = saturate(
        cell(&stations(WifiStandard::G, &["54mbit"; 40])),
        &upwards(40, 200),
        Duration::from_secs(2),
    );
    // Some frames are abandoned, and every load still delivers.
    assert!(outcome.retries.iter().sum::<u64>() > 0);
    assert!(outcome.mbps.iter().all(|mbps| *mbps > 0.0));
}

#[test]
fn a_cell_that_cannot_be_says_why() {
    let none = WifiSpec::new(WifiStandard::G, Vec::new());
    assert_eq!(none.check(), Err(WifiError::NoStation));
    let station = WifiStation::new(WifiStandard::G.rate("54mbit").unwrap());
    let crowd = WifiSpec::new(WifiStandard::G, vec![station.clone(); 2008]);
    let stations = 2008;
    assert_eq!(crowd.check(), Err(WifiError::TooManyStations { stations }));
    let mut hasty = WifiSpec::new(WifiStandard::G, vec![station.clone()]);
    hasty.busy_period = Duration::from_micros(9);
    assert_eq!(hasty.check(), Err(WifiError::BusyPeriod));
    let wrong = WifiSpec::new(WifiStandard::B, vec![station]);
    let message = wrong.check().unwrap_err().to_string();
    let expected = "802.11b has no rate 54mbit: it has 1mbit, 2mbit, 5.5mbit, 11mbit";
    assert_eq!(message, expected);
    let mut moving = WifiStation::new(WifiStandard::B.rate("11mbit").unwrap());
    moving.signal.points = vec![(Duration::ZERO, 30.0), (Duration::from_secs(9), 3.0)];
    let wrong = WifiSpec::new(WifiStandard::B, vec![moving]);
    assert_eq!(wrong.check(), Err(WifiError::UnknownLosses));
    assert_eq!(WifiStandard::N.rate("mcs16"), None);
    assert_eq!(WifiStandard::G.rate("11mbit"), None);
}

#[test]
fn the_stronger_of_two_frames_survives_where_receivers_can_capture() {
    let mut spec = stations(WifiStandard::G, &["54mbit"; 2]);
    spec.stations[1].signal = WifiSignal::steady(20.0);
    let carried = |spec: &WifiSpec| {
        let outcome = saturate(cell(spec), &upwards(2, 1500), Duration::from_secs(20));
        (outcome.mbps[0], outcome.mbps[1])
    };
    let (strong, weak) = carried(&spec);
    assert!((0.97..1.03).contains(&(strong / weak)), "{strong} {weak}");
    spec.capture = Some(10.0);
    let (strong, weak) = carried(&spec);
    assert!((1.1..1.6).contains(&(strong / weak)), "{strong} {weak}");
    // No capture if the signals are too close.
    spec.stations[1].signal = WifiSignal::steady(31.0);
    let (strong, weak) = carried(&spec);
    assert!((0.97..1.03).contains(&(strong / weak)), "{strong} {weak}");
}

#[test]
fn an_overlapping_network_takes_its_share_of_the_time() {
    let span = Duration::from_secs(50);
    let mut spec = stations(WifiStandard::G, &["54mbit"]);
    let alone = saturate(cell(&spec), &upwards(1, 1500), span).total();
    spec.interference = 0.25;
    let end = Instant::ZERO + span;
    let mut quiet = cell(&spec);
    let channel = quiet.channel_time(end, CHANNEL).expect("a cell");
    let share = channel.blocked.as_secs_f64() / span.as_secs_f64();
    assert!((0.235..0.265).contains(&share), "{share}");
    assert_eq!(channel.elapsed(), span);
    let beside = saturate(cell(&spec), &upwards(1, 1500), span).total();
    // They wait for the end of an exchange, so they get slightly less.
    let left = beside / alone;
    assert!((0.74..0.82).contains(&left), "{left}");
}

#[test]
fn a_cell_of_one_station_is_read_from_one_text() {
    let text = "medium=wifi, standard=g, rate=54mbit, delay=2ms, interference=20%, queue=90kB, \
                busy-period=5ms, attempts=30, obss=hidden";
    let spec: WifiSpec = text.parse().unwrap();
    let expected = WifiStation {
        queue: Bytes(90_000),
        obss: WifiObssRelation::Hidden,
        ..WifiStation::new(WifiStandard::G.rate("54mbit").unwrap())
    };
    assert_eq!(
        (spec.standard, &spec.stations[..]),
        (WifiStandard::G, &[expected][..])
    );
    assert_eq!(
        (
            spec.delay,
            spec.interference,
            spec.busy_period,
            spec.attempts
        ),
        (Duration::from_millis(2), 0.2, Duration::from_millis(5), 30)
    );
    let walk: WifiSpec = "rate=minstrel,snr=40dB@10s/-5.5dB@1min,motion=walking"
        .parse()
        .unwrap();
    let way = [(10, 40.0), (60, -5.5)].map(|(at, snr)| (Duration::from_secs(at), snr));
    let expected = WifiSignal {
        points: way.to_vec(),
        motion: WifiMotion::Walking,
    };
    let station = &walk.stations[0];
    assert_eq!(station.signal, expected);
    assert_eq!([station.up, station.down], [WifiRateControl::Minstrel; 2]);
    let message = |text: &str| text.parse::<WifiSpec>().unwrap_err().to_string();
    let missing = "the link specification has no 'rate': add for example rate=mcs7";
    assert_eq!(message("medium=wifi"), missing);
    for (text, part) in [
        ("standard=g,rate=mcs7", "802.11g has 6mbit"),
        (
            "rate=mcs7,trace=x.csv",
            "busy-period, attempts, delay, rate, snr, motion, obss, queue, aqm, ecn",
        ),
        ("rate=mcs7,rate=mcs5", "'rate' is given twice"),
        ("rate=mcs7,queue=0B", "write 1514B or more"),
        ("rate=mcs7,queue=300ms", "in bytes, such as 1500kB"),
        ("rate=mcs7,interference=100%", "below 100%"),
        ("rate=mcs7,attempts=0", "1 to 255"),
        ("rate=mcs7,snr=3", "write decibels as 10dB"),
        ("rate=mcs7,snr=9dB@5s/3dB@5s", "in order, as 40dB@10s"),
        ("rate=mcs7,snr=9dB@5s/3dB", "in order, as 40dB@10s"),
        ("rate=mcs7,motion=driving", "still or walking"),
        ("rate=mcs7,obss=deaf", "or obss=hidden"),
        (
            "standard=b,rate=ideal",
            "ideal and minstrel are not available",
        ),
        (
            "standard=b,rate=1mbit,motion=walking",
            "a signal that stays",
        ),
        ("rate", "is not KEY=VALUE"),
    ] {
        assert!(message(text).contains(part), "{text}: {}", message(text));
    }
}

#[test]
fn the_way_back_of_a_cell_of_one_station_says_only_what_differs() {
    let text = "medium=wifi,rate=mcs7,snr=20dB,queue=90kB";
    let cell = WifiSpec::of_one(text, "snr=25dB,queue=60kB").unwrap();
    let station = &cell.stations[0];
    assert_eq!(station.up, station.down);
    assert_eq!(station.signal.points[0].1, 20.0);
    assert_eq!(station.signal_back.as_ref().unwrap().points[0].1, 25.0);
    assert_eq!((station.queue, cell.queue), (Bytes(90_000), Bytes(60_000)));
    let slower = WifiSpec::of_one(text, "rate=mcs4").unwrap();
    let rates = [slower.stations[0].up, slower.stations[0].down];
    let mcs = ["mcs7", "mcs4"].map(|rate| WifiStandard::N.rate(rate).unwrap());
    assert_eq!(rates, mcs.map(WifiRateControl::Fixed));
    // Equal in both directions, including the queue of the access point.
    let alike = WifiSpec::of_one(text, "").unwrap();
    assert_eq!(
        (alike.queue, &alike.stations[0].signal_back),
        (Bytes(90_000), &None)
    );
    let error = WifiSpec::of_one(text, "delay=3ms").unwrap_err().to_string();
    assert!(error.contains("the keys are rate, snr"), "{error}");
}
