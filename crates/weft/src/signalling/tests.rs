use super::{Room, RoomEvent, SignallingError, query_value, room_event};

#[test]
fn names_survive_a_query() {
    assert_eq!(query_value("Zoë & Bob"), "Zo%C3%AB%20%26%20Bob");
}

#[test]
fn events_of_a_room_are_read_and_others_passed_over() {
    let welcome = r#"{"id":"p1","secret":"s1","participants":[{"id":"p2","name":"Ann",
        "publishing":{"video":true,"audio":false},"links":[]}]}"#;
    let Some(RoomEvent::Welcome { own, participants }) = room_event("welcome", welcome) else {
        panic!("no welcome");
    };
    assert_eq!((&*own.id, &*own.secret), ("p1", "s1"));
    assert_eq!(participants[0].name, "Ann");
    assert!(participants[0].publishing.video && !participants[0].publishing.audio);
    assert!(
        matches!(room_event("left", r#"{"id":"p2"}"#), Some(RoomEvent::Left(id)) if id == "p2")
    );
    assert!(room_event("links", "{}").is_none());
    assert!(room_event("welcome", "not json").is_none());
}

#[test]
fn locations_are_relative_to_the_server() {
    let room = Room::new("https://host:8443/", "r", None, true).expect("an address");
    assert_eq!(room.absolute("/whip/r/1"), "https://host:8443/whip/r/1");
    assert_eq!(room.absolute("http://other/x"), "http://other/x");
}

#[test]
fn an_address_without_scheme_is_refused_with_an_example() {
    let error = Room::new("host:8080", "r", None, false).err();
    assert!(matches!(&error, Some(SignallingError::Url(_))), "{error:?}");
    assert!(error.is_some_and(|e| e.to_string().contains("http://127.0.0.1:8080")));
}

#[test]
fn nobody_listening_is_worth_another_try() {
    // Port 9 (discard) is privileged and unused on loopback.
    let room = Room::new("http://127.0.0.1:9", "r", None, false).expect("an address");
    let error = room
        .publish("name=a", None, "v=0")
        .err()
        .expect("nobody listens");
    assert!(error.is_passing(), "{error}");
    assert!(
        error.to_string().contains("is the server running"),
        "{error}"
    );
}
