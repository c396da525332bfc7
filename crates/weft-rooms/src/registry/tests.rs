use serde_json::json;

use super::*;
use crate::{Camera, MAX_LINKS};

fn at(s: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(s)
}

fn browser<'a>(room: &'a str, name: &'a str, id: Option<&'a str>) -> Join<'a> {
    Join {
        room,
        name,
        kind: ParticipantKind::Browser,
        standing: Standing::Host,
        id,
        proof: None,
        fresh: SECRET,
        fresh_id: "p1",
    }
}

const SECRET: Proof = Proof([7; 32]);

/// Request to return with this proof.
fn back<'a>(room: &'a str, name: &'a str, id: &'a str, proof: Proof) -> Join<'a> {
    Join {
        proof: Some(proof),
        ..browser(room, name, Some(id))
    }
}

/// Joins; returns the id.
fn join(registry: &mut Registry, join: Join<'_>) -> String {
    registry.join(join).unwrap().into_id()
}

fn drain(registry: &mut Registry) -> Vec<String> {
    std::iter::from_fn(|| registry.poll_output())
        .map(|e| match e.change {
            Change::Joined(p) => format!("{} joined {}", e.room, p.id),
            Change::Changed(p) => format!("{} changed {}", e.room, p.id),
            Change::Left { id } => format!("{} left {id}", e.room),
            Change::Withdrawn { id } => format!("{} withdrawn {id}", e.room),
            Change::Said(message) => format!("{} said {}", e.room, message.id),
            Change::Settings(_) => format!("{} settings", e.room),
            Change::Waiting => format!("{} waiting", e.room),
            Change::Admitted { id } => format!("{} admitted {id}", e.room),
            Change::Reacted { id, .. } => format!("{} reacted {id}", e.room),
            Change::Links { id, links } => format!("{} links {id} {}", e.room, links.len()),
        })
        .collect()
}

#[test]
fn a_return_within_the_grace_time_is_no_departure() {
    let mut registry = Registry::new(RegistryLimits::default());
    let id = join(&mut registry, browser("r", "Ada", None));
    registry.release(at(5), "r", &id);
    registry.handle_timeout(at(14));
    let again = registry.join(back("r", "Ada", &id, SECRET)).unwrap();
    assert_eq!(again, Joined::Back(id));
    registry.handle_timeout(at(100));
    assert_eq!(drain(&mut registry), ["r joined p1"]);
}

#[test]
fn an_absent_participant_leaves_when_the_grace_time_ends() {
    let mut registry = Registry::new(RegistryLimits::default());
    let id = join(&mut registry, browser("r", "Ada", None));
    registry.release(at(5), "r", &id);
    assert_eq!(registry.poll_timeout().map(|d| d.at), Some(at(15)));
    registry.handle_timeout(at(14));
    assert_eq!(registry.count(), (1, 1));
    registry.handle_timeout(at(15));
    assert_eq!(registry.count(), (0, 0));
    assert_eq!(drain(&mut registry), ["r joined p1", "r left p1"]);
    assert_eq!(registry.poll_timeout(), None);
}

#[test]
fn one_whose_page_goes_away_is_gone_within_two_seconds_unless_it_loads_again() {
    let soon = at(5) + Duration::from_millis(1500);
    let mut registry = Registry::new(RegistryLimits::default());
    let id = join(&mut registry, browser("r", "Ada", None));
    registry.part(at(5), "r", &id, Some(SECRET)).unwrap();
    assert_eq!(registry.poll_timeout(), None, "it is still there");
    registry.release(at(5), "r", &id);
    assert_eq!(registry.poll_timeout().map(|d| d.at), Some(soon));
    registry.join(back("r", "Ada", &id, SECRET)).unwrap();
    registry.release(at(6), "r", &id);
    assert_eq!(registry.poll_timeout().map(|d| d.at), Some(at(16)));
    // The report may arrive after the end of the connection.
    registry.part(at(5), "r", &id, Some(SECRET)).unwrap();
    assert_eq!(registry.poll_timeout().map(|d| d.at), Some(soon));
    let stranger = registry.part(at(5), "r", &id, None);
    assert!(matches!(stranger, Err(HoldError::Stranger { .. })));
}

#[test]
fn a_publication_holds_as_an_event_stream_does() {
    let mut registry = Registry::new(RegistryLimits::default());
    let id = join(&mut registry, browser("r", "Ada", None));
    registry.hold("r", &id, Some(SECRET)).unwrap();
    registry.release(at(1), "r", &id);
    assert_eq!(registry.poll_timeout(), None);
    registry.release(at(2), "r", &id);
    assert_eq!(registry.poll_timeout().map(|d| d.at), Some(at(12)));
}

#[test]
fn a_sender_that_ends_on_purpose_leaves_at_once_and_a_page_after_the_grace_time() {
    let mut registry = Registry::new(RegistryLimits::default());
    let page = join(&mut registry, browser("r", "Ada", None));
    let kind = ParticipantKind::Native;
    let van = Join {
        kind,
        ..browser("r", "van", None)
    };
    let van = join(&mut registry, van);
    registry.hold("r", &van, Some(SECRET)).unwrap();
    registry.finish(at(1), "r", &van);
    assert_eq!(registry.count(), (1, 2), "something holds it still");
    registry.finish(at(2), "r", &van);
    registry.open_page("r", &page);
    registry.finish(at(2), "r", &page);
    assert_eq!(registry.count(), (1, 1));
    // A client that only claims to be a page has no page that could reload.
    let said = join(&mut registry, browser("r", "Eve", None));
    registry.finish(at(2), "r", &said);
    assert_eq!(registry.count(), (1, 1));
    registry.handle_timeout(at(12));
    assert_eq!(registry.count(), (0, 0));
}

#[test]
fn an_id_without_its_proof_is_of_no_use() {
    let mut registry = Registry::new(RegistryLimits::default());
    let ada = join(&mut registry, browser("r", "Ada", None));
    let wrong = Proof([8; 32]);
    for proof in [None, Some(wrong)] {
        let eve = Join {
            proof,
            ..browser("r", "Ada", Some(&ada))
        };
        assert!(matches!(registry.join(eve), Ok(Joined::New(id)) if id != ada));
        let stranger = HoldError::Stranger {
            room: "r".to_owned(),
            id: ada.clone(),
        };
        assert_eq!(registry.hold("r", &ada, proof), Err(stranger));
    }
    assert_eq!(registry.count(), (1, 3));
    let nobody = registry.hold("r", "p9", Some(SECRET));
    assert!(matches!(nobody, Err(HoldError::Unknown(_))));
}

#[test]
fn a_returning_participant_may_change_its_name_even_in_a_full_room() {
    let mut registry = Registry::new(RegistryLimits {
        rooms: 1,
        participants_per_room: 1,
        kept_for_hosts: 0,
    });
    let id = join(&mut registry, browser("r", "Ada", None));
    let again = registry.join(back("r", "Ada L.", &id, SECRET));
    assert_eq!(again, Ok(Joined::Back(id.clone())));
    assert_eq!(registry.find("r", &id).unwrap().name, "Ada L.");
    assert_eq!(drain(&mut registry), ["r joined p1", "r changed p1"]);
}

#[test]
fn one_with_a_place_is_shown_later_or_was_never_there() {
    let mut registry = Registry::new(RegistryLimits {
        rooms: 1,
        participants_per_room: 1,
        kept_for_hosts: 0,
    });
    let id = registry
        .reserve(browser("r", "Ada", None))
        .unwrap()
        .into_id();
    assert!(registry.participants("r").is_empty());
    assert!(registry.find("r", &id).is_err() && registry.find("r", "Ada").is_err());
    assert_eq!(
        registry.join(browser("r", "Bob", None)),
        Err(JoinError::RoomFull)
    );
    registry.finish(at(1), "r", &id);
    assert_eq!(drain(&mut registry), ["r withdrawn p1"]);
    assert_eq!(registry.count(), (0, 0));
    let id = registry
        .reserve(browser("r", "Ada", None))
        .unwrap()
        .into_id();
    registry.show("r", &id);
    registry.show("r", &id);
    assert_eq!(registry.find("r", "Ada").unwrap().id, id);
    registry.finish(at(2), "r", &id);
    assert_eq!(drain(&mut registry), ["r joined p1", "r left p1"]);
}

#[test]
fn nobody_chooses_an_id_that_is_anothers_name() {
    let mut registry = Registry::new(RegistryLimits::default());
    let ada = join(&mut registry, browser("r", "Ada", None));
    let eve = join(&mut registry, browser("r", "Eve", Some("Ada")));
    assert_eq!(eve, "p1x", "an id that is taken is nobody else's");
    assert_eq!(registry.find("r", "Ada").unwrap().id, ada);
}

#[test]
fn changes_are_reported_once() {
    let mut registry = Registry::new(RegistryLimits::default());
    let id = join(&mut registry, browser("r", "Ada", None));
    let video = Publishing {
        cameras: vec![Camera::default()],
        audio: false,
    };
    registry.set_publishing("r", &id, video.clone()).unwrap();
    registry.set_publishing("r", &id, video.clone()).unwrap();
    assert_eq!(drain(&mut registry), ["r joined p1", "r changed p1"]);
    let unknown = registry.set_publishing("r", "p9", video.clone());
    assert!(unknown.is_err());
    assert!(registry.set_publishing("other", &id, video).is_err());
}

#[test]
fn a_participant_that_reports_links_is_a_native_sender() {
    let mut registry = Registry::new(RegistryLimits::default());
    let kind = ParticipantKind::Whip;
    let van = Join {
        kind,
        ..browser("r", "van", None)
    };
    let id = join(&mut registry, van);
    let links: Vec<LinkReport> =
        serde_json::from_str(r#"[{"name":"wifi","state":"up","rtt_ms":12.5}]"#).unwrap();
    registry
        .set_links(Instant::ZERO, "r", &id, links.clone())
        .unwrap();
    let seen = registry.find("r", &id).unwrap();
    assert_eq!(seen.kind, ParticipantKind::Native);
    assert_eq!(seen.links, links);
    assert_eq!(
        drain(&mut registry),
        ["r joined p1", "r changed p1", "r links p1 1"]
    );
}

/// Bytes that a page in a room of a hundred gets within ten seconds, if the first
/// `senders` of them report these links `times` a second each.
fn bytes_of_links(senders: usize, times: u64, links: &[LinkReport]) -> usize {
    let limits = RegistryLimits {
        participants_per_room: 100,
        ..RegistryLimits::default()
    };
    let mut registry = Registry::new(limits);
    let ids: Vec<String> = (0..100).map(|n| format!("participant-{n}")).collect();
    for fresh_id in &ids {
        let who = browser("r", fresh_id, None);
        join(&mut registry, Join { fresh_id, ..who });
    }
    drain(&mut registry);
    let mut bytes = 0;
    for turn in 0..10 * times {
        let now = Instant::ZERO + Duration::from_secs(5) + Duration::from_secs(1) * turn / times;
        registry.handle_timeout(now);
        for id in &ids[..senders] {
            registry.set_links(now, "r", id, links.to_vec()).unwrap();
        }
        while let Some(event) = registry.poll_output() {
            if let Change::Links { id, links } = event.change {
                bytes += id.len() + serde_json::to_vec(&links).unwrap().len();
            }
        }
    }
    bytes
}

#[test]
fn a_page_in_a_full_room_gets_100_kbit_of_links_a_second_at_most() {
    let link = |name: &str| {
        let link = json!({
            "name": name, "state": "up", "rtt_ms": 37.0 / 3.0,
            "sent_mbps": 4.0 / 3.0, "target_mbps": 7.0 / 3.0,
            "loss": 0.1 / 3.0,
        });
        serde_json::from_value::<LinkReport>(link).unwrap()
    };
    let rate = |senders, times, links: &[LinkReport]| {
        let bytes = bytes_of_links(senders, times, links);
        println!("{senders} senders, {times} times a second: {bytes} bytes in ten seconds");
        bytes * 8 / 10
    };
    let largest = vec![link(&"\u{1f4e1}".repeat(64)); MAX_LINKS];
    // It starts with a burst of two such reports.
    for (senders, times) in [(1, 50), (100, 1), (100, 10)] {
        let rate = rate(senders, times, &largest);
        assert!((80_000..115_000).contains(&rate), "{rate} bit/s");
    }
    // Reports of an ordinary call pass unchanged.
    let two = [link("wifi"), link("lte")];
    let reports = 10 * 20;
    let each = "participant-1".len() + serde_json::to_vec(&two).unwrap().len();
    let bytes = bytes_of_links(20, 1, &two);
    assert!(
        (reports * each..reports * (each + 1)).contains(&bytes),
        "{bytes}"
    );
}

#[test]
fn participants_are_listed_in_the_order_of_their_arrival() {
    let mut registry = Registry::new(RegistryLimits::default());
    for fresh_id in ["pm", "pz", "pa"] {
        let who = browser("r", fresh_id, None);
        join(&mut registry, Join { fresh_id, ..who });
    }
    let ids: Vec<&str> = registry.participants("r").iter().map(|p| &*p.id).collect();
    assert_eq!(ids, ["pm", "pz", "pa"]);
    assert!(registry.participants("s").is_empty());
}

#[test]
fn bad_names_and_full_rooms_are_refused() {
    let mut registry = Registry::new(RegistryLimits {
        rooms: 1,
        participants_per_room: 2,
        kept_for_hosts: 0,
    });
    let long = "x".repeat(65);
    let mut join = |room, name| registry.join(browser(room, name, None));
    assert_eq!(join("a/b", "Ada"), Err(JoinError::BadRoomName));
    assert_eq!(join("", "Ada"), Err(JoinError::BadRoomName));
    assert_eq!(join("..", "Ada"), Err(JoinError::BadRoomName));
    assert_eq!(join("r", "  "), Err(JoinError::BadName));
    assert_eq!(join("r", "\u{200b}\u{202e}"), Err(JoinError::BadName));
    assert_eq!(join("r", &long), Err(JoinError::BadName));
    assert!(join("küche", "Zoë").is_ok());
    assert!(join("küche", "Ada").is_ok());
    assert_eq!(join("küche", "Bob"), Err(JoinError::RoomFull));
    assert_eq!(join("s", "Bob"), Err(JoinError::TooManyRooms));
}

/// Size limit of an event in the page; a longer one would lock everybody out of
/// the room.
const LONGEST_WELCOME: usize = 1 << 20;

#[test]
fn a_full_room_of_verbose_participants_fits_into_a_welcome() {
    let limits = RegistryLimits::default();
    let mut registry = Registry::new(limits);
    // Longest form in JSON: six octets for one character.
    let long = "\u{1}".repeat(10_000) + &"\u{1f4f6}".repeat(10_000);
    let link = LinkReport {
        name: long.clone(),
        state: crate::LinkState::Suspect,
        rtt_ms: -f64::MIN_POSITIVE / 3.0,
        sent_mbps: f64::MIN,
        target_mbps: f64::MIN,
        loss: f64::MIN,
        metered: false,
        backup: true,
        budget_left_mb: Some(f64::MIN),
        trouble: Some(crate::TroubleKind::CaptivePortal),
    };
    for _ in 0..limits.participants_per_room {
        let name = "\u{1f4f6}".repeat(64);
        let id = join(&mut registry, browser("r", &name, None));
        let links = vec![link.clone(); 1000];
        registry.set_links(Instant::ZERO, "r", &id, links).unwrap();
        let camera = Camera {
            name: Some("\u{1f4f6}".repeat(64)),
            ..Camera::default()
        };
        let cameras = vec![camera; crate::MAX_CAMERAS];
        let publishing = Publishing {
            cameras,
            audio: true,
        };
        registry.set_publishing("r", &id, publishing).unwrap();
        registry.set_hand("r", &id, crate::Hand::Raised);
        // Longest form in JSON: two octets for one.
        let saying = crate::Saying {
            text: &"\"".repeat(crate::MAX_CHAT_TEXT),
            key: None,
            at: u64::MAX,
        };
        let said = registry.say(Instant::ZERO, ("r", &id), &saying);
        assert!(said.unwrap().is_some());
        while registry.poll_output().is_some() {}
    }
    let all = registry.participants("r");
    assert_eq!(all[0].links[0].name.chars().count(), 64);
    let welcome = serde_json::to_string(&all).unwrap().len();
    let chat = registry.chat(Instant::ZERO, "r", None);
    let chat = serde_json::to_string(&chat).unwrap().len();
    assert!(
        (100_000..LONGEST_WELCOME / 4).contains(&chat),
        "{chat} octets of chat"
    );
    assert!(
        (100_000..LONGEST_WELCOME).contains(&welcome),
        "{welcome} octets"
    );
}

#[test]
fn guests_leave_the_places_that_are_kept_for_hosts() {
    let mut registry = Registry::new(RegistryLimits {
        rooms: 1,
        participants_per_room: 3,
        kept_for_hosts: 1,
    });
    let guest = || Join {
        standing: Standing::Guest,
        ..browser("r", "Eve", None)
    };
    assert!(registry.join(guest()).is_ok());
    let second = join(&mut registry, guest());
    assert_eq!(registry.join(guest()), Err(JoinError::RoomFull));
    // A present guest can return anyway.
    let back = Join {
        standing: Standing::Guest,
        ..back("r", "Eve", &second, SECRET)
    };
    assert!(matches!(registry.join(back), Ok(Joined::Back(_))));
    assert!(registry.join(browser("r", "Ada", None)).is_ok());
    let full = registry.join(browser("r", "Bob", None));
    assert_eq!(full, Err(JoinError::RoomFull));
}

#[test]
fn the_second_of_a_name_has_a_number_and_keeps_it() {
    let mut registry = Registry::new(RegistryLimits::default());
    let first = join(&mut registry, browser("r", "Ada", None));
    let second = join(&mut registry, browser("r", " Ada", None));
    let name = |registry: &Registry, id: &str| registry.find("r", id).unwrap().name.clone();
    assert_eq!(name(&registry, &second), "Ada 2");
    assert_eq!(registry.find("r", "ada 2").unwrap().id, second);
    registry.leave("r", &first);
    drain(&mut registry);
    // Returning with the requested name changes nothing.
    registry.join(back("r", "Ada", &second, SECRET)).unwrap();
    assert!(!registry.renames("r", &second, "Ada"));
    assert_eq!(name(&registry, &second), "Ada 2");
    assert!(drain(&mut registry).is_empty());
    let third = join(&mut registry, browser("r", "Ada", None));
    assert_eq!(name(&registry, &third), "Ada", "it is free again");
    // Another name must be free, too.
    assert!(registry.renames("r", &second, "ada"));
    registry.join(back("r", "ADA", &second, SECRET)).unwrap();
    assert_eq!(name(&registry, &second), "ADA 2");
    let elsewhere = join(&mut registry, browser("s", "Ada", None));
    assert_eq!(registry.find("s", &elsewhere).unwrap().name, "Ada");
}
