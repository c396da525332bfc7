//! ECN field, from controllers to links and back through feedback.

use weft_cc::ControllerKind;
use weft_session::EcnState;
use weft_units::Duration;
use weft_wire::rtp::ExtensionMap;

use super::seconds;
use super::world::{Meddling, World, link};

const PATHS: ExtensionMap = ExtensionMap {
    path: Some(5),
    transport_sequence: None,
    mid: None,
    audio_level: None,
    rid: None,
    repaired_rid: None,
    dependency: None,
};

const L4S: &str = "rate=2mbit,delay=20ms,queue=200ms,aqm=dualpi2";
const CODEL: &str = "rate=2mbit,delay=20ms,queue=200ms,aqm=codel,ecn=on";

#[test]
fn marks_reach_the_controllers_that_take_notice_of_them() {
    use ControllerKind::{Gcc, Nada, Scream, ScreamV1};
    for (spec, controller) in [(L4S, Scream), (CODEL, ScreamV1), (CODEL, Nada), (L4S, Gcc)] {
        let mut world = World::with_controller(1, &[link(spec)], controller, PATHS);
        world.run(seconds(20));
        let path = world.path_stats(0);
        if controller == Gcc {
            assert_eq!((path.ecn, world.marked_on(0)), (EcnState::Off, 0));
            continue;
        }
        assert_eq!(path.ecn, EcnState::On, "{controller}");
        let (marked, told) = (world.marked_on(0), path.marked_packets);
        assert!(marked >= 5, "{controller}: {marked} marked");
        // The last reports are still in flight.
        assert!((told..told + 20).contains(&marked), "{told} of {marked}");
        assert_eq!(path.lost_packets, 0, "{controller}");
        let shown = world.frames_between(seconds(2), seconds(20));
        assert!(shown >= 530, "{controller}: {shown} frames in 18 s");
    }
}

#[test]
fn a_path_that_bleaches_is_used_without_ecn() {
    for since in [0, 4] {
        let links = [link(L4S)];
        let mut world = World::with_controller(2, &links, ControllerKind::Scream, PATHS);
        world.run(seconds(since));
        world.meddling = Meddling::Bleaches;
        world.run(seconds(10 - since));
        assert_eq!(world.path_stats(0).ecn, EcnState::Refused);
        assert!(world.frames_between(seconds(2), seconds(10)) >= 230);
    }
}

#[test]
fn a_path_that_drops_ecn_costs_a_test_and_no_more() {
    for (since, seed) in [(0, 3), (5, 4)] {
        let links = [link("rate=2mbit,delay=20ms"), link("rate=2mbit,delay=30ms")];
        let mut world = World::with_controller(seed, &links, ControllerKind::Scream, PATHS);
        world.run(seconds(since));
        world.meddling = Meddling::Drops;
        world.run(seconds(20 - since));
        for path in [world.path_stats(0), world.path_stats(1)] {
            assert_eq!(path.ecn, EcnState::Tested, "from {since} s");
            assert!(path.acknowledged_packets > 100, "from {since} s");
        }
        let gap = world.longest_gap(seconds(since + 1), seconds(20));
        assert!(gap < Duration::from_millis(1500), "from {since} s: {gap:?}");
        let shown = world.frames_between(seconds(since + 2), seconds(20));
        let least = (18 - since as usize) * 29;
        assert!(shown >= least, "from {since} s: {shown} frames");
    }
}

#[test]
fn a_peer_that_does_not_tell_of_marks_gets_no_ecn() {
    let numbers = ExtensionMap {
        path: None,
        transport_sequence: Some(3),
        ..PATHS
    };
    let links = [link(L4S)];
    let mut world = World::with_controller(5, &links, ControllerKind::Scream, numbers);
    world.run(seconds(10));
    assert_eq!(world.path_stats(0).ecn, EcnState::Off);
    assert_eq!(world.marked_on(0), 0);
}
