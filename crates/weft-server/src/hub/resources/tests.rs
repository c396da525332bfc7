use super::*;
use weft_rooms::Camera;

fn id(name: &str) -> ResourceId {
    ResourceId(name.to_owned())
}

fn everything() -> Publishing {
    Publishing {
        cameras: vec![Camera::default(); 2],
        audio: true,
    }
}

fn open(resources: &mut Resources, name: &str, room: &str, who: &str, role: Role) {
    resources.open(id(name), (room, who), role, Origin::default());
}

fn publish(resources: &mut Resources, names: &[&str]) {
    for name in names {
        open(resources, name, "r", "ada", Role::PUBLISH);
        resources.set_negotiated(&id(name), everything());
    }
}

#[test]
fn the_later_of_two_takes_over_in_either_order() {
    let mut resources = Resources::default();
    // Opened in this order, which is not alphabetical.
    publish(&mut resources, &["c", "a", "b"]);
    assert_eq!(resources.connect(&id("c")), []);
    assert_eq!(resources.connect(&id("b")), [id("a"), id("c")]);
    assert_eq!(resources.connect(&id("a")), [], "it is gone");
    assert_eq!(resources.all.len(), 1);

    publish(&mut resources, &["d", "e"]);
    assert_eq!(resources.connect(&id("d")), [id("b")]);
    assert_eq!(resources.shown("r", "ada"), everything());
    assert!(resources.find(&id("e")).is_some(), "still on its way");
}

#[test]
fn nobody_else_is_taken_over_from() {
    let mut resources = Resources::default();
    open(&mut resources, "other room", "s", "ada", Role::PUBLISH);
    open(&mut resources, "other person", "r", "bob", Role::PUBLISH);
    let publisher = "bob".to_owned();
    open(
        &mut resources,
        "player",
        "r",
        "ada",
        Role::Play { publisher },
    );
    publish(&mut resources, &["new"]);
    assert_eq!(resources.connect(&id("new")), []);
    assert_eq!(resources.connect(&id("player")), []);
    assert_eq!(resources.all.len(), 4);
}

#[test]
fn links_that_are_off_or_down_are_not_shown() {
    let mut resources = Resources::default();
    publish(&mut resources, &["a"]);
    assert_eq!(resources.shown("r", "ada"), Publishing::default());
    resources.connect(&id("a"));
    let of = |video, audio| Enabled {
        video,
        audio,
        screen: false,
    };
    assert!(resources.set_enabled(&id("a"), of(false, true)));
    let sound = Publishing {
        audio: true,
        ..Publishing::default()
    };
    assert_eq!(resources.shown("r", "ada"), sound);
    assert!(resources.set_enabled(&id("a"), of(true, true)));
    assert_eq!(resources.shown("r", "ada"), everything());
    assert!(!resources.set_enabled(&id("none"), of(true, true)));
}

#[test]
fn a_leaver_ends_its_own_players_and_its_viewers() {
    let mut resources = Resources::default();
    let play = |publisher: &str| Role::Play {
        publisher: publisher.to_owned(),
    };
    open(&mut resources, "own", "r", "ada", play("bob"));
    open(&mut resources, "of her", "r", "bob", play("ada"));
    open(&mut resources, "else", "r", "bob", play("eve"));
    open(&mut resources, "other room", "s", "ada", play("bob"));
    let gone = resources.take_all_of("r", "ada");
    let names: Vec<&str> = gone.iter().map(|(id, _)| &*id.0).collect();
    assert_eq!(names, ["of her", "own"]);
    assert_eq!(resources.all.len(), 2);
}
