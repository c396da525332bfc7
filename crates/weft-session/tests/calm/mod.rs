//! Link failures that once froze the picture for seconds.

use weft_session::{Ablation, Ablations, Preference, ProtectionKind, SchedulerKind};
use weft_units::{Duration, Rate};

use crate::world::{World, link};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

/// Two links, of which the quicker one carries the call.
fn two_links(ablations: Ablations) -> World {
    let mut world = two_links_of(4, ablations);
    world.run(seconds(10));
    world
}

/// Two links with this many Mbit/s each.
fn two_links_of(mbps: u32, ablations: Ablations) -> World {
    let links = [15, 40].map(|ms| link(&format!("rate={mbps}mbit,delay={ms}ms,queue=1s")));
    World::without_a_part(21, &links, SchedulerKind::Weft, ablations)
}

#[test]
fn a_link_that_loses_its_capacity_holds_up_the_picture_for_a_moment() {
    let stands = |ablation| {
        let mut world = two_links(ablation);
        world.set_capacity(0, Rate::from_kbps(150));
        world.run(seconds(10));
        world.longest_gap(seconds(10), seconds(20))
    };
    let (whole, without) = (
        stands(Ablations::NONE),
        stands(Ablation::DegradedPaths.into()),
    );
    assert!(whole <= Duration::from_millis(250), "{whole:?}");
    assert!(whole <= without, "{whole:?}, without {without:?}");
}

#[test]
fn packets_of_a_dead_link_do_not_fill_one_that_just_returned() {
    let stands = |ablation| {
        let mut world = two_links_of(8, ablation);
        world.set_max_rate(Rate::from_mbps(8));
        world.run(seconds(20));
        world.cut(1);
        world.run(seconds(3));
        // It answers again, with less capacity, when the other one dies.
        world.set_capacity(1, Rate::from_kbps(800));
        world.restore(1);
        world.run(Duration::from_millis(100));
        world.cut(0);
        world.run(seconds(7));
        world.longest_gap(seconds(23), seconds(30))
    };
    // 0.6 s, compared with 1.5 s if everything is sent again.
    let (whole, without) = (stands(Ablations::NONE), stands(Ablation::FreshStart.into()));
    assert!(whole <= Duration::from_millis(800), "{whole:?}");
    assert!(whole * 2 <= without, "{whole:?}, without {without:?}");
}

#[test]
fn sound_uses_a_degraded_link_while_the_other_one_may_die() {
    let mut world = two_links(Ablations::NONE);
    world.add_sound();
    // It has drained when the other one dies, but that is not known yet.
    world.set_capacity(0, Rate::from_mbps(1));
    world.run(Duration::from_millis(500));
    world.cut(1);
    world.run(seconds(3));
    // The silence starts after ten seconds; it would be 51 ms over the other link alone.
    let (missed, silence) = world.missed_sound(seconds(0), seconds(3));
    assert_eq!(missed, 0);
    assert!(silence <= Duration::from_millis(35), "{silence:?}");
}

#[test]
fn feedback_returns_by_a_path_that_is_down() {
    let mut world = two_links(Ablations::NONE);
    // Nothing comes back on the first link; the second one delivers nothing to the
    // receiver, and is found dead.
    world.cut_return(0);
    world.cut_forward(1);
    world.run(seconds(10));
    let shown = world.frames_between(seconds(12), seconds(20));
    assert!(shown >= 200, "{shown} frames in 8 s");
}

#[test]
fn the_budget_of_a_picture_is_what_comes_in_time() {
    let mut world = two_links(Ablations::NONE);
    // About 2.5 Mbit/s for 80 ms on each link.
    let usual = world.frame_budget().expect("a scheduler that keeps calm");
    assert!((20_000..80_000).contains(&usual.0), "{usual:?}");
    world.set_capacity(0, Rate::from_kbps(100));
    world.set_capacity(1, Rate::from_kbps(100));
    world.run(seconds(1));
    let narrow = world.frame_budget().expect("a scheduler that keeps calm");
    assert!(narrow.0 < usual.0 / 10, "{narrow:?} of {usual:?}");
    let none = two_links(Ablation::FrameBudget.into());
    assert_eq!(none.frame_budget(), None);
}

#[test]
fn little_is_sent_while_no_path_is_known_to_live() {
    let mut world = two_links(Ablations::NONE);
    world.cut(0);
    world.cut(1);
    world.run(Duration::from_millis(300));
    let budget = world.frame_budget().expect("a scheduler that keeps calm");
    assert!(budget.0 <= 1200, "{budget:?}");
}

/// Returns the repair packets per hundred packets after the link that was in danger has
/// recovered.
fn repair_after_a_danger(preference: Preference) -> f64 {
    let links = [15, 20].map(|ms| link(&format!("rate=6mbit,delay={ms}ms,queue=1s,loss=0.5%")));
    let mut world = World::new(21, &links, SchedulerKind::Weft);
    world.prefer(preference);
    world.set_max_rate(Rate::from_mbps(2));
    world.run(seconds(10));
    world.set_capacity(0, Rate::from_kbps(300));
    world.run(seconds(1));
    world.set_capacity(0, Rate::from_mbps(6));
    world.run(seconds(3));
    let before = world.sender_stats();
    world.run(seconds(5));
    let after = world.sender_stats();
    let repair = (after.repair_packets - before.repair_packets) as f64;
    100.0 * repair / (after.media_packets - before.media_packets) as f64
}

#[test]
fn single_packets_are_protected_while_a_path_is_suspected() {
    let once = repair_after_a_danger(Preference::Pixels);
    let twice = repair_after_a_danger(Preference::Balanced);
    assert!((5.0..20.0).contains(&once), "{once}");
    assert!(
        twice * 3.0 < once,
        "{twice} of pictures that go twice, {once}"
    );
}

/// Returns the repair packets per hundred packets over distant links that lose one packet
/// in a hundred.
fn repair_far_away(scheduler: SchedulerKind) -> f64 {
    let links = [100, 110].map(|ms| link(&format!("rate=6mbit,delay={ms}ms,loss=1%")));
    let mut world = World::new(21, &links, scheduler);
    world.prefer(Preference::Pixels);
    world.set_max_rate(Rate::from_mbps(2));
    world.run(seconds(30));
    let sent = world.sender_stats();
    100.0 * sent.repair_packets as f64 / sent.media_packets as f64
}

#[test]
fn packets_that_are_always_repaired_too_late_are_protected_most() {
    let weft = repair_far_away(SchedulerKind::Weft);
    assert!((20.0..45.0).contains(&weft), "{weft}");
    // Other schedulers do not handle lateness.
    let other = repair_far_away(SchedulerKind::MinRtt);
    assert!(other < 6.0, "{other}");
}

#[test]
fn the_rate_of_repair_is_returned_when_everything_is_copied() {
    let links = [15, 20].map(|ms| link(&format!("rate=4mbit,delay={ms}ms,queue=1s,loss=2%")));
    let mut world = World::new(21, &links, SchedulerKind::MinRtt);
    world.set_protection(ProtectionKind::WebrtcTable);
    world.set_max_rate(Rate::from_mbps(20));
    world.run(seconds(20));
    world.set_scheduler(SchedulerKind::Duplicate);
    world.run(seconds(10));
    let most = [0, 1].map(|link| world.path_stats(link).target_rate);
    let most = most.into_iter().max().expect("two of them");
    let target = world.target_rate();
    assert!(target >= most.mul_f64(0.99), "{target:?} of {most:?}");
}

#[test]
fn nothing_is_sent_to_a_path_without_consent() {
    let mut world = two_links(Ablations::NONE);
    world.cut(1);
    world.run(seconds(25));
    let before = world.sent_to_sender_on(1);
    assert!(before > 0, "reports, while consent lasts");
    world.run(seconds(10));
    assert_eq!(world.sent_to_sender_on(1), before);
}

/// Cuts both links; after a second without any answer, the association reports silence.
fn unanswered(cut: fn(&mut World, usize)) -> World {
    let mut world = two_links(Ablations::NONE);
    cut(&mut world, 0);
    cut(&mut world, 1);
    world.run(seconds(1));
    world.fall_silent();
    world
}

#[test]
fn pictures_and_sound_go_on_while_nothing_comes_back() {
    let mut world = two_links(Ablations::NONE);
    world.add_sound();
    world.cut_return(0);
    world.cut_return(1);
    world.run(seconds(1));
    world.fall_silent();
    world.run(seconds(4));
    // The links have no loss, because lost packets cannot be repaired now.
    let gap = world.longest_gap(seconds(12), seconds(15));
    assert!(gap <= Duration::from_millis(100), "{gap:?}");
    // The silence began after ten seconds.
    let (missed, silence) = world.missed_sound(seconds(0), seconds(5));
    assert!(
        missed <= 10 && silence <= Duration::from_millis(60),
        "{missed}, {silence:?}"
    );
    // After it has ended, the call continues as before.
    world.answer(0);
    world.run(seconds(3));
    let shown = world.frames_between(seconds(16), seconds(18));
    assert!(shown >= 58, "{shown} frames in 2 s");
}

#[test]
fn queues_of_links_that_return_stay_short() {
    let mut world = unanswered(World::cut_forward);
    let sent = |world: &World| {
        (0..2)
            .map(|link| world.path_stats(link).sent_bytes.0)
            .sum::<u64>()
    };
    let before = sent(&world);
    world.run(seconds(10));
    // 100 kbit/s for 5 s on both links, plus the initial burst and headers.
    let blind = sent(&world) - before;
    assert!((80_000..180_000).contains(&blind), "{blind} bytes");
    let before = sent(&world);
    world.run(seconds(5));
    assert_eq!(sent(&world), before);
}

#[test]
fn the_only_path_always_gets_a_packet() {
    let narrowed = |ablation| {
        let links = [link("rate=4mbit,delay=15ms,queue=1s")];
        let mut world = World::without_a_part(21, &links, SchedulerKind::Weft, ablation);
        world.run(seconds(10));
        world.set_capacity(0, Rate::from_kbps(100));
        world.run(Duration::from_millis(500));
        world.frame_budget().expect("a scheduler that keeps calm").0
    };
    assert!(narrowed(Ablations::NONE) >= 1200);
    assert_eq!(narrowed(Ablation::OnlyPath.into()), 0);
}
