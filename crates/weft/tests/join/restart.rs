//! Restart of a server: its participants return.

use std::time::{Duration, Instant};

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{Program, free_ports, heard, server_at, weft};

/// Promised time after the moment at which the server listens again, plus the interval of
/// the statistics.
const BACK: Duration = Duration::from_secs(3 + 1);

/// Two participants are in a room when `ends` stops the server; after `pause` a new server starts.
/// Returns the time until one of them hears the other, with a resolution of a second.
fn back_after(ends: impl Fn(&mut Program, &std::path::Path), pause: Duration) -> Duration {
    let ports = free_ports();
    let folder = tempfile::tempdir().expect("a folder");
    let (defect, none) = (folder.path().join("defect"), folder.path().join("none"));
    let url = format!("http://127.0.0.1:{}", ports.0);
    let about = ["join", &url, "--room", "r", "--link", "127.0.0.1"];
    let mut server = server_at(ports, &defect);
    let _ada = weft(&[&about[..], &["--mic", "tone", "--send-only"]].concat());
    let bob = weft(&[&about[..], &["--stats", "/dev/stdout"]].concat());
    bob.shows("sound", |figures| heard(figures) > 0);
    ends(&mut server, &defect);
    std::thread::sleep(pause);
    while bob.told.try_recv().is_ok() {}
    let before = heard(&bob.shows("more", |_| true));
    let _again = server_at(ports, &none);
    let began = Instant::now();
    bob.shows("sound again", |figures| heard(figures) > before);
    let took = began.elapsed();
    println!("back after {took:?}");
    took
}

#[test]
fn those_in_a_room_are_back_within_three_seconds_after_a_server_that_was_killed_is() {
    where_the_machine_keeps_up(|| {
        // A crash, without any notification.
        let took = back_after(|server, _| server.kill(), Duration::ZERO);
        assert!(took < BACK, "{took:?}");
    });
}

/// The media thread ends, and the process exits so that its supervisor notices. The pause
/// is longer than in the package's unit (`RestartSec`), so that the retry intervals have
/// grown.
#[test]
fn those_in_a_room_are_back_within_three_seconds_after_a_defect_ended_the_server() {
    where_the_machine_keeps_up(|| {
        let defect = |server: &mut Program, file: &std::path::Path| {
            std::fs::write(file, "").expect("a file");
            assert_eq!(server.status(), Some(1));
        };
        let took = back_after(defect, Duration::from_secs(7));
        assert!(took < BACK, "{took:?}");
    });
}
