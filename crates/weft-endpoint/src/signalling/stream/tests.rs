use super::super::MAX_ID;
use super::*;

#[test]
fn events_of_a_room_are_read_and_others_passed_over() {
    let welcome = r#"{"id":"p1","secret":"s1","participants":[{"id":"p2","name":"Ann",
        "publishing":{"video":true,"audio":false,"cameras":[{}]},"links":[]}]}"#;
    let Some(RoomEvent::Welcome {
        own,
        participants,
        turn_servers,
    }) = room_event("welcome", welcome)
    else {
        panic!("no welcome");
    };
    assert_eq!(turn_servers, []);
    assert_eq!((&*own.id, &*own.secret), ("p1", "s1"));
    assert_eq!(participants[0].name, "Ann");
    let publishing = &participants[0].publishing;
    assert_eq!((publishing.cameras.len(), publishing.audio), (1, false));
    assert!(
        matches!(room_event("left", r#"{"id":"p2"}"#), Some(RoomEvent::Left(id)) if id == "p2")
    );
    let waiting = room_event("waiting", r#"{"id":"p3","secret":"s3","room":"r"}"#);
    assert!(matches!(waiting, Some(RoomEvent::Waiting(own)) if own.id == "p3"));
    assert!(room_event("links", "{}").is_none());
    assert!(room_event("welcome", "not json").is_none());
}

#[test]
fn turn_servers_of_a_room_are_read_and_a_list_of_another_form_hides_nobody() {
    let server = r#"[{"urls":"turn:h:1?transport=tcp","username":"u","credential":"p"}]"#;
    for (list, count) in [(server, 1), ("[]", 0), ("5", 0), (r#"[{"urls":5}]"#, 0)] {
        let welcome =
            format!(r#"{{"id":"p1","secret":"s1","participants":[],"ice_servers":{list}}}"#);
        let event = room_event("welcome", &welcome);
        let Some(RoomEvent::Welcome { turn_servers, .. }) = event else {
            panic!("no welcome with {list}");
        };
        assert_eq!(turn_servers.len(), count, "{list}");
        let renewed = room_event("ice-servers", list);
        let Some(RoomEvent::TurnServers(turn_servers)) = renewed else {
            panic!("no news of {list}");
        };
        assert_eq!(turn_servers.len(), count, "{list}");
    }
}

#[test]
fn events_of_a_room_are_kept_as_far_as_they_can_be_shown() {
    let many = r#"{"id":"p2","name":"A\u001b[2Jnn\nx","publishing":{"audio":true,"cameras":[
        {"name":"\u202ea"},{},{},{},{},{}]}}"#;
    let Some(RoomEvent::Changed(shown)) = room_event("joined", many) else {
        panic!("nobody");
    };
    assert_eq!(shown.name, r"A\u{1b}[2Jnn\nx");
    assert_eq!(shown.publishing.cameras.len(), MAX_CAMERAS);
    let camera = shown.publishing.cameras[0].name.as_deref();
    assert_eq!(camera, Some(r"\u{202e}a"));

    let long = format!(r#"{{"id":"p2","name":"{}"}}"#, "é".repeat(5_000));
    let Some(RoomEvent::Changed(shown)) = room_event("joined", &long) else {
        panic!("nobody");
    };
    assert_eq!(shown.name.chars().count(), MAX_NAME);
    for id in ["a b", "a\\u001b", &"x".repeat(MAX_ID + 1)] {
        let participant = format!(r#"{{"id":"{id}","name":"Ann"}}"#);
        assert!(room_event("joined", &participant).is_none(), "{id}");
    }
}

/// Repeats these octets forever, and counts them.
struct Endless<'a> {
    octets: &'a [u8],
    given: &'a mut usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begun = *self.given % self.octets.len();
        let amount = buffer.len().min(self.octets.len() - begun);
        buffer[..amount].copy_from_slice(&self.octets[begun..begun + amount]);
        *self.given += amount;
        Ok(amount)
    }
}

#[test]
fn an_event_without_end_is_given_up() {
    for octets in ["x", "data: x\n", "event: x", "event: x\r\n"] {
        let mut given = 0;
        let octets = octets.as_bytes();
        let endless = Endless {
            octets,
            given: &mut given,
        };
        let error = read_events(endless, |_| panic!("no event ends"));
        let error = error.expect_err("it is too long");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        assert!(given <= 2 * MAX_EVENT, "{given} read");
    }
}

#[test]
fn a_flood_of_events_is_read_at_a_pace() {
    let mut pace = Pace::new(Instant::now());
    let now = pace.at;
    let flood: Duration = (0..10_000)
        .map(|_| pace.wait(now, LEAST))
        .last()
        .expect("some");
    let owed = (10_000 * LEAST) as f64 - BURST;
    assert_eq!(flood, Duration::from_secs_f64(owed / RATE));
    let later = now + flood + Duration::from_secs(60);
    assert_eq!(pace.wait(later, 1 << 20), Duration::ZERO);

    // The welcome of a full room, followed by the statistics of all participants.
    let mut pace = Pace::new(now);
    assert_eq!(pace.wait(now, 1 << 20), Duration::ZERO);
    let figures = (0..6_000).map(|n| pace.wait(now + Duration::from_millis(n * 10), 400));
    assert_eq!(figures.max(), Some(Duration::ZERO));
}
