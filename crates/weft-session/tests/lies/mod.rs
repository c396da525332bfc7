//! Receivers that send false reports.

use weft_session::SchedulerKind;
use weft_units::Duration;

use crate::world::lies::Lie;
use crate::world::{World, link};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

/// Runs ten seconds with true and twenty with false reports.
fn lied_to(mut world: World, lie: Lie, about: Option<u8>) -> (World, f64) {
    world.run(seconds(10));
    world.lie(lie, about);
    let before: u64 = world.bytes_sent().iter().sum();
    world.run(seconds(20));
    let sent = world.bytes_sent().iter().sum::<u64>() - before;
    (world, sent as f64 * 8.0 / 20.0 / 1e6)
}

fn fast_links() -> [weft_links::LinkSpec; 2] {
    [
        link("rate=40mbit,delay=15ms,queue=1s"),
        link("rate=40mbit,delay=40ms,queue=1s"),
    ]
}

#[test]
fn no_lie_makes_a_sender_send_more_than_the_call_may() {
    for lie in Lie::ALL {
        for (level, new) in [
            ("full", World::new as fn(_, &_, _) -> _),
            ("sender-side", World::with_transport_numbers),
        ] {
            let world = new(31, &fast_links()[..], SchedulerKind::Weft);
            let (_, mbps) = lied_to(world, lie, None);
            println!("{level}, {lie:?}: {mbps:.2} Mbit/s");
            // 2.5 Mbit/s of pictures, each sent twice, plus a little.
            assert!((0.5..6.0).contains(&mbps), "{level}, {lie:?}: {mbps}");
        }
    }
}

#[test]
fn a_lie_about_one_path_leaves_the_call_to_the_other() {
    for lie in Lie::ALL {
        for about in [0, 1] {
            let world = World::new(32, &fast_links(), SchedulerKind::Weft);
            let (world, mbps) = lied_to(world, lie, Some(about));
            let shown = world.frames_between(seconds(12), seconds(30));
            let gap = world.longest_gap(seconds(10), seconds(30));
            let rate = world.received_rate(seconds(20), seconds(30)).as_mbps();
            println!(
                "{lie:?} about {about}: {shown} frames, {gap:?}, {rate:.2} of {mbps:.2} Mbit/s"
            );
            assert!(
                (535..=541).contains(&shown),
                "{lie:?}: {shown} frames in 18 s"
            );
            assert!(
                gap <= Duration::from_millis(250),
                "{lie:?} about {about}: {gap:?}"
            );
            assert!((1.0..2.6).contains(&rate), "{lie:?} about {about}: {rate}");
        }
    }
}
