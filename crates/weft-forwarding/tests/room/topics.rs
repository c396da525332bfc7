//! Messages on data channels between people in a room, over two planes.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::{Publisher, ResourceId};
use weft_peer::data::{ChannelConfig, ChannelId, Message, Urgency};
use weft_units::Duration;

const GOOD: &str = "rate=20mbit,delay=10ms";

fn named(room: &str, name: &str) -> Publisher {
    Publisher {
        room: room.to_owned(),
        participant: name.to_owned(),
    }
}

/// Ada (0) and Bob (1) publish, each on one plane; 2 and 3 watch Ada, each on one plane;
/// Eve (4) publishes in another room. All have data channels.
fn room() -> Room {
    let mut room = Room::spread(1, &[GOOD; 5], 2, None);
    room.data = true;
    for (home, who) in [(0, ada()), (1, named("r", "bob"))] {
        room.home = home;
        room.publish(&who);
        room.run(seconds(1));
    }
    for home in [0, 1] {
        room.home = home;
        room.play(&ada());
    }
    room.home = 0;
    room.publish(&named("another", "eve"));
    room.run(seconds(1));
    room
}

fn open(room: &mut Room, client: usize, label: &str) -> ChannelId {
    let now = room.now;
    let peer = &mut room.clients[client].peer;
    peer.open_channel(now, ChannelConfig::named(label))
        .expect("the server takes data channels")
}

fn say(room: &mut Room, client: usize, channel: ChannelId, text: &str) {
    let now = room.now;
    let peer = &mut room.clients[client].peer;
    let message = Message::Text(text.to_owned());
    peer.send_message(now, channel, &message, Urgency::Usual)
        .expect("the channel is open");
    room.run(Duration::from_millis(200));
}

fn heard(room: &Room) -> Vec<Vec<&str>> {
    room.clients
        .iter()
        .map(|client| {
            let texts = client.messages.iter().map(|(_, message)| match message {
                Message::Text(text) => text.as_str(),
                Message::Binary(_) => panic!("nobody sends bytes"),
            });
            texts.collect()
        })
        .collect()
}

#[test]
fn a_message_reaches_everybody_in_the_room_who_has_its_label() {
    let mut room = room();
    let control: Vec<ChannelId> = (0..5).map(|c| open(&mut room, c, "control")).collect();
    let other = open(&mut room, 0, "other");
    room.run(seconds(1));
    say(&mut room, 1, control[1], "left");
    assert_eq!(
        heard(&room),
        [vec!["left"], vec![], vec!["left"], vec!["left"], vec![]]
    );
    say(&mut room, 0, other, "nobody has this label");
    say(&mut room, 4, control[4], "another room");
    // A client that only watches may not send.
    say(&mut room, 2, control[2], "a viewer");
    say(&mut room, 0, control[0], "right");
    let all = ["left", "right"];
    assert_eq!(heard(&room), [&all[..1], &all[1..], &all, &all, &[]]);
}

#[test]
fn a_flood_is_bounded_and_does_not_delay_the_pictures() {
    let mut room = room();
    let control: Vec<ChannelId> = (0..4).map(|c| open(&mut room, c, "control")).collect();
    room.run(seconds(1));
    let start = room.now;
    let message = Message::Binary(vec![9; 100]);
    for _ in 0..3000 {
        let now = room.now;
        let peer = &mut room.clients[1].peer;
        // The channel refuses messages beyond its buffer.
        let _ = peer.send_message(now, control[1], &message, Urgency::Usual);
        room.run(Duration::from_millis(1));
    }
    room.run(seconds(1));
    let span = (room.now - start).as_secs_f64();
    let most = ((span + 1.0) * 1_000_000.0 / 8.0 / 600.0) as usize + 1;
    for client in [0, 2, 3] {
        let came = room.clients[client].messages.len();
        assert!((500..=most).contains(&came), "{came} of at most {most}");
    }
    let stats = room.planes().map(|plane| plane.stats());
    let dropped: u64 = stats.map(|stats| stats.messages_dropped).sum();
    assert!(dropped > 1000, "{dropped}");
    let gap = room.clients[2].record.longest_gap(start, room.now);
    assert!(gap < Duration::from_millis(200), "{gap:?}");
}

#[test]
fn nothing_is_sent_to_departed_participants_or_closed_channels() {
    let mut room = room();
    let control: Vec<ChannelId> = (0..4).map(|c| open(&mut room, c, "control")).collect();
    room.run(seconds(1));
    let now = room.now;
    room.clients[2].peer.close_channel(now, control[2]);
    room.run(seconds(1));
    room.plane.close(now, &ResourceId("resource 0".to_owned()));
    room.run(Duration::from_millis(200));
    let before: u64 = room.planes().map(|p| p.stats().messages_dropped).sum();
    say(&mut room, 1, control[1], "still here");
    assert_eq!(heard(&room)[..3], [vec![], vec![], vec![] as Vec<&str>]);
    let after: u64 = room.planes().map(|p| p.stats().messages_dropped).sum();
    assert_eq!(after, before);
}
