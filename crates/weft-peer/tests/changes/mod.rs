//! A sender that moves from link to link.

use weft_peer::Peer;
use weft_units::Duration;

use crate::common::TestCall;
use crate::world::{Setup, World};

const LINK: &str = "rate=6mbit,delay=15ms";

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Runs a call that changed its link this many times, each time with an overlap.
fn after(changes: usize) -> World {
    let mut world = World::new(&Setup::new(1, &[LINK]));
    world.run(ms(2000));
    for change in 1..=changes {
        world.add_link(LINK);
        world.run(ms(300));
        world.remove_link(change - 1);
        world.cut(change - 1);
        world.run(ms(200));
    }
    // Until the receiver may no longer send to the last address.
    world.run(ms(35_000));
    world
}

fn known_paths(peer: &Peer) -> usize {
    peer.session().stats().paths.len()
}

/// Bytes in five seconds towards the receiver and back, on this link. The receiver
/// reports more often if there is a choice of paths.
fn traffic(world: &mut World, link: usize) -> [f64; 2] {
    let (up, down) = world.wires.delivered()[link];
    world.run(ms(5000));
    let (up_after, down_after) = world.wires.delivered()[link];
    [up_after - up, down_after - down].map(|bytes| bytes as f64)
}

#[test]
fn a_call_after_many_changes_of_link_is_as_one_that_had_none() {
    let usual = traffic(&mut after(0), 0);
    for changes in [1, 300] {
        let mut world = after(changes);
        for peer in [world.sender(), world.receiver()] {
            assert_eq!(known_paths(peer), 1, "after {changes} changes");
        }
        let from = world.now();
        let traffic = traffic(&mut world, changes);
        for (bytes, usual) in traffic.into_iter().zip(usual) {
            let ratio = bytes / usual;
            assert!(
                (0.85..=1.15).contains(&ratio),
                "{ratio} after {changes} changes"
            );
        }
        let shown = world.record().shown_between(from, world.now());
        assert!(
            shown >= 145,
            "{shown} frames in 5 s after {changes} changes"
        );
    }
}
