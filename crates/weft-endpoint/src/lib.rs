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
//! config.send.name = "Van".to_owned();
//! config.send.links = vec!["wlan0".parse()?, "5G=wwan0,metered,budget=2GB".parse()?];
//! config.send.cameras = vec!["Front=/dev/video0:720p".parse()?];
//! config.send.microphone = Some("alsa".parse()?);
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
//! ([`OwnSources`]). [`Call::statistics`] has the figures of every path, and
//! what came from whom. Who takes no events for a while misses some, and is
//! told how many ([`Event::Missed`]); the call never waits.
//!
//! [`Direct`] sends without a room: viewers come straight to it, with offers and
//! answers that the program carries.
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

#![forbid(unsafe_code)]

mod call;
pub mod caller;
mod config;
pub mod connect;
mod direct;
mod error;
mod event;
pub mod links;
mod notice;
mod received;
mod recording;
pub mod signalling;
pub mod sources;
mod start;
pub mod watch;

pub use call::{Call, NoEvent, Statistics, Stopper};
pub use config::{CallConfig, OwnSources, Receiving, SendConfig};
pub use direct::{AnswerError, Direct, DirectEvent};
pub use error::{Blame, StartError};
pub use event::{Event, PlayedFrame};
pub use links::LinkChange;
pub use notice::{Notice, Notices};
pub use received::{Received, ReceivedCamera};
pub use recording::{Recording, RecordingError};
