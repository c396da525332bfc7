use super::net::*;
use super::*;

#[test]
fn valid_pairs_are_checked_at_most_two_and_a_half_seconds_apart() {
    let mut net = two_links(5, 30);
    let from = net.now;
    net.run_for(20_000);
    for client in [WIFI, LTE] {
        let is_check = |d: &[u8]| d[..2] == [0, 1];
        let checks = net.sent.iter().filter(|(at, side, local, _, d)| {
            *at >= from && *side == Side::A && *local == addr(client) && is_check(d)
        });
        let mut last = from;
        let mut count = 0;
        for (at, ..) in checks {
            assert!(at.saturating_since(last) <= Duration::from_millis(2500));
            last = *at;
            count += 1;
        }
        assert!((8..=12).contains(&count), "{count} checks in 20 s");
    }
}

#[test]
fn a_dead_path_is_found_within_200_ms_of_suspicion_of_any_path() {
    for (dead, accused) in [(WIFI, WIFI), (LTE, LTE), (WIFI, LTE), (LTE, WIFI)] {
        for delays in [(1, 1), (10, 25), (25, 50), (5, 60)] {
            let mut net = two_links(delays.0, delays.1);
            net.wire_mut(dead, SERVER).up = false;
            net.run_for(120);
            let at = net.now;
            let accused = net.path_to(Side::A, accused, SERVER);
            net.a.suspect(at, accused);
            net.run_for(400);
            let down = downs(&net.events_since(Side::A, at));
            let dead = net.path_to(Side::A, dead, SERVER);
            assert_eq!(down.len(), 1, "{down:?}");
            assert_eq!(down[0].1, dead);
            assert!((30..=200).contains(&down[0].0), "after {} ms", down[0].0);
        }
    }
}

#[test]
fn a_path_under_suspicion_that_answers_stays_up() {
    let mut net = two_links(10, 50);
    let at = net.now;
    for client in [WIFI, LTE] {
        let path = net.path_to(Side::A, client, SERVER);
        net.a.suspect(net.now, path);
        net.run_for(1000);
    }
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
}

#[test]
fn loss_is_not_death() {
    // Each check is answered with probability 0.81; a verdict needs three in
    // a row unanswered: 0.7 %, so about 3 of 400 (two paths, 20 suspicions,
    // 10 seeds).
    let mut false_alarms = 0;
    for seed in 0..10 {
        let mut net = two_links(10, 15);
        net.rng = Rng::new(seed);
        for client in [WIFI, LTE] {
            net.wire_mut(client, SERVER).loss = 0.1;
        }
        let at = net.now;
        for _ in 0..20 {
            let path = net.path_to(Side::A, WIFI, SERVER);
            net.a.suspect(net.now, path);
            net.run_for(1000);
        }
        false_alarms += downs(&net.events_since(Side::A, at)).len();
    }
    assert!(false_alarms <= 8, "{false_alarms} of 400");
}

#[test]
fn the_last_path_never_goes_down_by_suspicion_but_by_age() {
    let mut net = two_links(5, 30);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let at = net.now;
    let path = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(at, path);
    net.run_for(25_000);
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
    net.run_for(7_000);
    let down = net.events_since(Side::A, at);
    let expired = |e: &&(u64, Event)| {
        matches!(
            e.1,
            Event::PathDown {
                reason: DownReason::Expired,
                ..
            }
        )
    };
    assert_eq!(down.iter().filter(expired).count(), 2);
}

#[test]
fn after_an_outage_of_all_each_path_gets_its_chance() {
    let mut net = two_links(5, 60);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let path = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, path);
    net.run_for(3000);
    let at = net.now;
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = true;
    }
    net.run_for(1000);
    // The slow path answers 110 ms after the fast one, which is not a failure.
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
    let up = |client| {
        net.a
            .path(net.path_to(Side::A, client, SERVER))
            .map(|p| p.state)
    };
    assert_eq!([up(WIFI), up(LTE)], [Some(PathState::Up); 2]);
}

#[test]
fn a_second_of_silence_on_all_paths_and_the_return_are_reported() {
    let mut net = two_links(5, 60);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let paths = [WIFI, LTE].map(|client| net.path_to(Side::A, client, SERVER));
    let from = net.now;
    net.a.suspect(from, paths[0]);
    net.run_for(3000);
    let silent = |(at, event): (u64, Event)| match event {
        Event::PathSilent { path } => Some((at, path)),
        _ => None,
    };
    let events = net.events_since(Side::A, from).into_iter();
    let told: Vec<_> = events.filter_map(silent).collect();
    assert_eq!(told.iter().map(|(_, p)| *p).collect::<Vec<_>>(), paths);
    assert!(
        told.iter().all(|(at, _)| (1000..=1100).contains(at)),
        "{told:?}"
    );
    let at = net.now;
    net.wire_mut(LTE, SERVER).up = true;
    net.run_for(1000);
    let events = net.events_since(Side::A, at);
    let up = ups(&events);
    // A check every 100 ms, and its round trip of 120 ms.
    assert_eq!(up.iter().map(|(_, p)| *p).collect::<Vec<_>>(), [paths[1]]);
    assert!(up[0].0 <= 220, "{up:?}");
    let down = downs(&events);
    assert_eq!(
        down.iter().map(|(_, p)| *p).collect::<Vec<_>>(),
        [paths[0]],
        "now that another answers, the silent one is dead"
    );
}

#[test]
fn a_dead_path_comes_back() {
    let mut net = two_links(5, 30);
    net.wire_mut(WIFI, SERVER).up = false;
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, wifi);
    net.run_for(5_000);
    assert_eq!(net.a.path(wifi).map(|p| p.state), Some(PathState::Down));
    net.wire_mut(WIFI, SERVER).up = true;
    let at = net.now;
    net.run_for(1_000);
    let up = ups(&net.events_since(Side::A, at));
    assert_eq!(up.len(), 1);
    assert_eq!(up[0].1, wifi);
    assert!(up[0].0 <= 510, "after {} ms", up[0].0);
}

#[test]
fn a_path_that_is_dead_for_as_long_as_consent_lasts_loses_its_number() {
    let mut net = two_links(5, 30);
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, wifi);
    net.wire_mut(WIFI, SERVER).up = false;
    let at = net.now;
    net.run_for(29_000);
    assert_eq!(removals(&net.events_since(Side::A, at)), []);
    net.run_for(5_000);
    let removed = removals(&net.events_since(Side::A, at));
    assert_eq!(removed.iter().map(|(_, p)| *p).collect::<Vec<_>>(), [wifi]);
    assert_eq!(net.a.path(wifi), None);
    let at = net.now;
    net.wire_mut(WIFI, SERVER).up = true;
    net.run_for(1_000);
    let up = ups(&net.events_since(Side::A, at));
    assert_eq!(up.len(), 1, "it is asked all the same");
    assert_ne!(up[0].1, wifi, "a path as any new one");
}

/// Its address may belong to another host by then.
#[test]
fn a_path_that_is_dead_for_minutes_is_asked_rarely_and_comes_back_all_the_same() {
    let mut net = two_links(10, 25);
    net.wire_mut(WIFI, SERVER).up = false;
    let path = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, path);
    let asked = |net: &mut Net, minutes: u64| {
        let before = net.now;
        net.run_for(minutes * 60_000);
        let to_it = net.sent.iter().filter(|(at, side, local, _, d)| {
            *at >= before && *side == Side::A && *local == addr(WIFI) && d[..2] == [0, 1]
        });
        to_it.count()
    };
    let first = asked(&mut net, 1);
    assert!((100..200).contains(&first), "{first} in the first minute");
    asked(&mut net, 3);
    let later = asked(&mut net, 2);
    assert!((20..40).contains(&later), "{later} in two minutes");
    net.wire_mut(WIFI, SERVER).up = true;
    let at = net.now;
    net.run_for(6_000);
    assert_eq!(ups(&net.events_since(Side::A, at)).len(), 1);
}

#[test]
fn an_idle_path_is_found_dead_by_its_own_checks() {
    let mut net = two_links(5, 30);
    net.wire_mut(LTE, SERVER).up = false;
    let at = net.now;
    net.run_for(6_000);
    for side in [Side::A, Side::B] {
        let down = downs(&net.events_since(side, at));
        assert_eq!(down.len(), 1, "{side:?}");
        assert!(down[0].0 <= 3_000, "after {} ms", down[0].0);
    }
}
