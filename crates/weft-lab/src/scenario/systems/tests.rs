use weft_experiment::{FloorSetup, FlowKind, MicrophoneSetup};
use weft_units::{Duration, Rate};

use crate::scenario::Scenario;

fn read(systems: &str, call: &str) -> Result<Scenario, String> {
    let text = format!(
        "title = \"t\"\nduration = \"10s\"\nsystems = [{systems}]\nlinks.a = \"rate=5mbit\"\n\
         links.b = \"rate=5mbit\"\nflows.call = {{ kind = \"call\", {call} }}\n"
    );
    Scenario::parse("t.toml", &text, &[]).map_err(|error| error.to_string())
}

#[test]
fn the_floor_takes_a_rate_and_links_like_other_systems() {
    let systems = "\"floor\", \"floor/1.5mbit@b\"";
    let call = "frame-rate = 15, streams = 3, device-delay = \"90ms\", sound = \"32kbit\"";
    let scenario = read(systems, call).unwrap();
    let flow = |variant: usize| &scenario.variants[variant].setup.flows[0];
    let floor = |rate| {
        FlowKind::Floor(FloorSetup {
            frame_rate: 15.0,
            rate,
            sound: Some(MicrophoneSetup {
                rate: Rate::from_kbps(32),
                ..MicrophoneSetup::default()
            }),
            device_delay: Duration::from_millis(90),
        })
    };
    assert_eq!(flow(0).kind, floor(Rate::from_kbps(150)));
    assert_eq!(flow(0).routes.len(), 2);
    assert_eq!(flow(1).kind, floor(Rate::from_kbps(1500)));
    let hops: Vec<usize> = flow(1).routes.iter().map(|r| r.hops[0].link).collect();
    assert_eq!(hops, [1]);
    assert_eq!(scenario.variants[1].name, "floor/1.5mbit@b");
    assert_eq!(scenario.baseline, None, "none is told");
}

#[test]
fn mistakes_about_the_floor_are_reported() {
    let error = |systems, call| read(systems, call).unwrap_err();
    let text = error("\"floor/nada\"", "");
    assert!(text.contains("\"nada\" is not a rate"), "{text}");
    let text = error("\"floor/0mbit\"", "");
    assert!(text.contains("rate above zero"), "{text}");
    let text = error("\"flor\"", "");
    assert!(text.contains("floor"), "{text}");
    let text = error("\"floor@c\"", "");
    assert!(text.contains("`c`"), "{text}");
    // An error of the call is also an error of the floor.
    let text = error("\"floor\"", "resolution = \"7p\"");
    assert!(text.contains("is not a picture size"), "{text}");
}
