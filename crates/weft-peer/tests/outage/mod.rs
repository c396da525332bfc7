//! Outages of all links at once: no other path can take over, so the call must wait and
//! then resume as before.

use weft_session::Level;
use weft_units::{Duration, Instant, Rate};

use crate::common::TestCall;
use crate::world::{Setup, World};

/// Recovery of a call after all its links were cut and one was restored.
#[derive(Debug)]
struct Recovery {
    /// Time from the restoration to the first displayed frame that was captured after it.
    fresh: Duration,
    /// Time from the restoration to the start of the first second with 24 frames.
    fluent: Duration,
    /// Time from the restoration until the encoder may permanently send three quarters of
    /// its previous rate: the controller probes for the capacity.
    rate: Duration,
}

/// Runs a call, cuts all links for `outage`, and restores link 0.
fn recovery(setup: &Setup, outage: Duration) -> Recovery {
    const STEP: Duration = Duration::from_millis(20);
    let mut world = World::new(setup);
    world.run(Duration::from_secs(10));
    let target = |world: &World| world.sender().session().target_rate();
    let before = target(&world);
    assert_eq!(before, Rate::from_kbps(2500), "the rate before the outage");
    for link in 0..setup.links.len() {
        world.cut(link);
    }
    world.run(outage);
    let back = world.now();
    world.restore(0);
    let mut reached = None;
    for step in 1..=500 {
        world.run(STEP);
        if target(&world) >= before.mul_f64(0.75) {
            reached.get_or_insert(STEP * step);
        } else {
            reached = None;
        }
    }
    let record = world.record();
    let mut shown = record.shown.iter();
    let fresh = shown.find(|s| s.captured >= back).expect("a fresh frame");
    let fluent = |from: &Instant| record.shown_between(*from, *from + Duration::from_secs(1)) >= 24;
    let starts = (0..400).map(|n| back + STEP * n);
    Recovery {
        fresh: fresh.at - back,
        fluent: starts
            .into_iter()
            .find(fluent)
            .expect("24 frames in a second")
            - back,
        rate: reached.expect("the rate is back within ten seconds"),
    }
}

fn bound(recovery: &Recovery, what: &str, [fresh, fluent, rate]: [u64; 3]) {
    println!("{what}: {recovery:?}");
    let ms = Duration::from_millis;
    assert!(recovery.fresh <= ms(fresh), "{what}: {recovery:?}");
    assert!(recovery.fluent <= ms(fluent), "{what}: {recovery:?}");
    assert!(recovery.rate <= ms(rate), "{what}: {recovery:?}");
}

const ONE: [&str; 1] = ["rate=5mbit,delay=25ms"];
const TWO: [&str; 2] = ["rate=5mbit,delay=25ms", "rate=4mbit,delay=35ms"];

#[test]
fn a_call_over_one_link_resumes_within_a_second_of_its_return() {
    // A check every 100 ms, its round trip of 50 ms, up to 33 ms until the next picture,
    // 25 ms for that picture and 30 ms to transmit three frames' worth: 240 ms, and as
    // much again for the content of the link's queue.
    for seconds in [12, 40] {
        for seed in 300..304 {
            let recovery = recovery(&Setup::new(seed, &ONE), Duration::from_secs(seconds));
            bound(
                &recovery,
                &format!("{seconds} s, seed {seed}"),
                [500, 500, 1000],
            );
        }
    }
}

#[test]
fn a_short_outage_is_not_congestion() {
    // Packets younger than a second are sent again: up to a second of 2.5 Mbps over 5
    // Mbps, while as much is added. That takes a second until the newest is sent.
    for ms in [300, 600, 1000, 1500, 3000] {
        for seed in 310..313 {
            let recovery = recovery(&Setup::new(seed, &ONE), Duration::from_millis(ms));
            bound(
                &recovery,
                &format!("{ms} ms, seed {seed}"),
                [1100, 1100, 1000],
            );
        }
    }
}

#[test]
fn all_links_of_a_call_are_cut_and_one_returns() {
    for seconds in [12, 31] {
        for seed in 320..324 {
            let recovery = recovery(&Setup::new(seed, &TWO), Duration::from_secs(seconds));
            bound(
                &recovery,
                &format!("{seconds} s, seed {seed}"),
                [500, 500, 1000],
            );
        }
    }
}

#[test]
fn an_outage_of_two_minutes_ends_nothing() {
    // Consent has long expired: a dead pair is checked every 400 ms, then it is the same
    // as after a shorter outage.
    for seed in 324..326 {
        let recovery = recovery(&Setup::new(seed, &TWO), Duration::from_secs(120));
        bound(
            &recovery,
            &format!("120 s, seed {seed}"),
            [1000, 1000, 1500],
        );
    }
}

#[test]
fn a_peer_that_knows_no_paths_waits_as_well() {
    let setup = Setup {
        edit_offer: |sdp| sdp.replace("urn:weft:rtp-hdrext:path", "urn:unknown"),
        ..Setup::new(330, &ONE)
    };
    assert_eq!(
        World::new(&setup).sender().session().level(),
        Level::SenderSide
    );
    let recovery = recovery(&setup, Duration::from_secs(12));
    bound(&recovery, "sender-side", [500, 500, 1000]);
}
