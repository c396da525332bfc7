use super::*;
use crate::{Join, ParticipantKind, RegistryLimits, Standing};
use weft_units::Duration;

const PROOF: Proof = Proof([7; 32]);

fn registry(names: &[&str]) -> Registry {
    let mut registry = Registry::new(RegistryLimits::default());
    for (n, name) in names.iter().enumerate() {
        let fresh_id = format!("p{n}");
        let join = Join {
            room: "r",
            name,
            kind: ParticipantKind::Browser,
            standing: Standing::Host,
            id: None,
            proof: None,
            fresh: PROOF,
            fresh_id: &fresh_id,
        };
        registry.join(join).unwrap();
    }
    changes(&mut registry);
    registry
}

fn changes(registry: &mut Registry) -> Vec<Change> {
    std::iter::from_fn(|| registry.poll_output().map(|event| event.change)).collect()
}

fn hands(registry: &Registry) -> Vec<(&str, Option<u64>)> {
    let all = registry.participants("r").into_iter();
    all.map(|who| (&*who.name, who.hand)).collect()
}

#[test]
fn hands_are_in_the_order_of_raising_and_go_with_their_owner() {
    let mut registry = registry(&["Ada", "Bob", "Cy"]);
    registry.set_hand("r", "p2", Hand::Raised);
    registry.set_hand("r", "p0", Hand::Raised);
    registry.set_hand("r", "p2", Hand::Raised);
    assert_eq!(
        hands(&registry),
        [("Ada", Some(2)), ("Bob", None), ("Cy", Some(1))]
    );
    assert_eq!(
        changes(&mut registry).len(),
        2,
        "the repeated one is no change"
    );
    registry.set_hand("r", "p2", Hand::Lowered);
    registry.set_hand("r", "p2", Hand::Raised);
    assert_eq!(hands(&registry)[2].1, Some(3), "at the end of the line");
    registry.leave("r", "p2");
    registry.set_hand("r", "p2", Hand::Raised);
    registry.set_hand("nowhere", "p2", Hand::Raised);
    assert_eq!(hands(&registry), [("Ada", Some(2)), ("Bob", None)]);
}

#[test]
fn a_new_name_is_checked_and_unique_like_the_first_one() {
    let mut registry = registry(&["Ada", "Bob"]);
    assert_eq!(
        registry.set_name("r", "p1", " A\u{200b}da ").unwrap(),
        "Ada 2"
    );
    assert_eq!(registry.set_name("r", "p1", "Cy").unwrap(), "Cy");
    assert_eq!(changes(&mut registry).len(), 2);
    for bad in ["", "\u{200b}", &"x".repeat(65), &"x".repeat(10_000)] {
        assert_eq!(registry.set_name("r", "p1", bad), Err(JoinError::BadName));
    }
    assert!(changes(&mut registry).is_empty());
    assert_eq!(registry.participants("r")[1].name, "Cy");
}

#[test]
fn a_message_repeated_with_its_key_is_sent_once() {
    let mut registry = registry(&["Ada", "Bob"]);
    let now = Instant::ZERO + Duration::from_secs(1);
    let saying = Saying {
        text: "hello",
        key: Some("k"),
        at: 5,
    };
    let first = registry.say(now, ("r", "p0"), &saying).unwrap();
    assert_eq!(registry.say(now, ("r", "p0"), &saying).unwrap(), first);
    assert!(registry.has_said("r", "p0", Some("k")) && !registry.has_said("r", "p1", Some("k")));
    registry.set_name("r", "p0", "Eve").unwrap();
    let other = registry.say(now, ("r", "p1"), &saying).unwrap();
    assert_ne!(other, first);
    assert_eq!(registry.say(now, ("r", "nobody"), &saying), Ok(None));
    let history = registry.chat(now, "r", None);
    let history: Vec<_> = history.iter().map(|m| (&*m.name, &*m.text, m.at)).collect();
    assert_eq!(history, [("Ada", "hello", 5), ("Bob", "hello", 5)]);
    assert_eq!(registry.chat(now, "r", first.as_deref()).len(), 1);
    registry.leave("r", "p0");
    assert_eq!(registry.chat(now, "r", None).len(), 2, "it stays");
    registry.leave("r", "p1");
    assert!(
        registry.chat(now, "r", None).is_empty(),
        "until the room ends"
    );
}

#[test]
fn only_a_participant_whom_the_room_sees_is_inside() {
    let mut registry = registry(&["Ada"]);
    let join = Join {
        room: "r",
        name: "Bob",
        kind: ParticipantKind::Browser,
        standing: Standing::Host,
        id: None,
        proof: None,
        fresh: PROOF,
        fresh_id: "p9",
    };
    registry.reserve(join).unwrap();
    let inside = |id, proof| registry.check_inside("r", id, proof).is_ok();
    assert!(inside("p0", Some(PROOF)));
    assert!(!inside("p0", Some(Proof([8; 32]))) && !inside("p0", None));
    assert!(!inside("p9", Some(PROOF)), "not shown yet");
    assert!(!inside("nobody", Some(PROOF)));
}
