use super::*;
use crate::config::tests::config;
use crate::config::{People, Weak};
use weft_units::Rate;

#[test]
fn members_have_their_rooms_parts_and_links() {
    let mut config = config();
    config.rooms = 2;
    config.weak = Some(Weak {
        count: 1,
        rate: Rate::from_kbps(600),
    });
    let described = |config: &LoadConfig| -> Vec<String> {
        let describe = |m: &Member| {
            let weak = if m.weak.is_some() { " weak" } else { "" };
            format!("{} {} {:?}{weak}", m.room, m.name, m.part)
        };
        members(config).iter().map(describe).collect()
    };
    let view = "View { publisher: \"\" }";
    assert_eq!(
        described(&config),
        [
            "0 load-1-1 Publish".to_owned(),
            "1 load-2-1 Publish".to_owned(),
            format!("0 viewer-1-1 {view}"),
            format!("1 viewer-2-1 {view}"),
            format!("0 viewer-1-2 {view} weak"),
            format!("1 viewer-2-2 {view} weak"),
        ]
    );
    config.people = People {
        publishers: 2,
        viewers: 0,
        everybody: true,
    };
    config.rooms = 1;
    assert_eq!(
        described(&config),
        ["0 load-1-1 Both", "0 load-1-2 Both weak"]
    );
    assert!(
        members(&config)
            .iter()
            .enumerate()
            .all(|(i, m)| m.id as usize == i)
    );
}

#[test]
fn viewers_of_endpoints_share_the_publishers() {
    let mut config = config();
    config.target = Target::Endpoints {
        whip: "http://host/{publisher}/whip".into(),
        whep: "http://host/{publisher}/whep".into(),
    };
    config.people = People {
        publishers: 2,
        viewers: 3,
        everybody: false,
    };
    let viewed = |m: &Member| match &m.part {
        Part::View { publisher } => Some(publisher.clone()),
        _ => None,
    };
    let viewed: Vec<String> = members(&config).iter().filter_map(viewed).collect();
    assert_eq!(viewed, ["load-1-1", "load-1-2", "load-1-1"]);
}

#[test]
fn newcomers_come_at_their_times() {
    let ms = |arrives: Arrival, place| arrival(arrives, place, 100).as_millis();
    assert_eq!(ms(Arrival::PerSecond(20.0), 3), 150);
    assert_eq!(ms(Arrival::Within(StdDuration::from_secs(5)), 50), 2_500);
}

#[test]
fn a_wrong_address_is_reported_before_anything_starts() {
    let mut config = config();
    for (url, words) in [
        ("host:8080", "write it like http"),
        ("ftp://host", "write it like http"),
        ("http://no-such-host.invalid", "no-such-host.invalid"),
    ] {
        config.target = Target::Room { url: url.into() };
        let error = local_address(&config).expect_err(url).to_string();
        assert!(error.contains(words), "{error}");
    }
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    config.target = Target::Room {
        url: format!("http://{address}/"),
    };
    let local = local_address(&config).expect("an address");
    assert_eq!(local, IpAddr::from([127, 0, 0, 1]));
    drop(server);
    let error = local_address(&config).expect_err("nobody listens");
    assert!(error.to_string().contains("refused"), "{error}");
}
