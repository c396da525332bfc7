use super::*;
use crate::{
    Hand, Join, JoinError, ParticipantKind, Proof, RegistryLimits, Saying, Standing, Upload,
};

const NOW: Instant = Instant::ZERO;

/// Server with one room, which records what its participants see.
struct Server {
    name: &'static str,
    registry: Registry,
}

impl Server {
    fn new(name: &'static str) -> Server {
        Server {
            name,
            registry: Registry::new(RegistryLimits::default()),
        }
    }

    fn join(&mut self, id: &str, name: &str) {
        let joined = self.registry.join(Join {
            room: "r",
            name,
            kind: ParticipantKind::Browser,
            standing: Standing::Equal,
            id: None,
            proof: None,
            fresh: Proof([1; 32]),
            fresh_id: id,
        });
        assert_eq!(joined.map(crate::Joined::into_id).as_deref(), Ok(id));
    }

    /// Applies another server's state of the room.
    fn hear(&mut self, other: &mut Server) {
        let state = other.registry.state_of(NOW, "r");
        let nobody = || RoomState {
            room: "r".to_owned(),
            participants: Vec::new(),
            settings: RoomSettings::default(),
            version: SettingsVersion::default(),
            recorder: Recorder::default(),
            chat: Vec::new(),
        };
        let state = state.unwrap_or_else(nobody);
        self.registry
            .set_elsewhere(NOW, other.name, state, self.name);
    }

    fn names(&self) -> Vec<String> {
        let all = self.registry.participants("r").into_iter();
        all.map(|who| who.name.clone()).collect()
    }

    fn changes(&mut self) -> Vec<Change> {
        let all = std::iter::from_fn(|| self.registry.poll_output());
        all.map(|event| event.change).collect()
    }
}

fn two_servers() -> (Server, Server) {
    let (mut one, mut two) = (Server::new("one"), Server::new("two"));
    one.join("a", "Ada");
    two.join("b", "Bob");
    one.hear(&mut two);
    two.hear(&mut one);
    (one, two)
}

#[test]
fn a_room_sees_the_participants_of_another_server_come_and_leave() {
    let (mut one, mut two) = two_servers();
    assert_eq!(one.names(), ["Ada", "Bob"]);
    assert_eq!(two.names(), ["Bob", "Ada"]);
    assert_eq!(one.registry.server_of("r", "b"), Some("two"));
    assert_eq!(one.registry.server_of("r", "a"), None);
    assert_eq!(one.registry.count(), (1, 1), "those of this server");
    one.changes();
    one.hear(&mut two);
    assert_eq!(one.changes(), [], "no change comes twice");
    two.registry.leave("r", "b");
    one.hear(&mut two);
    let id = "b".to_owned();
    assert_eq!(one.changes(), [Change::Left { id }]);
}

#[test]
fn a_room_without_participants_here_is_known_and_not_counted() {
    let (mut one, mut two) = two_servers();
    one.registry.leave("r", "a");
    assert_eq!(one.names(), ["Bob"]);
    assert_eq!(one.registry.count(), (0, 0));
    assert_eq!(one.registry.state_of(NOW, "r"), None, "it is the other's");
    one.registry.displace_all("two", |_| false);
    assert_eq!(one.registry.rooms().count(), 0);
    two.hear(&mut one);
    assert_eq!(two.names(), ["Bob"]);
}

#[test]
fn only_their_own_server_acts_for_participants() {
    let (mut one, _) = two_servers();
    for proof in [None, Some(Proof([1; 32]))] {
        assert!(!one.registry.knows("r", "b", proof));
        assert!(one.registry.check_inside("r", "b", proof).is_err());
    }
    // Neither a third server nor this one loses a participant to another server.
    for (server, id) in [("three", "b"), ("two", "a")] {
        let mut presence = one.registry.presence("r", "a").expect("she is here");
        presence.participant.id = id.to_owned();
        presence.participant.name = "Eve".to_owned();
        one.registry.place("r", server, presence, "e");
        one.registry.displace("r", server, id);
    }
    assert_eq!(one.names(), ["Ada", "Bob"]);
}

#[test]
fn one_of_two_equal_names_gets_a_number() {
    let (mut one, mut two) = (Server::new("one"), Server::new("two"));
    one.join("a", "Ada");
    two.join("b", "ada");
    one.hear(&mut two);
    two.hear(&mut one);
    assert_eq!(two.names(), ["ada 2", "Ada"], "the greater id yields");
    one.hear(&mut two);
    assert_eq!(one.names(), ["Ada", "ada 2"]);
    one.join("c", "Ada 2");
    assert_eq!(one.names()[2], "Ada 2 2", "newcomers see all names");
}

#[test]
fn the_chat_reaches_every_server_once() {
    let (mut one, mut two) = two_servers();
    let saying = Saying {
        text: "hello",
        key: None,
        at: 7,
    };
    let id = one.registry.say(NOW, ("r", "a"), &saying).unwrap().unwrap();
    two.changes();
    two.hear(&mut one);
    two.hear(&mut one);
    one.hear(&mut two);
    let [Change::Said(said)] = &two.changes()[..] else {
        panic!("one message");
    };
    assert_eq!((&said.id, &*said.text), (&id, "hello"));
    for server in [&mut one, &mut two] {
        assert_eq!(server.registry.chat(NOW, "r", None).len(), 1);
        assert!(server.registry.chat(NOW, "r", Some(&id)).is_empty());
    }
}

#[test]
fn settings_that_change_on_two_servers_at_once_end_up_equal() {
    let (mut one, mut two) = two_servers();
    let settings = |locked, waiting_room| RoomSettings {
        locked,
        waiting_room,
        ..RoomSettings::default()
    };
    one.registry.set_settings("r", settings(true, false));
    one.registry.stamp_settings("r", "one");
    two.registry.set_settings("r", settings(false, true));
    two.registry.stamp_settings("r", "two");
    one.hear(&mut two);
    two.hear(&mut one);
    assert_eq!(one.registry.settings("r"), settings(false, true));
    assert_eq!(two.registry.settings("r"), settings(false, true));
    // A later change wins over both.
    one.registry.set_settings("r", settings(false, false));
    one.registry.stamp_settings("r", "one");
    two.hear(&mut one);
    assert_eq!(two.registry.settings("r"), settings(false, false));
}

#[test]
fn moderators_see_waiting_participants_of_another_server() {
    let (mut one, mut two) = two_servers();
    let waiting_room = RoomSettings {
        waiting_room: true,
        ..RoomSettings::default()
    };
    one.registry.set_settings("r", waiting_room);
    one.registry.stamp_settings("r", "one");
    two.hear(&mut one);
    two.join("c", "Cyd");
    one.changes();
    one.hear(&mut two);
    assert_eq!(one.changes(), [Change::Waiting]);
    assert_eq!(one.registry.waiting("r").len(), 1);
    assert_eq!(one.names(), ["Ada", "Bob"]);
    assert!(
        !one.registry.admit("r", "c"),
        "their own server admits them"
    );
    assert!(two.registry.admit("r", "c"));
    one.hear(&mut two);
    assert_eq!(one.names(), ["Ada", "Bob", "Cyd"]);
    assert!(one.registry.waiting("r").is_empty());
}

#[test]
fn changes_of_a_participant_have_their_own_events() {
    let (mut one, mut two) = two_servers();
    two.registry.set_hand("r", "b", Hand::Raised);
    one.changes();
    one.hear(&mut two);
    let [Change::Changed(bob)] = &one.changes()[..] else {
        panic!("one change");
    };
    assert_eq!(bob.hand, Some(1));
    one.registry.set_hand("r", "a", Hand::Raised);
    let ada = one.registry.presence("r", "a").map(|ada| ada.participant);
    assert_eq!(ada.and_then(|ada| ada.hand), Some(2), "she is second");
    let publishing = crate::Publishing {
        audio: true,
        ..crate::Publishing::default()
    };
    let set = two
        .registry
        .set_upload("r", "b", publishing, Upload::Connected);
    assert_eq!(set, Ok(()));
    one.changes();
    one.hear(&mut two);
    assert!(matches!(&one.changes()[..], [Change::Changed(_)]));
}

/// Join of a participant who presents the id and proof of an earlier visit.
fn move_to(server: &mut Server, id: &str, proof: u8, fresh_id: &str) -> Result<String, JoinError> {
    let joined = server.registry.join(Join {
        room: "r",
        name: "Ada",
        kind: ParticipantKind::Browser,
        standing: Standing::Guest,
        id: Some(id),
        proof: Some(Proof([proof; 32])),
        fresh: Proof([9; 32]),
        fresh_id,
    });
    joined.map(crate::Joined::into_id)
}

#[test]
fn a_participant_who_moves_keeps_name_hand_and_mute_and_enters_a_locked_room() {
    let (mut one, mut two) = two_servers();
    one.registry.set_hand("r", "a", Hand::Raised);
    one.registry.set_muted("r", "a", true);
    two.hear(&mut one);
    let locked = RoomSettings {
        locked: true,
        waiting_room: true,
        ..RoomSettings::default()
    };
    two.registry.set_settings("r", locked);
    assert_eq!(move_to(&mut two, "a", 2, "x"), Err(JoinError::Locked));
    assert_eq!(move_to(&mut two, "b", 2, "x"), Err(JoinError::Locked));
    assert_eq!(move_to(&mut two, "a", 1, "c").as_deref(), Ok("c"));
    assert_eq!(two.names(), ["Bob", "Ada", "Ada"]);
    let moved = two.registry.participants("r")[2];
    assert_eq!(moved.succeeds.as_deref(), Some("a"));
    assert!(moved.muted && moved.hand.is_some());
    // Neither server numbers the pair, and the first one lets the participant finish there.
    one.hear(&mut two);
    two.hear(&mut one);
    assert_eq!(one.names(), ["Ada", "Bob", "Ada"]);
    assert_eq!(two.names(), ["Bob", "Ada", "Ada"]);
    one.registry.finish(NOW, "r", "a");
    assert_eq!(one.names(), ["Bob", "Ada"]);
}

#[test]
fn a_participant_who_has_moved_has_no_time_to_come_back() {
    let (mut one, mut two) = two_servers();
    one.registry.release(NOW, "r", "a");
    assert_eq!(move_to(&mut two, "a", 1, "c").as_deref(), Ok("c"));
    one.hear(&mut two);
    assert_eq!(one.names(), ["Bob", "Ada"], "nothing held them");
    // The participant moves on to a third server, and back before the second one has
    // forgotten them.
    let mut three = Server::new("three");
    three.hear(&mut two);
    assert_eq!(move_to(&mut three, "c", 9, "d").as_deref(), Ok("d"));
    one.hear(&mut three);
    assert_eq!(move_to(&mut one, "d", 9, "e").as_deref(), Ok("e"));
    assert_eq!(one.names(), ["Bob", "Ada", "Ada", "Ada"]);
}

#[test]
fn a_name_leads_to_where_a_moving_participant_publishes() {
    let (mut one, mut two) = two_servers();
    assert_eq!(move_to(&mut two, "a", 1, "c").as_deref(), Ok("c"));
    one.hear(&mut two);
    let found = |server: &Server| server.registry.find("r", "ada").map(|who| who.id.clone());
    for (place, id) in ["a", "c"].into_iter().enumerate() {
        let publishing = |audio| crate::Publishing {
            audio,
            ..crate::Publishing::default()
        };
        let (first, second) = (publishing(place == 0), publishing(place == 1));
        one.registry
            .set_upload("r", "a", first, Upload::Connected)
            .expect("she is there");
        two.registry
            .set_upload("r", "c", second, Upload::Connected)
            .expect("she is there");
        two.hear(&mut one);
        one.hear(&mut two);
        assert_eq!(
            (found(&one).as_deref(), found(&two).as_deref()),
            (Ok(id), Ok(id))
        );
    }
}
