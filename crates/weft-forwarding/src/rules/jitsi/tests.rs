use super::*;
use crate::rules::samples::{at, camera, estimate};

/// Returns encoding and temporal layer of each stream.
fn layers(chosen: &BTreeMap<StreamId, Choice>) -> Vec<Option<(u64, u8)>> {
    let layer = |choice: &Choice| match choice {
        Choice::Paused => None,
        Choice::Forwarded { layer, .. } => Some((layer.track.0 % 10, layer.temporal)),
    };
    chosen.values().map(layer).collect()
}

#[test]
fn tiles_of_a_grid_step_up_in_turns() {
    let cameras: Vec<Camera> = (1..=3).map(|n| camera(n, n as usize, (256, 144))).collect();
    let choose = |kbps| layers(Jitsi::default().choose(at(0), estimate(kbps), &cameras));
    // Three lowest layers, and then the next layer of one camera for each 25 kbit/s.
    assert_eq!(choose(226), [Some((0, 0)); 3]);
    assert_eq!(choose(277), [Some((0, 1)), Some((0, 1)), Some((0, 0))]);
    // The room must exceed the rate.
    assert_eq!(choose(150), [Some((0, 1)), None, None]);
    assert_eq!(choose(75), [None; 3]);
    // A tile of 144 lines has the smallest encoding at most.
    assert_eq!(choose(50_000), [Some((0, 2)); 3]);
}

#[test]
fn the_stage_has_360_lines_before_the_others_have_anything() {
    let stage = camera(1, 0, (1_280, 720));
    let cameras = [stage, camera(2, 1, (96, 54)), camera(3, 2, (96, 54))];
    let choose = |kbps| layers(Jitsi::default().choose(at(0), estimate(kbps), &cameras));
    assert_eq!(choose(450), [Some((0, 2)), None, None]);
    // 360 lines have the full frame rate only: 500 kbit/s and no less.
    assert_eq!(choose(500), [Some((1, 2)), None, None]);
    assert_eq!(choose(700), [Some((1, 2)), Some((0, 1)), Some((0, 0))]);
    assert_eq!(choose(2_801), [Some((2, 2)), Some((0, 2)), Some((0, 2))]);
}

#[test]
fn small_changes_of_the_estimate_have_to_wait() {
    let cameras = [camera(1, 0, (256, 144)), camera(2, 1, (256, 144))];
    let mut rules = Jitsi::default();
    let mut choose = |ms, kbps| layers(rules.choose(at(ms), estimate(kbps), &cameras));
    assert_eq!(choose(0, 220), [Some((0, 1)), Some((0, 1))]);
    assert_eq!(choose(100, 190), [Some((0, 1)), Some((0, 1))]);
    assert_eq!(choose(200, 180), [Some((0, 1)), Some((0, 0))]);
    assert_eq!(choose(300, 206), [Some((0, 1)), Some((0, 0))], "14 % more");
    assert_eq!(choose(400, 208), [Some((0, 1)), Some((0, 1))], "16 % more");
}

#[test]
fn the_last_speakers_come_first() {
    let mut rules = Jitsi::default();
    let shown = (256, 144);
    let mut choose = |ranks: [usize; 3]| {
        let mut cameras: Vec<Camera> = (1..=3)
            .zip(ranks)
            .map(|(n, r)| camera(n, r, shown))
            .collect();
        cameras.sort_by_key(|camera| camera.rank);
        layers(rules.choose(at(0), estimate(151), &cameras))
    };
    let (has, none) = (Some((0, 0)), None);
    assert_eq!(choose([0, 1, 2]), [has, has, none]);
    // The third speaks, then the second: the first spoke longest ago.
    assert_eq!(choose([1, 2, 0]), [has, none, has]);
    assert_eq!(choose([1, 0, 2]), [none, has, has]);
}
