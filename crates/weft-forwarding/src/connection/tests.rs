use super::*;
use weft_peer::{PeerKey, RECONNECT_GRACE};

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn connection() -> Connection {
    Connection {
        participant: Publisher {
            room: "r".to_owned(),
            participant: "p".to_owned(),
        },
        state: State::Peer(PeerKey(0)),
        since: at(0),
        connected: true,
        pathless: None,
        role: Role::Play,
    }
}

#[test]
fn an_outage_of_two_minutes_loses_nobody_who_is_waited_for() {
    let mut connection = connection();
    assert!(!connection.is_lost(at(10), true, RECONNECT_GRACE));
    // Consent lasts for 30 s (RFC 7675 section 5.1); until then, the path counts.
    assert!(!connection.is_lost(at(40), false, RECONNECT_GRACE));
    assert!(!connection.is_lost(at(130), false, RECONNECT_GRACE));
    assert!(!connection.is_lost(at(131), true, RECONNECT_GRACE));
    // The next time without a path is counted from its own start.
    assert!(!connection.is_lost(at(300), false, RECONNECT_GRACE));
    assert!(!connection.is_lost(at(479), false, RECONNECT_GRACE));
    assert!(connection.is_lost(at(480), false, RECONNECT_GRACE));
}

#[test]
fn a_browser_is_not_waited_for() {
    let mut connection = connection();
    assert!(!connection.is_lost(at(10), true, Duration::ZERO));
    assert!(connection.is_lost(at(40), false, Duration::ZERO));
}
