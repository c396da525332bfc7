//! Tests of the examples against a server, on loopback with two addresses as
//! links.

#[allow(dead_code, reason = "its main function is not run here")]
#[path = "../examples/play.rs"]
mod play;
#[allow(dead_code, reason = "its main function is not run here")]
#[path = "../examples/publish.rs"]
mod publish;

use std::thread;
use std::time::Duration;

use weft_server::{Server, ServerConfig};
use weft_testing::where_the_machine_keeps_up;

/// Run time of the publisher. The player runs two seconds less.
const TIME: Duration = Duration::from_secs(8);

#[test]
fn pictures_go_from_the_publisher_to_the_player_over_both_links() {
    where_the_machine_keeps_up(|| {
        let server = Server::start(ServerConfig {
            listen: "127.0.0.1:0".parse().expect("an address"),
            ..ServerConfig::default()
        });
        let server = server.expect("a server");
        let links = ["a=127.0.0.1", "b=127.0.0.2"].map(str::to_owned);
        let publisher = thread::spawn({
            let (url, links) = (server.url.clone(), links.clone());
            move || publish::publish(&url, "ride", TIME, &links).map_err(|e| e.to_string())
        });
        let time = TIME - Duration::from_secs(2);
        let played = play::play(&server.url, "ride", "Van", time, &links);
        let pictures = played.expect("it plays");
        let published = publisher.join().expect("no panic").expect("it publishes");
        server.shutdown();

        let report = published.published().expect("a publication");
        for link in ["a", "b"] {
            let paths = report.stats.paths.iter();
            let own = paths.filter(|p| report.links.get(&p.path).is_some_and(|l| l == link));
            let sent: u64 = own.map(|p| p.sent_packets).sum();
            assert!(
                sent > 20,
                "link {link} carried {sent} packets of those published"
            );
            let came = pictures.get(link).copied().unwrap_or_default();
            assert!(
                came > 10,
                "link {link} brought {came} pictures: {pictures:?}"
            );
        }
        // The clip has 30 pictures a second; both links may deliver parts of
        // one.
        let all: u64 = pictures.values().sum();
        assert!(all <= 2 * 30 * TIME.as_secs(), "{pictures:?}");
    });
}
