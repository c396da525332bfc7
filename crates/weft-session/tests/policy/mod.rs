//! Policies of links in a call, with every scheduler.

use weft_session::{Metering, Policy, SchedulerKind, Standing};
use weft_units::Duration;

use crate::world::{World, link};

fn backup() -> Policy {
    let standing = Standing::Backup;
    Policy {
        standing,
        ..Policy::default()
    }
}

fn metered() -> Policy {
    let metering = Metering::Metered;
    Policy {
        metering,
        ..Policy::default()
    }
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn a_backup_carries_probes_only_until_the_other_link_dies() {
    for scheduler in SchedulerKind::ALL {
        let links = [link("rate=4mbit,delay=20ms"), link("rate=4mbit,delay=30ms")];
        let mut world = World::new(40, &links, scheduler);
        world.set_policy(1, backup());
        world.run(seconds(10));
        let idle = world.bytes_per_link()[1];
        // A duplicate of at most 1,200 bytes each 250 ms, feedback apart.
        assert!(idle <= 10 * 4 * 1300, "{scheduler}: {idle} bytes");
        world.cut(0);
        world.run(seconds(10));
        let used = world.bytes_per_link()[1] - idle;
        assert!(used > 1_000_000, "{scheduler}: {used} bytes");
        let shown = world.frames_between(seconds(11), seconds(20));
        // 270 are taken; some from before the cut are made good. A migration
        // goes on after 3.5 s.
        let expected = match scheduler {
            SchedulerKind::Migrate => 180..=205,
            _ => 255..=285,
        };
        assert!(expected.contains(&shown), "{scheduler}: {shown} frames");
    }
}

#[test]
fn a_metered_link_stays_unused_while_the_free_one_carries_everything() {
    for scheduler in SchedulerKind::ALL {
        let links = [link("rate=8mbit,delay=20ms"), link("rate=4mbit,delay=20ms")];
        let mut world = World::new(41, &links, scheduler);
        world.set_policy(1, metered());
        world.run(seconds(10));
        let settled = world.bytes_per_link()[1];
        world.run(seconds(10));
        let later = world.bytes_per_link()[1] - settled;
        // Reports may go there; a frame has five times as much.
        assert!(later < 2000, "{scheduler}: {later} bytes in ten seconds");
        let shown = world.frames_between(seconds(1), seconds(20));
        assert!(shown >= 560, "{scheduler}: {shown} frames");
    }
}

#[test]
fn a_metered_link_carries_about_what_the_free_one_cannot() {
    let links = [
        link("rate=1500kbit,delay=20ms"),
        link("rate=4mbit,delay=25ms"),
    ];
    let mut world = World::new(42, &links, SchedulerKind::Weft);
    world.set_policy(1, metered());
    world.run(seconds(30));
    let used = world.bytes_per_link();
    let share = used[1] as f64 / (used[0] + used[1]) as f64;
    // 1.0 of 2.5 Mbps are missing, and the free link's estimate is below its
    // rate at times.
    assert!((0.3..=0.7).contains(&share), "the metered link has {share}");
}
