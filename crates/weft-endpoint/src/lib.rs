//! A call over several links, to embed: cameras and sound into a room of a
//! weft server, everybody else out of it.
//!
//! [`Call`] is the whole of it. It takes a [`CallConfig`], runs on threads of
//! its own and says what happens as [`Event`]s. It follows links that come and
//! go, adapts pictures to what the links carry, and after any fault that may
//! pass (of a link, of the server, of the room) it tries again by itself. It
//! prints nothing, ends no process and holds no state outside of itself, but
//! that TLS has one provider for the process.
//!
//! ```no_run
//! use std::time::Duration;
//! use weft_endpoint::{Call, CallConfig, Event, NoEvent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = CallConfig::new("https://server:8443", "ride");
//! config.name = "Van".to_owned();
//! config.links = vec!["wlan0".parse()?, "5G=wwan0,metered,budget=2GB".parse()?];
//! config.cameras = vec!["Front=/dev/video0:720p".parse()?];
//! config.microphone = Some("alsa".parse()?);
//!
//! let call = Call::start(config)?;
//! loop {
//!     match call.next_event(Duration::from_secs(1)) {
//!         Ok(Event::Frame(played)) => println!("{} bytes", played.frame.data.len()),
//!         Ok(event) if event.is_for_people() => println!("{event}"),
//!         Ok(_) | Err(NoEvent::TimedOut) => {}
//!         Err(NoEvent::Ended) => break,
//!     }
//! }
//! call.leave()?;
//! # Ok(())
//! # }
//! ```
//!
//! What is received is encoded; [`Recording`] keeps it, `weft_media` has
//! decoders. Pictures and sound may also come from the program itself
//! ([`OwnSources`]). [`Call::statistics`] has the figures of every path.
//!
//! # Below a call
//!
//! Who makes connections otherwise than in a room of a weft server uses what
//! [`Call`] consists of: [`caller`] turns offers and answers into connections
//! over all links, [`sources`] feeds cameras and sound to them, [`signalling`]
//! speaks WHIP and WHEP, [`watch`] decodes and measures.
//!
//! Threads: the call's, one per camera, per encoder, per microphone and for
//! requests, and the network's driver. They talk through channels; nothing is
//! locked for longer than a copy.

mod call;
pub mod caller;
mod config;
pub mod connect;
mod error;
mod event;
pub mod links;
mod notice;
mod recording;
pub mod signalling;
pub mod sources;
pub mod watch;

pub use call::{Call, NoEvent, Statistics, Stopper};
pub use config::{CallConfig, OwnSources, Receiving};
pub use error::{Blame, StartError};
pub use event::{Event, LinkChange, PlayedFrame};
pub use notice::{Notice, Notices};
pub use recording::{Recording, RecordingError};
