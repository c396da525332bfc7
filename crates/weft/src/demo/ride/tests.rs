use super::{
    LTE_CONGESTED, LTE_GOOD, LinkName, LinkState, Override, PERIOD, Ride, RideState, SCRIPT,
    WIFI_FADED, WIFI_GOOD,
};
use weft_links::{Capacity, QueueLimit};
use weft_units::{Duration, Rate};

fn at(seconds: f64) -> RideState {
    Ride::default().at(Duration::from_secs_f64(seconds))
}

#[test]
fn one_period_has_every_phase_once_in_its_order() {
    let mut headlines: Vec<String> = (0..600)
        .map(|n| at(f64::from(n) / 10.0).headline())
        .collect();
    headlines.dedup();
    let expected = [
        "Both links are good",
        "WiFi fades",
        "WiFi is dead",
        "LTE is congested",
        "LTE is dead",
        "Both links are good",
    ];
    assert_eq!(headlines, expected);
    let total: u64 = SCRIPT.iter().map(|p| p.seconds).sum();
    assert_eq!(Duration::from_secs(total), PERIOD);
}

#[test]
fn the_links_are_as_the_script_says() {
    let dead = LinkState::DEAD;
    for (seconds, wifi, lte) in [
        (0.0, WIFI_GOOD, LTE_GOOD),
        (7.999, WIFI_GOOD, LTE_GOOD),
        (12.0, dead, LTE_GOOD),
        (23.999, dead, LTE_GOOD),
        (24.0, WIFI_GOOD, LTE_CONGESTED),
        (35.999, WIFI_GOOD, LTE_CONGESTED),
        (36.0, WIFI_GOOD, dead),
        (43.999, WIFI_GOOD, dead),
        (44.0, WIFI_GOOD, LTE_GOOD),
        (59.999, WIFI_GOOD, LTE_GOOD),
        (60.0, WIFI_GOOD, LTE_GOOD),
        (72.0, dead, LTE_GOOD),
    ] {
        let state = at(seconds);
        assert_eq!((state.wifi, state.lte), (wifi, lte), "at {seconds} s");
    }
}

#[test]
fn wifi_fades_evenly_from_good_to_almost_nothing() {
    let middle = at(10.0).wifi;
    assert_eq!(middle.capacity, Rate::from_kbps(3_650));
    assert_eq!(middle.delay, Duration::from_micros(27_500));
    assert!((middle.loss - 0.04).abs() < 1e-9);
    let end = at(11.999).wifi;
    assert!(end.up && end.capacity < WIFI_FADED.capacity + Rate::from_kbps(10));
    for n in 0..39 {
        let (now, then) = (at(8.0 + f64::from(n) / 10.0), at(8.1 + f64::from(n) / 10.0));
        assert!(then.wifi.capacity < now.wifi.capacity, "step {n}");
        assert!(then.wifi.delay > now.wifi.delay, "step {n}");
        assert_eq!(now.lte, LTE_GOOD);
    }
}

#[test]
fn there_is_always_one_link_that_carries_the_call() {
    for n in 0..600 {
        let state = at(f64::from(n) / 10.0);
        let best = state.wifi.capacity.max(state.lte.capacity);
        assert!(best >= Rate::from_mbps(4), "at {n} tenths");
    }
    let dead = |link: fn(&RideState) -> LinkState| {
        (0..60).filter(|n| !link(&at(f64::from(*n))).up).count()
    };
    assert_eq!((dead(|s| s.wifi), dead(|s| s.lte)), (12, 8));
}

#[test]
fn people_overrule_the_script_link_by_link() {
    let seconds = Duration::from_secs;
    let mut ride = Ride::default();
    ride.set(LinkName::Lte, Override::Cut);
    assert_eq!(ride.at(seconds(0)).lte, LinkState::CUT);
    assert_eq!(ride.at(seconds(0)).link(LinkName::Wifi), WIFI_GOOD);
    ride.set(LinkName::Lte, Override::Up);
    assert_eq!(ride.at(seconds(40)).link(LinkName::Lte), LTE_GOOD);
    assert_eq!(ride.at(seconds(30)).lte, LTE_CONGESTED);
    assert_eq!(ride.forced(LinkName::Lte), Override::Up);
    ride.set(LinkName::Lte, Override::Auto);
    assert_eq!(ride, Ride::default());
    ride.set(LinkName::Wifi, Override::Up);
    assert_eq!(ride.at(seconds(20)).wifi, WIFI_GOOD);
    assert_eq!(ride.forced(LinkName::Wifi), Override::Up);
}

#[test]
fn a_link_switched_on_by_hand_dies_again_with_the_next_death_of_the_script() {
    let seconds = Duration::from_secs;
    let mut ride = Ride::default();
    ride.set(LinkName::Wifi, Override::Up);
    ride.settle(seconds(20));
    assert_eq!(ride.forced(LinkName::Wifi), Override::Up);
    ride.settle(seconds(24));
    assert_eq!(ride.forced(LinkName::Wifi), Override::Auto);
    ride.set(LinkName::Wifi, Override::Cut);
    ride.settle(seconds(50));
    assert_eq!(ride.forced(LinkName::Wifi), Override::Cut);
}

#[test]
fn the_headline_is_of_the_links_as_they_are_and_not_of_the_script() {
    let headline = |ride: &Ride, s| ride.at(Duration::from_secs(s)).headline();
    let mut ride = Ride::default();
    ride.set(LinkName::Wifi, Override::Cut);
    assert_eq!(headline(&ride, 50), "WiFi is cut by hand");
    assert_eq!(headline(&ride, 30), "WiFi is cut by hand, LTE is congested");
    assert_eq!(headline(&ride, 40), "WiFi is cut by hand, LTE is dead");
    ride.set(LinkName::Lte, Override::Cut);
    assert_eq!(headline(&ride, 40), "Both links are cut by hand");
    ride.set(LinkName::Wifi, Override::Up);
    assert_eq!(headline(&ride, 15), "LTE is cut by hand");
}

#[test]
fn names_are_read_as_they_are_written() {
    for name in LinkName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    for to in [Override::Auto, Override::Cut, Override::Up] {
        assert_eq!(to.as_str().parse(), Ok(to));
    }
    let error = "wlan".parse::<LinkName>().unwrap_err().to_string();
    assert!(error.contains("wlan") && error.contains("wifi or lte"));
    assert!("down".parse::<Override>().is_err());
}

#[test]
fn relays_start_with_the_good_link() {
    let spec = LinkName::Wifi.spec();
    assert_eq!(spec.capacity, Capacity::Constant(WIFI_GOOD.capacity));
    assert_eq!(spec.delay, WIFI_GOOD.delay);
    let QueueLimit::Time(queue) = spec.queue else {
        panic!("the queue follows the capacity");
    };
    let bounds = Duration::from_millis(150)..=Duration::from_millis(250);
    assert!(bounds.contains(&queue));
}
