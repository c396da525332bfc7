//! Messages between calls in a room of a real server, over two links on loopback.

mod common;

use std::time::{Duration, Instant};

use weft_endpoint::{
    Call, CallConfig, ChannelConfig, ChannelError, Event, Message, Ordering, Persistence,
    SendError, StartError, Urgency,
};
use weft_server::ServerHandle;

use common::{server, server_at};

/// Limit for all waits, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

fn control() -> ChannelConfig {
    ChannelConfig {
        ordering: Ordering::Unordered,
        persistence: Persistence::Within(weft_units::Duration::from_secs(5)),
        ..ChannelConfig::named("control")
    }
}

fn config(server: &ServerHandle, name: &str) -> CallConfig {
    let mut config = CallConfig::new(&*server.url, "r");
    config.send.name = name.to_owned();
    let links = ["127.0.0.1", "127.0.0.2"];
    config.send.links = links.map(|link| link.parse().expect("a link")).to_vec();
    config.send.cameras = vec!["clip:160x96@5".parse().expect("a camera")];
    config.channels = vec![control()];
    config
}

/// Waits for an event of this kind.
fn wait<T>(call: &Call, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "it did not come");
        if let Ok(event) = call.next_event(Duration::from_secs(1))
            && let Some(found) = wanted(event)
        {
            return found;
        }
    }
}

fn opened(call: &Call) {
    wait(call, |event| {
        matches!(event, Event::ChannelOpened { label } if label == "control").then_some(())
    });
}

#[test]
fn messages_reach_the_other_calls_in_the_room() {
    let server = server();
    let [rover, operator] =
        ["Rover", "Operator"].map(|name| Call::start(config(&server, name)).expect("a call"));
    opened(&rover);
    opened(&operator);
    for (from, to) in [(&operator, &rover), (&rover, &operator)] {
        for number in 0..50_u8 {
            let message = Message::Binary(vec![number; 200]);
            from.send_message("control", message, Urgency::Urgent)
                .expect("the channel is open");
        }
        let mut missing: Vec<u8> = (0..50).collect();
        while !missing.is_empty() {
            let bytes = wait(to, |event| match event {
                Event::Message {
                    label,
                    message: Message::Binary(bytes),
                } => {
                    assert_eq!(label, "control");
                    Some(bytes)
                }
                _ => None,
            });
            assert_eq!(bytes.len(), 200);
            let place = missing.iter().position(|number| *number == bytes[0]);
            missing.remove(place.expect("each comes once"));
        }
    }
    let unknown = operator.send_message("other", Message::Text("x".into()), Urgency::Usual);
    assert_eq!(unknown, Err(ChannelError::NoSuchChannel("other".into())));
    let long = Message::Binary(vec![0; 70_000]);
    let refused = operator.send_message("control", long, Urgency::Usual);
    assert!(matches!(
        refused,
        Err(ChannelError::Send(SendError::TooLong { .. }))
    ));
}

#[test]
fn a_channel_is_open_again_after_the_server_has_come_back() {
    let first = server();
    let address = first.local_addr;
    let call = Call::start(config(&first, "Rover")).expect("a call");
    opened(&call);
    drop(first);
    let _second = server_at(address);
    opened(&call);
    call.send_message("control", Message::Text("here".into()), Urgency::Usual)
        .expect("the channel is open");
}

#[test]
fn channels_that_cannot_be_opened_are_refused_at_the_start() {
    let server = server();
    let mut silent = config(&server, "Rover");
    silent.send.cameras.clear();
    let refused = Call::start(silent).err();
    assert!(matches!(refused, Some(StartError::ChannelsWithoutSource)));
    let mut twice = config(&server, "Rover");
    twice.channels.push(control());
    assert!(matches!(
        Call::start(twice).err(),
        Some(StartError::Channels)
    ));
}
