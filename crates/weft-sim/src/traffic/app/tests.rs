use weft_apps::{App, Family};
use weft_experiment::{AppMedia, AppSetup, FlowKind, FlowSetup, LinkSetup, Route, Setup};
use weft_units::Duration;

use crate::run::run;

fn setup(app: App, media: AppMedia, link: &str) -> Setup {
    let Family::Model(model) = app.family() else {
        panic!("{app} is a call");
    };
    let mut setup = Setup::new(Duration::from_secs(30));
    let link = link.parse().expect("a link");
    setup.links.push(LinkSetup::symmetric("line", &link));
    let app = Box::new(AppSetup { app, model, media });
    let flow = FlowSetup::new("call", Route::forward(&[0]), FlowKind::App(app));
    setup.flows.push(flow);
    setup
}

/// Returns the Mbit/s delivered from source to sink, and from sink to source.
fn rates(setup: &Setup) -> (f64, f64) {
    let record = run(setup, 1, &mut ()).expect("a run");
    let route = &record.flows[0].routes[0];
    let mbps = |bytes: u64| bytes as f64 * 8.0 / 30.0 / 1e6;
    let (there, back) = (&route.there, &route.back);
    for leg in [there, back] {
        let ended = leg.delivered.packets + leg.drops() + leg.in_flight();
        assert_eq!(leg.sent.packets, ended);
    }
    (mbps(there.delivered.bytes.0), mbps(back.delivered.bytes.0))
}

#[test]
fn media_go_one_way_and_reports_the_other() {
    let link = "rate=5mbit,delay=25ms,queue=2bdp";
    let (there, back) = rates(&setup(App::WhatsApp, AppMedia::OneWay, link));
    assert!((0.43..0.47).contains(&there), "{there} Mbit/s");
    // Five reports of 80 bytes a second.
    assert!((0.002..0.005).contains(&back), "{back} Mbit/s");
}

#[test]
fn both_ends_send_where_both_film() {
    let link = "rate=5mbit,delay=25ms,queue=2bdp";
    let (there, back) = rates(&setup(App::WhatsApp, AppMedia::BothWays, link));
    for mbps in [there, back] {
        assert!((0.43..0.47).contains(&mbps), "{mbps} Mbit/s");
    }
}

#[test]
fn reports_reach_the_sender_and_what_is_lost_gives_its_place_back() {
    let link = "rate=200kbit,delay=25ms,queue=10kB";
    let (there, _) = rates(&setup(App::Skype, AppMedia::OneWay, link));
    assert!((0.14..0.2).contains(&there), "{there} Mbit/s");
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let setup = setup(
        App::Eyebeam,
        AppMedia::BothWays,
        "rate=500kbit,delay=25ms,queue=2bdp,loss=5%",
    );
    let records = [7, 7, 8].map(|seed| run(&setup, seed, &mut ()).expect("a run"));
    assert_eq!(records[0], records[1]);
    assert_ne!(records[0], records[2]);
}
