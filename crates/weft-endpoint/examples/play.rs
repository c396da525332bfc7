//! Plays one participant and prints how many pictures arrive each second, and
//! over which links: `play URL ROOM NAME SECONDS LINK...`.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::time::{Duration, Instant};

use weft_endpoint::caller::Track;
use weft_endpoint::{Call, CallConfig, Event, NoEvent, Receiving};

/// Pictures that each link delivered completely or in part.
pub type Pictures = BTreeMap<String, u64>;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, room, name, seconds, links @ ..] = &args[..] else {
        return Err("usage: play URL ROOM NAME SECONDS LINK...".into());
    };
    let time = Duration::from_secs(seconds.parse()?);
    play(url, room, name, time, links).map(|_| ())
}

/// Plays for this time.
pub fn play(
    url: &str,
    room: &str,
    name: &str,
    time: Duration,
    links: &[String],
) -> Result<Pictures, Box<dyn Error>> {
    let mut config = CallConfig::new(url, room);
    config.send.links = links.iter().map(|l| l.parse()).collect::<Result<_, _>>()?;
    config.receiving = Receiving::Named(BTreeSet::from([name.to_owned()]));
    let call = Call::start(config)?;
    let end = Instant::now() + time;
    let (mut all, mut second) = (Pictures::new(), Instant::now());
    let (mut pictures, mut over) = (0, BTreeSet::new());
    while Instant::now() < end {
        match call.next_event(Duration::from_millis(100)) {
            Ok(Event::Frame(played)) if played.track != Track::Sound => {
                pictures += 1;
                for link in played.links {
                    *all.entry(link.clone()).or_default() += 1;
                    over.insert(link);
                }
            }
            Ok(event) if event.is_for_people() => println!("{event}"),
            Ok(_) | Err(NoEvent::TimedOut) => {}
            Err(NoEvent::Ended) => break,
        }
        if second.elapsed() >= Duration::from_secs(1) {
            println!("{pictures} pictures over {over:?}");
            (pictures, second) = (0, Instant::now());
            over.clear();
        }
    }
    call.leave()?;
    Ok(all)
}
