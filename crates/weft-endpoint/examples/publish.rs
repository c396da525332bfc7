//! Publishes the built-in clip and a tone over the given links: `publish URL
//! ROOM SECONDS LINK...`, for example `publish http://127.0.0.1:8080 ride 10
//! wlan0 wwan0`.

use std::error::Error;
use std::time::{Duration, Instant};

use weft_endpoint::{Call, CallConfig, NoEvent, Receiving, Statistics};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, room, seconds, links @ ..] = &args[..] else {
        return Err("usage: publish URL ROOM SECONDS LINK...".into());
    };
    let figures = publish(url, room, Duration::from_secs(seconds.parse()?), links)?;
    if let Some(report) = figures.published() {
        for path in &report.stats.paths {
            println!(
                "{:?}: {} packets",
                report.links.get(&path.path),
                path.sent_packets
            );
        }
    }
    Ok(())
}

/// Publishes for this time; returns the statistics at the end.
pub fn publish(
    url: &str,
    room: &str,
    time: Duration,
    links: &[String],
) -> Result<Statistics, Box<dyn Error>> {
    let mut config = CallConfig::new(url, room);
    config.send.name = "Van".to_owned();
    config.send.links = links.iter().map(|l| l.parse()).collect::<Result<_, _>>()?;
    config.send.cameras = vec!["clip:360p".parse()?];
    config.send.microphone = Some("tone".parse()?);
    config.receiving = Receiving::Nobody;
    let call = Call::start(config)?;
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match call.next_event(left) {
            Ok(event) => println!("{event}"),
            Err(NoEvent::TimedOut) => {}
            Err(NoEvent::Ended) => break,
        }
    }
    let figures = call.statistics();
    call.leave()?;
    figures.ok_or_else(|| "the call has ended by itself".into())
}
