//! No client can take all resources.

use super::client::{Answer, Events, request};
use super::stub::{Rig, config, wait_for};
use crate::media_plane::{Event, MediaError, ResourceId};
use crate::{Grant, Limits, May, MediaLimits, ServerConfig, TokenKey};
use std::time::{Duration, SystemTime};

const SDP: (&str, &str) = ("content-type", "application/sdp");

/// Publishes in a room as a new participant; a proxy reports the address.
fn publish(rig: &Rig, room: &str, from: &str) -> Answer {
    let line = format!("POST /whip/{room}?name=van");
    request(
        rig.address(),
        &line,
        &[SDP, ("x-forwarded-for", from)],
        "v=0",
    )
}

fn with(media: MediaLimits) -> Rig {
    Rig::with_limits(Limits {
        media,
        participants_per_address: 3,
        ..Limits::default()
    })
}

#[test]
fn an_address_has_its_share_and_others_theirs() {
    let rig = with(MediaLimits {
        per_address: 2,
        ..MediaLimits::default()
    });
    let first = publish(&rig, "r", "192.0.2.1");
    assert_eq!(first.status, 201);
    assert_eq!(publish(&rig, "s", "192.0.2.1").status, 201);
    let refused = publish(&rig, "t", "192.0.2.1");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), "10");
    assert_eq!(
        refused.error(),
        "There are too many media connections of your address."
    );
    assert_eq!(publish(&rig, "t", "192.0.2.2").status, 201);
    let end = format!("DELETE {}", first.header("location"));
    assert_eq!(request(rig.address(), &end, &[], "").status, 200);
    assert_eq!(publish(&rig, "t", "192.0.2.1").status, 201);
}

#[test]
fn abandoned_requests_are_bounded_more_tightly() {
    let rig = with(MediaLimits {
        coming_per_address: 1,
        ..MediaLimits::default()
    });
    let first = publish(&rig, "r", "192.0.2.1");
    assert_eq!(publish(&rig, "r", "192.0.2.1").status, 429);
    assert_eq!(publish(&rig, "r", "192.0.2.2").status, 201);
    let resource = first.header("location").rsplit('/').next().unwrap();
    rig.tell(Event::Connected {
        resource: ResourceId(resource.to_owned()),
    });
    wait_for("the first is up", || {
        publish(&rig, "r", "192.0.2.1").status == 201
    });
}

#[test]
fn a_room_does_not_take_the_place_of_the_others() {
    let rig = with(MediaLimits {
        per_room: 1,
        ..MediaLimits::default()
    });
    assert_eq!(publish(&rig, "r", "192.0.2.1").status, 201);
    let full = publish(&rig, "r", "192.0.2.2");
    assert_eq!((full.status, full.header("retry-after")), (503, "10"));
    assert_eq!(publish(&rig, "s", "192.0.2.2").status, 201);
}

#[test]
fn a_participant_has_its_share_and_is_not_left_behind() {
    let rig = with(MediaLimits {
        per_participant: 1,
        ..MediaLimits::default()
    });
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let secret = ada.expect("welcome")["secret"].as_str().unwrap().to_owned();
    let post = || {
        let headers = [SDP, ("weft-secret", &*secret)];
        request(
            rig.address(),
            "POST /whip/r?participant=p1",
            &headers,
            "v=0",
        )
    };
    assert_eq!(post().status, 201);
    assert_eq!(post().status, 429);
    drop(ada);
    let hub = rig.handle.hub();
    wait_for("her stream is gone", || {
        hub.handle_timeout(hub.now());
        hub.counts().2 == 0
    });
    rig.advance(weft_units::Duration::from_secs(60));
    assert_eq!(hub.counts().1, 1, "her publication holds her");
}

#[test]
fn an_address_does_not_fill_the_rooms_with_participants() {
    let rig = with(MediaLimits::default());
    let events = |room: &str, from: &str| {
        let line = format!("GET /api/rooms/{room}/events?name=x");
        request(rig.address(), &line, &[("x-forwarded-for", from)], "").status
    };
    // Each stays for its grace period, in a separate room.
    for room in ["a", "b", "c"] {
        assert_eq!(publish(&rig, room, "192.0.2.1").status, 201);
    }
    assert_eq!(events("d", "192.0.2.1"), 429);
    assert_eq!(publish(&rig, "d", "192.0.2.1").status, 429);
    assert_eq!(publish(&rig, "d", "192.0.2.2").status, 201);
}

#[test]
fn refused_requests_leave_no_participant() {
    let rig = Rig::start();
    let from = ("x-forwarded-for", "192.0.2.1");
    *rig.plane.refuse.lock().unwrap() = Some(MediaError::NotBundled);
    for _ in 0..50 {
        let line = "POST /whip/r?name=z&kind=browser";
        let refused = request(rig.address(), line, &[SDP, from], "v=0");
        assert_ne!(refused.status, 201);
    }
    assert_eq!(rig.handle.hub().counts().1, 0);
    *rig.plane.refuse.lock().unwrap() = None;
    // Each of them was announced to a room, so the limit applies to an address.
    let line = "POST /whip/r?name=z";
    let come = || request(rig.address(), line, &[SDP, from], "v=0").status;
    let taken = (0..100).take_while(|_| come() == 201).count();
    assert!((45..=60).contains(&taken), "{taken}");
    let other = [SDP, ("x-forwarded-for", "192.0.2.2")];
    assert_eq!(request(rig.address(), line, &other, "v=0").status, 201);
}

#[test]
fn many_ipv6_networks_may_join_four_times_as_often_and_no_more() {
    let rig = Rig::start();
    *rig.plane.refuse.lock().unwrap() = Some(MediaError::NotBundled);
    let come = |n: usize| {
        let from = format!("2001:db8:1:{n:x}::1");
        let headers = [SDP, ("x-forwarded-for", &*from)];
        request(rig.address(), "POST /whip/r?name=z", &headers, "v=0").status
    };
    // Each from a separate network of 56 bits.
    let came = (0..255).map(|n| come(n << 8)).filter(|s| *s != 429).count();
    assert_eq!(came, 255);
    let more = (0..255).map(|n| come((n << 8) + 1));
    let came = more.filter(|s| *s != 429).count();
    assert!((145..=175).contains(&came), "{came}");
}

#[test]
fn a_participant_has_a_few_streams_of_events_and_the_oldest_ends() {
    let rig = Rig::start();
    let mut first = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let welcome = first.expect("welcome");
    let secret = welcome["secret"].as_str().unwrap();
    let back = "/api/rooms/r/events?name=Ada&id=p1";
    let again = || Events::open_with(rig.address(), back, &[("weft-secret", secret)]);
    let _streams: Vec<Events> = (0..20).map(|_| again()).collect();
    let hub = rig.handle.hub();
    wait_for("the oldest end", || hub.counts() == (1, 1, 8));
}

#[test]
fn holders_of_one_token_share_its_quota() {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("key")).unwrap();
    let media = MediaLimits {
        per_token: 1,
        ..MediaLimits::default()
    };
    let rig = Rig::with(ServerConfig {
        token_key: Some(key.clone()),
        limits: Limits {
            media,
            ..Limits::default()
        },
        ..config()
    });
    let token = |hours: u64| {
        let until = SystemTime::now() + Duration::from_secs(hours * 3600);
        key.sign(&Grant::new("r", May::TakePart, until).unwrap())
    };
    let post = |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [SDP, ("authorization", &*bearer)];
        request(rig.address(), "POST /whip/r?name=van", &headers, "v=0").status
    };
    let (one, other) = (token(1), token(2));
    assert_eq!((post(&one), post(&one), post(&other)), (201, 429, 201));
}

#[test]
fn frequent_reports_of_links_are_paced() {
    let rig = Rig::start();
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    ada.expect("welcome");
    let made = publish(&rig, "r", "192.0.2.1");
    let put = format!("PUT {}/publishing", made.header("location"));
    let tell = || {
        let json = [("content-type", "application/json")];
        let off = r#"{"video": false, "audio": false}"#;
        request(rig.address(), &put, &json, off).status
    };
    let told: Vec<u16> = (0..12).map(|_| tell()).collect();
    assert_eq!(told, [vec![204; 10], vec![429; 2]].concat());
    rig.advance(weft_units::Duration::from_secs(1));
    assert_eq!(tell(), 204);
}

#[test]
fn a_participant_tells_no_more_by_many_connections_or_names() {
    let rig = Rig::start();
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let secret = ada.expect("welcome")["secret"].as_str().unwrap().to_owned();
    let own = ("weft-secret", &*secret);
    let tell = || {
        let post = "POST /whip/r?participant=p1";
        let made = request(rig.address(), post, &[SDP, own], "v=0");
        let put = format!("PUT {}/links", made.header("location"));
        request(
            rig.address(),
            &put,
            &[("content-type", "application/json")],
            "[]",
        )
        .status
    };
    let told: Vec<u16> = (0..11).map(|_| tell()).collect();
    assert_eq!(told, [vec![204; 10], vec![429]].concat());
    let come = |name: &str| {
        let get = format!("GET /api/rooms/r/events?id=p1&name={name}");
        request(rig.address(), &get, &[own], "").status
    };
    assert_eq!((come("Ada"), come("Eve")), (200, 429));
}

#[test]
fn a_subscriber_of_ipv6_has_not_as_many_shares_as_networks() {
    let rig = with(MediaLimits {
        per_address: 1,
        ..MediaLimits::default()
    });
    let from = |n: usize| format!("2001:db8:0:{n:x}::1");
    let made: Vec<u16> = (0..3)
        .map(|n| publish(&rig, &format!("room{n}"), &from(n)).status)
        .collect();
    assert_eq!(made, [201, 201, 429]);
    assert_eq!(publish(&rig, "s", "2001:db8:1::1").status, 201);
}

#[test]
fn a_member_who_opens_and_ends_connections_all_the_time_is_slowed_down() {
    let rig = Rig::start();
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let secret = ada.expect("welcome")["secret"].as_str().unwrap().to_owned();
    let own = ("weft-secret", &*secret);
    let turn = || {
        let line = "POST /whip/r?participant=p1";
        let made = request(rig.address(), line, &[SDP, own], "v=0");
        let end = format!("DELETE {}", made.header("location"));
        if made.status == 201 {
            assert_eq!(request(rig.address(), &end, &[], "").status, 200);
        }
        made.status
    };
    let made: Vec<u16> = (0..202).map(|_| turn()).collect();
    assert_eq!(made, [vec![201; 200], vec![429; 2]].concat());
    assert_eq!(publish(&rig, "r", "192.0.2.1").status, 201, "others may");
    rig.advance(weft_units::Duration::from_secs(1));
    let made: Vec<u16> = (0..6).map(|_| turn()).collect();
    assert_eq!(made, [vec![201; 5], vec![429]].concat());
}

#[test]
fn candidates_for_one_connection_have_a_pace() {
    let rig = Rig::start();
    let made = publish(&rig, "r", "192.0.2.1");
    let patch = format!("PATCH {}", made.header("location"));
    let kind = [("content-type", "application/trickle-ice-sdpfrag")];
    let told: Vec<u16> = (0..66)
        .map(|_| request(rig.address(), &patch, &kind, "a=ice").status)
        .collect();
    assert_eq!(told, [vec![204; 64], vec![429; 2]].concat());
}
