//! Late packets on a bad path, which are sent again over a good one.

use weft_session::{Ablation, SchedulerKind};
use weft_units::{Duration, Rate};

use super::world::{World, link};

/// Returns a call of ten seconds over two links without loss. One loses most of its
/// capacity in the middle.
fn call(seed: u64) -> World {
    let links = [link("rate=3mbit,delay=15ms"), link("rate=4mbit,delay=20ms")];
    // With this part, media leaves a degraded path, so that no packet on it would be
    // late.
    let part = Ablation::DegradedPaths.into();
    let mut world = World::without_a_part(seed, &links, SchedulerKind::Weft, part);
    world.run(Duration::from_secs(5));
    world.set_capacity(0, Rate::from_kbps(150));
    world.run(Duration::from_secs(5));
    world
}

#[test]
fn late_packets_of_a_bad_path_are_sent_again_over_a_good_one() {
    let mut sent_again = 0;
    for seed in 0..10 {
        let world = call(seed);
        let (from, to) = (Duration::from_secs(2), Duration::from_secs(10));
        let gap = world.longest_gap(from, to);
        assert!(gap <= Duration::from_millis(100), "seed {seed}: {gap:?}");
        sent_again += world.sender_stats().retransmissions;
    }
    assert!((50..=1_000).contains(&sent_again), "{sent_again} packets");
}
