use super::*;
use weft_sfu::Camera;

fn id(name: &str) -> ResourceId {
    ResourceId(name.to_owned())
}

fn everything() -> Publishing {
    Publishing {
        cameras: vec![Camera::default(); 2],
        audio: true,
    }
}

fn publish(resources: &mut Resources, names: &[&str]) {
    for name in names {
        resources.open(id(name), "r", "ada", Role::PUBLISH);
        resources.set_negotiated(&id(name), everything());
    }
}

#[test]
fn the_later_of_two_takes_over_whichever_is_up_first() {
    let mut resources = Resources::default();
    // Opened in this order, which is not that of their names.
    publish(&mut resources, &["c", "a", "b"]);
    assert_eq!(resources.connect(&id("c")), []);
    assert_eq!(resources.connect(&id("b")), [id("a"), id("c")]);
    assert_eq!(resources.connect(&id("a")), [], "it is gone");
    assert_eq!(resources.count(), 1);

    publish(&mut resources, &["d", "e"]);
    assert_eq!(resources.connect(&id("d")), [id("b")]);
    assert_eq!(resources.shown("r", "ada"), everything());
    assert!(resources.find(&id("e")).is_some(), "still on its way");
}

#[test]
fn nobody_else_is_taken_over_from() {
    let mut resources = Resources::default();
    resources.open(id("other room"), "s", "ada", Role::PUBLISH);
    resources.open(id("other person"), "r", "bob", Role::PUBLISH);
    resources.open(id("player"), "r", "ada", Role::Play);
    publish(&mut resources, &["new"]);
    assert_eq!(resources.connect(&id("new")), []);
    assert_eq!(resources.connect(&id("player")), []);
    assert_eq!(resources.count(), 4);
}

#[test]
fn what_is_switched_off_or_not_up_does_not_show() {
    let mut resources = Resources::default();
    publish(&mut resources, &["a"]);
    assert_eq!(resources.shown("r", "ada"), Publishing::default());
    resources.connect(&id("a"));
    let of = |video, audio| Enabled { video, audio };
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
