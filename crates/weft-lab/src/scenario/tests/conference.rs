//! Groups of people in a conference.

use super::{forward, parse};
use crate::scenario::Variant;
use weft_experiment::{AllocatorKind, FlowKind, InterconnectSetup, Setup};
use weft_units::Rate;

const ROOM: &str = r#"
title = "A room"
duration = "30s"

[links.cable]
spec = "rate=20mbit,delay=10ms"
back = "rate=50mbit"

[links.modem]
spec = "rate=2mbit,delay=40ms"

[flows.office]
kind = "conference"
people = 3
via = ["cable"]

[flows.vehicle]
kind = "conference"
via = ["modem", "cable"]
sound = "32kbit"
arrangement = "speaker"

[flows.audience]
kind = "conference"
people = 2
publishes = false
via = ["modem"]
"#;

fn room(set: &[&str]) -> Result<Setup, String> {
    Ok(parse(ROOM, set)?.variants[0].setup.clone())
}

/// Returns the error of the file with one line replaced.
fn error(line: &str, with: &str) -> String {
    assert!(ROOM.contains(line), "{line}");
    let read = parse(&ROOM.replacen(line, with, 1), &[]);
    read.map(drop).expect_err(with)
}

#[test]
fn every_person_has_links_of_their_own() {
    let setup = room(&[]).expect("a room");
    let names: Vec<&str> = setup.links.iter().map(|link| link.name.as_str()).collect();
    let expected = [
        "cable",
        "modem",
        "cable-office-2",
        "cable-office-3",
        "cable-vehicle-1",
        "modem-audience-1",
        "modem-audience-2",
    ];
    assert_eq!(names, expected);
    assert_eq!(forward(&setup.links[0]), forward(&setup.links[2]));
    let mut taken = Vec::new();
    for (flow, count) in setup.flows.iter().zip([3, 2, 2]) {
        assert_eq!(flow.routes.len(), count);
        for hop in flow.routes.iter().flat_map(|route| &route.hops) {
            assert!(!taken.contains(&hop.link), "{}", flow.name);
            taken.push(hop.link);
            // From the server to the person: against the direction of the file.
            assert!(hop.from.0 > hop.to.0);
        }
    }
    let personal: Vec<bool> = (0..7).map(|link| setup.is_personal(link)).collect();
    assert_eq!(personal, [true, false, true, true, false, true, true]);
    let FlowKind::Conference(vehicle) = &setup.flows[1].kind else {
        panic!("{:?}", setup.flows[1]);
    };
    assert_eq!((vehicle.people, vehicle.routes_each), (1, 2));
    let camera = vehicle.camera.as_ref().expect("it publishes");
    assert_eq!(camera.max_rate(), Rate::from_kbps(3_150));
    assert_eq!(
        [0, 1, 2].map(|place| camera.size(place).0),
        [320, 640, 1280]
    );
    assert_eq!(setup.check(), Ok(()));
}

#[test]
fn the_results_are_about_the_conference() {
    let with_tcp = format!("{ROOM}\n[flows.tcp]\nkind = \"tcp\"\nvia = [\"cable\"]\n");
    let scenario = parse(&with_tcp, &[]).expect("a room with a download");
    assert_eq!(scenario.variants.len(), 1);
    assert_eq!(scenario.variants[0].focus, [0, 1, 2]);
    let more = parse(ROOM, &["flows.office.people=7"]).expect("a larger room");
    assert_eq!(more.variants[0].setup.flows[0].routes.len(), 7);
}

#[test]
fn errors_in_a_group_are_reported_with_the_remedy() {
    let wrong = [
        (
            "via = [\"cable\"]\n",
            "",
            "does not say which its people have: add via = [\"cable\"]",
        ),
        ("people = 3", "people = 0", "at least one person"),
        (
            "people = 3",
            "people = 3000",
            "a group has 1 to 2000 people",
        ),
        (
            "people = 3",
            "people = 3\ndirection = \"backward\"",
            "remove `direction`",
        ),
        ("people = 3", "peopel = 3", "people"),
        (
            "people = 3",
            "people = 3\nstreams = 2",
            "belongs to a flow of kind \"call\"",
        ),
        ("people = 3", "people = 3\nsystem = \"floor\"", "no floor"),
        (
            "people = 3",
            "people = 3\nencodings = [\"500kbit\", \"150kbit\"]",
            "sort them",
        ),
        (
            "people = 3",
            "people = 3\nencodings = []",
            "1 to 3 encodings",
        ),
        (
            "people = 3",
            "people = 3\nresolution = \"360p\"",
            "320x180 for the smallest",
        ),
        (
            "publishes = false",
            "publishes = false\nsound = \"32kbit\"",
            "remove `sound`",
        ),
        (
            "spec = \"rate=2mbit,delay=40ms\"",
            "medium = \"home\"\nrate = \"mcs4\"\n[links.other]\nmedium = \"home\"\nrate = \"mcs4\"\n\
             [media.home]\nkind = \"wifi\"",
            "belongs to one person",
        ),
    ];
    for (line, with, words) in wrong {
        let message = error(line, with);
        assert!(message.contains(words), "{with}: {message}");
        assert!(message.starts_with("t.toml:"), "{message}");
    }
}

const TWO_SERVERS: &str = r#"
title = "Two servers"
duration = "30s"

[links.cable]
spec = "rate=20mbit,delay=10ms"

[links.north]
spec = "rate=200mbit,delay=40ms"

[links.south]
spec = "rate=100mbit,delay=50ms"

[flows.office]
kind = "conference"
server = "east"
people = 2
via = ["cable"]

[flows.branch]
kind = "conference"
server = "west"
via = ["cable"]

[flows.between]
kind = "interconnect"
servers = ["east", "west"]
via = ["north", "south"]
"#;

#[test]
fn servers_are_joined_by_links_of_their_own() {
    let scenario = parse(TWO_SERVERS, &[]).expect("a room on two servers");
    let Variant { setup, focus, .. } = &scenario.variants[0];
    assert_eq!(focus, &[0, 1]);
    let between = &setup.flows[2];
    let servers = ["east", "west"].map(str::to_owned);
    let expected = FlowKind::Interconnect(InterconnectSetup { servers });
    assert_eq!(between.kind, expected);
    let hops = between.routes.iter().map(|route| &route.hops[..]);
    let links: Vec<(usize, bool)> = hops
        .map(|hops| (hops[0].link, hops[0].from < hops[0].to))
        .collect();
    // From the first server to the second in the direction of the file.
    assert_eq!(links, [(1, true), (2, true)]);
    let FlowKind::Conference(office) = &setup.flows[0].kind else {
        panic!("{:?}", setup.flows[0]);
    };
    assert_eq!(office.server, "east");
}

#[test]
fn errors_in_servers_are_reported_with_the_remedy() {
    let wrong = [
        ("servers = [\"east\", \"west\"]\n", "", "joins two servers"),
        ("[\"east\", \"west\"]", "[\"east\"]", "joins two servers"),
        (
            "[\"east\", \"west\"]",
            "[\"east\", \"east\"]",
            "two different ones",
        ),
        (
            "[\"east\", \"west\"]",
            "[\"east\", \"north\"]",
            "at server 'north'",
        ),
        ("server = \"west\"\n", "", "'west'"),
        ("via = [\"north\", \"south\"]", "", "add via = "),
        (
            "via = [\"north\"",
            "start = \"5s\"\nvia = [\"north\"",
            "remove `start`",
        ),
        (
            "people = 2",
            "servers = [\"a\", \"b\"]",
            "of kind \"interconnect\"",
        ),
    ];
    for (line, with, words) in wrong {
        assert!(TWO_SERVERS.contains(line), "{line}");
        let read = parse(&TWO_SERVERS.replacen(line, with, 1), &[]);
        let message = read.map(drop).expect_err(with);
        assert!(message.contains(words), "{with}: {message}");
        assert!(message.starts_with("t.toml:"), "{message}");
    }
}

#[test]
fn a_system_names_the_rules_of_the_server() {
    let systems = |systems: &str| {
        let text = ROOM.replacen("duration", &format!("systems = {systems}\nduration"), 1);
        parse(&text, &[])
    };
    let scenario = systems("[\"weft\", \"livekit-rules\", \"jitsi-rules\"]").expect("three");
    let of = |variant: &Variant| match &variant.setup.flows[0].kind {
        FlowKind::Conference(group) => (group.allocator, group.level),
        other => panic!("{other:?}"),
    };
    let named = scenario
        .variants
        .iter()
        .map(of)
        .map(|(allocator, _)| allocator);
    let expected = [
        None,
        Some(AllocatorKind::LivekitRules),
        Some(AllocatorKind::JitsiRules),
    ];
    assert_eq!(named.collect::<Vec<_>>(), expected);
    let own = "[system.browsers]\nscheduler = \"webrtc\"\nallocator = \"jitsi-rules\"\n";
    let own = parse(&format!("{ROOM}\n{own}"), &[]).expect("browsers");
    let (allocator, level) = of(&own.variants[0]);
    assert_eq!(allocator, Some(AllocatorKind::JitsiRules));
    assert_eq!(level.name(), "sender-side");
}

#[test]
fn conflicting_and_unknown_rules_are_refused() {
    let room = |more: &str| {
        let text = ROOM.replacen("people = 3", &format!("people = 3\n{more}"), 1);
        parse(&format!("systems = [\"livekit-rules\"]\n{text}"), &[])
    };
    let error = room("system = \"jitsi-rules\"")
        .map(drop)
        .expect_err("two of them");
    assert!(
        error.contains("has the allocators jitsi-rules and livekit-rules"),
        "{error}"
    );
    assert!(
        room("system = \"webrtc\"").is_ok(),
        "browsers at that server"
    );
    let wrong = "[system.x]\nallocator = \"zoom-rules\"\n";
    let error = parse(&format!("{ROOM}\n{wrong}"), &[])
        .map(drop)
        .expect_err("unknown");
    assert!(error.contains("livekit-rules"), "{error}");
    let call = "title = \"A call\"\nduration = \"5s\"\nsystems = [\"jitsi-rules\"]\n\
                [links.a]\nspec = \"rate=2mbit,delay=9ms\"\n[flows.call]\nkind = \"call\"\n";
    let error = parse(call, &[])
        .map(drop)
        .expect_err("a call has no server");
    assert!(error.contains("rules of a conference's server"), "{error}");
}
