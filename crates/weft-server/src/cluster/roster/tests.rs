use super::*;

fn own() -> Own {
    Own {
        node: "a".to_owned(),
        run: "run-a".to_owned(),
        keys: "k".to_owned(),
    }
}

fn beat(age: u64) -> Beat {
    Beat {
        protocol: PROTOCOL,
        version: "1.0".to_owned(),
        keys: "k".to_owned(),
        age,
        vacancy: None,
    }
}

fn envelope(node: &str, run: &str, sent: u64, content: Content) -> Envelope {
    Envelope {
        node: node.to_owned(),
        run: run.to_owned(),
        sent,
        content,
    }
}

fn event(number: u64) -> ClusterEvent {
    ClusterEvent::Left {
        room: "r".to_owned(),
        id: format!("p{number}"),
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

struct Try(Roster);

impl Try {
    fn new() -> Try {
        Try(Roster::new(own(), at(0)))
    }

    fn beat(&mut self, node: &str, run: &str, sent: u64) -> Vec<Step> {
        let message = envelope(node, run, sent, Content::Beat(beat(9)));
        self.0.handle(at(0), 5, message)
    }

    fn event(&mut self, sent: u64) -> Vec<Step> {
        let message = envelope("b", "run-b", sent, Content::Event(event(sent)));
        self.0.handle(at(0), 5, message)
    }

    /// Returns our own heartbeat to us.
    fn echo(&mut self, millis: u64) -> Vec<Step> {
        let message = envelope("a", "run-a", 0, Content::Beat(beat(5)));
        self.0.handle(at(millis), 5, message)
    }

    /// Server `b` is known with its first `sent` events.
    fn following(sent: u64) -> Try {
        let mut this = Try::new();
        this.beat("b", "run-b", sent);
        assert_eq!(this.0.finish("b", "run-b", Some(sent)), []);
        this
    }
}

fn ask() -> Step {
    Step::Ask {
        node: "b".to_owned(),
        run: "run-b".to_owned(),
    }
}

fn taken(number: u64) -> Step {
    Step::Take {
        node: "b".to_owned(),
        event: event(number),
    }
}

fn forgotten() -> Step {
    Step::Forget {
        node: "b".to_owned(),
    }
}

#[test]
fn a_new_server_is_asked_for_its_state_and_then_followed() {
    let mut this = Try::new();
    assert_eq!(this.event(3), [], "nobody knows its sender");
    let steps = this.beat("b", "run-b", 3);
    assert!(matches!(&steps[..], [Step::Found { .. }, found] if *found == ask()));
    assert_eq!(this.beat("b", "run-b", 3), [], "it was asked already");
    // The state includes event 4, and event 5 arrives before it.
    assert_eq!(this.event(4), []);
    assert_eq!(this.event(5), []);
    assert!(this.0.is_asked("b", "run-b"));
    let steps = this.0.finish("b", "run-b", Some(4));
    assert_eq!(steps, [taken(4), taken(5)], "the first one again");
    assert_eq!(this.event(6), [taken(6)]);
    assert_eq!(this.beat("b", "run-b", 6), []);
}

#[test]
fn a_missing_event_leads_to_the_whole_state() {
    let mut this = Try::following(3);
    assert_eq!(this.event(5), []);
    assert_eq!(this.event(6), [], "it is behind");
    assert_eq!(this.beat("b", "run-b", 6), [ask()]);
    assert_eq!(this.0.finish("b", "run-b", Some(6)), []);
    // The heartbeat of a quiet server reveals that its last event is missing.
    assert_eq!(this.beat("b", "run-b", 7), [ask()]);
    // After no answer, or one with a gap after it, the state is requested again.
    assert_eq!(this.0.finish("b", "run-b", None), []);
    assert_eq!(this.beat("b", "run-b", 7), [ask()]);
    this.event(9);
    assert_eq!(this.0.finish("b", "run-b", Some(7)), []);
    assert_eq!(this.beat("b", "run-b", 9), [ask()]);
}

#[test]
fn a_server_that_starts_again_is_forgotten_first() {
    let mut this = Try::following(3);
    let steps = this.beat("b", "run-c", 0);
    assert_eq!(steps[0], forgotten());
    assert!(matches!(&steps[1..], [Step::Found { .. }, Step::Ask { run, .. }] if run == "run-c"));
    assert_eq!(this.event(4), [], "of the process before");
    assert_eq!(this.0.finish("b", "run-b", Some(4)), []);
    let bye = envelope("b", "run-b", 4, Content::Bye);
    assert_eq!(this.0.handle(at(0), 5, bye), []);
    let bye = envelope("b", "run-c", 0, Content::Bye);
    assert_eq!(this.0.handle(at(0), 5, bye), [forgotten()]);
    assert_eq!(this.0.nodes().count(), 0);
}

#[test]
fn a_silent_server_is_dead_within_three_seconds() {
    let mut this = Try::following(0);
    for tick in 1..5 {
        assert_eq!(this.echo(tick * 500), []);
    }
    this.beat("b", "run-b", 0);
    for tick in 5..9 {
        assert_eq!(this.echo(tick * 500), []);
    }
    assert_eq!(this.echo(4500), [forgotten()]);
}

#[test]
fn nobody_dies_while_nats_is_away_or_comes_back() {
    let mut this = Try::following(0);
    this.echo(500);
    assert!(this.0.is_reachable(at(1900)));
    assert!(!this.0.is_reachable(at(2000)));
    // NATS returns after 30 s, and the other server 5 s later.
    for tick in 0..10 {
        assert_eq!(this.echo(30_500 + tick * 500), []);
    }
    assert!(this.0.is_reachable(at(35_400)));
    this.beat("b", "run-b", 0);
    assert_eq!(this.echo(35_500), []);
    // If it does not return, it then counts as dead.
    let steps = (0..20).map(|tick| this.echo(36_000 + tick * 500));
    assert_eq!(steps.flatten().collect::<Vec<_>>(), [forgotten()]);
}

#[test]
fn the_younger_of_two_servers_with_one_name_gives_way() {
    let mut this = Try::new();
    let other = |age| envelope("a", "run-z", 0, Content::Beat(beat(age)));
    assert_eq!(this.0.handle(at(0), 1000, other(999)), []);
    assert_eq!(this.0.handle(at(0), 1000, other(1001)), [Step::GiveWay]);
    // Of two with the same age, one gives way.
    assert_eq!(this.0.handle(at(0), 1000, other(1000)), [Step::GiveWay]);
    let first = envelope("a", "run-0", 0, Content::Beat(beat(1000)));
    assert_eq!(this.0.handle(at(0), 1000, first), []);
}

#[test]
fn servers_of_another_version_or_with_other_keys_are_refused_once() {
    let mut this = Try::following(0);
    let other = |beat| envelope("b", "run-x", 0, Content::Beat(beat));
    let of_version = Beat {
        protocol: PROTOCOL + 1,
        version: "9.0".to_owned(),
        ..beat(9)
    };
    let refused = Step::Refuse {
        node: "b".to_owned(),
        reason: Mismatch::Protocol {
            version: "9.0".to_owned(),
        },
    };
    let steps = this.0.handle(at(0), 5, other(of_version.clone()));
    assert_eq!(steps, [forgotten(), refused]);
    assert_eq!(this.0.handle(at(0), 5, other(of_version)), []);
    let keys = "other".to_owned();
    let of_keys = Beat { keys, ..beat(9) };
    assert_eq!(own().check(&of_keys), Err(Mismatch::Keys));
    assert_eq!(own().check(&beat(9)), Ok(()));
}

#[test]
fn a_flood_of_events_before_the_state_has_a_bound() {
    let mut this = Try::new();
    this.beat("b", "run-b", 0);
    let many = MOST_PENDING as u64 + 2;
    for number in 1..=many {
        this.event(number);
    }
    assert_eq!(this.0.finish("b", "run-b", Some(0)), [], "there is a gap");
    assert_eq!(this.beat("b", "run-b", many), [ask()]);
    for number in 0..2 * MOST_NODES {
        this.beat(&format!("n{number}"), "run", 0);
    }
    assert_eq!(this.0.nodes().count(), MOST_NODES);
}
