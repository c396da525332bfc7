//! `weft rooms`: listing, removing, closing, revoking.

use super::client::{Events, request};
use super::stub::{Rig, config, wait_for};
use crate::{
    Answer, Grant, May, OperatorConfig, Order, ServerConfig, TokenKey, admin_ask, admin_sockets,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const SDP: (&str, &str) = ("content-type", "application/sdp");

struct Place {
    rig: Rig,
    key: TokenKey,
    socket: PathBuf,
    folder: TempDir,
}

fn start(folder: TempDir) -> Place {
    let key = TokenKey::read_or_make(&folder.path().join("token.key")).unwrap();
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        token_key: Some(key.clone()),
        state: Some(folder.path().to_owned()),
        operator: OperatorConfig {
            socket_folder: Some(folder.path().to_owned()),
            ..OperatorConfig::default()
        },
        ..config()
    });
    let sockets = admin_sockets(folder.path()).unwrap();
    let (address, socket) = sockets.into_iter().next().unwrap();
    assert_eq!(address, rig.address().to_string());
    Place {
        rig,
        key,
        socket,
        folder,
    }
}

fn place() -> Place {
    start(TempDir::new().unwrap())
}

impl Place {
    fn token(&self) -> (Grant, String) {
        let until = SystemTime::now() + Duration::from_secs(3600);
        let grant = Grant::new("r", May::TakePart, until).unwrap();
        let token = self.key.sign(&grant);
        (grant, token)
    }

    fn ask(&self, order: Order) -> Answer {
        admin_ask(&self.socket, &order).unwrap()
    }

    fn join(&self, token: &str, name: &str) -> Events {
        let bearer = format!("Bearer {token}");
        let line = format!("/api/rooms/r/events?name={name}");
        Events::open_with(self.rig.address(), &line, &[("authorization", &*bearer)])
    }

    /// Status, and kind of the refusal.
    fn publish(&self, token: &str, query: &str, secret: &str) -> (u16, String) {
        let bearer = format!("Bearer {token}");
        let headers = [
            SDP,
            ("authorization", &*bearer),
            ("weft-secret", secret),
            ("x-forwarded-for", "192.0.2.1"),
        ];
        let line = format!("POST /whip/r?{query}");
        let answer = request(self.rig.address(), &line, &headers, "v=0");
        let value: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        (answer.status, kind)
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_operator_sees_participants_and_their_tokens() {
    let place = place();
    assert_eq!(mode(&place.socket), 0o600);
    assert_eq!(mode(place.socket.parent().unwrap()), 0o700);
    assert_eq!(place.ask(Order::List), Answer::Rooms(vec![]));
    let (grant, token) = place.token();
    let mut ada = place.join("s3cret", "Ada");
    ada.expect("welcome");
    assert_eq!(place.publish(&token, "name=van", "").0, 201);
    let Answer::Rooms(rooms) = place.ask(Order::List) else {
        panic!("no rooms")
    };
    assert_eq!((rooms.len(), &*rooms[0].room), (1, "r"));
    let [ada, van] = &rooms[0].participants[..] else {
        panic!("{rooms:?}")
    };
    assert_eq!((&*ada.name, &ada.token), ("Ada", &None));
    assert_eq!((&*van.name, van.token.as_ref()), ("van", Some(grant.id())));
    assert_eq!(
        van.from.map(|ip| ip.to_string()).as_deref(),
        Some("192.0.2.1")
    );
    let socket = place.socket.clone();
    place.rig.handle.shutdown();
    assert!(!socket.exists(), "it goes with the server");
}

#[test]
fn removed_participants_cannot_return_at_once_by_secret_or_token() {
    let place = place();
    let ((_, token), (_, other)) = (place.token(), place.token());
    let mut ada = place.join("s3cret", "Ada");
    ada.expect("welcome");
    let mut eve = place.join(&token, "Eve");
    let welcome = eve.expect("welcome");
    let id = welcome["id"].as_str().unwrap();
    let secret = welcome["secret"].as_str().unwrap();
    let own = format!("participant={id}");
    assert_eq!(place.publish(&token, &own, secret).0, 201);
    ada.expect("joined");
    let removed = place.ask(Order::Remove {
        room: "R".to_owned(),
        participant: "eve".to_owned(),
        seconds: 600,
    });
    let name = "Eve".to_owned();
    let expected = Answer::Removed {
        id: id.to_owned(),
        name,
    };
    assert_eq!(removed, expected);
    assert_eq!(ada.expect("left")["id"], id);
    assert!(eve.next().is_none(), "her stream ends");
    assert!(place.rig.log().last().unwrap().starts_with("close "));
    let barred = (403, "removed".to_owned());
    assert_eq!(place.publish(&token, "name=Eve", ""), barred);
    let back = format!("name=Eve&{own}");
    assert_eq!(place.publish(&other, &back, secret), barred, "her secret");
    assert_eq!(place.publish(&other, "name=Bob", "").0, 201);
    assert_eq!(place.publish("s3cret", "name=Cy", "").0, 201);
    place.rig.advance(weft_units::Duration::from_secs(601));
    assert_eq!(place.publish(&token, "name=Eve", "").0, 201);
    let nobody = place.ask(Order::Remove {
        room: "r".to_owned(),
        participant: "nobody".to_owned(),
        seconds: 600,
    });
    assert!(matches!(nobody, Answer::Refused { .. }));
}

#[test]
fn removed_guests_cannot_return_from_their_address() {
    let place = place();
    assert_eq!(place.publish("s3cret", "name=Eve", "").0, 201);
    place.ask(Order::Remove {
        room: "r".to_owned(),
        participant: "Eve".to_owned(),
        seconds: 600,
    });
    let barred = (403, "removed".to_owned());
    assert_eq!(place.publish("s3cret", "name=Eve", ""), barred);
    let (_, token) = place.token();
    assert_eq!(place.publish(&token, "name=Bob", ""), barred);
    place.join("s3cret", "Ada").expect("welcome");
}

#[test]
fn a_closed_room_is_empty_and_lets_nobody_in_until_it_opens() {
    let place = place();
    let mut ada = place.join("s3cret", "Ada");
    ada.expect("welcome");
    let close = |seconds| {
        place.ask(Order::Close {
            room: "r".to_owned(),
            seconds,
        })
    };
    assert_eq!(close(600), Answer::Closed { removed: 1 });
    assert!(ada.next().is_none());
    let closed = (403, "room_closed".to_owned());
    assert_eq!(place.publish("s3cret", "name=Eve", ""), closed);
    let Answer::Rooms(rooms) = place.ask(Order::List) else {
        panic!("no rooms")
    };
    assert_eq!(rooms[0].closed_for, Some(600));
    assert_eq!(close(0), Answer::Closed { removed: 0 });
    assert_eq!(place.publish("s3cret", "name=Eve", "").0, 201);
}

#[test]
fn a_revoked_token_ends_what_it_holds_and_opens_nothing_after_a_restart_either() {
    let place = place();
    let ((grant, token), (_, other)) = (place.token(), place.token());
    let guest = grant.invite(&place.token().0).unwrap();
    let guest = place.key.sign(&guest);
    let mut ada = place.join("s3cret", "Ada");
    ada.expect("welcome");
    let mut eve = place.join(&token, "Eve");
    let secret = eve.expect("welcome")["secret"].as_str().unwrap().to_owned();
    assert_eq!(place.publish(&guest, "name=van", "").0, 201);
    assert_eq!(place.publish(&other, "name=Bob", "").0, 201);
    let revoked = place.ask(Order::Revoke {
        token: grant.id().to_string(),
    });
    let id = grant.id().clone();
    assert_eq!(revoked, Answer::Revoked { id, removed: 2 });
    // Other events come before its end.
    while eve.next().is_some() {}
    assert_eq!(place.rig.handle.hub().counts().1, 2, "Ada and Bob");
    let refused = (401, "token_revoked".to_owned());
    for token in [&token, &guest] {
        assert_eq!(place.publish(token, "name=Eve", &secret), refused);
    }
    let (_, by_itself) = place.token();
    let answer = place.ask(Order::Revoke {
        token: by_itself.clone(),
    });
    assert!(matches!(answer, Answer::Revoked { removed: 0, .. }));
    let unused = place.ask(Order::Revoke {
        token: "0123456789abcdef".to_owned(),
    });
    assert!(matches!(unused, Answer::Revoked { removed: 0, .. }));
    let damaged = format!("{by_itself}x");
    for wrong in [
        "s3cret",
        "a b",
        &damaged,
        &by_itself[..20],
        "Eve",
        "0123456789abcde",
    ] {
        let token = wrong.to_owned();
        let answer = place.ask(Order::Revoke { token });
        assert!(matches!(answer, Answer::Refused { .. }), "{wrong}");
    }
    let Place { rig, folder, .. } = place;
    rig.handle.shutdown();
    let again = start(folder);
    for token in [&token, &guest, &by_itself] {
        assert_eq!(again.publish(token, "name=Eve", ""), refused);
    }
    assert_eq!(again.publish(&other, "name=Bob", "").0, 201);
}

#[test]
fn a_question_that_is_none_is_answered_and_holds_nobody_up() {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    let place = place();
    for words in [
        "\n",
        "{\n",
        "{\"do\":\"explode\"}\n",
        &("x".repeat(1 << 20) + "\n"),
    ] {
        let mut stream = UnixStream::connect(&place.socket).unwrap();
        // The rest of an overlong line is not read.
        let _ = stream.write_all(words.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        if !answer.is_empty() {
            assert!(answer.contains("refused"), "{answer}");
        }
    }
    wait_for("it answers", || {
        place.ask(Order::List) == Answer::Rooms(vec![])
    });
}
