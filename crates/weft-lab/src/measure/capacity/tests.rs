use weft_experiment::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Route, TcpSetup};
use weft_links::{LinkSpec, MediumSpec, Seeds};

use super::*;
use crate::measure::check::checks;
use crate::measure::metrics::{Wanted, measure};
use crate::measure::run::Run;
use crate::measure::series::Series;

/// An upload over two stations that take turns, and one in the opposite direction.
fn shared() -> Setup {
    let mut setup = Setup::new(Duration::from_secs(20));
    setup.measure_from = Duration::from_millis(5_100);
    let station: LinkSpec = "rate=2mbit,delay=10ms,queue=30kB".parse().unwrap();
    setup.links.push(LinkSetup {
        name: "cell".to_owned(),
        medium: MediumSpec::token_ring(station, Duration::from_micros(500)),
        stations: LinkSetup::there_and_back("cell"),
        place: None,
    });
    for (name, route) in [
        ("up", Route::forward(&[0])),
        ("down", Route::backward(&[0])),
    ] {
        let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Reno));
        setup.flows.push(FlowSetup::new(name, route, tcp));
    }
    setup
}

#[test]
fn where_stations_share_a_medium_its_service_says_what_they_could_have_sent() {
    let setup = shared();
    let capacities = Capacities::of(&setup);
    let (first, second) = (StationId(0), StationId(1));
    let whole = (Duration::ZERO, setup.duration);
    assert_eq!(capacities.bits(0, first, whole), None, "nobody knows");
    let record = weft_sim::run(&setup, 1, &mut ()).unwrap();
    // Measured from the first period that begins at 5.1 s or later.
    let used = |record: &weft_experiment::Record, id| {
        let service = record.links[0].sent_by(id).service.unwrap();
        assert_eq!(service.elapsed(), Duration::from_millis(14_800));
        share_used(&service).unwrap()
    };
    let shares = [first, second].map(|id| used(&record, id));
    assert!(shares.iter().all(|s| (0.5..=1.0).contains(s)), "{shares:?}");

    let run = |record| Run {
        setup: &setup,
        focus: &[0],
        from: setup.measure_from,
        until: None,
        capacities: &capacities,
        record,
    };
    let values = measure(&run(&record), &Wanted::default());
    let (_, value) = values.iter().find(|(n, _)| n == "utilisation").unwrap();
    assert!((value - shares[0]).abs() < 1e-9, "{value}, {shares:?}");

    let found = checks(&run(&record));
    let of_cell = found.iter().filter(|c| c.of.starts_with("cell"));
    let of_cell: Vec<_> = of_cell.map(|c| (c.of.as_str(), c.what, c.ok)).collect();
    let expected = [
        ("cell", "packets", true),
        ("cell", "service_s", true),
        ("cell-back", "packets", true),
        ("cell-back", "service_s", true),
    ];
    assert_eq!(of_cell, expected);
    let series = Series::of(&run(&record));
    let of_cell = series.columns.iter().filter(|c| c.of.starts_with("cell"));
    let of_cell: Vec<_> = of_cell.map(|c| (c.name.as_ref(), c.of.as_str())).collect();
    assert!(of_cell.contains(&("link_mbps", "cell-back")), "{of_cell:?}");
    assert!(of_cell.iter().all(|(name, _)| *name != "capacity_mbps"));

    // An unaccounted second is detected.
    let mut lie = record.clone();
    let service = lie.links[0].stations[0].service.as_mut();
    service.unwrap().idle += Duration::from_secs(1);
    let found = checks(&run(&lie));
    assert!(found.iter().any(|c| c.what == "service_s" && !c.ok));
}

/// Returns the seeds of the two directions of each of two links, for run seed 1.
fn seeds(places: [Option<&str>; 2]) -> Vec<Seeds> {
    let spec: LinkSpec = "trace=generated:driving/lte".parse().unwrap();
    let mut setup = Setup::new(Duration::from_secs(1));
    for (name, place) in ["a", "b"].into_iter().zip(places) {
        let mut link = LinkSetup::symmetric(name, &spec);
        link.place = place.map(str::to_owned);
        setup.links.push(link);
    }
    let setup = seeded(setup, 1);
    let seeds = setup.links.iter().flat_map(|link| {
        let specs = link.medium.stations().filter_map(|id| link.medium.link(id));
        specs.map(|spec| match &spec.capacity {
            Capacity::Generated(trace) => trace.seeds.expect("seeded"),
            other => panic!("{other:?}"),
        })
    });
    seeds.collect()
}

#[test]
fn links_at_one_place_have_in_common_what_their_directions_have() {
    let both = |places| -> Vec<u64> { seeds(places).iter().map(|seeds| seeds.both).collect() };
    let alone = both([None, None]);
    assert_eq!((alone[0], alone[2]), (alone[1], alone[3]));
    assert_ne!(alone[0], alone[2]);
    let together = both([Some("car"), Some("car")]);
    assert!(together.iter().all(|seed| *seed == together[0]));
    assert_ne!(together[0], alone[0]);
    let apart = both([Some("car"), Some("bus")]);
    assert_ne!(apart[0], apart[2]);
    // The seed of a single direction does not depend on the place.
    let own = |places| -> Vec<u64> { seeds(places).iter().map(|seeds| seeds.own).collect() };
    let own_alone = own([None, None]);
    assert_eq!(own([Some("car"), Some("car")]), own_alone);
    let mut sorted = own_alone;
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 4);
}
