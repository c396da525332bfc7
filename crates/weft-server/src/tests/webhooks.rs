//! Webhooks of a whole server.

use super::client::{Events, request};
use super::stub::{Rig, config};
use crate::media_plane::{Event, ResourceId};
use crate::webhook::tests::{target, to};
use crate::{OperatorConfig, ServerConfig};
use std::time::Duration;

#[test]
fn a_server_reports_arrivals_publications_and_departures() {
    let (address, received) = target(&[200]);
    let rig = Rig::with(ServerConfig {
        operator: OperatorConfig {
            webhook: Some(to(address)),
            ..OperatorConfig::default()
        },
        ..config()
    });
    let next = || {
        let received = received.recv_timeout(Duration::from_secs(20));
        let event = received.expect("an event").json();
        let data = &event["data"];
        let words = [&event["type"], &data["room"], &data["name"]];
        words.map(|word| word.as_str().unwrap_or("-").to_owned())
    };
    let expect = |kind: &str, room: &str, name: &str| assert_eq!(next(), [kind, room, name]);
    expect("server.started", "-", "-");
    let ada = Events::open(rig.address(), "/api/rooms/ride/events?name=Ada");
    expect("room.opened", "ride", "-");
    expect("participant.joined", "ride", "Ada");
    let sdp = [("content-type", "application/sdp")];
    let answer = request(rig.address(), "POST /whip/ride?name=van", &sdp, "v=0");
    expect("participant.joined", "ride", "van");
    let location = answer.header("location");
    let (_, resource) = location.rsplit_once('/').expect("a path");
    let resource = ResourceId(resource.to_owned());
    rig.tell(Event::Connected { resource });
    expect("participant.published", "ride", "van");
    let deleted = request(rig.address(), &format!("DELETE {location}"), &[], "");
    assert_eq!(deleted.status, 200);
    expect("participant.unpublished", "ride", "van");
    drop(ada);
    super::stub::wait_for("everybody leaves", || {
        rig.advance(weft_units::Duration::from_secs(20));
        rig.handle.hub().counts().1 == 0
    });
    let mut last: Vec<String> = (0..3).map(|_| next()[0].clone()).collect();
    assert_eq!(last.pop().as_deref(), Some("room.closed"));
    assert_eq!(last, ["participant.left", "participant.left"]);
    let metrics = || request(rig.address(), "GET /metrics", &[], "").body;
    super::stub::wait_for("the count", || {
        metrics().contains("weft_webhook_events_total{result=\"delivered\"} 9")
    });
    assert!(metrics().contains("weft_webhook_events_total{result=\"dropped\"} 0"));
}
