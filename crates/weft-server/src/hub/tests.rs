use super::{Arrival, FEED_LENGTH, Hub};
use crate::auth::{Grant, May};
use crate::clock::Clock;
use crate::config::Limits;
use crate::ids::Ids;
use crate::log::Log;
use crate::media_plane::{Destination, Event, MediaPlane, Negotiated, Request, ResourceId};
use crate::origin::Origin;
use crate::secret::unguessable;
use std::sync::Arc;
use std::time::SystemTime;
use weft_rooms::{Enabled, ParticipantKind, Publishing};

struct Deaf;

impl MediaPlane for Deaf {
    fn send(&self, _: Destination<'_>, _: Request) {}
}

#[test]
fn a_reader_that_does_not_read_is_cut_off_and_the_others_are_not() {
    let limits = Limits {
        participants_per_room: 1000,
        ..Limits::default()
    };
    let hub = Hub::new(
        limits,
        Arc::new(Deaf),
        (Clock::machine(), Ids::random()),
        Log::default(),
    );
    let join = |name: &str| {
        hub.join(
            Arrival {
                room: "r",
                name: Some(name),
                kind: ParticipantKind::Browser,
                id: None,
                secret: None,
                origin: &Origin::default(),
            },
            None,
        )
        .unwrap()
    };
    let (_, mut messages) = join("slow");
    let (_, mut other) = join("other");
    for n in 0..FEED_LENGTH {
        drop(join(&format!("n{n}")));
        while other.try_recv().is_ok() {}
    }
    let mut read = 0;
    while messages.try_recv().is_ok() {
        read += 1;
    }
    assert_eq!(read, FEED_LENGTH);
    assert!(messages.is_closed());
    assert!(!other.is_closed());
}

#[test]
fn names_of_resources_do_not_repeat() {
    let names: std::collections::BTreeSet<_> = (0..100).map(|_| unguessable()).collect();
    assert_eq!(names.len(), 100);
}

#[test]
fn the_room_hears_what_became_of_an_upload() {
    let parts = (Clock::machine(), Ids::random());
    let hub = Hub::new(Limits::default(), Arc::new(Deaf), parts, Log::default());
    let watching = Origin {
        grant: Some(Grant::new("r", May::Watch, SystemTime::now()).unwrap()),
        ..Origin::default()
    };
    let arrival = |name: &'static str, origin| Arrival {
        room: "r",
        name: Some(name),
        kind: ParticipantKind::Browser,
        id: None,
        secret: None,
        origin,
    };
    let (_, mut room) = hub.join(arrival("viewer", &watching), None).unwrap();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let welcome = json(&room.try_recv().unwrap().data);
    assert_eq!(welcome["participants"][0]["upload"], "not_allowed");

    let open = Origin::default();
    let (id, mut own) = hub.join(arrival("sender", &open), None).unwrap();
    let secret = json(&own.try_recv().unwrap().data)["secret"].clone();
    let publish = || {
        let who = Arrival {
            id: Some(&id),
            secret: secret.as_str(),
            ..arrival("sender", &open)
        };
        hub.open_publication(&who).unwrap().0
    };
    let mut last = || {
        let told = std::iter::from_fn(|| room.try_recv().ok());
        let last = told.last().map(|message| json(&message.data));
        last.map(|told| (told["upload"].clone(), told["publishing"]["audio"].clone()))
    };
    assert_eq!(last(), Some(("none".into(), false.into())));
    let resource = publish();
    let streams = Publishing {
        cameras: Vec::new(),
        audio: true,
    };
    let agreed = Negotiated {
        sdp: String::new(),
        streams,
        ice_session: None,
    };
    hub.negotiated(&resource, &agreed).unwrap();
    let connected = |resource: &ResourceId| Event::Connected {
        resource: resource.clone(),
    };
    hub.handle_media_event(connected(&resource));
    assert_eq!(last(), Some(("connected".into(), true.into())));
    let off = Enabled {
        video: false,
        audio: false,
        screen: false,
    };
    hub.set_enabled(&resource, off).unwrap();
    assert_eq!(last(), Some(("connected".into(), false.into())));
    let reason = "nothing came any more".to_owned();
    hub.handle_media_event(Event::Ended { resource, reason });
    assert_eq!(last(), Some(("lost".into(), false.into())));
    let again = publish();
    hub.handle_media_event(connected(&again));
    assert_eq!(last(), Some(("connected".into(), false.into())));
    hub.close(&again);
    assert_eq!(last(), Some(("none".into(), false.into())));
}

#[test]
fn a_request_in_flight_does_not_get_in_after_its_token_was_revoked() {
    let revoked = crate::auth::Revoked::default();
    let parts = (Clock::machine(), Ids::random());
    let hub = Hub::new(Limits::default(), Arc::new(Deaf), parts, Log::default());
    let hub = hub.refusing(revoked.clone());
    let now = SystemTime::now();
    let grant = Grant::new("r", May::TakePart, now + std::time::Duration::from_secs(60)).unwrap();
    // The gate has checked the token before it is revoked.
    let origin = Origin {
        grant: Some(grant.clone()),
        ..Origin::default()
    };
    let arrival = Arrival {
        room: "r",
        name: Some("Eve"),
        kind: ParticipantKind::Browser,
        id: None,
        secret: None,
        origin: &origin,
    };
    let (id, mut events) = hub.join(arrival, None).unwrap();
    let welcome = events.try_recv().unwrap();
    let welcome: serde_json::Value = serde_json::from_str(&welcome.data).unwrap();
    revoked.add(grant.id().clone(), grant.until, now).unwrap();
    let is_refused = |problem: Option<crate::problem::Problem>| {
        problem.and_then(|problem| problem.kind) == Some("token_revoked")
    };
    assert!(is_refused(hub.join(arrival, None).err()));
    // Including a participant who is still inside.
    let own = Arrival {
        id: Some(&id),
        secret: welcome["secret"].as_str(),
        ..arrival
    };
    assert!(is_refused(hub.join(own, None).err()));
    assert!(is_refused(hub.open_publication(&own).err()));
    assert!(is_refused(hub.open_reception(&own).err()));
    assert_eq!(hub.counts().1, 1);
    assert_eq!(hub.end_token(grant.id()), 1);
    assert_eq!(hub.counts().1, 0);
}
