//! Media over TCP connections to the HTTP port.

use crate::SECOND;
use crate::endpoint::Source;
use crate::relay::Relay;
use crate::room::{Room, wait_for};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use weft_testing::where_the_machine_keeps_up;

#[test]
fn media_flows_over_the_http_port_in_both_directions() {
    where_the_machine_keeps_up(|| {
        let room = Room::with_threads(2);
        let up = Relay::over_tcp(room.http());
        let publisher = room.publish_through(&up, Source::new(0));
        let down = Relay::over_tcp(room.http());
        let player = room.play_offered("ada", &["127.0.0.1"], Some(&down));
        player.wait_for_frames(2 * SECOND);
        room.assert_whole(&player.seen().frames());
        assert_eq!(player.seen().spoiled, 0, "frames whose bytes changed");
        assert_eq!(room.metric("weft_tcp_connections"), 2);
        assert_eq!(room.metric("weft_tcp_datagrams_dropped_total"), 0);
        drop((publisher, up));
        wait_for("the end of its connection", || {
            room.metric("weft_tcp_connections") == 1
        });
    });
}

#[test]
fn answers_offer_tcp_with_a_lower_priority() {
    let room = Room::open();
    let endpoint = crate::Endpoint::start(&["127.0.0.1"], Source::new(0));
    let answer = room.request("POST /whip/r?name=ada", &endpoint.offer_to_send());
    let priority = |transport: &str, rest: &str| -> u32 {
        let mut lines = answer.body.lines();
        let found = lines.find(|line| line.contains(transport) && line.contains(rest));
        let line = found.unwrap_or_else(|| panic!("no {transport} {rest} in {}", answer.body));
        line.split(' ').nth(3).unwrap().parse().unwrap()
    };
    let passive = format!("127.0.0.1 {} typ host tcptype passive", room.port());
    assert!(priority(" tcp ", &passive) < priority(" udp ", "typ host"));
}

/// Binding request with this user name, after its length.
fn check(name: &[u8; 8]) -> Vec<u8> {
    let mut check = vec![0, 1, 0, 12, 0x21, 0x12, 0xa4, 0x42];
    check.extend([7; 12]);
    check.extend([0, 6, 0, 8]);
    check.extend(name);
    [&(check.len() as u16).to_be_bytes()[..], &check].concat()
}

/// Connects, sends this, and returns how long the server keeps the connection open.
fn kept(room: &Room, octets: &[u8]) -> Duration {
    let mut stream = TcpStream::connect(room.http()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let began = Instant::now();
    stream.write_all(octets).unwrap();
    // A reset ends it, too.
    let _ = stream.read(&mut [0; 512]);
    began.elapsed()
}

#[test]
fn silent_clients_are_cut_off_after_seconds_and_garbage_at_once() {
    let room = Room::open();
    let strangers = kept(&room, &check(b"nobody:x"));
    assert!((4..9).contains(&strangers.as_secs()), "{strangers:?}");
    let too_long = [&check(b"nobody:x")[..], &[0xff; 2]].concat();
    assert!(kept(&room, &too_long).as_secs() < 3);
    // No check: the name is missing.
    let mut nameless = check(b"nobody:x");
    nameless[23] = 7;
    assert!(kept(&room, &nameless).as_secs() < 3);
    assert_eq!(room.metric("weft_tcp_connections"), 0);
}

/// Opens a connection, sends a check of an unknown name, and repeats `octets` for as long as
/// the server keeps it open, up to 20 s. Returns this time.
fn kept_while_sending(room: &Room, octets: &[u8], pause: Duration) -> Duration {
    let mut stream = TcpStream::connect(room.http()).unwrap();
    let patience = Some(Duration::from_secs(1));
    stream.set_write_timeout(patience).unwrap();
    let began = Instant::now();
    stream.write_all(&check(b"nobody:x")).unwrap();
    while stream.write_all(octets).is_ok() && began.elapsed().as_secs() < 20 {
        std::thread::sleep(pause);
    }
    began.elapsed()
}

#[test]
fn a_frame_or_a_stream_without_an_end_lasts_no_longer_than_a_silent_one() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let inside = Relay::over_tcp(room.http());
        let _publisher = room.publish_through(&inside, Source::new(0));
        let player = room.play("ada", &["127.0.0.1"]);
        player.wait_for_frames(SECOND);
        let frames = [&[8, 0][..], &[0x55; 2048]].concat();
        let pause = Duration::from_millis(50);
        let (one_frame, many) = std::thread::scope(|scope| {
            // The length of a frame of 2,048 octets, repeated in place of its content.
            let one_frame = scope.spawn(|| kept_while_sending(&room, &[8, 0], pause));
            let many = scope.spawn(|| kept_while_sending(&room, &frames, Duration::ZERO));
            (one_frame.join().unwrap(), many.join().unwrap())
        });
        for lasted in [one_frame, many] {
            assert!((4..9).contains(&lasted.as_secs()), "{lasted:?}");
        }
        player.wait_for_frames(SECOND);
        room.assert_whole(&player.seen().frames());
        assert_eq!(room.metric("weft_tcp_connections"), 1, "the publisher's");
        assert_eq!(room.metric("weft_tcp_datagrams_dropped_total"), 0);
    });
}

#[test]
fn thousands_of_idle_connections_stop_neither_newcomers_nor_those_inside() {
    /// Number of each kind; together three quarters of the server's HTTP connections.
    const EACH: u64 = 1000;
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let inside = Relay::over_tcp(room.http());
        let publisher = room.publish_through(&inside, Source::new(0));
        let player = room.play("ada", &["127.0.0.1"]);
        player.wait_for_frames(SECOND);
        let check = check(b"nobody:x");
        let idle: Vec<TcpStream> = (0..3 * EACH)
            .map(|number| {
                let mut stream = TcpStream::connect(room.http()).unwrap();
                let part = [0, check.len() / 2, check.len()][number as usize % 3];
                stream.write_all(&check[..part]).unwrap();
                stream
            })
            .collect();
        wait_for("the strangers that sent a whole check", || {
            room.metric("weft_tcp_connections") > EACH / 2
        });
        let began = Instant::now();
        let way = Relay::over_tcp(room.http());
        let newcomer = room.play_offered("ada", &["127.0.0.1"], Some(&way));
        newcomer.wait_for_frames(SECOND);
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
        wait_for("the end of the strangers", || {
            room.metric("weft_tcp_connections") == 2
        });
        for (who, seen) in [("player", player.seen()), ("newcomer", newcomer.seen())] {
            room.assert_whole(&seen.frames());
            assert_eq!(seen.spoiled, 0, "{who}: frames whose bytes changed");
        }
        drop((publisher, idle));
    });
}
