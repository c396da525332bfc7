use super::*;
use crate::rules::samples::{at, camera, estimate};

fn choose(rules: &mut LiveKit, ms: u64, kbps: u64, cameras: &[Camera]) -> Vec<(u64, u8)> {
    let layer = |choice: &Choice| match choice {
        Choice::Paused => panic!("nothing is paused by default"),
        Choice::Forwarded { layer, .. } => (layer.track.0 % 10, layer.temporal),
    };
    let chosen = rules.choose(at(ms), estimate(kbps), cameras);
    chosen.values().map(layer).collect()
}

#[test]
fn without_congestion_each_camera_fills_its_tile() {
    let mut rules = LiveKit::default();
    // 9/10 of 200 lines are 180.
    let cameras = [
        camera(1, 1, (355, 200)),
        camera(2, 2, (640, 360)),
        camera(3, 3, (960, 540)),
    ];
    assert_eq!(
        choose(&mut rules, 0, 4_000, &cameras),
        [(0, 2), (1, 2), (2, 2)]
    );
    // 95 % of 3150 kbit/s are in use.
    assert_eq!(
        choose(&mut rules, 0, 2_993, &cameras),
        [(0, 2), (1, 2), (2, 2)]
    );
    assert_eq!(
        choose(&mut rules, 0, 2_992, &cameras),
        [(0, 2), (1, 2), (2, 1)]
    );
}

#[test]
fn layers_are_allocated_in_turn_and_the_lowest_is_never_refused() {
    let cameras = [
        camera(1, 1, (640, 360)),
        camera(2, 2, (640, 360)),
        camera(3, 3, (256, 144)),
    ];
    let allocated = |kbps| choose(&mut LiveKit::default(), 0, kbps, &cameras);
    assert_eq!(
        allocated(200),
        [(0, 0), (0, 0), (0, 0)],
        "25 kbit/s too much"
    );
    assert_eq!(allocated(276), [(0, 1), (0, 1), (0, 0)]);
    // 150 each, then 250 for the first; 400 more are not there.
    assert_eq!(allocated(599), [(1, 0), (0, 2), (0, 2)]);
    assert_eq!(allocated(1_000), [(1, 2), (1, 1), (0, 2)]);
}

#[test]
fn the_camera_furthest_from_its_goal_rises_when_a_probe_is_due() {
    let cameras = [camera(1, 1, (640, 360)), camera(2, 2, (256, 144))];
    let mut rules = LiveKit::default();
    assert_eq!(choose(&mut rules, 0, 150, &cameras), [(0, 0), (0, 0)]);
    // The first probe may come at once: 100 kbit/s more are 50 for the first, 25 beyond.
    assert_eq!(choose(&mut rules, 250, 250, &cameras), [(0, 2), (0, 1)]);
    assert_eq!(
        choose(&mut rules, 500, 2_000, &cameras),
        [(0, 2), (0, 1)],
        "not yet"
    );
    // Congestion within the interval: the next probe comes after 4.5 s.
    assert_eq!(choose(&mut rules, 1_000, 150, &cameras), [(0, 0), (0, 0)]);
    assert_eq!(choose(&mut rules, 5_400, 2_000, &cameras), [(0, 0), (0, 0)]);
    assert_eq!(choose(&mut rules, 5_500, 2_000, &cameras), [(1, 2), (0, 2)]);
    assert!(!rules.is_deficient());
}

#[test]
fn a_newcomer_gets_the_free_rate() {
    let two = [camera(1, 1, (640, 360)), camera(2, 2, (640, 360))];
    let mut rules = LiveKit::default();
    assert_eq!(choose(&mut rules, 0, 850, &two), [(1, 2), (1, 1)]);
    let mut three = two.to_vec();
    three.push(camera(3, 3, (640, 360)));
    // Nothing is left: all are allocated, and the first two make room.
    let shared = [(1, 1), (1, 0), (1, 0)];
    assert_eq!(choose(&mut rules, 100, 850, &three), shared);
    assert_eq!(
        choose(&mut rules, 200, 850, &two),
        [(1, 1), (1, 0)],
        "until a probe"
    );
}
