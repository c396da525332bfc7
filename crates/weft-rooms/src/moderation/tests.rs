use super::*;
use crate::{HoldError, Join, JoinError, ParticipantKind, Proof, RegistryLimits, Standing};

const PROOF: Proof = Proof([7; 32]);

fn join(registry: &mut Registry, id: &str, standing: Standing) -> Result<(), JoinError> {
    let join = Join {
        room: "r",
        name: id,
        kind: ParticipantKind::Browser,
        standing,
        id: None,
        proof: None,
        fresh: PROOF,
        fresh_id: id,
    };
    registry.join(join).map(drop)
}

fn with(settings: RoomSettings) -> Registry {
    let mut registry = Registry::new(RegistryLimits::default());
    join(&mut registry, "ada", Standing::Host).unwrap();
    registry.set_settings("r", settings);
    registry
}

fn names(all: Vec<&Participant>) -> Vec<&str> {
    all.into_iter().map(|who| &*who.id).collect()
}

#[test]
fn a_locked_room_takes_hosts_alone() {
    let mut registry = with(RoomSettings {
        locked: true,
        ..RoomSettings::default()
    });
    for standing in [Standing::Guest, Standing::Equal] {
        assert_eq!(join(&mut registry, "bob", standing), Err(JoinError::Locked));
    }
    join(&mut registry, "eve", Standing::Host).unwrap();
    registry.set_settings("r", RoomSettings::default());
    join(&mut registry, "bob", Standing::Guest).unwrap();
    assert_eq!(names(registry.participants("r")), ["ada", "eve", "bob"]);
}

#[test]
fn waiting_participants_are_unseen_until_admitted() {
    let mut registry = with(RoomSettings {
        waiting_room: true,
        ..RoomSettings::default()
    });
    join(&mut registry, "bob", Standing::Guest).unwrap();
    join(&mut registry, "cy", Standing::Equal).unwrap();
    registry.show("r", "bob");
    assert_eq!(names(registry.participants("r")), ["ada"]);
    assert_eq!(names(registry.waiting("r")), ["bob", "cy"]);
    assert!(registry.find("r", "bob").is_err());
    let inside = registry.check_inside("r", "bob", Some(PROOF));
    assert!(matches!(inside, Err(HoldError::Waiting { .. })));
    assert!(!registry.is_moderator("r", "cy"), "not before");
    assert!(registry.admit("r", "bob") && !registry.admit("r", "bob"));
    assert_eq!(names(registry.participants("r")), ["ada", "bob"]);
    assert!(registry.check_inside("r", "bob", Some(PROOF)).is_ok());
    registry.set_settings("r", RoomSettings::default());
    assert_eq!(names(registry.participants("r")), ["ada", "bob", "cy"]);
    assert!(registry.waiting("r").is_empty());
}
