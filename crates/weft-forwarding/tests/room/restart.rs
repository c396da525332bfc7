//! ICE restarts: a client has new credentials, and media continues.

use super::{Form, Room, ada, seconds};
use weft_forwarding::{IceCondition, IceUpdate, MediaError, ResourceId, Restarted};
use weft_ice::Credentials;
use weft_peer::{Entropy, Fragment};
use weft_units::{Codec, Rng};

fn credentials(seed: u64) -> Credentials {
    let mut entropy = [0; 32];
    Rng::new(seed).fill(&mut entropy);
    Credentials::from_entropy(&entropy)
}

fn text(of: &Credentials) -> String {
    format!(
        "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=ice-ufrag:{}\r\na=ice-pwd:{}\r\n",
        of.ufrag, of.pwd
    )
}

/// Sends an update of the client with this number.
fn update(
    room: &mut Room,
    client: usize,
    fragment: &str,
    condition: IceCondition,
) -> Result<Option<Restarted>, MediaError> {
    let resource = ResourceId(format!("resource {client}"));
    let entropy = Entropy::repeating(Rng::new(77 + client as u64));
    let update = IceUpdate {
        fragment: fragment.to_owned(),
        condition,
    };
    room.plane
        .update_ice(room.now, &resource, &update, &entropy)
}

/// Restarts ICE of the client on both sides.
fn restart(room: &mut Room, client: usize, seed: u64) -> Restarted {
    let ours = credentials(seed);
    let answered = update(room, client, &text(&ours), IceCondition::Any);
    let restarted = answered.expect("it is allowed").expect("it restarts");
    let theirs = Fragment::parse(&restarted.fragment).expect("it can be read");
    let now = room.now;
    let credentials = theirs.credentials.expect("the server's credentials");
    let peer = &mut room.clients[client].peer;
    peer.restart(now, ours, &credentials, &theirs.candidates);
    restarted
}

/// Number of a client's checks that were answered.
fn answered(room: &Room, client: usize) -> u64 {
    let association = room.clients[client].peer.association();
    association.counters().ice.checks_answered
}

#[test]
fn media_continues_after_a_restart_of_the_publisher_and_of_a_player() {
    let mut room = Room::new(1, &["rate=10mbit,delay=10ms"; 2]);
    room.publish_cameras(&ada(), &[Some(Form::ours(Codec::H264))]);
    room.run(seconds(1));
    room.play(&ada());
    room.run(seconds(2));
    for (client, seed) in [(0, 5), (1, 6), (0, 7)] {
        let before = room.clients[1].stills;
        let restarted = restart(&mut room, client, seed);
        let checks = answered(&room, client);
        // Longer than consent lasts without an answered check.
        room.run(seconds(40));
        let checks = answered(&room, client) - checks;
        assert!(
            checks > 5,
            "{checks} checks of the new session are answered"
        );
        let shown = room.clients[1].stills - before;
        assert!(shown > 40 * 24, "{shown} pictures in 40 s");
        let association = room.clients[client].peer.association();
        let remote = association.remote_credentials().expect("it is known");
        assert_eq!(remote.ufrag, restarted.ice_session);
    }
    assert!(
        room.events
            .iter()
            .all(|e| !format!("{e:?}").contains("Ended")),
        "{:?}",
        room.events
    );
}

#[test]
fn candidates_of_the_present_session_restart_nothing() {
    let mut room = Room::new(1, &["rate=10mbit,delay=10ms"; 2]);
    room.publish(&ada());
    room.run(seconds(1));
    let association = room.clients[0].peer.association();
    let own = text(association.credentials());
    let session = association
        .remote_credentials()
        .expect("it is known")
        .ufrag
        .clone();
    let named = |name: &str| IceCondition::Named(vec!["x".to_owned(), name.to_owned()]);
    let candidate = "a=candidate:1 1 udp 2113937151 192.0.2.9 54400 typ host\r\n";
    for fragment in [
        own.clone() + candidate,
        format!("m=video 9 X 0\r\n{candidate}"),
    ] {
        for condition in [IceCondition::Unsaid, IceCondition::Any, named(&session)] {
            let updated = update(&mut room, 0, &fragment, condition);
            assert_eq!(updated, Ok(None), "{fragment}");
        }
        let updated = update(&mut room, 0, &fragment, named("y"));
        assert_eq!(updated, Err(MediaError::OtherIceSession));
    }
    let other = text(&credentials(9));
    let updated = update(&mut room, 0, &other, IceCondition::Unsaid);
    assert_eq!(updated, Err(MediaError::RestartUnsaid));
    let half = own.split("a=ice-pwd").next().expect("it begins").to_owned();
    let updated = update(&mut room, 0, &half, IceCondition::Any);
    assert!(
        matches!(updated, Err(MediaError::BadDescription { .. })),
        "{updated:?}"
    );
    let first = restart(&mut room, 0, 5).ice_session;
    assert_ne!(first, session);
    let updated = update(&mut room, 0, &text(&credentials(5)), named(&session));
    assert_eq!(updated, Err(MediaError::OtherIceSession));
    let updated = update(&mut room, 0, &text(&credentials(5)), named(&first));
    assert_eq!(updated, Ok(None));
}
