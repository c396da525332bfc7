use super::*;
use crate::{Change, Join, ParticipantKind, Proof, RegistryLimits, Standing};
use weft_units::Instant;

fn server(id: &str) -> Registry {
    let mut registry = Registry::new(RegistryLimits::default());
    let joined = registry.join(Join {
        room: "r",
        name: id,
        kind: ParticipantKind::Browser,
        standing: Standing::Equal,
        id: None,
        proof: None,
        fresh: Proof([1; 32]),
        fresh_id: id,
    });
    assert!(joined.is_ok());
    registry
}

fn signs(registry: &mut Registry) -> Vec<bool> {
    let all = std::iter::from_fn(|| registry.poll_output());
    let settings = all.filter_map(|event| match event.change {
        Change::Settings(settings) => Some(settings.recorded),
        _ => None,
    });
    settings.collect()
}

#[test]
fn two_servers_that_begin_at_once_agree_on_one() {
    let (mut one, mut two) = (server("a"), server("b"));
    let of_one = one.set_recorder("r", "one", Some("one"));
    let of_two = two.set_recorder("r", "two", Some("two"));
    assert!(one.take_recorder("r", of_two));
    assert!(!two.take_recorder("r", of_one), "the other one is later");
    assert_eq!(one.recorder("r"), Some("two"));
    assert_eq!(two.recorder("r"), Some("two"));
    assert_eq!(signs(&mut one), [true], "the room sees no change");

    let ended = one.set_recorder("r", "one", None);
    assert!(two.take_recorder("r", ended));
    assert_eq!(two.recorder("r"), None);
    assert_eq!(signs(&mut two), [true, false]);
}

#[test]
fn a_version_after_which_none_is_later_is_refused() {
    let mut one = server("a");
    let last = Recorder {
        server: Some("two".to_owned()),
        version: (u64::MAX, "two".to_owned()),
    };
    assert!(!one.take_recorder("r", last));
    one.set_recorder("r", "one", Some("one"));
    assert_eq!(one.recorder("r"), Some("one"));
}

#[test]
fn the_state_of_a_room_includes_its_recorder_and_settings_do_not_change_it() {
    let (mut one, mut two) = (server("a"), server("b"));
    one.set_recorder("r", "one", Some("three"));
    let state = one.state_of(Instant::ZERO, "r");
    two.set_elsewhere(Instant::ZERO, "one", state.expect("a room"), "e");
    assert_eq!(two.recorder("r"), Some("three"));
    assert!(two.settings("r").recorded);
    // A lock by a moderator whose server does not know of the recording yet.
    let locked = RoomSettings {
        locked: true,
        ..RoomSettings::default()
    };
    two.take_settings("r", locked, (1, "two".to_owned()));
    assert!(two.settings("r").recorded && two.settings("r").locked);
    assert_eq!(two.set_recorder("none", "two", None), Recorder::default());
}
